"""Plain English, sentence by sentence; each is also read back."""

import numpy as np
import pytest

from telltree.engine import Formula
from telltree.english import term_of
from telltree.english.normal_form import same
from telltree.english.read_sentence import read, read_term
from telltree.english.terms import And, Domains
from telltree.english.vocabulary import static_columns
from telltree.english.write_sentence import quotations, say, text_with_quotations
from telltree.errors import DataError, SettingsError, SpeechError
from telltree.explain import english
from telltree.grammar import Grammar
from telltree.logic import user_function
from telltree.panel import Column, Schema

PAGE = Schema(
    [
        Column("active_1", "Boolean", phrase="advisory 1 is active"),
        Column("corrective_1", "Boolean", phrase="advisory 1 is corrective"),
        Column("responding_1", "Boolean", phrase="pilot 1 is responding"),
        Column("open", "Boolean", phrase="the valve is open"),
        Column("bend", "real", phrase="left little finger bend"),
        Column("yaw", "real", phrase="right palm yaw", unit="half turns"),
        Column("miss_1", "real", phrase="projected vertical miss of aircraft 1", unit="ft"),
        Column("miss_2", "real", phrase="projected vertical miss of aircraft 2", unit="ft"),
        Column("temp", "real", phrase="bearing temperature", unit="°C"),
        Column("pressure", "real", unit="bar"),
        Column("mode", "categorical", levels=("idle", "purge", "run")),
        Column("x1", "real"),
        Column("x2", "real"),
        Column("x3", "real"),
        Column("sense", "categorical", levels=("up", "down"), phrase="the sense of advisory 1"),
        Column("rate", "real", unit="ft/s", phrase="the vertical rate of aircraft 1"),
    ]
)
SCHEMA = Schema(
    [
        Column("on", "Boolean", phrase="advisory is active"),
        Column("b", "Boolean"),
        Column("open", "Boolean", phrase="the valve is open", negated="the valve is shut"),
        Column("comply", "Boolean", phrase="the pilot complies"),
        Column("both_on", "Boolean", phrase="both advisories are active"),
        Column("rate", "real", unit="ft/s", phrase="vertical rate"),
        Column("wind", "real", unit="ft/s"),
        Column("alt", "real", unit="ft", phrase="altitude"),
        Column("temp", "real", unit="°C", phrase="the air", high="warmer than", low="colder than"),
        Column("since", "real", unit="s", low="less than {0} after the alarm", high="{0} after the alarm"),
        Column("x", "real"),
        Column("mode", "categorical", phrase="advisory", levels=("CL1500", "DES", "")),
        Column("last", "categorical", levels=("CL1500", "DES", "1 above")),
    ]
)


@user_function(takes=["real", "Boolean"], gives="Boolean", phrase="{0} turns while {1} {{so}}")
def turns(x, b):
    return b


@user_function(takes=["real"], gives="real")
def half(x):
    return x / 2


@user_function(takes=["Boolean"], gives="Boolean", phrase="so far {0}")
def so_far(b):
    return b


@user_function(takes=["real"], gives="real", phrase="{0} and {1}")
def careless(x):
    return x


FUNCTIONS = (turns, half, so_far, careless)


