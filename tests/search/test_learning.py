"""Cross-entropy and PIPE learn which rules are useful, and do not forget the others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.test_contract import GRAMMARS, Spy
from tests.search.test_exhaustive import SCHEMA, drawn, objective_of
from tests.support.effort import examples

from telltree import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import NO_ROW, Lanes, Levels, deepest, draw
from telltree.grammar.prototype_tree import PrototypeTree
from telltree.grammar.random_streams import own_shares
from telltree.search import CrossEntropy, GeneticProgramming, MonteCarlo, Pipe, Scores
from telltree.search.pipe import doubt_left
from telltree.search.search import Memory, Task

SMALL = Grammar.parse(
    "A ::= F(V) | G(V)\nV ::= V and V | not V | on | off | x {<, >=} [0.5, 1, 1.5] | y {<, >=} [0.5, 1, 1.5]", SCHEMA
)
LEARNING = [CrossEntropy, Pipe]


def by_text(grammar, fitness):
    """An objective that looks at the text of a formula alone; equal texts answer alike."""

    def objective(population, wanted):
        texts = [str(grammar.derivation(population, int(i))) for i in wanted]
        return Scores(np.array(list(map(fitness, texts)), float), population.names[wanted])

    return objective


def all_within(grammar, depth, objective):
    """The least fitness of all formulas of up to this depth, and how many there are."""
    everything = [one for one in grammar.enumerate(9) if one.depth <= depth]
    scores = objective(Population.of(everything, grammar.has_random_constants), np.arange(len(everything)))
    return scores.fitness.min(), len(everything)


@pytest.mark.parametrize("kind", LEARNING)
@pytest.mark.parametrize("seed", range(2))
def test_the_best_of_all_formulas_is_found_without_trying_half_of_them(kind, seed):
    panel, _, labels = drawn(seed, 60)
    objective = objective_of(panel, labels, SMALL)
    least, number = all_within(SMALL, 3, objective)
    found = kind(evaluations=number // 2, max_depth=3).run(SMALL, objective, seed)
    assert number > 400
    assert found.evaluations <= number // 2
    assert found.best.fitness == least


def bred(search, grammar, fitness, generations):
    """The breeder of a search after some generations."""
    breeder = search.breeder(Task(grammar, 1, Memory(True), None, 0.0))
    for generation in range(generations):
        population = breeder.propose(generation)
        scores = by_text(grammar, fitness)(population, np.arange(len(population.lengths)))
        breeder.learn(population, *scores[:2])
    return breeder


def useful(text):
    """The more often `on` is said, the better."""
    return -text.count("on")


def test_cross_entropy_makes_the_useful_rule_likelier():
    """`on` is one of six ways to end, and at the last level the only useful one."""
    rule = next(r for r, one in enumerate(SMALL.rules) if str(one.template) == "on")
    before, after = (bred(CrossEntropy(), SMALL, useful, n).shares[:, rule] for n in (0, 12))
    assert (after > 2 * before).sum() >= 2
    assert after.max() > 0.5


def test_pipe_makes_the_useful_rule_likelier_at_its_place():
    grammar = Grammar.parse("A ::= F(V) | G(V)\nV ::= on | off | x < 1", SCHEMA)
    tree = bred(Pipe(population=20), grammar, useful, 30).tree
    assert tree.places == 2  # the whole, and what is inside
    assert tree.chances(1)[0] > 0.5


def deceptive(text):
    """`on` is good, so that the best do without `off`; but three times `off` is the best of all."""
    return -99 if text.count("off") >= 3 else -text.count("on")


TRAP = Grammar.parse("A ::= F(V)\nV ::= V and V | on @20 | off @5 | not V", SCHEMA)


def test_without_a_pseudo_count_cross_entropy_collapses_and_with_it_it_does_not():
    collapsing = CrossEntropy(2_000, population=50, max_depth=5, rate=1.0, pseudo_count=0)
    off = next(r for r, one in enumerate(TRAP.rules) if str(one.template) == "off")

    def shares(search):
        return bred(search, TRAP, useful, 40).shares[:, off]

    assert (shares(collapsing)[1:] == 0).any()
    kept = CrossEntropy(2_000, population=50, max_depth=5)
    assert (shares(kept) > 0).all()
    objective = by_text(TRAP, useful)
    fallen, going = collapsing.run(TRAP, objective, 1), kept.run(TRAP, objective, 1)
    assert fallen.evaluations < 1_000  # nothing new in 200 generations
    assert going.evaluations == 2_000
    assert kept.run(TRAP, by_text(TRAP, deceptive), 1).best.fitness == -99


def test_pipe_does_not_collapse_where_the_algorithm_as_it_is_told_does():
    """Learning from the same formula again and again makes it certain, and then nothing else is drawn."""
    told = ours = np.full(6, 0.25)
    for _ in range(100):
        goal = told.prod() + 0.05 * (1 - told.prod())
        while told.prod() < goal:
            told = told + 0.005 * (1 - told)
        ours = 1 - (1 - ours) * doubt_left(ours, 0.05)
    assert told.prod() > 0.99
    assert ours.prod() == pytest.approx(0.2)
    for own in ({}, {"rate": 1.0, "elitist": 1.0, "mutation": 0.0}):
        found = Pipe(2_000, population=50, max_depth=5, **own).run(TRAP, by_text(TRAP, useful), 1)
        assert found.evaluations == 2_000


@pytest.mark.parametrize("kind", LEARNING)
def test_learning_beats_chance_where_few_formulas_are_good(kind):
    """Five times `on` and nothing else is hardly ever said by chance."""
    objective = by_text(SMALL, lambda text: abs(text.count("on") - 5) + len(text) / 100)
    least = {}
    for search in (kind, MonteCarlo):
        least[search] = [search(1_500).run(SMALL, objective, seed).best.fitness for seed in range(5)]
    assert max(least[kind]) < min(least[MonteCarlo])


@given(
    chance=st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=300),
    rate=st.floats(0, 1),
)
@examples(60)
def test_a_formula_becomes_as_likely_as_asked_however_long_it_is(chance, rate):
    chance = np.array(chance)
    left = doubt_left(chance, rate)
    after = np.log1p(-(1 - chance) * left)
    before = np.log(chance)
    assert 0 <= left <= 1
    assert (after >= before - 1e-6).all()
    product = np.exp(before.sum())
    goal = max(product, min(0.2, product + rate * (1 - product)))
    assert np.exp(after.sum()) == pytest.approx(goal, rel=1e-6, abs=1e-12)


def test_going_in_small_steps_ends_where_the_goal_is():
    """As the algorithm is told: raise every chance by a little until the product is there."""
    chance = np.array([0.3, 0.05, 0.6, 0.2])
    goal, stepped = chance.prod() + 0.05 * (1 - chance.prod()), chance.copy()
    while stepped.prod() < goal:
        stepped += 1e-5 * (1 - stepped)
    np.testing.assert_allclose(1 - (1 - chance) * doubt_left(chance, 0.05), stepped, atol=1e-4)


def shares_of(grammar, rules, lengths):
    """How often derivations use each rule, among the uses of its symbol."""
    used = np.concatenate([row[:length] for row, length in zip(rules, lengths, strict=True)])
    counts, symbol = np.bincount(used, minlength=len(grammar.rules)), grammar.tables.rule["symbol"][:-1]
    return counts / np.maximum(np.bincount(symbol, counts)[symbol], 1)


def test_levels_are_drawn_as_they_are_weighed():
    grammar = Grammar.parse("A ::= F(V) @3 | G(V)\nV ::= on @2 | off | x < [0.5, 1]", SCHEMA)
    levels, rng = Levels(grammar.tables, deepest(grammar.tables, 6), grammar.width(6)), np.random.default_rng(0)
    shares = rng.random((levels.number, len(grammar.rules)))
    levels.weigh(shares)
    width = grammar.width(6)
    made = Population.empty(20_000, width, False)
    draw(levels.tables, levels.depth, np.uint64(1), 0, NO_ROW, Lanes.empty(grammar.tables, width), *made.for_kernels())
    counts = levels.counts(made, np.arange(20_000))
    seen = counts / np.maximum(levels.totals(counts), 1)
    expected = shares / levels.totals(shares)
    used = levels.totals(counts) > 0
    assert used.any(axis=0).all()
    np.testing.assert_allclose(seen[used], expected[used], atol=0.02)


def test_without_learning_a_prototype_draws_as_the_grammar_does():
    grammar = GRAMMARS["weights"]
    tree = PrototypeTree(grammar, 4, 0.999)
    width = grammar.width(4)
    made, plain = (Population.empty(20_000, width, False) for _ in range(2))
    tree.draw(np.uint64(1), 0, made)
    draw(
        grammar.tables.growing, 4, np.uint64(2), 0, NO_ROW, Lanes.empty(grammar.tables, width), *plain.for_kernels()
    )  # fmt: skip
    shares = [shares_of(grammar, one.rules, one.lengths) for one in (made, plain)]
    np.testing.assert_allclose(*shares, atol=0.02)


@given(name=st.sampled_from(sorted(GRAMMARS)), seed=st.integers(0, 99), most=st.integers(1, 40))
@examples(25)
def test_a_prototype_tree_stays_within_its_bounds(name, seed, most):
    grammar = GRAMMARS[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("telltree.grammar.prototype_tree._MOST_PLACES", most)
        tree, rng = PrototypeTree(grammar, 8, 0.9), np.random.default_rng(seed)
        made = Population.empty(20, grammar.width(8), False)
        for generation in range(12):
            tree.draw(np.uint64(seed), generation, made)
            row = rng.integers(20)
            path, rules = tree.along(made.rules[row, : made.lengths[row]])
            tree.make_likely(path, rules, rng.random(len(path)))
            assert 1 <= tree.places <= most
            for place in range(tree.places):
                assert tree.chances(place).sum() == pytest.approx(1)
                assert (tree.chances(place) > 0).all()
            again = PrototypeTree(grammar, 8, 0.9)
            again.resume(**tree.state())
            other = Population.empty(20, grammar.width(8), False)
            again.draw(np.uint64(5), generation, other)
            tree.draw(np.uint64(5), generation, made)
            assert np.array_equal(made.names, other.names)


@pytest.mark.parametrize("kind", LEARNING)
def test_learning_goes_on_from_the_formulas_of_the_user(kind):
    """What the seed alone has comes up far more often after it is planted."""
    grammar = Grammar.parse("A ::= F(V) | G(W) @0.01\nV ::= on | off | V and V\nW ::= x < [0, 1, 2] | W and W", SCHEMA)

    def said(seeds):
        spy = Spy(grammar)
        kind(60, population=20, max_depth=5, seeds=seeds).run(grammar, spy, 4)
        return sum(text.startswith("G") for text in spy.texts)

    assert said(["G(x < 1 and x < 2)"]) > said([])


def test_shares_are_those_of_the_grammar():
    shares = own_shares(TRAP.rules, TRAP.tables)
    by_symbol = np.bincount(TRAP.tables.rule["symbol"][:-1], shares)
    np.testing.assert_allclose(by_symbol, 1)
    on, off = (next(s for s, r in zip(shares, TRAP.rules, strict=True) if str(r.template) == t) for t in ("on", "off"))
    assert on == pytest.approx(4 * off)


def test_the_settings_of_the_authors_of_the_paper():
    assert (CrossEntropy.paper().population, CrossEntropy.paper().best) == (1_000, 500)
    pipe = Pipe.paper()
    assert (pipe.population, pipe.generations, pipe.elitist, pipe.rate, pipe.epsilon) == (1_000, 20, 0.2, 0.05, 1.0)
    assert (pipe.mutation, pipe.mutation_rate, pipe.threshold) == (0.2, 0.6, 0.999)
    assert GeneticProgramming.paper().generations == CrossEntropy.paper().generations == 20
