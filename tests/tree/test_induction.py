"""Induction: the paper's Algorithm 1 against a plain one, fitness, weights, margins and limits."""

import math
import random
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import few_fast
from tests.support.engines import engine_for
from tests.support.oracle_form import judged
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, RandomFormulas, draw_case, draw_columns

from telltree.engine import Formula
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import GiniSize, Greedy, Leaf, Node, TreeSettings, grow
from telltree.tree.backend import LocalBackend
from telltree.tree.class_target import ONE, ClassLabels, ClassTarget
from telltree.tree.induction import TreeRun

TINY = """
Start ::= F(V) | G(V)
V     ::= on | mode = "up" | speed {<, >} [-1, 0, 1.5] | height {<=, =} [1, 3] | not on
"""
SAID = 26
"""How many formulas that is."""
EVERYTHING = MonteCarlo(evaluations=SAID, max_depth=3)
"""Tries them all."""
GINI = GiniSize()


def coded(labels, weights=None):
    classes, codes = np.unique(labels, return_inverse=True)
    fixed = None if weights is None else (np.array(weights) * ONE).astype(np.int64)
    return ClassLabels(codes.astype(np.int64), ClassTarget(tuple(classes.tolist())), fixed)


def learn(
    panel, labels, grammar, search=EVERYTHING, fitness=GINI, *, seed=1, threads=1, weights=None, max_depth=6,
    min_samples_leaf=1, **growth,
):  # fmt: skip
    settings = TreeSettings(search, fitness, Greedy(**growth), max_depth, min_samples_leaf, seed=seed)
    run = TreeRun(partial(LocalBackend, threads=threads))
    return grow(panel, coded(labels, weights), grammar, settings, run)


@pytest.fixture(scope="module")
def tiny(panel):
    return Grammar.parse(TINY, panel)


# a plain Algorithm 1


def gini(labels):
    return 1 - sum((count / len(labels)) ** 2 for count in Counter(labels).values())


def gini_size(true, false, size, *, w1=100, w2=0.1, summed=False):
    n, m = len(true), len(false)
    impurity = gini(true) + gini(false) if summed else (n * gini(true) + m * gini(false)) / (n + m)
    return w1 * impurity + w2 * size


def is_count(plain):
    return plain[0] in ("count", "episodes", "longest") or (
        plain[0] in oracle.ARITHMETIC and any(map(is_count, plain[1:]))
    )


class Robustness:
    """Robustness record by record and step by step; standard deviations are of the records given."""

    def __init__(self, records, functions=PLAIN_FUNCTIONS):
        self.records, self.functions, self.spreads = records, functions, {}

    def spread(self, signal):
        if signal not in self.spreads:
            each = (value for record in self.records for value in oracle.values(signal, record, self.functions))
            finite = [float(value) for value in each if value is not None and math.isfinite(value)]
            with np.errstate(all="ignore"):
                deviation = float(np.std(finite)) if finite else 0.0
            self.spreads[signal] = deviation if deviation > 0 and math.isfinite(deviation) else 1.0
        return self.spreads[signal]

    def over_time(self, plain, record):
        head, *operands = plain
        if head in oracle.MARGIN:
            given = [o[1] if o[0] == "number" else self.over_time(o, record) for o in operands]
            return oracle.MARGIN[head](*given)
        return self.atom(plain, record)

    def atom(self, plain, record):
        truth = oracle.over_time(plain, record, self.functions)
        sizes = [1.0] * len(truth)
        numbers = [operand[1] for operand in plain[1:] if operand[0] == "number"]
        if plain[0] in oracle.COMPARE and numbers:
            (signal,) = (operand for operand in plain[1:] if operand[0] != "number")
            if not is_count(signal):
                values = oracle.values(signal, record, self.functions)
                sizes = [1.0 if x is None else self.distance(x, numbers[0], signal) for x in values]
        return [size if holds else -size for size, holds in zip(sizes, truth, strict=True)]

    def distance(self, x, constant, signal):
        return 0.0 if x == constant else abs(x - constant) / self.spread(signal)

    def of_split(self, plain, records):
        return min(abs(self.over_time(plain, record)[0]) for record in records)


