"""User-defined functions: what they are given, what their answers mean, and what is said when they fail."""

import math

import numpy as np
import polars as pl
import pytest

from tests.support.examples import holds, records, steps

from telltree.engine import Formula
from telltree.errors import FunctionError
from telltree.logic import user_function
from telltree.panel import Panel

REAL_F = {"takes": ["real"], "gives": "real", "name": "f"}


def test_a_function_sees_the_steps_of_one_record_at_a_time():
    @user_function(takes=["real"], gives="real")
    def from_start(x):
        return x - x[0]

    assert holds("F(from_start(x) > 1)", {"x": [5.0, 6.0]}, {"x": [1.0, 3.0]}, functions=[from_start]) == [False, True]


def test_an_elementwise_function_sees_all_steps_at_once():
    seen = []

    @user_function(takes=["real"], gives="Boolean", elementwise=True)
    def positive(x):
        seen.append(x.tolist())
        return x > 0

    assert holds("G(positive(x))", {"x": [5.0, 6.0]}, {"x": [-1.0]}, functions=[positive]) == [True, False]
    assert seen == [[5, 6, -1]]


def test_what_a_function_is_given_where_values_are_missing():
    given = []

    @user_function(takes=["real", "Boolean", "categorical"], gives="Boolean")
    def look(x, b, c):
        given.extend([x.tolist(), b.tolist(), c.tolist()])
        return np.ones(len(x), dtype=bool)

    assert holds("G(look(x, b, c))", {"x": [1, None], "b": [True, None], "c": ["u", None]}, functions=[look]) == [True]
    assert given[1:] == [[True, False], ["u", None]]
    assert given[0][0] == 1
    assert math.isnan(given[0][1])


def test_what_a_function_misses_is_missing():
    @user_function(takes=["real"], gives="real", elementwise=True)
    def root(x):
        with np.errstate(invalid="ignore"):
            return np.sqrt(x)

    assert steps("root(x) < 9", [root], x=[4.0, -4.0, None]) == [True, False, False]
    assert steps("missing(root(x))", [root], x=[4.0, -4.0, None]) == [False, True, True]
    assert steps("not root(x) < 9", [root], x=[4.0, -4.0, None]) == [False, True, True]


def test_a_function_of_a_formula():
    @user_function(takes=["Boolean"], gives="Boolean")
    def just_ended(b):
        return np.concatenate([[False], b[:-1] & ~b[1:]])

    record = {"a": [True, True, False, False], "b": [False, True, False, False]}
    for text, answer in {
        "F(just_ended(F(a and b)) and a)": False,
        "F(just_ended(F(a and b)) and not a)": True,
        "count(just_ended(a or just_ended(b))) = 1": True,
        "F(just_ended(count(b) = 1))": False,
    }.items():
        assert holds(text, record, functions=[just_ended]) == [answer]


def failing(implementation, **changes):
    function = user_function(**(REAL_F | changes))(implementation)
    text = "F(f(x) < 2)" if function.gives == "real" else "F(f(x))"
    panel = Panel.from_frame(pl.DataFrame({"flight": ["AB12", "AB12"], "x": [1.0, 2.0]}), id="flight")
    with pytest.raises(FunctionError) as raised:
        Formula.parse(text, panel.schema, functions=[function])(panel)
    return raised.value


@pytest.mark.parametrize("returned", [1.0, [1.0], [[1.0, 2.0]], []])
def test_a_function_must_return_one_value_a_step(returned):
    message = str(failing(lambda x: np.array(returned)))
    assert "function 'f', record 'AB12'" in message
    assert f"shape (2,), but returned shape {np.shape(returned)}" in message


def test_a_function_that_gives_booleans_must_return_booleans():
    assert "must return Booleans, but returned float64" in str(failing(lambda x: x, gives="Boolean"))
    assert "must return Booleans, but returned int" in str(failing(lambda x: x.astype(int), gives="Boolean"))


@pytest.mark.parametrize("returned", [["a", "b"], [True, False], [1j, 2j], [None, 1.0]])
def test_a_function_that_gives_numbers_must_return_numbers(returned):
    assert "must return numbers, but returned" in str(failing(lambda x: np.array(returned)))


def test_whole_numbers_are_numbers():
    assert holds("F(f(x) = 2)", {"x": [2.5]}, functions=[user_function(**REAL_F)(lambda x: x.astype(np.int32))]) == [
        True
    ]


def test_a_function_that_raises_is_named_with_its_record_and_reason():
    error = failing(lambda x: x / {}["speed"])
    assert "function 'f', record 'AB12': it raised KeyError: 'speed'" in str(error)
    assert isinstance(error.__cause__, KeyError)
    assert "record" not in str(failing(lambda x: x / {}["speed"], elementwise=True))


def test_what_a_function_does_to_its_operands_harms_nobody():
    def spoil(x):
        if x.flags.writeable:
            x[:] = -1.0
        return np.zeros(len(x))

    function = user_function(**REAL_F)(spoil)
    assert holds("F(f(x) = 0) and F(x = 5)", {"x": [5.0]}, functions=[function]) == [True]


@pytest.mark.parametrize("elementwise", [True, False])
def test_functions_are_not_called_for_no_records(elementwise):
    @user_function(takes=["real"], gives="real", elementwise=elementwise)
    def from_start(x):
        return x - x[0]

    panel = records({"x": [1.0]})
    formula = Formula.parse("F(from_start(x) < 2)", panel.schema, functions=[from_start])
    assert formula(panel[[]]).shape == (0,)
