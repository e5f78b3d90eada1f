"""Optimal trees against brute force: every tree over a pool, each by itself."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.brute_force import all_trees, answers, derivations, impurity, size, text_of, told_bits, tree_cost
from tests.support.effort import examples, few_fast
from tests.support.strategies import Column, panel_of

from telltree import GrammarTreeClassifier, Panel, load
from telltree.errors import SettingsError
from telltree.explain.outline import proof_text
from telltree.report import write_report
from telltree.search import Exhaustive, MonteCarlo
from telltree.tree import MDL, GiniSize, Greedy, LookAhead, Optimal, optimal
from telltree.tree.branch_and_bound import PooledFormulas, best_tree, pool_of
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.criterion import TreeCost
from telltree.tree.tree import Optimum


class Sized:
    """A question, of which only its size counts here."""

    def __init__(self, terminals):
        self.terminals = terminals

    def __len__(self):
        return self.terminals


@st.composite
def problems(draw):
    """Answers, classes, weights or None, prices, how many members each side must have, and levels."""
    levels = draw(st.integers(1, 3))
    number, records = draw(st.integers(1, 5 if levels < 3 else 3)), draw(st.integers(1, 90 if levels == 1 else 12))
    truth = draw(
        st.lists(st.lists(st.booleans(), min_size=records, max_size=records), min_size=number, max_size=number)
    )
    classes = draw(st.integers(2, 3))
    codes = draw(st.lists(st.integers(0, classes - 1), min_size=records, max_size=records))
    weights = draw(st.none() | st.lists(st.integers(1, 3), min_size=records, max_size=records))
    prices = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=number, max_size=number))
    return np.array(truth), codes, weights, classes, prices, draw(st.integers(1, 3)), levels


@examples(60)
@given(problems(), st.booleans())
def test_no_tree_over_the_pool_costs_less(problem, in_bits):
    assert_optimal(problem, in_bits)


def assert_optimal(problem, in_bits):
    """The tree that is found costs what brute force over all trees says the cheapest does."""
    truth, codes, weights, classes, prices, least, levels = problem
    labels = ClassLabels(
        np.array(codes), ClassTarget(tuple("abc"[:classes])), None if weights is None else np.array(weights)
    )
    each = weights or [1] * len(codes)
    whole = TreeCost(np.array(prices), 0.0 if in_bits else 2.5, 1.0 if in_bits else 0.0, "bits")
    pool = pool_of(PooledFormulas([Sized(k) for k in range(len(prices))], truth), labels, whole, least)
    found = best_tree(pool, levels)

    def leaf_cost(members):
        own, weigh = [codes[m] for m in members], [each[m] for m in members]
        return told_bits(own, weigh, classes, 1) if in_bits else 2.5 * impurity(own, weigh)

    cost = partial(tree_cost, members=range(len(codes)), answers=truth, leaf_cost=leaf_cost, prices=prices, least=least)
    trees = list(all_trees(range(len(prices)), levels))
    assert found.cost == pytest.approx(min(map(cost, trees)), abs=1e-9)
    assert cost(nested(found.splits, 1)) == pytest.approx(found.cost, abs=1e-9)  # it is what it says it costs
    assert len(trees) == Optimum(levels, len(prices), 1, 0, 0, 0.0, 0.0, "bits").trees


def nested(questions, number):
    if number not in questions:
        return None
    return questions[number], nested(questions, 2 * number), nested(questions, 2 * number + 1)


GRAMMAR = {
    "A": [("F", ("hole", "V")), ("G", ("hole", "V"))],
    "V": [("x", "on"), ("x", "off"), ("<", ("x", "x"), ("hole", "C"))],
    "C": [("number", value) for value in (0.0, 1.0, 2.0)],
}


def some_records(seed, number=40):
    rng = np.random.default_rng(seed)
    return [
        {
            "on": (rng.random(3) < 0.4).tolist(),
            "off": (rng.random(3) < 0.4).tolist(),
            "x": rng.integers(-1, 4, 3).astype(float).tolist(),
        }
        for _ in range(number)
    ]


def panel_with(records):
    return panel_of((Column("on", "Boolean"), Column("off", "Boolean"), Column("x", "real")), records)


def priced(records, y):
    """All formulas of one atom, and what trees of them cost: 100 × impurity, and a tenth for each terminal."""
    formulas = list(derivations(GRAMMAR, "A", 6, 1))

    def leaf_cost(members):
        return 100 * impurity(y[members].tolist(), [1] * len(members)) / len(y)

    prices, told = [0.1 * size(formula) for formula in formulas], answers(formulas, records, {})
    return formulas, partial(
        tree_cost, members=list(range(len(y))), answers=told, leaf_cost=leaf_cost, prices=prices, least=2
    )


@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_no_tree_of_formulas_of_a_grammar_costs_less(seed):
    """With all formulas of one atom in the pool, by the brute force over formulas and over trees."""
    records, rng = some_records(seed), np.random.default_rng(seed)
    y = rng.integers(0, 2, len(records))
    fitted = GrammarTreeClassifier(
        text_of(GRAMMAR),
        Exhaustive(max_atoms=1),
        criterion=GiniSize(),
        growth=Optimal(),
        min_samples_leaf=2,
        random_state=0,
    ).fit(panel_with(records), y)
    formulas, cost = priced(records, y)
    best = min(map(cost, all_trees(range(len(formulas)), 2)))
    optimum = fitted.tree_.optimum
    assert optimum.cost == pytest.approx(best)
    assert fitted.tree_.depth <= optimum.levels == 2
    assert optimum.leaves == len(fitted.tree_.leaves)


def either_but_not_both(number=80):
    """Records whose class is whether `on` or `off` is ever true, but not both: neither alone tells anything."""
    records = some_records(5, number)
    for place, record in enumerate(records):
        record["on"], record["off"] = [False, place % 2 == 0, False], [place // 2 % 2 == 0, False, False]
    y = np.array(["odd" if any(record["on"]) != any(record["off"]) else "even" for record in records])
    return panel_with(records), y


def learnt(**settings):
    usual = {"search": MonteCarlo(evaluations=400), "max_depth": 2, "min_samples_leaf": 1, "random_state": 0}
    return GrammarTreeClassifier(**usual | settings)


PARTS = "S ::= F(V) | G(V)   V ::= on | off | x < [0, 1, 2]"


def test_two_questions_that_only_tell_together_are_found():
    panel, y = either_but_not_both()
    with pytest.warns(match="single leaf"):
        greedy = learnt(grammar=PARTS).fit(panel, y)
    found = learnt(grammar=PARTS, growth=Optimal()).fit(panel, y)
    assert len(greedy.tree_.leaves) == 1
    assert (found.predict(panel) == y).all()
    assert {str(node.formula) for node in found.tree_.nodes} == {"F(on)", "F(off)"}
    assert found.tree_.optimum.cost < found.tree_.optimum.greedy


def test_looking_ahead_finds_questions_that_only_tell_together():
    panel, y = either_but_not_both()
    found = learnt(grammar=PARTS, growth=LookAhead()).fit(panel, y)
    assert (found.predict(panel) == y).all()
    assert {str(node.formula) for node in found.tree_.nodes} == {"F(on)", "F(off)"}
    assert found.tree_.optimum is None


@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_a_question_is_the_best_with_those_below_it(seed):
    """Of all trees of two levels, the best that begins with the question is the best of all."""
    records, rng = some_records(seed), np.random.default_rng(seed)
    y = rng.integers(0, 2, len(records))
    fitted = GrammarTreeClassifier(
        text_of(GRAMMAR), Exhaustive(max_atoms=1), criterion=GiniSize(), growth=LookAhead(), min_samples_leaf=2,
        max_depth=2, random_state=0,
    ).fit(panel_with(records), y)  # fmt: skip
    formulas, cost = priced(records, y)
    costs = {tree: cost(tree) for tree in all_trees(range(len(formulas)), 2)}
    first = fitted.pruning_path_.whole.root.formula(panel_with(records)).tolist()
    told = answers(formulas, records, {})
    alike = [k for k, own in enumerate(told) if list(own) in (first, [not one for one in first])]
    assert min(costs[tree] for tree in costs if tree and tree[0] in alike) == pytest.approx(min(costs.values()))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("depth", [2, 3])
def test_it_costs_what_it_says_and_never_more_than_the_greedy_tree(panel, labels, depth, weighted):
    """By the bits of its leaves and questions, as reports tell them."""
    weights = np.random.default_rng(0).uniform(0.1, 2, len(labels)) if weighted else None
    settings = {"max_depth": depth, "criterion": MDL(price=0.2), "min_samples_leaf": 2}
    greedy, best = (
        learnt(**settings, growth=growth).fit(panel, labels, sample_weight=weights).pruning_path_.whole
        for growth in (Greedy(simplicity=0), Optimal(40, simplicity=0))
    )

    def cost(tree):
        price = MDL(price=0.2).price_for(len(labels))
        told = sum(leaf.summary.bits(tree.unit) for leaf, _ in tree.leaves)
        return told + price * sum(node.naming for node in tree.nodes)

    optimum = best.optimum
    assert cost(best) == pytest.approx(optimum.cost)
    assert cost(greedy) == pytest.approx(optimum.greedy)
    assert optimum.cost <= optimum.greedy + 1e-9
    assert greedy.optimum is None
    assert min(leaf.support for leaf, _ in best.leaves) >= 2


def test_by_impurity_a_tree_that_tells_all_apart_costs_what_the_greedy_one_does():
    panel = Panel.from_arrays([np.array([[float(number)]]) for number in range(12)], columns=["x"])
    model = learnt(growth=Optimal(10), criterion=GiniSize()).fit(panel, [number < 6 for number in range(12)])
    assert model.tree_.optimum.cost == pytest.approx(model.tree_.optimum.greedy)


def test_the_same_seed_gives_the_same_model_whatever_the_threads(panel, labels, tmp_path):
    files = [tmp_path / name for name in ("one.json", "two.json", "again.json")]
    for file, jobs in zip(files, (1, 2), strict=False):
        learnt(growth=Optimal(30), n_jobs=jobs, max_depth=3).fit(panel, labels).save(file)
    loaded = load(files[0])
    loaded.save(files[2])
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
    assert loaded.growth == Optimal(30)
    assert loaded.tree_.optimum.pool == 30


def test_what_is_proved_is_told_in_the_report_and_of_a_part_as_of_a_part(panel, labels, tmp_path):
    model = learnt(growth=Optimal(30)).fit(panel, labels)
    told = proof_text(model.tree_)
    assert told.startswith("no tree of up to 2 levels over 30 questions that answer differently costs less than")
    assert f"{1 + 30 * 31**2:,} trees, covered by comparing" in told
    page = write_report(model, panel, labels, tmp_path / "report.html").read_text()
    assert "no tree of up to 2 levels over 30 questions" in page
    assert proof_text(model.at(2).tree_).startswith("of a larger tree, of which this one is a part: no tree of")


def test_a_wide_choice_is_narrowed_by_what_pure_leaves_would_cost():
    """Where one question tells all, hardly anything else is looked at."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    truth = np.vstack([y == 1, rng.random((20, 100)) < 0.5])
    labels = ClassLabels(y, ClassTarget(("a", "b")))
    whole = TreeCost(np.full(2, 4.0), 0.0, 1.0, "bits")
    found = best_tree(pool_of(PooledFormulas([Sized(1)] * 21, truth), labels, whole, 1), 3)
    assert found.splits == {1: 0}
    assert found.left_out > found.compared / 21


