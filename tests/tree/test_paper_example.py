"""The worked example of "Interpretable Categorization of Heterogeneous Time Series Data": grammar, tree and English."""

import numpy as np
import pytest

from tests.support.class_trees import class_leaf, class_tree

from telltree.engine import Formula
from telltree.explain import categorize, english, sentence
from telltree.grammar import Grammar
from telltree.panel import Column, Panel, Schema
from telltree.tree import Node

GRAMMAR = """
Start ::= B
B     ::= Ev | Gl
Ev    ::= F(VB)
Gl    ::= G(VB)
VB    ::= x1 | x2 | And | Lt
And   ::= VB and VB
Lt    ::= VR < C
VR    ::= x3 | x4
C     ::= 1 | 2 | 3 | 4 | 5
"""

# The same with the paper's natural language map written into the grammar.
SPEAKING_GRAMMAR = """
Start ::= B
B     ::= Ev | Gl
Ev    ::= F(VB) "at some point, {VB}"
Gl    ::= G(VB) "for all time, {VB}"
VB    ::= x1 "advisory is active" | x2 "pilot is responding" | And | Lt
And   ::= VB and VB "{VB} and {VB}"
Lt    ::= VR < C "{VR} is less than {C}"
VR    ::= x3 "vertical rate" | x4 "airspeed"
C     ::= 1 | 2 | 3 | 4 | 5
"""

SENTENCES = {
    "F(x1 ∧ x2)": "at some point, [advisory is active] and [pilot is responding]",
    "G(x3 < 5)": "for all time, [vertical rate] is less than 5",
    "F(x1 ∧ (x3 < 2))": "at some point, [advisory is active] and [[vertical rate] is less than 2]",
}
TYPES = {"x1": "Boolean", "x2": "Boolean", "x3": "real", "x4": "real"}
PHRASES = {
    "x1": "advisory is active",
    "x2": "pilot is responding",
    "x3": "vertical rate",
    "x4": "airspeed",
}
SCHEMA = Schema(Column(name, kind, phrase=PHRASES[name]) for name, kind in TYPES.items())
PLAIN = Schema(Column(name, kind) for name, kind in TYPES.items())


def panel(*records):
    arrays = [np.array(record, dtype=object) for record in records]
    return Panel.from_arrays(arrays, columns=list(TYPES), schema={name: {"type": kind} for name, kind in TYPES.items()})


RECORDS = panel(
    [[True, True, 1.0, 0.0], [False, False, 4.0, 0.0]],  # F(x1 ∧ x2), G(x3 < 5)
    [[True, True, 1.0, 0.0], [False, False, 9.0, 0.0]],  # F(x1 ∧ x2), ¬G(x3 < 5)
    [[True, False, 1.0, 0.0]],  # ¬F(x1 ∧ x2), F(x1 ∧ (x3 < 2))
    [[True, False, 3.0, 0.0], [False, True, 1.0, 0.0], [False, False, None, 0.0]],  # neither
)


@pytest.fixture(scope="module")
def tree():
    first, second, third = (Formula.parse(text, SCHEMA) for text in SENTENCES)

    def leaf(label):
        counts = tuple(int(label == known) for known in (1, 2))
        return class_leaf(counts, tuple(map(float, counts)))

    left = Node(second, leaf(1), leaf(2))
    right = Node(third, leaf(2), leaf(1))
    return class_tree(Node(first, left, right), classes=(1, 2), schema=SCHEMA)


def test_the_grammar_can_say_the_formulas():
    grammar = Grammar.parse(GRAMMAR, SCHEMA)
    for text in SENTENCES:
        formula = Formula.parse(text, SCHEMA)
        assert str(grammar.derive(text)) == str(formula) == text


@pytest.mark.parametrize("text", SENTENCES)
def test_english_from_the_schema(text):
    assert english(Formula.parse(text, SCHEMA), SCHEMA, style="paper") == SENTENCES[text]


@pytest.mark.parametrize("text", SENTENCES)
def test_english_from_the_grammar(text):
    derivation = Grammar.parse(SPEAKING_GRAMMAR, PLAIN).derive(text)
    assert english(derivation.expression, PLAIN, style="paper") == SENTENCES[text]


def test_a_record_lands_in_cluster_2_with_label_2(tree):
    assert tree.apply(RECORDS).tolist() == [1, 2, 3, 4]
    assert tree.predict(RECORDS)[1] == 2


def test_the_description_of_cluster_4(tree):
    last = categorize(tree, RECORDS)[3]
    assert last.number == 4
    assert last.description == "¬F(x1 ∧ x2) ∧ ¬F(x1 ∧ (x3 < 2))"
    assert str(last.formula) == last.description
    assert sentence(last.branches, SCHEMA, style="paper") == (
        "at no point, [advisory is active] and [pilot is responding]; and "
        "at no point, [advisory is active] and [[vertical rate] is less than 2]"
    )
    assert last.english == "advisory is never active while either pilot is responding or the vertical rate is below 2"
    assert last.members.tolist() == [3]


def test_negations_are_said_well_when_the_grammar_speaks_too():
    derivation = Grammar.parse(SPEAKING_GRAMMAR, PLAIN).derive("G(x3 < 5)")
    root = Node(Formula(derivation.expression), class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0)))
    sides = [branches for _, branches in class_tree(root, (1, 2), PLAIN).leaves]
    assert [sentence(branches, PLAIN, style="paper") for branches in sides] == [
        "for all time, [vertical rate] is less than 5",
        "not for all time, [vertical rate] is less than 5",
    ]
