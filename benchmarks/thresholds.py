"""Are exact thresholds better than centred ones on records that a tree has not seen?

    python benchmarks/thresholds.py FOLDER [seeds]

By two-fold cross-validation: Auslan, the sample of the paper's encounters, and the `*_TRAIN.ts` files of a folder. Told
is the accuracy with either, and the mean difference with its standard error over halves.
"""

import sys
from pathlib import Path

import numpy as np
from auslan import default_folder

from telltree import GrammarTreeClassifier, read
from telltree.datasets import load_acasx, load_auslan
from telltree.search import GeneticProgramming


def sources(folder):
    for path in sorted(Path(folder).glob("*_TRAIN.ts")):
        yield path.name.removesuffix("_TRAIN.ts"), lambda path=path: read(path)
    if (default_folder() / "auslan8").is_dir():
        yield "Auslan", lambda: load_auslan(default_folder() / "auslan8")
    yield "acasx", load_acasx


def halves(y, seed):
    """The records in two halves, stratified."""
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    return np.sort(order[::2]), np.sort(order[1::2])


def scores(panel, y, seed):
    first, second = halves(y, seed)
    for train, test in ((first, second), (second, first)):
        yield [
            GrammarTreeClassifier(
                search=GeneticProgramming(evaluations=5_000), thresholds=thresholds, random_state=seed
            )
            .fit(panel[train], y[train])
            .score(panel[test], y[test])
            for thresholds in ("centred", "exact")
        ]


def main(folder, seeds="5"):
    for name, load in sources(folder):
        panel, y = tuple(load())[:2]
        y = np.asarray(y)
        found = np.array([pair for seed in range(int(seeds)) for pair in scores(panel, y, seed)])
        gain = found[:, 1] - found[:, 0]
        error = gain.std(ddof=1) / len(gain) ** 0.5
        centred, exact = found.mean(axis=0)
        print(f"{name:20} centred {centred:.3f}, exact {exact:.3f}: {gain.mean():+.3f} ± {error:.3f}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
