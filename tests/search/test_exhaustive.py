"""The exhaustive search against brute force: all formulas of small grammars, each by itself."""

import math
from dataclasses import replace
from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.brute_force import answers, derivations, gini_size, size, text_of
from tests.support.effort import examples, few_fast

from telltree import Grammar, GrammarTreeClassifier, Panel, load
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.errors import SettingsError
from telltree.grammar import templates
from telltree.logic import user_function
from telltree.panel import Column, ColumnType, Schema
from telltree.scale.checkpoint import search_result, search_state
from telltree.search import Exhaustive, Proof, Scores
from telltree.search.state import SavedState
from telltree.tree import MDL, GiniSize
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.criterion import MDLOf, prepared
from telltree.tree.objective import SplitObjective

V, W, A, C, S = (("hole", symbol) for symbol in "VWACS")
ON, OFF, X, Y = (("x", name) for name in ("on", "off", "x", "y"))
CONSTANTS = [("number", value) for value in (0.0, 1.0, 2.0)]


GRAMMARS = {
    "generic": {
        "A": [("F", V), ("G", V)],
        "V": [("implies", V, V), ("not", V), ("or", V, V), ("and", V, V), ON, ("<", X, C), (">=", X, C)],
        "C": CONSTANTS,
    },
    "nested temporal operators": {"A": [("F", V)], "V": [ON, OFF, ("F", V), ("G", V), ("and", V, V), ("not", V)]},
    "counts": {
        "A": [(">", ("count", V), C), ("<", ("count", V), ("count", V))],
        "V": [ON, ("<", X, ("number", 1.0)), ("or", V, V)],
        "C": CONSTANTS,
    },
    "connectives outside": {
        "A": [("F", (">", X, C)), ("F", OFF), ("and", A, A), ("or", A, A), ("not", A)],
        "C": CONSTANTS,
    },
    "atoms inside templates": {
        "A": [("F", ("and", ("<", X, C), V)), ("G", ("or", V, W)), ("F", ("and", ON, V))],
        "V": [OFF, (">", Y, C)],
        "W": [("=", X, C), ("not", W), ON],
        "C": CONSTANTS,
    },
    "signals": {
        "A": [("F", V), ("G", ("and", V, V))],
        "V": [("<", S, C), ("and", V, V)],
        "S": [X, ("-", X, Y), ("abs", S)],
        "C": CONSTANTS[:2],
    },
    "functions of conditions": {
        "A": [("F", V)],
        "V": [("call", "started", V), ON, ("<", X, C), ("implies", V, V)],
        "C": CONSTANTS[:2],
    },
    "three conditions": {
        "A": [("F", V)],
        "V": [("and", ("and", W, W), W), ("or", W, V)],
        "W": [ON, OFF, ("<", X, ("number", 1.0))],
    },
}
SCOPES = [
    ("generic", 3, 3),
    ("generic", 3, 2),
    ("generic", 4, 1),
    ("nested temporal operators", 4, 2),
    ("nested temporal operators", 3, 3),
    ("counts", 4, 2),
    ("counts", 5, 3),
    ("connectives outside", 4, 2),
    ("connectives outside", 3, 3),
    ("atoms inside templates", 5, 2),
    ("signals", 4, 3),
    ("signals", 5, 2),
    ("functions of conditions", 4, 3),
    ("three conditions", 4, 3),
]
"""Grammars, how deep formulas nest and how many atoms they have: some hundred formulas each."""
SCHEMA = Schema(
    [Column("on", ColumnType.BOOLEAN), Column("off", ColumnType.BOOLEAN)]
    + [Column(name, ColumnType.REAL) for name in ("x", "y")]
)


@user_function(takes=["Boolean"], gives="Boolean")
def started(b):
    return np.logical_or.accumulate(b)


FUNCTIONS = {"started": lambda b: [any(value is True for value in b[: t + 1]) for t in range(len(b))]}

truths = st.sampled_from([True, False, None])
numbers = st.sampled_from([0.0, 0.5, 1.0, 2.0, None])
steps = st.fixed_dictionaries({"on": truths, "off": truths, "x": numbers, "y": numbers})
records = st.lists(st.lists(steps, min_size=1, max_size=4), min_size=2, max_size=7)


