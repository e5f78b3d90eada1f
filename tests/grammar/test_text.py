"""Text to grammar or formula and back."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.grammar_catalogue import SCHEMA

from telltree.grammar import Grammar, parse_formula
from telltree.logic import Attribute, Expression, Level, Number, Type, operator_named
from telltree.logic.expression import name_text
from telltree.panel import Column, Schema

COMPARE = st.sampled_from(["<", "<=", ">", ">=", "="])
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def alternatives(draw, bodies, least=1):
    """Some bodies with weights and English here and there."""
    written = []
    for body in draw(st.lists(bodies, min_size=least, max_size=4)):
        weight = draw(st.sampled_from(["", "", " @2", " @0.1", " @1e-3"]))
        plain = st.text(max_size=8).map(lambda text: text.replace("{", "{{").replace("}", "}}"))
        english = draw(st.none() | plain)
        written.append(body + weight + ("" if english is None else " " + json.dumps(english)))
    return " | ".join(written)


CONSTANT = st.one_of(
    FINITE.map(repr),
    st.lists(FINITE, min_size=1, max_size=3).map(lambda values: f"[{', '.join(map(repr, values))}]"),
    st.sampled_from(["random(0, 5)", "grid(-1, 1, 3)", "C"]),
)
REAL = st.sampled_from(
    ["x3", "x4", "`kind`", "VR", "abs(VR - x3)", "(x3 | x4 @2)", "each real", 'each kind "altitude"']
)
SETS = st.lists(COMPARE, min_size=1, max_size=3, unique=True).map(lambda names: "{" + ", ".join(names) + "}")
ATOM = st.one_of(
    st.sampled_from(["x1", "x2", "VB", "`F`", "missing(VR)", "each Boolean", "each categorical = levels"]),
    st.sampled_from(['advisory = ["CL1500", "CL2500"]', "each real {<, >} other", "x3 > thresholds"]),
    st.builds("{} {} {}".format, REAL, SETS, CONSTANT),
)
VECTOR = st.recursive(
    ATOM,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "∨", "=>"]), inner),
        st.builds("(not {})".format, inner),
        st.builds("({})".format, alternatives(inner)),
        st.builds("F({})".format, alternatives(inner)),
    ),
    max_leaves=6,
)


@st.composite
def grammars(draw):
    truths = draw(alternatives(VECTOR.map("F({})".format), least=1))
    return (
        f"Start ::= {truths} | F(VB) | not Start\n"
        f"VB ::= {draw(alternatives(VECTOR.map('x2 or {}'.format)))} | x1 and VB | VR < C\n"
        "VR ::= x3 | `kind`\nC ::= 1 | 2 @3\n"
    )


@examples(150)
@given(grammars())
def test_a_grammar_reads_back_as_the_same(text):
    grammar = Grammar.parse(text, SCHEMA)
    again = Grammar.parse(str(grammar), grammar.schema)
    assert again == grammar
    assert str(again) == str(grammar)
    for symbol in grammar.symbols:
        assert abs(sum(rule.weight for rule in grammar.rules if rule.symbol == symbol) - 1) < 1e-9


def leaf(name):
    kind = {"real": Type.REAL_VECTOR, "Boolean": Type.BOOLEAN_VECTOR, "categorical": Type.CATEGORICAL_VECTOR}
    return Expression(Attribute(name, kind[SCHEMA[name].type]))


def apply(name, *args):
    return Expression(operator_named(name), args)


NUMBERS = FINITE.map(lambda value: Expression(Number(value)))
REALS = st.recursive(
    st.sampled_from(["x3", "x4", "kind"]).map(leaf),
    lambda inner: st.one_of(
        inner.map(lambda e: apply("abs", e)),
        inner.map(lambda e: apply("sign", e)),
        st.tuples(inner, inner | NUMBERS).map(lambda pair: apply("-", *pair)),
    ),
    max_leaves=3,
)
TRUTHS = st.recursive(
    st.one_of(
        st.sampled_from(["x1", "x2", "F"]).map(leaf),
        st.tuples(COMPARE, REALS, REALS | NUMBERS).map(lambda parts: apply(*parts)),
        st.sampled_from(SCHEMA["advisory"].levels).map(
            lambda name: apply("=", leaf("advisory"), Expression(Level(name)))
        ),
        REALS.map(lambda e: apply("missing", e)),
    ),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or", "implies"]), inner, inner).map(lambda parts: apply(*parts)),
        st.tuples(st.sampled_from(["not", "F", "G"]), inner).map(lambda parts: apply(*parts)),
    ),
    max_leaves=8,
)


@examples(200)
@given(TRUTHS)
def test_a_formula_reads_back_as_the_same(vector):
    formula = apply("G", vector)
    assert parse_formula(str(formula), SCHEMA) == formula


@examples(200)
@given(st.text(min_size=1), st.text())
def test_any_name_can_be_written(name, level):
    schema = Schema([Column(name, "categorical", levels=(level,))])
    formula = parse_formula(f"F({name_text(name)} = {json.dumps(level)})", schema)
    assert formula.attributes() == (name,)
    assert parse_formula(str(formula), schema) == formula
    grammar = Grammar.parse("A ::= F(each categorical = levels)", schema)
    assert Grammar.parse(str(grammar), schema) == grammar
    assert grammar.derive(formula).expression == formula


def test_hostile_names_are_only_names():
    names = [
        'a"b',
        "a`b",
        "a\\b",
        "new\nline",
        "{0}",
        "$x$",
        "<script>",
        "[x]",
        "\x1b[31m",
        "F",
        "and",
        "random",
        "Ünï",
        "x²",
    ]
    schema = Schema(Column(name, "Boolean") for name in names)
    grammar = Grammar.parse("A ::= F(each Boolean)", schema)
    assert grammar.attributes == tuple(names)
    assert Grammar.parse(str(grammar), schema) == grammar
