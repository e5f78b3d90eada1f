"""GrammarForestClassifier: what its trees learn from, what they say together, and what is told of them."""

import contextlib
import json
import os
import pickle
import random
import re
import signal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tests.support.effort import few_fast
from tests.support.examples import records
from tests.support.model_mutants import mutant
from tests.support.programs import telltree
from tests.support.small_trees import ALL_OF_IT, FEW, TEXT

from telltree.engine import Formula
from telltree.errors import DataError, DataWarning, ModelFormatError, ModelVersionError, SettingsError, TelltreeError
from telltree.estimators import (
    GrammarForestClassifier,
    GrammarTreeClassifier,
    cross_validate,
    judge_by_folds,
    judge_on,
    load,
)
from telltree.estimators.cross_validation import stratified_folds
from telltree.estimators.inputs import read_training_data
from telltree.estimators.loading import load_tree
from telltree.explain.common_splits import CommonSplits
from telltree.grammar import Grammar
from telltree.logic import user_function
from telltree.models import load_model, load_predictor
from telltree.panel import Panel, read, scan
from telltree.search import GeneticProgramming, MonteCarlo
from telltree.tree import Leaf, Node, Tree
from telltree.tree.class_target import ClassLabels, ClassTarget

SMALL = GrammarTreeClassifier(TEXT, ALL_OF_IT)


def forest(estimator=SMALL, n_estimators=6, random_state=3, **settings):
    return GrammarForestClassifier(estimator, n_estimators, random_state=random_state, **settings)


@pytest.fixture(scope="module")
def fitted(panel, labels):
    return forest().fit(panel, labels)


def test_records_on_disk_give_the_same_trees_and_their_memory_is_told_once(tmp_path, caplog):
    spikes = [(i, t, 6.0 * (i % 2) * (t == i % 5) + (i * t) % 7 / 7, "ab"[i % 2]) for i in range(120) for t in range(5)]
    path = tmp_path / "spikes.parquet"
    pd.DataFrame(spikes, columns=["id", "t", "x", "y"]).to_parquet(path)
    keys, tree = {"id": "id", "time": "t", "label": "y"}, GrammarTreeClassifier(search=FEW, max_depth=2)
    here, there = (forest(tree, n_estimators=3).fit(*get(str(path), **keys)) for get in (read, scan))
    assert there.trees_ == here.trees_
    assert sum("learning takes about" in record.message for record in caplog.records) == 1


def drawn(seed, number, records):
    """The records that a tree learns from, as the design has it."""
    chance = np.random.default_rng(np.random.SeedSequence(seed).spawn(number + 1)[number])
    return set(chance.choice(records, max(1, round(0.632 * records)), replace=False).tolist())


def leaf_of(node, truth, record):
    """The leaf that a record comes to, question by question."""
    while isinstance(node, Node):
        node = node.true if truth[node.formula][record] else node.false
    return node


def said_by_hand(tree, panel, labels, classes, learnt):
    """The probabilities of every record, by the classes of the records learnt from that come to the same leaf."""
    truth = {node.formula: node.formula(panel) for node in tree.nodes}
    homes = [id(leaf_of(tree.root, truth, record)) for record in range(len(panel))]
    found = np.zeros((len(panel), len(classes)))
    for record, home in enumerate(homes):
        alike = [labels[other] for other in learnt if homes[other] == home]
        found[record] = [(alike.count(label) + 1 / len(classes)) / (len(alike) + 1) for label in classes]
    return found


# what it answers


def test_the_forest_says_the_mean_of_what_its_trees_say(fitted, panel, labels):
    classes, seed = fitted.classes_.tolist(), fitted.training_.seed
    said = [
        said_by_hand(tree, panel, labels, classes, drawn(seed, number, 60)) for number, tree in enumerate(fitted.trees_)
    ]
    np.testing.assert_allclose(fitted.predict_proba(panel), sum(said) / 6, rtol=1e-12)
    expected = [classes[row.argmax()] for row in sum(said)]
    assert fitted.predict(panel).tolist() == expected
    assert len({str(tree) for tree in fitted.trees_}) > 1


