"""From text to the normal form of a grammar."""

import pickle

import numpy as np
import pytest

from tests.support.grammar_catalogue import SCHEMA

from telltree.errors import DataWarning, GrammarError
from telltree.grammar import Grammar, parse_formula
from telltree.logic import Number, UserFunction
from telltree.logic.expression import RandomNumber
from telltree.panel import Column, Panel, Schema

PAPER = """
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
SHORTER = """
Start ::= F(VB) | G(VB)
VB    ::= x1 | x2 | VB ∧ VB | VR < C   # all in one place
VR    ::= x3 | x4
C     ::= [1, 2, 3, 4, 5]
"""


def rules(grammar, symbol=None):
    return {str(r.template): r.weight for r in grammar.rules if symbol in (None, r.symbol)}


def panel(**columns):
    """One record with these columns."""
    names = list(columns)
    return Panel.from_arrays([np.array([columns[name] for name in names], float).T], columns=names)


def test_the_papers_grammar_and_a_shorter_one_are_the_same():
    paper, shorter = Grammar.parse(PAPER, SCHEMA), Grammar.parse(SHORTER, SCHEMA)
    assert paper == shorter
    assert hash(paper) == hash(shorter)
    for text in ("F(x1 and x2)", "G(x3 < 5)", "F(x1 and (x3 < 2))"):
        one, other = paper.derive(text), shorter.derive(text)
        assert (len(one), one.depth, one.expression) == (len(other), other.depth, other.expression)
    assert paper.derive("F(x1 and x2)").expression.terminals == 4
    assert paper.derive("F(x3 < 5)").expression.terminals == 4
    assert paper.derive("F(x1 and x3 < 2)").depth == 3
    assert list(map(str, paper.enumerate(8))) == list(map(str, shorter.enumerate(8)))


def test_rules_that_only_rename_are_folded():
    grammar = Grammar.parse(PAPER, SCHEMA)
    assert grammar.symbols == ("Start", "VB", "VR", "C")
    assert rules(grammar, "Start") == {"F(VB)": 0.5, "G(VB)": 0.5}
    assert rules(grammar, "VB") == {"x1": 0.25, "x2": 0.25, "VB ∧ VB": 0.25, "VR < C": 0.25}
    assert grammar.attributes == ("x1", "x2", "x3", "x4")
    assert not grammar.has_random_constants


def test_weights_are_shares_and_multiply():
    grammar = Grammar.parse("A ::= F(x1) @3 | B\nB ::= G(x1) | F(x1) @0.25 | (F(x2) | G(x2)) @0.75", SCHEMA)
    assert rules(grammar) == pytest.approx({"F(x1)": 0.75 + 0.25 / 8, "G(x1)": 0.125, "F(x2)": 3 / 64, "G(x2)": 3 / 64})


def test_the_start_is_called_start_or_comes_first():
    assert Grammar.parse("A ::= F(B)\nB ::= x1", SCHEMA).start == "A"
    assert Grammar.parse("B ::= x1\nStart ::= F(B)", SCHEMA).start == "Start"


def test_symbols_that_say_the_same_are_one():
    grammar = Grammar.parse("A ::= F(B) | not A2\nA2 ::= F(C) | not A\nB ::= x1 | B and B\nC ::= x1 | C and C", SCHEMA)
    assert grammar.symbols == ("A", "B")
    assert rules(grammar, "A") == {"F(B)": 0.5, "¬A": 0.5}


def test_every_spelling_of_an_operator_is_the_same():
    one = parse_formula("F(not x1 and x2 or x3 <= 1 implies x4 >= x3 - 1)", SCHEMA)
    assert one == parse_formula("F(¬x1 ∧ x2 ∨ x3 ≤ 1 ⇒ x4 ≥ x3 − 1)", SCHEMA)
    assert one == parse_formula("F((((not x1) and x2) or (x3 <= 1)) => (x4 >= (x3 - 1)))", SCHEMA)
    assert parse_formula("F(x1 => x2 => x1)", SCHEMA) == parse_formula("F(x1 => (x2 => x1))", SCHEMA)
    assert parse_formula("F(x3 - x4 - 1 == -1)", SCHEMA) == parse_formula("F(((x3 - x4) - 1) = -1)", SCHEMA)
    assert parse_formula("F(not x3 < 1)", SCHEMA) == parse_formula("F(not (x3 < 1))", SCHEMA)


def test_constants_are_rules_of_their_own():
    grammar = Grammar.parse("A ::= F(x3 {<, >=} [1, 2]) | F(x4 < random(0, 5)) | F(x4 < 7)", SCHEMA)
    assert rules(grammar, "A") == {"F(_1)": pytest.approx(1 / 3), "F(x4 < _2)": pytest.approx(1 / 3)} | {
        "F(x4 < 7)": pytest.approx(1 / 3)
    }
    assert rules(grammar, "_1") == {"x3 < _3": 0.5, "x3 ≥ _3": 0.5}
    assert rules(grammar, "_3") == {"1": 0.5, "2": 0.5}
    assert grammar.has_random_constants
    (drawn,) = [r.template.head for r in grammar.rules if r.symbol == "_2"]
    assert drawn == RandomNumber(0.0, 5.0)


def test_a_group_is_one_alternative():
    grammar = Grammar.parse("A ::= F(V)\nV ::= x1 | V and V | each real {<, >} [0, 1]", SCHEMA)
    shares = rules(grammar, "V")
    assert shares["x1"] == shares["V ∧ V"] == pytest.approx(1 / 3)
    assert sum(share for text, share in shares.items() if "_1" in text) == pytest.approx(1 / 3)
    assert len(shares) == 2 + 4 * 2
    assert "`kind` > _1" in shares


def numbers(grammar, symbol):
    return [r.template.head.value for r in grammar.rules if r.symbol == symbol and isinstance(r.template.head, Number)]


def test_grids_come_from_the_data_with_exact_ends():
    with pytest.warns(DataWarning, match="infinite"):
        data = panel(a=[0.1, np.nan, 0.7, np.inf], b=[-3.0, 2.0, 2.0, 2.5])
    grammar = Grammar.parse("A ::= F(each real < grid(10))", data)
    assert numbers(grammar, "_2") == np.linspace(0.1, 0.7, 10).tolist()
    assert numbers(grammar, "_3") == np.linspace(-3.0, 2.5, 10).tolist()
    grammar = Grammar.parse("A ::= F(b < quantiles(3)) | F(a < random)", data)
    assert numbers(grammar, "_1") == [-3.0, 2.0, 2.5]
    assert [r.template.head for r in grammar.rules if r.symbol == "_2"] == [RandomNumber(0.1, 0.7)]


@pytest.mark.parametrize(
    ("low", "high", "points", "most"),
    [(1, 4, 60, 4), (0, 1, 7, 2), (-1, 1, 21, 1), (0, 1, 9, 3), (0, 1, 65, 6), (1_000, 9_999, 100, 5),
     (0.1234567, 2, 30, 7), (0, 1e300, 7, 17), (0, 1e-300, 7, 17), (-1e9, 1e9, 8, 2), (100, 100.001, 12, 9)],
)  # fmt: skip
def test_grids_of_a_given_range_have_few_digits(low, high, points, most):
    found = numbers(Grammar.parse(f"A ::= F(x3 < grid({low!r}, {high!r}, {points}))", SCHEMA), "_1")
    even = np.linspace(low, high, points)
    assert (found[0], found[-1], len(found)) == (low, high, points)
    assert np.all(np.diff(found) > 0)
    assert np.abs(found - even).max() <= 0.0501 * (even[1] - even[0])
    assert max(len(f"{abs(n)!r}".partition("e")[0].replace(".", "").strip("0")) for n in found) <= most


def test_grids_that_are_exact_stay_so():
    assert numbers(Grammar.parse("A ::= F(x3 < grid(0, 1, 9))", SCHEMA), "_1") == [n / 8 for n in range(9)]
    assert numbers(Grammar.parse("A ::= F(x3 < grid(0, 3, 31))", SCHEMA), "_1") == [n / 10 for n in range(31)]
    assert rules(Grammar.parse("A ::= F(x3 < grid(2, 2, 5))", SCHEMA), "A") == {"F(x3 < 2)": 1}
    assert numbers(Grammar.parse("A ::= F(x3 < grid(-1e308, 1e308, 2))", SCHEMA), "_1") == [-1e308, 1e308]
    assert numbers(Grammar.parse("A ::= F(x3 < grid(-1.7e308, 1.7e308, 3))", SCHEMA), "_1") == [-1.7e308, 0, 1.7e308]
    next_to_one = 1 + 2**-52  # no number lies between them
    assert numbers(Grammar.parse(f"A ::= F(x3 < grid(1, {next_to_one!r}, 3))", SCHEMA), "_1") == [1, next_to_one]


def test_one_kind_has_one_grid():
    data = panel(a=[0.0, 1.0], b=[5.0, 9.0], c=[7.0, 8.0])
    schema = data.schema.override({"a": {"kind": "height"}, "b": {"kind": "height"}})
    grammar = Grammar.parse('A ::= F(each kind "height" < grid(4))', data.with_schema(schema))
    assert numbers(grammar, "_2") == [0.0, 3.0, 6.0, 9.0]
    assert set(rules(grammar, "_1")) == {"a < _2", "b < _2"}


def test_two_attributes_of_one_kind_against_each_other():
    grammar = Grammar.parse("A ::= F(each real {<, =} other)", SCHEMA)
    assert set(rules(grammar, "_1")) == {"x3 < x4", "x3 = x4", "x4 < x3", "x4 = x3"}


def test_thresholds_and_levels_come_from_the_schema():
    grammar = Grammar.parse("A ::= F(x3 > thresholds) | F(each categorical = levels)", SCHEMA)
    assert set(rules(grammar)) >= {"F(x3 > _1)", "F(advisory = _2)", "1", "2", '"CL1500"', '"DES1500"'}


def test_selectors_leave_out_what_is_of_no_use_and_names_do_not():
    data = panel(a=[0.0, 1.0], still=[4.0, 4.0])
    grammar = Grammar.parse("A ::= F(each real < [1, 2])", data)
    assert list(grammar.left_out) == ["still"]
    assert grammar.attributes == ("a",)
    assert Grammar.parse("A ::= F(still < 1)", data).left_out == {}
    with pytest.raises(GrammarError, match="selects no column; still is left out"):
        Grammar.parse("A ::= F(each real < 1)", panel(still=[4.0, 4.0]))


def test_english_follows_its_rule():
    text = 'A ::= B "I say: {B}" | F(V and V) "{V} with {V}"\nB ::= F(V) "once {0} {{sic}}"\nV ::= x1 "lit" | x2'
    grammar = Grammar.parse(text, SCHEMA)
    renamed, both, lit, dark = (rule.template for rule in grammar.rules)
    assert renamed.english == "I say: {0}"
    assert renamed.parts[0].english == "once {0} {{sic}}"
    assert both.english == "{0} with {1}"
    assert (lit.english, dark.english) == ("lit", None)
    assert Grammar.parse(text.replace("lit", "on"), SCHEMA) != grammar
    derived = grammar.derive("F(x1)").expression
    assert derived.parts[0].parts[0].english == "lit"


def test_user_functions_are_words():
    steep = UserFunction("steep", abs, ("real", "real"), "Boolean", "{0} is steep")
    grammar = Grammar.parse("A ::= F(steep(V, 2))\nV ::= x3 | x4", SCHEMA, functions=[steep])
    assert rules(grammar)["F(steep(V, 2))"] == 1
    assert grammar.functions == (steep,)
    assert Grammar.parse(str(grammar), SCHEMA, functions=[steep]) == grammar
    with pytest.raises(GrammarError, match="steep takes a real vector, a real vector; found a Boolean vector"):
        Grammar.parse("A ::= F(steep(x1, 2))", SCHEMA, functions=[steep])


def test_symbols_hide_attributes_unless_those_are_quoted():
    schema = Schema(
        [Column("B", "Boolean"), Column("x1", "Boolean"), Column("F", "Boolean"), Column("other", "Boolean")]
    )
    grammar = Grammar.parse("A ::= F(B)\nB ::= x1 | `B` | `F` | `other`", schema)
    assert set(rules(grammar, "B")) == {"x1", "B", "`F`", "`other`"}
    assert Grammar.parse(str(grammar), schema) == grammar


def test_counts_are_compared_as_numbers():
    grammar = Grammar.parse(
        "A ::= N > C | N < N | F(x1)\nN ::= count(x1) | count(x2) | abs(N - N)\nC ::= 1 | 2", SCHEMA
    )
    assert str(grammar.derive("abs(count(x1) - count(x2)) > 2")) == "abs(count(x1) - count(x2)) > 2"


def test_grammars_travel_and_show_themselves():
    grammar = Grammar.parse(PAPER, SCHEMA)
    assert pickle.loads(pickle.dumps(grammar)) == grammar  # noqa: S301 - what it wrote itself
    assert repr(grammar) == "<Grammar of 4 symbols, 13 rules and 4 attributes, start Start>"
    assert grammar != Grammar.parse(PAPER.replace("5", "6"), SCHEMA)
    assert grammar != "grammar"


def test_a_thousand_columns_are_no_trouble():
    schema = Schema(Column(f"column {i}", "real") for i in range(1000))
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V | each real {<, <=, >, >=, =} grid(0, 1, 10)", schema)
    assert len(grammar.rules) == 1 + 1 + 5000 + 10
    assert str(grammar.derive("F(`column 999` >= 1)")) == "F(`column 999` ≥ 1)"
