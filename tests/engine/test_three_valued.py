"""Three-valued truth, judged by an oracle of its own on random formulas over records with missing values."""

import random
from itertools import count, islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle, three_valued
from tests.support.effort import examples, few_fast
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, Case, Column, RandomFormulas, draw_case, draw_columns
from tests.support.three_valued import FALSE, TRUE, UNKNOWN

from telltree import Formula
from telltree.engine import truth_of
from telltree.engine.three_valued import possibly, resolve_unknown, surely
from telltree.errors import SettingsError
from telltree.logic import OPERATORS

SEEDS, FAMILIES, FORMULAS = 10, 8, 26  # 2,080 random formulas
COLUMNS = (Column("x", "real"), Column("y", "real"), Column("b", "Boolean"), Column("c", "categorical", ("up", "down")))


def judged(plain, records):
    return [[three_valued.over_time(formula, record, PLAIN_FUNCTIONS) for record in records] for formula in plain]


def draw_bounded(rng, columns, number, depth):
    """Formulas without what is refused."""
    draw = RandomFormulas(rng, columns)
    drawn = (draw.boolean(rng.randint(1, depth)) for _ in count())
    return list(islice((formula for formula in drawn if not has_absolute_count(formula)), number))


def has_absolute_count(formula):
    own = formula[0] == "abs" and three_valued.is_count(formula)
    return own or any(has_absolute_count(part) for part in formula[1:] if isinstance(part, tuple))


def parsed(plain, rng, panel):
    texts = [oracle.text(formula, rng) for formula in plain]
    return [Formula.parse(text, panel.schema, functions=FUNCTIONS) for text in texts]


def answers(expressions, panel):
    """0, 1 or 2 for each formula and record."""
    found = [truth_of([bound(e) for e in expressions], panel).astype(int) for bound in (surely, possibly)]
    assert (found[0] <= found[1]).all()
    return sum(found)


@pytest.mark.parametrize("seed", few_fast(range(SEEDS)))
def test_two_thousand_random_formulas_agree(seed):
    rng, seen = random.Random(seed), set()
    for _ in range(FAMILIES):
        columns = draw_columns(rng)
        plain = draw_bounded(rng, columns, FORMULAS, 5)
        case = draw_case(rng, columns, [rng.choice((1, 2, 3, 7)) for _ in range(rng.choice((3, 9)))])
        formulas = parsed(plain, rng, case.panel)
        wanted = judged(plain, case.records)
        found = answers([formula.expression for formula in formulas], case.panel)
        for formula, answer, steps in zip(formulas, found.tolist(), wanted, strict=True):
            assert answer == [record[0] for record in steps], f"{formula}\non {case.records}"
            seen.update(answer)
    assert seen == {FALSE, UNKNOWN, TRUE}


@examples(60)
@given(st.randoms(use_true_random=False))
def test_small_cases_agree_at_every_step(rng):
    (plain,) = draw_bounded(rng, COLUMNS, 1, 3)
    case = draw_case(rng, COLUMNS, [rng.randint(1, 4) for _ in range(rng.randint(1, 3))])
    (formula,) = parsed([plain], rng, case.panel)
    bounds = [Formula(bound(formula.expression)).over_time(case.panel) for bound in (surely, possibly)]
    found = [(low.astype(int) + high).tolist() for low, high in zip(*bounds, strict=True)]
    assert found == judged([plain], case.records)[0], f"{formula}\non {case.records}"


def test_every_operator_is_asked_about_an_unknown_answer():
    """So that none of those above passes because it is never drawn."""
    rng, met = random.Random(0), set()
    records = draw_case(rng, COLUMNS, [4] * 1_500).records
    for record, plain in zip(records, draw_bounded(rng, COLUMNS, len(records), 3), strict=True):
        if three_valued.truth(plain, record, PLAIN_FUNCTIONS) == UNKNOWN:
            met |= heads(plain)
    assert {row.name for row in OPERATORS} <= met