def panel_of(given):
    """The records as a panel, and as the oracle has them."""
    arrays = [
        np.array([[np.nan if k in "xy" and step[k] is None else step[k] for k in SCHEMA] for step in record], object)
        for record in given
    ]
    told = [{name: [step[name] for step in record] for name in SCHEMA} for record in given]
    return Panel.from_arrays(arrays, columns=list(SCHEMA), schema=SCHEMA), told


def objective_of(panel, labels, grammar, fitness=None):
    kinds = tuple(sorted(set(labels)))
    known = ClassLabels(np.array([kinds.index(label) for label in labels]), ClassTarget(kinds))
    return SplitObjective(PopulationEvaluator(panel, grammar.rules, grammar.tables), known, fitness or GiniSize())


def scored(formulas, told, labels):
    """For each formula its size, its answer whichever side is called true, and its fitness."""
    found = []
    for formula, answer in zip(formulas, answers(formulas, told, FUNCTIONS), strict=True):
        split = answer if answer[0] else tuple(not true for true in answer)
        found.append((size(formula), split, gini_size(answer, labels, size(formula))))
    return found


def near(values):
    return pytest.approx(list(values), abs=1e-9)


@examples(50)
@given(
    st.sampled_from(SCOPES), st.none() | st.integers(3, 11), records, st.data(),
)  # fmt: skip
def test_no_formula_is_fitter_and_all_are_counted(scope, longest, given_records, data):
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(given_records), max_size=len(given_records)))
    assert_proved(scope, longest, given_records, labels, data.draw(st.sampled_from([0.0, 0.35])))


def assert_proved(scope, longest, given_records, labels, tolerance):
    """What the search claims of a grammar in a scope is what brute force over all of its formulas finds."""
    name, depth, most = scope
    panel, told = panel_of(given_records)
    grammar = Grammar.parse(text_of(GRAMMARS[name]), SCHEMA, functions=[started])
    within = [
        formula
        for formula in derivations(GRAMMARS[name], "A", depth, most)
        if longest is None or size(formula) <= longest
    ]
    if not within:
        return
    search = Exhaustive(max_atoms=most, max_depth=depth, max_size=longest, keep=4)
    found = search.run(grammar, objective_of(panel, labels, grammar), 0, tolerance=tolerance)
    judged = scored(within, told, labels)
    usable = [row for row in judged if math.isfinite(row[2])]
    assert found.proof.formulas == len(within)
    assert found.proof.complete
    assert found.evaluations == found.proof.tried <= len(within)
    best = min((fitness for *_, fitness in usable), default=None)
    assert (found.best is None) == (best is None)
    if best is None:
        return
    assert found.best.fitness == found.proof.fitness == pytest.approx(best, abs=1e-9)
    by_answer = {}
    for _, split, fitness in usable:
        by_answer[split] = min(fitness, by_answer.get(split, math.inf))
    assert [one.fitness for one in found.runners_up] == near(sorted(by_answer.values())[:4])
    assert [(len(of.best.derivation), of.best.fitness) for of in found.by_size] == [
        (length, pytest.approx(fitness, abs=1e-9)) for length, fitness in pruning_path(usable)
    ]
    for i in range(len(found.ties.lengths)):
        tie = grammar.derivation(found.ties, i)
        alone = objective_of(panel, labels, grammar)(found.ties, np.array([i])).fitness[0]
        assert alone <= best + tolerance + 1e-9, tie


FINITE = {
    "one atom": {"A": [("F", V), ("G", V)], "V": [ON, OFF, ("<", X, C)], "C": CONSTANTS},
    "up to three": {"A": [("F", V), ("G", ("and", V, W))], "V": [ON, ("and", W, W)], "W": [OFF, ("<", X, ("abs", Y))]},
}