class PlainInduction:
    """Algorithm 1 with an exhaustive search, each formula judged by the oracle."""

    def __init__(self, grammar, records, labels, max_depth, max_size=6):
        self.records, self.labels, self.max_depth = records, labels, max_depth
        self.robustness = Robustness(records)
        self.formulas = [(str(d), judged(d.expression), len(d)) for d in grammar.enumerate(max_size)]

    def split(self, members, depth=0):
        own = [self.labels[i] for i in members]
        if len(set(own)) == 1 or depth == self.max_depth:
            return min(own, key=lambda label: (-own.count(label), label))
        ranked = []
        for text, plain, size in self.formulas:
            true = [i for i in members if oracle.truth(plain, self.records[i], {})]
            false = [i for i in members if i not in true]
            if true and false:
                fitness = gini_size(*([self.labels[i] for i in side] for side in (true, false)), size)
                ranked.append((round(fitness, 9), plain, size, text, true, false))
        if not ranked:
            return min(own, key=lambda label: (-own.count(label), label))
        best = min(ranked)[0]
        ties = [r for r in ranked if r[0] == best]
        inside = [self.records[i] for i in members]
        widest = min(ties, key=lambda r: (-self.robustness.of_split(r[1], inside), r[2], r[3]))
        return widest[3], best, self.split(widest[4], depth + 1), self.split(widest[5], depth + 1)


def outline(node):
    if isinstance(node, Leaf):
        return node.summary.predicted
    return str(node.formula), round(node.fitness, 9), outline(node.true), outline(node.false)


def test_the_tiny_grammar_is_exhausted(tiny):
    assert tiny.count(6) == tiny.count(99) == SAID


@pytest.mark.parametrize("max_depth", [0, 1, 4])
def test_the_tree_is_that_of_a_plain_exhaustive_induction(panel, plain, labels, tiny, max_depth):
    learned = learn(panel, labels, tiny, max_depth=max_depth)
    expected = PlainInduction(tiny, plain, labels, max_depth).split(range(len(plain)))
    assert outline(learned.tree.root) == expected


@pytest.mark.parametrize("seed", few_fast(range(4)))
def test_random_labels_give_the_plain_tree_too(panel, plain, tiny, seed):
    chosen = random.Random(seed).choices("abc", k=len(plain))
    learned = learn(panel, chosen, tiny, max_depth=3)
    expected = PlainInduction(tiny, plain, chosen, 3).split(range(len(plain)))
    assert outline(learned.tree.root) == expected


@pytest.mark.parametrize("kind", [MonteCarlo, GrammaticalEvolution, GeneticProgramming])
def test_every_search_finds_the_best_split_of_a_tiny_grammar(panel, plain, labels, tiny, kind):
    learned = learn(panel, labels, tiny, kind(evaluations=2_000, max_depth=3), max_depth=1)
    _, best, _, _ = PlainInduction(tiny, plain, labels, 1).split(range(len(plain)))
    assert learned.tree.root.fitness == pytest.approx(best)


# fitness


counts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=4)


@given(counts, st.integers(1, 30), st.booleans(), st.floats(0, 100), st.floats(0, 1))
def test_gini_size_agrees_with_the_plain_formula(sides, size, summed, w1, w2):
    true = [k for k, (n, _) in enumerate(sides) for _ in range(n)]
    false = [k for k, (_, n) in enumerate(sides) for _ in range(n)]
    if not true or not false:
        return  # never taken, whatever its fitness
    fitness = GiniSize(w1, w2, "sum" if summed else "weighted")
    (found,) = fitness(np.array([[n for n, _ in sides]]), np.array([n + m for n, m in sides]), np.array([size]))
    assert found == pytest.approx(gini_size(true, false, size, w1=w1, w2=w2, summed=summed))


def test_gini_size_by_hand():
    true, total, size = np.array([[4, 0], [2, 2], [4, 4]]), np.array([4, 4]), np.array([2, 4, 6])
    assert GiniSize()(true, total, size).tolist() == pytest.approx([0.2, 50.4, 50.6])
    assert GiniSize(gini="sum")(true, total, size).tolist() == pytest.approx([0.2, 100.4, 50.6])
    assert GiniSize(w1=1, w2=0)(true, total, size).tolist() == pytest.approx([0, 0.5, 0.5])


