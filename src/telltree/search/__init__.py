"""Searches for the formula of a grammar that minimises an objective."""

from typing import TYPE_CHECKING

from telltree.lazy import lazily
from telltree.search.registry import SEARCHES

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.search.archive import Candidate as Candidate
    from telltree.search.archive import Moment as Moment
    from telltree.search.auto import Auto as Auto
    from telltree.search.cross_entropy import CrossEntropy as CrossEntropy
    from telltree.search.exhaustive import Exhaustive as Exhaustive
    from telltree.search.genetic_programming import GeneticProgramming as GeneticProgramming
    from telltree.search.grammatical_evolution import GrammaticalEvolution as GrammaticalEvolution
    from telltree.search.monte_carlo import MonteCarlo as MonteCarlo
    from telltree.search.pipe import Pipe as Pipe
    from telltree.search.proof import Proof as Proof
    from telltree.search.search import Objective as Objective
    from telltree.search.search import Progress as Progress
    from telltree.search.search import Scores as Scores
    from telltree.search.search import Search as Search
    from telltree.search.search import SearchResult as SearchResult

_HOMES = {
    "Candidate": "archive",
    "Moment": "archive",
    "SearchResult": "search",
    "Objective": "search",
    "Progress": "search",
    "Proof": "proof",
    "Scores": "search",
    "Search": "search",
} | {search.name: search.module for search in SEARCHES.values()}

__all__ = ["SEARCHES", *_HOMES]  # noqa: PLE0604 - the keys of the table are strings

__getattr__, __dir__ = lazily(__name__, _HOMES)