def test_out_of_bag_is_what_trees_say_of_records_that_they_have_not_learnt_from(fitted, panel, labels):
    classes, seed = fitted.classes_.tolist(), fitted.training_.seed
    learnt = [drawn(seed, number, 60) for number in range(6)]
    said = [said_by_hand(tree, panel, labels, classes, own) for tree, own in zip(fitted.trees_, learnt, strict=True)]
    right, losses = [], []
    for record, label in enumerate(labels):
        judges = [row[record] for row, own in zip(said, learnt, strict=True) if record not in own]
        if not judges:
            assert np.isnan(fitted.oob_decision_function_[record]).all()
            continue
        mean = sum(judges) / len(judges)
        np.testing.assert_allclose(fitted.oob_decision_function_[record], mean, rtol=1e-12)
        right.append(classes[mean.argmax()] == label)
        losses.append(sum((chance - (name == label)) ** 2 for chance, name in zip(mean, classes, strict=True)) / 2)
    assert len(right) == fitted.out_of_bag_.records > 50
    assert fitted.oob_score_ == pytest.approx(np.mean(right))
    assert fitted.out_of_bag_.brier.value == pytest.approx(np.mean(losses))


def test_the_same_seed_gives_the_same_trees_in_any_number_of_processes(fitted, panel, labels):
    there = forest(n_jobs=2).fit(panel, labels)
    assert there.trees_ == fitted.trees_
    np.testing.assert_array_equal(there.oob_decision_function_, fitted.oob_decision_function_)
    assert there.out_of_bag_ == fitted.out_of_bag_


def test_a_larger_forest_begins_with_the_trees_of_a_smaller_one(fitted, panel, labels):
    assert forest(n_estimators=2).fit(panel, labels).trees_ == fitted.trees_[:2]
    assert forest(n_estimators=2, random_state=4).fit(panel, labels).trees_ != fitted.trees_[:2]


def test_records_of_one_group_are_learnt_from_together(panel, labels):
    groups = np.repeat(np.arange(12), 5)
    model = forest().fit(panel, labels, groups=groups)
    judged = ~np.isnan(model.oob_decision_function_[:, 0])
    assert all(len(set(judged[groups == group].tolist())) == 1 for group in range(12))
    assert {tree.records for tree in model.trees_} == {5 * round(0.632 * 12)}
    with pytest.raises(SettingsError, match="one for each of 60 records, got 3"):
        forest().fit(panel, labels, groups=[1, 2, 3])


def test_importances_are_the_mean_of_the_trees(fitted, panel):
    alone = []
    for tree in fitted.trees_:
        gains = dict.fromkeys(panel.schema.names, 0.0)
        for node in tree.nodes:
            sides = [np.array(side.summary.weights) for side in (node.true, node.false)]
            impure = [side.sum() - side @ side / side.sum() for side in (*sides, sum(sides))]
            (name,) = node.formula.expression.attributes()
            gains[name] += impure[2] - impure[1] - impure[0]
        alone.append(np.array(list(gains.values())) / sum(gains.values()))
    np.testing.assert_allclose(fitted.feature_importances_, np.mean(alone, axis=0))
    assert fitted.feature_importances_.sum() == pytest.approx(1)


def test_records_of_weight_0_are_not_there_but_their_classes_are(panel, labels):
    weights = np.where(np.array(labels) == "calm", 0, 2.5)
    others = np.where(weights, np.arange(60), np.flatnonzero(weights)[0])  # whatever stands in their place
    model, other = (forest().fit(panel[places], labels, sample_weight=weights) for places in (np.arange(60), others))
    assert model.trees_ == other.trees_
    assert model.classes_.tolist() == ["calm", "fast", "high"]
    assert model.class_counts_ == (0, labels.count("fast"), labels.count("high"))
    assert {tree.records for tree in model.trees_} == {round(0.632 * np.count_nonzero(weights))}
    assert np.isnan(model.oob_decision_function_[weights == 0]).all()
    assert model.out_of_bag_ == other.out_of_bag_


def test_weights_of_records_are_those_of_the_trees(panel, labels):
    weights = np.where(np.array(labels) == "high", 3.0, 1.0)
    by_record = forest().fit(panel, labels, sample_weight=weights)
    by_class = forest(clone(SMALL).set_params(class_weight={"high": 3.0})).fit(panel, labels)
    assert by_record.trees_ == by_class.trees_
    assert by_record.out_of_bag_.weighted
    assert not by_class.out_of_bag_.weighted


# odd records


def test_one_class_is_told_once():
    panel = records({"x": [1.0, 2.0]}, {"x": [3.0]}, {"x": [None, 1.0]})
    with pytest.warns(DataWarning, match="only one class, 'a': every tree is a single leaf") as told:
        model = forest(GrammarTreeClassifier(search=FEW)).fit(panel, ["a"] * 3)
    assert len(told) == 1
    assert model.predict_proba(panel).tolist() == [[1.0]] * 3
    assert model.feature_importances_.tolist() == [0.0]
    assert "nothing: all are single leaves" in str(model.common_splits())


