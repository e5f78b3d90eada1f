"""The number of nodes of the derivation tree, the paper's N_e, as the size of formulas."""

import dataclasses
import json
import re

import numpy as np
import pytest

from tests.support.naive_nodes import nodes

from telltree import GrammarForestClassifier, GrammarTreeClassifier, load
from telltree.engine import Formula
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.search import (
    Auto,
    CrossEntropy,
    Exhaustive,
    GeneticProgramming,
    GrammaticalEvolution,
    MonteCarlo,
    Pipe,
)
from telltree.tree import GiniSize, Greedy, Optimal

PAPER = """
Start ::= B
B     ::= Ev | Gl
Ev    ::= F(VB)
Gl    ::= G(VB)
VB    ::= x1 | x2 | And | Lt
And   ::= VB and VB
Lt    ::= VR < C
VR    ::= x3 | x4
C     ::= 1 | 2 | 3 | 4 | 5
"""
# Symbols that say the same in more or fewer nodes, a rule that several ways lead to, and a short formula of many nodes.
WINDING = """
Start ::= B | F(Plain)
B     ::= Ev | Gl | F(Far)
Ev    ::= F(VB)
Gl    ::= G(VB)
VB    ::= Plain | not Plain | Plain and Other | Plain or Far
Plain ::= x1 | Deep
Other ::= Same
Same  ::= x1 | Deep
Deep  ::= Deeper
Deeper ::= x2 | Lt
Far   ::= Afar
Afar  ::= Lt
Lt    ::= VR < C
VR    ::= x3 | x4
C     ::= 1 | 3
"""
SEARCHES = [
    MonteCarlo(evaluations=2_000),
    GeneticProgramming(evaluations=2_000),
    GrammaticalEvolution(evaluations=1_000),
    CrossEntropy(evaluations=2_000),
    Pipe(evaluations=1_000),
    Exhaustive(max_atoms=2),
    Exhaustive(max_atoms=2, max_size=6),
    Auto(evaluations=3_000),
]


@pytest.fixture(scope="module")
def records():
    """Labelled records of two Boolean and two real columns."""
    chance = np.random.default_rng(3)
    steps = [
        np.column_stack([chance.random((5, 2)) < 0.4, chance.integers(0, 7, (5, 2))]).astype(object) for _ in range(60)
    ]
    for record in steps:
        record[:, :2] = record[:, :2].astype(bool)
    kinds = ["Boolean", "Boolean", "real", "real"]
    schema = {f"x{k}": {"type": kind} for k, kind in enumerate(kinds, 1)}
    panel = Panel.from_arrays(steps, columns=list(schema), schema=schema)
    both = np.array([(record[:, 0] & record[:, 1]).any() for record in steps])
    high = np.array([(record[:, 2] < 1).any() for record in steps])
    return panel, np.where(both, "a", np.where(high, "b", "c"))


def fitness_of(formula, grammar, panel, y, w2=0.1):
    """By the definition: size-weighted Gini impurity, and the naive number of nodes."""
    true = np.asarray(formula(panel))
    impurity = 0.0
    for side in (y[true], y[~true]):
        shares = np.unique(side, return_counts=True)[1] / max(1, len(side))
        impurity += len(side) * (1 - np.sum(shares**2)) / len(y)
    return 100 * impurity + w2 * nodes(grammar, str(formula))


def test_the_papers_example_has_eleven_nodes():
    schema = {"x1": {"type": "Boolean"}, "x2": {"type": "Boolean"}, "x3": {"type": "real"}, "x4": {"type": "real"}}
    panel = Panel.from_arrays([np.array([[True, False, 1.0, 2.0]], object)], columns=list(schema), schema=schema)
    grammar = Grammar.parse(PAPER, panel)
    derivation = grammar.derive("F(x1 and x2)")
    assert (derivation.nodes, len(derivation)) == (11, 4)
    assert grammar.derive("G(x3 < 5)").nodes == 4 + 2 + 1 + 2 + 2  # Start B Gl G; VB Lt; <; VR x3; C 5
    assert grammar.counting_nodes.counting_nodes is grammar.counting_nodes


