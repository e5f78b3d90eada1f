"""What every search keeps to: one suite for all of them."""

import functools
import itertools
import json
import os
import subprocess
import sys
import zlib
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from tests.support.effort import few_fast
from tests.support.programs import beside_tests
from tests.tree.test_paper_example import GRAMMAR as PAPER
from tests.tree.test_paper_example import PLAIN as SCHEMA

from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.logic import Type, user_function
from telltree.logic.expression import RandomNumber
from telltree.panel import Column, Schema
from telltree.search import Auto, CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe, Scores
from telltree.search.search import Memory, Task
from telltree.tree import GiniSize
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.objective import SplitObjective

KINDS = (MonteCarlo, GrammaticalEvolution, GeneticProgramming, CrossEntropy, Pipe)
SEARCHES = {kind.__name__: kind() for kind in KINDS} | {
    f"{kind.__name__}.paper": replace(kind.paper(), generations=None) for kind in KINDS
}
MOST_TIES = 1_000


@pytest.fixture(params=few_fast(SEARCHES, len(KINDS)))  # those with settings of the paper are slow
def search(request):
    """Every search, with its own settings and with the paper's."""
    return SEARCHES[request.param]


@user_function(takes=["real"], gives="real", elementwise=True)
def doubled(x):
    return 2 * x


@user_function(takes=["Boolean"], gives="Boolean")
def started(b):
    return np.logical_or.accumulate(b)


TEXTS = {
    "the paper's": PAPER,
    "one formula": "A ::= F(x1)",
    "one symbol, two formulas": "A ::= F(x1) | G(x1)",
    "nested temporal operators": "A ::= F(V)\nV ::= x1 | x2 | F(V) | G(V) | V and V | not V",
    "counts": "A ::= count(V) > C | count(V) < count(V)\nV ::= x1 | x2 | V or V\nC ::= grid(0, 3, 4)",
    "user functions": "A ::= F(V)\nV ::= started(V) | x1 | doubled(x3) < C | V implies V\nC ::= 1 | 2 | 3",
    "connectives outside": "A ::= F(x3 {<, >} C) | A and A | A or A | not A\nC ::= grid(0, 1, 11)",
    "weights": "A ::= F(V)\nV ::= V and V @9 | x1 | x3 {<, <=, >, >=, =} [1, 2, 3] @0.1",
    "long templates": "A ::= F(V and V and V and V and (V | not V))\nV ::= x1 | x2 | x3 < 2 | V or V",
    "many holes": f"A ::= F({' and '.join(['V'] * 12)}) | F(V)\nV ::= x1 | x2 | V or V",
}
RANDOM = "A ::= F(V) | G(V)\nV ::= x1 | x3 < C | x4 > C | V and V\nC ::= 7 | random(-1, 1)"


def parsed(text):
    return Grammar.parse(text, SCHEMA, functions=[doubled, started])


GRAMMARS = {name: parsed(text) for name, text in TEXTS.items()}
PAPERS = GRAMMARS["the paper's"]


class Spy:
    """An objective that depends on the text alone, and remembers every formula it was asked for."""

    def __init__(self, grammar, fitnesses=499, answers=97, interrupt_after=None):
        self.grammar, self.fitnesses, self.answers, self.interrupt_after = grammar, fitnesses, answers, interrupt_after
        self.derivations, self.texts, self.fitness, self.batches = [], [], [], 0

    def __call__(self, population, wanted):
        if self.batches == self.interrupt_after:
            raise KeyboardInterrupt
        self.batches += 1
        assert np.all(population.lengths[wanted] > 0), "an empty row is no formula"
        found, texts = zip(*(self.read(population, int(i)) for i in wanted), strict=True)
        fitness, answer = zip(*map(self.score, texts), strict=True)
        self.derivations += found
        self.texts += texts
        self.fitness += fitness
        return Scores(np.array(fitness), np.array(answer, np.uint64))

    known: ClassVar = {}

    def read(self, population, i):
        """A formula and its text. Most are met by many tests, and to write them costs more than to search."""
        length = population.lengths[i]
        row = population.rules[i, :length].tobytes(), population.constants[i, :length].tobytes()
        if (self.grammar, row) not in self.known:
            found = self.grammar.derivation(population, i)
            self.known[self.grammar, row] = found, str(found)
        return self.known[self.grammar, row]

    def score(self, text):
        code = zlib.crc32(text.encode())
        return float(code % self.fitnesses), code // 1009 % self.answers