def test_one_record_is_learnt_from_and_judged_by_nobody():
    panel = records({"x": [1.0, 2.0]})
    with pytest.warns(DataWarning, match="only one class"):
        model = forest(GrammarTreeClassifier(search=FEW)).fit(panel, ["a"])
    assert model.predict(panel).tolist() == ["a"]
    assert model.out_of_bag_ is model.oob_score_ is None


def test_a_class_that_some_trees_have_not_met_has_little_chance_with_them():
    panel = records(*({"x": [float(x), 0.0][: 1 + x % 2]} for x in range(12)), {"x": [None, 50.0]})
    model = forest(GrammarTreeClassifier(search=FEW, min_samples_leaf=1)).fit(panel, ["a", "b"] * 6 + ["c"])
    assert model.predict_proba(panel).shape == (13, 3)
    np.testing.assert_allclose(model.predict_proba(panel).sum(axis=1), 1)


def test_plain_tables_are_read_like_those_of_a_tree():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 3))
    model = forest(GrammarTreeClassifier(search=FEW), 3).fit(table, table[:, 1] > 0)
    assert model.score(table, table[:, 1] > 0) > 0.9
    with pytest.raises(DataError, match="GrammarForestClassifier is expecting 3 features"):
        model.predict(table[:, :2])


# languages


@pytest.mark.parametrize(
    ("grammar", "times", "shared"),
    [(None, 2, True), (None, 1, False), (TEXT, 1, True), ("shapes", 2, False)],  # labels weigh durations of few records
)
def test_a_language_that_records_did_not_shape_by_their_labels_is_shared(panel, labels, grammar, times, shared):
    training = read_training_data(panel[np.tile(np.arange(60), times)], labels * times, None, None).training
    found = GrammarTreeClassifier(grammar, FEW).shared_grammar(training)
    assert (found is not None) is shared


def test_levels_that_are_grouped_by_labels_are_grouped_for_each_tree():
    names = [f"level {number}" for number in range(60)] * 2
    panel = Panel.from_arrays([np.array([[name]], object) for name in names], columns=["c"])
    classes = ["low" if number % 60 < 30 else "high" for number in range(120)]
    training = read_training_data(panel, classes, None, None).training
    assert Grammar.for_panel(panel, classes) != Grammar.for_panel(panel)
    assert GrammarTreeClassifier().shared_grammar(training) is None


def test_trees_that_share_planes_are_those_that_do_not(panel, labels, monkeypatch):
    shared = forest(n_estimators=3).fit(panel, labels)
    with monkeypatch.context() as patch:
        patch.setattr(GrammarTreeClassifier, "shared_grammar", lambda *_: None)
        alone = forest(n_estimators=3).fit(panel, labels)
    assert shared.trees_ == alone.trees_


# what trees ask


def tree_of(panel, *texts):
    """A tree that asks one question after the other, of those for whom the answer is no."""
    leaf = Leaf(ClassLabels(np.array([0]), ClassTarget(("a",))).summary())
    root = leaf
    for text in reversed(texts):
        root = Node(Formula.parse(text, panel.schema), leaf, root)
    return Tree(root, panel.schema, frozenset())


def test_questions_are_the_same_if_only_constants_or_the_order_differ(panel):
    trees = [
        tree_of(panel, "F(speed > 1 and on)", "F(speed > 9)"),
        tree_of(panel, "F(on and speed > 3)"),
        tree_of(panel, "G(height < 2)", "F(on and speed > 2)", "F(on and speed > 4)"),
        tree_of(panel, "F(on and speed < 2)"),
        tree_of(panel, "F(change(speed, 2) > 1)"),
        tree_of(panel, "F(change(speed, 3) > 1)"),
        tree_of(panel),
    ]
    splits = CommonSplits.of(trees)
    assert splits.trees == 7
    first = splits.questions[0]
    assert (first.trees, first.first, first.constants) == (3, 2, ((1.0, 4.0),))
    assert str(first.expression) in ("F(on ∧ (speed > 3))", "F(on ∧ (speed > 2))")
    assert first.english in (f"at some point on is true while speed is above {constant}" for constant in (2, 3))
    assert sorted((row.trees, row.first) for row in splits.questions[1:]) == [(1, 0)] + [(1, 1)] * 4
    assert "    3      2  at some point on is true while speed is above" in str(splits)


