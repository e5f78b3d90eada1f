"""The paper's method as one preset, and formulas that stay as they were derived."""

import numpy as np
import pytest
from sklearn.base import clone

from telltree import GrammarTreeClassifier, load
from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import GiniSize, Greedy

GRAMMAR = """
Start ::= F(VB) | G(VB) | not F(VB)
VB ::= b | not VB | VB and VB | VB or VB | VB implies VB | x {<, >=} [0.1, 0.3, 0.5, 0.7, 0.9]
"""


@pytest.fixture(scope="module")
def records():
    chance = np.random.default_rng(5)
    steps = [np.column_stack([chance.random(6).round(2), chance.random(6) < 0.3]).astype(object) for _ in range(80)]
    for record in steps:
        record[:, 1] = record[:, 1].astype(bool)
    schema = {"x": {"type": "real"}, "b": {"type": "Boolean"}}
    panel = Panel.from_arrays(steps, columns=["x", "b"], schema=schema)
    return panel, np.array([f"{(r[:, 0] > 0.8).any():d}{(r[:, 1] & (r[:, 0] < 0.4)).any():d}" for r in steps])


@pytest.mark.parametrize("missing", ["false", "unknown"])
@pytest.mark.parametrize("grammar", [None, GRAMMAR], ids=["default", "own"])
def test_formulas_stay_as_they_were_derived(grammar, missing, records):
    panel, y = records
    search = MonteCarlo(evaluations=1_500)
    settings = {"criterion": GiniSize(w2=0.0), "max_depth": 3, "missing": missing, "random_state": 0}
    as_found = GrammarTreeClassifier(grammar, search, growth=Greedy(simplify=False), **settings).fit(panel, y)
    usual = GrammarTreeClassifier(grammar, search, **settings).fit(panel, y)
    said = [node.shown for node in as_found.tree_.nodes]
    for formula in said:
        assert str(as_found.grammar_.derive(formula.expression).expression) == str(
            formula
        )  # the grammar says just this
    assert all(node.found is None for node in as_found.tree_.nodes)
    assert set(map(str, said)) != {str(node.shown) for node in usual.tree_.nodes}
    assert set(map(str, said)) == {
        str(node.found or node.shown) for node in usual.tree_.nodes
    }  # the search found these
    assert as_found.tree_.terminals == np.mean([formula.terminals for formula in said])
    assert (as_found.predict(panel) == usual.predict(panel)).all()


def test_files_keep_that_formulas_stay(records, tmp_path):
    model = GrammarTreeClassifier(
        GRAMMAR, MonteCarlo(evaluations=200), growth=Greedy(simplify=False), max_depth=1, random_state=0
    )
    model.fit(*records).save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").growth.simplify is False
    assert clone(model).growth.simplify is False


@pytest.mark.parametrize("settings", [{"thresholds": "midpoint"}, {"thresholds": "best"}, {"simplify": "yes"}])
def test_what_moves_constants_does_not_go_with_it(settings):
    with pytest.raises(SettingsError, match="simplify"):
        Greedy(**{"simplify": False, **settings})


def test_one_preset_is_the_whole_paper(records):
    panel, y = records
    model = GrammarTreeClassifier.paper()
    given = model.get_params(deep=False)
    assert given["criterion"] == GiniSize(w1=100, w2=0.1, gini="sum", size="nodes", tolerance=0, ties="first")
    assert given["search"] == GeneticProgramming.paper("auslan")
    assert (given["max_depth"], given["min_samples_leaf"], given["cv"]) == (6, 1, None)
    assert given["growth"] == Greedy(thresholds="grid", simplify=False)
    assert given["grammar"] == "paper"
    acasx = GrammarTreeClassifier.paper("acasx", "ge", grammar=GRAMMAR, criterion__gini="weighted", random_state=3)
    assert acasx.search == GrammaticalEvolution.paper("acasx")
    assert (acasx.max_depth, acasx.grammar, acasx.criterion.gini, acasx.criterion.size) == (
        4,
        GRAMMAR,
        "weighted",
        "nodes",
    )
    fitted = clone(model).set_params(random_state=0, search__evaluations=500, max_depth=2).fit(panel, y)
    assert fitted.grammar_ == Grammar.generic(panel, atoms_weight=1)
    root = fitted.tree_.root
    assert root.formula.expression == fitted.searches_[1].best.derivation.expression
    assert len(fitted.pruning_path_.whole.leaves) == len(fitted.tree_.leaves)  # nothing is pruned


@pytest.mark.parametrize(("given", "says"), [(("moon",), "experiment"), (("auslan", "auto"), "searches")])
def test_what_the_paper_does_not_have_is_refused(given, says):
    with pytest.raises(SettingsError, match=says):
        GrammarTreeClassifier.paper(*given)


def test_the_papers_grammar_without_usable_columns_is_a_leaf():
    schema = {"x": {"type": "real"}}
    panel = Panel.from_arrays([np.ones((2, 1)), np.ones((3, 1))], columns=["x"], schema=schema)
    with pytest.warns(UserWarning, match="no column"):
        model = GrammarTreeClassifier.paper().fit(panel, [0, 1])
    assert len(model.tree_.leaves) == 1
