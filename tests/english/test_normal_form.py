"""The normal form, rule by rule."""

import pytest

from telltree.english import cost, expression_of, plain, simpler_side, term_of
from telltree.english.terms import FALSE, TRUE, And, CountIn, Eventually, Globally, Opaque, Or, OrderIn, ValueIn
from telltree.english.value_sets import Interval, Names, Orders, Reals, Truths
from telltree.errors import GrammarError
from telltree.grammar import Grammar, parse_formula
from telltree.logic import Attribute, Expression, Number, Type, operator_named, user_function
from telltree.panel import Column, Schema

SCHEMA = Schema(
    [
        *(Column(name, "real") for name in ("x", "y", "z", "F", "größe")),
        *(Column(name, "Boolean") for name in ("a", "b", "c", "and", 'a "b" \\ `c`')),
        Column("mode", "categorical", levels=("up", "down", "purge", "")),
        Column("was", "categorical", levels=("up", "down")),
    ]
)
NONE: tuple[str, ...] = ()


@user_function(takes=["real"], gives="real")
def half(x):
    return x / 2


@user_function(takes=["Boolean"], gives="Boolean")
def so_far(b):
    return b


FUNCTIONS = (half, so_far)


def parsed(text):
    return parse_formula(text, SCHEMA, functions=FUNCTIONS)


def said(text, missing=NONE, **more):
    return str(plain(parsed(text), missing, **more))


def same(text, wanted, missing=NONE, **more):
    """Whether what is made of a formula is the wanted one, in whatever spelling that is given."""
    assert said(text, missing, **more) == str(parsed(wanted))


EXAMPLES = [
    ("not F(a)", "G(not a)"),
    ("G(x < 0.5)", "G(x < 0.5)"),
    ("not F(x >= 0.66)", "G(x < 0.66)"),
    ("F(abs(x) > 500)", "F(abs(x) > 500)"),
    ("not F(abs(x) >= 125 and a)", "G(a => abs(x) < 125)"),
    ("F(x > 65 and a)", "F(x > 65 and a)"),
    ("count(a) > 16", "count(a) >= 17"),
    ('not G((a or mode = "purge") => x < 4.22)', 'F((a or mode = "purge") and x >= 4.22)'),
    ("G(x > 0.52 => (y <= -0.1 => z < 1.6))", "G((x <= 0.52 or y > -0.1) or z < 1.6)"),
    ('F(mode = "up" and x < -5)', 'F(mode = "up" and x < -5)'),
    ("not G(abs(x) < 100 => (y >= 2 or a))", "F((abs(x) < 100 and y < 2) and not a)"),
]
"""Of the page on plain speech."""


@pytest.mark.parametrize(("text", "wanted"), EXAMPLES)
def test_examples_of_plain_speech(text, wanted):
    same(text, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F(not(a => b))", "F(a and not b)"),
        ("F(not(a or not b))", "F(not a and b)"),
        ("not F(a and b)", "G(not(a and b))"),
        ("not (F(a) or F(b))", "G(not a and not b)"),
        ("not count(a) < 3", "count(a) >= 3"),
        ("not count(a) < count(b)", "count(a) >= count(b)"),
        ("not count(a) = count(b)", "not count(a) = count(b)"),
    ],
)
def test_negation_goes_inwards(text, wanted):
    same(text, wanted)


