"""The normal form judged by the oracle, on random formulas over random ragged panels."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import examples, few_fast
from tests.support.oracle_form import judged
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, Column, RandomFormulas, draw_case, draw_columns

from telltree.english import cost, expression_of, plain, simpler_side, term_of
from telltree.english.conversion import direct_term
from telltree.english.terms import Domains
from telltree.logic import Attribute, Expression, Level, Number, Shape, Type, operator_named

# 10 seeds × 3 kinds of formulas × 90 formulas × 4 panels = 10,800 cases.
SEEDS, FORMULAS = 10, 90
PANELS = ((1, 1), (2, 3), (1, 4), (1, 2, 3))  # lengths of the records

TYPES = {"real": Type.REAL_VECTOR, "Boolean": Type.BOOLEAN_VECTOR, "categorical": Type.CATEGORICAL_VECTOR}
CALLED = {function.name: function for function in FUNCTIONS}

FEW = (
    Column("x", "real"), Column("y", "real", static=True), Column("b", "Boolean"), Column("s", "Boolean", static=True),
    Column("m", "categorical", ("up", "down")),
)  # fmt: skip


class FewValues(RandomFormulas):
    """Formulas over few columns and constants, so that what is said of one signal meets often."""

    def boolean_call(self, depth):
        return self.on(depth)

    def call(self, gives, depth):
        return self.attribute(gives)

    def real(self, depth):
        return self.attribute("real") if self.rng.random() < 0.8 else super().real(depth)

    def number(self):
        return ("number", self.rng.choice((0.0, 1.0, 2.0, -1.0)))

    def whole(self, depth):
        return ("number", self.rng.choice((0.0, 1.0, 2.0, 0.5)))


class ManyCounts(FewValues):
    """Formulas with counts at any depth."""

    def atom(self, depth):
        return self.comparison_of_counts(1) if self.rng.random() < 0.3 else super().atom(depth)

    def count(self, depth):
        return ("count", self.vector(depth - 1))


def expression(formula, columns):
    """The oracle's formula as an expression."""
    types = {column.name: TYPES[column.type] for column in columns}

    def built(formula):
        match formula:
            case ("x", name):
                return Expression(Attribute(name, types[name]))
            case ("number", value):
                return Expression(Number(value))
            case ("shape", values):
                return Expression(Shape(values))
            case ("level", name):
                return Expression(Level(name))
            case ("call", name, *operands):
                return Expression(CALLED[name], tuple(map(built, operands)))
            case (head, *operands):
                return Expression(operator_named(head), tuple(map(built, operands)))

    return built(formula)


def truths(formula, records):
    return [oracle.truth(formula, record, PLAIN_FUNCTIONS) for record in records]


def missing_in(records):
    """The columns that miss values, or are infinite, in these records."""
    values = [(name, value) for record in records for name, steps in record.items() for value in steps]
    return {name for name, value in values if value is None or (isinstance(value, float) and not math.isfinite(value))}


def draw_formula(rng, kind, depth=5):
    columns = draw_columns(rng) if kind is RandomFormulas else FEW
    draw = kind(rng, columns)
    return columns, draw, draw.boolean(rng.randint(1, depth))


def said(e, formula, records, missing, columns):
    """All that is promised of one formula on some records."""
    static = {column.name for column in columns if column.static}
    found = plain(e, missing, static=static)
    answers = truths(formula, records)
    assert found.type is Type.BOOLEAN
    assert truths(judged(found), records) == answers, f"{e}\n{found}\non {records}, {missing} may miss values"
    return found, answers


@pytest.mark.parametrize("kind", [RandomFormulas, FewValues, ManyCounts])
@pytest.mark.parametrize("seed", few_fast(range(SEEDS)))
def test_ten_thousand_random_cases_agree(seed, kind):
    rng = random.Random(seed)
    for _ in range(FORMULAS):
        columns, _, formula = draw_formula(rng, kind)
        e = expression(formula, columns)
        panels = [draw_case(rng, columns, lengths).records for lengths in PANELS]
        said(e, formula, [record for panel in panels for record in panel], None, columns)
        for panel in panels:
            said(e, formula, panel, missing_in(panel), columns)


