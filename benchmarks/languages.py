"""Which words earn their place in the default language: cross-validation on the training parts of small data sets.

Each language is tried on the same folds, beside the default one, with all else at default settings. Test parts are not
looked at. A run of all takes some minutes of the processor.

    python benchmarks/languages.py [--words shapes:40 before] [--data GunPoint OSULeaf] [--repeats 4]
"""

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from peers.aeon_data import aeon_file
from sklearn.model_selection import StratifiedKFold

from telltree import Grammar, GrammarTreeClassifier, Panel, read
from telltree.errors import DataWarning
from telltree.grammar.default_language import cuts
from telltree.tree import Greedy

DATA = {
    "GunPoint": 4,
    "ItalyPowerDemand": 4,
    "ArrowHead": 4,
    "BasicMotions": 4,
    "PickupGestureWiimoteZ": 4,
    "JapaneseVowels": 1,
    "OSULeaf": 1,
    "JapaneseVowels/8": 4,
    "OSULeaf/12": 4,
    "ACSF1/8": 1,
}
"""How often the records of each are dealt into five folds, if not told otherwise: small sets more often.

With a number, so many records of each class are drawn."""
FOLDS = 5
Language = Callable[[Panel, np.ndarray], Grammar]


def records(data: str) -> tuple[Panel, np.ndarray]:
    """The training part of a data set, or some of its records, and their labels."""
    name, _, each = data.partition("/")
    panel, labels = read(aeon_file(name))
    y = np.asarray(labels)
    rng = np.random.default_rng(7)
    drawn = [rng.permutation(np.flatnonzero(y == label))[: int(each or len(y))] for label in np.unique(y)]
    kept = np.sort(np.concatenate(drawn))
    return panel[kept], y[kept]


def shapes(panel: Panel, y: np.ndarray, number: int) -> Grammar:
    """The default language with so many shapes."""
    return Grammar.for_panel(panel, y, shapes=number)


def more(panel: Panel, y: np.ndarray, starts: str, rules: str = "") -> Grammar:
    """The default language with more sentences."""
    first, rest = str(Grammar.for_panel(panel, y, shapes=0)).split("\n", 1)
    return Grammar.parse_any(f"{first} | {starts}\n{rest}\n{rules}", panel)


def durations(panel: Panel, y: np.ndarray) -> Grammar:
    """How long something lasts, also where records are few and it tells no more than plain sentences.

    Without labels nothing is weighed; labels matter else only for columns with many levels, of which there are none.
    """
    return Grammar.for_panel(panel)


def soon(panel: Panel, y: np.ndarray) -> Grammar:
    """One thing, and another within a sixth of a record."""
    return more(panel, y, f"F(Own and F[1, {max(1, int(np.median(panel.lengths)) // 6)}](Own))")


def longest(panel: Panel, y: np.ndarray) -> Grammar:
    """How long something lasts at most, where the default language has how long in all."""
    text = str(Grammar.for_panel(panel, y, shapes=0))
    rules = text[text.index("\nLong") :] if "\nLong" in text else ""
    return (
        more(panel, y, "Longest", rules.replace("Long", "Longest", 1).replace("count(", "longest("))
        if rules
        else (Grammar.for_panel(panel, y, shapes=0))
    )


def level(panel: Panel, y: np.ndarray) -> Grammar:
    """The mean and the slope of whole records."""
    alternatives = []
    for name in panel.schema.names:
        series = [panel[i : i + 1].stacked(name) for i in range(len(panel))]
        means = [float(np.mean(x)) for x in series]
        slopes = [float(np.polyfit(np.arange(len(x)), x, 1)[0]) if len(x) > 1 else 0.0 for x in series]
        for made, values in (("mean", means), ("slope", slopes)):
            constants = cuts(np.array(values), 8)
            if constants:
                alternatives.append(f"{made}(`{name}`) > [{', '.join(map(repr, constants))}]")
    return more(panel, y, "F(Level)", f"Level ::= {' | '.join(alternatives)}")


WORDS: dict[str, Language] = {
    "durations": durations,
    "before": partial(more, starts="before(Own, Own)"),
    "until": partial(more, starts="until(Own, Own)"),
    "soon": soon,
    "longest": longest,
    "level": level,
}


def language(word: str) -> Language:
    """The default language with these words, such as "shapes:40"."""
    kind, _, number = word.partition(":")
    return partial(shapes, number=int(number)) if kind == "shapes" else WORDS[kind]


def tried(data: str, make: Language, repeats: int) -> tuple[np.ndarray, float]:
    """The accuracy on each fold, and the median of the processor's seconds for a fit."""
    panel, y = records(data)
    scores, seconds = [], []
    for repeat in range(repeats):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(y, y)
        for number, (own, held) in enumerate(folds):
            began = time.process_time()
            grammar = make(panel[own], y[own])
            model = GrammarTreeClassifier(
                grammar, growth=Greedy(thresholds="midpoint"), random_state=FOLDS * repeat + number
            )
            model.fit(panel[own], y[own])
            seconds.append(time.process_time() - began)
            scores.append(float(np.mean(model.predict(panel[held]) == y[held])))
    return np.array(scores), float(np.median(seconds))


def main() -> None:
    """Print a table: a row for each data set and language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", nargs="+", default=["shapes:20", "shapes:40", "shapes:200", *WORDS])
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--repeats", type=int)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", DataWarning)
    print(f"{'data':21} {'words':11} accuracy   beside the default  CPU of a fit")
    gains: dict[str, list[float]] = {word: [] for word in asked.words}
    for data in asked.data:
        repeats = asked.repeats or DATA[data]
        base, cpu = tried(data, language("shapes:0"), repeats)
        print(f"{data:21} {'default':11} {base.mean():.3f}{'':23}{cpu:.2f} s", flush=True)
        for word in asked.words:
            scores, seconds = tried(data, language(word), repeats)
            gain = scores - base
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            gains[word].append(float(gain.mean()))
            print(
                f"{data:21} {word:11} {scores.mean():.3f}      {gain.mean():+.3f} ± {error:.3f}     "
                f"{seconds:.2f} s ({seconds / cpu:.1f} ×)",
                flush=True,
            )
    for word, gained in gains.items():
        print(f"{'mean of all':21} {word:11}            {np.mean(gained):+.3f}")


if __name__ == "__main__":
    main()
