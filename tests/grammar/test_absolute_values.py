"""Absolute values written |x|, beside the bars between alternatives."""

import pytest

from telltree import Formula, Grammar
from telltree.errors import GrammarError
from telltree.panel import Column, Schema

SCHEMA = Schema([Column("x", "real"), Column("y", "real"), Column("b", "Boolean")])


@pytest.mark.parametrize(
    ("bars", "written"),
    [
        ("F(|x| < 5)", "F(abs(x) < 5)"),
        ("F(|x - y| < |x|)", "F(abs(x - y) < abs(x))"),
        ("F(||x| - |y|| > 2)", "F(abs(abs(x) - abs(y)) > 2)"),
        ("F(|x|-|y|<2)", "F(abs(x) - abs(y) < 2)"),
        ("|count(b) - 3| > 2", "abs(count(b) - 3) > 2"),
        ("G(b and |x|>=1 implies |y - x| - 1 < 3)", "G(b and abs(x) >= 1 implies abs(y - x) - 1 < 3)"),
        ("F(not |`x`| = 1)", "F(not abs(x) = 1)"),
        ("F(|\n x # |\n | < 1)", "F(abs(x) < 1)"),
    ],
)
def test_formulas(bars, written):
    assert Formula.parse(bars, SCHEMA) == Formula.parse(written, SCHEMA)


@pytest.mark.parametrize(
    ("bars", "written"),
    [
        ("V ::= |x| < 5 | |y| < 3|b", "V ::= abs(x) < 5 | abs(y) < 3 | b"),
        ("V ::= |x - y| {<, >} [1, 2]|b and b", "V ::= abs(x - y) {<, >} [1, 2] | b and b"),
        ("V ::= b|b and |x|<(1|2)", "V ::= b | b and abs(x) < (1 | 2)"),
        ("V ::= |(x|y)| < 3", "V ::= abs(x | y) < 3"),
        ("V ::= |each real| < |x|||y|<2", "V ::= abs(each real) < abs(x) | abs(y) < 2"),
        ("V ::= |R| > 1\nR ::= x|x - y", "V ::= abs(R) > 1\nR ::= x | x - y"),
    ],
)
def test_grammars(bars, written):
    bars, written = (f"Start ::= F(V)\n{text}" for text in (bars, written))
    assert Grammar.parse(bars, SCHEMA) == Grammar.parse(written, SCHEMA)


OPEN = "'|' was expected: the one at line 1, column {} begins an absolute value, such as |x - y|; or an alternative is"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Start ::= F(|x < 5)", "line 1, column 16: found '<' where " + OPEN.format(13)),
        ("Start ::= F(|x < 5|)", "line 1, column 16: found '<' where " + OPEN.format(13)),
        ("Start ::= F(|x) | G(b)", "line 1, column 15: found ')' where " + OPEN.format(13)),
        ("Start ::= F(||x| < 5)", "line 1, column 18: found '<' where " + OPEN.format(13)),
        ("Start ::= F(b) || G(b)", "line 1, column 23: the text ends where " + OPEN.format(17)),
        ("Start ::= F(b) | | V\nV ::= G(b)", "line 2, column 1: found a new rule (V ::= ...) where " + OPEN.format(18)),
        ('Start ::= F("|" = |x)', "line 1, column 21: found ')' where " + OPEN.format(19)),
        ("Start ::= F(b) |", "line 1, column 17: the text ends where an expression was expected"),
        ("Start ::= F(|| < 5)", "line 1, column 16: found '<' where an expression was expected"),
        ("Start ::= F(x| < 5)", "line 1, column 16: found '<' where an expression was expected"),
        (
            "Start ::= F(|x | y| < 5)",
            "line 1, column 18: found 'y' where an operator, or the next alternative or rule,",
        ),
        ("Start ::= F(x {<} |y", "line 1, column 21: the text ends where " + OPEN.format(19)),
        ("Start ::= F(|b|)", "abs takes a real vector or count; found a Boolean vector"),
    ],
)
def test_what_is_wrong_is_said(text, says):
    with pytest.raises(GrammarError) as error:
        Grammar.parse(text, SCHEMA)
    assert says in str(error.value)
