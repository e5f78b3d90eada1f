"""How well telltree judges by itself: default settings on the paper's data, small series, and few records.

Trees are learnt from the training parts alone, and judged by the test parts, seeds 0 to 9; nothing was chosen by these.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from auslan import default_folder
from peers.aeon_data import aeon_file
from results import Row
from sklearn.metrics import f1_score
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from telltree import Grammar, GrammarTreeClassifier, Panel, read
from telltree.datasets import load_acasx, load_auslan, make_encounters
from telltree.experiments.trial import split
from telltree.tree import GiniSize, Greedy

Records = tuple[Panel, np.ndarray]
FEW = (5, 10, 30)  # records a class


@dataclass
class Result:
    """What came of one tree."""

    accuracy: float
    f1: float
    leaves: int
    terminals: float
    words: float
    seconds: float


def rows(quick: bool) -> list[Row]:
    seeds = 2 if quick else 10
    found = [_acasx(2 if quick else 20), *_auslan(3 if quick else 30)]
    found += [_encounters(2_000, 0.90, seeds)] + ([] if quick else [_encounters(7_000, 0.92, seeds)])
    found += [_series(name, seeds) for name in ("GunPoint", "ItalyPowerDemand")]
    return [row for row in [*found, _few(2 if quick else 5), _cpu()] if row is not None]


def learnt(train: Records, test: Records, seed: int, **settings: object) -> Result:
    """A tree of default settings, unless others are given."""
    began = time.process_time()
    model = GrammarTreeClassifier(random_state=seed, **settings).fit(*train)  # type: ignore[arg-type]
    seconds = time.process_time() - began
    told, y = model.predict(test[0]), test[1]
    words = np.median([len(category.english.split()) for category in model.categories(train[0])])
    tree = model.tree_
    f1 = f1_score(y, told, average="macro")
    return Result(float(np.mean(told == y)), f1, len(tree.leaves), tree.terminals, float(words), seconds)


def paper(train: Records, test: Records, seed: int) -> Result:
    """The same with the paper's generic grammar and criterion."""
    settings = {"criterion": GiniSize(), "max_depth": 6, "min_samples_leaf": 1, "growth": Greedy(thresholds="midpoint")}
    return learnt(train, test, seed, grammar=Grammar.generic(train[0]), **settings)


def _mean(results: list[Result], name: str) -> float:
    return float(np.mean([getattr(result, name) for result in results]))


def _told(results: list[Result], score: str) -> str:
    values = [getattr(result, score) for result in results]
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    rest = f"{_mean(results, 'leaves'):.1f} categories, {_mean(results, 'terminals'):.1f} terminals, "
    return f"{np.mean(values):.4f} ± {error:.4f}; {rest}{_mean(results, 'words'):.0f} words a category"


def _acasx(trials: int) -> Row | None:
    home = default_folder() / "acasx"
    if not home.exists():
        return None
    panel, y = load_acasx(home)
    parts = (split(y, 0, trial) for trial in range(trials))
    found = [learnt((panel[a], y[a]), (panel[b], y[b]), i) for i, (a, b) in enumerate(parts)]
    good = _mean(found, "f1") >= 0.885 and _mean(found, "leaves") <= 8 and _mean(found, "terminals") <= 5
    return Row(
        "acasx, macro F1", "≥ .885, ≤ 8 categories, ≤ 5 terminals, ≤ 30 words", _told(found, "f1"),
        f"the paper's encounters, cut; {trials} stratified 70/30 splits", met=good and _mean(found, "words") <= 30,
    )  # fmt: skip


def _auslan(splits: int) -> Iterator[Row]:
    folder = default_folder() / "auslan8"
    if not folder.is_dir():
        return
    panel, y = load_auslan(folder)[:2]
    for what, kind, least in (
        ("stratified", StratifiedShuffleSplit, 0.994),
        ("not stratified", ShuffleSplit, 0.990),
    ):
        parts = kind(splits, test_size=0.3, random_state=0).split(y, y)
        found = [learnt((panel[a], y[a]), (panel[b], y[b]), i) for i, (a, b) in enumerate(parts)]
        yield Row(
            f"Auslan, {what}, accuracy", f"≥ {least}, ≤ 4.2 terminals", _told(found, "accuracy"),
            f"{splits} splits, 70/30", met=_mean(found, "accuracy") >= least and _mean(found, "terminals") <= 4.2,
        )  # fmt: skip


