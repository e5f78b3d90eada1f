"""Scorecards: the figures are scikit-learn's, the intervals hold what they promise, and the tables can be read."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, f1_score, roc_auc_score

from telltree.errors import DataError, SettingsError
from telltree.estimators import Scorecard, scorecard
from telltree.estimators.scorecard import FIGURES, side_by_side
from telltree.proportions import wilson


def drawn(classes, records, seed, leaves=12):
    """Records whose classes are drawn by the probabilities of some leaves."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(classes), leaves)[rng.integers(leaves, size=records)]
    return np.array([rng.choice(classes, p=row) for row in chances]), chances


def calibration_error(y, chances, weights):
    """Slowly: how far, in each tenth, the probability of the predicted class is from the share that was right."""
    total = 0.0
    for band in range(10):
        inside = [i for i, row in enumerate(chances) if min(int(max(row) * 10), 9) == band]
        said = sum(weights[i] * max(chances[i]) for i in inside)
        true = sum(weights[i] * (np.argmax(chances[i]) == y[i]) for i in inside)
        total += abs(said - true)
    return total / sum(weights)


@pytest.mark.parametrize("classes", [2, 3, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_figures_are_those_of_scikit_learn(classes, weighted):
    y, chances = drawn(classes, 250, classes)
    weight = np.random.default_rng(1).integers(1, 5, 250) if weighted else None
    card = Scorecard.of(y, chances, range(classes), weight)
    told, more = chances.argmax(axis=1), {"sample_weight": weight}
    assert card.weighted is weighted
    assert card.records == 250
    assert card.accuracy.value == pytest.approx(accuracy_score(y, told, **more))
    assert card.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, told, **more))
    assert card.macro_f1.value == pytest.approx(f1_score(y, told, average="macro", **more))
    ranked = chances[:, 1] if classes == 2 else chances
    assert card.auc.value == pytest.approx(roc_auc_score(y, ranked, multi_class="ovr", **more))
    brier = brier_score_loss(y, chances, labels=range(classes), scale_by_half=True, **more)
    assert card.brier.value == pytest.approx(brier)
    own = np.ones(250) if weight is None else weight
    assert card.calibration_error.value == pytest.approx(calibration_error(y, chances, own))
    assert np.sum(card.confusion) == 250
    assert card.confusion[1][0] == np.sum((y == 1) & (told == 0))


@pytest.mark.parametrize("at_once", [1, 1_000, 1 << 14])
def test_samples_that_are_measured_at_once_have_the_figures_of_each(at_once, monkeypatch):
    monkeypatch.setattr(scorecard, "AT_ONCE", at_once)
    y, chances = drawn(3, 40, seed=4)
    kinds = scorecard.Kinds.of(y, chances, 1.0 + y % 2)
    generator = np.random.default_rng(7)
    for found in kinds.resampled(20, 7):
        sample = np.repeat(np.arange(len(kinds.records)), generator.multinomial(40, kinds.records / 40))
        alone = scorecard.Kinds.of(kinds.truth[sample], kinds.probabilities[sample], kinds.weight[sample])
        np.testing.assert_allclose(found, alone.measures, rtol=1e-12)


def test_intervals_are_wilsons_for_shares_and_else_of_a_bootstrap():
    y, chances = drawn(3, 200, 0)
    card = Scorecard.of(y, chances, range(3))
    assert (card.accuracy.low, card.accuracy.high) == wilson(card.accuracy.value, 200)
    assert card.accuracy.interval == "Wilson"
    for name in FIGURES:
        score = card.score(name)
        assert 0 <= score.low <= score.value <= score.high <= 1
        assert score.interval == ("Wilson" if name == "accuracy" else "bootstrap")
        assert score.high - score.low < 0.25
    assert Scorecard.of(y, chances, range(3)) == card
    assert Scorecard.of(y, chances, range(3), np.full(200, 2.5)).accuracy == card.accuracy
    assert Scorecard.of(y, chances, range(3), 1 + y % 2).accuracy.interval == "bootstrap"


def test_nearly_all_intervals_hold_the_truth():
    y, chances = drawn(2, 20_000, 0)
    names = ("balanced_accuracy", "macro_f1", "auc", "brier")
    truth, rng = Scorecard.of(y, chances, range(2)), np.random.default_rng(1)
    held = dict.fromkeys(names, 0)
    for _ in range(20):
        some = rng.integers(20_000, size=150)
        card = Scorecard.of(y[some], chances[some], range(2))
        for name in names:
            held[name] += card.score(name).low <= truth.score(name).value <= card.score(name).high
    assert min(held.values()) >= 17


def test_more_records_make_narrower_intervals():
    for name in FIGURES:
        few, many = (Scorecard.of(*drawn(3, n, 4), range(3)).score(name) for n in (60, 4_000))
        assert many.high - many.low < few.high - few.low


