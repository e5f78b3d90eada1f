"""What a forest gains over one tree on unseen records, and what it gains from a second process.

    python benchmarks/forests.py --only accuracy     # a tree and a forest in the same five folds
    python benchmarks/forests.py --only processes    # one process against a LocalCluster of one and of two

Auslan is taken whole, of the sample of the paper's encounters the first 1,400 records, and simulated encounters of a
seed kept for this. The second wants two idle cores; it also tells what all processes spent of the processor, which
other work on the machine changes little.
"""

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
from auslan import default_folder
from distributed import Client, LocalCluster

from telltree import GrammarForestClassifier, GrammarTreeClassifier, Panel
from telltree.datasets import load_acasx, load_auslan, make_encounters
from telltree.errors import DataWarning
from telltree.estimators.cross_validation import stratified_folds

Records = tuple[Panel, np.ndarray]


def acasx() -> Records:
    panel, y = load_acasx()
    return panel[:1400], np.asarray(y)[:1400]


def auslan() -> Records:
    panel, y = tuple(load_auslan(default_folder() / "auslan8"))[:2]
    return panel, np.asarray(y)


def encounters() -> Records:
    panel, y, _ = make_encounters(1_000, 250, 77)
    return panel, np.asarray(y)


DATA = {"Auslan": auslan, "acasx": acasx, "encounters": encounters}


def brier(chances: np.ndarray, y: np.ndarray, classes: np.ndarray) -> float:
    return float(((chances - (y[:, None] == classes)) ** 2).sum(axis=1).mean() / 2)


def judged(records: Records, trees: int) -> Iterator[tuple[float, ...]]:
    """In each fold accuracy, Brier score and seconds of a tree and of a forest, and what the forest foretold."""
    panel, y = records
    for train, test in stratified_folds(np.unique(y, return_inverse=True)[1], None, 5, 0):
        found: list[float] = []
        for model in (
            GrammarTreeClassifier(random_state=0),
            GrammarForestClassifier(n_estimators=trees, random_state=0),
        ):
            began = time.process_time()
            model.fit(panel[train], y[train])
            spent = time.process_time() - began
            chances = model.predict_proba(panel[test])
            right = float((model.classes_[chances.argmax(axis=1)] == y[test]).mean())
            found += [right, brier(chances, y[test], model.classes_), spent]
        yield *found, model.oob_score_, model.out_of_bag_.brier.value


def accuracy(names: list[str], trees: int) -> None:
    for name in names:
        found = np.array(list(judged(DATA[name](), trees)))
        gain = found[:, 3:5] - found[:, 0:2]
        error = gain.std(axis=0, ddof=1) / len(gain) ** 0.5
        one, one_brier, one_cpu, many, many_brier, many_cpu, oob, oob_brier = found.mean(axis=0)
        print(
            f"{name}: accuracy {one:.3f} of a tree, {many:.3f} of {trees} ({gain[:, 0].mean():+.3f} ± {error[0]:.3f}), "
            f"{oob:.3f} out of bag; Brier score {one_brier:.4f}, {many_brier:.4f} ({gain[:, 1].mean():+.4f} ± "
            f"{error[1]:.4f}), {oob_brier:.4f} out of bag; {one_cpu:.1f} and {many_cpu:.1f} s of the processor",
            flush=True,
        )


def timed(forest: GrammarForestClassifier, records: Records, client: Client | None = None) -> str:
    """Fits a forest: the seconds by the clock and of the processor, here and on the workers."""

    def spent() -> float:
        return 0.0 if client is None else sum(client.run(time.process_time).values())

    wall, here, there = time.perf_counter(), time.process_time(), spent()
    forest.fit(*records, client=client)
    wall, here, there = time.perf_counter() - wall, time.process_time() - here, spent() - there
    return f"{wall:.1f} s, {here:.1f} s of the processor here, {there:.1f} s on workers"


def processes(names: list[str], trees: int) -> None:
    for name in names:
        records = DATA[name]()
        forest = GrammarForestClassifier(n_estimators=trees, random_state=0)
        GrammarForestClassifier(n_estimators=2, random_state=0).fit(*records)  # compiles, or loads what was compiled
        print(f"{name}, one process: {timed(forest, records)}", flush=True)
        alone = forest.trees_
        for number in (1, 2):
            with (
                LocalCluster(n_workers=number, threads_per_worker=1, dashboard_address=":0") as cluster,
                Client(cluster) as client,
            ):
                GrammarForestClassifier(n_estimators=4 * number, random_state=0).fit(*records, client=client)
                told = timed(forest, records, client)
                print(f"{name}, LocalCluster of {number}: {told}; same trees: {forest.trees_ == alone}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["accuracy", "processes"])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--trees", type=int, default=50)
    given = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    if given.only != "processes":
        accuracy(given.data, given.trees)
    if given.only != "accuracy":
        processes(given.data, given.trees)