def test_ctrl_c_leaves_the_greedy_tree(panel, labels, monkeypatch):
    greedy = learnt(max_depth=3).fit(panel, labels).pruning_path_.whole
    monkeypatch.setattr(optimal, "best_tree", lambda pool, levels, stop: None)  # as when it was to stop
    found = learnt(max_depth=3, growth=Optimal(20)).fit(panel, labels).pruning_path_.whole
    assert found.optimum is None
    assert str(found) == str(greedy)


def test_a_search_that_is_to_stop_finds_nothing():
    labels = ClassLabels(np.array([0, 1, 0, 1]), ClassTarget(("a", "b")))
    truth = np.array([[True, False, False, True], [True, True, False, False]])
    whole = TreeCost(np.full(2, 0.1), 1.0, 0.0, "of fitness")
    assert best_tree(pool_of(PooledFormulas([Sized(1)] * 2, truth), labels, whole, 1), 3, lambda: True) is None


REFUSED = {
    "pool must be a whole number of at least 1, got 0": lambda: Optimal(0),
    "max_depth must be 1, 2, 3 or 'auto', got 4": lambda: learnt(growth=Optimal(), max_depth=4),
    "max_depth must be 1, 2, 3 or 'auto', got None": lambda: learnt(growth=Optimal(), max_depth=None),
    "Invalid parameter 'min_gain' for the growth": lambda: learnt(growth=Optimal()).set_params(growth__min_gain=1.0),
    "Invalid parameter 'prevent_same_label' for the growth": lambda: learnt(growth=LookAhead()).set_params(
        growth__prevent_same_label=True
    ),
    "growth must be Greedy(), LookAhead(), Optimal() or None, got 'optimal'": lambda: learnt(growth="optimal"),
    "GiniSize(gini='weighted'), not for GiniSize(": lambda: learnt(growth=Optimal(), criterion=GiniSize(gini="sum")),
}


@pytest.mark.parametrize("says", REFUSED)
def test_what_makes_no_sense_is_refused(says, panel, labels):
    with pytest.raises(SettingsError) as caught:
        REFUSED[says]().fit(panel, labels)
    assert says in str(caught.value)
