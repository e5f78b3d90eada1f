"""Exact thresholds: no place of a constant is better than the one that is chosen, which is found by trying them all."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scale.test_shards import GRAMMAR, drawn_panel, in_shards
from tests.support.effort import examples

from telltree import Formula, Grammar, GrammarTreeClassifier, Panel, load
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.errors import SettingsError
from telltree.search import MonteCarlo
from telltree.tree import MDL, GiniSize, Greedy, LookAhead, TreeSettings, grow
from telltree.tree.backend import LocalBackend
from telltree.tree.class_target import ONE, ClassLabels, ClassTarget
from telltree.tree.induction import TreeRun
from telltree.tree.thresholds import Splits, best_thresholds

# A formula with one constant, and what it says of a record's x, its truth value b, and the constant.
SAYINGS = {
    "F(x > {c})": lambda x, b, c: (x > c).any(),
    "F(x <= {c})": lambda x, b, c: (x <= c).any(),
    "G(x < {c})": lambda x, b, c: (x < c).all(),
    "not G(x >= {c})": lambda x, b, c: not (x >= c).all(),
    "F({c} < x and b)": lambda x, b, c: ((c < x) & b).any(),
    "G(b implies x < {c})": lambda x, b, c: (~b | (x < c)).all(),
    "G(x < {c} implies b)": lambda x, b, c: (~(x < c) | b).all(),
    "F(x > {c}) or F(b)": lambda x, b, c: (x > c).any() or b.any(),
    "F(abs(x) < {c})": lambda x, b, c: (abs(x) < c).any(),
}

values = st.integers(-6, 6).map(lambda n: n / 2)
steps = st.lists(st.tuples(values, st.booleans()), min_size=1, max_size=3)
records_of = st.lists(st.tuples(steps, st.integers(0, 2)), min_size=4, max_size=14)


def impurity(truth, codes, size):
    """The paper's fitness, written out: weighted Gini of the sides, and the price of the size."""
    sides = [codes[truth], codes[~truth]]
    ginis = [1 - sum(np.mean(side == k) ** 2 for k in range(3)) for side in sides]
    return 100 * sum(len(side) * gini for side, gini in zip(sides, ginis, strict=True)) / len(codes) + 0.1 * size


def told(records):
    """The panel of drawn records, and their classes."""
    panel = Panel.from_arrays(
        [np.array(rows, object) for rows, _ in records],
        columns=["x", "b"],
        schema={"x": {"type": "real"}, "b": {"type": "Boolean"}},
    )
    codes = np.array([code for _, code in records])
    return panel, codes


def moved(text, panel, codes, fitness, *, least=1, columns=("x",)):
    formula = Formula.parse(text, panel.schema).expression
    labels = ClassLabels(codes, ClassTarget((0, 1, 2)))
    return Formula(best_thresholds(formula, FormulaEvaluator(panel), columns, Splits(labels, fitness, 4, least)))


def answers(saying, records, constant):
    found = []
    for rows, _ in records:
        x, b = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows], bool)
        found.append(bool(SAYINGS[saying](x, b, constant)))
    return np.array(found)


def gaps(saying, records):
    """Every split that some constant makes with records that turn on both sides of it, and between which constants."""
    marks = sorted({abs(row[0]) if "abs" in saying else row[0] for rows, _ in records for row in rows})
    middles = [(low + high) / 2 for low, high in pairwise(marks)]
    splits = [answers(saying, records, middle) for middle in [marks[0] - 1, *middles, marks[-1] + 1]]
    found, start = [], None
    for k in range(len(marks)):  # below and above the mark k
        if not np.array_equal(splits[k], splits[k + 1]):
            if start is not None:
                found.append((splits[k], marks[start], marks[k]))
            start = k
    return found


@pytest.mark.parametrize("saying", SAYINGS)
@given(records=records_of, start=values, least=st.integers(1, 3))
@examples(40)
def test_no_other_threshold_is_better_and_of_equals_none_has_a_wider_gap(saying, records, start, least):
    panel, codes = told(records)
    text = saying.format(c=start)
    after = moved(text, panel, codes, GiniSize(tolerance=0), least=least)
    usable = [
        (impurity(truth, codes, 4), low, high)
        for truth, low, high in gaps(saying, records)
        if least <= truth.sum() <= len(codes) - least
    ]
    best, before = min(usable or [(np.inf, 0, 0)])[0], answers(saying, records, start)
    stays = least <= before.sum() <= len(codes) - least and impurity(before, codes, 4) < best - 1e-9
    if stays or not usable:  # or it decides nothing, and better so
        assert str(after) == str(Formula.parse(text, panel.schema))
        return
    widest = max(high - low for fitness, low, high in usable if fitness <= best + 1e-9)
    constant = next(float(str(e)) for e in after.expression.walk() if not e.args and str(e) not in ("x", "b"))
    truth = answers(saying, records, constant)
    assert np.array_equal(after(panel), truth)
    assert impurity(truth, codes, 4) == pytest.approx(best)
    chosen = [high - low for _, low, high in usable if low < constant < high]
    assert chosen == [pytest.approx(widest)]


