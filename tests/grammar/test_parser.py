"""The text parser: the same text in other spellings, and what is said of texts that it cannot read."""

import random

import pytest

from tests.grammar.test_errors import WHOLE
from tests.soak.attacks import changed
from tests.support.grammar_catalogue import SCHEMA

from telltree import Formula
from telltree.errors import GrammarError
from telltree.grammar import Grammar, parse_formula
from telltree.grammar.parser import parse_expression, parse_grammar
from telltree.grammar.syntax_tree import Apply, Constant, Definition, Name
from telltree.logic import Attribute, Expression, Level, Number, Type, operator_named
from telltree.panel import Column, Schema

PLAIN = Schema([Column(name, "Boolean") for name in "abc"] + [Column(name, "real") for name in "xyz"])
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


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("F(¬x < 5)", "F(not (x < 5))"),
        ("F(¬x - 1 < 5)", "F(not ((x - 1) < 5))"),
        ("F(a ∧ b ∧ c)", "F((a and b) and c)"),
        ("F(a or b and not c)", "F(a or (b and (not c)))"),
        ("F(a => b ⇒ c)", "F(a implies (b implies c))"),
        ("F(a or b implies c and a)", "F((a or b) implies (c and a))"),
        ("F(not not a and b)", "F((not (not a)) and b)"),
        ("F(x - y - z < 0)", "F(((x - y) - z) < 0)"),
        ("F(x −1 < -1)", "F(x - 1 < −1)"),
        ("F(x -1 == - 2)", "F(x - 1 = -2)"),
        ("F(x < .5e1)", "F(x < 5)"),
        ("F(x <= 5 # and no more\n)", "F(x <= 5)"),
        ("F( \u2003a)\n\n", "F(a)"),
        ("\ufeffF(a)", "F(a)"),
        ("F(a)and(F(b))", "F(a) and F(b)"),
        ("(((F((a)))))", "F(a)"),
        ("F[0,4](a)", "F[ 0, 4 ](a)"),
        ("F [0, # from\n 4] (a)", "F[0, 4](a)"),
        ("(" * 15_000 + "F(a)" + ")" * 15_000, "F(a)"),
    ],
)
def test_other_spellings(text, plain):
    assert Formula.parse(text, PLAIN) == Formula.parse(plain, PLAIN)


def test_each_part_has_its_place():
    assert parse_expression("\n x\n - `y` - 5 s") == Apply(
        operator_named("-"),
        (
            Apply(operator_named("-"), (Name("x", False, (2, 2)), Name("y", True, (3, 4))), (3, 2)),
            Constant(5.0, (3, 10), "s", (3, 12)),
        ),
        (3, 8),
    )
    first, second = parse_grammar('A ::= F[1,\n 2](x) @2 "so"\n\tB ::= x')
    assert (first.place, second.place) == ((1, 1), (3, 2))
    assert [constant.place for constant in first.alternatives[0].body.args[1:]] == [(1, 8)] * 2
    assert first.alternatives[0].english.place == (2, 11)
    assert second == Definition("B", parse_grammar("A ::=\n\n       x")[0].alternatives, (3, 2))