def least_depth(grammar):
    """Of the simplest formula: the first limit that is not refused."""
    return next(depth for depth in itertools.count() if says_something(grammar, depth))


def says_something(grammar, depth):
    with suppress(SettingsError):
        return grammar.check_depth(depth) is None
    return False


def spied(search, grammar=PAPERS, evaluations=400, seed=3, progress=None, **settings):
    spy = Spy(grammar, **settings)
    return replace(search, evaluations=evaluations).run(grammar, spy, seed, progress), spy


def tied(found, grammar):
    return (
        [] if found.ties is None else [str(grammar.derivation(found.ties, i)) for i in range(len(found.ties.lengths))]
    )


def outcome(found, grammar):
    """All of what was found but the time it took."""
    return {
        "best": [str(found.best.derivation), found.best.fitness],
        "runners_up": [[str(c.derivation), c.fitness] for c in found.runners_up],
        "ties": tied(found, grammar),
        "history": [[moment.evaluations, moment.fitness] for moment in found.history],
        "evaluations": found.evaluations,
    }


@pytest.mark.parametrize("evaluations", [1, 2, 137, 1_500])
def test_the_budget_is_that_many_different_formulas(search, evaluations):
    found, spy = spied(search, evaluations=evaluations)
    assert found.evaluations == len(spy.derivations) == len(set(spy.texts)) == evaluations
    assert not found.interrupted


@pytest.mark.parametrize("both", [False, True])
def test_a_budget_of_seconds_ends(search, both):
    limited = replace(search, evaluations=10**9 if both else None, seconds=0.05)
    found = limited.run(PAPERS, Spy(PAPERS), 1)
    assert found.evaluations < 10**9
    assert not found.interrupted


def test_the_seed_alone_decides(search):
    first, again, other = (spied(search, seed=seed) for seed in (5, 5, 6))
    assert outcome(first[0], PAPERS) == outcome(again[0], PAPERS)
    assert first[1].texts == again[1].texts != other[1].texts


def outcomes():
    return {name: outcome(spied(search)[0], PAPERS) for name, search in SEARCHES.items()}


def test_another_process_with_another_hash_seed_finds_the_same():
    script = "import json, tests.search.test_contract as t; print(json.dumps(t.outcomes()))"
    environment = os.environ | {"PYTHONHASHSEED": "4321", "PYTHONPATH": beside_tests()}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == outcomes()


def test_the_history_tells_every_improvement(search):
    found, spy = spied(search, evaluations=1_200, fitnesses=10**6)
    least = list(itertools.accumulate(spy.fitness, min))
    assert found.history[0].evaluations > 0
    for moment in found.history:
        assert moment.fitness == least[moment.evaluations - 1]
    for before, after in itertools.pairwise(found.history):
        assert before.evaluations < after.evaluations
        assert before.fitness > after.fitness
        assert before.seconds <= after.seconds
    assert found.history[-1].fitness == found.best.fitness == least[-1]


@pytest.mark.parametrize(("keep", "answers"), [(1, 97), (10, 3), (10, 97), (500, 97), (500, 10**9)])
def test_runners_up_are_the_best_that_answer_differently(search, keep, answers):
    found, spy = spied(replace(search, keep=keep), evaluations=800, answers=answers)
    best_of = {}
    for text in spy.texts:
        fitness, answer = spy.score(text)
        best_of[answer] = min(best_of.get(answer, np.inf), fitness)
    shown = [spy.score(str(candidate.derivation)) for candidate in found.runners_up]
    assert [candidate.fitness for candidate in found.runners_up] == [fitness for fitness, _ in shown]
    assert len({answer for _, answer in shown}) == len(shown)
    assert [fitness for fitness, _ in shown] == sorted(best_of.values())[:keep]
    assert found.best == found.runners_up[0]


def test_runners_up_differ_even_where_many_answer_like_the_best(search):
    def split(population, wanted):
        fitness = spy(population, wanted).fitness
        return Scores(fitness, fitness.astype(np.uint64))  # as good splits are alike, most of the best are the same

    spy = Spy(PAPERS, fitnesses=15)
    found = replace(search, evaluations=800).run(PAPERS, split, 1)
    assert [candidate.fitness for candidate in found.runners_up] == list(range(10))


