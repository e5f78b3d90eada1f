"""English in the paper's form, sentence by sentence."""

import numpy as np
import pytest

from telltree.engine import Formula
from telltree.errors import DataError, SettingsError
from telltree.explain import english
from telltree.grammar import Grammar
from telltree.logic import user_function
from telltree.panel import Column, Schema

SCHEMA = Schema(
    [
        Column("on", "Boolean", phrase="advisory is active"),
        Column("b", "Boolean"),
        Column("rate", "real", unit="ft/s", phrase="vertical rate"),
        Column("wind", "real", unit="ft/s"),
        Column("alt", "real", unit="ft", phrase="altitude"),
        Column("x", "real"),
        Column("mode", "categorical", phrase="advisory", levels=("CL1500", "DES", "")),
        Column("last", "categorical", levels=("CL1500", "DES")),
    ]
)


@user_function(takes=["real", "Boolean"], gives="Boolean", phrase="{0} turns while {1} {{so}}")
def turns(x, b):
    return b


@user_function(takes=["real"], gives="real")
def half(x):
    return x / 2


@user_function(takes=["real"], gives="real", phrase="{0} and {1}")
def careless(x):
    return x


FUNCTIONS = (turns, half, careless)


def said(text, missing=None):
    return english(Formula.parse(text, SCHEMA, functions=FUNCTIONS), SCHEMA, missing, style="paper")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F(on)", "at some point, advisory is active"),
        ("G(b)", "for all time, b"),
        ("F(rate > 40)", "at some point, [vertical rate] is greater than 40 ft/s"),
        ("F(40 < rate)", "at some point, 40 ft/s is less than [vertical rate]"),
        ("F(x >= 0.25)", "at some point, [x] is greater than or equal to 0.25"),
        ("F(rate <= wind)", "at some point, [vertical rate] is less than or equal to [wind]"),
        ("F(rate = 3)", "at some point, [vertical rate] is equal to 3 ft/s"),
        ('F(mode = "CL1500")', "at some point, [advisory] is CL1500"),
        ('F(mode = "")', 'at some point, [advisory] is ""'),
        ("F(mode = last)", "at some point, [advisory] is [last]"),
        ("G(on or b)", "for all time, [advisory is active] or [b]"),
        ("G(on => rate < 2)", "for all time, if [advisory is active], then [[vertical rate] is less than 2 ft/s]"),
        ("F(on) and G(b)", "[at some point, advisory is active] and [for all time, b]"),
        ("F(G(on))", "at some point, for all time, advisory is active"),
        ("F(on and G(b))", "at some point, [advisory is active] and [for all time, b]"),
        ("not F(on and b)", "at no point, [advisory is active] and [b]"),
        ("not G(on)", "not for all time, advisory is active"),
        ("not not F(on)", "not [at no point, advisory is active]"),
        ("F(not on)", "at some point, not [advisory is active] (or it is missing)"),
        ("not (F(on) and F(b))", "not [[at some point, advisory is active] and [at some point, b]]"),
        ("count(on) > 3", "[number of steps at which [advisory is active]] is greater than 3"),
        ("count(on) > count(rate < 2)",
         "[number of steps at which [advisory is active]] is greater than "
         "[number of steps at which [[vertical rate] is less than 2 ft/s]]"),
        ("not count(on) > 3", "[number of steps at which [advisory is active]] is less than or equal to 3"),
        ("not count(on) = 3", "[number of steps at which [advisory is active]] is not equal to 3"),
        ("F(abs(rate) < 2)", "at some point, [absolute value of [vertical rate]] is less than 2 ft/s"),
        ("F(sign(rate) = 1)", "at some point, [sign of [vertical rate]] is equal to 1"),
        ("F(abs(rate - wind) < 2)",
         "at some point, [absolute value of [difference between [vertical rate] and [wind]]] is less than 2 ft/s"),
        ("F(rate - alt < 2)", "at some point, [difference between [vertical rate] and [altitude]] is less than 2"),
        ("F(rate - x < 2)", "at some point, [difference between [vertical rate] and [x]] is less than 2"),
        ("F(alt - 5 < 2)", "at some point, [difference between [altitude] and 5 ft] is less than 2 ft"),
        ("F(missing(alt))", "at some point, [altitude] is missing"),
        ("F(not missing(alt))", "at some point, [altitude] is not missing"),
        ("F(turns(rate, on and b))",
         "at some point, [vertical rate] turns while [[advisory is active] and [b]] {so}"),
        ("F(half(alt) < 2)", "at some point, [half of [altitude]] is less than 2"),
    ],
)  # fmt: skip
def test_sentences(text, sentence):
    assert said(text) == sentence


