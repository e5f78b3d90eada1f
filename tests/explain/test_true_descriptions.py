"""Nothing that is told of a tree is false: every count, share and sentence against records judged one by one."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import few_fast
from tests.support.speech_truth import checked, draw_subject, true_of

from telltree import Panel
from telltree.engine import Formula
from telltree.explain import categorize, english
from telltree.explain.headlines import with_headlines
from telltree.tree import Node

TREES = 200
"""As many as a test run can wait for; benchmarks/plain_speech.py takes 2,000."""


@pytest.mark.parametrize("tens", few_fast(range(TREES // 10), 2))
def test_nothing_that_is_told_of_random_trees_is_refuted(tens):
    for seed in range(10 * tens, 10 * tens + 10):
        verdict = checked(draw_subject(seed))
        assert not verdict.refuted, f"tree {seed}: {verdict.refuted[0]}"
        assert verdict.checked > 0


def panel_of(*records):
    """Records of columns a and b, a row a step."""
    return Panel.from_arrays([np.array(record, dtype=float) for record in records], columns=["a", "b"])


def plain_records(panel):
    """The records of a panel as the oracle reads them."""
    steps = [{name: panel.record(i)[name].tolist() for name in panel.schema} for i in range(len(panel))]
    return [
        {name: [None if oracle.is_nan(v) else v for v in values] for name, values in record.items()} for record in steps
    ]


def asked(text, panel, missing=frozenset()):
    """A tree that asks one question, with headlines."""
    formula = Formula.parse(text, panel.schema)
    truth = formula(panel)
    sides = [class_leaf((int(n), 0) if side else (0, int(n)), (float(n), 0.0) if side else (0.0, float(n)))
             for side, n in ((True, truth.sum()), (False, (~truth).sum()))]  # fmt: skip
    tree = class_tree(Node(formula, *sides), ("yes", "no"), panel.schema, missing)
    return with_headlines(tree, panel)


def sentences_hold(tree, panel):
    """The sentences of the yes and of the no side, each true of its own records and of no others."""
    yes, no = categorize(tree, panel)
    for category in (yes, no):
        read = Formula.from_english(category.english, panel.schema).expression
        members = [true_of(read, record) for record in plain_records(panel)]
        assert np.flatnonzero(members).tolist() == category.positions.tolist(), category.english
    return yes.english, no.english


B_BEFORE_A, A_BEFORE_B, NEITHER = [[0, 1], [1, 0]], [[1, 0], [0, 1]], [[0, 0], [0, 0]]


def test_f_in_f_looks_from_then_on():
    """“At some point a and at some point b” is true of b before a; the formula is not."""
    panel = panel_of(B_BEFORE_A, A_BEFORE_B, NEITHER)
    tree = asked("F(a > 0.5 and F(b > 0.5))", panel)
    assert tree.apply(panel).tolist() == [2, 1, 2]
    yes, _ = sentences_hold(tree, panel)
    assert "then" in yes
    apart = Formula.from_english("at some point a is above 0.5; and at some point b is above 0.5", panel.schema)
    assert apart(panel).tolist() == [True, True, False]


def test_g_in_f_looks_from_then_on():
    """“For all time b” is false of a record in which b holds only from a on."""
    panel = panel_of([[0, 0], [1, 1], [0, 1]], [[1, 1], [0, 0]], [[0, 1], [0, 1]])
    tree = asked("F(a > 0.5 and G(b > 0.5))", panel)
    assert tree.apply(panel).tolist() == [1, 2, 2]
    yes, _ = sentences_hold(tree, panel)
    assert "from then on" in yes


@pytest.mark.parametrize("text", ["G(a > 0.5 implies F(b > 0.5))", "G(a > 0.5 implies G(b > 0.5))", "F(G(a > 0.5))"])
def test_nested_sentences_are_true_of_both_sides(text):
    panel = panel_of(B_BEFORE_A, A_BEFORE_B, NEITHER, [[1, 1], [1, 1]], [[0, 1], [1, 1]], [[1, 0], [1, 0]])
    sentences_hold(asked(text, panel), panel)


def test_a_difference_says_what_is_taken_from_what():
    """“Difference between a and b” would be said of both."""
    panel = panel_of([[0, 2]], [[2, 0]], [[1, 1]])
    said = []
    for text, wanted in (("F(a - b < -0.5)", [1, 2, 2]), ("F(b - a < -0.5)", [2, 1, 2])):
        tree = asked(text, panel)
        assert tree.apply(panel).tolist() == wanted
        said += sentences_hold(tree, panel)
        found = english(Formula.parse(text, panel.schema), panel.schema)
        assert Formula.from_english(found, panel.schema)(panel).tolist() == [number == 1 for number in wanted]
    assert len(set(said)) == 4


@pytest.mark.parametrize(("text", "side"), [("G(a < 5)", 2), ("not G(a < 5)", 1), ("F(not a < 5)", 1)])
def test_a_gap_that_decides_a_branch_is_told(text, side):
    """The record with a gap never reaches 5, so that “not always below 5” alone would mislead."""
    panel = panel_of([[1, 0], [np.nan, 0]], [[1, 0], [2, 0]], [[1, 0], [9, 0]])
    tree = asked(text, panel, frozenset({"a"}))
    assert tree.apply(panel).tolist() == [side, 3 - side, side]
    assert "missing" in sentences_hold(tree, panel)[side - 1]


def test_a_headline_that_gaps_make_false_is_none():
    tree = asked("F(a >= 5)", panel_of([[1, 0]], [[9, 0]]))
    panel = panel_of([[np.nan, 0]], [[9, 0]])
    low = categorize(tree, panel)[1]
    assert low.positions.tolist() == [0]
    assert low.headline is None


def heights(*values):
    """Records of one step, of a and b."""
    return panel_of(*([[a, b]] for a, b in values))


def test_a_headline_that_is_true_of_most_members_says_of_how_many():
    """What the grammar says in its own words has no parts, so that another sentence must do."""
    panel = heights(*((i, 0) for i in range(20)), *((i, 1) for i in range(20, 60)))
    spoken = panel.schema
    formula = Formula.parse("F(a < 19 or a > 100)", spoken)
    own = Formula(replace(formula.expression, english="it is odd"))
    sides = class_leaf((19, 0), (19.0, 0.0)), class_leaf((0, 41), (0.0, 41.0))
    tree = with_headlines(class_tree(Node(own, *sides), ("yes", "no"), spoken, frozenset()), panel)
    yes, no = categorize(tree, panel)
    for category in (yes, no):
        said, _, reach = category.headline.partition(" (")
        truth = Formula.from_english(said, spoken)(panel)
        members = np.isin(np.arange(len(panel)), category.positions)
        assert truth[members].mean() >= 0.8
        assert truth[~members].mean() <= 0.25
        assert reach.startswith("all of its members") == truth[members].all()


def test_a_headline_may_join_what_is_said_of_two_columns():
    panel = heights(*((a, b) for a in (0, 1) for b in (0, 1) for _ in range(3)))
    first, second = (Formula.parse(f"F({name} > 0.5)", panel.schema) for name in "ab")
    both, one, none = (class_leaf(counts, tuple(map(float, counts))) for counts in ((3, 0), (0, 3), (0, 6)))
    root = Node(first, Node(second, both, one), none)
    tree = with_headlines(class_tree(root, ("yes", "no"), panel.schema, frozenset()), panel)
    said, _, reach = categorize(tree, panel)[0].headline.partition(" (")
    assert np.flatnonzero(Formula.from_english(said, panel.schema)(panel)).tolist() == [9, 10, 11]
    assert reach.startswith("all of its members")


def test_no_two_categories_have_headlines_of_the_same_records():
    for seed in range(1, 60, 2):
        tree, panel = (subject := draw_subject(seed)).tree, subject.case.panel
        shown = [leaf.headline for leaf, _ in tree.leaves if leaf.headline is not None]
        rows = [i for i, weight in enumerate(subject.weights) if weight]
        answers = [headline.formula(panel[rows]).tobytes() for headline in shown]
        assert len(set(answers)) == len(answers)


def test_of_headlines_that_are_true_of_the_same_records_the_shorter_one_is_told():
    """The flag is up twice or never: "at fewer than 2 steps in all, flag is true" is as true as that it never is."""
    never, twice = [False] * 4, [True, True, False, False]
    kinds = [(1.0, (9.0, 9.0, 1.0), never)] * 20 + [(9.0, (1.0, 1.0, 9.0), never)] * 20
    kinds += [(1.0, (1.0, 9.0, 1.0), twice)] * 24
    arrays = [
        np.array([*zip([first, *[later[i % 3]] * 3], flag, strict=True)], dtype=object)
        for i, (first, later, flag) in enumerate(kinds)
    ]
    panel = Panel.from_arrays(arrays, columns=["speed of the left wheel", "flag"])
    asks = [Formula.parse(f, panel.schema) for f in ("F(flag)", "F(`speed of the left wheel` >= 5 and gone() < 0.1)")]
    sides = [class_leaf(tuple(counts), tuple(map(float, counts))) for counts in np.diag([24, 20, 20]).tolist()]
    root = Node(asks[0], sides[0], Node(asks[1], *sides[1:]))
    tree = with_headlines(class_tree(root, ("up", "fast", "slow"), panel.schema, frozenset()), panel)
    told = [category.headline for category in categorize(tree, panel)]
    assert "flag is always false (all of its members, 45 % of the others)" in told


def test_headlines_have_few_words():
    for seed in range(40):
        tree = draw_subject(seed).tree
        assert all(len(tree.sentence(leaf.headline.formula.expression).split()) <= 15
                   for leaf, _ in tree.leaves if leaf.headline is not None)  # fmt: skip
