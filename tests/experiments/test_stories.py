"""Categories of encounters against the families they come from, and the paper's figures as files."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.experiments.test_run import REAL

from telltree import Grammar
from telltree.datasets import make_encounters
from telltree.datasets.encounters import PROXIMITY
from telltree.errors import SettingsError
from telltree.experiments import auslan_study, run_experiment
from telltree.experiments.figures import categorize_nmacs, draw_auslan, draw_encounters
from telltree.experiments.studies import encounter_grammar
from telltree.search import GeneticProgramming, MonteCarlo

PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def stories():
    return categorize_nmacs(make_encounters(500, 60), max_depth=3)


def test_kinds_hold_each_nmac_of_the_categories_that_predict_one_once(stories):
    predicted = stories.model.predict(stories.panel)
    caught = (predicted == "NMAC") & (stories.y == "NMAC")
    assert sum(kind.nmacs for kind in stories.kinds) == int(caught.sum()) > 0
    for family, number in stories.families.items():
        assert sum(kind.families[family] for kind in stories.kinds) == int((caught & (stories.family == family)).sum())
        assert number == int(((stories.y == "NMAC") & (stories.family == family)).sum())
    assert [kind.nmacs for kind in stories.kinds] == sorted((kind.nmacs for kind in stories.kinds), reverse=True)


def test_a_kind_belongs_to_the_family_most_of_it_comes_from(stories):
    for kind in stories.kinds:
        members = kind.category.positions[stories.y[kind.category.positions] == "NMAC"]
        counts = Counter(stories.family[members].tolist())
        assert counts[kind.family] == max(counts.values())
        assert kind in stories.of_family(kind.family)
        example = stories.example(kind.family)
        assert (stories.y[example], stories.family[example]) == ("NMAC", kind.family)


def test_the_tree_speaks_of_what_was_done_not_of_how_near_they_were(stories):
    used = {name for node in stories.model.tree_.nodes for name in node.formula.expression.attributes()}
    assert not used & {*PROXIMITY, "relative_altitude_1", "relative_altitude_2", "vertical_miss_1", "vertical_miss_2"}
    schema = stories.panel.schema
    text = encounter_grammar(distance=False)
    named = set(Grammar.parse(text, stories.panel.select([n for n in schema if n not in PROXIMITY])).attributes)
    assert not {name for name in named if schema[name].kind == "vertical distance"}


def test_the_table_counts_every_family(stories):
    told = str(stories)
    assert all(family in told for family in stories.families)


def test_pictures_of_encounters(stories, tmp_path):
    drawn = list(draw_encounters(tmp_path, stories))
    found = {kind.family for kind in stories.kinds}
    assert {path.name for path in drawn} == {
        "encounters-collage.png",
        "encounters-tree.png",
        *(f"encounter-{family.replace(' ', '-')}.png" for family in found),
    }
    assert all(path.read_bytes().startswith(PNG) for path in drawn)


@pytest.mark.skipif(not (Path(REAL) / "auslan8").is_dir(), reason="the real data are not beside the project")
def test_pictures_of_auslan(tmp_path):
    study = auslan_study(REAL)
    few = {"gp": GeneticProgramming(evaluations=500)}
    found = run_experiment(study, trials=1, searches=few, baselines=[], jobs=1)
    drawn = list(draw_auslan(found, tmp_path, study))
    assert [path.name for path in drawn] == ["auslan-tree-formula.png", "auslan-tree-english.png"]
    assert all(path.read_bytes().startswith(PNG) for path in drawn)
    without = run_experiment(study, trials=1, searches={"mc": MonteCarlo(evaluations=50)}, baselines=[], jobs=1)
    with pytest.raises(SettingsError, match="add gp"):
        next(draw_auslan(without, tmp_path, study))


def test_the_same_seed_tells_the_same_stories():
    once, again = (categorize_nmacs(make_encounters(200, 60), max_depth=1) for _ in range(2))
    assert str(again) == str(once)
    assert np.array_equal(again.model.apply(again.panel), once.model.apply(once.panel))
