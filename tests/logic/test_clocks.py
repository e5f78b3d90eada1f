"""Where in the record a step is, and how long the record is, with even and uneven times, through every evaluation."""

import random
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest

from tests.support import oracle, three_valued
from tests.support.class_trees import class_leaf, class_tree
from tests.support.strategies import derived

import telltree
from telltree import Formula, GrammarTreeClassifier, Panel, export_model
from telltree.engine import truth_of
from telltree.engine.formula_evaluator import signals_of
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.engine.three_valued import possibly, surely
from telltree.errors import DataError
from telltree.estimators import TemporalFeatures
from telltree.explain import Robustness
from telltree.grammar.tables import Tables
from telltree.logic import Expression
from telltree.logic.operators import ELAPSED, GONE, LEFT, LENGTH
from telltree.tree import Node

LENGTHS = (1, 2, 3, 5, 1, 9, 64, 65, 7, 4)
SCHEMA = {"x": {"type": "real"}}


def draw_records(rng, uneven):
    """Records as the oracle has them, some values missing; times that differ from record to record, or none."""
    records = []
    for n in rng.sample(LENGTHS, len(LENGTHS)):
        record = {"x": [rng.choice((0.0, 1.0, 2.0, 3.0, None)) for _ in range(n)]}
        if uneven:
            steps = [rng.choice((0.25, 0.5, 1.0, 3.0, 10.0)) for _ in range(n - 1)]
            record[oracle.TIMES] = [float(x) for x in np.cumsum([rng.choice((0.0, 100.0)), *steps])]
        records.append(record)
    return records


def panel_of(records, **timed):
    if oracle.TIMES not in records[0]:
        arrays = [np.array(record["x"], float)[:, None] for record in records]
        return Panel.from_arrays(arrays, columns=["x"], schema=SCHEMA, **timed)
    rows = [(i, t, x) for i, r in enumerate(records) for t, x in zip(r[oracle.TIMES], r["x"], strict=True)]
    frame = pd.DataFrame(rows, columns=["id", "t", "x"])
    return Panel.from_frame(frame, id="id", time="t", time_unit="h", schema=SCHEMA)


def draw_formula(rng, depth=2):
    """A formula of clocks and one column."""
    if depth == 0:
        clock, numbers = rng.choice(
            (("elapsed", (0, 0.5, 1, 4, 10)), ("left", (0, 1, 3.5, 10)), ("gone", (0, 0.2, 0.5, 0.8, 1)),
             ("length", (1, 2, 4.5, 64, 65)), ("x", (0, 1, 2)))
        )  # fmt: skip
        signal = ("x", "x") if clock == "x" else (clock,)
        return (rng.choice(("<", "<=", ">", ">=", "=")), signal, ("number", float(rng.choice(numbers))))
    join = rng.choice(("and", "or", "F", "G", "not", "implies", "once"))
    return (join, *(draw_formula(rng, depth - 1) for _ in range(1 if join in ("F", "G", "not", "once") else 2)))


def drawn(seed, number=30):
    rng = random.Random(seed)
    plain = [("F", draw_formula(rng)) for _ in range(number)]
    return plain, [oracle.text(formula, rng) for formula in plain]


def tree_of(formula, panel):
    sides = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
    return class_tree(Node(formula, *sides), ("yes", "no"), panel.schema, None, panel.step)


def values(panel, operator):
    return signals_of(panel).values(Expression(operator))[panel.rows()].tolist()


@pytest.fixture(params=[0, 1, 2, 3], ids=["steps", "uneven", "steps again", "uneven again"])
def case(request):
    records = draw_records(random.Random(request.param), uneven=request.param % 2 == 1)
    return records, panel_of(records), *drawn(request.param)


def test_clocks_are_what_the_oracle_says(case):
    records, panel, *_ = case
    for operator in (ELAPSED, LEFT, GONE, LENGTH):
        assert values(panel, operator) == [x for record in records for x in oracle.clock(operator.name, record)]
        part = panel[[3, 0, 3]]
        assert values(part, operator) == [x for i in (3, 0, 3) for x in oracle.clock(operator.name, records[i])]


def test_all_of_a_record_has_passed_at_its_last_step():
    for records in (draw_records(random.Random(5), True), draw_records(random.Random(5), False)):
        panel = panel_of(records)
        assert Formula.parse("G(left() > 0 or gone() >= 1)", panel.schema)(panel).all()
        assert Formula.parse("G(gone() >= 0.8 implies x >= 0)", panel.schema)(panel[panel.lengths == 1]).tolist() == [
            record["x"][0] is not None for record in records if len(record["x"]) == 1
        ]


def test_shares_are_of_the_time_where_steps_differ_in_length():
    records = [{"x": [1.0] * 4, oracle.TIMES: [10.0, 11.0, 12.0, 20.0]}, {"x": [1.0], oracle.TIMES: [3.0]}]
    assert values(panel_of(records), GONE) == [0.0, 0.1, 0.2, 1.0, 1.0]
    even = [{"x": record["x"]} for record in records]
    assert values(panel_of(even), GONE) == [0.0, 1 / 3, 2 / 3, 1.0, 1.0]
    assert values(panel_of(even, period=0.1, time_unit="s"), GONE) == [0.0, 1 / 3, 2 / 3, 1.0, 1.0]