@pytest.mark.parametrize(("fitnesses", "evaluations"), [(1, 1_200), (7, 500), (499, 500)])
def test_ties_are_all_that_are_as_good_as_the_best(search, fitnesses, evaluations):
    found, spy = spied(search, evaluations=evaluations, fitnesses=fitnesses)
    as_good = [text for text in spy.texts if spy.score(text)[0] == found.best.fitness]
    assert tied(found, PAPERS) == as_good[:MOST_TIES]


def test_formulas_of_no_use_are_never_the_best(search):
    def useless(population, wanted):
        return Scores(np.full(len(wanted), np.inf), np.arange(len(wanted), dtype=np.uint64))

    found = replace(search, evaluations=500).run(PAPERS, useless, 1)
    assert (found.best, found.runners_up, found.ties) == (None, (), None)
    assert found.evaluations == 500


def test_a_few_formulas_without_a_fitness_do_not_hide_the_others(search):
    def may_be_missing(population, wanted):
        scores = spy(population, wanted)
        return Scores(np.where(scores.fitness % 2 == 0, np.nan, scores.fitness), scores.answer)

    spy = Spy(PAPERS)
    found = replace(search, evaluations=500).run(PAPERS, may_be_missing, 1)
    assert found.best is not None
    assert found.best.fitness == min(f for f in spy.fitness if f % 2)
    assert all(candidate.fitness % 2 for candidate in found.runners_up)


def test_progress_is_told(search):
    events = []
    found, spy = spied(search, evaluations=1_000, progress=events.append)
    assert events
    assert [event.evaluations for event in events] == sorted(event.evaluations for event in events)
    assert [event.fitness for event in events] == sorted((event.fitness for event in events), reverse=True)
    last = events[-1]
    assert (last.evaluations, last.budget, last.fitness) == (1_000, 1_000, found.best.fitness)
    for event in events:
        assert spy.score(str(event.best))[0] == event.fitness
        assert event.spent == event.evaluations / 1_000


@pytest.mark.parametrize("limits", [{"seconds": 1e-3}, {"generations": 4, "seconds": 3_600}])
def test_progress_tells_how_much_of_any_budget_is_spent(search, limits):
    events = []
    replace(search, evaluations=None, **limits).run(PAPERS, Spy(PAPERS), 3, events.append)
    assert events[-1].spent == 1
    assert all(0 <= event.spent <= 1 for event in events)


@pytest.mark.parametrize("extra", [0, 1, 4])
@pytest.mark.parametrize("name", GRAMMARS)
def test_whatever_is_proposed_is_a_formula_of_the_grammar_within_the_depth(search, name, extra):
    grammar = GRAMMARS[name]
    depth = least_depth(grammar) + extra
    found, spy = spied(replace(search, max_depth=depth), grammar, evaluations=60)
    assert found.evaluations == len(spy.derivations) > 0
    check_formulas(spy, depth)


def check_formulas(spy, depth):
    for derivation, text in zip(spy.derivations, spy.texts, strict=True):
        assert derivation.depth <= depth
        assert derivation.expression.type is Type.BOOLEAN
        assert len(derivation) == derivation.expression.terminals
        assert read_back(spy.grammar, text) == text


@functools.cache
def read_back(grammar, text):
    """Most formulas are met by many tests."""
    return str(grammar.derive(text))


def test_deep_formulas_stay_within_reason(search):
    grammar = GRAMMARS["nested temporal operators"]
    found, spy = spied(replace(search, max_depth=60), grammar, evaluations=100)
    assert found.evaluations == 100
    assert max(derivation.depth for derivation in spy.derivations) > 6 or isinstance(search, GrammaticalEvolution)


def test_random_constants_stay_in_their_range_and_travel_with_their_subtree(search):
    grammar = parsed(RANDOM)
    if isinstance(search, GrammaticalEvolution):
        with pytest.raises(SettingsError, match="cannot draw random constants"):
            spied(search, grammar)
        return
    _, spy = spied(search, grammar)
    check_formulas(spy, search.max_depth)
    for derivation in spy.derivations:
        drawn = ~np.isnan(derivation.constants)
        assert drawn.tolist() == [isinstance(grammar.rules[r].template.head, RandomNumber) for r in derivation.rules]
        assert np.all(np.abs(derivation.constants[drawn]) <= 1)
    assert (
        len({c for derivation in spy.derivations for c in derivation.constants[~np.isnan(derivation.constants)]}) > 99
    )