@pytest.mark.parametrize("text", [PAPER, WINDING], ids=["paper", "winding"])
def test_every_formula_has_the_nodes_of_a_naive_count(text, records):
    panel, _ = records
    grammar = Grammar.parse(text, panel)
    for derivation in grammar.counting_nodes.enumerate(7):
        assert len(derivation) == derivation.nodes >= nodes(text, str(derivation.expression))
    for derivation in grammar.enumerate(6):
        assert derivation.nodes >= nodes(text, str(derivation.expression))
    smallest = {}
    for derivation in grammar.counting_nodes.enumerate(7):
        said = str(derivation.expression)
        smallest[said] = min(len(derivation), smallest.get(said, 99))
    assert all(count == nodes(text, said) for said, count in smallest.items())
    assert len(smallest) > 40


def test_groups_are_alternatives_written_out_and_no_symbols(records):
    panel, _ = records
    grouped = "Start ::= F(VB) | G(VB)\nVB ::= each Boolean | x3 {<, >=} [1, 3] | (x1 | x2) and VB"
    written = "Start ::= F(VB) | G(VB)\nVB ::= x1 | x2 | x3 < 1 | x3 < 3 | x3 >= 1 | x3 >= 3 | x1 and VB | x2 and VB"
    grammar = Grammar.parse(grouped, panel)
    again = Grammar.parse(str(grammar), panel.schema)
    for text in ("F(x1)", "G(x3 < 3)", "F(x2 and (x3 >= 1))", "G(x1 and (x2 and x1))"):
        assert grammar.derive(text).nodes == again.derive(text).nodes == nodes(written, text)


@pytest.mark.parametrize("text", [PAPER, WINDING], ids=["paper", "winding"])
@pytest.mark.parametrize("search", SEARCHES, ids=[f"{type(s).__name__}{k}" for k, s in enumerate(SEARCHES)])
def test_every_search_is_charged_for_nodes(search, text, records):
    panel, y = records
    model = GrammarTreeClassifier(
        text,
        search,
        criterion=GiniSize(size="nodes", w2=0.7),
        max_depth=1,
        growth=Greedy(simplify=False),
        random_state=0,
    ).fit(panel, y)
    root = model.tree_.root
    assert root.fitness == pytest.approx(fitness_of(root.formula, text, panel, y, 0.7))
    other = GrammarTreeClassifier(
        text, search, criterion=GiniSize(w2=0.7), max_depth=1, growth=Greedy(simplify=False), random_state=0
    )
    assert other.fit(panel, y).tree_.root.fitness < root.fitness  # terminals are fewer


