"""Short descriptions: true of the training records of a leaf and of no others, and shorter than the way to it."""

from dataclasses import replace

import numpy as np
import pytest
from random_trees import leaf
from speech_truth import draw_subject

from telltree import Panel
from telltree.explain import categorize, rules_table
from telltree.logic import Formula
from telltree.tree import Node, Tree
from telltree.tree.headlines import with_headlines
from telltree.tree.shortening import short_formulas


def panel_of(*records):
    """Records of columns a, b and c, a row a step."""
    return Panel.from_arrays([np.array(record, dtype=float) for record in records], columns=["a", "b", "c"])


PANEL = panel_of([[2, 2, 2]], [[2, 0, 2]], [[0, 3, 0]], [[0, 0, 0]])


def asked(first, second, panel=PANEL):
    """A tree that asks a first question, and of those of which it is false a second."""
    first, second = (Formula.parse(text, panel.schema) for text in (first, second))
    below = Node(second, leaf((0, 1)), leaf((1, 0)), (1, 1))
    return Tree(Node(first, leaf((2, 0)), below, (3, 1)), ("calm", "storm"), panel.schema, frozenset())


def test_an_answer_that_follows_from_the_others_for_these_records_is_left_out():
    tree = asked("F(a > 1)", "F(b > 2.5)")
    yes, middle, rest = short_formulas(tree, PANEL)
    assert yes is None
    assert str(middle) == "F(b > 2.5)"  # no record with a above 1 has it
    assert rest is None


def test_parts_that_decide_nothing_are_left_out():
    tree = asked("F(a > 1 and c > 1)", "F(b > 1)")
    yes, *_ = short_formulas(tree, PANEL)
    assert str(yes) in ("F(a > 1)", "F(c > 1)")


def test_constants_have_few_digits():
    tree = asked("F(a > 1.23456 and c > 1.34567)", "F(b > 1)")
    yes, *_ = short_formulas(tree, PANEL)
    assert str(yes) in ("F(a > 1.2)", "F(c > 1.3)")


def test_words_of_a_grammar_are_left_alone():
    tree = asked("F(a > 1 and c > 1)", "F(b > 1)")
    spoken = Formula(replace(tree.root.formula.expression, english="it is odd"))
    assert short_formulas(replace(tree, root=replace(tree.root, formula=spoken)), PANEL) == [None, None, None]


def test_a_description_that_is_false_of_other_records_is_not_told_of_them():
    tree = with_headlines(asked("F(a > 1)", "F(b > 2.5)"), PANEL)
    here = categorize(tree, PANEL)[1]
    assert here.short == "at some point b is above 2.5"
    assert here.english == "a is always at most 1, and at some point b is above 2.5"
    other = panel_of([[2, 3, 0]], [[0, 3, 0]])  # the first is of category 1, and the description is true of it
    there = categorize(tree, other)[1]
    assert there.positions.tolist() == [1]
    assert there.short == there.english == here.english
    assert rules_table(tree)[1].short == here.short


def test_a_category_alone_says_of_which_records_its_description_is_exact():
    tree = with_headlines(asked("F(a > 1)", "F(b > 2.5)"), PANEL)
    told = replace(categorize(tree, PANEL)[1].told, headline=None)
    assert "    on these 4 records: at some point b is above 2.5\n" in told.alone()
    assert "exactly" not in told.alone()
    assert "    exactly: a is always at most 1, and at some point b is above 2.5\n" in told.alone(whole=True)


@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_random_trees_are_described_to_the_record(seed):
    subject = draw_subject(seed)
    tree, panel = subject.tree, subject.case.panel[[i for i, weight in enumerate(subject.weights) if weight]]
    clusters = tree.apply(panel)
    for number, (short, (_, branches)) in enumerate(zip(short_formulas(tree, panel), tree.leaves, strict=True), 1):
        if short is not None:
            assert short(panel).tolist() == (clusters == number).tolist()
            whole = [
                f.expression if true else Formula.parse(f"not ({f})", tree.schema).expression for f, true in branches
            ]
            assert len(tree.says(short.expression).split()) <= 0.8 * len(tree.says(*whole).split())