AFTER_A_NOTE = "')', ',', '@', ']', '|', a rule (name ::= ...), a text in quotes or the end was expected"
IS_OPEN = " begins an absolute value, such as |x - y|; or an alternative is missing before it"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x < 5 5", "line 1, column 7: found '5' where an expression was expected"),
        (
            "x < 5 grid",
            "line 1, column 7: found 'grid' where an expression was expected; "
            "an attribute called grid is written `grid`",
        ),
        ("x < 1e999 &", "line 1, column 11: found '&', which means nothing here; write and, or ∧"),
        ("x < 1e999 5", "line 1, column 11: found '5' where an expression was expected"),
        ("x < [1, 2\n, 1e999]", "line 2, column 3: 1e999 is too large for a number"),
        ("x < [1, # a remark\n 2 3]", "line 2, column 4: found '3' where an expression was expected"),
        ("x < [-1 and", "line 1, column 9: found 'and' where ',' or ']' was expected"),
        ("x < [1, ]", "line 1, column 9: found ']' where '-', a number or a text in quotes was expected"),
        ("x < [1 and y]", "line 1, column 8: found 'and' where ',' or ']' was expected"),
        (
            "x < grid(1 2)",
            "line 1, column 12: found '2' where " + AFTER_A_NOTE,
        ),
        ("x < grid(1, 2)", "line 1, column 14: found ')' where ',' was expected"),
        ("x < grid(-1 2)", "line 1, column 13: found '2' where an operator or the end was expected"),
        ('x < grid(1 "a")', "line 1, column 12: found '\"a\"' where ')' or ',' was expected"),
        ("x < random(1)", "line 1, column 13: found ')' where ',' was expected"),
        ("x < random y", "line 1, column 12: found 'y' where an operator or the end was expected"),
        ("x < quantiles", "line 1, column 14: the text ends where '(' was expected"),
        ("x < thresholds(1)", "line 1, column 15: found '(' where an operator or the end was expected"),
        ("x {<, <} 5", "line 1, column 7: < stands twice in one set of operators"),
        ("x {<, <} ) 5", "line 1, column 10: found ')' where an expression was expected"),
        ("x {<} < 5", "line 1, column 7: found '<' where an expression was expected"),
        ("x < y {<} z", "line 1, column 7: found '{' where an operator or the end was expected"),
        (
            "x < y = z",
            "line 1, column 7: found '=' where an operator or the end was expected; "
            "comparisons do not chain, join two of them with and",
        ),
        ("x < not y", "line 1, column 5: found 'not' where an expression was expected"),
        ("x y", "line 1, column 3: found 'y' where an operator or the end was expected"),
        ("x -> y", "line 1, column 4: found '>' where an expression was expected"),
        ("x | y", "line 1, column 3: found '|' where the end was expected"),
        ("x @2", "line 1, column 3: found '@' where the end was expected"),
        (
            '(x @2 "a" y)',
            "line 1, column 11: found 'y' where " + AFTER_A_NOTE,
        ),
        ("(x @-2 y)", "line 1, column 8: found 'y' where an operator or the end was expected"),
        (
            "(x @2 and y)",
            "line 1, column 7: found 'and' where " + AFTER_A_NOTE,
        ),
        ("(x @y)", "line 1, column 5: found 'y' where '-' or a number was expected"),
        ("F(x, y", "line 1, column 7: the text ends where ')', ',' or ']' was expected"),
        ("F(x y)", "line 1, column 5: found 'y' where an operator or the end was expected"),
        ("F(x, y ]", "line 1, column 8: found ']' where ')' or ',' was expected"),
        ("F[x, y)", "line 1, column 7: found ')' where ',' or ']' was expected"),
        ("F[1, 2] x", "line 1, column 9: found 'x' where '(' was expected"),
        ("F[1, 2", "line 1, column 7: the text ends where ')', ',' or ']' was expected"),
        ("F[]", "line 1, column 3: found ']' where an expression was expected"),
        ("each kind x", "line 1, column 11: found 'x' where a text in quotes was expected"),
        ('x = "\\q" y', "line 1, column 10: found 'y' where an operator or the end was expected"),
        (
            'x = "\\q"',
            'line 1, column 5: "\\q" is not escaped as JSON is (invalid \\escape); write a backslash as \\\\',
        ),
        (
            "|x < 5",
            "line 1, column 4: found '<' where '|' was expected: the one at line 1, column 1" + IS_OPEN,
        ),
        (
            "|each| < 5",
            "line 1, column 6: found '|' where '|' was expected: the one at line 1, column 1" + IS_OPEN,
        ),
        (
            "|grid < 5|",
            "line 1, column 7: found '<' where '|' was expected: the one at line 1, column 1" + IS_OPEN,
        ),
        (
            "|-x| < 5",
            "line 1, column 3: found 'x' where '|' was expected: the one at line 1, column 1" + IS_OPEN,
        ),
        (
            "|x y|",
            "line 1, column 4: found 'y' where '|' was expected: the one at line 1, column 1" + IS_OPEN,
        ),
        ("F(x kind)", "line 1, column 5: found 'kind' where an operator or the end was expected"),
        ("x implies", "line 1, column 10: the text ends where an expression was expected"),
        ("x < B ::= y", "line 1, column 5: found a new rule (B ::= ...) where an expression was expected"),
        ("5 s s", "line 1, column 5: found 's' where an operator or the end was expected"),
        ("x == > y", "line 1, column 6: found '>' where an expression was expected"),
        ("x\n\n  <\n # a remark", "line 4, column 12: the text ends where an expression was expected"),
        ("A ::= x B := y", "line 1, column 11: found ':=' after B; rules are written B ::= ..."),
        ("A ::= x ]", "line 1, column 9: found ']' where an operator, or the next alternative or rule, was expected"),
        (
            "A ::= (x @0)) y",
            "line 1, column 11: a weight must be greater than 0, found 0; leave the alternative out instead",
        ),
        (
            "A ::= x {<} |y ",
            "line 1, column 15: the text ends where '|' was expected: the one at line 1, column 13" + IS_OPEN,
        ),
        (
            'A ::= x "a" < 3',
            "line 1, column 13: found '<' where " + AFTER_A_NOTE,
        ),
        ("A ::= ::= x", "line 1, column 7: found '::=' where an expression was expected"),
    ],
)
def test_messages(text, message):
    with pytest.raises(GrammarError) as error:
        (parse_grammar if text.startswith("A ") else parse_expression)(text)
    assert str(error.value) == message


@pytest.mark.parametrize("opening", ["(", "F(", "F[", "F[1](", "not ", "a => ", "|", "(a | "])
def test_no_depth_of_what_is_not_closed_exhausts_the_stack(opening):
    with pytest.raises(GrammarError, match=r"the text ends where an expression was expected"):
        parse_expression(opening * 5_000)


def test_a_damaged_grammar_has_the_same_meaning_in_its_own_words():
    rng, read = random.Random(0), 0
    for _ in range(400):
        text = changed(rng, WHOLE.encode()).decode(errors="replace")
        try:
            grammar = Grammar.parse(text, SCHEMA)
        except GrammarError:
            continue
        read += 1
        assert Grammar.parse(str(grammar), grammar.schema) == grammar
    assert read > 5


@pytest.mark.parametrize(
    "text", ["x < [" + " " * 200_000, "F(b)" + " " * 200_000, "a" + "\t" * 200_000 + "b", "1" * 200_000 + "x"]
)
def test_no_pattern_goes_back_over_a_long_text_again_and_again(text):
    with pytest.raises(GrammarError, match="line 1"):
        parse_expression(text + "∧")


@pytest.mark.parametrize("name", NAMES)
def test_names_and_levels_of_all_kinds_are_read(name):
    schema = Schema([Column(name, "real"), Column(f"{name}?", "categorical", levels=[name, "other"])])
    real, place = Attribute(name, Type.REAL_VECTOR), Attribute(f"{name}?", Type.CATEGORICAL_VECTOR)
    below = Expression(operator_named("<"), (Expression(real), Expression(Number(-0.5))))
    there = Expression(operator_named("="), (Expression(place), Expression(Level(name))))
    formula = Expression(operator_named("F"), (Expression(operator_named("and"), (below, there)),))
    assert parse_formula(str(formula), schema) == formula