def test_every_evaluation_agrees(case):
    records, panel, plain, texts = case
    for formula, text in zip(plain, texts, strict=True):
        parsed = Formula.parse(text, panel.schema)
        steps = [oracle.over_time(formula, record, {}) for record in records]
        wanted = [of_record[0] for of_record in steps]
        assert parsed(panel).tolist() == wanted, text
        assert [found.tolist() for found in parsed.over_time(panel)] == steps, text
        assert truth_of([parsed.expression], panel).tolist() == [wanted], text
        margins = Robustness(panel)
        for i, of_record in enumerate(steps):
            for margin, true in zip(margins.over_time(parsed.expression, i), of_record, strict=True):
                assert margin == 0 or (margin > 0) == true, text
        rules, symbols, population = derived(random.Random(1), [parsed.expression])
        assert PopulationEvaluator(panel, rules, Tables.of(rules, symbols)).truth(population).tolist() == [wanted], text
        for part in (slice(0, 4), slice(4, 10)):  # as shards see them
            assert PopulationEvaluator(panel[part], rules, Tables.of(rules, symbols)).truth(population).tolist() == [
                wanted[part]
            ]


def test_three_valued_answers_agree(case):
    records, panel, plain, texts = case
    for formula, text in zip(plain, texts, strict=True):
        e = Formula.parse(text, panel.schema).expression
        found = sum(truth_of([bound(e)], panel)[0].astype(int) for bound in (surely, possibly))
        assert found.tolist() == [three_valued.truth(formula, record, {}) for record in records], text


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
@pytest.mark.parametrize("lengths", [(1, 1, 2), (1, 3)])
def test_the_first_step_of_a_change_is_known_in_a_record_of_one_step(lengths):
    records = [{"x": [None] * n} for n in lengths]
    panel, formula = panel_of(records), ("F", ("<", ("change", ("latest", ("x", "x"), ("missing", ("x", "x"))),
                                                   ("number", 2.0)), ("number", 1.0)))  # fmt: skip
    e = Formula.parse(oracle.text(formula, random.Random(0)), panel.schema).expression
    found = sum(truth_of([bound(e)], panel)[0].astype(int) for bound in (surely, possibly))
    assert found.tolist() == [three_valued.truth(formula, record, {}) for record in records]


def test_exports_agree(case):
    records, panel, _, texts = case
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE records (id INTEGER, t DOUBLE, x DOUBLE)")
    for i, record in enumerate(records):
        times = record.get(oracle.TIMES, range(len(record["x"])))
        rows = [(i, t, x) for t, x in zip(times, record["x"], strict=True)]
        database.executemany("INSERT INTO records VALUES (?, ?, ?)", rows)
    for text in texts:
        tree = tree_of(Formula.parse(text, panel.schema), panel)
        wanted = tree.predict(panel).tolist()
        module = {}
        exec(export_model(tree, "python", time="t"), module)  # noqa: S102 - what was exported is meant to be run
        shown = [{"x": r["x"]} | ({"t": r[oracle.TIMES]} if oracle.TIMES in r else {}) for r in records]
        assert [module["predict"](record) for record in shown] == wanted, text
        found = database.execute(export_model(tree, "sql", time="t")).fetchall()
        assert [label for _, _, label in found] == wanted, text
    database.close()


UNEVEN = [{"x": [1.0, 2.0, 3.0], oracle.TIMES: [0.0, 1.0, 9.0]}, {"x": [1.0], oracle.TIMES: [0.0]}]
EVEN = [{"x": record["x"]} for record in UNEVEN]


def test_shares_of_the_time_need_times_and_shares_of_steps_need_steps_alone(tmp_path):
    asks = "F(gone() < 0.5 and x >= 2)"
    uneven, steps, period = panel_of(UNEVEN), panel_of(EVEN), panel_of(EVEN, period=2.0, time_unit="s")
    formula = Formula.parse(asks, uneven.schema)
    assert tree_of(formula, uneven).predict(uneven).tolist() == ["yes", "no"]
    assert tree_of(formula, steps).predict(steps).tolist() == ["no", "no"]
    for learnt in (uneven, period):  # times are known, and what is counted in does not matter
        assert tree_of(formula, learnt).predict(uneven).tolist() == ["yes", "no"]
    for learnt in (uneven, steps, period):
        assert tree_of(formula, learnt).predict(period).tolist() == ["no", "no"]
    with pytest.raises(DataError, match="shares of the record's time, but these records have no times; give times"):
        tree_of(formula, uneven).predict(steps)
    with pytest.raises(DataError, match=r"shares of the record's steps, but these .* read the data without times"):
        tree_of(formula, steps).predict(uneven)
    with pytest.raises(DataError, match="shares of the record's time"):
        TemporalFeatures([asks]).fit(uneven).transform(steps)
    for target in ("sql", "python"):
        with pytest.raises(telltree.errors.SettingsError, match="steps differ in length; give time="):
            export_model(tree_of(formula, uneven), target, time=None)
    model = GrammarTreeClassifier("Start ::= F(gone() < 0.5 and x >= [2, 3])", max_depth=1, random_state=0)
    model.fit(uneven[[0, 1, 0, 1]], ["a", "b", "a", "b"]).save(tmp_path / "model.json")
    with pytest.raises(DataError, match="shares of the record's time"):
        telltree.load(tmp_path / "model.json").predict(steps)


def test_the_length_of_a_record_is_a_number_of_steps():
    panel = panel_of([{"x": [1.0] * n} for n in (1, 4, 5, 9)])
    assert Formula.parse("F(length() <= 4)", panel.schema)(panel).tolist() == [True, True, False, False]
    assert Formula.parse("G(length() > 4)", panel.schema)(panel).tolist() == [False, False, True, True]
    named = Panel.from_arrays([np.array([[1.0], [2.0]])], columns=["length"])
    assert str(Formula.parse("F(length > length())", named.schema)) == "F(length > length())"
    grammar = "Start ::= F(length() > [3, 4])"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = GrammarTreeClassifier(grammar, max_depth=1, min_samples_leaf=1, random_state=0).fit(panel, list("aabb"))
    assert str(found.tree_.nodes[0].formula) == "F(length() ≥ 5)"