@pytest.mark.parametrize(
    ("text", "never", "maybe"),
    [
        ("F(5 > x)", "F(x < 5)", "F(x < 5)"),
        ("F(not x < 5)", "F(x >= 5)", "F(not x < 5)"),
        ("F(not x = 5)", "F(not x = 5)", "F(not x = 5)"),
        ("F(x < 5 or x > 5)", "F(not x = 5)", "F(x < 5 or x > 5)"),
        (
            "F(x > 2 and x < 5 and not x = 3)",
            "F((x > 2 and x < 5) and not x = 3)",
            "F((x > 2 and x < 5) and not x = 3)",
        ),
        ("F(not (x > 2 and x < 5))", "F(x <= 2 or x >= 5)", "F(not (x > 2 and x < 5))"),
        ("F(x > -2 and x < 2)", "F(abs(x) < 2)", "F(abs(x) < 2)"),
        ("F(x < -2 or x > 2)", "F(abs(x) > 2)", "F(abs(x) > 2)"),
        ("F(abs(x) <= 2 and x >= 0)", "F(x >= 0 and x <= 2)", "F(x >= 0 and x <= 2)"),
        ("F(sign(x) = 1)", "F(x > 0)", "F(x > 0)"),
        ("F(not sign(x) > 0)", "F(x <= 0)", "F(not x > 0)"),
        ("F(not abs(sign(x)) = 1)", "F(x = 0)", "F(not abs(x) > 0)"),
        ("F(x = x)", "F(missing(x) or not missing(x))", "F(not missing(x))"),
        ("F(x < x)", "F(missing(x) and not missing(x))", "F(missing(x) and not missing(x))"),
        ("F(missing(x))", "F(missing(x) and not missing(x))", "F(missing(x))"),
        ("F(missing(x) or x > 5)", "F(x > 5)", "F(not x <= 5)"),
        ("F(missing(x) or x = 5)", "F(x = 5)", "F(x = 5 or missing(x))"),
        ("F(y - x < 3)", "F(y - x < 3)", "F(y - x < 3)"),
        ("F(not y - x < 3)", "F(y - x >= 3)", "F(not y - x < 3)"),  # inf - inf is missing
        ("F(not x - 1 < 3)", "F(x - 1 >= 3)", "F(not x - 1 < 3)"),
        ("F(not x - sign(y) < 3)", "F(x - sign(y) >= 3)", "F(not x - sign(y) < 3)"),
        ("F(y - x < -3)", "F(x - y > 3)", "F(x - y > 3)"),
        ("F(not half(x) < 3)", "F(not half(x) < 3)", "F(not half(x) < 3)"),
        ("F(missing(x - y))", "F(missing(x) and not missing(x))", "F(missing(x - y))"),
        ("F(y > x)", "F(x < y)", "F(x < y)"),
        ("F(not x < y)", "F(x >= y)", "F(not x < y)"),
        ("F(x < y or x > y)", "F(not x = y)", "F(x < y or x > y)"),
        ("F(not a)", "F(not a)", "F(not a)"),
        ("F(not a and not missing(a))", "F(not a)", "F(not a and not missing(a))"),
        ("F(a or missing(a))", "F(a)", "F(a or missing(a))"),
        ("F(missing(not a))", "F(a and not a)", "F(a and not a)"),
        ("F(missing(so_far(a)))", "F(a and not a)", "F(a and not a)"),
        ('F(mode = "up" or mode = "")', 'F(mode = "" or mode = "up")', 'F(mode = "" or mode = "up")'),
        ('F(not mode = "up" and mode = "down")', 'F(mode = "down")', 'F(mode = "down")'),
        ('F(not mode = "up" and not missing(mode))', 'F(not mode = "up")', 'F(not mode = "up" and not missing(mode))'),
        ('F(mode = "" or missing(mode))', 'F(mode = "")', 'F(mode = "" or missing(mode))'),
        ("F(was = mode)", "F(mode = was)", "F(mode = was)"),
        ("F(not was = mode)", "F(not mode = was)", "F(not mode = was)"),
    ],
)
def test_literals_are_sets_of_values(text, never, maybe):
    same(text, never)
    same(text, maybe, None)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F(a and (b and (a and c)))", "F((a and b) and c)"),
        ("F(a and (a or b))", "F(a)"),
        ("F(a or a and b)", "F(a)"),
        ("F(x > 5 and x > 3)", "F(x > 5)"),
        ("F(x > 5 or x > 3)", "F(x > 3)"),
        ("F(x > 5 and (x > 3 or b))", "F(x > 5)"),
        ("F(x > 5 and (x < 3 or b))", "F(x > 5 and b)"),
        ("F(x > 5 and (x < 9 and x > 3 or b))", "F(x > 5 and (x < 9 or b))"),
        ("F(a or not a and b)", "F(a or b)"),
        ("F(a and b or a and c)", "F(a and (b or c))"),
        ("F((a or b) and (a or c))", "F(a) or F(b and c)"),
        ("F(a and b or not a and b)", "F(b)"),
        ("F(a and b or (not a and c or b and c))", "F(a and b) or F(not a and c)"),
        ("F(a and not a)", "F(a and not a)"),
        ("G(a or not a)", "F(a or not a)"),
    ],
)
def test_lists_say_nothing_twice(text, wanted):
    same(text, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F(F(a))", "F(a)"),
        ("G(G(a))", "G(a)"),
        ("G(F(a))", "F(G(a))"),
        ("F(G(F(a)))", "F(G(a))"),
        ("F(G(a and F(b)))", "F(G(a and b))"),
        ("not F(G(a))", "F(G(not a))"),
        ("F(G(a)) and F(G(b))", "F(G(a and b))"),
        ("F(a) or F(b)", "F(a or b)"),
        ("G(a) and G(b)", "G(a and b)"),
        ("F(a or F(b))", "F(a or b)"),
        ("F(a or G(b))", "F(a) or F(G(b))"),
        ("F(F(a) and F(b))", "F(a) and F(b)"),
        ("F(a and F(b))", "F(a and F(b))"),
        ("G(a => F(b))", "G(a => F(b))"),
        ("G(a and (b or c))", "G(a) and G(b or c)"),
        ("G(not a) and F(a or b)", "G(not a) and F(b)"),
        ("G(x < 3) and F(x < 5 and a)", "G(x < 3) and F(a)"),
        ("G(a => b) and F(a and b)", "G(a => b) and F(a)"),
        ("F(a) and F(a and b)", "F(a and b)"),
        ("F(a) and G(not a)", "F(a and not a)"),
        ("F(a) or G(not a)", "F(a or not a)"),
        ("F(G(x > 2)) and G(x > 1)", "F(G(x > 2)) and G(x > 1)"),
        ("F(G(x > 1)) and G(x > 2)", "G(x > 2)"),
    ],
)
def test_time(text, wanted):
    same(text, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("count(a) >= 1", "F(a)"),
        ("count(a) > 0.5", "F(a)"),
        ("count(a) = 0", "G(not a)"),
        ("count(a and b) < 1", "G(not(a and b))"),
        ("count(a) > 2.5", "count(a) >= 3"),
        ("count(a) > -1", "F(a or not a)"),
        ("count(a) = 1.5", "F(a and not a)"),
        ("count(a) > 1 and count(a) < 5", "count(a) >= 2 and count(a) <= 4"),
        ("count(a and b) > 1 and count(b and a) < 3", "count(a and b) = 2"),
        ("not count(a) = 3", "not count(a) = 3"),
        ("abs(count(a)) < 3", "count(a) <= 2"),
        ("sign(count(a)) = 1", "F(a)"),
        ("F(count(a) > 2 and b)", "count(a) >= 3 and F(b)"),
        ("F(b and count(a) > 0)", "F(b) and F(a)"),
        ("G(count(a) > 2 or b)", "count(a) >= 3 or G(b)"),
        ("F(a) and count(a) > 5", "count(a) >= 6"),
        ("G(b) and count(a and b) > 5", "G(b) and count(a) >= 6"),
        ("G(a) and count(a) > 5", "G(a) and count(a) >= 6"),
        ("count(F(a)) > 2", "count(F(a)) >= 3"),
        ("count(count(a) > 2) > 0", "count(a) >= 3"),
        ("count(a) - count(b) < 3", "count(a) - count(b) < 3"),
        ("F(count(a) < count(b)) or not G(count(a) < count(b))", "F(a or not a)"),
    ],
)
def test_counts(text, wanted):
    same(text, wanted)


