"""The parts of an experiment: splits, metrics, and what baselines get."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.mixed_records import MIXED
from tests.support.strategies import panel_of

from telltree.errors import DataError
from telltree.experiments.models import Flattening
from telltree.experiments.trial import TrialSummary, score, split

# -- splits


def test_splits_are_stratified_and_disjoint():
    y = np.array(["a"] * 70 + ["b"] * 20 + ["c"] * 10)
    train, test = split(y, 0, 0)
    assert sorted([*train, *test]) == list(range(100))
    assert [int((y[test] == name).sum()) for name in "abc"] == [21, 6, 3]


def test_each_trial_has_a_split_of_its_own_that_the_seed_decides():
    y = np.array([0, 1] * 20)
    found = {(seed, trial): tuple(split(y, seed, trial)[1]) for seed in (0, 1) for trial in range(5)}
    assert len(set(found.values())) == 10
    assert all(tuple(split(y, *place)[1]) == records for place, records in found.items())


@pytest.mark.parametrize("y", [["a"] * 9, ["a"] * 9 + ["b"]])
def test_classes_that_cannot_be_split(y):
    with pytest.raises(DataError, match="at least two classes of at least two records"):
        split(np.array(y), 0, 0)


# -- metrics


def test_scores_by_hand():
    truth, predicted = np.array(list("aaaabbbcc")), np.array(list("aaabbbacb"))
    # a: 3 of 4 predicted right, 3 of 4 found; b: 2 of 4, 2 of 3; c: 1 of 1, 1 of 2
    found = score(truth, predicted, ["a", "b", "c"])
    assert found.accuracy == pytest.approx(6 / 9)
    assert found.precision == pytest.approx((3 / 4 + 2 / 4 + 1) / 3)
    assert found.recall == pytest.approx((3 / 4 + 2 / 3 + 1 / 2) / 3)
    assert found.f1 == pytest.approx((3 / 4 + 4 / 7 + 2 / 3) / 3)


def test_a_class_never_predicted_counts_as_nothing():
    found = score(np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]), [0, 1])
    assert found == pytest.approx((3 / 4, (6 / 7) / 2, (3 / 4) / 2, 1 / 2))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1))
def test_scores_by_counting(pairs):
    truth, predicted = (np.array(side) for side in zip(*pairs, strict=True))
    precisions, recalls, f1s = [], [], []
    for name in "abc":
        both = sum(t == p == name for t, p in pairs)
        said, there = sum(p == name for _, p in pairs), sum(t == name for t, _ in pairs)
        precisions.append(both / said if said else 0)
        recalls.append(both / there if there else 0)
        f1s.append(2 * both / (said + there) if said + there else 0)
    found = score(truth, predicted, "abc")
    expected = sum(t == p for t, p in pairs) / len(pairs), *(sum(v) / 3 for v in (f1s, precisions, recalls))
    assert found == pytest.approx(expected)


def test_summaries_by_the_textbook():
    values = [0.9, 0.95, 1.0, 0.8]
    mean, error = TrialSummary.of(values)
    assert mean == pytest.approx(statistics.mean(values))
    assert error == pytest.approx(statistics.stdev(values) / 2)
    assert TrialSummary.of([0.7]) == (0.7, None)


# -- what baselines get


def flattened(records, train, levels):
    """The paper's preparation, written out: z-score, ±1, one column a category, zeros behind, slices in a row."""
    steps = max(len(record["speed"]) for record in records)
    scale = {}
    for name in ("speed", "height"):
        seen = [x for i in train for x in records[i][name] if x is not None]
        scale[name] = statistics.fmean(seen), statistics.pstdev(seen)
    rows = []
    for record in records:
        row = []
        for t in range(steps):
            there = t < len(record["speed"])
            for name in ("speed", "height"):
                value = record[name][t] if there else None
                row.append(0.0 if value is None else (value - scale[name][0]) / scale[name][1])
            flag = record["on"][t] if there else None
            row.append({None: 0.0, True: 1.0, False: -1.0}[flag])
            row += [float(there and record["mode"][t] == level) for level in levels]
        rows.append(row)
    return np.array(rows)


def test_flattening_is_what_the_paper_says(panel, plain):
    train = list(range(0, 60, 2))
    flatten = Flattening.learn(panel[train], int(panel.lengths.max()))
    expected = flattened(plain, train, panel.schema["mode"].levels)
    assert np.allclose(flatten(panel), expected, atol=1e-12)
    assert np.array_equal(flatten(panel, np.float32), flatten(panel).astype(np.float32))
    assert np.array_equal(flatten(panel[train]), flatten(panel)[train])


def test_flattening_odd_columns():
    records = [{"speed": [1.0, math.inf], "height": [3.0, 3.0], "on": [None, True], "mode": ["up", None]}] * 2
    panel = panel_of(MIXED, records)
    flat = Flattening.learn(panel, 3)(panel)
    width = 3 + len(panel.schema["mode"].levels)
    assert flat.shape == (2, 3 * width)
    assert flat[0, :4].tolist() == [0, 0, 0, 1]  # one finite speed is the mean; height is constant; `on` is missing
    assert not flat[0, width : width + 2].any()  # infinite; constant
    assert not flat[0, 2 * width :].any()