def test_conditions_are_counted_once_for_a_tree_and_with_their_opposites(panel):
    trees = [
        tree_of(panel, "F(speed > 1 and on)", "G(speed <= 3)"),
        tree_of(panel, 'G(on implies mode = "up")', "F(speed >= 4)"),
    ]
    rows = {row.english: row for row in CommonSplits.of(trees).conditions}
    assert {text: (row.trees, row.first) for text, row in rows.items()} == {
        "on is true": (2, 2),
        "speed is above 1": (1, 1),
        "speed is at least 4": (1, 0),
        "mode is up": (1, 1),
    }
    assert rows["speed is above 1"].constants == ((1.0, 3.0),)


def test_what_a_forest_asks_is_in_its_trees(fitted):
    open_texts = [[re.sub(r"-?\d+(\.\d+)?", "?", str(node.formula)) for node in tree.nodes] for tree in fitted.trees_]
    expected = {text: sum(text in texts for texts in open_texts) for texts in open_texts for text in texts}
    rows = fitted.common_splits().questions
    assert {re.sub(r"-?\d+(\.\d+)?", "?", str(row.expression)): row.trees for row in rows} == expected
    assert sum(row.first for row in rows) == 6
    assert [row.trees for row in rows] == sorted((row.trees for row in rows), reverse=True)


# judged


def test_a_forest_is_judged_like_a_tree(fitted, panel, labels):
    assert judge_on(fitted, panel, labels).seen
    assert not judge_on(fitted, panel[:40], labels[:40]).seen
    parts = stratified_folds(np.unique(labels, return_inverse=True)[1], None, 2, 0)
    chances = cross_validate(forest(n_estimators=2), panel, labels, parts)
    judged = judge_by_folds(forest(n_estimators=2).fit(panel, labels), panel, labels, number=2, seed=0)
    assert judged.card.accuracy.value == np.mean(fitted.classes_[chances.argmax(axis=1)] == np.array(labels))


# settings


def test_settings_are_those_of_an_estimator(fitted, panel, labels):
    model = clone(fitted).set_params(estimator__search__evaluations=20, n_estimators=2)
    assert model.estimator.search.evaluations == 20
    assert SMALL.search.evaluations == 24
    assert model.get_params()["estimator__max_depth"] == "auto"
    assert model.fit(panel, labels).trees_ != fitted.trees_
    back = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    np.testing.assert_array_equal(back.predict_proba(panel), fitted.predict_proba(panel))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"estimator": "oak"}, "estimator must be a GrammarTreeClassifier or None, got 'oak'"),
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1 to 10,000, got 0"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"callback": 3}, "callback must be a function or None, got 3"),
        ({"random_state": "x"}, "random_state must be None, a seed"),
        ({"estimator": GrammarTreeClassifier(cv=3)}, "leave out cv of the tree"),
        ({"estimator": GrammarTreeClassifier(min_recall={"high": 0.9})}, "leave it out of the tree"),
        ({"estimator": GrammarTreeClassifier(max_depth=-1)}, "max_depth must be"),
    ],
)
def test_what_makes_no_sense_is_refused(panel, labels, settings, says):
    with pytest.raises(SettingsError, match=says):
        forest(**settings).fit(panel, labels)


def test_bad_input_has_the_errors_of_a_tree(fitted, panel, labels):
    with pytest.raises(DataError, match="label"):
        forest().fit(panel, labels[:-1])
    with pytest.raises(SettingsError, match="sample_weight"):
        forest().fit(panel, labels, sample_weight=[-1] * 60)
    with pytest.raises(DataError, match="speed"):
        fitted.predict(panel.select(["height"]))


# progress, and Ctrl-C


def test_progress_is_told_after_each_tree(panel, labels):
    told = []
    forest(n_estimators=3, callback=told.append).fit(panel, labels)
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("given", [{}, {"n_jobs": 2}])
def test_ctrl_c_keeps_the_trees_that_are_finished(fitted, panel, labels, given, caplog):
    def interrupt(progress):
        if progress.done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    model = forest(callback=interrupt, n_estimators=6, **given).fit(panel, labels)
    assert model.interrupted_
    assert f"interrupted; the forest has {len(model.trees_)} of 6 trees" in caplog.text
    assert 2 <= len(model.trees_) < 6
    assert set(map(str, model.trees_)) <= set(map(str, fitted.trees_))
    assert model.out_of_bag_.records < 60


