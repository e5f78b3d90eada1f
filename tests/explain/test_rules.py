"""The rule table."""

import random
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.support.class_trees import class_leaf, class_tree

from telltree.engine import Formula
from telltree.explain import as_records, categorize, rules_table, rules_text
from telltree.panel import Column, Panel, Schema
from telltree.proportions import wilson
from telltree.tree import Node

SCHEMA = Schema([Column("x", "real", phrase="height"), Column("a b", "Boolean")])


@pytest.fixture
def tree():
    low = Node(Formula.parse("F(x < 2)", SCHEMA), class_leaf((3, 1), (3.0, 1.0)), class_leaf((0, 4), (0.0, 4.0)))
    root = Node(Formula.parse("F(x < 4) and G(`a b`)", SCHEMA), low, class_leaf((2, 1), (2.0, 3.0)))
    return class_tree(root, classes=("calm", "storm"), schema=SCHEMA)


def test_one_row_for_each_leaf(tree):
    first, second, third = rules_table(tree)
    assert [row.cluster for row in (first, second, third)] == [1, 2, 3]
    assert first.formula == "(F(x < 4) ∧ G(`a b`)) ∧ F(x < 2)"
    assert (first.label, first.share, first.support) == ("calm", 0.75, 4)
    assert first.counts == {"calm": 3, "storm": 1}
    assert second.counts == {"storm": 4}
    assert second.english == (
        "at some point height is below 4; a b is always true; and height is never below 2"  # or is missing
    )
    assert (third.label, third.share, third.support) == ("storm", 1 / 3, 3)
    assert (third.weighted, third.decided_by_weights) == (0.6, True)
    assert (first.weighted, first.decided_by_weights) == (0.75, False)


def test_lift_is_the_share_beside_that_in_all(tree):
    first, second, third = rules_table(tree)  # 5 calm and 6 storm in all
    assert first.lift == pytest.approx(0.75 / (5 / 11))
    assert second.lift == pytest.approx(1 / (6 / 11))
    assert third.lift == pytest.approx((1 / 3) / (6 / 11))


def test_figures_in_words(tree):
    assert [row.figures for row in rules_table(tree)] == [
        "75 % of 4 records (30 to 95 %), 1.6 times the share in all; by weight 75 %",
        "100 % of 4 records (51 to 100 %), 1.8 times the share in all; by weight 100 %",
        "33 % of 3 records (6 to 79 %), 0.61 times the share in all; storm by weight: 60 %",
    ]
    (only,) = rules_table(class_tree(class_leaf((1, 0), (1.0, 0.0)), ("calm", "storm"), SCHEMA))
    assert only.figures == "100 % of 1 record (21 to 100 %), the share in all"


@pytest.mark.parametrize("factor", [0.1, 1.0, 3.0])
def test_weights_that_are_all_the_same_are_no_weights(factor):
    leaves = [class_leaf(counts, tuple(factor * n for n in counts)) for counts in ((3, 1), (0, 7))]
    tree = class_tree(Node(Formula.parse("F(x < 2)", SCHEMA), *leaves), ("calm", "storm"), SCHEMA)
    assert not tree.weighted
    assert [(row.weighted, row.decided_by_weights) for row in rules_table(tree)] == [(None, False)] * 2


def test_intervals_hold_their_share(tree):
    for row in rules_table(tree):
        assert 0.0 <= row.low <= row.share <= row.high <= 1.0


@pytest.mark.parametrize(
    ("true", "records", "low", "high"),
    [(3, 4, 0.3006, 0.9544), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (50, 100, 0.4038, 0.5962)],
)
def test_wilson(true, records, low, high):
    assert wilson(true / records, records) == pytest.approx((low, high), abs=5e-5)


def test_a_leaf_nobody_came_to_promises_nothing():
    (row,) = rules_table(class_tree(class_leaf((0, 0), (0.0, 0.0)), ("calm", "storm"), SCHEMA))
    assert (row.share, row.lift, row.weighted, row.figures) == (None, None, None, "no records")
    assert (row.low, row.high, row.support, row.counts) == (0.0, 1.0, 0, {})
    assert (row.formula, row.english) == ("true", "every record")


def test_frames_are_made_of_records(tree):
    records = as_records(rules_table(tree))
    assert list(records[0]) == [
        "cluster", "formula", "english", "short", "headline", "label", "title", "occurs", "share", "low", "high",
        "support", "counts", "purity", "lift", "weighted", "decided_by_weights",
    ]  # fmt: skip
    assert pd.DataFrame(records)["label"].tolist() == ["calm", "storm", "storm"]
    assert pl.DataFrame(records)["support"].to_list() == [4, 4, 3]


def test_text(tree):
    assert rules_text(rules_table(tree)).splitlines() == [
        "cluster  label  share  95 % interval   support  lift  weighted share   formula",
        "1        calm   0.750  0.301 to 0.954  4        1.65  0.750            (F(x < 4) ∧ G(`a b`)) ∧ F(x < 2)",
        "2        storm  1.000  0.510 to 1.000  4        1.83  1.000            (F(x < 4) ∧ G(`a b`)) ∧ ¬F(x < 2)",
        "3        storm  0.333  0.061 to 0.792  3        0.61  0.600 (decides)  ¬(F(x < 4) ∧ G(`a b`))",
    ]


def test_text_without_weights_has_no_column_for_them():
    tree = class_tree(class_leaf((3, 1), (3.0, 1.0)), ("calm", "storm"), SCHEMA)
    assert rules_text(rules_table(tree)).splitlines() == [
        "cluster  label  share  95 % interval   support  lift  formula",
        "1        calm   0.750  0.301 to 0.954  4        1.00  true",
    ]


def test_missing_values_are_spoken_of_as_the_caller_says():
    root = Node(Formula.parse("G(not x < 2)", SCHEMA), class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0)))
    tree = class_tree(root, ("calm", "storm"), SCHEMA)
    assert rules_table(tree)[0].english == "height is never below 2"
    assert rules_table(tree, missing=())[0].english == "height is always at least 2"


def calls_of(work):
    """How many Python functions are called while it is done: a measure of work that no clock is needed for."""
    number = 0

    def count(frame, event, argument):
        nonlocal number
        number += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return number


def grown(depth):
    """A tree of random questions about three columns, each asked on both sides of the one before."""
    rng = random.Random(0)
    panel = Panel.from_arrays([np.array([[i % 4, i % 5, i % 7]], float) for i in range(70)], columns=list("xyz"))

    def bound(sign):
        return f"{rng.choice('xyz')} {sign} {3 * rng.random():.3f}"

    def node(left):
        if not left:
            return class_leaf((1, 1), (1.0, 1.0))
        text = f"F({bound('>')})" if rng.random() < 0.5 else f"F({bound('>')} and {bound('<')})"
        true, false = node(left - 1), node(left - 1)
        return Node(Formula.parse(text, panel.schema), true, false)

    return class_tree(node(depth), ("a", "b"), panel.schema), panel


def test_rules_and_categories_take_work_in_proportion_to_the_leaves():
    (small, _), (large, panel) = grown(4), grown(6)
    assert calls_of(lambda: rules_table(large)) < 1.7 * 4 * calls_of(lambda: rules_table(small))
    categorize(small, panel)  # what is worked out once for a panel
    assert calls_of(lambda: categorize(large, panel)) < 1.7 * 4 * calls_of(lambda: categorize(small, panel))
