"""Auto covers what is small, as the exhaustive search does, and samples the rest."""

import random
import re
import time
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.search.test_exhaustive import GENERIC, GRAMMARS, SCHEMA, A, C, V, all_of, drawn, objective_of, panel_of
from tests.support.brute_force import derivations, text_of
from tests.support.effort import few_fast

from telltree import Grammar, GrammarTreeClassifier, Panel, load
from telltree.errors import SettingsError
from telltree.explain.outline import proof_text
from telltree.grammar.derivation import Population
from telltree.search import Auto, Exhaustive, GeneticProgramming
from telltree.search.exhaustive import plan
from telltree.search.search import Elite


def grammar_of(name):
    return Grammar.parse(text_of(GRAMMARS[name]), SCHEMA)


class Watched:
    """An objective that remembers what it was asked for."""

    def __init__(self, inner, grammar):
        self._inner, self._grammar, self.asked = inner, grammar, []
        self.signatures, self.floors, self.shorter_is_fitter = inner.signatures, inner.floors, True

    def __call__(self, population, wanted):
        self.asked += [self._grammar.derivation(population, int(i)) for i in wanted]
        return self._inner(population, wanted)


@pytest.mark.parametrize("name", sorted(set(GRAMMARS) - {"functions of conditions"}))
def test_it_covers_what_the_exhaustive_search_covers_and_finds_no_less(name):
    panel, _, labels = drawn(3, 40)
    grammar = grammar_of(name)
    search = Auto(evaluations=2_000, max_depth=5, max_atoms=3 if name == "three conditions" else 2)
    watched = Watched(objective_of(panel, labels, grammar), grammar)
    found = search.run(grammar, watched, 1)
    covered = Exhaustive(max_depth=5, max_atoms=found.proof.atoms).run(grammar, objective_of(panel, labels, grammar), 1)
    assert found.proof.atoms > 0
    assert found.proof.formulas == covered.proof.formulas
    assert found.best.fitness <= covered.best.fitness
    assert found.evaluations == len(watched.asked) == len(set(map(str, watched.asked))) <= 2_000
    assert found.proof.tried + found.proof.sampled == found.evaluations
    for derivation in watched.asked:  # rule by rule what the grammar writes, and no deeper than allowed
        assert derivation.depth <= 5
        assert grammar.derive(derivation.expression).expression == derivation.expression


def test_a_small_budget_extends_several_formulas_in_every_way():
    """One formula joined with all atoms by the first connective would take all of it."""
    values, labels = np.random.default_rng(0).random((40, 20, 2)), [0, 1] * 20
    panel = Panel.from_arrays(values, layout="records, steps, columns", columns=["x", "y"])
    text = "A ::= F(V)\nV ::= V implies V | V or V | V and V | x < grid(0, 1, 60) | y < grid(0, 1, 60)"
    grammar = Grammar.parse(text, panel)
    watched = Watched(objective_of(panel, labels, grammar), grammar)
    found = Auto(evaluations=600, max_atoms=1).run(grammar, watched, 1)
    assert found.proof.atoms == 1
    longer = [text for text in map(str, watched.asked) if text.count("<") == 2][:40]  # a third of a fifth of 600
    assert {sign for text in longer for sign in "⇒∨∧" if sign in text} == set("⇒∨∧")
    atoms = Counter(part.strip("F() ") for text in longer for part in re.split("[⇒∨∧]", text))
    assert sum(times > 1 for times in atoms.values()) > 1  # more than one was extended


def test_larger_formulas_are_found():
    """A conjunction of three conditions, which is more than is covered."""
    rng = np.random.default_rng(0)
    panel, told, _ = drawn(4, 120)
    labels = [
        int(any(s_on and s_x < 1 and s_y >= 1 for s_on, s_x, s_y in zip(r["on"], r["x"], r["y"], strict=True)))
        for r in told
    ]
    text = "A ::= F(V)\nV ::= V and V | V or V | on | off | x {<, >=} [0.5, 1, 1.5] | y {<, >=} [0.5, 1, 1.5]"
    grammar = Grammar.parse(text, SCHEMA)
    found = Auto(evaluations=3_000).run(grammar, objective_of(panel, labels, grammar), int(rng.integers(99)))
    assert found.best.fitness == pytest.approx(0.1 * 10)
    assert found.proof.atoms == 2