@pytest.mark.parametrize(("depth", "formulas"), [(1, 4), (2, 32)])
def test_a_grammar_with_nothing_left_to_say_ends_the_search(search, depth, formulas):
    found, spy = spied(replace(search, max_depth=depth), evaluations=10**6)
    assert found.evaluations == len(set(spy.texts)) <= formulas
    assert found.evaluations >= formulas // 2
    assert found.best.fitness == min(spy.fitness)
    assert not found.interrupted


@pytest.mark.parametrize(
    ("search", "share", "most"),
    [
        (GeneticProgramming(10**6, population=200), 0.95, 900),
        (Auto(20_000, max_atoms=1), 0.95, 1_300),
        (CrossEntropy(20_000), 0.4, 8_000),
        (Pipe(20_000), 0.7, 15_000),
    ],
)
def test_a_grammar_with_hardly_anything_left_to_say_ends_the_search(search, share, most):
    grammar = Grammar.parse("S ::= F(C)\nC ::= A | A and A\nA ::= x3 > grid(0, 1, 120)", SCHEMA)
    generations = []

    def chance(population, wanted):
        names = population.names[wanted]
        return Scores((names % np.uint64(1_000)).astype(np.float64), names)

    found = search.run(grammar, chance, 3, remember=generations.append)
    assert found.evaluations > share * (120 + 120**2)
    assert len(generations) < most  # to find the last few as well would take half as many again, or more


def test_random_draws_exhaust_a_small_grammar():
    found, spy = spied(MonteCarlo(max_depth=2), evaluations=10**6)
    said = {str(d) for d in PAPERS.enumerate(6) if d.depth <= 2}
    assert set(spy.texts) == said
    assert found.evaluations == 32


@pytest.mark.parametrize("name", ["one formula", "one symbol, two formulas"])
def test_a_grammar_that_says_next_to_nothing(search, name):
    found, spy = spied(search, GRAMMARS[name], evaluations=1_000)
    assert sorted(spy.texts) == ["F(x1)", "G(x1)"][: found.evaluations]
    assert found.evaluations == len(list(GRAMMARS[name].enumerate(3)))


def test_searches_split_records_of_every_type(search, panel, labels):
    grammar = Grammar.generic(panel)
    classes, codes = np.unique(labels, return_inverse=True)
    split = SplitObjective(
        PopulationEvaluator(panel, grammar.rules, grammar.tables),
        ClassLabels(codes.astype(np.int64), ClassTarget.of(classes)),
        GiniSize(),
    )
    small, large = (replace(search, evaluations=budget).run(grammar, split, 1) for budget in (100, 3_000))
    assert large.best.fitness <= small.best.fitness < 100
    assert large.evaluations == 3_000


@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_interrupted_search_returns_the_best_so_far(search, after):
    found, spy = spied(search, evaluations=50_000, interrupt_after=after)
    assert found.interrupted
    assert found.evaluations == len(spy.derivations) < 50_000
    if after:
        assert found.best.fitness == min(spy.fitness)
        assert found.history
    else:
        assert (found.best, found.ties, found.history) == (None, None, ())


def test_progress_may_interrupt_too(search):
    def stop(progress):
        raise KeyboardInterrupt

    found, spy = spied(search, evaluations=50_000, progress=stop)
    assert found.interrupted
    assert found.best.fitness == min(spy.fitness)