def heads(formula):
    return {formula[0]}.union(*(heads(part) for part in formula[1:] if isinstance(part, tuple)))


@pytest.fixture(scope="module")
def case():
    """Records in which nothing is rare."""
    rng = random.Random(3)
    values = {"x": (0.0, 2.0, None), "y": (0.0, 1.0), "b": (True, False, None), "c": ("up", "up", "down", None)}
    lengths = [rng.randint(1, 4) for _ in range(90)]
    return Case(COLUMNS, tuple({x: rng.choices(v, k=n) for x, v in values.items()} for n in lengths))


LAWS = {
    "double negation": ("not not {a}", "{a}"),
    "De Morgan": ("not ({a} and {b})", "(not {a}) or (not {b})"),
    "De Morgan over time": ("not F({v})", "G(not {v})"),
    "implication": ("{a} implies {b}", "(not {a}) or {b}"),
    "absorption": ("{a} and ({a} or {b})", "{a}"),
    "distribution": ("{a} and ({b} or {c})", "({a} and {b}) or ({a} and {c})"),
    "at some point, one or the other": ("F({v} or {w})", "F({v}) or F({w})"),
    "until": ("until({v}, {w})", "{w0} or ({v0} and next(until({v}, {w})))"),
    "unless": ("unless({v}, {w})", "until({v}, {w}) or G({v})"),
    "an edge": ("F(rise({v}))", "F({v} and previous(not {v}))"),
}
PARTS = {
    "a": "F(x < 1)", "b": "(count(b) > 1)", "c": 'G(c = "up")', "v": "(x < 1)", "w": "b", "v0": "F[0, 0](x < 1)",
    "w0": "F[0, 0](b)",
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_laws_of_kleene(law, case):
    left, right = (Formula.parse(side.format(**PARTS), case.panel.schema).expression for side in LAWS[law])
    found = answers([left, right], case.panel)
    assert (found[0] == found[1]).all()
    assert set(found[0].tolist()) == {FALSE, UNKNOWN, TRUE}


def test_there_is_no_excluded_middle(case):
    """Kleene's logic does not know that x < 1 or x ≥ 1, if x is missing: unknown is not a value in disguise."""
    either = Formula.parse("F[0, 0](x < 1 or not x < 1)", case.panel.schema)
    lacks = np.array([record["x"][0] is None or oracle.is_nan(record["x"][0]) for record in case.records])
    assert answers([either.expression], case.panel)[0].tolist() == np.where(lacks, UNKNOWN, TRUE).tolist()


def test_where_nothing_is_missing_both_bounds_are_the_formula():
    rng = random.Random(5)
    plain = draw_bounded(rng, COLUMNS, 150, 4)
    full = draw_case(rng, COLUMNS, [rng.randint(1, 5) for _ in range(40)])
    values = {"x": 1.0, "y": -1.0, "b": True, "c": "up"}
    for record in full.records:
        for name, steps in record.items():
            steps[:] = [values[name] if v is None or oracle.is_nan(v) or v in (np.inf, -np.inf) else v for v in steps]
    formulas = [f.expression for f in parsed(plain, rng, full.panel)]
    found = answers(formulas, full.panel)
    assert (found == 2 * truth_of(formulas, full.panel)).all()


def test_words_of_a_grammar_stay_with_what_needs_no_change(case):
    formula = Formula.parse("F(x < 1)", case.panel.schema).expression
    assert surely(formula) is formula
    assert str(resolve_unknown(formula, True)) == "F((x < 1) ∨ missing(x))"
    assert resolve_unknown(formula, False) is formula


def test_what_has_no_bounds_is_refused_by_name(case):
    formula = Formula.parse("abs(count(x < 1) - count(b)) > 1", case.panel.schema).expression
    with pytest.raises(
        SettingsError, match=r"missing='unknown' has no meaning for abs\(.*'abs' of a count.*compare the"
    ):
        surely(formula)
    certain = Formula.parse("abs(count(missing(x)) - 2) > 1", case.panel.schema).expression
    assert surely(certain) == possibly(certain) == certain
