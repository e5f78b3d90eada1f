"""What short sentences may speak of: all kinds of values of a tree's columns, and counts and pairs of what it asks."""

import pandas as pd

from tests.support.class_trees import class_leaf, class_tree

from telltree import Panel
from telltree.engine import Formula
from telltree.english.terms import Domains
from telltree.english.write_sentence import say
from telltree.explain.candidates import TrainingRecords, related_terms, simple_terms
from telltree.panel import Column, Schema
from telltree.tree import Node

SCHEMA = Schema(
    [
        Column("b", "Boolean"),
        Column("c", "categorical", levels=("u", "v", "w")),
        Column("x", "real"),
        Column("y", "real", static=True),
    ]
)
MISSING = frozenset({"b", "x"})


def said(terms):
    return [say(term, SCHEMA, missing=MISSING) for term in terms]


def tree_asking(text):
    root = Node(Formula.parse(text, SCHEMA), class_leaf((2, 0), (2.0, 0.0)), class_leaf((0, 3), (0.0, 3.0)))
    return class_tree(root, ("a", "z"), SCHEMA, MISSING)


OF_COLUMNS = """
at some point b is true
b is always true
at some point b is false
b is always false
at some point b is missing
b is always missing
at some point c is u
c is always u
at some point c is not u
c is never u
at some point c is v
c is always v
at some point c is not v
c is never v
at some point c is w
c is always w
at some point c is not w
c is never w
at some point x is missing
x is always missing
"""
ASKED = """
at some point either c is u, or x is above 1 while b is true
at some point x is above 1
at some point x is above 1 while b is true
at some point either x is above 1 or c is u
at some point either b is true or c is u
y is above 3
"""
COUNTED = ("x is above 1", "b is true", "c is u", "x is at most 1 or missing", "b is not true", "c is not u")
PAIRED = """
at some point x is above 1 while c is u
at some point x is above 1 while b is not true
at some point x is above 1 while c is not u
at some point b is true while c is u
at some point b is true while x is at most 1 or missing
at some point b is true while c is not u
at some point c is u while x is at most 1 or missing
at some point c is u while b is not true
at some point x is at most 1 or missing while b is not true
at some point x is at most 1 or missing while c is not u
at some point b is not true while c is not u
"""


def lines(text):
    return text.strip().splitlines()


def test_all_kinds_of_values_are_spoken_of():
    assert said(simple_terms(SCHEMA.values(), [], 5, Domains(MISSING, frozenset({"y"})))) == lines(OF_COLUMNS)


def test_what_a_tree_asks_is_taken_apart_counted_and_paired():
    """Counts go to as many steps as the longest record has; what lasts is not counted, and no atom goes with itself."""
    terms, signals = related_terms(tree_asking('F((x > 1 and b) or c = "u") and F(y > 3)'), 5)
    in_front, behind = "at {} or more steps in all, {}", "{1} at {0} or more steps"
    misread = {"or", "not"}  # "b is not true at 2 or more steps" may mean that it is true at fewer
    counted = [
        (behind if misread.isdisjoint(what.split()) else in_front).format(number, what)
        for what in COUNTED
        for number in (2, 5)
    ]
    assert sorted(said(terms)) == sorted({*lines(ASKED), *lines(OF_COLUMNS), *counted, *lines(PAIRED)})
    assert [str(signal) for signal in signals] == ["x", "y"]


def test_what_is_true_of_no_record_is_counted_for_every_leaf():
    values = {"b": [True, False, True], "c": ["u", "v", "w"], "x": [1.0, 2.0, 3.0], "y": [0.0, 0.0, 0.0]}
    panel = Panel.from_frame(pd.DataFrame({"id": [0, 1, 2], **values}), id="id", schema=SCHEMA)
    seen = TrainingRecords(tree_asking("F(x < 1.5)"), panel)
    for formula, counts in (("F(x > 9)", [0, 0]), ("F(x < 1.5)", [1, 0]), ("F(x > 1.5)", [0, 2]), ("F(b)", [1, 1])):
        truth, found = seen.true(Formula.parse(formula, SCHEMA).expression)
        assert (found.tolist(), int(truth.sum())) == (counts, sum(counts))
