"""MDL: what labels and formulas cost, against codes written out one record at a time."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import records

from telltree import Formula, Grammar, GrammarTreeClassifier
from telltree.errors import SettingsError
from telltree.search import MonteCarlo
from telltree.tree import MDL, GiniSize, Greedy
from telltree.tree.class_target import ClassLabels, ClassTarget

GRAMMAR = "S ::= F(A) | F(A and A) | F(A and A and A)\nA ::= x {<, >} [1, 2, 3] | y"


def told_one_by_one(labels, classes):
    """The bits of labels, each predicted from those before it; each class starts with 1/classes."""
    chance, seen = Fraction(1), [Fraction(1, classes)] * classes
    for label in labels:
        chance *= seen[label] / sum(seen)
        seen[label] += 1
    return math.log2(chance.denominator) - math.log2(chance.numerator)


def panel():
    return records(*({"x": [float(i % 5), 1.0], "y": [i % 2 == 0, False]} for i in range(20)))


def prepared(codes, classes, weights=None, price=0.5):
    labels = ClassLabels(
        np.array(codes), ClassTarget(tuple(range(classes))), None if weights is None else np.array(weights)
    )
    return MDL(price).prepared(Grammar.parse(GRAMMAR, panel()), labels)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.data())
def test_a_split_costs_the_labels_of_both_sides_and_its_formula(codes, data):
    truth = np.array(data.draw(st.lists(st.booleans(), min_size=len(codes), max_size=len(codes))))
    size = data.draw(st.integers(4, 9))
    criterion = prepared(codes, 4)
    codes = np.array(codes)
    counts = [np.bincount(codes[side], minlength=4) for side in (truth, np.ones(len(codes), bool))]
    found = criterion(counts[0][None, :], counts[1], np.array([size]))[0]
    sides = told_one_by_one(codes[truth], 4) + told_one_by_one(codes[~truth], 4)
    formulas = sum(1 for _ in Grammar.parse(GRAMMAR, panel()).enumerate(size))
    price = MDL().price_for(len(codes))
    assert found == pytest.approx(sides + price * math.log2(formulas))
    assert criterion.unsplit(counts[1]) == pytest.approx(told_one_by_one(codes, 4))


def test_the_order_of_records_does_not_matter():
    assert told_one_by_one([0, 0, 1, 2], 3) == pytest.approx(told_one_by_one([2, 0, 1, 0], 3))


@pytest.mark.parametrize("scale", [1, 7, 1 << 20])
def test_weights_add_up_to_the_number_of_records(scale):
    codes = [0, 1, 1, 0, 1]
    weighted, plain = prepared(codes, 2, [scale] * 5), prepared(codes, 2)
    counts, size = np.array([[2, 0]]), np.array([4])
    alike = weighted(counts * scale, np.array([2, 3]) * scale, size)
    np.testing.assert_allclose(alike, plain(counts, np.array([2, 3]), size))


def test_formulas_are_named_among_those_no_longer():
    grammar = Grammar.parse(GRAMMAR, panel())
    bits = grammar.bits(12)
    for size in range(13):
        number = grammar.count(size)
        assert bits[size] == pytest.approx(math.log2(number) if number else 0.0)


def test_the_price_grows_with_the_records_up_to_the_full_one():
    prices = [MDL(2.0).price_for(n) for n in (1, 16, 100, 256, 400, 100_000)]
    assert prices == [0.2, 0.4, 1.0, 1.6, 2.0, 2.0]


def test_a_split_that_saves_nothing_is_not_made():
    y = [0, 1, 1, 0] * 5  # every question that the grammar can ask halves both classes, or nearly
    clf = GrammarTreeClassifier(GRAMMAR, MonteCarlo(evaluations=2_000), random_state=0)
    with pytest.warns(UserWarning, match="worth its length: the tree is a single leaf"):
        assert len(clf.fit(panel(), y).tree_.leaves) == 1
    told = clf.set_params(criterion=GiniSize()).fit(panel(), y)
    assert len(told.tree_.leaves) > 1


def test_of_splits_that_are_as_good_the_shortest_formula_is_asked():
    truth = np.array(Formula.parse("F(x > 2)", panel().schema)(panel()))
    clf = GrammarTreeClassifier(
        GRAMMAR, MonteCarlo(evaluations=2_000), random_state=0, growth=Greedy(thresholds="grid")
    )
    (node,) = clf.fit(panel(), truth).tree_.nodes
    assert node.formula.terminals == 4
    assert node.gain == pytest.approx(told_one_by_one(truth.astype(int), 2) - node.fitness)
    pure = sum(told_one_by_one([k] * int(np.sum(truth == k)), 2) for k in (0, 1))
    assert node.fitness == pytest.approx(pure + MDL().price_for(20) * node.naming)


@pytest.mark.parametrize("value", [-1, math.inf, math.nan, "much", None])
@pytest.mark.parametrize("name", ["price", "tolerance"])
def test_senseless_settings_are_refused(name, value):
    with pytest.raises(SettingsError, match=f"{name} must be a finite number of at least 0"):
        MDL(**{name: value})


def test_it_must_be_prepared_before_it_is_asked():
    with pytest.raises(SettingsError, match="prepared"):
        MDL()(np.array([[1, 0]]), np.array([1, 1]), np.array([4]))
