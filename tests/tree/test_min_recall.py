"""Floors for the recall of classes, against all weights that leaves could have."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import precision_score, recall_score

from tests.support.effort import examples

from telltree import Formula, GrammarTreeClassifier, load
from telltree.errors import SettingsError
from telltree.panel import Column, ColumnType, Schema
from telltree.report import write_report
from telltree.search import MonteCarlo
from telltree.tree import Greedy, Leaf, Node, Optimal, Tree
from telltree.tree.class_target import ClassSummary, ClassTarget
from telltree.tree.min_recall import with_recall

SCHEMA = Schema([Column("on", ColumnType.BOOLEAN)])
ASKED = Formula.parse("F(on)", SCHEMA)


def tree_with(leaves, weight=1.0):
    """A tree whose leaves have these records of the classes good and bad, of which the latter weigh so much."""
    target = ClassTarget(("bad", "good"))
    made = [Leaf(ClassSummary(target, counts, (counts[0] * weight, float(counts[1])))) for counts in leaves]
    root = made.pop()
    while made:
        root = Node(ASKED, made.pop(), root)
    return Tree(root, SCHEMA)


def told(tree):
    """How many records of each class are in leaves that say bad."""
    said = [np.array(leaf.summary.counts) for leaf, _ in tree.leaves if leaf.summary.predicted == "bad"]
    return np.sum(said, axis=0) if said else np.zeros(2)


counts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 60)).filter(any), min_size=1, max_size=7)


@examples(60)
@given(counts.filter(lambda leaves: any(bad for bad, _ in leaves)), st.floats(0.01, 1), st.sampled_from([1.0, 2.5]))
def test_the_floor_is_reached_and_by_no_weight_with_more_precision(leaves, floor, weight):
    plain = tree_with(leaves, weight)
    found = with_recall(plain, {"bad": floor})
    everyone = sum(bad for bad, _ in leaves)
    hits, alarms = told(found)
    assert hits >= floor * everyone
    (reached,) = found.floors
    assert reached.after == pytest.approx((hits / everyone, hits / (hits + alarms)))
    assert reached.before.recall == pytest.approx(told(plain)[0] / everyone)
    if told(plain)[0] >= floor * everyone:
        assert (reached.factor, found.root) == (1.0, plain.root)
        return
    ties = sorted({good / (bad * weight) for bad, good in leaves if bad})  # the leaves that say bad change here alone
    for factor in [(low + high) / 2 for low, high in zip(ties, [*ties[1:], 2 * ties[-1] + 1], strict=True)]:
        said = [leaf for leaf in leaves if leaf[0] * weight * factor > leaf[1]]
        others, wrong = sum(bad for bad, _ in said), sum(good for _, good in said)
        if others >= floor * everyone:
            assert others / (others + wrong) <= reached.after.precision + 1e-12


def test_floors_that_cannot_be_had_together_are_refused():
    tree = tree_with([(5, 50), (3, 20)])
    assert with_recall(tree, {"bad": 1.0}).floors[0].after.recall == 1
    with pytest.raises(SettingsError, match="the recall of 'bad', 'good' cannot all be as high as asked for"):
        with_recall(tree, {"bad": 0.9, "good": 0.9})
    assert len(with_recall(tree, {"bad": 0.2, "good": 0.2}).floors) == 2


def learnt(**changed):
    usual = {"search": MonteCarlo(evaluations=300), "max_depth": 3, "min_samples_leaf": 5, "random_state": 0}
    return GrammarTreeClassifier(**usual | changed)


RARE = "bad"


@pytest.fixture(scope="module")
def noisy(labels):
    """Labels of which only some follow from the records, one in six bad."""
    rng = np.random.default_rng(0)
    return np.array(["bad" if rng.random() < (0.5 if label == "fast" else 0.05) else "good" for label in labels])


@pytest.mark.parametrize("more", [{}, {"class_weight": "balanced"}, {"cv": 3}, {"growth": Optimal(20), "max_depth": 2}])
def test_a_model_finds_as_many_of_a_class_as_it_was_to(more, noisy, panel, tmp_path):
    plain, model = (learnt(min_recall=recall, **more).fit(panel, noisy) for recall in (None, {RARE: 0.9}))
    predicted = model.predict(panel)
    found = recall_score(noisy, predicted, labels=[RARE], average=None)[0]
    assert found >= 0.9
    (floor,) = model.tree_.floors
    assert floor.after.recall == pytest.approx(found)
    precision = precision_score(noisy, predicted, labels=[RARE], average=None)[0]
    assert floor.after.precision == pytest.approx(precision)
    before = recall_score(noisy, plain.predict(panel), labels=[RARE], average=None)[0]
    assert floor.before.recall == pytest.approx(before)
    assert str(model.pruning_path_.whole) == str(plain.pruning_path_.whole)  # what was learnt is the same
    assert (model.classes_[model.predict_proba(panel).argmax(axis=1)] == predicted).all()

    path = tmp_path / "model.json"
    model.save(path)
    loaded = load(path)
    assert loaded.tree_ == model.tree_
    assert str(loaded.pruning_path_) == str(model.pruning_path_)
    assert loaded.min_recall == {RARE: 0.9}
    loaded.save(path, overwrite=True)
    again = json.loads(path.read_text())
    assert [one["label"] for one in again["floors"]] == [RARE]


def test_each_size_of_a_tree_reaches_the_floor(noisy, panel):
    model = learnt(min_recall={RARE: 0.8}, growth=Greedy(simplicity=0)).fit(panel, noisy)
    for step in model.pruning_path_:
        own = model.at(step.leaves)
        assert recall_score(noisy, own.predict(panel), labels=[RARE], average=None)[0] >= 0.8


def test_cross_validation_judges_trees_that_reach_the_floor(noisy, panel):
    plain, model = (learnt(min_recall=recall, cv=3).fit(panel, noisy) for recall in (None, {RARE: 1.0}))
    assert model.validation_.chosen == plain.validation_.chosen  # the size does not depend on it
    place = model.classes_.tolist().index(RARE)
    found = [np.count_nonzero(one.validation_.probabilities.argmax(axis=1) == place) for one in (plain, model)]
    assert found[0] < found[1]


def test_what_it_cost_is_told(noisy, panel, tmp_path):
    model = learnt(min_recall={RARE: 0.95}).fit(panel, noisy)
    said = str(model.tree_.floors[0])
    assert said.startswith(f"recall of {RARE} on the training records is ")
    assert "instead of" in said
    page = write_report(model, panel, noisy, tmp_path / "report.html").read_text()
    assert said in page
    unchanged = with_recall(replace(model.tree_, floors=()), {RARE: 0.1}).floors[0]
    assert str(unchanged).endswith("at least 10.0 % as it was to be")


@pytest.mark.parametrize(
    ("recall", "says"),
    [
        ({"nobody": 0.5}, "recall: there is no class 'nobody'; there are"),
        ({"bad": 0}, "recall must be None, or a dict from class to a share above 0, up to 1, got {'bad': 0}"),
        ({"bad": 1.1}, "recall must be None, or a dict"),
        ([0.5], "recall must be None, or a dict"),
    ],
)
def test_floors_that_make_no_sense_are_refused(recall, says, noisy, panel):
    with pytest.raises(SettingsError) as caught:
        learnt(min_recall=recall).fit(panel, noisy)
    assert says in str(caught.value)
