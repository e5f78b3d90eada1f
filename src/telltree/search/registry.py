"""The table of searches."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from telltree.search.search import Search


class Registered(NamedTuple):
    """A search that is loaded when first used, so that naming all of them costs nothing."""

    module: str
    name: str
    """The name of its class, which is also its name in model files."""
    help: str

    def load(self) -> "type[Search]":
        """Return its class."""
        found: type[Search] = getattr(import_module(f"telltree.search.{self.module}"), self.name)
        return found


SEARCHES: Mapping[str, Registered] = {
    "auto": Registered("auto", "Auto", "all small formulas, then genetic programming from the best"),
    "gp": Registered("genetic_programming", "GeneticProgramming", "genetic programming"),
    "mc": Registered("monte_carlo", "MonteCarlo", "Monte Carlo"),
    "ge": Registered("grammatical_evolution", "GrammaticalEvolution", "grammatical evolution"),
    "cross-entropy": Registered("cross_entropy", "CrossEntropy", "rules of the best formulas become likelier"),
    "pipe": Registered(
        "pipe", "Pipe", "the same at each place of a formula (probabilistic incremental program evolution)"
    ),
    "exhaustive": Registered("exhaustive", "Exhaustive", "all formulas of up to two atoms, with a proof"),
}
"""The searches by their names on the command line."""
