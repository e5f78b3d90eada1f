"""Numbers made of what a signal was at several steps: what they mean where values are missing, what they are for."""

import math
import random
import sqlite3

import numpy as np
import pandas as pd
import pytest

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import few_fast

from telltree import Formula, Grammar, GrammarTreeClassifier, Panel, export_model
from telltree.engine.formula_evaluator import signals_of
from telltree.errors import DataError, GrammarError, SettingsError
from telltree.explain import english
from telltree.explain.evidence import has_moments
from telltree.search import MonteCarlo
from telltree.tree import Node

NO, BIG = np.nan, np.inf
RECORDS = [[1.0, 5.0, 2.0, 8.0], [3.0], [NO, 1.0, BIG, -BIG], [NO, NO]]
ALARMS = [[0, 1, 0, 1], [0], [1, 0, 1, 0], [1, 0]]

pytestmark = pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")


def panel_of(**timed):
    """Four records: values, some of them missing or infinite, and an alarm."""
    rows = [np.column_stack(pair) for pair in zip(RECORDS, ALARMS, strict=True)]
    schema = {"alarm": {"type": "Boolean"}, "x": {"type": "real"}}
    return Panel.from_arrays(rows, columns=["x", "alarm"], schema=schema, **timed)


def signal(text, panel):
    """An expression that is not a formula."""
    return Formula.parse(f"F({text} > 0)", panel.schema, step=panel.step).expression.args[0].args[0]


def values(text, panel):
    found = signals_of(panel).values(signal(text, panel))[panel.rows()]
    return [None if math.isnan(value) else value for value in found.tolist()]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("mean[0, 1](x)", [1, 3, 3.5, 5, 3, None, 1, BIG, None, None, None]),
        ("mean[1, 2](x)", [None, 1, 3, 3.5, None, None, None, 1, BIG, None, None]),
        ("min[0, 2](x)", [1, 1, 1, 2, 3, None, 1, 1, -BIG, None, None]),
        ("max[0, 2](x)", [1, 5, 5, 8, 3, None, 1, BIG, BIG, None, None]),
        ("max[2, 9](x)", [None, None, 1, 5, None, None, None, None, 1, None, None]),
        ("spread[0, 2](x)", [0, 4, 4, 6, 0, None, 0, BIG, BIG, None, None]),
        ("total(x)", [1, 6, 8, 16, 3, None, 1, BIG, None, None, None]),
        ("latest(x, alarm)", [None, 5, 5, 8, None, None, None, BIG, BIG, None, None]),
        ("mean[0, 1](latest(x, alarm))", [None, 5, 5, 6.5, None, None, None, BIG, BIG, None, None]),
        ("max[0, 99999999999](x)", [1, 5, 5, 8, 3, None, 1, BIG, BIG, None, None]),
        ("mean[77777, 99999](x)", [None] * 11),
        ("mean(x)", [4] * 4 + [3] + [None] * 6),
        ("min(x)", [1] * 4 + [3] + [-BIG] * 4 + [None] * 2),
        ("max(x)", [8] * 4 + [3] + [BIG] * 4 + [None] * 2),
        ("spread(x)", [7] * 4 + [0] + [BIG] * 4 + [None] * 2),
        ("slope(x)", [1.8] * 4 + [0] + [None] * 6),
        ("slope(latest(x, alarm))", [1.5] * 4 + [None] * 7),
        ("first(x)", [1] * 4 + [3] + [1] * 4 + [None] * 2),
        ("last(x)", [8] * 4 + [3] + [-BIG] * 4 + [None] * 2),
        ("when_min(x)", [0] * 4 + [0] + [3] * 4 + [None] * 2),
        ("when_max(x)", [3] * 4 + [0] + [2] * 4 + [None] * 2),
    ],
)
def test_what_they_mean(text, wanted):
    panel = panel_of()
    assert values(text, panel) == wanted
    turned = panel[[2, 0]]
    assert values(text, turned) == [*wanted[5:9], *wanted[:4]]


NUMBERS_MADE = (
    "mean[{a}, {b}](x)", "min[{a}, {b}](x)", "max[{a}, {b}](x)", "spread[{a}, {b}](x)", "total(x)", "latest(x, alarm)",
    "mean(x)", "min(x)", "max(x)", "spread(x)", "slope(x)", "first(x)", "last(x)", "when_min(x)", "when_max(x)",
)  # fmt: skip