@pytest.mark.parametrize(
    "settings",
    [{"gini": "mean"}, {"size": "letters"}, {"w1": -1}, {"w2": float("nan")}, {"w1": float("inf")}, {"w1": "much"}],
)
def test_senseless_fitness_is_refused(settings):
    with pytest.raises(SettingsError, match=next(iter(settings))):
        GiniSize(**settings)


def test_any_function_can_be_the_fitness(panel, plain, labels, tiny):
    seen = []

    def errors(true, total, size):
        """Records on either side that are not of its commonest class."""
        seen.append((true.shape, total.shape, size.shape))
        other = total - true
        return true.sum(1) - true.max(1) + other.sum(1) - other.max(1)  # whole numbers will do

    tree = learn(panel, labels, tiny, fitness=errors, max_depth=1).tree
    assert all(t[0] == s[0] and t[1:] == k == (3,) for t, k, s in seen)

    def wrong(text):
        truth = Formula.parse(text, panel.schema)(panel)
        sides = [[label for label, t in zip(labels, truth, strict=True) if t == side] for side in (True, False)]
        return sum(len(s) - max(Counter(s).values()) for s in sides) if all(sides) else np.inf

    assert tree.root.fitness == min(wrong(str(d)) for d in tiny.enumerate(6))


@pytest.mark.parametrize(
    ("fitness", "message"),
    [
        (lambda true, total, size: 1.0, "one number for each"),
        (lambda true, total, size: true, "one number for each"),
        (lambda true, total, size: ["good"] * len(size), "one number for each"),
        (lambda true, total, size: None, "one number for each"),
    ],
)
def test_a_fitness_that_does_not_keep_its_promise_is_named(panel, labels, tiny, fitness, message):
    with pytest.raises(SettingsError, match=message):
        learn(panel, labels, tiny, fitness=fitness)


def test_a_fitness_that_is_no_number_is_of_no_use(panel, labels, tiny):
    tree = learn(panel, labels, tiny, fitness=lambda true, total, size: np.full(len(size), np.nan)).tree
    assert isinstance(tree.root, Leaf)


# limits


def branches(node, depth=0):
    if isinstance(node, Node):
        yield node, depth
        yield from branches(node.true, depth + 1)
        yield from branches(node.false, depth + 1)


def support(node):
    return node.summary.support


def test_pure_nodes_are_leaves_and_mixed_ones_are_split(panel, labels):
    tree = learn(panel, labels, Grammar.generic(panel), GeneticProgramming(evaluations=3_000), max_depth=20).tree
    assert all(np.count_nonzero(leaf.summary.counts) == 1 for leaf, _ in tree.leaves)
    assert all(np.count_nonzero(node.summary.counts) > 1 for node in tree.nodes)
    assert tree.predict(panel).tolist() == labels


def test_no_side_is_ever_empty_and_counts_add_up(panel, labels, tiny):
    tree = learn(panel, labels, tiny, max_depth=20).tree
    assert tree.summary.counts == tuple(labels.count(name) for name in tree.target.classes)
    for node, _ in branches(tree.root):
        assert support(node.true) > 0
        assert support(node.false) > 0
        assert node.summary == node.true.summary + node.false.summary


def test_a_split_with_an_empty_side_is_not_taken_even_if_it_is_the_fittest(panel, labels, tiny):
    def likes_empty_sides(true, total, size):
        inside = true.sum(1)
        return np.where((inside == 0) | (inside == total.sum()), 0.0, 1.0)

    tree = learn(panel, labels, tiny, fitness=likes_empty_sides, max_depth=1).tree
    assert support(tree.root.true) > 0 < support(tree.root.false)


def test_records_that_nothing_tells_apart_are_a_leaf(panel, labels):
    grammar = Grammar.parse('A ::= G(mode = "up" or not mode = "up")', panel)
    learned = learn(panel, labels, grammar, MonteCarlo(evaluations=1))
    assert isinstance(learned.tree.root, Leaf)
    assert learned.searches == {}


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_the_depth_is_kept(panel, labels, tiny, depth):
    tree = learn(panel, labels, tiny, max_depth=depth).tree
    assert tree.depth <= depth
    assert len(tree.leaves) <= 2**depth


