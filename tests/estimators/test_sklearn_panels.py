"""The contract of estimators on panels, and how series in other forms reach them inside scikit-learn's tools."""

import json
import os
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import estimator_html_repr

from tests.support.effort import examples, is_large
from tests.support.mixed_records import MIXED, mixed_labels, mixed_records
from tests.support.programs import beside_tests
from tests.support.strategies import panel_of

from telltree.errors import DataError, DataWarning, SettingsError
from telltree.estimators import GrammarTreeClassifier, PanelMaker, TemporalFeatures
from telltree.panel import Panel, labels_from_frame
from telltree.search import GeneticProgramming, MonteCarlo
from telltree.tree import GiniSize

FEW = MonteCarlo(evaluations=60)


def tree(**settings):
    return GrammarTreeClassifier(**({"search": FEW, "random_state": 1, "max_depth": 3} | settings))


MAKERS = {
    "classifier": tree,
    "features": lambda: TemporalFeatures(["F(speed > 2)", "G(on)"], tree=tree(), robustness=True),
    "panel maker": PanelMaker,
    "pipeline": lambda: make_pipeline(PanelMaker(), TemporalFeatures(tree=tree()), LogisticRegression()),
}


@pytest.fixture(params=MAKERS)
def estimator(request):
    return MAKERS[request.param]()


def answer(fitted, panel):
    return fitted.predict(panel) if hasattr(fitted, "predict") else fitted.transform(panel)


def same(one, other):
    return one == other if isinstance(one, Panel) else np.array_equal(one, other)


# the contract


def test_clones_have_the_same_parameters_and_have_learnt_nothing(estimator, panel, labels):
    fitted = estimator.fit(panel, labels)
    copy = clone(fitted)
    assert repr(copy) == repr(fitted)
    assert copy.get_params(deep=False).keys() == fitted.get_params(deep=False).keys()
    with pytest.raises(NotFittedError):
        answer(copy, panel)


def test_fitting_again_gives_the_same(estimator, panel, labels):
    first = answer(estimator.fit(panel, labels), panel)
    assert same(answer(estimator.fit(panel, labels), panel), first)
    assert same(answer(clone(estimator).fit(panel, labels), panel), first)


def test_what_was_learnt_travels(estimator, panel, labels, tmp_path):
    fitted = estimator.fit(panel, labels)
    joblib.dump(fitted, tmp_path / "model")
    for back in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model")):  # noqa: S301 - our own bytes
        assert same(answer(back, panel), answer(fitted, panel))


def test_columns_are_counted_and_named(estimator, panel, labels):
    fitted = estimator.fit(panel, labels)
    assert fitted.n_features_in_ == 4
    assert fitted.feature_names_in_.tolist() == ["speed", "height", "on", "mode"]


def test_columns_are_found_by_name(estimator, panel, labels):
    fitted = estimator.fit(panel, labels)
    assert same(answer(fitted, panel.select(["mode", "on", "height", "speed"])), answer(fitted, panel))
    with pytest.raises(DataError, match="the data lack"):
        answer(fitted, panel.select(["mode"]))


def test_each_record_is_answered_for_itself(estimator, panel, labels):
    fitted = estimator.fit(panel, labels)
    order = np.random.default_rng(0).permutation(len(panel))
    whole, one = answer(fitted, panel), answer(fitted, panel[7:8])
    assert same(answer(fitted, panel[order]), whole[order])
    assert same(one, whole[7:8])
    if not isinstance(fitted, Pipeline):  # whose last step wants at least one
        assert len(answer(fitted, panel[:0])) == 0


def test_notebooks_show_what_is_not_fitted_as_scikit_learn_does(estimator):
    assert type(estimator).__name__ in estimator_html_repr(estimator)


def test_names_of_arrays_columns_are_forgotten():
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = X[:, 0] > 0
    clf = tree().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert clf.feature_names_in_.tolist() == ["a", "b"]
    with pytest.warns(DataWarning, match="X does not have valid feature names"):
        assert clf.predict(X).tolist() == clf.predict(pd.DataFrame(X, columns=["a", "b"])).tolist()
    clf.fit(X, y)
    assert clf.n_features_in_ == 2
    assert not hasattr(clf, "feature_names_in_")
    with pytest.warns(DataWarning, match="fitted without feature names"):
        assert clf.predict(pl.DataFrame(X, schema=["a", "b"])).tolist() == clf.predict(X).tolist()
    with pytest.raises(DataError, match="X has 3 features, but GrammarTreeClassifier is expecting 2 features"):
        clf.predict(pd.DataFrame(np.ones((1, 3)), columns=list("abc")))


