"""A switch selects the evaluator, so that a small reproduction runs the same code as a large data set."""

import os
import subprocess
import sys

import numpy as np
import pytest

from telltree import Formula, read
from telltree.engine import truth_of, use_evaluator
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.trace import Tracer
from telltree.errors import SettingsError

PANEL, _ = read(np.arange(24.0).reshape(2, 6, 2) % 7, labels=[0, 1], layout="records, steps, columns")
FORMULAS = [Formula.parse(text, PANEL.schema).expression for text in ("F(x1 > 5)", "G(x2 < 6)", "count(x1 < 3) > 2")]


@pytest.fixture
def ran(monkeypatch):
    """The evaluators that ran."""
    found = []
    traced, evaluated = Tracer.truth, FormulaEvaluator.truth
    monkeypatch.setattr(Tracer, "truth", lambda self, parts: (found.append("trace"), traced(self, parts))[1])
    monkeypatch.setattr(FormulaEvaluator, "truth", lambda self, e: (found.append("bitsets"), evaluated(self, e))[1])
    return found


@pytest.mark.parametrize(
    ("name", "runs"), [("auto", "trace"), ("interpreted", "trace"), ("compiled", "trace"), ("bitsets", "bitsets")]
)
def test_the_evaluator_that_was_chosen_runs_and_answers_are_the_same(ran, name, runs):
    expected = truth_of(FORMULAS, PANEL)
    ran.clear()
    with use_evaluator(name):
        assert np.array_equal(truth_of(FORMULAS, PANEL), expected)
    assert ran == [runs]


def test_the_innermost_choice_holds_and_ends(ran):
    with use_evaluator("bitsets"):
        with use_evaluator("interpreted"):
            truth_of(FORMULAS, PANEL)
        truth_of(FORMULAS, PANEL)
    truth_of(FORMULAS, PANEL)
    assert ran == ["trace", "bitsets", "trace"]


def test_the_environment_chooses_for_a_whole_process(ran, monkeypatch):
    monkeypatch.setenv("TELLTREE_EVALUATOR", "bitsets")
    truth_of(FORMULAS, PANEL)
    assert ran == ["bitsets"]


def test_another_name_is_refused_with_the_names_there_are(monkeypatch):
    with (
        pytest.raises(SettingsError, match=r"use_evaluator must be one of 'auto', .* got 'fast'"),
        use_evaluator("fast"),
    ):
        pass
    monkeypatch.setenv("TELLTREE_EVALUATOR", "fast")
    with pytest.raises(SettingsError, match="TELLTREE_EVALUATOR must be one of"):
        truth_of(FORMULAS, PANEL)


def test_interpreted_evaluation_loads_no_compiler():
    program = (
        "import sys, numpy as np; from telltree import Formula, read; from telltree.engine import truth_of\n"
        "panel, _ = read(np.ones((2000, 50, 2)), labels=[0] * 2000, layout='records, steps, columns')\n"
        "print(truth_of([Formula.parse('F(x1 > 0)', panel.schema).expression], panel).all(), 'numba' in sys.modules)"
    )
    environment = {**os.environ, "TELLTREE_EVALUATOR": "interpreted"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
