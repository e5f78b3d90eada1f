"""Margins of formulas over all records, as splits are chosen by them, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Column, panel_of

from telltree import Formula
from telltree.logic.formulas import Formulas

COLUMNS = (Column("x", "real"), Column("on", "Boolean"))


@pytest.mark.parametrize("text", ["F(x > 2) and count(on) > 1", "F(x > 3) or count(on) > 1"])
def test_counts_take_part_in_margins(text):
    """A comparison of counts has margin 1 where it is true, else −1: it decides about both records. By x alone the
    margin would be less."""
    records = [{"x": [4.0, 3.0], "on": [True, True]}, {"x": [0.0, 1.0], "on": [False, True]}]
    panel = panel_of(COLUMNS[:2], records)
    formula = Formula.parse(text, panel.schema).expression
    assert Formulas(panel).margins([formula]).tolist() == [1.0]


@pytest.mark.parametrize(("outer", "window"), [("G", "F"), ("F", "G"), ("G", "once"), ("F", "historically")])
@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(0, 4))
def test_margins_look_through_windows(outer, window, seed, near, width):
    """The best, or worst, step of each window; where there is none, 1 for "all" and −1 for "some"."""
    rng, far = np.random.default_rng(seed), near + width
    records = [rng.normal(size=length) for length in rng.integers(1, 9, 5)]
    spread, some = np.std(np.concatenate(records)), window in ("F", "once")

    def margin(x):
        found = []
        for t in range(len(x)):
            seen = range(t - far, t - near + 1) if window in ("once", "historically") else range(t + near, t + far + 1)
            steps = [(x[s] - 0.3) / spread for s in seen if 0 <= s < len(x)]
            found.append((max if some else min)(steps, default=-1.0 if some else 1.0))
        return min(found) if outer == "G" else max(found)

    panel = panel_of(COLUMNS[:1], [{"x": x.tolist()} for x in records])
    formula = Formula.parse(f"{outer}({window}[{near}, {far}](x > 0.3))", panel.schema).expression
    assert Formulas(panel).margins([formula])[0] == pytest.approx(min(abs(margin(x)) for x in records))
