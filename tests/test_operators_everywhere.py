"""Every operator means something to everyone who speaks of operators, and what means nothing to somebody is refused."""

import numpy as np
import oracle
import pytest
from class_trees import class_leaf, class_tree
from conftest import MIXED
from oracle_form import judged
from strategies import panel_of

from telltree import Formula, SettingsError, export_model
from telltree.errors import OperatorError
from telltree.explain import decisive_step, english
from telltree.export import TARGETS
from telltree.operators import OPERATORS, Attribute, Expression, Number, Operator, Type
from telltree.operators.table import EVENTUALLY, GREATER, Form
from telltree.tree import Node

SAMPLES = {
    "F": "F(on)",
    "G": "G(F(on))",
    "and": "F(on and speed > 1)",
    "or": "G(on or speed > 1)",
    "not": "F(not on)",
    "implies": "G(on implies speed > 1)",
    "<": "F(speed < 1)",
    "<=": "F(speed <= 1)",
    ">": "F(height > 2)",
    ">=": "F(height >= 2)",
    "=": 'F(mode = "up")',
    "abs": "F(abs(speed) > 2)",
    "-": "F(speed - height > 0)",
    "sign": "F(sign(speed) = 1)",
    "count": "count(on) > 1",
    "missing": "F(missing(height))",
    "elapsed": "F(on and elapsed() > 1)",
    "gone": "F(on and gone() > 0.5)",
    "change": "F(change(speed, 1) > 1)",
}
SILENT = {"text", "latex", "dot"}
"""Targets that take an operator's words from its row."""


def tree_of(formula, panel):
    return class_tree(
        Node(formula, class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))), ("a", "b"), panel.schema
    )


def test_every_operator_has_a_sample():
    assert set(SAMPLES) == {operator.name for operator in OPERATORS}


@pytest.fixture(params=SAMPLES)
def formula(request, panel):
    found = Formula.parse(SAMPLES[request.param], panel.schema)
    assert any(isinstance(e.head, Operator) and e.head.name == request.param for e in found.expression.walk())
    return found


def test_the_engine_agrees_with_the_oracle(formula, panel, plain):
    expected = [bool(oracle.truth(judged(formula.expression), record, {})) for record in plain]
    assert formula(panel).tolist() == expected
    assert 0 < sum(expected) < len(expected)


def test_english_is_read_back(formula, panel):
    said = english(formula.expression, panel.schema)
    again = Formula.from_english(said, panel.schema, step=panel.step)
    assert np.array_equal(again(panel), formula(panel)), said
    assert english(formula.expression, panel.schema, style="paper")


def test_a_step_decides(formula, panel):
    assert all(0 <= decisive_step(formula, panel, k) < length for k, length in enumerate(panel.lengths.tolist()))


@pytest.mark.parametrize("target", TARGETS)
def test_targets_say_it_or_say_that_they_cannot(formula, panel, target):
    try:
        assert export_model(tree_of(formula, panel), target)
    except SettingsError as error:
        assert "cannot be exported" in str(error)  # noqa: PT017  either is right
        assert target in {"stl", "sql", "python"}


def _vector(types):
    return Type.BOOLEAN_VECTOR if len(types) == 2 else Type.REAL_VECTOR


def toys():
    """Operators that have a row and nothing else: one that joins conditions, and one that makes a signal."""
    until = Operator("until", "U", ("until",), Form.INFIX, 2, _vector, "", r"\mathrm{U}", "{0} until {1}")
    smooth = Operator("smooth", "smooth", ("smooth",), Form.CALL, 1, _vector, "", r"\mathrm{smooth}", "smooth {0}")
    speed, zero = Expression(Attribute("speed", Type.REAL_VECTOR)), Expression(Number(0.0))
    fast, on = Expression(GREATER, (speed, zero)), Expression(Attribute("on", Type.BOOLEAN_VECTOR))
    yield Formula(Expression(EVENTUALLY, (Expression(until, (fast, on)),)))
    yield Formula(Expression(EVENTUALLY, (Expression(GREATER, (Expression(smooth, (speed,)), zero)),)))


@pytest.mark.parametrize("toy", list(toys()), ids=["until", "smooth"])
def test_an_operator_that_has_only_a_row_is_refused_by_all_who_must_know_it(toy):
    records = [{"speed": [1.0, -1.0], "height": [0.0, 0.0], "on": [True, False], "mode": ["up", "up"]}]
    panel = panel_of(MIXED, records)
    for asked in (toy, toy.over_time, lambda panel: decisive_step(toy, panel, 0)):
        with pytest.raises(OperatorError, match=r"has no meaning in .*; CONTRIBUTING\.md"):
            asked(panel)
    with pytest.raises(OperatorError, match="speech"):
        english(toy.expression, panel.schema)
    for target in set(TARGETS) - SILENT:
        with pytest.raises((OperatorError, SettingsError)):
            export_model(tree_of(toy, panel), target)