def said(text, schema=SCHEMA, missing=(), step=None):
    """What is said of a formula, once it is known that this is read as the same."""
    term = term_of(Formula.parse(text, schema, functions=FUNCTIONS).expression, missing)
    sentence, quoted = text_with_quotations(term, schema, step=step, missing=missing)
    found = read_term(sentence, schema, functions=FUNCTIONS, step=step, sentences=quoted)
    assert same(found, term, Domains(missing, static_columns(schema))), sentence
    return sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not F(active_1)", "advisory 1 is never active"),
        ("G(bend < 0.5)", "the left little finger bend is always below 0.5"),
        ("not F(yaw >= 0.66)", "the right palm yaw is always below 0.66 half turns"),
        ("F(abs(miss_2) > 500)",
         "at some point the projected vertical miss of aircraft 2 is beyond ±500 ft"),
        ("not F(abs(miss_1) >= 125 and responding_1)",
         "whenever pilot 1 is responding, the projected vertical miss of aircraft 1 is within 125 ft"),
        ("F(temp > 65 and open)", "at some point the bearing temperature is above 65 °C while the valve is open"),
        ("count(corrective_1) > 16", "for more than 16 s in all, advisory 1 is corrective"),
        ('not G((open or mode = "purge") => pressure < 4.22)',
         "at some point pressure is at least 4.22 bar while either the valve is open or mode is purge"),
        ("G(x1 > .52 => (x3 <= -.1 => x2 < 1.6))",
         "x1 is never above 0.52 while x3 is at most −0.1 and x2 is at least 1.6"),
        ('F(sense = "up" and rate < -5)',
         "at some point the sense of advisory 1 is up while the vertical rate of aircraft 1 is below −5 ft/s"),
    ],
)  # fmt: skip
def test_the_sentences_we_set_out_to_say(text, sentence):
    assert said(text, PAGE, step=(1.0, "s")) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # One column.
        ("F(on)", "at some point advisory is active"),
        ("G(on)", "advisory is always active"),
        ("F(not on)", "at some point advisory is not active"),
        ("F(b)", "at some point b is true"),
        ("G(not b)", "b is always false"),
        ("F(not open)", "at some point the valve is shut"),
        ("G(not open)", "the valve is always shut"),
        ("G(comply)", "the pilot always complies"),
        ("not F(comply)", "the pilot never complies"),
        ("F(not comply)", "at some point the pilot does not comply"),
        ("F(not both_on)", "at some point it is false that both advisories are active"),
        ("not F(both_on)", "it is never the case that both advisories are active"),
        ("F(rate > 40)", "at some point the vertical rate is above 40 ft/s"),
        ("F(40 < rate)", "at some point the vertical rate is above 40 ft/s"),
        ("F(x >= 0.25)", "at some point x is at least 0.25"),
        ("F(x <= -1e-7)", "at some point x is at most −1e-07"),
        ("F(rate = 3)", "at some point the vertical rate is exactly 3 ft/s"),
        ("F(not rate = 3)", "at some point the vertical rate is other than 3 ft/s"),
        ("F(rate > 2 and rate < 5)", "at some point the vertical rate is between 2 and 5 ft/s"),
        ("F(rate >= 2 and rate <= 5)", "at some point the vertical rate is from 2 to 5 ft/s"),
        ("F(rate > 2 and rate <= 5)", "at some point the vertical rate is above 2 and at most 5 ft/s"),
        ("F(rate >= 2 and rate < 5)", "at some point the vertical rate is at least 2 and below 5 ft/s"),
        ("F(rate < 2 or rate >= 5)", "at some point the vertical rate is below 2 or at least 5 ft/s"),
        ("F(abs(rate) < 2)", "at some point the vertical rate is within 2 ft/s"),
        ("F(abs(rate) <= 2)", "at some point the vertical rate is within 2 ft/s inclusive"),
        ("G(abs(rate) <= 2)", "the vertical rate is never beyond ±2 ft/s"),
        ("G(abs(rate) < 2)", "the vertical rate is always within 2 ft/s"),
        ("G(abs(rate) > 2)", "the vertical rate is always beyond ±2 ft/s"),
        ("G(abs(rate) >= 2)", "the vertical rate is never within 2 ft/s"),
        ("F(abs(rate) > 2)", "at some point the vertical rate is beyond ±2 ft/s"),
        ("F(abs(rate) >= 2)", "at some point the vertical rate is beyond ±2 ft/s inclusive"),
        ("F(sign(rate) = 1)", "at some point the vertical rate is above 0 ft/s"),
        ("F(temp > 30)", "at some point the air is warmer than 30 °C"),
        ("F(temp <= 30)", "at some point the air is at most 30 °C"),
        ("G(temp < 30)", "the air is always colder than 30 °C"),
        ("F(since < 2 and on)", "at some point less than 2 s after the alarm while advisory is active"),
        ("G(since < 2 => on)", "whenever less than 2 s after the alarm, advisory is active"),
        ("F(since > 2)", "at some point since is above 2 s"),
        ('F(mode = "CL1500")', "at some point advisory is CL1500"),
        ('F(mode = "")', "at some point advisory is “”"),
        ('F(last = "1 above")', "at some point last is 1 above"),
        ('F(not mode = "DES")', "at some point advisory is not DES"),
        ('F(mode = "DES" or mode = "CL1500")', "at some point advisory is CL1500 or DES"),
        ('G(not mode = "DES" and not mode = "CL1500")', "advisory is never CL1500 or DES"),
        ('F(not mode = "DES" and not mode = "CL1500")', "at some point advisory is neither CL1500 nor DES"),
        # Two columns.
        ("F(rate < wind)", "at some point the vertical rate is below wind"),
        ("F(rate <= wind)", "at some point the vertical rate is at most wind"),
        ("F(rate = wind)", "at some point the vertical rate is equal to wind"),
        ("F(not rate = wind)", "at some point the vertical rate is unequal to wind"),
        ("F(rate - wind < -0.5)", "at some point the vertical rate is more than 0.5 ft/s below wind"),
        ("F(rate - wind >= 3)", "at some point the vertical rate is at least 3 ft/s above wind"),
        ("F(rate - wind < 2)", "at some point the vertical rate minus wind is below 2 ft/s"),
        ("F(abs(rate - wind) < 2)", "at some point the vertical rate is within 2 ft/s of wind"),
        ("F(abs(rate - wind) <= 2)", "at some point the vertical rate is at most 2 ft/s from wind"),
        ("F(rate - x > 2)", "at some point the vertical rate is more than 2 above x"),
        ("F(alt - 5 < 2)", "at some point altitude minus 5 ft is below 2 ft"),
        ("F(sign(rate) = sign(wind))", "at some point the sign of the vertical rate is equal to the sign of wind"),
        ("F(half(alt) < 2)", "at some point half of altitude is below 2"),
        ("F(mode = last)", "at some point last is the same as advisory"),
        ("F(not mode = last)", "at some point last is different from advisory"),
        # Lists.
        ("F(on and b and rate < 2)",
         "at some point advisory is active while b is true and the vertical rate is below 2 ft/s"),
        ("F(on and (rate < 2 or rate > 5))",
         "at some point advisory is active while the vertical rate is below 2 or above 5 ft/s"),
        ("F(on or rate < 2 or rate > 5)",
         "at some point either advisory is active, or the vertical rate is below 2 or above 5 ft/s"),
        ("count((on and b) or (rate < 2 and x > 3)) > 8",
         "at more than 8 steps in all, either advisory is active while b is true, or the vertical rate is below 2 ft/s "
         "while x is above 3"),
        ("F(on and (b or rate < 2) and (open or x > 3))",
         "at some point advisory is active while either b is true or the vertical rate is below 2 ft/s, and either the "
         "valve is open or x is above 3"),
        ("count(b or on and open and x > 3) > 8",
         "at more than 8 steps in all, either b is true, or advisory is active while the valve is open and x is above "
         "3"),
        ("F((on and b) or (rate < 2 and x > 3))",
         "at some point advisory is active while b is true; or at some point the vertical rate is below 2 ft/s "
         "while x is "
         "above 3"),
        # What is always so.
        ("G(on => rate < 2)", "whenever advisory is active, the vertical rate is below 2 ft/s"),
        ("G(on or b)", "whenever b is false, advisory is active"),
        ("G(on => b or rate < 2)",
         "advisory is never active while b is false and the vertical rate is at least 2 ft/s"),
        ("G(on => b and rate < 2)", "whenever advisory is active, b is true and the vertical rate is below 2 ft/s"),
        ("G(rate < 2 and b)", "the vertical rate is always below 2 ft/s, and b is always true"),
        ("not F(on and b)", "whenever advisory is active, b is false"),
        ("not F((on or b) and (rate < 2 or x > 3))",
         "whenever advisory is active or b is true, the vertical rate is at least 2 ft/s and x is at most 3"),
        # Several sentences.
        ("F(on) and G(b)", "at some point advisory is active, and b is always true"),
        ("F(on) or G(b)", "at some point advisory is active; or b is always true"),
        ("F(on) and F(b and rate < 2) and G(rate > 1)",
         "at some point advisory is active; at some point b is true while the vertical rate is below 2 ft/s; "
         "and the vertical "
         "rate is always above 1 ft/s"),
        # Later, from then on, at the end.
        ("F(G(on))", "at the last step, advisory is active"),
        ("F(on and F(b))", "at some point advisory is active, and then or later b is true"),
        ("F(on and G(b))", "at some point advisory is active, and from then on b is always true"),
        ("F(on and F(b and F(rate < 2)))",
         "at some point advisory is active, and then or later b is true, and then or later the vertical rate is below "
         "2 ft/s"),
        ("F(on and G(b) and F(rate < 2))",
         "at some point advisory is active, and both then or later the vertical rate is below 2 ft/s and from "
         "then on b is always true"),
        ("G(on => F(b))", "whenever advisory is active, then or later b is true"),
        ("G(on => G(b))", "whenever advisory is active, from then on b is always true"),
        # Counts and functions.
        ("count(on) > count(rate < 2)",
         "the number of steps at which advisory is active is above the number of steps at which the vertical rate is "
         "below 2 ft/s"),
        ("count(on) - count(b) < 3",
         "the excess of the number of steps at which advisory is active over the number of steps at which b is true "
         "is below 3"),
        ("F(so_far(on and b))", "at some point so far both advisory is active and b is true"),
        ("not F(so_far(b))", "it is never the case that so far b is true"),
        ("F(turns(rate, on and b))",
         "at some point “the vertical rate turns while both advisory is active and b is true {so}”"),
        ("F(not turns(rate, on))",
         "at some point it is not so that “the vertical rate turns while advisory is active {so}”"),
        ("F(b) and not F(b)", "it is never so"),
        ("F(b or not b)", "it is always so"),
    ],
)  # fmt: skip
def test_sentences(text, sentence):
    assert said(text) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not F(on)", "advisory is never active"),
        ("F(not on)", "at some point it is false or unknown that advisory is active"),
        ("F(not comply)", "at some point it is false or unknown that the pilot complies"),
        ("F(missing(on))", "at some point it is unknown whether advisory is active"),
        ("F(not missing(on))", "at some point it is known whether advisory is active"),
        ("F(not b)", "at some point b is not true"),
        ("G(not missing(b))", "b is always known"),
        ("F(missing(alt))", "at some point altitude is missing"),
        ("F(not missing(alt))", "at some point altitude is known"),
        ("F(not rate >= 2)", "at some point the vertical rate is below 2 ft/s or missing"),
        ("not F(rate >= 2 and on)", "whenever advisory is active, the vertical rate is below 2 ft/s or missing"),
        ("F(on or not rate >= 2)",
         "at some point either advisory is active, or the vertical rate is below 2 ft/s or missing"),
        ("F(on or not abs(rate) < 2)",
         "at some point either advisory is active, or the vertical rate is beyond ±2 ft/s inclusive or missing"),
        ('F(not mode = "DES")', "at some point advisory is missing or not DES"),
        ("F(not rate < wind)", "at some point it is false or unknown that the vertical rate is below wind"),
        (
            "F(not abs(rate - wind) < 2)",
            "at some point it is false or unknown that the vertical rate is within 2 ft/s of wind",
        ),
        ("F(missing(rate - wind))", "at some point the vertical rate minus wind is missing"),
        ("F(missing(half(alt)))", "at some point half of altitude is missing"),
    ],
)  # fmt: skip
def test_missing_values_are_told(text, sentence):
    assert said(text, missing=None) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # A column is named once in a choice.
        ('F(not mode = "up" or x <= 2)', "at some point either mode is missing or not up, or x is at most 2"),
        ('F(b or not mode = "up")', "at some point either b is true, or mode is missing or not up"),
        ('F(mode = "up" or mode = "down" or mode = "rest")', "at some point mode is up, down or rest"),
        ('F(mode = "up" or mode = "down" or mode = "rest" or x > 2)',
         "at some point either mode is up, down or rest, or x is above 2"),
        ('G(mode = "up" or mode = "down" or missing(mode))', "mode is always up, down or missing"),
        ('F(not mode = "up" and not mode = "down" and not mode = "rest")',
         "at some point mode is missing or neither up, down nor rest"),
        ('F(x > 2 and (mode = "up" or mode = "down" or mode = "rest") and b)',
         "at some point x is above 2 while mode is up, down or rest, and b is true"),
        ('G((mode = "up" or mode = "down" or mode = "rest") => x > 2)',
         "whenever mode is up, down or rest, x is above 2"),
        ("F((b and not x < 2) or (y < 1 and not b))",
         "at some point b is true while x is at least 2 or missing; or at some point y is below 1 while b is not true"),
        # Levels that look like columns, or are quoted, have no commas round them.
        ('F(odd = "x" or odd = "y" or odd = "z")', "at some point odd is x or y or z"),
        ('F(odd = "x" or odd = "a, b" or b)', "at some point either odd is either x or “a, b”, or b is true"),
        # What is false or missing.
        ("F(not b)", "at some point b is not true"),
        ("F(not b or x > 2)", "at some point either b is not true or x is above 2"),
        ("G(not b => x > 2)", "whenever x is at most 2 or missing, b is true"),
        ("not G(b)", "at some point b is not true"),
    ],
)  # fmt: skip
def test_nothing_is_named_twice_where_once_is_clear(text, sentence):
    levels = ("up", "down", "rest")
    schema = Schema(
        [
            Column("b", "Boolean"),
            Column("x", "real"),
            Column("y", "real"),
            Column("mode", "categorical", levels=levels),
            Column("odd", "categorical", levels=("x", "y", "z", "a, b")),
        ]
    )
    assert said(text, schema, missing=None) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F(on) and F(b) and F(x > 2)", "each at some point: advisory active; b true; and x above 2"),
        ("F(on) and F(b)", "at some point advisory is active, and at some point b is true"),
        ("F(on) and F(comply) and F(b) and G(x > 2)",
         "x is always above 2; each at some point: advisory is active; the pilot complies; and b is true"),
        ("F(on and b) and F(x > 2) and F(x < 1 or open)",
         "each at some point: advisory is active while b is true; x is above 2; and either x is below 1 or the valve "
         "is open"),
        ("G(on => x < 2) and G(b => x > 1)",
         "x is below 2 whenever advisory is active, and above 1 whenever b is true"),
        ("G(on => x < 2) and G(b => x > 1) and G(open => x > 0) and F(x > 5)",
         "x is below 2 whenever advisory is active, and above 1 whenever b is true, and above 0 whenever the valve is "
         "open; and at some point x is above 5"),
        ("G(on => x < 2) and G(b => rate > 1)",
         "whenever advisory is active, x is below 2; and whenever b is true, the vertical rate is above 1 ft/s"),
        ("F(x > 5) and (F(on and b) or F(rate < 2 and x > 3))",
         "at some point x is above 5; and at some point either advisory is active while b is true, or the "
         "vertical rate is "
         "below 2 ft/s while x is above 3"),
        ("F(((on and b) or (rate < 2 and x > 3)) and (open or alt > 2))",
         "at some point either both advisory is active and b is true, or both the vertical rate is below 2 ft/s "
         "and x is "
         "above 3, while either the valve is open or altitude is above 2 ft"),
    ],
)  # fmt: skip
def test_what_sentences_share_is_said_once(text, sentence):
    assert said(text) == sentence