def test_the_best_are_joined_with_every_atom_on_either_side():
    panel, _, labels = drawn(4, 60)
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V | V implies V | on | off | x < 1", SCHEMA)
    watched = Watched(objective_of(panel, labels, grammar), grammar)
    Auto(evaluations=2_000, max_atoms=1).run(grammar, watched, 0)
    asked = [str(derivation.expression) for derivation in watched.asked]
    atoms = ("on", "off", "x < 1")
    covered = [f"F({a})" for a in atoms]
    joined = [f"F({a} {joins} {b})" for a in atoms for b in atoms for joins in ("and", "implies")]
    wanted = [{str(grammar.derive(text).expression) for text in texts} for texts in (covered, joined)]
    assert set(asked[:3]) == wanted[0]
    assert set(asked[3 : 3 + len(wanted[1])]) == wanted[1]


def test_conditions_that_hold_at_the_same_steps_are_all_tried_alone_but_one_for_all_beside_others():
    """Robustness decide between constants, but pairs of conditions would be tried again and again for nothing."""
    steps = [{"on": number % 2 == 0, "off": False, "x": 2.0 * (number % 3), "y": 0.0} for number in range(12)]
    panel, _ = panel_of([[step] for step in steps])
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V | on | x > [1.1, 1.5, 1.9]", SCHEMA)
    watched = Watched(objective_of(panel, [0, 1] * 6, grammar), grammar)
    Exhaustive(max_atoms=2).run(grammar, watched, 0)
    asked = [str(derivation.expression) for derivation in watched.asked]
    alone, pairs = [[text for text in asked if ("∧" in text) == joined] for joined in (False, True)]
    assert sorted(alone) == ["F(on)", "F(x > 1.1)", "F(x > 1.5)", "F(x > 1.9)"]
    assert sorted(pairs) == ["F((x > 1.5) ∧ (x > 1.5))", "F(on ∧ (x > 1.5))", "F(on ∧ on)"]  # in one order each


class Useless(Watched):
    """An objective to which no formula is any good."""

    def __call__(self, population, wanted):
        return super().__call__(population, wanted)._replace(fitness=np.full(len(wanted), np.inf))


def test_where_formulas_of_one_atom_are_too_many_those_come_first_in_which_an_atom_is_all_that_is_chosen():
    """Counts compared with many numbers would take all of the budget, or leave nothing to extend."""
    panel, _, labels = drawn(4, 60)
    text = "A ::= F(V) | G(V) | count(V) {<, >} grid(0, 99, 100)\nV ::= V and V | on | off | x < [0.5, 1]"
    grammar = Grammar.parse(text, SCHEMA)
    watched = Watched(objective_of(panel, labels, grammar), grammar)
    found = Auto(evaluations=400).run(grammar, watched, 1)
    asked = [str(derivation.expression) for derivation in watched.asked]
    assert set(asked[:8]) == {f"{o}({a})" for o in "FG" for a in ("on", "off", "x < 0.5", "x < 1")}
    assert all("∧" in text for text in asked[8:18])
    assert (found.proof.atoms, found.proof.tried, found.proof.sampled) == (0, 0, 400)
    assert str(found.proof) == "nothing is proved; 400 formulas tried"


def test_where_nothing_is_any_good_larger_formulas_are_drawn():
    panel, _, labels = drawn(2)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    found = Auto(evaluations=1_000, max_atoms=1).run(grammar, Useless(objective_of(panel, labels, grammar), grammar), 0)
    assert found.best is None
    assert found.evaluations == 1_000


def test_a_small_budget_covers_less():
    panel, _, labels = drawn(2)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    proofs = [
        Auto(evaluations=budget, max_depth=4).run(grammar, objective_of(panel, labels, grammar), 0).proof
        for budget in (10, 100, 5_000)
    ]
    assert [proof.atoms for proof in proofs] == [0, 1, 2]
    assert [proof.formulas for proof in proofs] == [0, len(all_of(4, 1)), len(all_of(4, 2))]
    assert [proof.complete for proof in proofs] == [False, False, True]
    ended = "; larger ones were sampled, and the search ended before it had covered two atoms"
    assert str(proofs[1]).endswith(ended)
    assert str(proofs[2]).endswith("; larger ones were sampled")


FEW_KINDS = {"A": [("F", V), ("G", V), ("F", ("and", V, A))], "V": [("x", "on"), ("x", "off"), ("<", ("x", "x"), C)]}
FEW_KINDS["C"] = [("number", float(value)) for value in range(5)]