@pytest.mark.parametrize(
    "text",
    [
        "F(a and F(b))",
        "count(a) >= 2 and F(b and F(a))",
        "F(b and (x > 1 or (G(a) and count(a and c) >= 2)))",
    ],
)
def test_a_count_is_of_the_whole_record_and_f_and_g_are_not(text):
    same(text, text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("G(a)", "F(a)"),
        ("F(a and x > 1)", "F(a and x > 1)"),
        ("F(a and x > 1) and F(a and y > 1)", "F(a) and F(x > 1) and F(y > 1)"),
        ("G(a or x > 1)", "F(a) or G(x > 1)"),
        ("F(a) and G(not a)", "F(a and not a)"),
        ("F(a and b)", "F(a and b)"),
        ("G(x > 1 => F(a))", "F(a) or G(x <= 1)"),
    ],
)
def test_static_columns_say_the_same_at_every_step(text, wanted):
    same(text, wanted, static={"a", "b"})


@pytest.mark.parametrize(
    ("text", "asked", "turned", "missing"),
    [
        ("not F(a)", "F(a)", True, None),
        ("G(a)", "G(a)", False, None),
        ("G(x < 3)", "F(x >= 3)", True, NONE),
        ("G(x < 3)", "G(x < 3)", False, None),
        ("not G(x < 3)", "G(x < 3)", True, None),
        ("F(x < 3)", "F(x < 3)", False, NONE),
        ("not F(abs(x) >= 125 and a)", "F(abs(x) >= 125 and a)", True, NONE),
        ("not G(a => b)", "G(a => b)", True, NONE),
        ("G(not a and not b)", "F(a or b)", True, NONE),
        ("count(a) < 3", "count(a) <= 2", False, NONE),
        ("not count(a) = 3", "count(a) = 3", True, NONE),
    ],
)
def test_of_a_formula_and_its_complement_the_plainer_is_asked(text, asked, turned, missing):
    assert tuple(map(str, simpler_side(parsed(text), missing))) == (str(parsed(asked)), str(turned))


