"""Where boxes and labels go, and where lines break: numbers and words, nothing drawn."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telltree.report.style import Box, Label, drawable, place, room_for, spread, width, wrapped

# Layout: numbers only.


boxes = st.recursive(
    st.builds(Box, st.floats(0.1, 4), st.floats(0.1, 4)),
    lambda below: st.builds(Box, st.floats(0.1, 4), st.floats(0.1, 4), st.tuples(below, below)),
    max_leaves=25,
)


def flat(box, level=0):
    return [(box, level), *(item for child in box.children for item in flat(child, level + 1))]


@given(boxes, st.booleans())
def test_boxes_of_a_tree_stay_apart_inside_the_whole_and_under_their_parents(root, down):
    placed = place(root, down=down, apart=0.2, between=0.5)
    everything = list(zip(flat(root), placed.middles, strict=True))
    for (box, _), (x, y) in everything:
        assert min(x, placed.width - x) >= box.width / 2 - 1e-9
        assert min(y, placed.height - y) >= box.height / 2 - 1e-9
    for i, ((one, level), (x, y)) in enumerate(everything):
        for (other, below), (u, v) in everything[i + 1 :]:
            across, along = (abs(x - u), y - v) if down else (abs(y - v), u - x)
            need = (one.width + other.width) / 2 if down else (one.height + other.height) / 2
            depth = (one.height + other.height) / 2 if down else (one.width + other.width) / 2
            if level == below:
                assert across >= need + 0.2 - 1e-9
            else:
                assert abs(along) >= depth + 0.5 - 1e-9
    at = dict(zip((id(box) for (box, _), _ in everything), placed.middles, strict=True))
    axis = 0 if down else 1
    for (box, _), middle in everything:
        if box.children and len(at) == len(everything):
            ends = [at[id(child)][axis] for child in box.children]
            assert middle[axis] == pytest.approx(sum(ends) / 2)


@given(st.lists(st.floats(-100, 100), max_size=30), st.floats(0.01, 5))
def test_labels_are_spread_in_order_and_only_as_far_as_needed(wanted, gap):
    found = spread(wanted, gap)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    for left, right in pairwise(order):
        assert found[right] - found[left] >= gap - 1e-9
    if all(b - a >= gap for a, b in pairwise(sorted(wanted))):
        assert found == pytest.approx(wanted)


def test_an_axis_has_room_for_its_labels():
    labels = [Label(9.0, 1.0, True), Label(0.0, 0.5, False)]
    low, high = room_for(0, 10, labels, 4)
    inch = (high - low) / 4
    assert high == pytest.approx(9 + inch)
    assert low == pytest.approx(-0.5 * inch)
    assert room_for(0, 10, [], 4) == (0, 10)
    assert np.isfinite(room_for(0, 10, [Label(5, 9.0, True), Label(5, 9.0, False)], 4)).all()


# Words.


@given(st.text(max_size=300), st.floats(0.3, 4), st.integers(1, 5))
def test_lines_are_as_narrow_and_few_as_asked(text, inches, lines):
    found = wrapped(text, inches, 9, lines=lines)
    assert 1 <= len(found) <= lines
    assert all(width(line, 9) <= inches or len(line) == 1 for line in found)
    whole = wrapped(text, inches, 9)
    assert "".join("".join(whole).split()) == "".join(drawable(text).split())
    assert (found == whole) or found[-1].endswith("…")


def test_what_no_font_has_is_a_box_and_all_else_is_as_given():
    assert drawable("\x1b[31m \ud800") == "□[31m □"
    assert drawable("$x_1$ ≤ größe ∧ Ω") == "$x_1$ ≤ größe ∧ Ω"
    assert drawable("a\nb\tc") == "a b c"
