"""What a wrong grammar is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.grammar_catalogue import CATALOGUE, SCHEMA

from telltree.errors import GrammarError, SettingsError
from telltree.grammar import Grammar, parse_formula
from telltree.logic import UserFunction


def complaint(text):
    """The GrammarError about this text, or None; any other error passes through."""
    try:
        Grammar.parse(text, SCHEMA)
    except GrammarError as error:
        return error
    return None


@pytest.mark.parametrize(("text", "line", "column", "message"), CATALOGUE)
def test_each_mistake_is_told_with_its_place(text, line, column, message):
    with pytest.raises(GrammarError) as caught:
        Grammar.parse(text, SCHEMA)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "the text ends where an expression was expected"),
        ("x1", 1, "wrap it in F"),
        ("F(x1 | x2)", 3, "a formula says one thing"),
        ("F(each real < 1)", 3, "a formula says one thing"),
        ("F(x3 < random(0, 1))", 8, "a formula says one thing"),
        ("F(x3 {<, >} 1)", 7, "a formula says one thing"),
        ("F(x1) F(x2)", 7, "found 'F'"),
        ("A ::= F(x1)", 1, "found a new rule"),
        ('F(advisory = "no")', 14, "no category"),
        ("F(x9)", 3, "there is no attribute called x9"),
    ],
)
def test_formulas_get_the_same_messages(text, column, message):
    with pytest.raises(GrammarError, match=r"(?s).*") as caught:
        parse_formula(text, SCHEMA)
    assert message in str(caught.value)
    assert caught.value.column == column


def test_a_function_is_suggested_only_if_it_is_much_alike():
    assert str(complaint("A ::= F(log(x3) < 1)")).endswith("log is no function")
    assert str(complaint("A ::= F(fabs(x3) < 1)")).endswith("did you mean abs?")


def test_text_is_text_of_a_reasonable_length():
    with pytest.raises(GrammarError, match="written as text"):
        Grammar.parse(b"A ::= F(x1)", SCHEMA)
    with pytest.raises(GrammarError, match="characters"):
        Grammar.parse("A ::= F(x1)" + " " * 5_000_000, SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "A ::= F(" + "(" * 50_000 + "x1" + ")" * 50_000 + ")",
        "A ::= F(" * 20_000,
        "A ::= F(" + " and ".join(["x1"] * 5_000) + ")",
        "A ::= " + "F(" * 5_000 + "x1" + ")" * 5_000,
        "A ::= " + "F(x1 | " * 80 + "x2" + ")" * 80,
        "A ::= F(" + "(x1 | " * 80 + "x2 {<, >} 1" + ")" * 80 + ")",
        "A ::= F(" + "abs((x3 | " * 40 + "x4" + ")) " * 40 + " < 1)",
        "A0 ::= F(A1)\n" + "\n".join(f"A{i} ::= not A{i + 1}" for i in range(1, 3_000)) + "\nA3000 ::= A1",
        "A0 ::= A1\n" + "\n".join(f"A{i} ::= A{i + 1} | F(x1 and x2)" for i in range(1, 3_000)) + "\nA3000 ::= A0",
        "A0 ::= A1 'x'\n".replace("'", '"')
        + "\n".join(f'A{i} ::= A{i + 1} "a {{0}}"' for i in range(1, 200))
        + "\nA200 ::= F(x1)",
    ],
)
def test_no_depth_of_text_exhausts_the_stack(text):
    error = complaint(text)
    assert error is None or error.line is not None or "are read" in str(error)  # what is refused by its size has none


def test_chains_of_symbols_may_be_long():
    chain = "\n".join(f"A{i} ::= A{i + 1}" for i in range(3_000)) + "\nA3000 ::= F(x1)"
    assert len(Grammar.parse(chain, SCHEMA).rules) == 1


def test_user_functions_keep_clear_of_the_language():
    with pytest.raises(SettingsError, match="grid"):
        Grammar.parse("A ::= F(x1)", SCHEMA, functions=[UserFunction("grid", abs, ("real",), "real", "{0}")])
    twice = [UserFunction("f", abs, ("real",), "real", "{0}")] * 2
    with pytest.raises(SettingsError, match="same name"):
        Grammar.parse("A ::= F(x1)", SCHEMA, functions=twice)


WHOLE = """Start ::= B
B  ::= F(VB) "at some point, {VB}" | not B | B implies B @0.5   # comment
VB ::= x1 | VB and VB @2 | VR < C | (x2 | x1) | each Boolean | advisory = "CL1500"
     | each real {<, >=} [1, 2, 5] | x3 > thresholds | each kind "altitude" {<} other | missing(x3)
VR ::= x3 | `kind` | abs(x3 - x4)
C  ::= 1 | -2.5e3 | random(0, 5) | grid(0, 10, 3)
"""
SIGNS = '::= | ( ) { } [ ] , @ " ` # \\ \0 \ud800 ² - => < ∧ \n'
WORDS = "F not each real other levels random x1 VB Start 1e400 grid(10)"
PIECES = st.one_of(
    st.sampled_from(SIGNS.split(" ")),
    st.sampled_from(WORDS.split(" ")),
    st.text(max_size=3),
)


@examples(300)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 12), PIECES), min_size=1, max_size=4))
def test_mutants_parse_or_are_refused(changes):
    text = WHOLE
    for at, cut, piece in changes:
        text = text[:at] + piece + text[at + cut :]
    error = complaint(text)
    if error is None:
        grammar = Grammar.parse(text, SCHEMA)
        assert Grammar.parse(str(grammar), grammar.schema) == grammar
    else:
        assert min(error.line, error.column) >= 1
