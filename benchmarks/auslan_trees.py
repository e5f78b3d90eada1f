"""Whole trees on Auslan: how accurate on records kept back, how large, and how long one takes."""

import numpy as np
from auslan import load
from results import Row
from sklearn.model_selection import StratifiedShuffleSplit
from timing import in_turn, seconds

from telltree import GrammarTreeClassifier, Panel
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo, Search

ACCURACY = 0.988
SECONDS = 1.0


def rows(quick: bool) -> list[Row]:
    data = load()
    panel, labels = Panel.from_arrays(data.records, columns=data.columns), np.array(data.labels)
    searches: list[Search] = [GeneticProgramming(), MonteCarlo(), GrammaticalEvolution()]
    GrammarTreeClassifier(random_state=0).fit(panel, labels)  # compiles
    found = [_accuracy(panel, labels, search, 5 if quick else 100) for search in searches]
    return [*found, _time(panel, labels, 2 if quick else 5)]


def _accuracy(panel: Panel, labels: np.ndarray, search: Search, splits: int) -> Row:
    right, terminals = [], []
    shuffle = StratifiedShuffleSplit(splits, test_size=0.3, random_state=0)
    for seed, (train, test) in enumerate(shuffle.split(labels, labels)):
        model = GrammarTreeClassifier(search=search, max_depth=6, random_state=seed).fit(panel[train], labels[train])
        right.append(float((model.predict(panel[test]) == labels[test]).mean()))
        terminals.append(model.tree_.terminals)
    mean, error = float(np.mean(right)), float(np.std(right, ddof=1) / np.sqrt(splits))
    return Row(
        f"accuracy, {type(search).__name__}(), depth 6",
        f"≥ {ACCURACY:.3f}",
        f"{mean:.4f} ± {error:.4f}",
        f"mean over {splits} stratified 70/30 splits and its standard error; {search.evaluations:,} evaluations a "
        f"node; {np.mean(terminals):.2f} terminals a formula",
        met=mean >= ACCURACY,
    )


def _time(panel: Panel, labels: np.ndarray, repeats: int) -> Row:
    def fit(seed: int) -> float:
        return seconds(lambda: GrammarTreeClassifier(random_state=seed).fit(panel, labels))

    (best,) = in_turn(repeats, [fit])
    return Row(
        "time of one tree, default settings",
        f"< {SECONDS:g} s",
        f"{best:.3f} s",
        f"GrammarTreeClassifier().fit on all {len(panel)} records, once compiled, best of {repeats} seeds",
        met=best < SECONDS,
    )
