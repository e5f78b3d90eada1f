"""The paper's second experiment on its own records: the study, its settings, and the encounters of its figures."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from telltree.datasets import load_acasx
from telltree.errors import SettingsError
from telltree.experiments import acasx_study, run_experiment
from telltree.experiments.figures import categorize_collisions, draw_acasx, whole_records
from telltree.experiments.models import ACASX_SEARCHES
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import GiniSize

REAL = Path(__file__).parents[3] / "shared" / "data" / "acasx"
SHOWN = [1303, 944, 5246]


@pytest.fixture(scope="module")
def study():
    """The sample's own study, with fewer of the safe encounters."""
    whole = acasx_study(None)
    few = np.flatnonzero((whole.y == "NMAC") | (np.arange(len(whole.y)) % 6 == 0))
    return replace(whole, panel=whole.panel[few], y=whole.y[few], max_depth=3)


@pytest.fixture(scope="module", autouse=True)
def nowhere(tmp_path_factory):
    """No whole data on this machine, so that the sample is taken."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TELLTREE_DATA", str(tmp_path_factory.mktemp("none")))
        patch.setattr("platformdirs.user_data_path", lambda *_, **__: Path("/nowhere"))
        yield


@pytest.fixture(scope="module")
def collisions(study):
    return categorize_collisions(study)


def test_the_study_is_the_papers():
    study = acasx_study(None)
    assert (study.max_depth, study.trees, len(study.panel)) == (4, 64, 2000)
    assert study.panel.lengths.max() < 50  # cut, as the paper's table is
    assert study.paper["gp"].f1 == 0.8779
    assert any("2,000 of the 10,000 encounters" in note for note in study.notes)


def test_the_experiment_may_have_all_50_steps():
    study = acasx_study(None, whole=True)
    assert set(study.panel.lengths.tolist()) == {50}
    assert any("all 50 steps" in note for note in study.notes)
    with pytest.raises(SettingsError, match="only the records of acasx are cut"):
        run_experiment("encounters", whole=True, trials=1)


def test_terminals_are_those_of_formulas_as_found(study):
    model = ACASX_SEARCHES["gp"]
    few = replace(model, search=replace(model.search, evaluations=500, population=100))
    train = np.arange(0, len(study.y), 2)
    learned = few.learn(study, train, 0)
    found = [node.formula for node in learned.tree_.nodes]
    assert all(node.found is None for node in learned.tree_.nodes)
    assert all(str(learned.grammar_.derive(formula.expression)) == str(formula) for formula in found)
    told = few.predict(study, train, np.arange(1, len(study.y), 2), 0)
    assert told.terminals == np.mean([formula.terminals for formula in found])


def test_every_search_of_the_experiment(study):
    few = {name: replace(model.search, evaluations=200) for name, model in ACASX_SEARCHES.items()}
    found = run_experiment(study, trials=1, searches=few, baselines=["bayes"], jobs=1)
    for model in found.models.values():
        assert len(model.runs) == 1
        assert {"accuracy", "f1", "precision", "recall"} <= set(model.summaries)
    assert "per_record=True" in found.models["gp"].settings


def test_the_names_of_the_experiment(monkeypatch, study):
    monkeypatch.setattr("telltree.experiments.studies.acasx_study", lambda data, whole=False: study)
    monkeypatch.setattr("telltree.experiments.run._work", lambda *_: False)
    assert list(run_experiment("acasx").models) == ["mc", "ge", "gp", "gp-long", "tree", "forest", "bayes"]
    authors = run_experiment("acasx", paper_budgets=True).models
    assert list(authors) == ["mc", "ge", "gp", "tree", "forest", "bayes"]
    assert "population=5000" in authors["gp"].settings
    assert "criterion=GiniSize(w1=100.0, w2=0.1, gini='weighted', size='nodes', tolerance=0.0" in authors["gp"].settings
    letter = run_experiment("acasx", preset="paper").models
    assert "criterion=GiniSize(w1=100.0, w2=0.1, gini='sum', size='nodes', tolerance=0.0" in letter["mc"].settings
    assert "evaluations=500000" in letter["mc"].settings
    charged, half = "about one record right", "half of one"
    for given, told in (
        ({}, (True, True)),
        ({"searches": ["gp"]}, (True, False)),
        ({"preset": "paper"}, (False, False)),
    ):
        notes = " ".join(run_experiment("acasx", **given).notes)
        assert (charged in notes, half in notes) == told
    for models in (authors, letter, run_experiment("acasx").models):
        assert "growth=Greedy(thresholds='grid', simplify=False)" in models["gp"].settings
    with pytest.raises(SettingsError, match="only preset is 'paper'"):
        run_experiment("acasx", preset="thesis")
    with pytest.raises(SettingsError, match="there is no search called 'gp-long'"):
        run_experiment("acasx", searches=["gp-long"], paper_budgets=True)


def test_the_authors_settings():
    assert GeneticProgramming.paper().population == 1_000
    assert GeneticProgramming.paper("acasx").population == 5_000
    assert (GeneticProgramming.paper("acasx").generations, GeneticProgramming.paper("acasx").tournament) == (100, 500)
    assert (GrammaticalEvolution.paper().codons, GrammaticalEvolution.paper("acasx").codons) == (10, 20)
    assert (MonteCarlo.paper().evaluations, MonteCarlo.paper("acasx").evaluations) == (2_000, 500_000)
    with pytest.raises(SettingsError, match="'auslan' and 'acasx', got 'other'"):
        GeneticProgramming.paper("other")


def test_length_charged_by_the_record():
    """At a node of n records a terminal costs w2 / n, whatever the weights."""
    true, total, size = np.array([[3, 1], [2, 2]]), np.array([5, 5]), np.array([4, 9])
    plain = GiniSize(w2=0)(true, total, size)
    assert GiniSize(w2=200, per_record=True).at_node(50)(true, total, size) == pytest.approx(plain + 4.0 * size)
    assert GiniSize(w2=0.3).at_node(50) == GiniSize(w2=0.3)
    with pytest.raises(SettingsError, match="at_node"):
        GiniSize(per_record=True)(true, total, size)
    with pytest.raises(SettingsError, match="per_record must be true or false"):
        GiniSize(per_record=1)


def test_cases_are_the_papers_and_say_why(collisions, study):
    assert [case.encounter for case in collisions.cases] == SHOWN
    clusters = collisions.model.apply(study.panel)
    for case in collisions.cases:
        assert study.panel.ids[case.record] == case.encounter
        assert clusters[case.record] == case.category.number
        assert len(case.path) == len(case.category.branches)
        assert all(turn.english in str(case) for turn in case.path)


def test_kinds_of_collision_are_the_categories_that_predict_one(collisions, study):
    predicted = collisions.model.predict(study.panel)
    assert sum(len(kind.positions) for kind in collisions.categories) == int((predicted == "NMAC").sum())
    assert all(len(kind.positions) >= 10 for kind in collisions.categories)
    numbers = [kind.number for kind in collisions.categories]
    assert numbers == sorted(numbers)  # the rows of the collage, as in the paper


def test_pictures(collisions, study, tmp_path):
    flights = whole_records(None)
    here = [flights.ids.tolist().index(encounter) for encounter in study.panel.ids.tolist()]
    names = [path.name for path in draw_acasx(tmp_path, collisions, flights[here])]
    assert names == ["acasx-tree.png", "acasx-collage.png", *(f"acasx-encounter-{number}.png" for number in SHOWN)]
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in names)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the real data are not beside the project")
def test_the_papers_encounters_are_in_categories_of_collisions():
    """One tree for all 10,000, with the first seed."""
    found = categorize_collisions(acasx_study(REAL), seed=0)
    assert [case.category.label for case in found.cases] == ["NMAC"] * 3


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason="the real data are not beside the project")
def test_the_real_experiment():
    """One trial, with a small budget: better than the decision tree, with short formulas."""
    small = {"gp": GeneticProgramming(evaluations=10_000)}
    found = run_experiment("acasx", data=REAL, trials=1, searches=small, baselines=["tree"], jobs=1)
    assert found.records == len(load_acasx(REAL).panel) == 10_000
    ours, tree = found.models["gp"].summaries, found.models["tree"].summaries
    assert ours["f1"].mean > tree["f1"].mean + 0.03
    assert ours["terminals"].mean < 7