def test_ctrl_c_within_the_first_tree_keeps_what_was_found(panel, labels, monkeypatch):
    run = MonteCarlo.run

    def interrupted(self, *args, **given):
        os.kill(os.getpid(), signal.SIGINT)
        return run(self, *args, **given)

    with monkeypatch.context() as patch:
        patch.setattr(MonteCarlo, "run", interrupted)
        model = forest().fit(panel, labels)
    assert (model.interrupted_, len(model.trees_)) == (True, 1)
    assert len(model.predict(panel)) == 60


def test_a_fit_that_fails_leaves_the_forest_as_it_was(panel, labels):
    def fail(_progress):
        raise RuntimeError("on purpose")

    model = forest(n_estimators=2).fit(panel, labels)
    before = model.trees_
    with pytest.raises(RuntimeError, match="on purpose"):
        model.set_params(callback=fail).fit(panel[:30], labels[:30])
    assert model.trees_ is before


# files


@pytest.fixture(scope="module")
def content(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("forest") / "forest.json"
    fitted.save(path)
    return path.read_bytes()


def loaded(content, folder, **given):
    (folder / "forest.json").write_bytes(content)
    return load(folder / "forest.json", **given)


def settings_of(model):
    """All settings, those of the tree by name: two estimators are never equal."""
    return {name: value for name, value in model.get_params().items() if name != "estimator"}


def test_a_forest_comes_back_from_its_file_and_goes_there_again(fitted, content, panel, tmp_path):
    back = loaded(content, tmp_path)
    assert back.trees_ == fitted.trees_
    assert settings_of(back) == settings_of(fitted)
    assert (back.grammar_, back.training_) == (fitted.grammar_, fitted.training_)
    assert (back.class_counts_, back.interrupted_) == (fitted.class_counts_, False)
    assert back.classes_.tolist() == fitted.classes_.tolist()
    assert back.feature_names_in_.tolist() == fitted.feature_names_in_.tolist()
    assert back.out_of_bag_ is back.oob_score_ is back.oob_decision_function_ is None
    np.testing.assert_array_equal(back.predict_proba(panel), fitted.predict_proba(panel))
    assert str(back.common_splits()) == str(fitted.common_splits())
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == content


def test_a_loaded_forest_is_fitted_again_to_the_same_bytes(content, panel, labels, tmp_path):
    back = loaded(content, tmp_path).fit(panel, labels)
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == content


def test_forests_of_all_kinds_have_files(tmp_path):
    """Of a table without names, with unknown answers and languages of their own; and of single leaves."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(40, 2))
    table[rng.random(table.shape) < 0.1] = np.nan
    y = np.nan_to_num(table[:, 0]) > 0
    own = GrammarTreeClassifier("shapes", FEW, missing="unknown", class_weight="balanced")
    for number, model in enumerate([forest(own, 2), forest(GrammarTreeClassifier(search=FEW, max_depth=0), 2)]):
        model.fit(table, y).save(tmp_path / f"{number}.json")
        back = load(tmp_path / f"{number}.json")
        assert back.trees_ == model.trees_
        assert settings_of(back) == settings_of(model)
        assert not hasattr(back, "feature_names_in_")
        np.testing.assert_array_equal(back.predict_proba(table), model.predict_proba(table))


def test_how_columns_were_resampled_comes_back(tmp_path):
    rows = [  # either column misleads for some records, so that it depends on the records which is the better one
        {
            "id": k,
            "t": t,
            "x": float((k + 3 * (k < 7)) % 7),
            "y": float((k + 3 * (k > 22)) % 7),
            "label": "ab"[k % 7 > 3],
        }
        for k in range(30)
        for t in range(4)
    ]
    moving = {"x": {"static": False}, "y": {"static": False}}
    how = {"x": "mean", "y": "last"}
    panel, y = read(
        pd.DataFrame(rows), id="id", time="t", label="label", time_unit="s", every="2 s", how=how, schema=moving
    )
    model = forest(GrammarTreeClassifier(search=FEW, min_samples_leaf=1), 4).fit(panel, y)
    assert len({tree.how_read for tree in model.trees_}) > 1  # each knows of its own columns alone
    model.save(tmp_path / "forest.json")
    assert load(tmp_path / "forest.json").trees_ == model.trees_


@user_function(takes=["real"], gives="real", elementwise=True)
def twice(x):
    """Twice as much."""
    return 2 * x


def test_functions_are_brought_to_a_file(panel, labels, tmp_path):
    tree = GrammarTreeClassifier("Start ::= F(twice(speed) > [2, 5])", MonteCarlo(evaluations=2), functions=[twice])
    model = forest(tree, 2).fit(panel, labels)
    model.save(tmp_path / "forest.json")
    with pytest.raises(ModelFormatError, match=r"calls the user function twice\(real\)"):
        load(tmp_path / "forest.json")
    assert load(tmp_path / "forest.json", functions=[twice]).trees_ == model.trees_


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: found["trees"].clear(), "at trees: "),
        (lambda found: found["trees"][0].pop(), "its tree ends too early"),
        (lambda found: found["trees"][1].append(found["trees"][1][-1]), "nodes after the end of the tree"),
        (lambda found: found["trees"][0][0].update(formula="F(speed > )"), "its formula"),
        (lambda found: found["trees"][0][0].update(formula="F(nobody)"), "nobody"),
        (lambda found: found["trees"][0][-1].update(weights=[1.0]), "a count and a weight for each of 3 classes"),
        (lambda found: found["counts"].pop(), "a count of training records for each class"),
        (lambda found: found.update(n_estimators=0), "at n_estimators"),
        (lambda found: found.update(n_estimators=10**9), "at n_estimators"),
        (lambda found: found.update(tree=[]), "at tree: "),
        (lambda found: found.update(format="telltree model"), "at tree: Field required|at trees: Extra"),
        (lambda found: found.update(format=["telltree forest"]), "should be a JSON object with"),
        (lambda found: found["settings"].update(max_depth=-1), "at settings"),
    ],
)
def test_damage_is_named_with_its_place(content, tmp_path, change, says):
    found = json.loads(content)
    change(found)
    with pytest.raises(ModelFormatError, match=says) as error:
        loaded(json.dumps(found).encode(), tmp_path)
    assert "forest.json" in str(error.value)


def test_newer_files_ask_for_a_newer_telltree(content, tmp_path):
    with pytest.raises(ModelVersionError, match="upgrade telltree"):
        loaded(content.replace(b'"version": 2', b'"version": 3'), tmp_path)


@pytest.mark.parametrize("seed", few_fast(range(20), 4))
def test_mutants_give_a_forest_or_our_error(seed, content, panel, tmp_path):
    rng = random.Random(seed)
    for _ in range(20):
        try:
            found = loaded(mutant(rng, content), tmp_path)
        except ModelFormatError:
            continue
        with contextlib.suppress(TelltreeError):
            assert found.predict_proba(panel).shape[0] == 60


def test_a_forest_is_refused_where_a_tree_is_wanted(content, tmp_path):
    (tmp_path / "forest.json").write_bytes(content)
    for read_tree in (load_model, load_predictor, load_tree):
        with pytest.raises(ModelFormatError, match=r"'.*forest\.json': it holds a forest of 6 trees"):
            read_tree(tmp_path / "forest.json")


def test_a_forest_that_is_too_long_to_be_read_is_not_written(fitted, monkeypatch, tmp_path):
    monkeypatch.setattr("telltree.models.document.MOST_PARTS", 10)
    with pytest.raises(ModelFormatError, match="learn fewer trees, or smaller ones"):
        fitted.save(tmp_path / "forest.json")
    assert not (tmp_path / "forest.json").exists()


def test_verbs_that_want_a_tree_say_so(content, panel, labels, tmp_path):
    (tmp_path / "forest.json").write_bytes(content)
    table = panel.to_frame()
    table["label"] = np.repeat(labels, panel.lengths)
    table.to_csv(tmp_path / "records.csv", index=False)
    data = (tmp_path / "records.csv", "--id", "id")
    judged, page = (*data, "--label", "label"), ("-o", tmp_path / "page.html")
    for verb, more in [
        ("show", ()),
        ("export", ("--to", "sql")),
        ("predict", data),
        ("categorize", data),
        ("explain", (*data, "--record", "0")),
        ("evaluate", judged),
        ("report", (*judged, *page)),
    ]:
        ended = telltree(verb, tmp_path / "forest.json", *more)
        assert (ended.returncode, "it holds a forest of 6 trees" in ended.stderr) == (4, True), (verb, ended.stderr)


def test_without_a_tree_of_ones_own_estimators_are_bred(panel, labels):
    """A proof for each of many trees would take time, and nobody would ask for it."""
    bred = forest(estimator=GrammarTreeClassifier(search=GeneticProgramming()), n_estimators=1).fit(panel, labels)
    assert forest(estimator=None, n_estimators=1).fit(panel, labels).trees_ == bred.trees_