@examples(150)
@given(st.randoms(use_true_random=False), st.sampled_from([RandomFormulas, FewValues]))
def test_small_cases_agree(rng, kind):
    columns, _, formula = draw_formula(rng, kind, depth=3)
    records = draw_case(rng, columns, [rng.randint(1, 3) for _ in range(2)]).records
    for missing in (None, missing_in(records)):
        said(expression(formula, columns), formula, records, missing, columns)


@pytest.mark.parametrize("kind", [RandomFormulas, FewValues])
@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_plain_is_plain_already(seed, kind):
    rng = random.Random(seed)
    for _ in range(100):
        columns, _, formula = draw_formula(rng, kind)
        e = expression(formula, columns)
        records = draw_case(rng, columns, (1, 2, 3)).records
        static = {column.name for column in columns if column.static}
        for missing in (None, missing_in(records)):
            term = term_of(e, missing, static=static)
            assert cost(term) <= cost(direct_term(e, Domains(missing, static)))
            once, answers = said(e, formula, records, missing, columns)
            again = term_of(once, missing, static=static)
            assert cost(again) <= cost(term), f"{e}\n{once}"
            twice, same = said(once, judged(once), records, missing, columns)
            assert same == answers
            assert twice.terminals <= once.terminals


@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_a_question_is_the_formula_or_its_complement(seed):
    rng = random.Random(seed)
    for _ in range(100):
        columns, _, formula = draw_formula(rng, FewValues)
        e = expression(formula, columns)
        records = draw_case(rng, columns, (1, 2, 3, 4)).records
        for missing in (None, missing_in(records)):
            asked, turned = simpler_side(e, missing)
            assert truths(judged(asked), records) == [answer != turned for answer in truths(formula, records)]
            negated = Expression(operator_named("not"), (e,))
            assert asked == plain(negated if turned else e, missing)
            assert cost(term_of(asked, missing)) <= min(cost(term_of(side, missing)) for side in (e, negated))


@pytest.mark.parametrize("kind", [RandomFormulas, FewValues, ManyCounts])
@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_boolean_vectors_agree_at_every_step(seed, kind):
    rng = random.Random(seed)
    for _ in range(100):
        columns, draw, _ = draw_formula(rng, kind)
        formula = draw.vector(rng.randint(1, 4))
        e = expression(formula, columns)
        if e.type is not Type.BOOLEAN_VECTOR:
            continue
        records = draw_case(rng, columns, (1, 2, 3, 5)).records
        static = {column.name for column in columns if column.static}
        witness = Expression(Attribute(columns[0].name, TYPES[columns[0].type]))
        for missing in (None, missing_in(records)):
            found = expression_of(term_of(e, missing, static=static), missing, witness)
            for record in records:
                wanted = oracle.over_time(formula, record, PLAIN_FUNCTIONS)
                assert oracle.over_time(judged(found), record, PLAIN_FUNCTIONS) == wanted, f"{e}\n{found}\non {record}"


@pytest.mark.parametrize("seed", few_fast(range(4)))
def test_large_formulas_agree_too(seed):
    rng = random.Random(seed)
    columns = FEW
    formula = FewValues(rng, columns).boolean(12)
    while not 150 < expression(formula, columns).terminals < 400:
        formula = FewValues(rng, columns).boolean(12)
    records = draw_case(rng, columns, (1, 2, 3, 4)).records
    said(expression(formula, columns), formula, records, None, columns)
    said(expression(formula, columns), formula, records, missing_in(records), columns)


def test_deep_formulas_agree_too():
    rng = random.Random(0)
    draw = FewValues(rng, FEW)
    formula = draw.boolean(2)
    for i in range(38):
        formula = rng.choice([("F", formula), ("G", formula), ("not", formula), ("and", formula, draw.boolean(1))])
        if i % 6 == 0:
            records = draw_case(rng, FEW, (1, 2, 3)).records
            said(expression(formula, FEW), formula, records, missing_in(records), FEW)