def test_each_at_some_point_is_not_at_once():
    apart = read("each at some point: b true; x above 2; and wind below 1", SCHEMA)
    assert str(apart) == "(F(b) ∧ F(x > 2)) ∧ F(wind < 1)"


def test_only_columns_that_may_miss_values_are_said_to():
    assert said("F(not rate >= 2)", missing={"alt"}) == "at some point the vertical rate is below 2 ft/s"
    assert said("F(not rate >= 2)", missing={"rate"}) == "at some point the vertical rate is below 2 ft/s or missing"


@pytest.mark.parametrize(
    ("text", "step", "sentence"),
    [
        ("count(on) > 16", None, "advisory is active at more than 16 steps"),
        ("count(on) > 16", (1.0, "s"), "for more than 16 s in all, advisory is active"),
        ("count(on) > 16", (0.1, "s"), "for more than 1.6 s in all, advisory is active"),
        ("count(on) >= 5", None, "advisory is active at 5 or more steps"),
        ("count(on) >= 5", (2.0, "min"), "for at least 10 min in all, advisory is active"),
        ("count(on) < 3", None, "advisory is active at 2 or fewer steps"),
        ("count(on) < 3", (1.0, "s"), "for at most 2 s in all, advisory is active"),
        ("count(on) < 10", None, "advisory is active at fewer than 10 steps"),
        ("count(on) < 10", (1.0, "s"), "for less than 10 s in all, advisory is active"),
        ("count(on) = 1", None, "advisory is active at exactly 1 step"),
        ("count(on) = 3", (1.0, "s"), "for exactly 3 s in all, advisory is active"),
        ("not count(on) = 3", None, "advisory is active at other than 3 steps"),
        ("count(on) >= 3 and count(on) <= 5", None, "advisory is active at 3 to 5 steps"),
        ("count(on) >= 3 and count(on) <= 5", (1.0, "s"), "for 3 to 5 s in all, advisory is active"),
        ("count(on) < 3 or count(on) > 20", None, "advisory is active at 2 or fewer or more than 20 steps"),
        ("count(on and b) > 2.5", None, "at more than 2 steps in all, advisory is active while b is true"),
        ("count(on) > 8", (1.0, "and so on"), "for more than 8 “and so on” in all, advisory is active"),
        ("count(on) > 8", (1.0, ""), "advisory is active at more than 8 steps"),
    ],
)
def test_how_often(text, step, sentence):
    assert said(text, step=step) == sentence