# weights


@given(st.lists(st.sampled_from([0, 0, 1, 2, 5]), min_size=60, max_size=60).filter(lambda w: sum(map(bool, w)) > 1))
@examples(15)
def test_records_of_weight_zero_are_no_records(panel, labels, weights):
    kept = np.flatnonzero(weights)
    given, y = np.array(weights), np.array(labels)
    if len(set(y[kept])) < 3:
        return
    weighted = tree(class_weight="balanced").fit(panel, y, sample_weight=given)
    without = tree(class_weight="balanced").fit(panel[kept], y[kept], sample_weight=given[kept])
    assert weighted.tree_ == without.tree_


def test_a_class_of_weight_zero_stays_a_class(panel, labels):
    weights = [label != "calm" for label in labels]
    clf = tree().fit(panel, labels, sample_weight=weights)
    assert clf.classes_.tolist() == ["calm", "fast", "high"]
    assert clf.predict_proba(panel)[:, 0].max() < 1 / 3  # no record speaks for it
    assert "calm" not in clf.predict(panel)
    by_class = tree(class_weight={"calm": 0}).fit(panel, labels)
    assert by_class.tree_ == clf.tree_
    with pytest.warns(DataWarning, match="there is only one class, 'fast'"):
        only = tree(class_weight={"calm": 0, "high": 0}).fit(panel, labels)
    assert set(only.predict(panel)) == {"fast"}


def learnt():
    """What features of records of every type are called, and are."""
    records = mixed_records(100)
    panel, y = panel_of(MIXED, records), mixed_labels(records)
    model = GrammarTreeClassifier(search=GeneticProgramming(evaluations=300), random_state=0)
    features = TemporalFeatures(tree=model, robustness=True).fit(panel, y)
    return [*features.get_feature_names_out(), features.transform(panel).tobytes().hex()]


@pytest.mark.slow
def test_nothing_depends_on_how_text_is_hashed():
    script = "import json, tests.estimators.test_sklearn_panels as t; print(json.dumps(t.learnt()))"
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": beside_tests()}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == learnt()  # here text is hashed by chance


# panels on the way to other processes


def test_a_few_records_of_many_are_a_small_pickle():
    steps = np.arange(200_000.0).reshape(1_000, 200, 1)
    panel = Panel.from_arrays(steps, layout="records, steps, columns", static={"s": list(range(1_000))})
    few = panel[[999, 3, 3]]
    sent = pickle.dumps(few)
    assert len(sent) < 20_000
    back = pickle.loads(sent)  # noqa: S301 - our own bytes
    assert back == few
    assert back.values("x1", 0)[0] == steps[999, 0, 0]
    assert back.values("s", 0)[0] == 999
    assert not back.ids.flags.writeable


@given(st.data())
@examples(25)
def test_every_part_of_a_panel_travels(panel, data):
    picks = data.draw(st.lists(st.integers(0, 59), max_size=8))
    part = panel[picks].select(data.draw(st.permutations(panel.schema.names)))
    back = pickle.loads(pickle.dumps(part))  # noqa: S301 - our own bytes
    assert back == part
    assert back.missing() == part.missing()
    assert back[::2] == part[::2]


# the same series in every form


@pytest.fixture(scope="module")
def cube():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2, 6))
    return X, np.where(X[:, 0].max(axis=1) > 1.3, "peak", np.where(X[:, 1].min(axis=1) < -1.3, "dip", "none"))


def long_table(X):
    records, columns, steps = X.shape
    table = {"id": np.repeat(np.arange(records), steps), "t": np.tile(np.arange(steps), records)}
    return pd.DataFrame(table | {f"x{c + 1}": X[:, c].ravel() for c in range(columns)})


