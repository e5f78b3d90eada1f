"""The walk: truth, decisive steps and margins are as a naive judge has them, compiled and as plain Python."""

import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import examples, few_fast
from tests.support.naive_evidence import Naive
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, RandomFormulas, draw_case, draw_columns

from telltree.engine import Formula, trace, use_evaluator
from telltree.explain import Robustness

NEAR = 1e-9


@pytest.fixture(params=["compiled", "interpreted"])
def evaluator(request):
    """Both ways to trace, whatever was loaded before."""
    with use_evaluator(request.param):
        yield


def drawn(rng, most=7):
    """A panel of some records of unequal lengths, missing values among them, and a formula about it."""
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, most) for _ in range(rng.randint(1, 4))])
    plain = RandomFormulas(rng, columns).boolean(rng.randint(1, 4))
    return case, plain, Formula.parse(oracle.text(plain, rng), case.panel.schema, functions=FUNCTIONS)


def assert_as_judged(case, plain, formula):
    judge, margins = Naive(case.records, PLAIN_FUNCTIONS), Robustness(case.panel)
    found = margins.evidence(formula.expression, follow=[formula.expression])
    assert formula(case.panel).tolist() == found.truth.tolist()
    for i, record in enumerate(case.records):
        wanted = judge.over_time(plain, record)
        sizes, truth = [size for size, _ in wanted], [holds for _, holds in wanted]
        assert found.truth[i] == truth[0], str(formula)
        assert found.held(formula.expression, i).tolist() == truth, str(formula)
        assert found.count(formula.expression, i) == sum(truth)
        assert found.robustness[i] == pytest.approx(sizes[0], rel=NEAR, abs=NEAR), str(formula)
        assert margins.over_time(formula.expression, i) == pytest.approx(sizes, rel=NEAR, abs=NEAR), str(formula)
        assert found.steps[i] == judge.decisive(plain, record), str(formula)
        size, unit = judge.distance(plain, record)
        assert found.distance(i).unit == unit, str(formula)
        assert found.distance(i).size == pytest.approx(size, rel=NEAR, abs=NEAR), str(formula)


@pytest.mark.usefixtures("evaluator")
@examples(150)
@given(st.integers(0, 2**32))
def test_all_that_a_trace_finds_is_as_a_naive_judge_has_it(seed):
    rng = random.Random(seed)
    assert_as_judged(*drawn(rng))


@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_some_records_are_traced_as_all_are(seed):
    rng = random.Random(seed)
    case, _, formula = drawn(rng)
    margins = Robustness(case.panel)
    everyone = margins.evidence(formula.expression)
    chosen = [rng.randrange(len(case.panel)) for _ in range(5)]
    some = margins.evidence(formula.expression, chosen)
    for name in ("truth", "robustness", "steps"):
        assert getattr(some, name).tolist() == getattr(everyone, name)[chosen].tolist()
    assert [some.distance(k) for k in range(5)] == [everyone.distance(i) for i in chosen]


def test_records_are_traced_in_shares_as_they_are_together(monkeypatch):
    rng = random.Random(5)
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, 9) for _ in range(60)])
    formula = Formula.parse(
        oracle.text(RandomFormulas(rng, columns).boolean(3), rng), case.panel.schema, functions=FUNCTIONS
    )
    margins = Robustness(case.panel)
    whole = margins.evidence(formula.expression, follow=[formula.expression])
    monkeypatch.setattr(trace, "_STEPS_PER_BATCH", 16)
    shares = margins.evidence(formula.expression, follow=[formula.expression])
    assert shares.robustness.tolist() == whole.robustness.tolist()
    assert shares.steps.tolist() == whole.steps.tolist()
    e = formula.expression
    assert [shares.held(e, i).tolist() for i in range(60)] == [whole.held(e, i).tolist() for i in range(60)]


def test_no_records_are_traced_too():
    case, _, formula = drawn(random.Random(0))
    nobody = Robustness(case.panel).evidence(formula.expression, [])
    assert (len(nobody.truth), len(nobody.steps)) == (0, 0)


def test_a_few_records_are_judged_before_a_compiler_is_loaded():
    program = (
        "import sys, numpy as np\n"
        "from telltree import Formula, Panel\n"
        "panel = Panel.from_arrays([np.array([[1.0], [5.0]])], columns=['x'])\n"
        "assert Formula.parse('F(x > 4)', panel.schema)(panel).tolist() == [True]\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_judge_can_tell_wrong_from_right():
    """Of a record that both judges know by heart."""
    record, plain = {"x": [0.0, 3.0, 5.0]}, ("F", (">", ("x", "x"), ("number", 6.0)))
    judge = Naive([record], {})
    assert judge.decisive(plain, record) == 2
    assert judge.distance(plain, record) == (pytest.approx(-1 / np.std([0, 3, 5])), "standard deviations")
    several = (">", ("count", (">", ("x", "x"), ("number", 2.0))), ("number", 7.0))
    assert judge.distance(several, record) == (-6.0, "steps")
    never = (">", ("count", (">", ("x", "x"), ("number", 2.0))), ("number", math.inf))
    assert judge.answer(never, {never[1]: 2.0}) is False