@pytest.mark.parametrize("least", [1, 2, 5, 20, 40])
def test_every_side_has_its_members(panel, labels, tiny, least):
    tree = learn(panel, labels, tiny, min_samples_leaf=least, max_depth=9).tree
    assert all(min(support(n.true), support(n.false)) >= least for n, _ in branches(tree.root))
    assert (least < 30) == bool(tree.nodes)


def test_splits_gain_enough_or_are_not_made(panel, labels, tiny):
    free = learn(panel, labels, tiny, max_depth=9).tree
    gains = sorted(node.gain for node in free.nodes)
    limit = gains[len(gains) // 2]
    tree = learn(panel, labels, tiny, max_depth=9, min_gain=limit).tree
    assert 0 < len(tree.nodes) < len(free.nodes)
    assert all(node.gain >= limit for node in tree.nodes)
    assert not learn(panel, labels, tiny, min_gain=1e6).tree.nodes


def test_the_gain_is_what_the_split_lowers(panel, labels, tiny):
    for node in learn(panel, labels, tiny).tree.nodes:
        mixed = [k for k, n in enumerate(node.summary.counts) for _ in range(n)]
        assert node.gain == pytest.approx(100 * gini(mixed) + 0.1 * node.formula.terminals - node.fitness)


def test_sides_that_predict_the_same_can_be_refused(panel, labels, tiny):
    def label(node):
        return int(np.argmax(node.summary.counts))

    free = learn(panel, labels, tiny, max_depth=9).tree
    tree = learn(panel, labels, tiny, max_depth=9, prevent_same_label=True).tree
    assert any(label(n.true) == label(n.false) for n in free.nodes)
    assert tree.nodes
    assert all(label(n.true) != label(n.false) for n in tree.nodes)


def test_the_first_of_equal_classes_is_predicted(panel, tiny):
    names = ["b", "a", "c"] * (len(panel) // 3)
    tree = learn(panel, names, tiny, max_depth=0).tree
    assert tree.summary.predicted == "a"
    assert tree.summary.probabilities.tolist() == pytest.approx([1 / 3] * 3)
    most = learn(panel, ["a"] * 10 + ["b"] * 25 + ["c"] * 25, tiny, max_depth=0).tree
    assert most.summary.predicted == "b"


def test_searches_are_kept_by_node_number(panel, labels, tiny):
    learned = learn(panel, labels, tiny, max_depth=2)
    assert set(learned.searches) <= {1, 2, 3}
    assert learned.searches[1].best.fitness == learned.tree.root.fitness
    shown = [str(r.formula) for r in learned.tree.root.runners_up]
    assert len(shown) == len(set(shown)) > 3
    assert str(learned.tree.root.formula) not in shown
    assert [r.fitness for r in learned.tree.root.runners_up] == sorted(r.fitness for r in learned.tree.root.runners_up)


# weights


def shape(node):
    """A tree without its counts."""
    return node.summary.label if isinstance(node, Leaf) else (str(node.formula), shape(node.true), shape(node.false))


@pytest.mark.parametrize("search", [EVERYTHING, GeneticProgramming(evaluations=1_500)], ids=["all", "GP"])
@pytest.mark.parametrize("most", [2, 7, 40])  # few different weights are grouped, many are counted bit by bit
def test_whole_weights_are_repetitions(panel, labels, search, most):
    rng = np.random.default_rng(most)
    times = rng.integers(1, most, size=len(panel), endpoint=True)
    grammar = Grammar.generic(panel)
    search = replace(search, evaluations=1_500)
    weighted = learn(panel, labels, grammar, search, weights=times, max_depth=4).tree
    rows = np.repeat(np.arange(len(panel)), times)
    repeated = learn(panel[rows], np.array(labels)[rows], grammar, search, max_depth=4).tree
    # the spread of a column, and with it the margin, depends on how often records are there: compare what does not
    assert weighted.root.fitness == pytest.approx(repeated.root.fitness)
    assert weighted.root.gain == pytest.approx(repeated.root.gain)


@pytest.mark.parametrize("most", [2, 7, 40])
def test_whole_weights_give_the_tree_of_repeated_records(panel, labels, tiny, most):
    times = np.random.default_rng(most).integers(1, most, size=len(panel), endpoint=True)
    rows = np.repeat(np.arange(len(panel)), times)
    weighted = learn(panel, labels, tiny, weights=times, max_depth=5).tree
    repeated = learn(panel[rows], np.array(labels)[rows], tiny, max_depth=5).tree
    assert shape(weighted.root) == shape(repeated.root)
    for (one, _), (other, _) in zip(weighted.leaves, repeated.leaves, strict=True):
        assert one.summary.weights == pytest.approx(other.summary.weights)
        assert one.support <= other.support


def test_members_are_records_however_heavy(panel, labels, tiny):
    heavy = learn(panel, labels, tiny, weights=[100 + i % 2 for i in range(len(panel))], min_samples_leaf=5).tree
    assert heavy.nodes
    assert all(min(support(n.true), support(n.false)) >= 5 for n, _ in branches(heavy.root))
    assert heavy.records == len(panel)


def test_weights_decide_what_leaves_predict(panel, tiny):
    names = ["a"] * 40 + ["b"] * 20
    tree = learn(panel, names, tiny, weights=[1] * 40 + [3] * 20, max_depth=0).tree
    assert tree.summary.predicted == "b"
    assert tree.summary.counts == (40, 20)
    assert tree.summary.weights == (40, 60)


def test_records_of_no_weight_do_not_matter_to_the_fitness(panel, labels, tiny):
    weights = np.r_[np.zeros(20), np.ones(40)]
    tree = learn(panel, labels, tiny, weights=weights, max_depth=1).tree
    truth = tree.root.formula(panel)[20:]
    sides = [[label for label, t in zip(labels[20:], truth, strict=True) if t == side] for side in (True, False)]
    assert tree.root.fitness == pytest.approx(gini_size(*sides, tree.root.formula.terminals))


# margins


@pytest.mark.parametrize("seed", few_fast(range(12), 2))
def test_margins_agree_with_the_plain_ones(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.choice((1, 2, 3, 5)) for _ in range(rng.choice((1, 4, 12)))])
    draw = RandomFormulas(rng, columns)
    formulas = [draw.boolean(rng.randint(1, 4)) for _ in range(25)]
    texts = [oracle.text(formula, rng) for formula in formulas]
    parsed = [Formula.parse(text, case.panel.schema, functions=FUNCTIONS).expression for text in texts]
    margins = Robustness(case.records)
    with np.errstate(all="ignore"):
        evaluator, population = engine_for(case.panel, parsed)
        found = evaluator.robustness(population)
        expected = [margins.of_split(formula, case.records) for formula in formulas]
    for text, one, other in zip(texts, found.tolist(), expected, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12), f"{text}\non {case.records}"


def test_margins_of_the_whole_grammar_agree(panel, plain, tiny):
    from telltree.grammar.derivation import Population

    derivations = list(tiny.enumerate(6))
    population = Population.of(derivations, constants=False)
    evaluator = PopulationEvaluator(panel, tiny.rules, tiny.tables)
    margins = Robustness(plain)
    expected = [margins.of_split(judged(d.expression), plain) for d in derivations]
    assert evaluator.robustness(population).tolist() == pytest.approx(expected)
    assert evaluator.robustness(population, cutoff=0.0).max() == pytest.approx(max(expected))


@pytest.mark.parametrize("search", [EVERYTHING, GeneticProgramming(evaluations=3_000)], ids=["all", "GP"])
def test_of_formulas_as_good_the_widest_margin_then_the_smallest_then_the_first_by_text_is_taken(
    panel, plain, labels, search
):
    grammar = Grammar.generic(panel)
    learned = learn(panel, labels, grammar, replace(search, evaluations=3_000), max_depth=1)
    ties = learned.searches[1].ties
    rivals = [grammar.derivation(ties, i) for i in range(len(ties.lengths))]
    margins = Robustness(plain)
    ranked = sorted((-round(margins.of_split(judged(d.expression), plain), 9), len(d), str(d)) for d in rivals)
    assert str(learned.tree.root.formula) == ranked[0][2]
    assert learned.tree.root.robustness == pytest.approx(-ranked[0][0])


def test_margins_of_deeper_nodes_are_measured_with_the_spread_of_all_training_records(panel, plain, labels, tiny):
    learned = learn(panel, labels, tiny, max_depth=2)
    child = learned.tree.root.false
    assert isinstance(child, Node)
    inside = [record for record, t in zip(plain, learned.tree.root.formula(panel), strict=True) if not t]
    expected = Robustness(plain).of_split(judged(child.formula.expression), inside)
    assert child.robustness == pytest.approx(expected)


# what must change nothing


@pytest.mark.parametrize(
    "search", [MonteCarlo(evaluations=2_000), GeneticProgramming(evaluations=2_000)], ids=["MC", "GP"]
)
def test_threads_change_nothing(panel, labels, search):
    grammar = Grammar.generic(panel)
    one, two = (learn(panel, labels, grammar, search, threads=threads) for threads in (1, 2))
    assert one.tree == two.tree
    assert one.searches.keys() == two.searches.keys()


def test_the_order_of_records_changes_nothing_in_the_tree(panel, labels, tiny):
    order = np.random.default_rng(1).permutation(len(panel))
    here = learn(panel, labels, tiny).tree
    there = learn(panel[order], np.array(labels)[order], tiny).tree
    assert str(here) == str(there)


def test_another_seed_may_give_another_tree(panel, labels):
    grammar = Grammar.generic(panel)
    few = MonteCarlo(evaluations=30)
    assert len({str(learn(panel, labels, grammar, few, seed=seed).tree) for seed in range(4)}) > 1


# what ties, and what a tie leaves room for


def four_classes():
    """Class 0 is far from the others in `far`; {0, 1} and {2, 3} are near in `near`; `odd` tells the pairs apart."""
    records = [
        np.array([[100.0 if k == 0 else 0.0, 1.0 if k < 2 else 0.0, 5.0 * (k % 2)]]) for k in range(4) for _ in range(5)
    ]
    panel = Panel.from_arrays(records, columns=["far", "near", "odd"])
    return panel, np.repeat(np.arange(4), 5)


@pytest.mark.parametrize(("max_depth", "first"), [(3, "far"), (2, "near")])
def test_of_splits_as_good_one_that_leaves_room_for_the_classes_is_taken(max_depth, first):
    panel, labels = four_classes()
    grammar = Grammar.parse("A ::= F(far > 50) | F(near > 0.9) | F(odd > 0.1)", panel)
    search = MonteCarlo(evaluations=3, max_depth=2)
    tree = learn(panel, labels, grammar, search, max_depth=max_depth).tree
    assert tree.root.formula.expression.attributes() == (first,)
    assert np.array_equal(tree.predict(panel), labels)


@pytest.mark.parametrize(("tolerance", "first"), [(0.0, "narrow"), (0.5, "wide")])
def test_a_wider_margin_outweighs_a_difference_within_the_tolerance(tolerance, first):
    """`narrow` puts one record more on the right side than `wide` does."""
    labels = np.repeat([0, 1], 200)
    narrow = labels * 0.1
    wide = labels * 100.0
    wide[0] = 100.0
    panel = Panel.from_arrays([np.array([row]) for row in zip(narrow, wide, strict=True)], columns=["narrow", "wide"])
    grammar = Grammar.parse("A ::= F(narrow > 0.0999) | F(wide > 50)", panel)
    search = MonteCarlo(evaluations=2, max_depth=2)
    tree = learn(panel, labels, grammar, search, GiniSize(tolerance=tolerance), max_depth=2).tree
    assert tree.root.formula.expression.attributes() == (first,)
    assert tree.root.fitness == pytest.approx(0.4 if first == "narrow" else 0.4 + 100 * 400 / 201 / 400, abs=0.01)


@pytest.mark.parametrize("at_once", [2, 3])
def test_nodes_that_are_searched_side_by_side_make_the_same_tree(panel, labels, at_once):
    own = coded(labels)
    settings = TreeSettings(MonteCarlo(evaluations=300), GINI, max_depth=3, seed=4)
    alone = grow(panel, own, Grammar.generic(panel), settings)

    class SideBySide(LocalBackend):
        nodes_at_once = at_once

    beside = grow(panel, own, Grammar.generic(panel), settings, TreeRun(SideBySide))
    assert beside.tree == alone.tree  # with gains and runners-up
    assert list(beside.searches) == list(alone.searches)
    assert len(alone.searches) > 1