def judged(text, record):
    """The same by the oracle."""
    name, _, rest = text.partition("(")
    operands = [("x", word.strip()) for word in rest.rstrip(")").split(",")]
    name, _, window = name.partition("[")
    bounds = [("number", float(bound)) for bound in window.rstrip("]").split(",")] if window else []
    return oracle.values((name + "[]" * bool(window), *operands, *bounds), record, {})


@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_long_ragged_records_agree_with_the_oracle_to_the_last_bit(seed):
    """Of any numbers, large and small: sums do not depend on the order in which they are added up."""
    rng = random.Random(seed)
    scale = (1.0, 1e-3, 1e12)
    records = [
        {
            "x": [None if rng.random() < 0.1 else rng.gauss(0, 1) * rng.choice(scale) for _ in range(length)],
            "alarm": [rng.random() < 0.2 for _ in range(length)],
        }
        for length in (1, 2, 70, *(rng.randint(1, 40) for _ in range(20)))
    ]
    rows = [np.column_stack([np.array(r["x"], float), np.array(r["alarm"], float)]) for r in records]
    panel = Panel.from_arrays(rows, columns=["x", "alarm"], schema={"alarm": {"type": "Boolean"}})
    for made in NUMBERS_MADE:
        for _ in range(4):
            a, b = sorted(rng.choice((0, 1, 3, 7, 16, rng.randint(0, 80))) for _ in range(2))
            text = made.format(a=a, b=b)
            assert values(text, panel) == [value for record in records for value in judged(text, record)], text


def test_the_greatest_of_late_is_what_once_was():
    panel = panel_of()
    for k in range(4):
        pairs = [
            ("F(max[0, {k}](x) > 4)", "F(once[0, {k}](x > 4))"),
            ("F(min[0, {k}](x) < 2)", "F(once[0, {k}](x < 2))"),
        ]
        for pair in pairs:
            made, was = (Formula.parse(text.format(k=k), panel.schema) for text in pair)
            assert [one.tolist() for one in made.over_time(panel)] == [one.tolist() for one in was.over_time(panel)]


def test_a_window_may_be_written_in_seconds_and_stand_in_a_grammar():
    panel = panel_of(period=0.5, time_unit="s")
    assert str(Formula.parse("F(mean[0 s, 2 s](x) > 1)", panel.schema, step=panel.step)) == "F(mean[0, 4](x) > 1)"
    grammar = Grammar.parse("Start ::= F(max[0 s, [1 s, 2 s]](x) - min[0, 4](x) > [1, 2])", panel)
    assert str(grammar) == "Start ::= F((max[0, [2, 4]](x) - min[0, 4](x)) > [1, 2])\n"
    assert Grammar.parse(str(grammar), panel) == grammar


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("F(mean[3, 2](x) > 0)", r"mean\[3, 2\] looks at no step: the window ends before it begins"),
        ("F(mean[0, 1.5](x) > 0)", r"mean\[\] takes its last step as a whole number of at least 0, found 1.5"),
        ("F(mean[2](x) > 0)", r"mean\[\] takes 3 operands, found 2"),
        (
            "F(mean[0, 2](alarm) > 0)",
            r"mean takes a real vector, and a window of steps; found a Boolean vector and a number and",
        ),
        (
            "F(latest(alarm, x) > 0)",
            "latest takes a real vector and a Boolean vector; found a Boolean vector and a real vector",
        ),
        ("F(latest(x) > 0)", "latest takes 2 operands, found 1"),
    ],
)
def test_what_cannot_be_is_refused(text, message):
    with pytest.raises(GrammarError, match=message):
        Formula.parse(text, panel_of().schema)


def rooms(**timed):
    """Records of a temperature and a door, without gaps."""
    rng = np.random.default_rng(1)
    rows = [np.column_stack([rng.normal(20, 2, n).round(1), rng.random(n) < 0.4]) for n in (1, 4, 9, 30)]
    schema = {
        "t": {"unit": "°C", "phrase": "the temperature"},
        "door": {"type": "Boolean", "phrase": "the door is open"},
    }
    return Panel.from_arrays(rows, columns=["t", "door"], schema=schema, **timed)


