"""How well one short formula tells two classes apart. If it does so too well, an attribute leaks the label."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.estimators import GrammarTreeClassifier
from telltree.experiments.studies import Study
from telltree.search import GeneticProgramming, MonteCarlo, Search
from telltree.tree.tree import Node

_SENTENCES = {  # over one and over two atoms, and how to search them
    1: ("Start ::= F(Atom) | G(Atom)", MonteCarlo(evaluations=100_000, max_depth=9)),
    2: ("Start ::= F(Atom and Atom) | G(Atom or Atom)", GeneticProgramming(evaluations=100_000, max_depth=9)),
}


class Shortcut(NamedTuple):
    """The best formula of some atoms, and its macro F1 on all records, which are those it was found on."""

    atoms: int
    formula: str
    f1: float


@dataclass(frozen=True)
class MacroF1:
    """A criterion: 1 − macro F1 of predicting one class on one side of a split, the other class on the other side."""

    def __call__(
        self, true: NDArray[np.int64], total: NDArray[np.int64], size: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """The better of both assignments of classes to sides counts."""
        right, wrong = _f1(true, total), _f1(total - true, total)
        best: NDArray[np.float64] = 1 - np.maximum(right, wrong) + 1e-9 * size  # the shorter of equals
        return best


def _f1(taken: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.float64]:
    """Macro F1 if the records counted in `taken` are predicted as the first class, and the others as the second."""
    first = 2 * taken[:, 0] / (taken.sum(axis=1) + total[0])
    rest = total - taken
    second = 2 * rest[:, 1] / (rest.sum(axis=1) + total[1])
    mean: NDArray[np.float64] = (first + second) / 2
    return mean


def shortcuts(study: Study, *, searches: dict[int, Search] | None = None, seed: int = 0) -> list[Shortcut]:
    """The best formulas of one and of two atoms for a study with two classes, whose grammar calls its atoms Atom."""
    if len(study.classes) != 2 or study.grammar is None or "\nAtom " not in study.grammar:
        raise SettingsError(f"{study.name}: shortcuts need two classes, and a grammar that defines Atom")
    atoms = study.grammar[study.grammar.index("\nAtom ") :]
    found = []
    for number, (sentences, search) in _SENTENCES.items():
        grammar = replace(study, grammar=sentences + atoms).grammar_for(study.panel)
        own = (searches or {}).get(number, search)
        model = GrammarTreeClassifier(grammar, own, criterion=MacroF1(), max_depth=1, random_state=seed)
        root = model.fit(study.panel, study.y).tree_.root
        if isinstance(root, Node):
            found.append(Shortcut(number, str(root.formula), _reached(root)))
    return found


def _reached(root: Node) -> float:
    """The macro F1 of taking one side for one class and the other for the other."""
    true, total = np.array([root.true.summary.parts]), np.array(root.summary.parts)
    return float(1 - MacroF1()(true, total, np.zeros(1, np.int64))[0])