def test_errors_of_the_objective_are_not_swallowed(search):
    def broken(population, wanted):
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        search.run(PAPERS, broken, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"evaluations": None}, "needs a budget"),
        ({"evaluations": 0}, "evaluations must be .* at least 1, got 0"),
        ({"evaluations": -5}, "evaluations must be .* at least 1, got -5"),
        ({"evaluations": 10.5}, "evaluations must be a whole number"),
        ({"evaluations": "many"}, "evaluations must be a whole number"),
        ({"evaluations": True}, "evaluations must be a whole number"),
        ({"seconds": 0}, "seconds must be .* more than 0, got 0"),
        ({"seconds": -1.0}, "seconds must be .* more than 0, got -1"),
        ({"seconds": float("nan")}, "seconds must be .* more than 0, got nan"),
        ({"seconds": "one"}, "seconds must be .* more than 0, got 'one'"),
        ({"keep": 0}, "keep must be .* at least 1, got 0"),
        ({"keep": 1.5}, "keep must be a whole number"),
        ({"max_depth": 0}, "max_depth=0 is too shallow: the simplest formula of this grammar nests 1 operator"),
        ({"max_depth": -3}, "max_depth=-3 is too shallow"),
        ({"max_depth": 2.5}, "max_depth must be a whole number"),
        ({"max_depth": None}, "max_depth must be a whole number"),
    ],
)
def test_senseless_settings_are_refused(search, settings, message):
    with pytest.raises(SettingsError, match=message):
        replace(search, **settings).run(PAPERS, Spy(PAPERS), 1)


def test_the_depth_that_is_refused_depends_on_the_grammar(search):
    deep = parsed("A ::= F(not (x3 < 1))")
    with pytest.raises(SettingsError, match="max_depth=2 is too shallow"):
        spied(replace(search, max_depth=2), deep)
    assert spied(replace(search, max_depth=3), deep)[0].evaluations == 1


GP, GE = GeneticProgramming, GrammaticalEvolution


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (GP(population=1), "population must be .* at least 2, got 1"),
        (GP(population=2.5), "population must be a whole number"),
        (GP(tournament=0), "tournament must be .* at least 1, got 0"),
        (GP(tournament=1.5), "tournament must be a whole number"),
        (GP(crossover=-0.1), "crossover .* between 0 and 1, got -0.1"),
        (GP(mutation=1.5), "mutation .* between 0 and 1, got 1.5"),
        (GP(mutation=float("nan")), "mutation .* between 0 and 1, got nan"),
        (GP(mutation="often"), "mutation .* between 0 and 1, got 'often'"),
        (GP(crossover=0.6, mutation=0.6), "add up to"),
        (GP(crossover=0.0, mutation=0.0), "add up to"),
        (GP(survival="fittest"), 'survival must be "best" or "children"'),
        (GE(population=1), "population must be .* at least 2, got 1"),
        (GE(codons=0), "codons must be .* at least 1, got 0"),
        (GE(codons=2.5), "codons must be a whole number"),
        (GE(wraps=-1), "wraps must be .* at least 0, got -1"),
        (GE(crossover=2), "crossover .* between 0 and 1, got 2"),
        (GE(mutation=-1), "mutation .* between 0 and 1, got -1"),
        (GE(rate=1.5), "rate .* between 0 and 1, got 1.5"),
        (GE(rate=None), "rate .* between 0 and 1, got None"),
        (GE(elite=float("nan")), "elite .* between 0 and 1, got nan"),
        (GE(crossover=0.6, mutation=0.6), "add up to"),
        (CrossEntropy(population=1), "population must be .* at least 2, got 1"),
        (CrossEntropy(elite=1.5), "elite .* between 0 and 1, got 1.5"),
        (CrossEntropy(rate=-1), "rate .* between 0 and 1, got -1"),
        (CrossEntropy(pseudo_count=-0.5), "pseudo_count must be a number of at least 0, got -0.5"),
        (CrossEntropy(pseudo_count=float("inf")), "pseudo_count must be a number of at least 0, got inf"),
        (Pipe(population=2.5), "population must be a whole number"),
        (Pipe(rate=2), "rate .* between 0 and 1, got 2"),
        (Pipe(elitist="often"), "elitist .* between 0 and 1, got 'often'"),
        (Pipe(epsilon=0), "epsilon must be .* more than 0, got 0"),
        (Pipe(mutation=float("nan")), "mutation .* between 0 and 1, got nan"),
        (Pipe(mutation_rate=1.5), "mutation_rate .* between 0 and 1, got 1.5"),
        (Pipe(threshold=-0.1), "threshold .* between 0 and 1, got -0.1"),
    ],
)
def test_senseless_settings_of_one_search_are_refused(search, message):
    with pytest.raises(SettingsError, match=message):
        search.run(PAPERS, Spy(PAPERS), 1)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, None])
def test_senseless_seeds_are_refused(search, seed):
    with pytest.raises(SettingsError, match="seed must be a whole number"):
        search.run(PAPERS, Spy(PAPERS), seed)


