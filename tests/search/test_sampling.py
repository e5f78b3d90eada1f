"""Where records are many, Auto judges most formulas by a sample, and what does best there by all records."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.test_exhaustive import FUNCTIONS, GENERIC, SCHEMA, drawn
from tests.support.brute_force import answers, derivations, gini_size, size, template_text, text_of

from telltree import Grammar, GrammarTreeClassifier
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar.derivation import Population
from telltree.search import Auto, Exhaustive
from telltree.search.archive import Archive
from telltree.tree import GiniSize, objective
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.objective import SplitObjective, sample_of, total_impurity

GRAMMAR = Grammar.parse(text_of(GENERIC), SCHEMA)


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    monkeypatch.setattr(objective, "_EACH", 10)


def labels_of(codes, weights=None):
    return ClassLabels(np.asarray(codes, np.int64), ClassTarget((0, 1, 2)), weights)


def objective_of(panel, codes, weights=None, grammar=GRAMMAR, min_samples_leaf=0):
    def evaluator(some):
        return PopulationEvaluator(panel[some], grammar.rules, grammar.tables)

    labels = labels_of(codes, weights)
    return SplitObjective(evaluator(np.arange(len(panel))), labels, GiniSize(), min_samples_leaf, part=evaluator)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=200), st.integers(0, 2**64 - 1))
def test_a_sample_has_the_same_share_of_a_class_that_is_large_and_all_of_others(codes, seed):
    sample, there = sample_of(labels_of(codes), seed), Counter(codes)
    if max(there.values()) < 20:
        assert sample is None
        return
    assert sample.records.tolist() == sorted(set(sample.records.tolist()))
    taken = Counter(codes[k] for k in sample.records)
    for kind in range(3):
        stands = max(1, there[kind] // 10)
        assert sample.stands[kind] == stands
        assert taken[kind] == there[kind] // stands
        assert there[kind] < 20 or 10 <= taken[kind] < 15
    again = sample_of(labels_of(codes), seed)
    assert np.array_equal(again.records, sample.records)


@pytest.mark.parametrize("weighed", [False, True])
def test_a_record_of_a_sample_counts_for_as_many_as_it_stands_for(weighed):
    """As if there were so many of it: the oracle has each of them as often, by weight as well."""
    panel, told, _ = drawn(3, 90)
    rng = np.random.default_rng(0)
    codes, weights = rng.choice(3, 90, p=[0.1, 0.3, 0.6]), rng.integers(1, 4, 90) if weighed else None
    objective, sample = objective_of(panel, codes, weights), sample_of(labels_of(codes), 5)
    formulas = list(derivations(GENERIC, "A", 3, 2))[::7]
    rows = Population.of([GRAMMAR.derive(template_text(e)) for e in formulas], False)
    found = objective.sample(5)(rows, np.arange(len(formulas)))
    often = [int(sample.stands[codes[k]]) * (int(weights[k]) if weighed else 1) for k in sample.records]
    repeated = [k for k, times in zip(sample.records, often, strict=True) for _ in range(times)]
    for e, fitness in zip(formulas, found.fitness, strict=True):
        answer = answers([e], [told[k] for k in repeated], FUNCTIONS)[0]
        assert fitness == pytest.approx(gini_size(answer, [codes[k] for k in repeated], size(e)), abs=1e-9)


def test_what_is_found_is_judged_by_all_records():
    panel, told, codes = drawn(3, 120)
    found = Auto(evaluations=3_000, max_depth=4).run(GRAMMAR, objective_of(panel, codes), 1)
    every = list(derivations(GENERIC, "A", 4, 2))
    best = min(gini_size(a, codes, size(e)) for e, a in zip(every, answers(every, told, FUNCTIONS), strict=True))
    assert found.proof.atoms == 2
    assert found.best.fitness <= best + 1e-9
    assert found.proof.tried + found.proof.sampled == found.evaluations <= 3_000
    whole = objective_of(panel, codes)
    for one in found.runners_up:
        alone = Population.of([one.derivation], False)
        assert whole(alone, np.arange(1)).fitness[0] == one.fitness


class Counting:
    """An objective that counts how often it, and its sample, are asked."""

    def __init__(self, inner):
        self._inner, self.asked, self.sampled, self.first = inner, 0, 0, None
        self.signatures, self.floors, self.shorter_is_fitter = inner.signatures, inner.floors, True

    def __call__(self, population, wanted):
        self.asked += len(wanted)
        return self._inner(population, wanted)

    def sample(self, seed):
        inner = self._inner.sample(seed)

        def sampled(population, wanted):
            self.sampled += len(wanted)
            self.first = self.first or population.take(wanted)
            return inner(population, wanted)

        return sampled


def test_most_is_judged_by_the_sample_but_what_is_proved_by_all_records():
    panel, _, codes = drawn(3, 120)
    objective = Counting(objective_of(panel, codes))
    search = Auto(evaluations=6_000, max_atoms=1)
    found = search.run(GRAMMAR, objective, 1)
    alone = Exhaustive(max_atoms=1).run(GRAMMAR, objective_of(panel, codes), 1)
    assert (found.proof.atoms, found.proof.formulas) == (1, alone.proof.formulas)
    assert objective.asked >= found.proof.tried
    assert objective.sampled > 0.9 * (found.evaluations - found.proof.tried)
    assert objective.asked < 0.3 * found.evaluations
    one_atom = {str(GRAMMAR.derive(template_text(e))) for e in derivations(GENERIC, "A", 6, 1)}
    first = {str(GRAMMAR.derivation(objective.first, k)) for k in range(len(objective.first.lengths))}
    assert first <= one_atom  # the best that was covered


def test_where_nothing_is_proved_the_sample_comes_first():
    panel, _, codes = drawn(3, 120)
    grammar = Grammar.parse("A ::= F(V) | count(V) > grid(0, 99, 100)\nV ::= V and V | on | off | x < [0.5, 1]", SCHEMA)
    objective, first = Counting(objective_of(panel, codes, grammar=grammar)), []
    Auto(evaluations=300).run(
        grammar, objective, 1, stop=lambda: bool(first.append((objective.asked, objective.sampled)))
    )
    assert first[1][0] == 0 < first[1][1]


@pytest.mark.parametrize("generations", [2, 5, None])
def test_what_did_best_by_the_sample_is_judged_by_all_records_in_the_end(generations):
    """Also where nothing else was: of random constants, nothing is covered."""
    panel, _, codes = drawn(3, 120)
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V | on | x < random(0, 2)", SCHEMA)
    objective, whole = (objective_of(panel, codes, grammar=grammar) for _ in range(2))
    told = []
    search = Auto(evaluations=5_000, generations=generations)
    found = search.run(grammar, Counting(objective), 1, told.append)
    alone = Population.of([found.best.derivation], True)
    assert whole(alone, np.arange(1)).fitness[0] == found.best.fitness == told[-1].fitness


def test_ctrl_c_while_the_best_are_judged_by_all_records_loses_nothing(monkeypatch):
    panel, _, codes = drawn(3, 120)
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V | on | x < random(0, 2)", SCHEMA)
    add, presses = Archive.add, [KeyboardInterrupt]

    def pressed(*args):
        if presses:
            raise presses.pop()
        return add(*args)

    monkeypatch.setattr(Archive, "add", pressed)  # so far, only the sample was asked
    found = Auto(evaluations=5_000, generations=2).run(grammar, objective_of(panel, codes, grammar=grammar), 1)
    assert found.interrupted
    assert found.best is not None


@pytest.mark.parametrize("weighed", [False, True])
def test_a_side_that_stands_for_far_too_few_records_is_refused_by_the_sample(weighed):
    panel, told, codes = drawn(3, 400)
    weights = np.random.default_rng(0).integers(1, 4, 400) if weighed else None
    formulas = list(derivations(GENERIC, "A", 3, 1))
    rows = Population.of([GRAMMAR.derive(template_text(e)) for e in formulas], False)
    least, sides = 150, [min(sum(a), 400 - sum(a)) for a in answers(formulas, told, FUNCTIONS)]
    assert min(sides) < 5
    assert any(5 <= side < 40 for side in sides)
    assert max(sides) >= least
    usable = np.isfinite(
        objective_of(panel, codes, weights, min_samples_leaf=least).sample(5)(rows, np.arange(len(sides))).fitness
    )
    assert all(usable[k] for k, side in enumerate(sides) if side >= least)
    assert not any(usable[k] for k, side in enumerate(sides) if side < 5)
    assert weighed or not any(usable[k] for k, side in enumerate(sides) if side < 40)


def test_a_search_that_is_interrupted_gives_what_is_best_by_all_records():
    """Wherever that is: there is an answer as soon as anything was tried, by the sample or by all."""
    panel, _, codes = drawn(5, 120)
    search, whole = Auto(evaluations=2_000, max_depth=4), objective_of(panel, codes)
    undisturbed = []
    search.run(GRAMMAR, whole, 3, stop=lambda: bool(undisturbed.append(0)))
    for last in range(1, len(undisturbed), 3):
        left = iter(range(last))
        found = search.run(GRAMMAR, whole, 3, stop=lambda left=left: next(left, None) is None)
        assert found.interrupted
        alone = Population.of([found.best.derivation], False)
        assert whole(alone, np.arange(1)).fitness[0] == found.best.fitness


@pytest.mark.parametrize("seconds", [None, 10_000.0])
def test_it_goes_on_from_any_generation_to_the_same(seconds):
    panel, _, codes = drawn(5, 120)
    states, search = [], Auto(evaluations=2_500, max_depth=4, seconds=seconds)
    whole = search.run(GRAMMAR, objective_of(panel, codes), 3, remember=lambda make: states.append(make()))
    assert len({int(state["breeder.stage"]) for state in states}) == 6
    for state in states:
        again = search.run(GRAMMAR, objective_of(panel, codes), 3, state=state)
        assert (again.runners_up, again.proof, again.evaluations) == (
            whole.runners_up, whole.proof, whole.evaluations,
        )  # fmt: skip


def test_less_is_sampled_where_less_is_at_stake_but_as_much_is_covered():
    """By the square root of it, and up to a generation more."""
    panel, _, codes = drawn(7, 120)
    search, generation = Auto(evaluations=4_000, max_atoms=1, max_depth=4), 600
    proofs = [
        search.run(GRAMMAR, objective_of(panel, codes), 1, budget_weight=budget_weight).proof
        for budget_weight in (1.0, 0.25, 0.04)
    ]
    assert len({(proof.atoms, proof.tried) for proof in proofs}) == 1
    left = 4_000 - proofs[0].tried
    for proof, share in zip(proofs, (1.0, 0.5, 0.2), strict=True):
        assert share * left <= proof.sampled <= min(left, share * left + generation)


def test_what_is_at_stake_is_how_much_there_is_to_tell():
    assert total_impurity(labels_of([0] * 50 + [1] * 50)) == pytest.approx(50)
    assert total_impurity(labels_of([0] * 99 + [1])) == pytest.approx(1.98)
    panel, _, codes = drawn(7, 200)
    search = Auto(evaluations=2_000, max_depth=4)
    searches = GrammarTreeClassifier(text_of(GENERIC), search, max_depth=2, random_state=0).fit(panel, codes).searches_
    assert searches[1].evaluations == 2_000
    below = [found.evaluations for number, found in searches.items() if number > 1]
    assert below
    assert max(below) < 2_000