def test_of_static_columns_no_time_is_said():
    columns = [Column("kg", "real", phrase="the weight", unit="kg", static=True), Column("sex", "Boolean", static=True)]
    schema = Schema([*columns, Column("y", "real")])
    assert said("F(kg > 80)", schema) == "the weight is above 80 kg"
    assert said("G(kg > 80) and F(y > 2)", schema) == "the weight is above 80 kg, and at some point y is above 2"
    assert said("F(kg > 80 and y > 2)", schema) == "at some point the weight is above 80 kg while y is above 2"
    assert said("G(sex) or G(y > 2)", schema) == "sex is true; or y is always above 2"
    assert str(read("the weight is above 80 kg", schema)) == "F(kg > 80)"


@pytest.mark.parametrize("length", [0.0, -1.0, float("inf"), float("nan")])
def test_no_step_has_such_a_length(length):
    with pytest.raises(SettingsError, match="a length above 0"):
        said("count(on) > 8", step=(length, "s"))


SPEAKING = """
Start ::= Ev | Sure | F(Low and VB) "while {VB}, {{at least once}}, {Low}" | not Ev | Ev and G(VB)
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
        ("F(rate < 1)", "once, the vertical rate is under 1 feet per second"),
        ("F(wind < 2)", "once, the wind is under two feet per second"),
        ("F(rate < 1 and on)", "while we act, {at least once}, the vertical rate is under 1 feet per second"),
        ("not F(on)", "it is not so that “once, we act”"),
        (
            "F(on) and G(rate < 1)",
            "“once, we act”; and it is always the case that the vertical rate is under 1 feet per second",
        ),
        (
            "F(on) and G(not rate < 1)",
            "“once, we act”; and it is never the case that the vertical rate is under 1 feet per second",
        ),
    ],
)
def test_a_rule_speaks_for_itself(text, sentence):
    formula = Grammar.parse(SPEAKING, SCHEMA).derive(text).expression
    term = term_of(formula)
    assert say(term, SCHEMA) == sentence
    found = read_term(sentence, SCHEMA, sentences=quotations(term, SCHEMA))
    assert same(found, term, Domains())


NAMING = """
Start ::= F(VB) | G(VB) | F(VB and VB) | count(VB) > C | Busy > C
VB ::= VR < C | VR > VR | CM = "DES" | Fast | Gap > C
VR ::= rate "climb" | wind "the gust" | alt "the air" | x "rise and fall" | since "the wait"
CM ::= mode "what is advised"
Fast ::= Near < C
Near ::= half(rate) "half the climb"
Gap ::= rate - wind "the slip"
Busy ::= count(on) "the busy time"
C ::= 1 | 2
"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F(rate < 1)", "at some point climb is below 1 ft/s"),
        ("G(rate < 1)", "climb is always below 1 ft/s"),
        ("F(rate > wind)", "at some point climb is above the gust"),
        ("F(x < 1)", "at some point “rise and fall” is below 1"),
        ("F(alt < 1)", "at some point the air “alt” is below 1 ft"),
        ("F(since < 1)", "at some point the wait is below 1 s"),
        ('F(mode = "DES")', "at some point what is advised is DES"),
        ("count(rate < 1) > 2", "climb is below 1 ft/s at more than 2 steps"),
        ("F(rate - wind > 2)", "at some point the slip is above 2 ft/s"),
        ("count(on) > 2", "the busy time is above 2"),
    ],
)
def test_a_grammars_words_for_signals_are_theirs(text, sentence):
    term = term_of(Grammar.parse(NAMING, SCHEMA, functions=FUNCTIONS).derive(text).expression, ())
    assert say(term, SCHEMA, missing=()) == sentence
    meant = quotations(term, SCHEMA, missing=())
    found = Formula.from_english(sentence, SCHEMA, functions=FUNCTIONS, quotations=meant)
    assert same(term_of(found.expression, ()), term, Domains(()))