def test_terms_are_what_they_are_said_to_be():
    x, mode = Expression(Attribute("x", Type.REAL_VECTOR)), Expression(Attribute("mode", Type.CATEGORICAL_VECTOR))
    y, a = Expression(Attribute("y", Type.REAL_VECTOR)), Expression(Attribute("a", Type.BOOLEAN_VECTOR))
    low = ValueIn(x, Reals((Interval(high=3.0, with_high=False),), False))
    not_up = ValueIn(mode, Names(frozenset(["up"]), True, True))
    assert term_of(parsed('F(x < 3 and not mode = "up")')) == Eventually(And((low, not_up)))
    assert term_of(parsed("G(not a or y <= x)"), NONE) == Globally(
        Or((ValueIn(a, Truths(False, True, False)), OrderIn(x, y, Orders(False, True, True, False))))
    )
    assert term_of(parsed("count(a) < 3")) == CountIn(
        ValueIn(a, Truths(True, False, False)), Reals((Interval(0.0, 2.0),), False)
    )
    assert term_of(parsed("count(a or not a) > 4")) == CountIn(TRUE, Reals((Interval(5.0),), False))
    calls = parsed("F(not so_far(a))")
    assert term_of(calls) == Eventually(Opaque(calls.args[0].args[0], False))
    assert term_of(parsed("F(a and not a)")) == FALSE


def test_a_boolean_vector_is_asked_at_every_step():
    vector = parsed("F(count(a) > 0 and (b or b))").args[0]
    assert str(expression_of(term_of(vector))) == "(count(a) ≥ 1) ∧ b"


GRAMMAR = """
Start ::= F(VB) | not F(VB)
VB    ::= Near | VB and VB | a | Far < 3
Near  ::= abs(x - y) < 5 "the two are close"
Far   ::= abs(x) "the distance"
"""


def test_a_grammars_own_sentence_stays_whole():
    grammar = Grammar.parse(GRAMMAR, SCHEMA)
    near = next(rule.template for rule in grammar.rules if rule.template.english == "the two are close")
    negated = Expression(operator_named("not"), (near,))
    always = Expression(operator_named("not"), (Expression(operator_named("F"), (near,)),))
    assert term_of(always) == Globally(Opaque(near, False))
    assert plain(always) == Expression(operator_named("G"), (negated,))
    assert plain(always).args[0].args[0].english == "the two are close"


def test_a_signal_with_own_words_keeps_them():
    x = Expression(Attribute("x", Type.REAL_VECTOR))
    distance = Expression(operator_named("abs"), (x,), "the distance", (x,))
    near = Expression(operator_named("<"), (distance, Expression(Number(3.0))))
    formula = Expression(operator_named("F"), (near,))
    found = plain(formula)
    assert found == formula
    assert found.args[0].args[0].english == "the distance"


@pytest.mark.parametrize("text", ["F(`F` > 1 and `and`)", 'F(`a "b" \\\\ \\u0060c\\u0060` and größe < 2)'])
def test_odd_names(text):
    assert said(text) == str(parsed(text))


def test_without_any_column_nothing_is_always_true():
    with pytest.raises(GrammarError, match="without any column"):
        expression_of(TRUE)
    call = "G(half(3) < 1) or not G(half(3) < 1)"
    assert said(call) == f"F(({parsed(call)}) ∨ ¬({parsed(call)}))"


@pytest.mark.parametrize(
    ("text", "effort"),
    [
        ("F(a)", 2),
        ("F(not a)", 5),
        ("G(not a)", 5),
        ("F(x > 1)", 2),
        ("F(x > 1 and x < 3)", 4),
        ("F(abs(x) < 3)", 2),
        ("F(not x = 3)", 5),
        ('F(mode = "up" or mode = "down")', 4),
        ("F(a and b)", 3),
        ("F(a and (b or c))", 6),
        ("F(a and F(b))", 6),
        ("G(a or b)", 4),
        ("G(a => b)", 4),
        ("G(not(a and b))", 6),
        ("F(G(a))", 3),
        ("count(a) > 3", 2),
        ("count(a) > 3 and count(a) < 9", 4),
        ("F(a) and G(b)", 4),
        ("F(a) and (F(b) or G(c))", 8),
    ],
)
def test_cost(text, effort):
    assert cost(term_of(parsed(text), NONE)) == effort
