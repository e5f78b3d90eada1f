"""Formulas as telltree writes them are read without Lark, and no otherwise than by it."""

import random

import pytest
from attacks import changed
from grammar_catalogue import SCHEMA
from test_grammar_errors import WHOLE

from telltree.data import Column, Schema
from telltree.errors import GrammarError
from telltree.grammar import Grammar, parse_formula
from telltree.grammar.text import syntax
from telltree.grammar.text.canonical import parse_canonical
from telltree.operators import Attribute, Expression, Level, Number, Type, operator_named

NAMES = [
    "x",
    "F",
    "and",
    "each",
    "a b",
    'say "hi"',
    "back`tick",
    "back\\slash",
    "line\nend",
    "tab\t",
    "ä\u00a0",
    "\x7f",
]


@pytest.fixture
def by_lark(monkeypatch):
    """Reads a formula by Lark alone; None if it is none."""

    def read(text):
        with monkeypatch.context() as without:
            without.setattr(syntax, "parse_canonical", lambda text: None)
            try:
                return syntax.parse_expression(text)
            except GrammarError:
                return None

    return read


def test_what_is_written_is_read_as_lark_reads_it(by_lark):
    grammar = Grammar.parse(WHOLE, SCHEMA)
    for seed in range(300):
        text = str(grammar.draw(seed, max_depth=8).expression)
        found = parse_canonical(text)
        assert found is not None, text
        assert found == by_lark(text), text  # places and all


def test_whatever_else_is_read_is_read_as_lark_reads_it(by_lark):
    grammar, rng, read = Grammar.parse(WHOLE, SCHEMA), random.Random(0), 0
    for seed in range(1500):
        text = changed(rng, str(grammar.draw(seed % 300).expression).encode()).decode(errors="replace")
        found = parse_canonical(text)
        if found is not None:
            read += 1
            assert found == by_lark(text), text
    assert read > 30


@pytest.mark.parametrize(
    "text",
    ["¬x < 5", "x < ¬b", "¬x - 1 < 5", "a ∧ b ∧ c", "F(a) b", "F(a", "(a", "x <", "", "x < 1e999", "5x < 3", "a and b",
     "x <= 5", "(a | b)", "F(a,)", "each", "`a", '"a', "x < grid(3)", "(" * 200 + "a" + ")" * 200, "\n", "x # y"],
)  # fmt: skip
def test_what_is_written_otherwise_is_left_to_lark(text):
    assert parse_canonical(text) is None


@pytest.mark.parametrize("name", NAMES)
def test_names_and_levels_of_all_kinds_are_read(name, by_lark):
    schema = Schema([Column(name, "real"), Column(f"{name}?", "categorical", levels=[name, "other"])])
    real, place = Attribute(name, Type.REAL_VECTOR), Attribute(f"{name}?", Type.CATEGORICAL_VECTOR)
    below = Expression(operator_named("<"), (Expression(real), Expression(Number(-0.5))))
    there = Expression(operator_named("="), (Expression(place), Expression(Level(name))))
    formula = Expression(operator_named("F"), (Expression(operator_named("and"), (below, there)),))
    assert parse_canonical(str(formula)) == by_lark(str(formula)) is not None
    assert parse_formula(str(formula), schema) == formula