def test_own_words_without_their_meaning_are_told_of():
    grammar = Grammar.parse(NAMING, SCHEMA, functions=FUNCTIONS)
    said_so = [say(term_of(grammar.derive("F(x < 1)").expression), SCHEMA)]
    said_so += [
        "at some point “the slip” is above 2 ft/s",
        "it is not so that “once, we act”",
        "quite so",
        said("F(turns(rate, on))"),
    ]
    for sentence in said_so:
        with pytest.raises(SpeechError, match="own words are understood only if quotations= gives their meaning"):
            Formula.from_english(sentence, SCHEMA, functions=FUNCTIONS)


def test_a_rule_that_speaks_like_a_column_is_quoted_as_a_formula():
    grammar = Grammar.parse('Start ::= F(Fast)\nFast ::= rate > 40 "altitude" | on "we act" | b "we act"', SCHEMA)
    term = And(tuple(term_of(grammar.derive(text).expression) for text in ("F(rate > 40)", "F(on)", "F(b)")))
    sentence = say(term, SCHEMA)
    assert sentence == "each at some point: “rate > 40”; we act; and b is true"
    assert same(read_term(sentence, SCHEMA, sentences=quotations(term, SCHEMA)), term, Domains())


ALIKE = Schema(
    [
        *(Column(name, "real") for name in "ABC"),
        Column("rate", "real", unit="ft", phrase="vertical rate"),
        Column("wind", "real", unit="m"),
        Column("sea", "real", high="warmer than"),
        Column("air", "real", high="warmer than"),
        *(Column(name, "Boolean") for name in ("b", "c")),
        Column("open", "Boolean", phrase="the valve is open"),
        *(Column(name, "categorical", levels=("up", "down")) for name in ("m", "n")),
        *(Column(name, "real", static=True) for name in ("kg", "cm")),
    ]
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F(A >= 20 or B >= 20)", "at some point either A or B is at least 20"),
        ("F(A >= 20 or B >= 20 or C >= 20)", "at some point either A, B or C is at least 20"),
        ("F(A < 5 and B < 5)", "at some point both A and B are below 5"),
        ("F(A < 5 and B < 5 and C < 5)", "at some point all of A, B and C are below 5"),
        ("F(A > 3 and A < 6 and B > 3 and B < 6)", "at some point both A and B are between 3 and 6"),
        ("F(open and A < 5 and B < 5)", "at some point the valve is open while both A and B are below 5"),
        ("F(open and (A < 5 or B < 5))", "at some point the valve is open while either A or B is below 5"),
        ("not F(open and A < 5 and B < 5)", "the valve is never open while both A and B are below 5"),
        ("G((A < 5 and B < 5) => open)", "whenever both A and B are below 5, the valve is open"),
        ("G((A < 5 or B < 5) => open)", "whenever either A or B is below 5, the valve is open"),
        ("G(open => (A < 5 and B < 5))", "whenever the valve is open, both A and B are below 5"),
        ("count(A < 5 and B < 5) > 2", "at more than 2 steps in all, both A and B are below 5"),
        ("F((A < 5 and B < 5) or open)", "at some point either the valve is open or both A and B are below 5"),
        ("F(b and c)", "at some point both b and c are true"),
        ('F(m = "up" or n = "up")', "at some point either m or n is up"),
        ("F(sea > 5 and air > 5)", "at some point both sea and air are warmer than 5"),
        ("F(kg < 5) or F(cm < 5)", "either kg or cm is below 5"),
        # not the same words, or not as clear
        ("F(A >= 20 or B >= 21)", "at some point either A is at least 20 or B is at least 21"),
        ("F(A >= 20 or B > 20)", "at some point either A is at least 20 or B is above 20"),
        ("F(rate < 5 and wind < 5)", "at some point the vertical rate is below 5 ft while wind is below 5 m"),
        ('F(not m = "up" and not n = "up")', "at some point m is not up while n is not up"),
        ("F(A > C and B > C)", "at some point A is above C while B is above C"),
        ("G(A < 5 and B < 5)", "A is always below 5, and B is always below 5"),
    ],
)
def test_what_is_the_same_of_several_columns_is_said_once(text, sentence):
    found = said(text, ALIKE)
    assert found == sentence


