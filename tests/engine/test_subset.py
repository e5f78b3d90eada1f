"""An engine for a subset of records picks bits, or masks them, instead of comparing numbers, and answers alike."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.golden_trees import gaps

from telltree import Formula, Grammar, Panel
from telltree.engine.atoms import Atom
from telltree.engine.formula_evaluator import FormulaEvaluator, signals_of
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar.derivation import Population
from telltree.tree.backend import LocalBackend

PANEL, LABELS = gaps()
GRAMMAR = Grammar.generic(PANEL)
WHOLE = LocalBackend(PANEL, GRAMMAR)
POPULATION = Population.of([GRAMMAR.draw(seed, 4) for seed in range(60)], False)


def engines(members, memory=None):
    signals = signals_of(PANEL)
    whole = PopulationEvaluator(PANEL, GRAMMAR.rules, GRAMMAR.tables, signals, memory=memory)
    part_of = whole, members
    picked = PopulationEvaluator(PANEL[members], GRAMMAR.rules, GRAMMAR.tables, signals, part_of=part_of)
    return picked, PopulationEvaluator(PANEL[members], GRAMMAR.rules, GRAMMAR.tables, signals)


@given(st.sets(st.integers(0, len(PANEL) - 1), min_size=1), st.sampled_from([None, 1]))
def test_part_of_an_engine_answers_like_an_engine_of_its_own(chosen, memory):
    members = np.array(sorted(chosen))
    picked, own = engines(members, memory)
    bad = [LABELS[members] == "bad"]
    everyone = np.arange(len(POPULATION.lengths))
    assert np.array_equal(picked.truth(POPULATION), own.truth(POPULATION))
    found = picked.evaluate(POPULATION, everyone, picked.masks(bad))
    wanted = own.evaluate(POPULATION, everyone, own.masks(bad))
    assert first_alike(found.answer) == first_alike(wanted.answer)
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted._replace(answer=found.answer), strict=True))
    assert np.array_equal(picked.robustness(POPULATION), own.robustness(POPULATION))


def first_alike(answers):
    """For each answer the first that is equal: what it is called does not matter."""
    first = {}
    return [first.setdefault(answer, k) for k, answer in enumerate(answers.tolist())]


@given(st.data())
def test_benches_of_parts_answer_like_benches_of_their_own(data):
    part = np.array(sorted(data.draw(st.sets(st.integers(0, len(PANEL) - 1), min_size=2))))
    node = np.array(sorted(data.draw(st.sets(st.integers(0, len(part) - 1), min_size=1))))
    shared, own = WHOLE.part(part).evaluator(node), LocalBackend(PANEL[part], GRAMMAR).evaluator(node)
    assert np.array_equal(shared.truth(POPULATION), own.truth(POPULATION))
    assert np.array_equal(shared.robustness(POPULATION), own.robustness(POPULATION))


def test_the_whole_may_be_a_part_of_itself():
    picked, own = engines(np.arange(len(PANEL)))
    assert np.array_equal(picked.truth(POPULATION), own.truth(POPULATION))


@given(st.lists(st.lists(st.integers(-4, 4), min_size=1, max_size=5), min_size=2, max_size=9), st.data())
def test_an_answer_turns_where_the_constant_passes_its_turning_point(rows, data):
    panel = Panel.from_arrays([np.array([[float(x), float(-x % 3)] for x in row]) for row in rows], columns=["x", "y"])
    c = data.draw(st.integers(-4, 4)) + 0.5
    text = data.draw(
        st.sampled_from(["F(x {} {} and y > 0)", "G(y > 1 or x {} {})", "F(G(x {} {}))", "not F(x {} {})"])
    )
    how = data.draw(st.sampled_from(["<", "<=", ">", ">="]))
    formula = Formula.parse(text.format(how, c), panel.schema)
    atom = Atom.of(Formula.parse(f"F(x {how} {c})", panel.schema).expression.args[0], panel.schema)
    points = np.abs(FormulaEvaluator(panel).turning_points([formula.expression], atom))
    for k in np.arange(-5, 6) + 0.5:
        moved = Formula.parse(text.format(how, k), panel.schema)(panel)
        further = Formula.parse(text.format(how, k + 1), panel.schema)(panel)
        turned = np.flatnonzero(moved != further)
        assert all(points[r] == abs(k + 0.5) for r in turned)
