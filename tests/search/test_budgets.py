"""Budgets of time and Ctrl-C are looked at while work is under way, not only between its rounds."""

import itertools
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.support.programs import started

from telltree import Formula, Panel
from telltree.engine.formula_evaluator import FormulaEvaluator, signals_of
from telltree.grammar import Grammar
from telltree.grammar.default_language import cuts, roundest
from telltree.search import GeneticProgramming, MonteCarlo, Scores
from telltree.search import search as searching
from telltree.tree.split_search import without_idle_parts
from telltree.tree.thresholds import midpoint_thresholds

PANEL = Panel.from_arrays([np.array([[float(i)], [i + 0.5]]) for i in range(20)], columns=["x"])
GRAMMAR = Grammar.parse("A ::= F(V)\nV ::= V and V | x < grid(200) | x > grid(200)", PANEL)


class Counting:
    """An objective that notes how many formulas it was asked for at a time."""

    def __init__(self, then=lambda: None):
        self.parts, self._then = [], then

    def __call__(self, population, wanted):
        self.parts.append(len(wanted))
        self._then()
        return Scores(np.arange(len(wanted), dtype=np.float64), population.names[wanted])


class Clock:
    """A clock that moves when it is told to, and that has run for some time."""

    def __init__(self, now=1_000.0):
        self.now = now

    def monotonic(self):
        return self.now

    def tick(self, seconds=1.0):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(searching, "time", made)
    return made


@pytest.mark.parametrize("search", [MonteCarlo, GeneticProgramming])
def test_seconds_end_a_search_in_the_middle_of_a_generation(search, clock):
    objective = Counting(clock.tick)
    found = search(evaluations=None, seconds=3.0).run(GRAMMAR, objective, 0)
    assert len(objective.parts) == 3
    assert found.evaluations == sum(objective.parts) < 100
    assert len(set(objective.parts)) == 1  # after a part that takes a second, the next is no larger
    assert found.best is not None


def test_an_interrupt_ends_a_search_in_the_middle_of_a_generation(clock):
    objective = Counting(clock.tick)
    found = MonteCarlo(evaluations=2_000).run(GRAMMAR, objective, 0, stop=lambda: len(objective.parts) >= 2)
    assert found.interrupted
    assert len(objective.parts) == 2


def test_parts_grow_where_they_take_no_time(clock):
    objective = Counting()
    MonteCarlo(evaluations=2_000).run(GRAMMAR, objective, 0)
    assert len(objective.parts) < 20
    assert sum(objective.parts) == 2_000


def test_what_is_found_does_not_depend_on_how_long_parts_take(clock):
    slow = MonteCarlo(evaluations=500).run(GRAMMAR, Counting(clock.tick), 0)
    quick = MonteCarlo(evaluations=500).run(GRAMMAR, Counting(), 0)
    assert (slow.evaluations, str(slow.best.derivation)) == (quick.evaluations, str(quick.best.derivation))


@pytest.mark.parametrize("looks", range(8))
def test_a_formula_that_is_cut_short_answers_as_before(looks):
    formula = Formula.parse("F(x > 7.01 and x > 3) and not F(x > 15.9)", PANEL.schema)
    turn = itertools.count()
    formulas = FormulaEvaluator(PANEL)
    shorter = without_idle_parts(formula.expression, formulas, lambda: next(turn) >= looks)
    moved = midpoint_thresholds(shorter, formulas, {"x"}, lambda: next(turn) >= looks)
    assert Formula(moved)(PANEL).tolist() == formula(PANEL).tolist()
    if not looks:
        assert moved == formula.expression


def test_the_gaps_beyond_all_values_have_middles_too():
    from telltree.tree.thresholds import ConstantPlace, _Gap

    panel = Panel.from_arrays([np.arange(5_000.0)[:, None]], columns=["x"])
    formula = Formula.parse("F(x > 4998.01)", panel.schema).expression
    place = ConstantPlace(formula, (0,), FormulaEvaluator(panel, signals_of(panel)))
    gap = _Gap(place, np.array([True]), is_late=bool)
    assert [gap._middle(i) for i in (0, 1, 5_000)] == [-1.0, 0.5, 5_000.0]


def test_cuts_of_values_near_the_largest_float_are_found():
    largest = sys.float_info.max
    assert np.isfinite(roundest(largest * 0.99, largest))
    assert np.isfinite(cuts(np.array([-largest, largest * 0.9, largest]), 2)).all()


WORKER = """
import os, sys, threading
from telltree.scale.processes import _end_with
child = os.fork()
if child == 0:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    print("under way", flush=True)
sys.stdin.read()  # until the test ends
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes have no forks here")
def test_a_worker_ends_when_its_parent_is_killed():
    with started([sys.executable, "-c", WORKER], stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "under way\n"
        process.send_signal(signal.SIGKILL)
        assert process.stdout.read() == ""  # the pipe ends when the worker, which holds it too, has ended