def test_columns_that_may_be_missing_are_told_apart():
    text = "not G(A < 5 and B < 5)"
    assert said(text, ALIKE) == "at some point either A or B is at least 5"
    apart = "at some point either A is at least 5 or missing, or B is at least 5 or missing"
    assert said(text, ALIKE, missing=None) == apart
    assert said(text, ALIKE, missing={"B"}) == "at some point either A is at least 5, or B is at least 5 or missing"


WORDED = """
Start ::= F(VB) | G(VB) | not F(VB) | count(VB) > C | F(VB) or G(VB)
VB ::= x1 "the alarm sounds" | x2 "crew responds" | x3 "speed is above 2" | x4 "never mind" | Near | not VB | VB and VB
Near ::= gap < C "they meet" | gap > C "they are far apart" | gap = C "they are far" | S < C "{S} is below 9"
S ::= speed
C ::= 1 | 2
"""
WORDLESS = Schema(
    [*(Column(name, "Boolean") for name in ("x1", "x2", "x3", "x4")), Column("speed", "real"), Column("gap", "real")]
)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("F(x1)", "at some point the alarm sounds"),
        ("not F(x2)", "crew never responds"),
        ("F(not x2)", "at some point crew does not respond"),
        ("F(not x1)", "at some point it is false that the alarm sounds"),
        ("not F(x2 and x1)", "crew never responds while the alarm sounds"),
        ("count(x2) > 2", "crew responds at more than 2 steps"),
        ("F(x2 and not gap < 1)", "at some point crew responds while it is not so that they meet"),
        ("G(gap > 1)", "it is always the case that they are far apart"),
        ("F(gap = 1 and x1)", "at some point the alarm sounds while they are far"),
        ("F(gap > 1 and gap = 2)", "at some point they are far apart while they are far"),
        # words that mean something else in a sentence, or begin like one, stay in quotes
        ("F(x3)", "at some point “speed is above 2”"),
        ("F(x3 and x1)", "at some point “speed is above 2” while the alarm sounds"),
        ("F(x4)", "at some point “never mind”"),
        ("F(speed < 1)", "at some point “speed is below 9”"),
    ],
)
def test_a_grammars_words_appear_like_any_others_where_they_are_clear(text, sentence):
    term = term_of(Grammar.parse(WORDED, WORDLESS).derive(text).expression, ())
    assert say(term, WORDLESS, missing=()) == sentence
    for spelling in (sentence, sentence[0].upper() + sentence[1:], f"{sentence}."):
        found = Formula.from_english(spelling, WORDLESS, quotations=quotations(term, WORDLESS, missing=()))
        assert same(term_of(found.expression, ()), term, Domains(()))


