"""What is read without Lark is read as Lark reads it, places and all; what is wrong is left to Lark."""

import random

import pytest
from hypothesis import given

from tests.grammar.test_errors import WHOLE
from tests.grammar.test_text import grammars
from tests.soak.attacks import changed
from tests.support.effort import examples
from tests.support.grammar_catalogue import SCHEMA

from telltree.errors import GrammarError
from telltree.grammar import Grammar, parse_formula, parser
from telltree.grammar.parser import quick_formula, quick_grammar
from telltree.logic import Attribute, Expression, Level, Number, Type, operator_named
from telltree.panel import Column, Schema

LAID_OUT = """# Some of everything, on lines of its own.
Start ::= F(V) @2 "at some point {V}" | not G(  # a remark
            V and V)
  | x3 {<, >=} [1, -2,
                3.5e0]

V ::= each Boolean | advisory = ["CL1500", "CL2500"] | x4 - x3 > −1 | `kind` < random(0, 1)
"""
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
    """Reads a formula, or a grammar, by Lark alone; None if it is none."""

    def read(text, parse=parser.parse_expression):
        with monkeypatch.context() as without:
            without.setattr(parser, "quick_formula", lambda text: None)
            without.setattr(parser, "quick_grammar", lambda text: None)
            try:
                return parse(text)
            except GrammarError:
                return None

    return read


def test_what_is_written_is_read_as_lark_reads_it(by_lark):
    grammar = Grammar.parse(WHOLE, SCHEMA)
    for seed in range(300):
        text = str(grammar.draw(seed, max_depth=8).expression)
        found = quick_formula(text)
        assert found is not None, text
        assert found == by_lark(text), text  # places and all


@pytest.mark.parametrize(
    "bounds", ["[0, 4]", "[K, 4]", '["a", −2]', "[ 2 ]", " [1]", "[]", "[0, 4", "[0 s, 5 s]", "[1 s, 2]"]
)
@pytest.mark.parametrize("operand", ["(x > 1)", "(x, y)", "()", "", " ( F[1](x) | y )"])
def test_windows_are_read_as_lark_reads_them(bounds, operand, by_lark):
    found = quick_formula(f"F{bounds}{operand}")
    assert found == by_lark(f"F{bounds}{operand}") or (found is None and " s" in bounds)


def test_whatever_else_is_read_is_read_as_lark_reads_it(by_lark):
    grammar, rng, read = Grammar.parse(WHOLE, SCHEMA), random.Random(0), 0
    for seed in range(1500):
        text = changed(rng, str(grammar.draw(seed % 300).expression).encode()).decode(errors="replace")
        found = quick_formula(text)
        read += found is not None
        assert found == by_lark(text) or found is None, text
    assert read > 100


@examples(150)
@given(grammars())
def test_a_grammar_is_read_as_lark_reads_it(text):
    for written in (text, str(Grammar.parse(text, SCHEMA))):
        found = quick_grammar(written)
        assert found is not None
        assert found == parser._parse(written, "grammar")


@pytest.mark.parametrize("whole", [WHOLE, LAID_OUT])
def test_a_damaged_grammar_is_read_as_lark_reads_it_or_left_to_lark(whole, by_lark):
    assert quick_grammar(whole) == by_lark(whole, parser.parse_grammar) is not None
    rng, read = random.Random(0), 0
    for _ in range(400):
        text = changed(rng, whole.encode()).decode(errors="replace")
        found = quick_grammar(text)
        read += found is not None
        assert found == by_lark(text, parser.parse_grammar) or found is None, text
    assert read > 20


@pytest.mark.parametrize(
    "text",
    ["x < ¬b", "a < b < c", "a < b {<, >} c", "x {<, <} 5", "x {<} < 5", "F(a) b", "F(a", "(a", "x <", "", "x < 1e999",
     "5x < 3", "F(a,)", "each", "each kind", "`a", '"a', "x < grid", "x < grid(1, 2)", "x < [1, ]", "x < []", "x ::= y",
     "x < random(1)", "x < levels(1)", "not", "(a | b) @2", 'a "b"', "(a @0)", "(a @1 @1)", r'x = "\q"', "-x < 5",
     "(" * 200 + "a" + ")" * 200, "not " * 200 + "a", "a => " * 200 + "a", "a - " * 101 + "a", "\n"],
)  # fmt: skip
def test_what_is_wrong_or_very_deep_is_left_to_lark(text):
    assert quick_formula(text) is None


@pytest.mark.parametrize(
    "text",
    ["¬x < 5", "¬x - 1 < 5", "a ∧ b ∧ c", "a => b => c", "a and b", "x <= 5 # and no more", "x −1 < -−1", "x -1 < - 2",
     "(a | b @2)", 'F((a "so it is" | b))', '(a "alone")', "x < grid(3)", "x < [1, # one\n 2]", 'x = ["a", 2]', "a()",
     "x\n < [1, -\n\n2, − 3] and\n b", "each kind \"k\" {<, ≥} other", "x > thresholds or x < random(-1, 1)", "x",
     "x == 5", "x = 5 or not not a and b", "\u2003x < 5\u2003", "x < 5\n\n", "abs(x - y - z) < 0"],
)  # fmt: skip
def test_other_spellings_are_read_as_lark_reads_them(text, by_lark):
    found = quick_formula(text)
    assert found == by_lark(text)
    assert (found is None) == (text == "x −1 < -−1")


@pytest.mark.parametrize(
    "text", ["x < [" + " " * 200_000, "F(b)" + " " * 200_000, "a" + "\t" * 200_000 + "b", "1" * 200_000 + "x"]
)
def test_no_pattern_goes_back_over_a_long_text_again_and_again(text):
    with pytest.raises(GrammarError, match="line 1"):
        parser.parse_expression(text + "∧")


@pytest.mark.parametrize("name", NAMES)
def test_names_and_levels_of_all_kinds_are_read(name, by_lark):
    schema = Schema([Column(name, "real"), Column(f"{name}?", "categorical", levels=[name, "other"])])
    real, place = Attribute(name, Type.REAL_VECTOR), Attribute(f"{name}?", Type.CATEGORICAL_VECTOR)
    below = Expression(operator_named("<"), (Expression(real), Expression(Number(-0.5))))
    there = Expression(operator_named("="), (Expression(place), Expression(Level(name))))
    formula = Expression(operator_named("F"), (Expression(operator_named("and"), (below, there)),))
    assert quick_formula(str(formula)) == by_lark(str(formula)) is not None
    assert parse_formula(str(formula), schema) == formula
