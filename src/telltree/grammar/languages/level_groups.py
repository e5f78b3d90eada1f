"""Groups of levels that occur together in a sentence, for columns with many levels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel

_MOST_IN_GROUP = 8
"""The most levels that one sentence lists, the most common ones. This many fit within three nested operators."""


def together(panel: Panel, name: str, labels: NDArray[Any] | None, single: int) -> list[tuple[str, ...]]:
    """The most common levels, each by itself, and for each class the levels that occur more often with it.

    A level occurs in a record if it is the value of some step. Without labels there are no classes, so no groups.
    """
    levels = panel.schema[name].levels
    met = _met(panel, name, len(levels))
    often = met.sum(axis=0)
    common = [int(code) for code in np.argsort(-often, kind="stable") if often[code]]
    groups: list[tuple[int, ...]] = [(code,) for code in common[:single]]
    for own in [] if labels is None else [labels == label for label in np.unique(labels)]:
        if not own.all():
            with_class = [code for code in common if met[own, code].mean() > met[~own, code].mean()]
            groups.append(tuple(with_class[:_MOST_IN_GROUP]))
    kept = dict.fromkeys(group for group in groups if 0 < len(group) < len(common))
    return [tuple(levels[code] for code in group) for group in kept]


def _met(panel: Panel, name: str, levels: int) -> NDArray[np.bool_]:
    """Whether each record has each level at some step: records × levels."""
    return np.concatenate([_met_in(part, name, levels) for part in panel.parts()])


def _met_in(part: Panel, name: str, levels: int) -> NDArray[np.bool_]:
    codes = part.stacked(name)
    records = np.repeat(np.arange(len(part)), part.lengths)
    known = codes >= 0
    met = np.zeros((len(part), levels), np.bool_)
    met[records[known], codes[known]] = True
    return met