def test_a_perfect_score_is_not_certain():
    y = np.array([0] * 30 + [1] * 6)
    card = Scorecard.of(y, np.eye(2)[y], range(2))
    for name in ("accuracy", "balanced_accuracy", "macro_f1", "auc"):
        score = card.score(name)
        assert (score.value, score.high, score.interval) == (1, 1, "Wilson")
        assert score.low < 0.95
    assert card.auc.low == wilson(1, 6)[0]
    assert card.brier.value == card.brier.low == 0 < card.brier.high


def test_always_the_commonest_class():
    card = Scorecard.of(["a"] * 9 + ["b"], np.tile([0.9, 0.1], (10, 1)), ["a", "b"])
    assert card.accuracy.value == 0.9
    assert (card.balanced_accuracy.value, card.auc.value, card.auc.low, card.auc.high) == (0.5, 0.5, 0.5, 0.5)
    assert card.calibration_error.value == pytest.approx(0)


def test_a_class_that_does_not_occur_leaves_no_auc():
    card = Scorecard.of(["a", "b", "a"], [[0.5, 0.3, 0.2]] * 3, ["a", "b", "c"])
    assert card.auc is None
    assert card.balanced_accuracy.value == 0.5
    assert "AUC                –" in str(card)
    assert card.as_dict()["auc"] is None
    assert Scorecard.of(["a"], [[1.0]], ["a"]).auc is None


def test_a_label_that_nobody_foresaw_is_a_mistake():
    card = Scorecard.of(["a", "b", "new"], np.eye(2)[[0, 1, 0]], np.array(["a", "b"]))
    assert card.classes == ("a", "b", "new")
    assert card.confusion == ((1, 0, 0), (0, 1, 0), (1, 0, 0))
    assert card.accuracy.value == pytest.approx(2 / 3)


def test_a_record_of_no_weight_counts_for_nothing():
    y, chances = drawn(2, 100, 5)
    odd, wrong = np.append(y, 0), np.vstack([chances, [0.0, 1.0]])
    weighted = Scorecard.of(odd, wrong, range(2), np.append(np.ones(100), 0))
    assert weighted.accuracy.value == Scorecard.of(y, chances, range(2)).accuracy.value


@pytest.mark.parametrize(
    ("y", "chances", "weight", "error", "says"),
    [
        ([], np.empty((0, 2)), None, DataError, "no records"),
        ([0, 1], [[1, 0]], None, DataError, "2 × 2"),
        ([0], [[1, 0, 0]], None, DataError, "1 × 2"),
        ([0], [[0.7, 0.7]], None, DataError, "add up to 1"),
        ([0], [[1.5, -0.5]], None, DataError, "at least 0"),
        ([0], [[float("nan"), 1]], None, DataError, "at least 0"),
        ([0], [["a", "b"]], None, DataError, "must be numbers"),
        ([0], [[1, 0]], [1, 2], SettingsError, "sample_weight"),
        ([0], [[1, 0]], [-1], SettingsError, "sample_weight"),
        ([0], [[1, 0]], [0], SettingsError, "sample_weight"),
        ([0], [[1, 0]], ["x"], SettingsError, "sample_weight"),
    ],
)
def test_what_makes_no_sense_is_refused(y, chances, weight, error, says):
    with pytest.raises(error, match=says):
        Scorecard.of(y, chances, [0, 1], weight)


def test_a_table_for_colleagues_and_json_for_machines():
    labels = ["F", "and\nmore", "<b>" + "é" * 60]
    y, chances = drawn(3, 100, 2)
    card = Scorecard.of([labels[code] for code in y], chances, labels)
    lines = str(card).splitlines()
    assert lines[0] == "100 records"
    for figure in FIGURES.values():
        row = next(line for line in lines if line.startswith(figure.name + " "))
        assert row.endswith(figure.meaning)
    assert any(line.startswith("and more ") for line in lines)
    assert max(map(len, lines)) <= 120
    told = json.loads(json.dumps(card.as_dict()))
    assert told["classes"] == labels
    assert told["accuracy"] == {
        "value": card.accuracy.value, "low": card.accuracy.low, "high": card.accuracy.high, "interval": "Wilson"
    }  # fmt: skip
    assert told["confusion"] == [list(row) for row in card.confusion]


def test_many_classes_show_their_commonest_mistakes():
    y, chances = drawn(12, 300, 3)
    told = Scorecard.of(y, chances, range(12)).mistakes().splitlines()
    assert told[0] == "commonest mistakes:"
    assert len(told) == 11
    wrong = Scorecard.of(y, chances, range(12)).confusion
    most = max(wrong[i][j] for i in range(12) for j in range(12) if i != j)
    assert told[1].split()[-1] == str(most)
    assert Scorecard.of(y, np.eye(12)[y], range(12)).mistakes() == "no mistakes"


def test_models_stand_side_by_side():
    y, chances = drawn(2, 80, 6)
    cards = {"one": Scorecard.of(y, chances, range(2)), "the other": Scorecard.of(y, chances[::-1], range(2))}
    lines = side_by_side(cards).splitlines()
    assert lines[0].split() == ["one", "the", "other"]
    assert len(lines) == 1 + len(FIGURES)
    assert cards["the other"].text_of("auc") in side_by_side(cards)