@given(records=records_of, first=values, second=values, tolerance=st.sampled_from([0, 5.0]))
@examples(40)
def test_of_several_constants_none_is_better_elsewhere(records, first, second, tolerance):
    panel, codes = told(records)
    text = f"F(x > {first} and b) or G(x < {second})"
    fitness = GiniSize(tolerance=tolerance)
    before = Formula.parse(text, panel.schema)
    after = moved(text, panel, codes, fitness)
    marks = sorted({row[0] for rows, _ in records for row in rows})

    def worth(formula):
        truth = formula(panel)
        return impurity(truth, codes, 4) if truth.any() and not truth.all() else np.inf

    assert worth(after) <= worth(before) + tolerance + 1e-9
    if tolerance == 0 and str(after) != str(before):
        one, two = (float(str(e)) for e in after.expression.walk() if not e.args and str(e) not in ("x", "b"))
        for one_free in (True, False):
            formulas = [
                Formula.parse(f"F(x > {c if one_free else one} and b) or G(x < {two if one_free else c})", panel.schema)
                for c in [marks[0] - 1, *((low + high) / 2 for low, high in pairwise(marks)), marks[-1] + 1]
            ]
            ends = formulas[0](panel), formulas[-1](panel)
            for other in formulas:  # beyond all records that it tells apart, a constant would decide nothing
                if not any(np.array_equal(other(panel), end) for end in ends):
                    assert worth(other) >= worth(after) - 1e-9


def peaks(of):
    return Panel.from_arrays([np.array([[0.0], [peak], [0.0]]) for peak in of], columns=["x"])


def test_of_gaps_that_tie_within_the_tolerance_the_widest_is_taken():
    panel, codes = peaks([1, 2, 3, 9, 10, 11]), np.array([0, 0, 0, 0, 1, 1])
    assert str(moved("F(x > 2.5)", panel, codes, GiniSize(tolerance=0))) == "F(x > 9.5)"
    assert str(moved("F(x > 2.5)", panel, codes, GiniSize(tolerance=50))) == "F(x > 6)"
    assert str(moved("F(x > 2.5)", panel, codes, GiniSize(tolerance=0), least=3)) == "F(x > 6)"


def test_constants_of_other_columns_and_of_counts_stay():
    panel, codes = peaks([1, 2, 3, 9, 10, 11]), np.array([0, 0, 0, 0, 1, 1])
    for text in ("F(x > 2.5)", "count(x > 2.5) > 0", "F(x > 2.5) and not G(x > 2.5)"):
        columns = () if text == "F(x > 2.5)" else ("x",)
        same = Formula.parse(text, panel.schema)
        assert str(moved(text, panel, codes, GiniSize(tolerance=0), columns=columns)) == str(same)


def made_up(seed=0, records=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(records, 4, 2))
    y = np.where(X[:, :, 0].max(axis=1) > 0.83, "high", np.where(X[:, :, 1].min(axis=1) > -0.41, "mid", "low"))
    return Panel.from_arrays(X, columns=["x", "y"], layout="records, steps, columns"), y


@pytest.mark.parametrize("fitness", [MDL(), GiniSize(tolerance=0)])
def test_a_tree_with_exact_thresholds_is_as_fit_at_its_root_and_is_kept(fitness, tmp_path):
    panel, y = made_up()
    given_ones = {"search": MonteCarlo(200), "criterion": fitness, "max_depth": 2, "random_state": 0}
    centred = GrammarTreeClassifier(**given_ones).fit(panel, y)
    exact = GrammarTreeClassifier(growth=Greedy(thresholds="best"), **given_ones).fit(panel, y)
    assert exact.tree_.root.fitness <= centred.tree_.root.fitness + fitness.tolerance
    assert str(exact.tree_) != str(centred.tree_)
    exact.save(tmp_path / "exact.json")
    assert load(tmp_path / "exact.json").growth == Greedy(thresholds="best")
    assert load(tmp_path / "exact.json").predict(panel).tolist() == exact.predict(panel).tolist()


def test_what_cannot_be_is_refused():
    panel, y = made_up(records=20)
    for settings_, message in (
        ({"growth__thresholds": "exact"}, 'thresholds must be "grid", "midpoint", "best" or None, got \'exact\''),
        ({"growth__thresholds": "best", "growth__simplify": False}, "simplify=False keeps formulas as they are"),
        ({"growth__thresholds": "best", "missing": "unknown"}, "needs answers that turn once"),
        ({"growth": LookAhead(), "growth__thresholds": "best"}, "fits one question at a time"),
    ):
        with pytest.raises(SettingsError, match=message):
            GrammarTreeClassifier().set_params(**settings_).fit(panel, y)


def test_constants_that_a_user_gave_stay():
    panel, y = made_up()
    grammar = Grammar.parse("A ::= F(x > [0.5, 1]) | G(y > [-1, 0])", panel)
    trees = [
        str(
            GrammarTreeClassifier(grammar, MonteCarlo(50), growth=Greedy(thresholds=how), random_state=0)
            .fit(panel, y)
            .tree_
        )
        for how in (None, "grid", "midpoint", "best")
    ]
    assert trees[0] == trees[1]
    assert trees[0] not in trees[2:]  # unless it is asked that they move


def test_the_tree_of_records_in_shards_is_the_same():
    panel = drawn_panel(3, 150, 0.1)
    rng = np.random.default_rng(3)
    labels = ClassLabels(rng.integers(0, 3, 150), ClassTarget((0, 1, 2)), rng.integers(1, 4, 150) * ONE)
    grammar, search = Grammar.parse(GRAMMAR, panel), MonteCarlo(evaluations=60)
    exact, alone, centred = (
        grow(
            panel,
            labels,
            grammar,
            TreeSettings(search, GiniSize(), Greedy(thresholds=how), max_depth=3, movable=frozenset("x"), seed=7),
            TreeRun(backend),
        ).tree
        for backend, how in (
            (LocalBackend, "best"),
            (in_shards([0, 40, 41, 150]), "best"),
            (LocalBackend, "midpoint"),
        )
    )
    assert exact == alone
    assert exact != centred