def _encounters(records: int, least: float, seeds: int) -> Row:
    found, kept = [], 3_000
    for seed in range(seeds):
        panel, y, _ = make_encounters(records + kept, round(0.0863 * (records + kept)), seed)
        found.append(learnt((panel[:records], y[:records]), (panel[records:], y[records:]), seed))
    return Row(
        f"{records:,} simulated encounters, macro F1", f"≥ {least}, ≤ 8 categories", _told(found, "f1"),
        f"{seeds} seeds, {kept:,} others to test", met=_mean(found, "f1") >= least and _mean(found, "leaves") <= 8,
    )  # fmt: skip


def _series(name: str, seeds: int) -> Row | None:
    parts = aeon_parts(name)
    if parts is None:
        return None
    found = [learnt(*parts, seed) for seed in range(seeds)]
    return Row(
        f"{name}, accuracy", "≥ .90, one tree", _told(found, "accuracy"),
        f"the archive's split, {seeds} seeds", met=_mean(found, "accuracy") >= 0.90,
    )  # fmt: skip


def aeon_parts(name: str) -> tuple[Records, Records] | None:
    """The training and the test part of a data set; None where it cannot be had."""
    paths: list[Path | None] = [aeon_file(name, part) for part in ("TRAIN", "TEST")]
    if None in paths:
        return None
    train, test = (read(path) for path in paths)
    return (train[0], np.asarray(train[1])), (test[0], np.asarray(test[1]))


def _few(draws: int) -> Row:
    """Few records of each class, drawn from training parts, beside the paper's grammar and criterion."""
    told, worst = [], 1.0
    for name, whole in _sources():
        gains = []
        for few in FEW:
            for seed in range(draws):
                train, test = _drawn(whole()[1], few, seed)
                panel, y = whole()
                both = (panel[train], y[train]), (panel[test], y[test])
                gains.append(learnt(*both, seed).accuracy - paper(*both, seed).accuracy)
        told.append(f"{name} {np.mean(gains):+.3f}")
        worst = min(worst, float(np.mean(gains)))
    return Row(
        "5, 10 and 30 records a class, accuracy beside the paper's grammar and criterion",
        "never worse by more than .01", "; ".join(told), f"{draws} draws of each, up to 500 others to test",
        met=worst >= -0.01,
    )  # fmt: skip


def _sources() -> Iterator[tuple[str, Callable[[], Records]]]:
    yield "acasx sample", lambda: tuple(load_acasx())[:2]
    folder = default_folder() / "auslan8"
    if folder.is_dir():
        yield "Auslan", lambda: tuple(load_auslan(folder))[:2]
    yield "simulated encounters", lambda: tuple(make_encounters(1_000, 200, 7))[:2]
    for name in ("GunPoint", "ItalyPowerDemand"):
        if aeon_parts(name) is not None:
            yield name, lambda name=name: _joined(name)


def _joined(name: str) -> Records:
    """The test part, of which some are drawn to learn from: the training parts have fewer than 30 a class."""
    parts = aeon_parts(name)
    assert parts is not None
    return parts[1]


def _drawn(y: np.ndarray, few: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    places = [np.flatnonzero(y == label) for label in np.unique(y)]
    train = np.concatenate([rng.choice(own, min(few, len(own) // 2), replace=False) for own in places])
    rest = rng.permutation(np.setdiff1d(np.arange(len(y)), train))
    return train, rest[:500]


def _cpu() -> Row:
    """CPU time of a whole fit beside that of the paper's grammar and criterion, with and without cross-validation."""
    panel, y = load_acasx()
    train = (panel, y)
    before, after, folded = paper(train, train, 0), learnt(train, train, 0), learnt(train, train, 0, cv=5)
    share, times = after.seconds / before.seconds, folded.seconds / before.seconds
    return Row(
        "processor time of a default fit, 2,000 encounters", "≤ 1 ×; with cv ≤ 6 ×",
        f"{after.seconds:.1f} s; with cv {times:.1f} ×",
        f"beside the generic grammar and GiniSize, one run; with cv=5 {folded.seconds:.1f} s", ratio=share,
        peer=f"paper's {before.seconds:.1f} s", met=share <= 1 and times <= 6,
    )  # fmt: skip