@pytest.mark.parametrize(
    "search",
    [
        GP(population=2),
        GP(population=7, tournament=1),
        GP(crossover=1.0, mutation=0.0),
        GP(crossover=0.0, mutation=1.0, survival="children"),
        GE(population=2),
        GE(elite=0.0),
        GE(elite=1.0, rate=1.0),
        GE(crossover=0.0, mutation=0.0),
        CrossEntropy(population=2),
        CrossEntropy(elite=0.0, rate=1.0, pseudo_count=0),
        CrossEntropy(elite=1.0, rate=0.0),
        Pipe(population=2),
        Pipe(rate=1.0, elitist=1.0, threshold=1.0),
        Pipe(rate=0.0, mutation=1.0, mutation_rate=1.0, threshold=1.0),
        Pipe(threshold=0.0, epsilon=1e-12),
    ],
    ids=repr,
)
def test_extreme_settings_work(search):
    found, spy = spied(search, evaluations=200)
    assert 0 < found.evaluations == len(set(spy.texts)) <= 200
    assert found.best.fitness == min(spy.fitness)


def test_genomes_too_short_for_any_formula_find_nothing():
    found, _ = spied(GE(codons=1, wraps=0))
    assert (found.best, found.evaluations) == (None, 0)


def test_searches_know_nothing_of_data():
    schema = Schema([Column("no such data", "real")])
    grammar = Grammar.parse("A ::= F(`no such data` < C) | A and A\nC ::= grid(0, 1, 50)", schema)
    assert spied(MonteCarlo(), grammar)[0].evaluations == 400


@pytest.mark.parametrize("kind", KINDS)
def test_generations_are_a_budget_too(kind):
    settings = replace(kind(), evaluations=None, generations=7)
    rounds, tried = [], []

    class Counting(Spy):
        def __call__(self, population, wanted):
            if not any(population is one for one in rounds):  # the first ones may be scored in parts
                rounds.append(population)
            tried.append(len(wanted))
            return super().__call__(population, wanted)

    found = settings.run(PAPERS, Counting(PAPERS), 3)
    assert 1 <= len(rounds) <= 7
    assert found.evaluations == sum(tried)


def test_what_is_nearly_as_good_ties_within_the_tolerance(search):
    spy = Spy(PAPERS)
    found = replace(search, evaluations=400).run(PAPERS, spy, 3, tolerance=2.0)
    close = {text for text, fitness in zip(spy.texts, spy.fitness, strict=True) if fitness <= min(spy.fitness) + 2.0}
    assert set(tied(found, PAPERS)) == close
    assert len(found.ties.lengths) == len(close)


def test_long_formulas_keep_their_random_constants():
    """Where a row is full, regrowth finds no room, and the parent's subtree stays with its constants."""
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V @3 | not V | x3 < C\nC ::= random(0, 1)", SCHEMA)
    seen = []

    def longest(population, wanted):
        seen.append(population.take(wanted))
        return Scores(-population.lengths[wanted].astype(float), np.arange(len(wanted), dtype=np.uint64))

    GeneticProgramming(evaluations=4_000, population=200, max_depth=14).run(grammar, longest, 1)
    draws = ~np.isnan(grammar.tables.range[:, 0])
    for population in seen:
        filled = np.arange(population.rules.shape[1]) < population.lengths[:, None]
        assert np.array_equal(~np.isnan(population.constants[filled]), draws[population.rules[filled]])
    assert max(population.lengths.max() for population in seen) > 200


@pytest.mark.parametrize("seed", few_fast(range(5)))
def test_parents_that_neither_exchange_nor_regrow_anything_are_copied(seed):
    settings = GeneticProgramming(
        population=20, tournament=2, crossover=1e-12, mutation=0, survival="children", unique=False
    )
    breeder = settings.breeder(Task(PAPERS, seed, Memory(scores=False), Spy(PAPERS), 0.0))

    def texts(population):
        assert population.lengths.min() > 0
        return [str(PAPERS.derivation(population, i)) for i in range(len(population.lengths))]

    first = breeder.propose(0)
    before = set(texts(first))
    breeder.learn(first, np.arange(20.0), np.arange(20, dtype=np.uint64))
    second = texts(breeder.propose(1))
    assert len(before) > 10
    assert set(second) <= before