def test_a_column_that_a_grammar_has_words_for_keeps_its_own():
    meant = [("the alarm sounds", Formula.parse("F(x1)", WORDLESS).expression.args[0])]
    for sentence in ("at some point x1 is true", "at some point the alarm sounds", "at some point “the alarm sounds”"):
        assert str(Formula.from_english(sentence, WORDLESS, quotations=meant)) == "F(x1)"


NAMES = [
    "a, b", "{0}", "{{", "größe\n$", "is", "is less than", "always", "at some point", "either", "rise and fall",
    "on while off", "“quoted”", 'say "hi"', "\\", "5", "−3", "missing", "the",
    "it is false or unknown that", "x is", " x",
    "",
    "for more than 3 s in all", "it is so that x", "\u2028", "\U0001f600", "both",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_are_told_from_our_own_words(name):
    columns = [
        Column(name, "real", unit=name or None),
        Column("c", "categorical", levels=(name, "up")),
        Column("flag", "Boolean", phrase=name or "flag"),
        Column("x", "real"),
    ]
    schema = Schema(columns)
    real = next(iter(Grammar.parse("Start ::= F(each real < 1)", Schema(columns[:1])).enumerate(9))).expression
    level = next(iter(Grammar.parse("Start ::= F(c = levels)", Schema(columns[1:2])).enumerate(9))).expression
    flag = Formula.parse("G(x > 1 and flag => x < 2)", schema).expression
    for formula in (real, level, flag):
        term = term_of(formula)
        sentence = say(term, schema)
        assert sentence.isprintable()
        assert same(term_of(read(sentence, schema)), term, Domains()), sentence


def test_only_what_could_be_misread_is_quoted():
    schema = Schema(
        [Column("a", "real", phrase="rise and fall"), Column("c", "categorical", levels=("a, b", "up or so"))]
    )
    assert said("F(a > 1)", schema) == "at some point “rise and fall” is above 1"
    assert said('F(c = "a, b")', schema) == "at some point c is “a, b”"
    assert said('F(c = "up or so")', schema) == "at some point c is “up or so”"
    assert said("F(both_on)") == "at some point both advisories are active"


def test_columns_of_the_same_phrase_are_told_apart_by_their_names():
    schema = Schema([Column(name, "real", phrase="pressure") for name in ("p1", "p2")] + [Column("q", "real")])
    assert (
        said("F(p1 < q and p2 > 3)", schema) == "at some point pressure “p1” is below q while pressure “p2” is above 3"
    )
    schema = Schema([Column(name, "Boolean", phrase="it rains") for name in ("r1", "r2")])
    assert said("F(r1 and not r2)", schema) == "at some point it rains “r1” while it is false that it rains “r2”"


def test_phrases_that_hide_one_another_are_quoted():
    schema = Schema(
        [Column("a", "Boolean", phrase="it is hot"), Column("b", "categorical", phrase="it", levels=("hot",))]
    )
    assert said("F(a)", schema) == "at some point it is hot"
    assert said('F(b = "hot")', schema) == "at some point “it” is hot"


def test_a_negated_phrase_that_cannot_be_told_is_replaced():
    columns = [Column("a", "Boolean", phrase="it is hot", negated="cold and wet"), Column("b", "real")]
    assert said("F(not a)", Schema(columns)) == "at some point it is not hot"


def test_a_negated_phrase_that_could_be_misread_is_quoted():
    columns = [
        Column("a", "Boolean", phrase="it is hot or wet", negated="it is cool and dry"),
        Column("b", "Boolean", phrase="it rains or snows", negated="bare"),
        Column("bare", "Boolean", phrase="it is bare", negated="it is clad"),
    ]
    assert said("F(not a)", Schema(columns)) == "at some point “it is cool and dry”"
    assert said("not F(a)", Schema(columns), missing=None) == "it is never the case that “it is hot or wet”"
    assert said("F(not b)", Schema(columns)) == "at some point it is false that “it rains or snows”"


def test_a_negation_that_another_column_owns_is_not_taken():
    schema = Schema([Column("a", "Boolean", phrase="it is hot"), Column("b", "Boolean", phrase="it is not hot")])
    assert said("F(not a)", schema) == "at some point it is false that it is hot"
    assert said("F(b)", schema) == "at some point it is not hot"


@pytest.mark.parametrize(
    ("phrase", "negated", "always", "never", "denied"),
    [
        ("pilot 2 responds", None, "pilot 2 always responds", "pilot 2 never responds", "pilot 2 does not respond"),
        ("pilot 2 complies at once", None, "pilot 2 always complies at once", "pilot 2 never complies at once",
         "pilot 2 does not comply at once"),
        ("aircraft 2 has a traffic alert", None, "aircraft 2 always has a traffic alert",
         "aircraft 2 never has a traffic alert", "aircraft 2 has no traffic alert"),
        ("the pump has stopped", None, "the pump has always stopped", "the pump has never stopped",
         "the pump has not stopped"),
        ("a pump runs", None, None, None, "it is false that a pump runs"),
        (
            "the valve is to open", None, "the valve is always to open", "the valve is never to open",
            "it is false that the valve is to open",
        ),
        ("a pump runs hot", "a pump does not run hot", "a pump always runs hot", "a pump never runs hot",
         "a pump does not run hot"),
        ("engine status", None, None, None, "it is false that engine status"),
        ("only pilot 2 responds", None, None, None,
         "it is false that only pilot 2 responds"),
        ("the pilot who is older responds", None, None, None, "it is false that the pilot who is older responds"),
        ("pilot 2 hardly responds", None, None, None,
         "it is false that pilot 2 hardly responds"),
        ("pilot 2 does not respond", None, "pilot 2 never responds", "pilot 2 always responds", "pilot 2 responds"),
        ("it does not have a gap", None, "it never has a gap", "it always has a gap", "it has a gap"),
        ("the pilots do not respond", None, None, None, "it is false that the pilots do not respond"),
        ("responds", None, None, None, "it is false that responds"),
    ],
)  # fmt: skip
def test_an_adverb_stands_at_the_verb_where_that_can_be_told(phrase, negated, always, never, denied):
    schema = Schema([Column("a", "Boolean", phrase=phrase, negated=negated), Column("b", "real")])
    assert said("G(a)", schema) == (always or f"it is always the case that {phrase}")
    assert said("not F(a)", schema) == (never or f"it is never the case that {phrase}")
    assert said("F(not a)", schema) == f"at some point {denied}"
    assert said("F(not a)", schema, missing=None) == f"at some point it is false or unknown that {phrase}"


def test_another_columns_words_are_not_taken_for_a_negation():
    schema = Schema(
        [Column("a", "Boolean", phrase="it responds"), Column("b", "Boolean", phrase="it does not respond")]
    )
    assert said("F(not a)", schema) == "at some point it is false that it responds"
    assert said("F(b)", schema) == "at some point it does not respond"


def test_an_expression_that_is_no_formula_is_spoken_too():
    operand = Formula.parse("F(rate < 2)", SCHEMA).expression.args[0]
    assert say(term_of(operand), SCHEMA) == "the vertical rate is below 2 ft/s"


def test_an_unknown_column_is_named():
    term = term_of(Formula.parse("F(rate < 2)", SCHEMA).expression)
    with pytest.raises(DataError, match="unknown column 'rate'; did you mean 'rates'"):
        say(term, Schema([Column("rates", "real")]))


def test_a_phrase_with_too_many_operands_is_named():
    with pytest.raises(SettingsError, match=r"\{1\}, but operands go up to \{0\}"):
        said("F(careless(rate) < 2)")


def test_thousands_of_columns():
    schema = Schema(Column(f"x{i}", "real") for i in range(5000))
    text = " and ".join(f"F(x{i} < 1)" for i in np.arange(0, 5000, 500))
    assert said(text, schema).count("below 1") == 10


VALVE = Schema(
    [
        Column("x", "real", unit="ft"),
        *(Column(word, "Boolean", phrase=f"the valve is {word}") for word in ("open", "stuck", "hot")),
        Column("odd", "Boolean", phrase="the valve is open or shut"),
    ]
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("G(not open and not stuck)", "the valve is never open or stuck"),
        ("G(open and stuck)", "the valve is always open and stuck"),
        ("G(not open) and G(not stuck) and G(not hot)", "the valve is never open, stuck or hot"),
        ("G(not open and not stuck and x < 3)", "the valve is never open or stuck, and x is always below 3 ft"),
        ("G(not open and stuck)", "the valve is never open, and the valve is always stuck"),
        ("G(open and stuck and hot and x < 3)", "the valve is always open, stuck and hot; and x is always below 3 ft"),
        (
            "G(not open and not odd)",
            "the valve is never open, and it is never the case that “the valve is open or shut”",
        ),
    ],
)
def test_a_subject_that_sentences_share_is_said_once(text, words):
    formula = Formula.parse(text, VALVE)
    assert english(formula, VALVE, ()) == words
    assert english(Formula.from_english(words, VALVE), VALVE, ()) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('G(last = "DES" or b implies x < 4)', "whenever last is DES or b is true, x is below 4"),
        ('G(last = "DES" or last = "CL1500" implies x < 4)', "whenever last is CL1500 or DES, x is below 4"),
        ("G(not (x > 3 or b or on))", "x is always at most 3; b is always false; and advisory is never active"),
        ("F(x > 1 and (b or on)) and count(b) > 2",
         "at some point x is above 1 while either b is true or advisory is active; and b is true at more than 2 steps"),
    ],
)  # fmt: skip
def test_choices_and_counts_in_few_words(text, words):
    formula = Formula.parse(text, SCHEMA)
    assert english(formula, SCHEMA, ()) == words
    assert english(Formula.from_english(words, SCHEMA), SCHEMA, ()) == words