SAID = [
    (
        "F(mean[0, 5](t) > 21)",
        "at some point the mean of the temperature at that step and up to 5 min earlier is above 21 °C",
    ),
    ("F(mean[2, 5](t) > 21)", "at some point the mean of the temperature 2 to 5 min earlier is above 21 °C"),
    (
        "G(spread[0, 1](t) < 4)",
        "the range of the temperature at that step and up to 1 min earlier is always below 4 °C",
    ),
    (
        "F(min[0, 3](t) > 20 and door)",
        "at some point the minimum of the temperature at that step and up to 3 min earlier is above 20 °C "
        "while the door is open",
    ),
    ("F(t > max[1, 3](t))", "at some point the temperature is above the maximum of the temperature 1 to 3 min earlier"),
    ("F(total(t) > 90)", "at some point the sum of the temperature up to and including that step is above 90 °C"),
    (
        "F(latest(t, door) < 19)",
        "at some point, at the last step so far at which the door is open, the temperature is below 19 °C",
    ),
    (
        "F(mean[0, 3](t) - t > 1)",
        "at some point the temperature is more than 1 °C below the mean of the temperature at that step and "
        "up to 3 min earlier",
    ),
    ("F(mean(t) > 20)", "the mean of the temperature over the whole record is above 20 °C"),
    ("G(mean(t) > 20)", "the mean of the temperature over the whole record is above 20 °C"),
    (
        "F(min(t) < 18 and door)",
        "at some point the minimum of the temperature over the whole record is below 18 °C while the door is open",
    ),
    (
        "F(max(t) > 23) or F(spread(t) < 1)",
        "either the maximum of the temperature over the whole record is above 23 °C or the range of the "
        "temperature over the whole record is below 1 °C",
    ),
    (
        "F(slope(t) < 0.1)",
        "the slope per step of the line that best fits the temperature over the whole record is below 0.1",
    ),
    (
        "F(first(t) - last(t) > 2)",
        "the first value of the temperature is more than 2 °C above the last value of the temperature",
    ),
    (
        "F(when_max(t) < 5)",
        "the temperature first reaches its highest value of the whole record less than 5 min after the start",
    ),
    (
        "F(mean(t) - t > 2)",
        "at some point the temperature is more than 2 °C below the mean of the temperature over the whole record",
    ),
]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_they_are_said_and_read_back(text, said):
    panel = rooms(period=1.0, time_unit="min")
    asked = Formula.parse(text, panel.schema)
    assert english(asked.expression, panel.schema, (), step=panel.step) == said
    again = Formula.from_english(said, panel.schema, step=panel.step)
    assert again(panel).tolist() == asked(panel).tolist()


def test_what_may_be_missing_is_told():
    """What looks at earlier steps alone finds none at the first; what looks at this one, too, always does."""
    panel = rooms()
    said = [
        english(Formula.parse(f"F(not {text} > 21)", panel.schema).expression, panel.schema, ())
        for text in ("max[0, 2](t)", "max[1, 2](t)", "latest(t, door)")
    ]
    assert said == [
        "at some point the maximum of the temperature at that step and up to 2 steps earlier is at most 21 °C",
        "at some point the maximum of the temperature 1 to 2 steps earlier is at most 21 °C or missing",
        "at some point, at the last step so far at which the door is open, if there is one, the temperature "
        "is at most 21 °C",
    ]


def tree_of(text, panel):
    sides = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
    return class_tree(Node(Formula.parse(text, panel.schema), *sides), ("yes", "no"), panel.schema, None, panel.step)


def test_a_tree_with_them_refuses_steps_of_another_length_and_stl():
    tree = tree_of("F(mean[0, 2](t) > 21)", rooms(period=1.0, time_unit="min"))
    assert len(tree.predict(rooms())) == 4
    with pytest.raises(DataError, match=r"windows of steps of 1 min, but these records have steps of 0\.5 min"):
        tree.predict(rooms(period=0.5, time_unit="min"))
    with pytest.raises(
        SettingsError, match="cannot be exported to STL, which makes no numbers of those at several steps"
    ):
        export_model(tree, "stl")


