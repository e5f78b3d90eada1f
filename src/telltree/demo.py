"""A first look: the kinds of near mid-air collision in aircraft encounters from a real study."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.datasets import load_acasx
from telltree.estimators import GrammarTreeClassifier
from telltree.explain import Category
from telltree.panel import Panel
from telltree.text import counted
from telltree.tree import Greedy

COLUMNS = (
    *("vert_rate_1", "vert_rate_2", "abs_alt_diff"),
    *("response_none_1", "response_none_2", "response_follow_1", "response_follow_2"),
)
"""The 7 of 77 columns that the demo uses: the motion of the aircraft, and the pilots' responses."""
GRAMMAR = """
Start  ::= F(Moment) | G(Moment)
Moment ::= Atom | Atom and Atom | Atom and Atom and Atom
Atom   ::= each Boolean | abs_alt_diff < thresholds | abs(vert_rate_1 | vert_rate_2) > [10, 20, 30, 40, 50]
"""
LEARNT_FROM = 1_400  # of the 2,000 encounters; the others are for testing
WIDTH = 100


def encounters() -> tuple[Panel, NDArray[Any]]:
    """Return the sample that comes with telltree, and the outcome of each encounter."""
    everything, ends = load_acasx()
    return everything.select(COLUMNS), ends


def fit(panel: Panel, ends: NDArray[Any]) -> GrammarTreeClassifier:
    """Fit the demo's tree, three questions deep, without small leaves."""
    model = GrammarTreeClassifier(
        GRAMMAR, growth=Greedy(prevent_same_label=True), max_depth=3, min_samples_leaf=10, random_state=0
    )
    return model.fit(panel, ends)


def demo(page: Path | None = None) -> Iterator[str]:
    """Yield the parts of the demo's output; with `page`, also write a report there."""
    if page is not None:
        from telltree.report import write_report  # first, so that a missing library is reported before the work

    panel, ends = encounters()
    train, test = slice(0, LEARNT_FROM), slice(LEARNT_FROM, None)
    yield _wrapped(
        f"{len(panel):,} encounters of two aircraft, from the stress tests of the collision avoidance system ACAS X. "
        f"{int((ends == 'NMAC').sum())} of them ended in a near mid-air collision (NMAC). Each record ends more than "
        f"five seconds before the closest approach. {LEARNT_FROM:,} are learnt from, the other "
        f"{len(panel) - LEARNT_FROM} test it."
    )
    model = fit(panel[train], ends[train])
    yield "What it asks of an encounter:\n\n" + textwrap.indent(model.outline(), "  ")
    yield "The kinds of NMAC, in words. Each leaf of the tree is a category:"
    for category in model.categories(panel[train], ends[train]):
        if category.label == "NMAC":
            yield _category_text(category)
    yield _verdict(model, panel[test], ends[test])
    if page is None:
        yield "To see it all, in a page of its own: telltree demo -o report.html"
    else:
        held_out, title = (panel[test], ends[test]), "Near mid-air collisions"
        write_report(model, panel[train], ends[train], page, title=title, overwrite=True, held_out=held_out)
        yield f"Now open {page} in a browser: the tree, its categories, and the way of each record."


def _category_text(category: Category) -> str:
    counts = ", ".join(f"{label}: {count}" for label, count in category.counts.items())
    head = f"  [{category.number}] {category.title}, {counted(len(category.members), 'encounter')} ({counts})"
    return "\n".join([head, _wrapped(category.english, 6)])


def _verdict(model: GrammarTreeClassifier, panel: Panel, ends: NDArray[Any]) -> str:
    found = model.predict(panel)
    caught, named = int(((found == "NMAC") & (ends == "NMAC")).sum()), int((found == "NMAC").sum())
    return _wrapped(
        f"On the {len(panel)} encounters it has not seen: accuracy {np.mean(found == ends):.3f}; it finds {caught} of "
        f"the {int((ends == 'NMAC').sum())} NMACs, and is right in {caught} of the {named} it names."
    )


def _wrapped(text: str, indent: int = 0) -> str:
    more = indent + 2 if indent else 0
    return textwrap.fill(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * more)
