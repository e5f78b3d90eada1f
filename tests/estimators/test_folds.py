"""Folds, cross-validation, baselines on summaries, and a model judged beside them."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import few_fast
from tests.support.examples import records
from tests.support.mixed_records import MIXED, mixed_records
from tests.support.small_trees import FEW, tree
from tests.support.strategies import panel_of

from telltree.errors import DataError, DataWarning, SettingsError
from telltree.estimators import Judgement, cross_validate, judge_by_folds, judge_on, load
from telltree.estimators.baselines import (
    LEVELS,
    Summaries,
    commonest_class,
    sizes_beside,
    summary_trees,
    trees_out_of_fold,
)
from telltree.estimators.cross_validation import stratified_folds
from telltree.panel import Panel
from telltree.tree import GiniSize

# folds


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(2, 8), st.integers(0, 5))
def test_every_record_is_kept_apart_once_and_every_class_is_in_every_fold(codes, number, seed):
    codes = np.array(codes)
    counts = np.bincount(codes)
    several = counts[counts > 1]
    if not len(several):
        with pytest.raises(SettingsError, match="in one alone"):
            stratified_folds(codes, None, number, seed)
        return
    found = stratified_folds(codes, None, number, seed)
    assert len(found) == min(number, several.min())
    assert sorted(np.concatenate([test for _, test in found]).tolist()) == list(range(len(codes)))
    for train, test in found:
        assert sorted([*train, *test]) == list(range(len(codes)))
        for code in np.flatnonzero(counts > 1):
            assert code in codes[train]
            assert code in codes[test]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcdefg")), min_size=2, max_size=60), st.integers(2, 6))
def test_groups_stay_together(pairs, number):
    codes, groups = (np.array(column) for column in zip(*pairs, strict=True))
    try:
        found = stratified_folds(codes, groups, number, 0)
    except SettingsError:
        assert len(set(groups)) == 1 or all(len(set(groups[codes == c])) == 1 for c in set(codes)) or len(codes) < 20
        return
    assert 2 <= len(found) <= min(number, len(set(groups)))
    assert sorted(np.concatenate([test for _, test in found]).tolist()) == list(range(len(codes)))
    for train, test in found:
        assert not set(groups[train]) & set(groups[test])
        assert len(train)
        assert len(test)


def test_the_seed_alone_decides():
    codes = np.arange(40) % 3
    one, same, other = (stratified_folds(codes, None, 4, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for pair in zip(one, same, strict=True) for a, b in zip(*pair, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("codes", "groups", "number", "says"),
    [
        ([0, 0, 1], None, 1, "at least 2 folds"),
        ([0], None, 5, "at least two records"),
        ([0, 1, 2], None, 5, "at least two records"),
        ([0, 0, 1, 1], ["a"] * 4, 5, "one group"),
        ([0, 0, 1, 1], ["a", "a", "b", "b"], 5, "at least two groups"),
        ([0, 0, 1], ["a"], 5, "one for each of 3 records, got 1"),
    ],
)
def test_what_cannot_be_cut_is_refused(codes, groups, number, says):
    with pytest.raises(SettingsError, match=says):
        stratified_folds(np.array(codes), groups, number, 0)


# cross-validation


def test_cross_validation_asks_clones_about_what_they_have_not_seen(panel, labels):
    chosen = stratified_folds(np.unique(labels, return_inverse=True)[1], None, 3, 0)
    told, events = tree(), []
    found = cross_validate(told, panel, labels, chosen, lambda *event: events.append(event))
    assert events == [(1, 3), (2, 3), (3, 3)]
    assert not hasattr(told, "tree_")
    np.testing.assert_allclose(found.sum(axis=1), 1)
    train, test = chosen[1]
    own = tree().fit(panel[train], np.array(labels)[train])
    np.testing.assert_array_equal(found[test], own.predict_proba(panel[test]))


def test_a_class_that_a_clone_has_not_met_has_no_probability(panel, labels):
    alone = ["once", *labels[1:]]
    chosen = stratified_folds(np.unique(alone, return_inverse=True)[1], None, 3, 0)
    found = cross_validate(tree(), panel, alone, chosen)
    assert found.shape == (60, 4)
    assert sorted(set(alone))[3] == "once"
    assert found[0, 3] == 0
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_half_a_tree_is_not_judged(panel, labels):
    def stop(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cross_validate(tree(callback=stop), panel, labels, [(np.arange(40), np.arange(40, 60))])


# baselines


def slowly(record, name):
    """The summaries of a real column of a plain record."""
    known = [x for x in record[name] if x is not None]
    missing = 1 - len(known) / len(record[name])
    if not known:
        return [math.nan] * 11 + [missing]
    mean = sum(known) / len(known)
    spread = math.sqrt(sum((x - mean) ** 2 for x in known) / len(known))
    quartiles = [float(np.quantile(known, share)) for share in (0.5, 0.25, 0.75)]
    steps = [step for step, x in enumerate(record[name]) if x is not None]
    slope = float(np.polyfit(steps, known, 1)[0]) if len(known) > 1 else 0
    change = sum(abs(b - a) for a, b in pairwise(known)) / max(len(known) - 1, 1)
    return [min(known), max(known), mean, known[0], known[-1], spread, *quartiles, slope, change, missing]


@pytest.mark.parametrize("seed", few_fast(range(4)))
def test_summaries_are_what_they_say(seed):
    plain = mixed_records(40, seed)
    panel = panel_of(MIXED, plain)
    rows = Summaries.learn(panel)(panel)
    levels = Summaries.learn(panel).levels["mode"]
    assert rows.shape == (40, 12 + 12 + 2 + len(levels) + 1 + 1)
    for row, record in zip(rows, plain, strict=True):
        np.testing.assert_allclose(row[:24], [*slowly(record, "speed"), *slowly(record, "height")], atol=1e-9)
        flags = [flag for flag in record["on"] if flag is not None]
        assert row[24] == pytest.approx(sum(flags) / max(len(flags), 1))
        modes = [mode for mode in record["mode"] if mode is not None]
        for place, code in enumerate(levels):
            name = panel.schema["mode"].levels[code]
            assert row[26 + place] == pytest.approx(modes.count(name) / max(len(modes), 1))
        assert row[-2] == pytest.approx(record["mode"].count(None) / len(record["mode"]))
        assert row[-1] == len(record["mode"])


def test_summaries_of_odd_values():
    steps = [[math.inf, 1e308, None], [None, None], [-1e308, -1e308], [math.nan]]
    panel = records(*({"F": values, "and": [f"level {i}"] * len(values)} for i, values in enumerate(steps)))
    rows = Summaries.learn(panel)(panel)
    assert np.isfinite(rows[0]).all()
    assert np.isnan(rows[1, :11]).all()
    assert rows[1, 11] == 1
    assert rows[0, 9:11].tolist() == [0, 0]
    many = Panel.from_table(np.array([[f"n{i % 30}"] for i in range(90)]))
    assert Summaries.learn(many)(many).shape == (90, LEVELS + 1 + 1)


def test_baselines_learn_in_folds_and_nothing_else(panel, labels):
    codes = np.unique(labels, return_inverse=True)[1]
    chosen = stratified_folds(codes, None, 4, 0)
    sizes = sizes_beside(3)
    found = trees_out_of_fold(panel, codes, 3, chosen, sizes)
    train, test = chosen[0]
    alone = summary_trees(panel[train], codes[train], 3, panel[test], sizes)
    for name in ("decision tree", "unlimited tree"):
        np.testing.assert_allclose(found[name].sum(axis=1), 1)
        np.testing.assert_array_equal(found[name][test], alone[name])
    prior = commonest_class(panel, codes, 4, panel[:2])
    np.testing.assert_allclose(prior, [[*np.bincount(codes) / 60, 0]] * 2)


@pytest.mark.parametrize("leaves", [1, 2, 5, 9])
def test_a_decision_tree_is_as_large_as_the_tree_beside_it_and_another_unlimited(panel, leaves):
    codes = np.random.default_rng(0).integers(0, 3, 60)  # by chance, so that every leaf is of use
    found = summary_trees(panel, codes, 3, panel, sizes_beside(leaves))
    assert len(np.unique(found["decision tree"], axis=0)) <= max(2, leaves)
    assert sizes_beside(leaves)["decision tree"] == max(2, leaves)
    rows = Summaries.learn(panel)(panel)
    distinct = len(np.unique(rows, axis=0))
    right = (found["unlimited tree"].argmax(axis=1) == codes).sum()
    assert right >= distinct  # nothing but records with the same summaries limits it


def test_the_decision_tree_finds_what_a_summary_tells(panel, labels):
    sizes = {"tree": 4}
    high = np.array([label == "high" for label in labels]).astype(np.int64)
    greatest = np.array([np.nanmax(panel.values("height", i), initial=-1) for i in range(60)])
    found = summary_trees(panel, (greatest >= 4).astype(np.int64), 2, panel, sizes)["tree"]
    assert ((found[:, 1] > 0.5) == (greatest >= 4)).all()
    some = summary_trees(panel, high, 3, panel.select(["mode", "speed"])[:5], sizes)["tree"]
    assert some.shape == (5, 3)  # what only one side has is left out
    assert (some[:, 2] == 0).all()
    weighty = summary_trees(panel, high, 2, panel, sizes, weights=np.where(high == 1, 100.0, 1.0))["tree"]
    assert weighty[:, 1].mean() > summary_trees(panel, high, 2, panel, sizes)["tree"][:, 1].mean()


# a model beside them


def test_a_model_is_judged_in_the_folds_of_the_baselines(panel, labels):
    model = tree().fit(panel, labels)
    found = judge_by_folds(model, panel, labels, number=3, seed=5)
    assert list(found.cards) == ["telltree", "commonest class", "decision tree", "unlimited tree"]
    assert found.folds == 3
    chosen = stratified_folds(np.unique(labels, return_inverse=True)[1], None, 3, 5)
    told = model.classes_[cross_validate(tree(), panel, labels, chosen).argmax(axis=1)]
    assert found.card.accuracy.value == np.mean(told == np.array(labels))
    commonest = max(labels.count(label) for label in set(labels))
    assert found.cards["commonest class"].accuracy.value == commonest / 60
    assert found.cards["commonest class"].auc.value == 0.5
    assert str(found).startswith("cross-validated on 60 records, in 3 folds:\n")
    assert found.as_dict()["models"]["telltree"] == found.card.as_dict()
    leaves = len(model.tree_.leaves)
    assert f"of at most {max(2, leaves)} leaves (telltree's has {leaves})" in str(found)


def test_groups_are_judged_apart(panel, labels):
    groups = np.arange(60) // 3
    model = tree().fit(panel, labels)
    together = judge_by_folds(model, panel, labels, number=3, groups=groups)
    chosen = stratified_folds(np.unique(labels, return_inverse=True)[1], groups, 3, 0)
    told = model.classes_[cross_validate(tree(), panel, labels, chosen).argmax(axis=1)]
    assert together.card.accuracy.value == np.mean(told == np.array(labels))


class Said:
    """What a model keeps that has cross-validated itself."""

    def __init__(self, probabilities, folds):
        self.probabilities, self.folds = probabilities, folds


def test_a_model_that_has_cross_validated_itself_is_believed_unless_groups_were_torn(panel, labels):
    model = tree().fit(panel, labels)
    codes = np.unique(labels, return_inverse=True)[1]
    model.validation_ = None
    assert judge_by_folds(model, panel, labels, number=3).card.accuracy.value < 1
    model.validation_ = Said(np.eye(3)[codes], stratified_folds(codes, None, 4, 0))
    found = judge_by_folds(model, panel, labels, number=3)
    assert (found.card.accuracy.value, found.folds) == (1, 4)
    torn = judge_by_folds(model, panel, labels, number=3, groups=np.arange(60) // 3)
    assert torn.card.accuracy.value < 1
    fewer = judge_by_folds(model, panel[:50], labels[:50], number=3)  # of other records
    assert fewer.card.accuracy.value < 1


def test_a_model_is_judged_on_other_records(panel, labels, tmp_path):
    model = tree().fit(panel[:40], labels[:40])
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    for one in (model, again):
        found = judge_on(one, panel[40:], labels[40:], train=(panel[:40], labels[:40]))
        assert found.card.accuracy.value == model.score(panel[40:], labels[40:])
        assert list(found.cards) == ["telltree", "commonest class", "decision tree", "unlimited tree"]
        commonest = max(set(labels[:40]), key=labels[:40].count)
        assert found.cards["commonest class"].accuracy.value == labels[40:].count(commonest) / 20
        assert not found.seen
        assert str(found).startswith("on 20 records:\n")
        same = judge_on(one, panel[:40], labels[:40])
        assert list(same.cards) == ["telltree", "commonest class"]
        assert same.seen
        assert "which flatters it" in str(same)
    needed = panel[40:].select(model.tree_.schema)  # what the tree does not ask about may be absent
    assert isinstance(judge_on(model, needed, labels[40:]), Judgement)


def test_labels_that_a_model_does_not_know(panel, labels):
    model = tree().fit(panel, labels)
    with pytest.warns(DataWarning, match="1 record has a label that the model does not know: 'storm'"):
        found = judge_on(model, panel, ["storm", *labels[1:]])
    assert found.card.confusion[3] != (0, 0, 0, 0)
    with pytest.raises(DataError, match="none of the labels is a class of the model: 0, 1"):
        judge_on(model, panel, np.arange(60) % 2)
    with pytest.raises(DataError, match="give those that it learnt from"):
        judge_on(model, panel, labels, train=(panel, ["storm", *labels[1:]]))


def test_weights_of_classes_reach_the_baseline(panel, labels):
    paper = {"search": FEW, "criterion": GiniSize()}
    heavy = judge_by_folds(tree(**paper, class_weight={"high": 50}).fit(panel, labels), panel, labels, number=2)
    light = judge_by_folds(tree(**paper).fit(panel, labels), panel, labels, number=2)
    of_high = [np.sum(found.cards["decision tree"].confusion, axis=0)[2] for found in (heavy, light)]
    assert of_high[0] >= of_high[1]
