"""What the classifier makes of data and labels of every kind, odd ones too."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning

from tests.support.examples import records
from tests.support.small_trees import leaf_with_warning, same, tree

from telltree.engine import Formula
from telltree.errors import DataError, DataWarning
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.search import GeneticProgramming, MonteCarlo
from telltree.tree import GiniSize


@pytest.fixture(scope="module")
def fitted(panel, labels):
    return tree(search=GeneticProgramming(evaluations=2_000)).fit(panel, labels)


@pytest.mark.parametrize(
    "names",
    [
        (0, 1, 2), (-5, 7, 1_000), (False, True), ("a", "b"), ("é", "ü", "<script>"), (1.0, 2.0),
        (np.int8(3), np.int8(4)),
    ],
    ids=str,
)  # fmt: skip
def test_labels_of_every_kind_come_back_as_they_were(panel, names):
    y = [names[i % len(names)] for i in range(len(panel))]
    clf = tree(criterion=GiniSize()).fit(panel, y)  # there is nothing to learn, and MDL would learn nothing
    assert clf.classes_.tolist() == sorted(set(y))
    assert set(clf.predict(panel).tolist()) <= set(y)
    assert clf.score(panel, y) > 1 / len(names)
    assert np.asarray(y).dtype.kind == clf.predict(panel).dtype.kind or clf.classes_.dtype == object


def test_labels_may_be_a_series(panel, labels):
    expected = str(tree().fit(panel, labels).tree_)
    for y in (pd.Series(labels), pd.Series(labels, dtype="category"), pl.Series(labels), np.array(labels)):
        assert str(tree().fit(panel, y).tree_) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y[:-1], "got 59 labels for 60 records"),
        (lambda y: [], "got 0 labels for 60 records"),
        (lambda y: [*y[:-1], None], "1 of 60 labels missing, for 59"),
        (lambda y: np.r_[np.nan, np.ones(59)], "1 of 60 labels missing, for 0"),
        (lambda y: np.linspace(0, 1, 60), "58 are continuous numbers"),
        (lambda y: [[label, label] for label in y], "one-dimensional"),
        (lambda y: [[y[0]], *y[1:]], "one-dimensional"),
        (lambda y: "calm", "one-dimensional"),
        (lambda y: [*y[:-1], 7], "'int', 'str'"),
        (lambda y: None, "requires y to be passed"),
    ],
)
def test_labels_that_do_not_fit_are_refused(panel, labels, change, message):
    with pytest.raises(DataError, match=message):
        tree().fit(panel, change(labels))


@pytest.mark.parametrize("form", [list, np.array, pd.DataFrame], ids=["list", "array", "frame"])
def test_a_column_of_labels_is_taken_with_a_warning(panel, labels, form):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        clf = tree().fit(panel, form([[label] for label in labels]))
    same(clf, tree().fit(panel, labels), panel)


@pytest.mark.parametrize("X", [None, 5, "text", np.zeros(3), np.zeros((2, 2, 2)), np.zeros((0, 3))], ids=str)
def test_what_is_no_table_is_refused(X):
    with pytest.raises(DataError):
        tree().fit(X, [0, 1])


def test_no_records_are_refused(panel):
    with pytest.raises(DataError, match="no records"):
        tree().fit(panel[[]], [])


def test_one_class_is_a_leaf(panel):
    clf = leaf_with_warning(panel, ["only"] * len(panel), "only one class, 'only': the tree is a single leaf")
    assert clf.predict(panel).tolist() == ["only"] * len(panel)
    leaf_with_warning(panel, [3] * len(panel), "only one class, 3")


def test_one_record_is_a_leaf():
    leaf_with_warning(records({"x": [1.0, 2.0]}), ["a"], "only one class")
    leaf_with_warning(np.ones((1, 2)), ["a"], "only one class")


def test_constant_columns_are_a_leaf():
    clf = leaf_with_warning(np.ones((4, 3)), [0, 1, 1, 0], "no column tells records apart")
    assert clf.predict_proba(np.ones((1, 3))).tolist() == [[0.5, 0.5]]
    empty = records({"x": [None], "c": ["u"]}, {"x": [None], "c": ["u"]})
    leaf_with_warning(empty, [0, 1], "no column tells records apart")


def test_constant_columns_are_left_out_beside_others():
    X = np.column_stack([np.ones(20), np.arange(20)])
    clf = tree().fit(X, [0] * 10 + [1] * 10)
    assert clf.grammar_.left_out == {"x1": "constant"}
    assert clf.score(X, [0] * 10 + [1] * 10) > 0.9


@pytest.mark.parametrize("values", [[np.inf, -np.inf], [np.inf, np.nan], [-np.inf, np.nan]])
@pytest.mark.parametrize("generic", [False, True])
def test_columns_without_a_finite_value_are_left_out(values, generic):
    with pytest.warns(DataWarning, match="infinite values are kept"):
        panel = Panel.from_table(np.column_stack([values * 10, np.arange(20.0)]))
    grammar = Grammar.generic(panel) if generic else None
    clf = tree(grammar=grammar, max_depth=1).fit(panel, [0] * 10 + [1] * 10)
    assert clf.grammar_.left_out == {"x1": "without a finite value"}
    assert clf.score(panel, [0] * 10 + [1] * 10) > 0.9


def test_records_of_one_step_work():
    panel = records(*({"x": [float(i)]} for i in range(10)))
    assert tree().fit(panel, [0] * 5 + [1] * 5).score(panel, [0] * 5 + [1] * 5) == 1


def test_two_records_are_told_apart():
    panel = records({"x": [1.0, 5.0], "b": [True, False]}, {"x": [2.0], "b": [True]})
    assert tree().fit(panel, ["a", "b"]).predict(panel).tolist() == ["a", "b"]


def test_tables_of_every_kind_give_the_same_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0) & (X[:, 2] < 0.5)
    frame = pd.DataFrame(X, columns=["x1", "x2", "x3"])
    read_only = X.copy()
    read_only.flags.writeable = False
    forms = [X, X.tolist(), np.asfortranarray(X), X[::-1][::-1], read_only, frame, pl.from_pandas(frame)]
    fits = [tree().fit(form, y) for form in forms]
    assert len({str(clf.tree_) for clf in fits}) == 1
    assert all(np.array_equal(clf.predict(form), fits[0].predict(X)) for clf, form in zip(fits, forms, strict=True))
    assert fits[0].score(X, y) > 0.8


def test_frames_of_mixed_types_work():
    frame = pd.DataFrame({"h": [1.0, 2, 3, 4] * 5, "on": [True, False] * 10, "mode": ["u", "v", "w", "u"] * 5})
    y = (frame["mode"] == "u") & frame["on"]
    clf = tree(search=MonteCarlo(evaluations=3_000)).fit(frame, y)
    assert clf.score(frame, y) == 1


def test_extra_and_reordered_columns_change_nothing(panel, labels, fitted):
    expected = fitted.predict(panel).tolist()
    reordered = panel.select(["mode", "on", "height", "speed"])
    assert fitted.predict(reordered).tolist() == expected
    X = np.random.default_rng(0).normal(size=(30, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    clf = tree().fit(frame, X[:, 0] > 0)
    wider = frame.assign(c="text", d=None)[["d", "c", "b", "a"]]
    assert clf.predict(wider).tolist() == clf.predict(frame).tolist()


def test_a_column_that_the_tree_needs_must_be_there(panel, fitted):
    used = list(fitted.tree_.schema)
    without = panel.select([name for name in panel.schema if name != used[0]])
    for ask in (fitted.predict, fitted.predict_proba, fitted.apply, fitted.decision_path, fitted.categories):
        with pytest.raises(DataError, match=f"lack '{used[0]}'"):
            ask(without)


def test_a_column_that_the_tree_does_not_need_may_be_missing():
    frame = pd.DataFrame({"x": np.arange(10.0), "unused": np.arange(10.0) % 3})
    clf = tree(grammar="A ::= F(x > [2, 4.5]) | F(unused > 1)").fit(frame, [0] * 5 + [1] * 5)
    assert clf.predict(frame[["x"]]).tolist() == [0] * 5 + [1] * 5


def test_a_column_of_another_type_is_refused():
    frame = pd.DataFrame({"x": np.arange(10.0)})
    clf = tree().fit(frame, [0] * 5 + [1] * 5)
    with pytest.raises(DataError, match="column 'x' is categorical, but real was expected"):
        clf.predict(pd.DataFrame({"x": ["fast", "slow"]}))


def test_categories_never_seen_before_are_warned_about():
    panel = records(*({"mode": ["up"]} for _ in range(5)), *({"mode": ["down"]} for _ in range(5)))
    clf = tree(grammar='A ::= F(mode = "up")').fit(panel, ["a"] * 5 + ["b"] * 5)
    with pytest.warns(DataWarning, match="sideways"):
        assert clf.predict(records({"mode": ["sideways"]}, {"mode": ["up"]})).tolist() == ["b", "a"]


def test_missing_values_are_learned_from():
    rng = np.random.default_rng(3)
    given = [{"x": [None if rng.random() < 0.3 else float(rng.normal()) for _ in range(4)]} for _ in range(30)]
    panel = records(*given)
    y = [any(x is not None and x > 1 for x in record["x"]) for record in given]
    clf = tree(search=MonteCarlo(evaluations=1_000)).fit(panel, y)
    assert clf.score(panel, y) > 0.9
    gaps = [any(x is None for x in record["x"]) for record in given]
    assert tree(grammar="A ::= F(missing(x))").fit(panel, gaps).score(panel, gaps) == 1


def test_infinite_values_are_survived():
    X = np.array([[np.inf, 1], [-np.inf, 2], [3, 3], [4, np.inf]] * 5)
    with pytest.warns(DataWarning, match="infinite"):
        clf = tree().fit(X, [0, 1, 0, 1] * 5)
    with pytest.warns(DataWarning, match="infinite"):
        assert clf.predict(X).shape == (20,)


def test_thousands_of_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2_000))
    y = X[:, 1_234] > 0
    X[:, 1_234] *= 5
    grammar = Grammar.generic(Panel.from_table(X), operators=("F", "and", "<", ">"), points=3)
    clf = tree(grammar=grammar, search=MonteCarlo(evaluations=2_000), max_depth=1).fit(X, y)
    assert clf.n_features_in_ == 2_000
    assert len(clf.grammar_.attributes) == 2_000
    assert clf.predict(X).shape == (30,)


HOSTILE = [
    "größe", "高度", "a b", 'say "hi"', "back`tick", "new\nline", "tab\t", "F", "and", "real", "$HOME", "[x]",
    "<script>alert(1)</script>", "\x1b[31mred", "", "x < 1", "\\", "{0}", "%s", "Start", "🚀", "x" * 500,
]  # fmt: skip


def test_any_name_will_do():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, len(HOSTILE)))
    panel = Panel.from_table(X, columns=HOSTILE)
    everything = tree(search=MonteCarlo(evaluations=3_000)).fit(panel, (X[:, 0] > 0) & (X[:, 4] < 0.5))
    assert everything.grammar_.attributes == tuple(HOSTILE)
    for k, name in enumerate(HOSTILE):
        y = X[:, k] > 0
        clf = tree(grammar=Grammar.generic(panel, columns=[name])).fit(panel, y)
        assert list(clf.tree_.schema) == [name]
        assert clf.score(panel, y) > 0.8
        for rule in clf.rules():
            assert rule.english
            assert Formula.parse(rule.formula, panel.schema)(panel).sum() == rule.support


def test_any_category_name_and_label_will_do():
    levels = [name for name in HOSTILE if name]
    panel = records(*({"c": [level]} for level in levels for _ in range(2)))
    y = [level for level in levels for _ in range(2)]
    search = MonteCarlo(evaluations=len(levels))
    clf = tree(grammar="A ::= F(c = levels)", search=search, max_depth=30).fit(panel, y)
    assert clf.predict(panel).tolist() == y


def long_table(records=12, steps=5, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, steps + 1, records)
    table = pd.DataFrame(
        {
            "run": np.repeat(rng.permutation(1000)[:records], lengths),
            "t": np.concatenate([np.arange(length) for length in lengths]),
            "x": rng.normal(size=lengths.sum()),
        }
    )
    return table, np.repeat(np.arange(records) % 2, lengths)


def asks_for_a_panel(X, y, match):
    with pytest.raises(
        DataError, match=f"this looks like a long table, with one row a step: {match}.*Panel.from_table"
    ):
        tree(search=MonteCarlo(evaluations=20)).fit(X, y)


@pytest.mark.parametrize("make", [lambda table: table, pl.from_pandas, lambda table: table.astype({"run": str})])
def test_a_long_table_is_not_learned_row_by_row(make):
    table, y = long_table()
    asks_for_a_panel(make(table), y, r"column 'run' tells 12 records apart in \d+ rows.*time='t'\)")


def test_long_tables_of_other_forms_are_refused_too():
    table, y = long_table()
    asks_for_a_panel(table.to_numpy(), y, "column 'x1' .*time='x2'")
    asks_for_a_panel(table.sort_values("t", kind="stable"), y[np.argsort(table["t"], kind="stable")], "column 'run'")
    asks_for_a_panel(table.set_index(["run", "t"]), y, "the first level of its index tells 12 records apart")
    later = table.assign(t=np.arange(len(table)))  # it never begins anew, but is called t
    asks_for_a_panel(later, y, "column 'run'")
    asks_for_a_panel(table, np.where(y, "up", "down"), "column 'run'")


@pytest.mark.filterwarnings("ignore:.*give the label away")
def test_a_table_of_records_stays_one():
    table, y = long_table()
    rows = {
        "a label for each row": (table, np.arange(len(table)) % 2),
        "no time": (table[["run", "x"]], y),
        "a row number": (table[["run", "x"]].assign(number=np.arange(len(table))), y),
        "as many keys as classes": (table.assign(run=y), y),
        "out of order": (table.iloc[::-1].assign(t=table["t"].to_numpy()[::-1]), y[::-1]),
        "a panel, said to be so": (Panel.from_table(table), y),
        "one row a record": (table.assign(run=np.arange(len(table))), y),
    }
    for X, labels in rows.values():
        tree(search=MonteCarlo(evaluations=20), criterion=GiniSize(), max_depth=1).fit(X, labels)
