"""A first look: `python -m telltree.demo` makes up aircraft encounters, learns a tree and prints what it says."""

import io
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.estimators import GrammarTreeClassifier
from telltree.explain import Category

COLUMNS: dict[str, dict[str, Any]] = {
    "advisory": {"type": "Boolean", "phrase": "advisory is active"},
    "responding": {"type": "Boolean", "phrase": "pilot is responding"},
    "sense": {"type": "categorical", "phrase": "sense of the advisory"},
    "vertical_rate": {"type": "real", "unit": "ft/s", "phrase": "vertical rate", "thresholds": range(-40, 71, 10)},
    "airspeed": {"type": "real", "unit": "kt", "phrase": "airspeed", "thresholds": range(200, 401, 25)},
}
GRAMMAR = """\
Start ::= F(VB) | G(VB)
VB    ::= Atom @2 | VB and VB
Atom  ::= each Boolean | each categorical = levels | each real {<, >} thresholds
"""
LEARNT_FROM = 0.7  # the share of the encounters to learn from; the rest tests
WIDTH = 100

Random = np.random.Generator
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def make_demo(records: int = 400, seed: int = 0) -> tuple[Panel, NDArray[Any]]:
    """Made-up encounters of two aircraft, one step a second, and how each ended.

    That is "NMAC", a near mid-air collision, or "safe". The same seed gives the same encounters.
    """
    random = np.random.default_rng(seed)
    drawn = random.choice(len(FAMILIES), records, p=[share for _, share, _ in FAMILIES])
    encounters, ends = [], []
    for fly, _, risk in (FAMILIES[number] for number in drawn):
        encounters.append(fly(random, int(random.integers(30, 61))))
        ends.append("NMAC" if random.random() < risk else "safe")
    panel = Panel.from_arrays(encounters, columns=list(COLUMNS), schema=COLUMNS, period=1.0, time_unit="s")
    return panel, np.array(ends)


def quiet(random: Random, steps: int) -> NDArray[Any]:
    """No advisory is given, and the aircraft flies on at a gentle rate."""
    never = np.zeros(steps, np.bool_)
    return _record(random, never, never, "none", np.full(steps, random.uniform(-18, 18)))


def followed(random: Random, steps: int) -> NDArray[Any]:
    """The pilot does as the advisory says, some seconds after it."""
    advisory, responding = _advisory(random, steps)
    sense, sign = [("up", 1), ("down", -1)][random.integers(2)]
    return _record(random, advisory, responding, sense, np.where(responding, sign * random.uniform(24, 38), 0.0))


def ignored(random: Random, steps: int) -> NDArray[Any]:
    """The pilot does not respond, and the aircraft flies on as it did."""
    advisory, _ = _advisory(random, steps)
    sense = ["up", "down"][random.integers(2)]
    return _record(random, advisory, np.zeros(steps, np.bool_), sense, np.full(steps, random.uniform(-18, 18)))


def opposed(random: Random, steps: int) -> NDArray[Any]:
    """The pilot responds to an advisory to climb, and descends."""
    advisory, responding = _advisory(random, steps)
    return _record(random, advisory, responding, "up", np.where(responding, random.uniform(-38, -24), 0.0))


def sudden(random: Random, steps: int) -> NDArray[Any]:
    """The pilot does as the advisory says, then climbs steeply."""
    record = followed(random, steps)
    record[-6:, list(COLUMNS).index("vertical_rate")] += round(random.uniform(54, 70), 1)
    return record


FAMILIES: tuple[tuple[Callable[[Random, int], NDArray[Any]], float, float], ...] = (
    (quiet, 0.30, 0.0),
    (followed, 0.32, 0.02),
    (ignored, 0.20, 0.96),
    (opposed, 0.09, 1.0),
    (sudden, 0.09, 1.0),
)
"""How encounters go, what share of all goes that way, and how likely such a one ends in a near mid-air collision."""


def _advisory(random: Random, steps: int) -> tuple[Flags, Flags]:
    """When an advisory is active, and when a pilot who takes three to six seconds to respond does so."""
    start = int(random.integers(5, steps - 20))
    end = start + int(random.integers(12, 20))
    second = np.arange(steps)
    return (second >= start) & (second < end), (second >= start + random.integers(3, 7)) & (second < end)


def _record(random: Random, advisory: Flags, responding: Flags, sense: str, wanted: Floats) -> NDArray[Any]:
    """Steps × columns: the vertical rate follows the wanted one within six seconds; what is measured is noisy."""
    steps = len(advisory)
    before = np.full(5, wanted[0])
    rate = np.convolve(np.concatenate([before, wanted]), np.full(6, 1 / 6), "valid")
    rate += random.uniform(-6, 6) + random.normal(0, 1.5, steps)
    speed = random.uniform(220, 380) + np.cumsum(random.normal(0, 1.5, steps))
    if random.random() < 0.5:  # the pilot also responds to air traffic control, which is no answer to an advisory
        call = int(random.integers(0, steps - 4))
        responding = responding | (~advisory & (np.arange(steps) // 4 == call // 4))
    record = np.empty((steps, len(COLUMNS)), object)
    columns = advisory, responding, np.where(advisory, sense, "none"), rate.round(1), speed.round()
    for place, column in enumerate(columns):
        record[:, place] = column
    return record


def fit_demo(panel: Panel, ends: NDArray[Any]) -> GrammarTreeClassifier:
    """The demo's tree for these encounters."""
    model = GrammarTreeClassifier(GRAMMAR, max_depth=4, min_members=5, prevent_same_label=True, random_state=0)
    return model.fit(panel, ends)


def report(records: int = 400) -> Iterator[str]:
    """What the demo prints, part by part."""
    panel, ends = make_demo(records)
    known = round(LEARNT_FROM * records)
    yield _wrapped(
        f"{records} made-up encounters of two aircraft, {panel.lengths.min()} to {panel.lengths.max()} seconds long. "
        "Each ended in a near mid-air collision (NMAC) or was safe. Columns: advisory, responding (Boolean), sense "
        f"(categorical), vertical_rate, airspeed (real). {known} are learnt from, the other {records - known} test."
    )
    yield "What a branch may say (F: at some point, G: for all time):\n\n" + textwrap.indent(GRAMMAR.rstrip(), "  ")
    started = time.perf_counter()
    model = fit_demo(panel[:known], ends[:known])
    seconds = time.perf_counter() - started
    yield "The tree, with the encounters that come to each leaf:\n\n" + textwrap.indent(str(model.tree_), "  ")
    yield "Each leaf is a category. Its formula, and the same in English without what follows from the rest:"
    for category in model.categories(panel[:known], ends[:known]):
        yield _told(category)
    right = model.score(panel[known:], ends[known:])
    yield (
        f"Accuracy on the {records - known} encounters it has not seen: {right:.3f}. Learnt in {seconds:.1f} s.\n"
        "Next: README.md is a tour; docs/tutorial.md builds this step by step, in ten minutes."
    )


def _told(category: Category) -> str:
    counts = ", ".join(f"{label}: {count}" for label, count in category.counts.items())
    head = f"  [{category.number}] {category.label}, {len(category.members)} encounters ({counts})"
    return "\n".join([head, _wrapped(category.description, 6), _wrapped(category.english, 6)])


def _wrapped(text: str, indent: int = 0) -> str:
    more = indent + 2 if indent else 0
    return textwrap.fill(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * more)


def main() -> None:
    """Print the report."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ∧ and ├ shows question marks instead
    for part in report():
        print(part, end="\n\n")


if __name__ == "__main__":
    main()