@pytest.mark.parametrize("text", [PAPER, WINDING], ids=["paper", "winding"])
@pytest.mark.parametrize("w2", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("most", [None, 6])
def test_a_proof_holds_of_all_formulas(text, w2, most, records):
    panel, y = records
    grammar = Grammar.parse(text, panel)
    search = Exhaustive(max_atoms=2, max_size=most)
    model = GrammarTreeClassifier(
        grammar, search, criterion=GiniSize(size="nodes", w2=w2), max_depth=1, random_state=0
    ).fit(panel, y)
    found = model.searches_[1]
    said = {str(d.expression): d.expression for d in grammar.enumerate(most or 10) if atoms(d.expression) <= 2}
    best = min(
        fitness_of(Formula(e), text, panel, y, w2) for e in said.values() if 0 < Formula(e)(panel).sum() < len(y)
    )
    assert found.best.fitness == pytest.approx(best)
    assert found.proof is not None


def atoms(e):
    """Attributes, as often as they occur, of which each atom here has one."""
    return len(re.findall(r"x\d", str(e)))


def test_a_custom_fitness_is_given_nodes(records):
    panel, y = records
    seen = {"nodes": set(), "terminals": set()}

    def by(which):
        def fitness(true, total, size):
            seen[which].update(size.tolist())
            return -np.abs(2 * true.sum(1) - total.sum()) + size

        return fitness

    counting, plain = by("nodes"), by("terminals")
    counting.size = "nodes"
    search = MonteCarlo(evaluations=300)
    for fitness in (counting, plain):
        GrammarTreeClassifier(PAPER, search, criterion=fitness, max_depth=1, random_state=0).fit(panel, y)
    assert min(seen["terminals"]) == 2
    assert min(seen["nodes"]) == 6  # F(x1): Start B Ev F VB x1
    everything = {nodes(PAPER, str(d.expression)) for d in Grammar.parse(PAPER, panel).enumerate(12)}
    assert {size for size in seen["nodes"] if size < 20} <= everything


def test_cross_validation_forests_files_and_checkpoints_count_nodes(records, tmp_path):
    panel, y = records
    fitness = GiniSize(size="nodes", w2=0.5)
    settings = {"criterion": fitness, "max_depth": 2, "random_state": 1}
    search = GeneticProgramming(evaluations=1_500)
    grammar = Grammar.parse(PAPER, panel)
    alone = GrammarTreeClassifier(PAPER, search, **settings).fit(panel, y)
    folded = GrammarTreeClassifier(grammar, search, cv=2, growth=Greedy(simplicity=0.0), **settings).fit(panel, y)
    assert str(folded.pruning_path_.whole) == str(alone.pruning_path_.whole)
    kept = tmp_path / "kept.checkpoint"
    first = GrammarTreeClassifier(PAPER, search, **settings).fit(panel, y, checkpoint=kept)
    again = GrammarTreeClassifier(PAPER, search, **settings).fit(panel, y, checkpoint=kept)
    assert str(first.tree_) == str(again.tree_) == str(alone.tree_)
    other = GrammarTreeClassifier(PAPER, search, **{**settings, "criterion": GiniSize(w2=0.5)})
    with pytest.raises(Exception, match="criterion"):
        other.fit(panel, y, checkpoint=kept)
    alone.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.criterion == fitness
    assert loaded.grammar_ == alone.grammar_
    forest = GrammarForestClassifier(
        GrammarTreeClassifier(grammar, MonteCarlo(evaluations=300), criterion=fitness, max_depth=1), n_estimators=2,
        random_state=0,
    ).fit(panel, y)  # fmt: skip
    assert len(forest.trees_) == 2


def test_models_of_earlier_versions_counted_terminals(records, tmp_path):
    panel, y = records
    search = MonteCarlo(evaluations=200)
    model = GrammarTreeClassifier(PAPER, search, criterion=GiniSize(), max_depth=1, random_state=0).fit(panel, y)
    model.save(tmp_path / "model.json")
    found = json.loads((tmp_path / "model.json").read_text())
    assert found["settings"]["criterion"]["size"] == "terminals"
    for size, meant in (("nodes", "terminals"), ("derivation nodes", "nodes")):
        found["settings"]["criterion"]["size"] = size
        (tmp_path / "old.json").write_text(json.dumps(found | {"version": 1}))
        assert load(tmp_path / "old.json").criterion == GiniSize(size=meant)


@pytest.mark.parametrize("search", [GeneticProgramming(evaluations=1_000), Auto(evaluations=1_000)], ids=["gp", "auto"])
def test_random_constants_and_optimal_trees_count_nodes(search, records):
    panel, y = records
    model = GrammarTreeClassifier(
        PAPER, search, criterion=GiniSize(size="nodes", w2=0.3), growth=Optimal(30), max_depth=2, random_state=0
    ).fit(panel, y)
    cost = sum(0.3 * nodes(PAPER, str(node.found or node.formula)) for node in model.tree_.nodes)
    leaves = [
        np.unique(y[model.apply(panel) == k], return_counts=True)[1] for k in range(1, len(model.tree_.leaves) + 1)
    ]
    cost += sum(100 * (n.sum() - (n**2).sum() / n.sum()) / len(y) for n in leaves)
    assert model.tree_.optimum.cost == pytest.approx(cost)


def test_ties_go_to_the_first_if_asked(records):
    panel, y = records
    wide, first = (
        GrammarTreeClassifier(
            PAPER, MonteCarlo(evaluations=500), criterion=GiniSize(w2=0.0, tolerance=5.0, ties=ties), max_depth=1,
            growth=Greedy(simplify=False), random_state=2,
        ).fit(panel, y)
        for ties in ("robustness", "first")
    )  # fmt: skip
    assert first.tree_.root.formula.expression == first.searches_[1].best.derivation.expression
    assert first.tree_.root.fitness <= wide.tree_.root.fitness
    with pytest.raises(SettingsError, match="ties"):
        dataclasses.replace(GiniSize(), ties="last")