@pytest.mark.parametrize("longest", [None, 4, 7])
@pytest.mark.parametrize("most", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("name", "depth"),
    [(name, depth) for name in FINITE for depth in (2, 3, 4, 5)] + [("nested temporal operators", 2), ("counts", 3)],
)
def test_it_knows_whether_a_grammar_has_no_other_formulas(name, depth, most, longest):
    panel, _, labels = drawn(3, 20)
    written = (FINITE | GRAMMARS)[name]
    grammar = Grammar.parse(text_of(written), SCHEMA)
    every, within = (set(derivations(written, "A", depth, atoms)) for atoms in (32, most))
    within = [e for e in within if longest is None or size(e) <= longest]
    search = Exhaustive(max_atoms=most, max_depth=depth, max_size=longest)
    if not within:
        with pytest.raises(SettingsError):
            search.run(grammar, objective_of(panel, labels, grammar), 0)
        return
    proof = search.run(grammar, objective_of(panel, labels, grammar), 0).proof
    assert proof.formulas == len(within)
    assert proof.is_all == (len(within) == len(every))
    assert proof.goes_deeper == (name in GRAMMARS or len(every) < len(set(derivations(written, "A", 20, 32))))
    cut = replace(search, evaluations=1).run(grammar, objective_of(panel, labels, grammar), 0).proof
    assert not cut.is_all


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({}, " of up to two atoms and 4 nested operators"),
        ({"size": 9}, " of up to two atoms, 9 terminals and 4 nested operators"),
        ({"goes_deeper": False}, " of up to two atoms"),
        ({"size": 1, "goes_deeper": False}, " of up to two atoms and 1 terminal"),
        ({"is_all": True}, " of up to 4 nested operators"),
        ({"size": 9, "is_all": True, "goes_deeper": False}, ""),
    ],
)
def test_a_proof_says_of_which_formulas_it_is(bounds, said):
    told = str(replace(Proof(2, 4, None, 1_200, 5, 2, 3.5), **bounds))
    beyond = "" if "is_all" in bounds else "; larger ones were not tried"
    proved = f"no formula of the grammar{said} is fitter than the best that was found"
    assert told == f"{proved}: 1,200 formulas, covered by 5{beyond}"


def pruning_path(rows):
    """The least fitness of each size, where all smaller formulas are worse."""
    least = math.inf
    for length in sorted({length for length, *_ in rows}):
        best = min(fitness for own, _, fitness in rows if own == length)
        if best < least - 1e-9:
            least = best
            yield length, best


def drawn(seed, number=60, columns=("on", "off", "x", "y")):
    """Records, told and as a panel, and labels that have something to do with them."""
    rng = np.random.default_rng(seed)
    found = [
        [
            {
                name: bool(rng.random() < 0.3) if name.startswith("o") else float(rng.integers(0, 5)) / 2
                for name in columns
            }
            for _ in range(rng.integers(1, 6))
        ]
        for _ in range(number)
    ]
    labels = [int(any(step["on"] and step["x"] > 1 for step in record) ^ (rng.random() < 0.2)) for record in found]
    return *panel_of(found), labels


GENERIC = GRAMMARS["generic"]


@cache
def all_of(depth, most):
    return list(derivations(GENERIC, "A", depth, most))


@pytest.mark.parametrize("fitness", [GiniSize(), MDL(), GiniSize(gini="sum")], ids=["gini", "bits", "sum"])
@pytest.mark.parametrize("seed", few_fast(range(4)))
def test_what_is_given_up_was_not_good_enough(fitness, seed):
    """Bounds leave out formulas, and change nothing of what is found."""
    panel, _, labels = drawn(seed)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    known = ClassLabels(np.array(labels), ClassTarget((0, 1)))
    criterion = prepared(fitness, grammar, known)
    with_bounds = objective_of(panel, labels, grammar, criterion)
    without = objective_of(panel, labels, grammar, criterion)
    without.floors = lambda conditions, size: None
    search = Exhaustive(max_depth=4, keep=3)
    with patch("telltree.search.exhaustive._BATCH", 64):
        found, all_tried = (search.run(grammar, o, 0, tolerance=0.5) for o in (with_bounds, without))
    assert found.evaluations < all_tried.evaluations or fitness == GiniSize(gini="sum")
    assert found.runners_up == all_tried.runners_up
    assert [(one.best, one.ties.names.tolist()) for one in found.by_size] == [
        (one.best, one.ties.names.tolist()) for one in all_tried.by_size
    ]
    assert found.ties.names.tolist() == all_tried.ties.names.tolist()
    assert found.proof.formulas == all_tried.proof.formulas