FORMS = {
    "panel": (lambda X: Panel.from_arrays(X, layout="records, columns, steps"), PanelMaker()),
    "array, as aeon has it": (lambda X: X, PanelMaker(layout="records, columns, steps")),
    "array, transposed": (lambda X: X.transpose(0, 2, 1), PanelMaker(layout="records, steps, columns")),
    "list of arrays": (list, PanelMaker(layout="columns, steps")),
    "list of arrays, transposed": (lambda X: [x.T for x in X], PanelMaker(layout="steps, columns")),
    "array of arrays": (lambda X: as_items(list(X)), PanelMaker(layout="columns, steps")),
    "list of pandas frames": (lambda X: [pd.DataFrame(x.T, columns=["x1", "x2"]) for x in X], PanelMaker()),
    "list of polars frames": (lambda X: [pl.DataFrame(x.T, schema=["x1", "x2"]) for x in X], PanelMaker()),
}


def as_items(records):
    items = np.empty(len(records), dtype=object)
    items[:] = records
    return items


@pytest.mark.parametrize("form", FORMS)
def test_series_in_every_form_are_cross_validated_alike(cube, form):
    X, y = cube
    make, maker = FORMS[form]
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    found = cross_validate(
        make_pipeline(maker, tree()), make(X), y, cv=folds, error_score="raise", return_estimator=True
    )
    panel = Panel.from_arrays(X, layout="records, columns, steps")
    expected = cross_validate(tree(), panel, y, cv=folds, error_score="raise", return_estimator=True)
    assert found["test_score"].tolist() == expected["test_score"].tolist()
    trees = [str(model[-1].tree_) for model in found["estimator"]]
    assert trees == [str(model.tree_) for model in expected["estimator"]]


def test_settings_of_every_step_can_be_searched(cube):
    X, y = cube
    features = TemporalFeatures(tree=tree(criterion=GiniSize()))
    maker = PanelMaker(layout="records, columns, steps")
    pipe = Pipeline([("panel", maker), ("features", features), ("model", LogisticRegression())])
    grid = {"features__tree__max_depth": [1, 3], "features__robustness": [False, True], "model__C": [1.0]}
    found = GridSearchCV(pipe, grid, cv=2, error_score="raise", n_jobs=2 if is_large() else None).fit(X, y)
    assert found.predict(X).shape == (40,)
    assert found.best_score_ > 0.5
    assert found.n_features_in_ == 2


def test_pipelines_may_be_asked_for_frames(cube):
    X, y = cube
    pipe = make_pipeline(PanelMaker(layout="records, columns, steps"), TemporalFeatures(["F(x1 > 1)", "G(x2 > 0)"]))
    pipe.set_output(transform="pandas")
    assert pipe.fit_transform(X, y).columns.tolist() == ["F(x1 > 1)", "G(x2 > 0)"]


