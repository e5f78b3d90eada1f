"""What experiments on encounters may say of them, and how far short formulas get."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telltree import Formula, Grammar, Panel, Schema
from telltree.datasets.encounters import PROXIMITY
from telltree.datasets.encounters.attributes import schema
from telltree.errors import GrammarError, SettingsError
from telltree.experiments import Study, encounter_study, run_experiment, shortcuts
from telltree.experiments.leakage import MacroF1
from telltree.experiments.models import SEARCHES
from telltree.experiments.studies import ACASX, encounter_grammar
from telltree.experiments.trial import score

# -- encounters

COLUMNS = list(schema())


def made_up(records, seed=0):
    """Records with the attributes of encounters, and senseless values."""
    random, columns = np.random.default_rng(seed), []
    for column in schema().values():
        if column.type == "real":
            columns.append(random.choice(column.thresholds, size=(records, 50)) + random.normal(size=(records, 1)))
        else:
            columns.append(random.choice(column.levels or [False, True], size=(records, 50)).astype(object))
    cells = np.stack([values.astype(object) for values in columns], axis=2)
    return Panel.from_arrays(list(cells), columns=COLUMNS, schema=schema())


@pytest.mark.parametrize("proximity", [False, True])
def test_the_encounter_grammar_speaks_of_all_it_may(proximity):
    allowed = [name for name in COLUMNS if proximity or name not in PROXIMITY]
    text = encounter_grammar(proximity)
    grammar = Grammar.parse(text, Schema(schema()[name] for name in allowed))
    assert set(grammar.attributes) == set(allowed)
    assert ("range_1" in grammar.attributes) == proximity
    assert max(map(len, text.splitlines())) <= 120
    for said in (
        "F(active_1 and not responding_1)",
        "G(in_delay_2 implies abs(relative_altitude_1) > 100)",
        'F((advisory_1 = "Crossing Climb") or vertical_rate_2 <= -30)',
        "count(abs(vertical_rate_1 - vertical_rate_2) < 20) >= 5",
        "F(sign(vertical_rate_1) = sign(vertical_rate_2))",
        "F(heading_1 < -180)",
        "F(heading_1 >= 180)",
        "F(vertical_rate_1 > 80)",
    ):
        assert grammar.derive(said).depth >= 2
    for beyond in ("F(heading_1 > 181)", "F(vertical_rate_1 > 90)", "F(altitude_1 < heading_1)"):
        with pytest.raises(GrammarError, match="cannot say"):
            grammar.derive(beyond)


def test_every_search_works_with_the_encounter_grammar():
    panel = made_up(40)
    y = np.where(np.arange(40) % 4, "safe", "NMAC")
    heard = tuple(name for name in COLUMNS if name not in PROXIMITY)
    study = Study("e", "E", panel, y, 2, 4, grammar=encounter_grammar(), attributes=heard, paper=ACASX)
    few = {name: replace(model.search, evaluations=100) for name, model in SEARCHES.items()}
    found = run_experiment(study, trials=1, searches=few, jobs=1)
    assert all(len(model.runs) == 1 for model in found.models.values())
    assert found.models["ge"].runs[0].terminals >= 2


def test_the_encounter_study(monkeypatch):
    asked = []

    def make(n, nmac):
        asked.append((n, nmac))
        return made_up(n), np.array(["NMAC"] * nmac + ["safe"] * (n - nmac)), None

    monkeypatch.setattr("telltree.datasets.encounters.make_encounters", make)
    study = encounter_study(200)
    assert asked == [(200, 17)]
    assert (study.max_depth, study.trees) == (4, 64)
    assert set(study.attributes).isdisjoint(PROXIMITY)
    assert set(encounter_study(200, proximity=True).attributes) == set(COLUMNS)
    with pytest.raises(SettingsError, match="records must be a whole number of at least 50"):
        run_experiment("encounters", records=10)


# -- shortcuts


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2))
def test_macro_f1_as_a_fitness(records):
    said, y = (np.array(side) for side in zip(*records, strict=True))
    true = np.array([[np.sum(said & ~y), np.sum(said & y)]])
    total = np.array([np.sum(~y), np.sum(y)])
    best = max(score(y, side, [False, True]).f1 for side in (said, ~said))
    if total.all() and said.any() and not said.all():
        assert MacroF1()(true, total, np.zeros(1, np.int64))[0] == pytest.approx(1 - best)


def test_shortcuts_are_the_best_there_are(panel, labels):
    y = np.array([label == "calm" for label in labels])
    text = "Start ::= F(Atom)\nAtom ::= on | each categorical = levels | each real {<, >} grid(5)\n"
    study = Study("s", "S", panel, y, 2, 4, grammar=text)
    one, two = shortcuts(study)
    atoms = Grammar.parse("Start ::= F(Atom) | G(Atom)" + text[text.index("\nAtom") :], panel)
    reached = []
    for derivation in atoms.enumerate(4):
        said = Formula(derivation.expression)(panel)
        reached += [score(y, side, [False, True]).f1 for side in (said, ~said) if 0 < said.sum() < len(y)]
    assert one.f1 == pytest.approx(max(reached))
    said = Formula.parse(two.formula, panel.schema)(panel)
    assert two.f1 == pytest.approx(max(score(y, side, [False, True]).f1 for side in (said, ~said)))
    assert two.f1 >= one.f1
    with pytest.raises(SettingsError, match="two classes"):
        shortcuts(replace(study, y=np.array(labels)))
    with pytest.raises(SettingsError, match="defines Atom"):
        shortcuts(replace(study, grammar=None))
