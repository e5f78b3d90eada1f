"""Layout: trees of boxes that do not overlap, and labels that keep a distance. Numbers only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Box:
    """The size of a node, and its children."""

    width: float
    height: float
    children: tuple["Box", ...] = ()


class Placed(NamedTuple):
    """The centre of each box in preorder, y upwards, and the size of the whole, whose lower left corner is (0, 0)."""

    middles: tuple[tuple[float, float], ...]
    width: float
    height: float


class _Reach(NamedTuple):
    """How far a subtree extends from its root's centre: at each of its levels, to either side."""

    offsets: list[float]  # of every box in preorder
    levels: list[int]
    sides: list[tuple[float, float]]  # of every level


def place(root: Box, *, down: bool, apart: float, between: float) -> Placed:
    """Put children side by side below their parent (`down`), or one below the other to its right.

    Subtrees are as close as possible, with `apart` between the boxes of one level. A parent is centred over its
    children. Levels are as deep as their deepest box, with `between` from one to the next.
    """
    reach = _arrange(root, down, apart)
    boxes = list(_preorder(root))
    depths = [0.0] * len(reach.sides)
    for box, level in zip(boxes, reach.levels, strict=True):
        depths[level] = max(depths[level], box.height if down else box.width)
    starts = [sum(depths[:level]) + level * between for level in range(len(depths))]
    first = min(low for low, _ in reach.sides)
    across = [offset - first for offset in reach.offsets]
    along = [
        starts[level] + (box.height if down else box.width) / 2 for box, level in zip(boxes, reach.levels, strict=True)
    ]
    breadth, length = max(high for _, high in reach.sides) - first, starts[-1] + depths[-1]
    if down:
        return Placed(tuple((x, length - y) for x, y in zip(across, along, strict=True)), breadth, length)
    return Placed(tuple((x, breadth - y) for x, y in zip(along, across, strict=True)), length, breadth)


def _arrange(box: Box, down: bool, apart: float) -> _Reach:
    half = (box.width if down else box.height) / 2
    placed = [_arrange(child, down, apart) for child in box.children]
    if not placed:
        return _Reach([0.0], [0], [(-half, half)])
    shifts, taken = [0.0], list(placed[0].sides)
    for reach in placed[1:]:
        shift = max(high - low + apart for (_, high), (low, _) in zip(taken, reach.sides, strict=False))
        shifts.append(shift)
        taken = _beside(taken, [(low + shift, high + shift) for low, high in reach.sides])
    middle = (shifts[0] + shifts[-1]) / 2
    offsets, levels = [0.0], [0]
    for reach, shift in zip(placed, shifts, strict=True):
        offsets += [offset + shift - middle for offset in reach.offsets]
        levels += [level + 1 for level in reach.levels]
    return _Reach(offsets, levels, [(-half, half), *((low - middle, high - middle) for low, high in taken)])


def _beside(left: list[tuple[float, float]], right: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The extents of both; for a level that only one has, its own."""
    shared = [(low, high) for (low, _), (_, high) in zip(left, right, strict=False)]
    return shared + left[len(right) :] + right[len(left) :]


def _preorder(box: Box) -> list[Box]:
    return [box, *(below for child in box.children for below in _preorder(child))]


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Positions at least `gap` apart, in the same order and near the wanted ones: for labels beside their objects."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups: list[tuple[float, int]] = []  # middle and number of labels that touch
    for i in order:
        middle, size = float(wanted[i]), 1
        while groups and middle - groups[-1][0] < gap * (size + groups[-1][1]) / 2:
            before, others = groups.pop()
            middle, size = (middle * size + before * others) / (size + others), size + others
        groups.append((middle, size))
    places = [middle + gap * (k - (size - 1) / 2) for middle, size in groups for k in range(size)]
    found = [0.0] * len(wanted)
    for i, at in zip(order, places, strict=True):
        found[i] = at
    return found


class Label(NamedTuple):
    """A label above or below a value, this many inches tall."""

    value: float
    inches: float
    above: bool


def room_for(low: float, high: float, labels: Sequence[Label], height: float) -> tuple[float, float]:
    """The limits of an axis of this height, in inches, that shows values from `low` to `high` and all labels.

    Labels take at most four fifths of the height, so that the values stay visible.
    """
    above, below = (
        max((label.inches for label in labels if label.above is side), default=0.0) for side in (True, False)
    )
    squeeze = min(1.0, 0.8 * height / (above + below)) if above + below else 1.0
    top, bottom = high, low
    for _ in range(60):  # squeezing the values lets labels reach further; this converges
        inch = (top - bottom) / height
        reach = [label.value + (1 if label.above else -1) * squeeze * label.inches * inch for label in labels]
        top, bottom = max([high, *reach]), min([low, *reach])
    return bottom, top