def test_bounds_are_below_what_they_bound():
    """Of all counts up to the most, in each class, none has a lower fitness."""
    rng = np.random.default_rng(3)
    total = np.array([7, 4, 5])
    naming = np.linspace(0, 3, 10)
    for fitness in (GiniSize(), MDLOf(0.5, 2.0, 0.2, naming, 1.0), MDLOf(0.5, 2.0, 0.2, naming, 0.37)):
        for most in rng.integers(0, total + 1, (40, 3)):
            grid = np.stack(np.meshgrid(*(np.arange(m + 1) for m in most)), -1).reshape(-1, 3)
            all_of_them = fitness(np.ascontiguousarray(grid), total, np.full(len(grid), 6))
            least = fitness.least(most[None], total, np.array([6]))
            assert least[0] == pytest.approx(all_of_them.min(), abs=1e-9)


def longer_is_fitter(true, total, size):
    return 100.0 - size + np.abs(2 * true[:, 0] - total[0])


def test_a_fitness_may_prefer_longer_formulas():
    """Formulas that mean the same are then tried in every size that they have."""
    panel, told, labels = drawn(1, 20)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    found = Exhaustive(max_depth=4).run(grammar, objective_of(panel, labels, grammar, longer_is_fitter), 0)
    formulas = all_of(4, 2)
    zeros = labels.count(0)
    expected = min(
        100 - size(formula) + abs(2 * sum(t and not label for t, label in zip(answer, labels, strict=True)) - zeros)
        for formula, answer in zip(formulas, answers(formulas, told, {}), strict=True)
        if 0 < sum(answer) < len(answer)
    )
    assert found.best.fitness == expected


def test_a_search_that_is_cut_short_says_how_far_it_got():
    panel, _, labels = drawn(2)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    of_one = sum(1 for _ in all_of(4, 1))
    for evaluations in (1, 5, 30, 100_000):
        objective = objective_of(panel, labels, grammar)
        with patch("telltree.search.exhaustive._BATCH", 10):
            proof = Exhaustive(max_depth=4, evaluations=evaluations).run(grammar, objective, 0).proof
        assert proof.tried <= evaluations
        assert (proof.atoms, proof.formulas) == {1: (0, 0), 5: (0, 0), 30: (1, of_one)}.get(
            evaluations, (2, len(all_of(4, 2)))
        )
        assert proof.complete == (evaluations == 100_000)
    assert str(Proof(0, 4, None, 0, 0, 2, math.inf, 5)) == "nothing is proved; 5 formulas tried"
    told = str(Proof(1, 4, None, 12, 5, 2, 3.5, 3))
    assert told.endswith("; larger ones were sampled, and the search ended before it had covered two atoms")


def test_an_interrupted_search_proves_what_it_had_covered():
    panel, _, labels = drawn(2)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    objective, asked = objective_of(panel, labels, grammar), []

    def interrupting(population, wanted):
        asked.append(len(wanted))
        if len(asked) == 4:
            raise KeyboardInterrupt
        return objective(population, wanted)

    interrupting.signatures, interrupting.floors, interrupting.shorter_is_fitter = (
        objective.signatures,
        objective.floors,
        True,
    )
    with patch("telltree.search.exhaustive._BATCH", 10):
        found = Exhaustive(max_depth=4).run(grammar, interrupting, 0)
    assert found.interrupted
    assert found.proof.atoms == 1
    assert not found.proof.complete