def test_groups_of_records_stay_together(cube):
    X, y = cube
    panel = Panel.from_arrays(X, layout="records, columns, steps")
    predicted = cross_val_predict(tree(), panel, y, groups=np.arange(40) // 4, cv=GroupKFold(3))
    assert predicted.shape == (40,)


# long tables


@pytest.mark.parametrize("form", [lambda t: t, pl.from_pandas], ids=["pandas", "polars"])
def test_long_tables_are_learnt_from(cube, form):
    X, y = cube
    table = form(long_table(X))
    pipe = make_pipeline(PanelMaker(id="id", time="t"), tree()).fit(table, y)
    assert str(pipe[-1].tree_) == str(tree().fit(Panel.from_arrays(X, layout="records, columns, steps"), y).tree_)
    few = table[12:30]
    assert pipe.predict(few).tolist() == pipe.predict(table)[2:5].tolist()
    ids, labels = labels_from_frame(long_table(X).assign(y=np.repeat(y, 6)), id="id", label="y")
    assert (ids.tolist(), labels.tolist()) == (list(range(40)), y.tolist())


def test_long_tables_cannot_be_split_by_rows(cube):
    X, y = cube
    table, pipe = long_table(X), make_pipeline(PanelMaker(id="id", time="t"), tree())
    with pytest.raises(DataError, match=r"240 labels for 40 records; the rows of a long table cannot be split"):
        pipe.fit(table, np.repeat(y, 6))
    with pytest.raises(DataError, match="make a panel of it first, and cross-validate that"):
        cross_validate(pipe, table, np.repeat(y, 6), cv=2, error_score="raise")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_validate(pipe, table, y, cv=2)
    panel = PanelMaker(id="id", time="t").fit_transform(table)
    assert cross_validate(tree(criterion=GiniSize()), panel, y, cv=2, error_score="raise")["test_score"].shape == (2,)


@pytest.mark.parametrize("form", [lambda t: t, pl.from_pandas], ids=["pandas", "polars"])
def test_a_long_table_is_not_taken_for_a_plain_one(cube, form):
    X, y = cube
    table = form(long_table(X))
    with pytest.raises(DataError, match=r"40 labels for 240 rows.*Panel.from_frame\(table, id=...\)"):
        tree().fit(table, y)
    clf = tree().fit(Panel.from_frame(table, id="id", time="t"), y)
    features = TemporalFeatures(tree=clf.tree_)
    for ask in (clf.predict, clf.predict_proba, clf.apply, features.fit_transform):
        for plain in (table, X[:, :, 0]):
            with pytest.raises(DataError, match="was learnt as a series; make a panel of series first"):
                ask(plain)


def test_series_are_not_taken_for_plain_tables(cube):
    X, y = cube
    for given_form in (X, list(X), [pd.DataFrame(x.T) for x in X]):
        for ask in (tree().fit, TemporalFeatures(["F(x1 > 1)"]).fit):
            with pytest.raises(DataError, match="series are no plain table; make a panel of series first"):
                ask(given_form, y)


# PanelMaker's own questions


@pytest.mark.parametrize(
    ("settings", "make", "message"),
    [
        ({}, lambda X: X, "layout must be 'records, steps, columns' or 'records, columns, steps'"),
        ({"layout": "columns, steps"}, lambda X: X, "layout must be 'records, steps, columns'"),
        ({}, list, "layout must be 'steps, columns' or 'columns, steps'"),
        ({"layout": "records, columns, steps"}, list, "layout must be 'steps, columns'"),
        ({"layout": "records, columns, steps", "id": "id"}, lambda X: X, "id='id' does not apply to arrays"),
        ({"layout": "records, columns, steps", "static": ["x1"]}, lambda X: X, "static="),
        ({}, long_table, "say which column of the table tells records apart"),
        ({"id": "id", "layout": "steps, columns"}, long_table, "does not apply to a long table"),
        ({"id": "id"}, lambda X: [pd.DataFrame(x.T) for x in X], "does not apply to frames"),
    ],
)
def test_what_does_not_fit_the_form_is_refused(cube, settings, make, message):
    with pytest.raises(SettingsError, match=message):
        PanelMaker(**settings).fit(make(cube[0]))


def test_what_is_wrong_with_the_data_is_said(cube):
    X, _ = cube
    maker = PanelMaker(layout="records, columns, steps", columns=["a", "b"], missing="error")
    assert maker.fit_transform(X).schema.names == ("a", "b")
    with pytest.raises(DataError, match="values are missing"):
        maker.transform(np.full((1, 2, 3), np.nan))
    with pytest.raises(DataError, match="column names"):
        maker.transform(X[:, :1])
    with pytest.raises(DataError, match="39 labels for 40 records"):
        maker.fit(X, [0] * 39)
    with pytest.raises(DataError):
        maker.fit(None)


def test_columns_of_other_types_and_levels():
    given_frames = [pd.DataFrame({"mode": ["up", "down"], "t": [1, 0], "h": [2.0, 3.0]}) for _ in range(3)]
    maker = PanelMaker(time="t", schema={"h": {"unit": "ft"}}, period=0.5, time_unit="s")
    with pytest.warns(DataWarning, match="sort"):
        panel = maker.fit_transform(given_frames)
    assert (panel.schema["h"].unit, panel.period, panel.time_unit) == ("ft", 0.5, "s")
    with pytest.warns(DataWarning, match="sideways"):
        later = maker.transform([pd.DataFrame({"h": [1.0], "mode": ["sideways"], "t": [0], "more": [1]})])
    assert later.schema == panel.schema
