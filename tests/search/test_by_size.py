"""Searches keep the best formulas of each size, and a tree asks a short one that is nearly as good as the best."""

import numpy as np
import pytest

from tests.search.test_contract import GRAMMARS, Spy
from tests.support.golden_trees import encounters

from telltree import GrammarTreeClassifier
from telltree.errors import SettingsError
from telltree.search import CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe
from telltree.tree import MDL


class Sized(Spy):
    """Tells sizes, too."""

    def __call__(self, population, wanted):
        before = len(self.derivations)
        scores = super().__call__(population, wanted)
        return scores._replace(size=np.array([len(d) for d in self.derivations[before:]]))


@pytest.mark.parametrize("search", [MonteCarlo, GeneticProgramming, GrammaticalEvolution, CrossEntropy, Pipe])
@pytest.mark.parametrize("tolerance", [0.0, 3.0])
def test_the_best_of_each_size_are_kept(search, tolerance):
    spy = Sized(GRAMMARS["the paper's"], fitnesses=23)
    found = search(evaluations=600).run(spy.grammar, spy, 4, tolerance=tolerance)
    by_size = {}
    for derivation, fitness in zip(spy.derivations, spy.fitness, strict=True):
        by_size.setdefault(len(derivation), []).append(fitness)
    least, expected = np.inf, []
    for size in sorted(by_size):
        if min(by_size[size]) < least:
            least = min(by_size[size])
            ties = sum(fitness <= least + tolerance for fitness in by_size[size])
            expected.append((size, least, min(ties, 100)))
    told = [(len(of.best.derivation), of.best.fitness, len(of.ties.lengths)) for of in found.by_size]
    assert told == expected


def test_without_sizes_nothing_is_kept():
    spy = Spy(GRAMMARS["the paper's"])
    assert MonteCarlo(evaluations=50).run(spy.grammar, spy, 4).by_size == ()


def test_the_shortest_that_saves_enough_is_asked():
    panel, labels = encounters()
    search = GeneticProgramming(evaluations=2_000)
    for leniency in (0.0, 0.2, 0.5):
        model = GrammarTreeClassifier(search=search, criterion=MDL(leniency=leniency), random_state=0)
        model.fit(panel, labels)
        root = model.pruning_path_.whole.root
        best = root.by_size[-1].fitness
        gain = root.gain + root.fitness - best
        allowed = [2.0 if one.formula.terminals < 6 else max(2.0, leniency * gain) for one in root.by_size]
        pairs = zip(root.by_size, allowed, strict=True)
        wanted, enough = next((one, best + more) for one, more in pairs if one.fitness <= best + more)
        asked = root.formula if root.found is None else root.found
        assert asked.terminals == wanted.formula.terminals
        assert root.fitness <= enough


def test_leniency_is_a_share():
    with pytest.raises(SettingsError, match="leniency must be a finite number of at least 0, got -1"):
        MDL(leniency=-1)
