"""The ways of the records that are shown: which branches they took, when that was decided, and by how much."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from telltree.explain import decisive_steps
from telltree.report.page.subject import Subject
from telltree.report.page.text import moment, number
from telltree.report.page.traces import band
from telltree.report.page.tree_view import looked_at, spots
from telltree.tree.tree import Node

Way = list[dict[str, Any]]


def ways_of(subject: Subject, records: Iterable[int]) -> dict[int, Way]:
    """For each record the turns from the root to its leaf.

    A turn has the `node` (its place in the tree), whether it `holds`, the decisive `step` and its `time`, the absolute
    `margin` (None if infinite), and `looks`: where what the formula looks for is true, step by step.
    """
    chosen = np.array(list(records), np.int64)
    found: dict[int, Way] = {int(record): [] for record in chosen}
    passes = subject.tree.passes(subject.known[chosen])
    margins = subject.margins
    for spot, here in zip(spots(subject.tree), passes.T, strict=True):
        if not isinstance(spot.node, Node):
            continue
        coming = chosen[here]
        steps = decisive_steps(spot.node.formula, subject.known, coming, reference=subject.reference)
        for record, step in zip(coming.tolist(), steps.tolist(), strict=True):
            times = subject.known.times(record)
            e = spot.node.formula.expression
            found[record].append(
                {
                    "node": spot.place,
                    "holds": bool(subject.truth[spot.row, record]),
                    "step": step,
                    "time": None if times is None else moment(float(times[step])),
                    "margin": number(abs(float(margins.over_time(e, record)[0]))),
                    "looks": [band(margins.over_time(part, record) > 0) for part in looked_at(e)],
                }
            )
    return found
