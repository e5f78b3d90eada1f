"""The paths of the records shown: which branches they took, when that was decided, and by how much."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from telltree.data.clock import date_text
from telltree.explain import decisive_steps
from telltree.explain.way import distance_text
from telltree.operators import Expression
from telltree.report.page.subject import Subject
from telltree.report.page.text import moment, number, words
from telltree.report.page.traces import band
from telltree.report.page.tree_view import looked_at, spots
from telltree.tree.tree import Node

Way = list[dict[str, Any]]


def ways_of(subject: Subject, records: Iterable[int]) -> dict[int, Way]:
    """For each record the turns from the root to its leaf.

    A turn has the `node` (its index in the tree), whether it `holds`, the decisive `step` and its `time` (and `date` if
    times were dates), the absolute `margin` (None if infinite; `distance` says it in words if it is meaningful), and
    `looks`: the steps at which each operand of F, G or count is true, with `counts` for those that are counted.
    """
    chosen = np.array(list(records), np.int64)
    found: dict[int, Way] = {int(record): [] for record in chosen}
    passes = subject.tree.passes(subject.known[chosen])
    for spot, here in zip(spots(subject.tree), passes.T, strict=True):
        if not isinstance(spot.node, Node):
            continue
        coming = chosen[here]
        steps = decisive_steps(spot.node.formula, subject.known, coming, reference=subject.reference)
        for record, step in zip(coming.tolist(), steps.tolist(), strict=True):
            holds = bool(subject.truth[spot.row, record])
            turn = {"node": spot.place, "holds": holds, "step": step}
            e = spot.node.formula.expression
            found[record].append(turn | _when(subject, record, step) | _measured(subject, e, record))
    return found


def _when(subject: Subject, record: int, step: int) -> dict[str, Any]:
    times, date = subject.known.times(record), date_text(subject.known, record, step)
    told = {"time": None if times is None else moment(float(times[step]))}
    return told if date is None else {**told, "date": date}


def _measured(subject: Subject, e: Expression, record: int) -> dict[str, Any]:
    margins, looks = subject.margins, list(looked_at(e))
    distance = margins.distance(e, record)
    told: dict[str, Any] = {
        "margin": number(abs(distance.size)),
        "looks": [band(margins.over_time(look.what, record) > 0) for look in looks],
    }
    if distance.unit is not None:
        size = distance_text(distance, subject.known).lstrip("+-")
        told["distance"] = words(size if distance.unit == "steps" else f"{size} {distance.unit}")
    if any(look.counts for look in looks):
        told["counts"] = [look.counts and margins.tally(look.counts, record).told(look.what) for look in looks]
    return told