def test_numbers_of_a_record_have_no_moment():
    panel = rooms()
    moments = {
        text: has_moments(Formula.parse(text, panel.schema), panel) for text in ("F(mean(t) > 20)", "F(t > mean(t))")
    }
    assert moments == {"F(mean(t) > 20)": False, "F(t > mean(t))": True}
    with pytest.raises(GrammarError, match="must be Boolean, one truth value a record"):
        Formula.parse("mean(t) > 20", panel.schema)


@pytest.mark.parametrize("timed", [{}, {"period": 0.5, "time_unit": "s"}])
def test_the_time_of_an_extreme_is_in_the_unit_of_times(timed):
    panel = panel_of(**timed)
    assert values("when_max(x)", panel)[:4] == [3 * timed.get("period", 1.0)] * 4
    tree = tree_of("F(when_max(x) > 1)", panel)
    found = {}
    exec(export_model(tree, "python"), found)  # noqa: S102  # what telltree wrote
    records = [{"x": xs} for xs in RECORDS]
    assert [found["predict"](record) for record in records] == tree.predict(panel).tolist()
    if timed:
        with pytest.raises(
            DataError, match="formulas ask for the time elapsed in 's', but these records have it in steps"
        ):
            tree.predict(panel_of())


def test_the_time_of_an_extreme_of_uneven_steps():
    rows = [(i, t, x) for i, xs in enumerate(RECORDS) for t, x in zip((10.0, 11.0, 15.0, 16.5), xs, strict=False)]
    frame = pd.DataFrame(rows, columns=["id", "t", "x"])
    panel = Panel.from_frame(frame, id="id", time="t", time_unit="h")
    assert values("when_max(x)", panel)[:9] == [6.5] * 4 + [0.0] + [5.0] * 4
    tree = tree_of("F(when_max(x) > 5)", panel)
    connection = sqlite3.connect(":memory:")
    frame.to_sql("records", connection, index=False)
    found = [label for *_, label in connection.execute(export_model(tree, "sql", table="records", id="id", time="t"))]
    assert found == tree.predict(panel).tolist() == ["yes", "no", "no", "no"]


def test_a_search_finds_a_trend():
    """Records rise or fall by a tenth of their noise, or less: no step tells, nor a mean."""
    rng = np.random.default_rng(3)
    up = rng.random(60) < 0.5
    records = [(rng.normal() * 3 + rng.normal(size=50) + (0.04 if u else -0.04) * np.arange(50))[:, None] for u in up]
    panel = Panel.from_arrays(records, columns=["x"])
    grammar = Grammar.parse(
        "Start ::= F(X > grid(-2, 2, 41))  X ::= slope(x) | mean(x) | min(x) | max(x) | last(x)", panel
    )
    model = GrammarTreeClassifier(grammar, MonteCarlo(evaluations=300), max_depth=1, random_state=0).fit(panel, up)
    assert model.score(panel, up) == 1.0
    assert "line that best fits x" in model.rules()[0].english


def test_names_that_came_later_yield_to_a_users():
    panel = Panel.from_arrays([np.array([[1.0], [2.0]])], columns=["total"])
    grammar = Grammar.parse(
        "Start ::= F(latest)  latest ::= total > 1 | total(total) > 2 | mean[0, 1](total) > 1", panel
    )
    assert "total(total) > 2" in str(grammar)
    assert Formula.parse("F(total(total) > total)", panel.schema)(panel).tolist() == [True]


def test_a_search_finds_what_only_a_mean_can_say():
    """Each record is higher at twelve steps: of one class in a row, of the other here and there."""
    rng, records, labels = np.random.default_rng(0), [], []
    for i in range(80):
        record, begin = rng.normal(size=(60, 1)), rng.integers(5, 40)
        record[np.arange(begin, begin + 12) if i % 2 else rng.permutation(60)[:12]] += 1.5
        records.append(record)
        labels.append("in a row" if i % 2 else "apart")
    panel = Panel.from_arrays(records, columns=["x"])

    def score(atoms):
        grammar = Grammar.parse(f"Start ::= F(A) | G(A) | count(A) > [1, 2, 4, 8]  A ::= {atoms}", panel)
        learnt = GrammarTreeClassifier(grammar=grammar, search=MonteCarlo(evaluations=600), max_depth=1, random_state=0)
        return learnt.fit(panel, labels).score(panel, labels)

    assert score("mean[0, [4, 9]](x) > grid(-1, 3, 41)") > 0.9
    assert score("x > grid(-1, 3, 41)") < 0.75
