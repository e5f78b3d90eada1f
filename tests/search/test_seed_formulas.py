"""Formulas of the user's are tried first, and bred from."""

from dataclasses import replace

import numpy as np
import pytest

from tests.search.test_exhaustive import SCHEMA, drawn, objective_of

from telltree import Formula, Grammar, GrammarTreeClassifier, load
from telltree.errors import ModelFormatError, SettingsError
from telltree.search import Auto, CrossEntropy, Exhaustive, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe

TEXT = (
    "A ::= F(V) | G(V)\nV ::= V and V | V or V | not V | on | off | x {<, >=} [0.5, 1, 1.5] | y {<, >=} [0.5, 1, 1.5]"
)
GRAMMAR = Grammar.parse(TEXT, SCHEMA)
SEEDS = ("F(on and x >= 1.5 and y < 1)", "at some point off is true while x is below 1", "G(x >= 0.5)")
KINDS = [
    MonteCarlo(evaluations=50),
    GeneticProgramming(evaluations=200, population=20),
    GrammaticalEvolution(evaluations=50, population=20),
    Exhaustive(max_depth=5),
    Auto(evaluations=400),
    CrossEntropy(evaluations=100, population=20),
    Pipe(evaluations=100, population=20),
]


def asked(search, seed=0):
    """What a search found, and the texts of all that it tried, in order."""
    panel, _, labels = drawn(3, 40)
    inner, texts = objective_of(panel, labels, GRAMMAR), []

    def objective(population, wanted):
        texts.extend(str(GRAMMAR.derivation(population, int(i))) for i in wanted)
        return inner(population, wanted)

    return search.run(GRAMMAR, objective, seed), texts


@pytest.mark.parametrize("search", KINDS, ids=lambda search: type(search).__name__)
def test_seeds_are_tried_first_in_every_form(search):
    given = (SEEDS[0], SEEDS[1], Formula.parse(SEEDS[2], SCHEMA), SEEDS[0])
    found, texts = asked(replace(search, seeds=given))
    expected = ["F((on ∧ (x ≥ 1.5)) ∧ (y < 1))", "F(off ∧ (x < 1))", "G(x ≥ 0.5)"]
    assert texts[:3] == expected
    without, _ = asked(search)
    assert found.evaluations <= without.evaluations + 3
    assert found.best.fitness < np.inf


def test_children_are_bred_from_seeds():
    """Where nothing but a seed has a part, all formulas with that part descend from it."""
    grammar = Grammar.parse(
        "A ::= F(V) @1000 | G(W) @0.001\nV ::= on | off | V and V\nW ::= x < [0, 1, 2] | W and W", SCHEMA
    )
    panel, _, labels = drawn(3, 40)

    def fitness(true, total, size):
        return size.astype(float)

    def tried(search):
        inner, texts = objective_of(panel, labels, grammar, fitness), []

        def objective(population, wanted):
            texts.extend(str(grammar.derivation(population, int(i))) for i in wanted)
            return inner(population, wanted)

        search.run(grammar, objective, 4)
        return sum(text.startswith("G") for text in texts)

    search = GeneticProgramming(evaluations=300, population=50, max_depth=5)
    assert tried(search) <= 1
    assert tried(replace(search, seeds=["G(x < 1)"])) > 3


def test_a_seeded_search_goes_on_from_any_generation_to_the_same():
    panel, _, labels = drawn(5)
    learning = CrossEntropy(evaluations=300, population=30), Pipe(evaluations=300, population=30)
    for search in (GeneticProgramming(evaluations=400, population=30), Auto(evaluations=800), *learning):
        seeded, states = replace(search, seeds=SEEDS), []
        whole = seeded.run(
            GRAMMAR, objective_of(panel, labels, GRAMMAR), 3, remember=lambda make, s=states: s.append(make())
        )
        for state in states[::4]:
            again = seeded.run(GRAMMAR, objective_of(panel, labels, GRAMMAR), 3, state=state)
            assert (again.runners_up, again.evaluations) == (whole.runners_up, whole.evaluations)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        (["F(x < 0.7)"], r"seeds\[0\], 'F\(x < 0.7\)': this grammar cannot say F\(x < 0.7\); let the grammar say it"),
        (["G(on)", "F(z < 1)"], r"seeds\[1\], 'F\(z < 1\)': is no formula \(.*no attribute called z.*no sentence"),
        (["F(not not not not not not on)"], r"seeds\[0\].*nests 7 operators, and max_depth is 6"),
    ],
)  # fmt: skip
def test_what_the_grammar_cannot_say_is_refused(seeds, message):
    with pytest.raises(SettingsError, match=message):
        asked(MonteCarlo(evaluations=5, seeds=seeds))


def test_what_is_no_list_of_formulas_is_refused():
    with pytest.raises(SettingsError, match="seeds must be a list"):
        MonteCarlo(seeds="F(on)")
    with pytest.raises(SettingsError, match=r"seeds\[1\] must be a Formula or a text, got 3"):
        GeneticProgramming(seeds=["F(on)", 3])


def test_seeds_are_shown_and_kept_with_the_model(tmp_path):
    panel, _, labels = drawn(7, 60)
    assert "seeds" not in repr(MonteCarlo())
    search = GeneticProgramming(evaluations=200, seeds=SEEDS)
    assert f"seeds={SEEDS!r}" in repr(search)
    model = GrammarTreeClassifier(GRAMMAR, search, max_depth=1, random_state=0).fit(panel, labels)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").search == search
    damaged = (tmp_path / "model.json").read_text().replace('"G(x >= 0.5)"', "3", 1)
    (tmp_path / "damaged.json").write_text(damaged)
    with pytest.raises(ModelFormatError):
        load(tmp_path / "damaged.json")