@pytest.mark.parametrize(("budget", "atoms"), [(40, 1), (400, 2), (2_000, 3)])
def test_a_large_budget_covers_more_where_formulas_are_of_few_kinds(budget, atoms):
    panel, _, labels = drawn(2)
    grammar = Grammar.parse(text_of(FEW_KINDS), SCHEMA)

    def found_by(search):
        return search.run(grammar, objective_of(panel, labels, grammar), 0)

    found = found_by(Auto(evaluations=budget))
    assert found.proof.atoms == atoms
    assert found_by(Auto(evaluations=None, seconds=3_600, generations=3)).proof.wanted == 3
    assert found.proof.formulas == len(list(derivations(FEW_KINDS, "A", 6, atoms)))
    assert found.best.fitness <= found_by(Exhaustive(max_atoms=atoms)).best.fitness
    assert found_by(Auto(evaluations=budget, max_atoms=2)).proof.atoms == min(atoms, 2)


@pytest.mark.parametrize(
    ("moments", "goes_deeper"),
    [
        ([("and", V, ("and", V, V))], False),  # none of one or two atoms
        ([V, ("and", ("and", V, V), ("and", V, V))], False),  # none of two or three
        ([V, ("and", V, ("hole", "M"))], True),  # no larger ones nest so little
    ],
)
def test_a_small_grammar_is_searched_whole_whatever_its_sizes_are(moments, goes_deeper):
    panel, _, labels = drawn(7, 80)
    written = {"A": [("F", ("hole", "M"))], "M": moments, "V": FEW_KINDS["V"], "C": FEW_KINDS["C"]}
    grammar, every = Grammar.parse(text_of(written), SCHEMA), list(derivations(written, "A", 5, 32))
    found = Auto(max_depth=5).run(grammar, objective_of(panel, labels, grammar), 1)
    assert (found.proof.formulas, found.proof.is_all, found.proof.goes_deeper) == (len(every), True, goes_deeper)
    assert (found.proof.tried, found.proof.sampled) == (found.evaluations, 0)


def test_what_is_covered_is_kept_where_more_are_of_too_many_kinds_to_list(monkeypatch):
    panel, _, labels = drawn(7, 80)
    grammar = Grammar.parse(text_of(FEW_KINDS), SCHEMA)
    found = Exhaustive(max_atoms=2).run(grammar, objective_of(panel, labels, grammar), 1)
    plan.cache_clear()
    monkeypatch.setattr("telltree.grammar.templates.MOST_TEMPLATES", 14)
    with pytest.raises(SettingsError, match="too many kinds of formulas"):
        Exhaustive(max_atoms=3).run(grammar, objective_of(panel, labels, grammar), 1)
    proof = Auto().run(grammar, objective_of(panel, labels, grammar), 1).proof
    assert (proof.atoms, proof.formulas) == (2, found.proof.formulas)


@pytest.mark.parametrize("text", ["A ::= F(V)\nV ::= on | off | V and V", "A ::= F(V) | F(V and V)\nV ::= on | off"])
def test_formulas_of_ones_own_take_nothing_from_what_is_proved(text):
    """They are known when their turn comes, and not tried again."""
    panel, _, labels = drawn(7, 80)
    grammar = Grammar.parse(text, SCHEMA)
    proofs = [
        Auto(max_depth=3, seeds=seeds).run(grammar, objective_of(panel, labels, grammar), 1).proof
        for seeds in ((), ("F(on and off)", "F(off)"))
    ]
    assert replace(proofs[1], tried=0, sampled=0) == replace(proofs[0], tried=0, sampled=0)
    assert proofs[0].is_all


def test_it_ends_when_all_formulas_of_the_grammar_are_covered(tmp_path):
    text = "A ::= F(V) | G(V and V and V)\nV ::= on | off | x < grid(0, 2, 5) | y > grid(0, 2, 5)"
    panel, _, labels = drawn(7, 80)
    model = GrammarTreeClassifier(text, max_depth=2, random_state=0).fit(panel, labels)
    proof = model.tree_.root.proof
    assert proof.is_all
    assert proof.formulas == 12 + 12**3
    assert (proof.sampled, proof.tried) == (0, model.searches_[1].evaluations)
    exhaustive = GrammarTreeClassifier(text, Exhaustive(max_atoms=3), max_depth=2, random_state=0).fit(panel, labels)
    assert exhaustive.searches_[1].best.fitness == model.searches_[1].best.fitness
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.tree_.root.proof == proof
    assert (
        proof_text(loaded.tree_)
        == "at every question, no formula of the grammar is fitter than the best that was found"
    )


