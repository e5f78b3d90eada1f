"""A check on label leakage: how well one short formula tells two classes apart."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.estimators import GrammarTreeClassifier
from telltree.experiments.studies import Study
from telltree.search import GeneticProgramming, MonteCarlo, Search
from telltree.tree.tree import Node

_STARTS = {  # for each number of atoms, the start rules and the search
    1: ("Start ::= F(Atom) | G(Atom)", MonteCarlo(evaluations=100_000, max_depth=9)),
    2: ("Start ::= F(Atom and Atom) | G(Atom or Atom)", GeneticProgramming(evaluations=100_000, max_depth=9)),
}


class Shortcut(NamedTuple):
    """The best formula of some atoms, and its macro F1 on the same records on which it was found."""

    atoms: int
    formula: str
    f1: float


@dataclass(frozen=True)
class MacroF1:
    """A criterion: 1 − macro F1 of predicting one class on each side of a split."""

    def __call__(
        self, true: NDArray[np.int64], total: NDArray[np.int64], size: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Score the better of the two assignments of classes to sides."""
        one, other = _f1(true, total), _f1(total - true, total)
        scores: NDArray[np.float64] = 1 - np.maximum(one, other) + 1e-9 * size  # prefers the shorter of equals
        return scores


def _f1(taken: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return macro F1 if the records counted in `taken` are predicted as the first class, the others as the second."""
    first = 2 * taken[:, 0] / (taken.sum(axis=1) + total[0])
    rest = total - taken
    second = 2 * rest[:, 1] / (rest.sum(axis=1) + total[1])
    mean: NDArray[np.float64] = (first + second) / 2
    return mean


def shortcuts(study: Study, *, searches: dict[int, Search] | None = None, seed: int = 0) -> list[Shortcut]:
    """Find the best formulas of one and of two atoms; a high score means that an attribute leaks the label.

    The study must have two classes, and a grammar that defines the symbol Atom.
    """
    if len(study.classes) != 2 or study.grammar is None or "\nAtom " not in study.grammar:
        raise SettingsError(f"{study.name}: shortcuts need two classes, and a grammar that defines Atom")
    atoms = study.grammar[study.grammar.index("\nAtom ") :]
    found = []
    for number, (start, default) in _STARTS.items():
        grammar = replace(study, grammar=start + atoms).grammar_for(study.panel)
        search = (searches or {}).get(number, default)
        model = GrammarTreeClassifier(grammar, search, criterion=MacroF1(), max_depth=1, random_state=seed)
        root = model.fit(study.panel, study.y).tree_.root
        if isinstance(root, Node):
            found.append(Shortcut(number, str(root.formula), _macro_f1(root)))
    return found


def _macro_f1(root: Node) -> float:
    """Return the macro F1 of the split at the root."""
    true, total = np.array([root.true.summary.parts]), np.array(root.summary.parts)
    return float(1 - MacroF1()(true, total, np.zeros(1, np.int64))[0])
