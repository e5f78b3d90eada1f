"""The grammars that telltree makes of a panel are those that their own text says, to the last bit."""

import gc
import random
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples, few_fast
from tests.support.strategies import Column, draw_case, draw_columns, panel_of

from telltree.errors import GrammarError, SettingsError, TelltreeWarning
from telltree.grammar import Grammar
from telltree.grammar.generic_language import OPERATORS
from telltree.panel import Panel

ODD_NAMES = ("Start", "VB", "Peak", "Own", "Long", "grid", "not", "0", "", " ", "a\nb", "`", "\\", "naïve", "\u2028")


def assert_as_written(grammar, panel):
    """That a user who wrote the grammar's text would have the same grammar."""
    again = Grammar.parse(str(grammar), panel)
    assert str(again) == str(grammar)
    assert again.start == grammar.start
    assert again == grammar  # rules, their order, weights and English
    assert [repr(rule) for rule in again.rules] == [repr(rule) for rule in grammar.rules]
    assert again.schema == grammar.schema
    for name, mine, theirs in zip(grammar.tables._fields, grammar.tables, again.tables, strict=True):
        assert mine.dtype == theirs.dtype, name
        assert mine.tobytes() == theirs.tobytes(), name
    assert again.bits(6) == grammar.bits(6)
    depth = max(6, grammar.least_depth)
    for seed in range(3):
        mine, theirs = grammar.draw(seed, depth), again.draw(seed, depth)
        assert mine == theirs
        assert str(mine) == str(theirs)


def draw_panel(rng):
    """Some records of mixed columns, some of them under odd names, and some with thresholds."""
    columns = draw_columns(rng)
    odd = rng.sample(ODD_NAMES, len(columns))
    columns = tuple(replace(c, name=odd[i]) if rng.random() < 0.4 else c for i, c in enumerate(columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TelltreeWarning)
        panel = draw_case(rng, columns, [rng.randint(1, 8) for _ in range(rng.randint(1, 10))]).panel
        marked = {c.name: {"thresholds": [-0.0, 2.5]} for c in columns if c.type == "real" and rng.random() < 0.2}
        return panel.with_schema(panel.schema.override(marked)) if marked else panel


@examples(40)
@given(st.randoms(use_true_random=False))
def test_any_panel_has_the_grammars_that_are_written(rng):
    panel = draw_panel(rng)
    labels = [rng.randint(0, 1) for _ in range(len(panel))]
    operators = rng.sample(OPERATORS, rng.randint(3, len(OPERATORS)))
    weight = rng.choice((0.1, 1, 4.0))
    for make in (
        lambda: Grammar.for_panel(panel),
        lambda: Grammar.for_panel(panel, labels),
        lambda: Grammar.generic(panel),
        lambda: Grammar.generic(panel, operators=operators, points=rng.choice((2, 5)), atoms_weight=weight),
    ):
        try:
            grammar = make()
        except (GrammarError, SettingsError):  # no column, no F and G, no finite value: nothing to compare
            continue
        assert_as_written(grammar, panel)


@pytest.mark.parametrize("columns", few_fast([1, 13, 401], 2))
def test_many_columns_have_the_grammars_that_are_written(columns):
    rng = np.random.default_rng(columns)
    values = rng.normal(size=(9, 6, columns)).round(1)
    values[rng.random(values.shape) < 0.02] = np.nan
    panel = Panel.from_arrays(values, layout="records, steps, columns")
    assert_as_written(Grammar.for_panel(panel), panel)
    assert_as_written(Grammar.generic(panel), panel)


def test_a_levels_group_is_written_as_it_is_made():
    rng = random.Random(0)
    names = [f"level {i}" for i in range(20)]
    records = [{"c": [rng.choice(names) for _ in range(4)]} for _ in range(30)]
    panel = panel_of([Column("c", "categorical", tuple(names))], records)
    assert_as_written(Grammar.for_panel(panel, [i % 2 for i in range(30)]), panel)


@pytest.mark.parametrize(("points", "bound"), [(1, "at least 2"), (10_001, "at most 10,000")])
def test_points_of_a_grid_are_refused_as_a_setting(points, bound):
    panel = Panel.from_arrays(np.arange(6.0).reshape(3, 2, 1), layout="records, steps, columns")
    with pytest.raises(SettingsError, match=f"points must be a whole number of {bound}"):
        Grammar.generic(panel, points=points)


def test_garbage_is_collected_again_after_an_error():
    panel = Panel.from_arrays(np.arange(6.0).reshape(3, 2, 1), layout="records, steps, columns")
    with pytest.raises(GrammarError):
        Grammar.parse("Start ::= F(", panel)
    assert gc.isenabled()


LISTS = [
    ("[1, -2 , − 3,\n .5e1, 4.]", "[1, -2, -3, 5, 4]"),
    ("[ 1,# a remark\n 2 ]", "[1, 2]"),
    ("[-0, 1]", "[0, 1]"),
    ("[2, 2, 1]", "[2, 1]"),
    ("[7]", "7"),
]


@pytest.mark.parametrize(("written", "read"), LISTS)
def test_lists_of_numbers_are_read_however_they_are_spaced(written, read):
    panel = Panel.from_arrays(np.arange(6.0).reshape(3, 2, 1), layout="records, steps, columns")
    (name,) = panel.schema
    assert str(Grammar.parse(f"Start ::= F({name} < {written})", panel)) == f"Start ::= F({name} < {read})\n"


@pytest.mark.parametrize(("text", "line", "column"), [("[1, 1e999]", 1, 5), ("[1,\n  -1e999, 2]", 2, 4)])
def test_too_large_a_number_in_a_list_is_pointed_at(text, line, column):
    panel = Panel.from_arrays(np.arange(6.0).reshape(3, 2, 1), layout="records, steps, columns")
    (name,) = panel.schema
    before = f"Start ::= F({name} < "
    with pytest.raises(GrammarError, match="1e999 is too large for a number") as caught:
        Grammar.parse(f"{before}{text})", panel)
    assert (caught.value.line, caught.value.column) == (line, column + (len(before) if line == 1 else 0))