@pytest.mark.parametrize("fitness", [GiniSize(), longer_is_fitter], ids=["gini", "longer"])
def test_a_search_goes_on_from_any_generation_to_the_same(fitness):
    panel, _, labels = drawn(5)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    states, search = [], Exhaustive(max_depth=4)
    with patch("telltree.search.exhaustive._BATCH", 16):
        whole = search.run(
            grammar, objective_of(panel, labels, grammar, fitness), 0, remember=lambda make: states.append(make())
        )
        assert len(states) > 3
        for state in states[:: max(1, len(states) // 5)]:
            again = search.run(grammar, objective_of(panel, labels, grammar, fitness), 0, state=state)
            assert (again.runners_up, again.proof, again.evaluations) == (
                whole.runners_up, whole.proof, whole.evaluations,
            )  # fmt: skip
            assert again.ties.names.tolist() == whole.ties.names.tolist()
    back = search_result(SavedState(search_state(whole), grammar, 4))
    assert (back.proof, back.runners_up) == (whole.proof, whole.runners_up)


def test_the_seed_makes_no_difference_and_an_objective_need_know_nothing():
    grammar = Grammar.parse(text_of(GRAMMARS["connectives outside"]), SCHEMA)

    def by_length(population, wanted):
        lengths = population.lengths[wanted]
        return Scores(lengths.astype(float), lengths.astype(np.uint64))

    first, second = (Exhaustive(max_depth=4).run(grammar, by_length, seed) for seed in (1, 2))
    assert first.best.fitness == second.best.fitness == 1.0
    assert first.proof == second.proof


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("A ::= F(V)\nV ::= x < random(0, 1)", {}, "random constants"),
        ("A ::= F(V and V and V)\nV ::= on | off", {}, "at most two atoms; allow more"),
        ("A ::= F(V)\nV ::= on", {"max_atoms": 0}, "max_atoms must be a whole number of at least 1"),
        ("A ::= F(V)\nV ::= on", {"max_size": 0.5}, "max_size must be"),
    ],
)  # fmt: skip
def test_what_cannot_be_covered_is_refused(text, settings, message):
    grammar = Grammar.parse(text, SCHEMA)
    panel, _, labels = drawn(0, 10)
    with pytest.raises(SettingsError, match=message):
        Exhaustive(**settings).run(grammar, objective_of(panel, labels, grammar), 0)


def test_conditions_that_leave_no_choice_are_part_of_every_formula():
    grammar = Grammar.parse("A ::= F(on and V)\nV ::= off | x < 1", SCHEMA)
    panel, _, labels = drawn(0, 10)
    found = Exhaustive().run(grammar, objective_of(panel, labels, grammar), 0)
    assert found.proof.formulas == 2
    assert str(found.best.derivation) in {str(grammar.derive(f"F(on and {other})")) for other in ("off", "x < 1")}


@pytest.mark.parametrize("limit", ["MOST_TEMPLATES", "_MOST_TRIED"])
def test_grammars_of_too_many_shapes_are_refused(limit, monkeypatch):
    grammar = Grammar.parse("A ::= F(V) | G(V)\nV ::= on | off | V and V | not V", SCHEMA)
    panel, _, labels = drawn(0, 10)
    monkeypatch.setattr(templates, limit, 5)
    with pytest.raises(SettingsError, match="this grammar has too many kinds of formulas to try them all; allow fewer"):
        Exhaustive().run(grammar, objective_of(panel, labels, grammar), 0)


def test_a_grammar_that_is_too_large_is_refused_or_searched_for_some_time():
    grammar = Grammar.parse("A ::= F(V and V)\nV ::= x < grid(0, 1, 9000) | y < grid(0, 1, 9000)", SCHEMA)
    panel, _, labels = drawn(0, 10)
    objective = objective_of(panel, labels, grammar)
    found = Exhaustive().run(grammar, objective, 0)  # few of its atoms differ, for these records
    assert (found.evaluations, found.proof.formulas) == (15, 324_000_000)
    objective.signatures = lambda conditions: None
    found = Exhaustive(evaluations=20).run(grammar, objective, 0)
    assert (found.evaluations, found.proof.atoms) == (20, 0)
    with pytest.raises(SettingsError, match=r"324,000,000 formulas of up to two atoms, of which 162,009,000 would"):
        Exhaustive().run(grammar, objective, 0)


def test_the_model_and_its_report_tell_what_is_proved(tmp_path):
    panel, _, labels = drawn(7, 80)
    model = GrammarTreeClassifier(text_of(GENERIC), Exhaustive(max_depth=4), max_depth=2, random_state=0)
    model.fit(panel, labels).save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.tree_.root.proof == model.searches_[1].proof == model.tree_.root.proof
    assert loaded.tree_.root.proof.formulas == len(all_of(4, 2))
    assert loaded.search == Exhaustive(max_depth=4)
    bounds = "up to two conditions and 4 nested operators"
    sentence = f"at every question, no formula of the grammar of {bounds} is fitter than the best that was found"
    loaded.report(panel, labels, path=tmp_path / "report.html")
    assert f"{sentence}; larger ones were not tried" in (tmp_path / "report.html").read_text()
