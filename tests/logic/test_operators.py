"""Every operator means something to everyone who speaks of operators, and what means nothing to somebody is refused."""

import pytest

from tests.support.effort import share
from tests.support.operator_checks import Asked, formulas_with, lacking, records

from telltree.logic import OPERATORS
from telltree.logic.meaning import LESS, Joins, Makes, MicroOp
from telltree.logic.operators import CHANGE, Form, Operator, Parameter, Quantity, register

FORMULAS = share(6, 2)


def test_everyone_knows_every_operator():
    assert not lacking(), "\n".join(lacking())


@pytest.fixture(scope="module")
def case():
    return records()


@pytest.fixture(scope="module", params=list(OPERATORS), ids=lambda row: row.name)
def asked_about(request, case):
    return [Asked(plain, case) for plain in formulas_with(request.param, FORMULAS)]


def test_it_is_written_and_read(asked_about):
    for asked in asked_about:
        asked.check_text()


def test_the_engine_agrees_with_the_oracle(asked_about):
    for asked in asked_about:
        asked.check_engine()
        asked.check_robustness()


def test_english_is_read_back(asked_about):
    for asked in asked_about:
        asked.check_english()


def test_a_step_decides(asked_about):
    for asked in asked_about:
        asked.check_decisive_steps()


def test_what_follows_is_found_or_not(asked_about):
    for asked in asked_about:
        asked.check_implication()


def test_targets_say_it_or_say_that_they_cannot(asked_about, tmp_path):
    for asked in asked_about[: share(2, 1)]:
        asked.check_sql()
        asked.check_python(tmp_path)
        asked.check_stl()


def test_formulas_that_are_drawn_are_not_all_true_or_all_false(case):
    truths = [sum(Asked(plain, case).truth) for row in OPERATORS for plain in formulas_with(row, 2)]
    assert sum(0 < true < len(case.records) for true in truths) > len(truths) / 2


def row(**changed):
    """A row that is like that of change, but for some fields."""
    fields = {name: getattr(CHANGE, name) for name in Operator.__dataclass_fields__}
    return Operator(**(fields | {"name": "toy", "spellings": ("toy",)} | changed))


def test_a_row_that_contradicts_itself_is_refused():
    with pytest.raises(ValueError, match="'j' bounds its window, but is no number of steps that it takes"):
        row(means=Joins(MicroOp.SOME_WITHIN, (0, "j")))
    with pytest.raises(ValueError, match="AND: a window is for what looks along time"):
        row(means=Joins(MicroOp.AND, (0, 1)))
    with pytest.raises(ValueError, match="EVENTUALLY: a window is for what looks along time"):
        row(means=Joins(MicroOp.EVENTUALLY))
    with pytest.raises(ValueError, match="there is an operator 'change' already"):
        register(row(spellings=("toy", "change")))


def test_parameters_are_no_operands():
    toy = row(takes=2, form=Form.CALL, parameters=(Parameter("a", "start", least=0), Parameter("b", "end", example=9)))
    assert toy.arity == 4
    assert toy.example == "toy(x, y, 5, 9)"
    assert row(means=Makes(outcomes=LESS)).traits.outcomes == LESS
    assert not Parameter("k", "steps").allows(1.5)
    assert not Parameter("k", "steps", most=7).allows(8.0)
    assert Parameter("k", "share", Quantity.NUMBER, 0.0, 1.0, 0.5).wanted == "a number of at least 0 and at most 1"
    with pytest.raises(ValueError, match=r"parameter k: 0 is no example of a whole number of at least 1"):
        Parameter("k", "steps", example=0)