@pytest.mark.parametrize(
    ("text", "missing", "sentence"),
    [
        ("G(not rate < 2)", None, "for all time, [vertical rate] is not less than 2 ft/s (or is missing)"),
        ("G(not rate < 2)", {"rate"}, "for all time, [vertical rate] is not less than 2 ft/s (or is missing)"),
        ("G(not rate < 2)", {"alt"}, "for all time, [vertical rate] is greater than or equal to 2 ft/s"),
        ("G(not rate <= 2)", (), "for all time, [vertical rate] is greater than 2 ft/s"),
        ("G(not rate > 2)", (), "for all time, [vertical rate] is less than or equal to 2 ft/s"),
        ("G(not rate >= 2)", (), "for all time, [vertical rate] is less than 2 ft/s"),
        ("G(not rate = 2)", (), "for all time, [vertical rate] is not equal to 2 ft/s"),
        ("G(not rate = 2)", None, "for all time, [vertical rate] is not equal to 2 ft/s (or is missing)"),
        ('G(not mode = "DES")', (), "for all time, [advisory] is not DES"),
        ('G(not mode = "DES")', {"mode"}, "for all time, [advisory] is not DES (or is missing)"),
        ("F(not on)", {"on"}, "at some point, not [advisory is active] (or it is missing)"),
        ("F(not on)", {"b"}, "at some point, not [advisory is active]"),
        ("G(b or not on)", {"on"}, "for all time, [b] or [not [advisory is active] (or it is missing)]"),
        ("not F(on)", {"on"}, "at no point, advisory is active"),
        ("G(not rate < wind)", {"wind"}, "for all time, [vertical rate] is not less than [wind] (or is missing)"),
        ("G(not abs(rate) < 2)", {"rate"},
         "for all time, [absolute value of [vertical rate]] is not less than 2 ft/s (or is missing)"),
        # The difference of two infinities is missing, so the opposite comparison would say too much.
        ("G(not rate - wind < 2)", (),
         "for all time, [difference between [vertical rate] and [wind]] is not less than 2 ft/s"),
        ("G(not rate - 1 < 2)", (),
         "for all time, [difference between [vertical rate] and 1 ft/s] is greater than or equal to 2 ft/s"),
        # A function may answer with a missing value.
        ("G(not half(rate) < 2)", (), "for all time, [half of [vertical rate]] is not less than 2 (or is missing)"),
        ("not F(rate < 2)", None, "at no point, [vertical rate] is less than 2 ft/s"),
        ("not count(rate < 2) < 3", None,
         "[number of steps at which [[vertical rate] is less than 2 ft/s]] is greater than or equal to 3"),
    ],
)  # fmt: skip
def test_negated_comparisons_allow_for_missing_values(text, missing, sentence):
    assert said(text, missing) == sentence


SPEAKING = """
Start ::= Ev | Sure | F(Low and VB) "while {VB}, {{at least once}}, {Low}" | not Ev
Ev ::= F(VB) "once, {VB}"
Sure ::= Gl "surely {Gl}"
Gl ::= G(VB)
VB ::= on "we act" | Low | not Low
Low ::= VR < C "{VR} is under {C} feet per second"
VR ::= rate | wind "the wind"
C ::= 1 | 2 "two"
"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F(on)", "once, we act"),
        ("F(rate < 1)", "once, [vertical rate] is under 1 feet per second"),
        ("F(wind < 2)", "once, [the wind] is under two feet per second"),
        ("G(on)", "surely for all time, we act"),
        ("F(rate < 1 and on)", "while [we act], {at least once}, [[vertical rate] is under 1 feet per second]"),
        ("not F(on)", "not [once, we act]"),
        ("F(not rate < 1)", "once, not [[vertical rate] is under 1 feet per second]"),
    ],
)
def test_a_rule_speaks_for_itself(text, sentence):
    grammar = Grammar.parse(SPEAKING, SCHEMA)
    assert english(grammar.derive(text).expression, SCHEMA, style="paper") == sentence


@pytest.mark.parametrize("name", ["a [b]", "{0}", "{{", "<script>", "größe\n$", "is less than"])
def test_odd_names_stand_as_they_are(name):
    schema = Schema([Column(name, "real", unit=name), Column("c", "categorical", levels=(name,))])
    quoted = Grammar.parse("Start ::= F(each real < 1)", schema)
    (derivation,) = quoted.enumerate(9)
    assert english(derivation.expression, schema, style="paper") == f"at some point, [{name}] is less than 1 {name}"
    (derivation,) = Grammar.parse("Start ::= F(c = levels)", schema).enumerate(9)
    assert english(derivation.expression, schema, style="paper") == f"at some point, [c] is {name}"


def test_an_expression_that_is_no_formula_is_spoken_too():
    operand = Formula.parse("F(rate < 2)", SCHEMA).expression.args[0]
    assert english(operand, SCHEMA, style="paper") == "[vertical rate] is less than 2 ft/s"


def test_an_unknown_column_is_named():
    formula = Formula.parse("F(rate < 2)", SCHEMA)
    with pytest.raises(DataError, match="unknown column 'rate'; did you mean 'rates'"):
        english(formula, Schema([Column("rates", "real")]), style="paper")


def test_a_phrase_with_too_many_operands_is_named():
    with pytest.raises(SettingsError, match=r"\{1\}, but operands go up to \{0\}"):
        said("F(careless(rate) < 2)")


def test_thousands_of_columns():
    schema = Schema(Column(f"x{i}", "real") for i in range(5000))
    text = " and ".join(f"F(x{i} < 1)" for i in np.arange(0, 5000, 500))
    assert english(Formula.parse(text, schema), schema, style="paper").count("at some point") == 10


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F(on and rate > 40)", "at some point advisory is active while the vertical rate is above 40 ft/s"),
        ("not F(on)", "advisory is never active"),
        ("not G(on => rate < 2)", "at some point advisory is active while the vertical rate is at least 2 ft/s"),
        ("count(on) > 3", "for at least 4 s in all, advisory is active"),
    ],
)
def test_plain_english_is_the_default(text, sentence):
    assert english(Formula.parse(text, SCHEMA), SCHEMA, (), step=(1.0, "s")) == sentence


def test_an_unknown_style_is_refused():
    with pytest.raises(SettingsError, match="style must be 'plain' or 'paper', got 'fancy'"):
        english(Formula.parse("F(on)", SCHEMA), SCHEMA, style="fancy")


def test_what_is_said_is_read_back():
    formula = Formula.parse('F(mode = "DES" and rate < 2) and not F(wind - rate > 3)', SCHEMA)
    said_back = Formula.from_english(english(formula, SCHEMA, ()), SCHEMA)
    assert english(said_back, SCHEMA, ()) == english(formula, SCHEMA, ())
