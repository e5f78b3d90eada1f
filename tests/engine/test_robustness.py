"""Robustness of formulas over all records, as splits are chosen by them, against brute force."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import examples
from tests.support.evaluation_paths import edge_case, garbage_in_memory
from tests.support.strategies import FUNCTIONS, Column, RandomFormulas, derived, draw_columns, panel_of
from tests.tree.test_induction import Robustness as NaiveRobustness

from telltree import Formula
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.explain import Robustness
from telltree.grammar.tables import Tables

COLUMNS = (Column("x", "real"), Column("on", "Boolean"))


@pytest.mark.parametrize("text", ["F(x > 2) and count(on) > 1", "F(x > 3) or count(on) > 1"])
def test_counts_take_part_in_margins(text):
    """A comparison of counts has margin 1 where it is true, else −1: it decides about both records. By x alone the
    margin would be less."""
    records = [{"x": [4.0, 3.0], "on": [True, True]}, {"x": [0.0, 1.0], "on": [False, True]}]
    panel = panel_of(COLUMNS[:2], records)
    formula = Formula.parse(text, panel.schema).expression
    assert FormulaEvaluator(panel).robustness([formula]).tolist() == [1.0]


@pytest.mark.parametrize(("outer", "window"), [("G", "F"), ("F", "G"), ("G", "once"), ("F", "historically")])
@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(0, 4))
def test_margins_look_through_windows(outer, window, seed, near, width):
    """The best, or worst, step of each window; where there is none, 1 for "all" and −1 for "some"."""
    rng, far = np.random.default_rng(seed), near + width
    records = [rng.normal(size=length) for length in rng.integers(1, 9, 5)]
    spread, some = np.std(np.concatenate(records)), window in ("F", "once")

    def margin(x):
        found = []
        for t in range(len(x)):
            seen = range(t - far, t - near + 1) if window in ("once", "historically") else range(t + near, t + far + 1)
            steps = [(x[s] - 0.3) / spread for s in seen if 0 <= s < len(x)]
            found.append((max if some else min)(steps, default=-1.0 if some else 1.0))
        return min(found) if outer == "G" else max(found)

    panel = panel_of(COLUMNS[:1], [{"x": x.tolist()} for x in records])
    formula = Formula.parse(f"{outer}({window}[{near}, {far}](x > 0.3))", panel.schema).expression
    assert FormulaEvaluator(panel).robustness([formula])[0] == pytest.approx(min(abs(margin(x)) for x in records))


def near(values):
    return pytest.approx(values, rel=1e-9, abs=1e-9)


def drawn(rng):
    """Formulas of all operators over records about the sizes of vectors, words and blocks."""
    columns = draw_columns(rng)
    case, draw = edge_case(rng, columns), RandomFormulas(rng, columns)
    plain = [draw.boolean(rng.randint(1, 4)) for _ in range(6)]
    texts = [oracle.text(formula, rng) for formula in plain]
    formulas = [Formula.parse(text, case.panel.schema, functions=FUNCTIONS).expression for text in texts]
    return case, plain, formulas


@examples(60)
@given(st.randoms(use_true_random=False))
def test_margins_of_every_operator_are_those_of_the_oracle_at_every_step(rng):
    case, plain, formulas = drawn(rng)
    judge, margins = NaiveRobustness(case.records), Robustness(case.panel)
    for formula, own in zip(formulas, plain, strict=True):
        for i, record in enumerate(case.records):
            assert margins.over_time(formula, i).tolist() == near(judge.over_time(own, record)), str(formula)


@examples(60)
@given(st.integers(0, 2**32))
def test_the_smallest_margin_of_every_operator_is_that_of_the_oracle(seed):
    """In a search and of formulas as they stand, with garbage in memory; several at once share registers."""
    case, plain, formulas = drawn(random.Random(seed))
    judge = NaiveRobustness(case.records)
    wanted = [judge.of_split(own, case.records) for own in plain]
    rules, symbols, population = derived(random.Random(seed), formulas)
    with garbage_in_memory():
        assert FormulaEvaluator(case.panel).robustness(formulas).tolist() == near(wanted)
        assert PopulationEvaluator(case.panel, rules, Tables.of(rules, symbols)).robustness(
            population
        ).tolist() == near(wanted)
