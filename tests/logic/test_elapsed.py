"""What elapsed(), gone() and change(x, k) mean, and that nothing on the way from search to export changes it."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from tests.support.class_trees import class_leaf, class_tree

import telltree
from telltree import Formula, Grammar, GrammarTreeClassifier, Panel
from telltree.engine.formula_evaluator import signals_of
from telltree.errors import DataError, GrammarError, SettingsError
from telltree.estimators import TemporalFeatures
from telltree.explain import decisive_step, english, outline
from telltree.logic import Expression, Number
from telltree.logic.expression import rounded
from telltree.logic.operators import CHANGE, ELAPSED, GONE
from telltree.search import MonteCarlo
from telltree.tree import Greedy, Node

RECORDS = [[1.0, 5.0, 2.0, 8.0], [3.0], [np.nan, 1.0, np.inf, np.inf]]


def panel_of(**timed):
    return Panel.from_arrays([np.array(record)[:, None] for record in RECORDS], columns=["x"], **timed)


def uneven():
    rows = [
        (i, t, x) for i, record in enumerate(RECORDS) for t, x in zip((10.0, 11.0, 15.0, 16.5), record, strict=False)
    ]
    return Panel.from_frame(pd.DataFrame(rows, columns=["id", "t", "x"]), id="id", time="t", time_unit="h")


def timed(timing):
    return uneven() if timing == "uneven" else panel_of(**({"period": 2.0} if timing == "period" else {}))


def values(panel, e):
    return signals_of(panel).values(e)[panel.rows()].tolist()


def tree_of(text, panel):
    sides = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
    return class_tree(Node(Formula.parse(text, panel.schema), *sides), ("yes", "no"), panel.schema, None, panel.step)


pytestmark = pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")


def test_time_is_counted_in_the_panels_unit_or_in_steps():
    assert values(panel_of(), Expression(ELAPSED)) == [0, 1, 2, 3, 0, 0, 1, 2, 3]
    assert values(panel_of(period=0.5), Expression(ELAPSED)) == [0, 0.5, 1, 1.5, 0, 0, 0.5, 1, 1.5]
    assert values(uneven(), Expression(ELAPSED)) == [0, 1, 5, 6.5, 0, 0, 1, 5, 6.5]
    assert values(uneven()[[2, 0]], Expression(ELAPSED)) == [0, 1, 5, 6.5] * 2
    assert values(panel_of(), Expression(GONE)) == [0, 1 / 3, 2 / 3, 1, 1, 0, 1 / 3, 2 / 3, 1]


def test_a_change_looks_back_so_many_steps_or_to_the_first():
    panel = panel_of()
    x = Expression(Formula.parse("F(x > 0)", panel.schema).expression.args[0].args[0].head)

    def change(k):
        found = values(panel, Expression(CHANGE, (x, Expression(Number(float(k))))))
        return [None if np.isnan(value) else value for value in found]

    assert change(1) == [0, 4, -3, 6, 0, None, None, np.inf, None]
    assert change(2) == [0, 4, 1, 3, 0, None, None, None, np.inf]
    assert change(10**15) == [0, 4, 1, 7, 0, None, None, None, None]


def test_the_steps_of_a_change_are_checked_in_formulas_too():
    with pytest.raises(GrammarError, match=r"line 1, column 13: .* whole number of at least 1, found 2\.5"):
        Formula.parse("F(change(x, 2.5) > 1)", panel_of().schema)


def test_a_grammar_of_them_is_printed_and_searched_and_its_steps_stay():
    rng = np.random.default_rng(5)
    rise = rng.random(80) < 0.5
    records = [np.cumsum(rng.normal(size=(12, 1)), axis=0) + 6 * r * (np.arange(12) > 8)[:, None] for r in rise]
    panel = Panel.from_arrays(records, columns=["x"], period=2.0, time_unit="s")
    text = """
    Start ::= F(A) | G(A)
    A     ::= A and A | change(x, [3, 5]) {<, >} grid(-8, 8, 17) | gone() > [0.25, 0.5] | elapsed() > [4, 8]
    """
    grammar = Grammar.parse(text, panel)
    assert Grammar.parse(str(grammar), panel) == grammar
    model = GrammarTreeClassifier(
        grammar, MonteCarlo(evaluations=3000), max_depth=2, growth=Greedy(thresholds="midpoint"), random_state=0
    )
    model.fit(panel, rise)
    assert model.score(panel, rise) > 0.9
    windows = {
        e.args[1].head.value for node in model.tree_.nodes for e in node.formula.expression.walk() if e.head is CHANGE
    }
    assert windows
    assert windows <= {3.0, 5.0}
    assert all("its value 6 s earlier" in row.english or "10 s earlier" in row.english for row in model.rules()[:1])


def test_constants_that_were_given_stay():
    records = [np.arange(float(n))[:, None] for n in (3, 4, 9, 10)]
    panel = Panel.from_arrays(records, columns=["x"])
    labels = ["short", "short", "long", "long"]
    found = GrammarTreeClassifier("Start ::= F(elapsed() > [4, 40])", max_depth=1, random_state=0).fit(panel, labels)
    assert str(found.tree_.nodes[0].formula) == "F(elapsed() > 4)"
    moved = found.set_params(growth=Greedy(thresholds="midpoint")).fit(panel, labels)
    assert str(moved.tree_.nodes[0].formula) == "F(elapsed() > 4)"


def test_few_digits_leave_steps_alone():
    e = Formula.parse("F(change(x, 17) > 12.345)", panel_of().schema).expression
    assert str(rounded(e, 1)) == "F(change(x, 17) > 10)"


@pytest.mark.parametrize(
    ("learnt", "asked"),
    [
        ({"period": 1.0, "time_unit": "h"}, {"period": 60.0, "time_unit": "min"}),
        ({"period": 1.0, "time_unit": "h"}, {}),
        ({"period": 1.0, "time_unit": "h"}, {"period": 1.0}),
        ({"period": 1.0}, {}),
        ({}, {"period": 1.0, "time_unit": "h"}),
    ],
)
def test_records_timed_otherwise_are_refused(learnt, asked, tmp_path):
    tree, other = tree_of("F(elapsed() > 2)", panel_of(**learnt)), panel_of(**asked)
    assert tree.predict(panel_of(**learnt)).tolist() == ["yes", "no", "yes"]
    with pytest.raises(DataError, match="the time elapsed in"):
        tree.predict(other)
    assert tree_of("F(gone() < 0.5)", panel_of(**learnt)).predict(other).tolist() == ["yes", "no", "yes"]
    features = TemporalFeatures(["F(elapsed() > 2)"]).fit(panel_of(**learnt))
    assert features.transform(panel_of(**learnt)).ravel().tolist() == [1, 0, 1]
    with pytest.raises(DataError, match="the time elapsed in"):
        features.transform(other)


def test_uneven_times_are_a_time_all_the_same():
    panel = uneven()
    assert panel.step == (None, "h")
    tree = tree_of("F(elapsed() > 4)", panel)
    assert outline(tree).splitlines()[0] == "the record lasts more than 4 h?"
    assert tree.predict(panel_of(period=2.0, time_unit="h")).tolist() == ["yes", "no", "yes"]


@pytest.mark.parametrize("timing", ["steps", "period", "uneven"])
def test_a_saved_model_knows_its_clock(timing, tmp_path):
    panel = timed(timing)
    model = GrammarTreeClassifier("Start ::= F(elapsed() > [2, 40])", max_depth=1, random_state=0)
    model.fit(panel, ["a", "b", "a"]).save(tmp_path / "model.json")
    loaded = telltree.load(tmp_path / "model.json")
    assert loaded.tree_.step == panel.step
    assert loaded.predict(panel).tolist() == ["a", "b", "a"]
    with pytest.raises(DataError, match="the time elapsed in"):
        loaded.predict(panel_of(period=1.0, time_unit="d"))
    kept = json.loads((tmp_path / "model.json").read_text())["training"].get("step")
    assert kept == {None: None, (2.0, ""): {"length": 2.0, "unit": ""}, (None, "h"): {"unit": "h"}}[panel.step]


FORMULAS = [
    "F((x > 1) and (elapsed() > 4))", "G((gone() > 0.5) implies (x > 2))", "F(change(x, 2) > 1)",
    "F(not (change(x, 3) < 2))", "F(missing(change(x, 1)))", "count((change(x, 1) > 0) and (gone() <= 0.7)) > 1",
    "F(change(elapsed() - x, 2) < 0)",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("timing", ["steps", "period", "uneven"])
def test_programs_say_the_same(timing, text):
    panel = timed(timing)
    tree = tree_of(text, panel)
    wanted = tree.predict(panel).tolist()
    module = {}
    exec(telltree.export_model(tree, "python", time="t"), module)  # noqa: S102 - what was exported is meant to be run
    records = [{"x": panel.values("x", i).tolist()} | _times(panel, i) for i in range(len(panel))]
    assert [module["predict"](record) for record in records] == wanted
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE records (id INTEGER, t DOUBLE, x DOUBLE)")
    for i in range(len(panel)):
        times = _times(panel, i).get("t", range(int(panel.lengths[i])))
        rows = zip(times, panel.values("x", i).tolist(), strict=True)
        database.executemany("INSERT INTO records VALUES (?, ?, ?)", [(i, t, x) for t, x in rows])
    found = database.execute(telltree.export_model(tree, "sql", time="t")).fetchall()
    database.close()
    assert [label for _, _, label in found] == wanted


def _times(panel, record):
    times = panel.times(record)
    return {} if times is None else {"t": times.tolist()}


def test_uneven_times_must_have_a_name_in_programs():
    for target in ("sql", "python"):
        with pytest.raises(SettingsError, match="steps differ in length; give time="):
            telltree.export_model(tree_of("F(elapsed() > 4)", uneven()), target, time=None)


def test_explanations_tell_when():
    panel = panel_of(period=2.0, time_unit="h")
    formula = Formula.parse("F(elapsed() > 3)", panel.schema)
    assert decisive_step(formula, panel, 0) == 2
    answer = telltree.ask(panel, "the record lasts more than 3 h")
    assert answer.positions.tolist() == [0, 2]
    assert "first held at 4 h" in str(answer.explain(0))
    rise = telltree.ask(panel, "at some point x rises by more than 5 within 2 h")
    assert (str(rise.formula), rise.positions.tolist()) == ("F((x - min[0, 1](x)) > 5)", [0, 2])
    assert "first held at 6 h (step 3)" in str(rise.explain(0))


def test_the_papers_english_has_words_for_them():
    schema = panel_of().schema
    for text, said in (
        ("F(elapsed() > 3)", "at some point, [time since the start] is greater than 3"),
        ("F(gone() > 0.5)", "at some point, [share of the record that has passed] is greater than 0.5"),
        (
            "F(change(x, 2) > 3)",
            "at some point, [change of [x] since the later of the start and 2 steps earlier] is greater than 3",
        ),
    ):
        assert english(Formula.parse(text, schema), schema, (), style="paper") == said


def test_figures_draw_them_as_signals():
    from matplotlib.text import Text

    from telltree.report import plot_record

    panel = panel_of(period=2.0, time_unit="h")
    for text, formula, words in (
        ("F(x > 1 and elapsed() > 3)", "elapsed()", "the time since the start (h)"),
        ("F(change(x, 1) > 3)", "change(x, 1)", "the change of x since the later of the start and 2 h earlier"),
        ("F(gone() > 0.5)", "gone()", "the share of the record that has passed"),
    ):
        for wording, name in (("formula", formula), ("english", words)):
            figure = plot_record(tree_of(text, panel), panel, 0, text=wording)
            shown = [label.get_text().replace("\n", " ") for label in figure.findobj(Text)]
            assert name in shown
