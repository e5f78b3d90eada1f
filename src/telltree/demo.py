"""A first look: simulate encounters of two aircraft, and learn what kinds of near mid-air collision there are."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.datasets import make_encounters
from telltree.datasets.encounters import PROXIMITY
from telltree.estimators import GrammarTreeClassifier
from telltree.experiments.grammars import encounter_grammar
from telltree.explain import Category
from telltree.search import GeneticProgramming
from telltree.tree import GiniSize

RECORDS, NMAC = 2_000, 173  # as rare as in the paper
LEARNT_FROM = 0.7  # the share of the encounters to learn from; the rest tests
WIDTH = 100


def encounters(records: int = RECORDS, nmac: int = NMAC) -> tuple[Panel, NDArray[Any]]:
    """Simulated encounters, and how they ended."""
    panel, ends, _ = make_encounters(records, nmac)
    # how near the aircraft are says nothing about why; the tree shall not speak of it
    return panel.select([name for name in panel.schema if name not in PROXIMITY]), ends


def demo(page: Path | None = None, records: int = RECORDS, nmac: int = NMAC) -> Iterator[str]:
    """What the demo prints, part by part; with `page`, it also writes a report there."""
    panel, ends = encounters(records, nmac)
    order = np.random.default_rng(0).permutation(records)
    train, test = np.split(order, [round(LEARNT_FROM * records)])
    yield _wrapped(
        f"{records:,} simulated encounters of two aircraft with a collision avoidance system, {panel.lengths.max()} "
        f"seconds each, described by {len(panel.schema)} columns: real, Boolean and categorical. {nmac} ended in a "
        f"near mid-air collision (NMAC). {len(train):,} are learnt from, the other {len(test):,} test."
    )
    model = fit(panel[train], ends[train])
    yield "A tree of formulas (F: at some point, G: for all time):\n\n" + textwrap.indent(str(model.tree_), "  ")
    yield "The kinds of NMAC, in words. Each leaf of the tree is a category:"
    for category in model.categories(panel[train], ends[train]):
        if category.label == "NMAC":
            yield _told(category)
    yield _verdict(model, panel[test], ends[test])
    if page is None:
        yield "To see it all, in a page of its own: telltree demo -o report.html"
    else:
        from telltree.report import write_report

        held_out = panel[test], ends[test]
        title = "Near mid-air collisions, simulated"
        write_report(model, panel[train], ends[train], page, title=title, overwrite=True, held_out=held_out)
        yield f"Now open {page} in a browser: the tree, its categories, and the way of each record."


def fit(panel: Panel, ends: NDArray[Any]) -> GrammarTreeClassifier:
    """The demo's tree for these encounters: few records, so short formulas, and no small leaves."""
    model = GrammarTreeClassifier(
        encounter_grammar(),
        GeneticProgramming(max_depth=4),
        fitness=GiniSize(w2=0.3, tolerance=0.15),
        max_depth=3,
        min_members=10,
        prevent_same_label=True,
        random_state=0,
    )
    return model.fit(panel, ends)


def _told(category: Category) -> str:
    counts = ", ".join(f"{label}: {count}" for label, count in category.counts.items())
    head = f"  [{category.number}] {category.label}, {len(category.members)} encounters ({counts})"
    return "\n".join([head, _wrapped(category.english, 6)])


def _verdict(model: GrammarTreeClassifier, panel: Panel, ends: NDArray[Any]) -> str:
    found = model.predict(panel)
    caught, said = int(((found == "NMAC") & (ends == "NMAC")).sum()), int((found == "NMAC").sum())
    return _wrapped(
        f"On the {len(panel)} encounters it has not seen: accuracy {np.mean(found == ends):.3f}; it finds {caught} of "
        f"the {int((ends == 'NMAC').sum())} NMACs, and is right in {caught} of the {said} it names."
    )


def _wrapped(text: str, indent: int = 0) -> str:
    more = indent + 2 if indent else 0
    return textwrap.fill(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * more)
