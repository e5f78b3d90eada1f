"""The paths of the records shown: which branches they took, when that was decided, and by how much."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from telltree.data import Panel
from telltree.data.clock import date_text
from telltree.explain.counts import count_text
from telltree.explain.evidence import Evidence
from telltree.explain.way import distance_text, why_unknown_at
from telltree.report.page.looks import Look, looked_at
from telltree.report.page.subject import Subject
from telltree.report.page.text import moment, number, words
from telltree.report.page.traces import band
from telltree.report.page.tree_view import spots
from telltree.tree.tree import Node

Way = list[dict[str, Any]]


def ways_of(subject: Subject, records: Iterable[int]) -> dict[int, Way]:
    """For each record the turns from the root to its leaf.

    A turn has the `node` (its index in the tree), whether it `holds`, the decisive `step` and its `time` (and `date` if
    times were dates), the absolute `margin` (None if infinite; `distance` says it in words if it is meaningful), and
    `looks`: the steps at which each operand of F, G or count is true, with `counts` for those that are counted. If the
    answer is `unknown`, that says why, and what it counts as.
    """
    chosen = np.array(list(records), np.int64)
    found: dict[int, Way] = {int(record): [] for record in chosen}
    passes = subject.tree.passes_truth(subject.truth[:, chosen])
    for spot, here in zip(spots(subject.tree), passes.T, strict=True):
        if not isinstance(spot.node, Node):
            continue
        evidence, looks = subject.evidence[spot.row], list(looked_at(spot.node.formula.expression))
        for record in chosen[here].tolist():
            step = int(evidence.steps[record])
            turn = {"node": spot.place, "holds": bool(evidence.truth[record]), "step": step}
            told = _measured(subject.known, evidence, looks, record)
            if subject.unknown[record, spot.place]:
                told["unknown"] = words(why_unknown_at(spot.node, subject.known[[record]]))
            found[record].append(turn | _when(subject.known, record, step) | told)
    return found


def _when(panel: Panel, record: int, step: int) -> dict[str, Any]:
    times, date = panel.times(record), date_text(panel, record, step)
    told = {"time": None if times is None else moment(float(times[step]))}
    return told if date is None else {**told, "date": date}


def _measured(panel: Panel, evidence: Evidence, looks: Sequence[Look], record: int) -> dict[str, Any]:
    distance = evidence.distance(record)
    told: dict[str, Any] = {
        "margin": number(abs(distance.size)),
        "looks": [band(evidence.held(look.what, record)) for look in looks],
    }
    if distance.unit is not None:
        size = distance_text(distance, panel).lstrip("+-")
        told["distance"] = words(size if distance.unit == "steps" else f"{size} {distance.unit}")
    if any(look.counts for look in looks):
        counts = (look.counts and count_text(look.counts, evidence.count(look.what, record)) for look in looks)
        told["counts"] = list(counts)
    return told