@pytest.mark.parametrize("seconds", [None, 10_000.0])
def test_it_goes_on_from_any_generation_to_the_same(seconds):
    panel, _, labels = drawn(5)
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    states, search = [], Auto(evaluations=1_500, max_depth=4, seconds=seconds)
    whole = search.run(grammar, objective_of(panel, labels, grammar), 3, remember=lambda make: states.append(make()))
    assert len({int(state["breeder.stage"]) for state in states}) == 3
    for state in states[:5] + states[5::4]:
        again = search.run(grammar, objective_of(panel, labels, grammar), 3, state=state)
        assert (again.runners_up, again.proof, again.evaluations) == (
            whole.runners_up, whole.proof, whole.evaluations,
        )  # fmt: skip


def test_making_ready_takes_nothing_of_the_time_to_search(monkeypatch):
    """It may load compiled code, which can take longer than the time there is: then nothing would be covered."""
    panel, _, labels = drawn(3, 40)
    grammar, late, listed = grammar_of("generic"), [0.0], Exhaustive.breeder

    def slow(search, task):
        late[0] += 3_600
        return listed(search, task)

    monkeypatch.setattr(Exhaustive, "breeder", slow)
    clock = SimpleNamespace(monotonic=lambda real=time.monotonic: real() + late[0])
    monkeypatch.setattr("telltree.search.auto.time", clock)
    monkeypatch.setattr("telltree.search.search.time", clock)
    search = Auto(evaluations=2_000, seconds=3_600, generations=1, max_depth=5)
    found = search.run(grammar, objective_of(panel, labels, grammar), 1)
    assert late[0] >= 3_600
    assert found.proof.tried == found.evaluations > 0


def test_what_cannot_be_listed_is_bred():
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V | on | x < random(0, 2)", SCHEMA)
    panel, _, labels = drawn(1)
    bred = GeneticProgramming(evaluations=300).run(grammar, objective_of(panel, labels, grammar), 2)
    found = Auto(evaluations=1_500).run(grammar, objective_of(panel, labels, grammar), 2)
    assert 300 <= found.evaluations < 400  # a fifth of the budget, and up to a generation more
    assert str(found.proof) == f"nothing is proved; {found.evaluations} formulas tried"
    assert found.best.fitness <= bred.best.fitness
    below = Auto(evaluations=1_500).run(grammar, objective_of(panel, labels, grammar), 2, budget_weight=0.25)
    assert 150 <= below.evaluations < 250


def test_settings_are_checked():
    grammar = Grammar.parse(text_of(GENERIC), SCHEMA)
    panel, _, labels = drawn(1, 5)
    with pytest.raises(SettingsError, match="max_atoms must be a whole number"):
        Auto(max_atoms=0).run(grammar, objective_of(panel, labels, grammar), 0)


def test_the_model_tells_what_was_proved_and_what_was_sampled(tmp_path):
    panel, _, labels = drawn(7, 80)
    model = GrammarTreeClassifier(text_of(GENERIC), Auto(evaluations=4_000, max_depth=4), max_depth=2, random_state=0)
    model.fit(panel, labels).save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.tree_.root.proof == model.searches_[1].proof
    loaded.report(panel, labels, path=tmp_path / "report.html")
    bounds, tried = "up to two conditions and 4 nested operators", "larger ones were sampled"
    sentence = f"no formula of the grammar of {bounds} is fitter than the best that was found; {tried}"
    assert sentence in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("seed", few_fast(range(5)))
def test_the_best_that_answer_differently_are_bred_from(seed):
    rng, elite, met = random.Random(seed), Elite(4, 1), []
    for _ in range(6):
        population = Population.empty(9, 1, False)
        population.rules[:, 0], population.lengths[:] = range(len(met), len(met) + 9), 1
        fitness, answer = ([rng.randrange(most) for _ in range(9)] for most in (20, 7))
        elite.learn(population, np.array(fitness, np.float64), np.array(answer, np.uint64))
        met += zip(fitness, answer, strict=True)
        best = {}
        for number in sorted(range(len(met)), key=lambda number: met[number][0]):  # of equals the first found
            best.setdefault(met[number][1], number)
        assert elite.rows.rules[:, 0].tolist() == list(best.values())[:4]
        assert list(zip(elite.fitness, elite.answer, strict=True)) == [met[number] for number in best.values()][:4]
