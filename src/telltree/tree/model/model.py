"""What a model file holds, as objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.search import Search
from telltree.search.memory import Memory
from telltree.search.search import Breeder
from telltree.tree.front import Front
from telltree.tree.training import Training
from telltree.tree.tree import Tree


@dataclass(frozen=True)
class Model:
    """A fitted classifier, apart from what its searches met on the way."""

    tree: Tree
    front: Front
    grammar: Grammar | None
    """That was searched; None if there was nothing to say."""
    training: Training
    interrupted: bool
    named: bool
    """Whether the columns had names, or are only counted: scikit-learn asks for that of plain arrays."""
    parameters: dict[str, Any]
    """Of the classifier, by name; those of which results do not depend are left out."""


def _forgotten(what: str) -> SettingsError:
    return SettingsError(
        f"this model was learnt with a {what} of the user's own, which a model file does not hold; before you fit "
        f"again, call set_params({what}=...)"
    )


@dataclass(frozen=True)
class ForgottenFitness:
    """Stands in a loaded model for a fitness that only its author knows; prediction does not need it."""

    def __call__(self, true: Any, total: Any, size: Any) -> NDArray[np.float64]:
        raise _forgotten("fitness")


@dataclass(frozen=True)
class ForgottenSearch(Search):
    """Stands in a loaded model for a search that only its author knows; prediction does not need it."""

    def check(self, grammar: Grammar) -> None:
        raise _forgotten("search")

    def breeder(self, grammar: Grammar, seed: int, memory: Memory) -> Breeder:
        raise _forgotten("search")
