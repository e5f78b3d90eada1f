"""User functions that give one truth value of a whole record: formulas by themselves, also at the start symbol."""

import numpy as np
import pytest

from tests.support.effort import few_fast

from telltree import Formula, Grammar, GrammarTreeClassifier, load, user_function
from telltree.errors import FunctionError, SettingsError
from telltree.explain import english
from telltree.panel import Panel
from telltree.search import Auto, Exhaustive, GeneticProgramming, MonteCarlo
from telltree.tree import GiniSize, Greedy

SCHEMA = {"x": {"type": "real"}, "b": {"type": "Boolean"}}
GRAMMAR = "Start ::= swings(x) | F(VB) | odd(x, VB)\nVB ::= b | x < [0.2, 0.8, 1.4] | VB and VB"


@user_function(takes=["real"], gives="truth", phrase="{0} swings by more than 1")
def swings(x):
    return bool(np.ptp(x) > 1)


@user_function(takes=["real", "Boolean"], gives="truth")
def odd(x, b):
    return np.bool_(b.sum() % 2)


FUNCTIONS = [swings, odd]


@pytest.fixture(scope="module")
def records():
    """Records, and for each whether x swings, and at how many steps b is true."""
    chance = np.random.default_rng(0)
    found = []
    for length in chance.integers(1, 9, 200).tolist():
        record = np.empty((length, 2), object)
        record[:, 0], record[:, 1] = (1.6 * chance.random(length)).tolist(), (chance.random(length) < 0.4).tolist()
        found.append(record)
    panel = Panel.from_arrays(found, columns=["x", "b"], schema=SCHEMA)
    big = np.array([np.ptp(record[:, 0].astype(float)) > 1 for record in found])
    return panel, big, [record[:, 1].astype(bool) for record in found]


def expected(big, steps):
    """What formulas come to, by their definition."""
    pairs = list(zip(big.tolist(), steps, strict=True))
    odds = np.array([b.sum() % 2 == 1 for b in steps])
    return {
        "swings(x)": big,
        "not swings(x)": ~big,
        "odd(x, b) and swings(x)": odds & big,
        "swings(x) implies odd(x, b)": ~big | odds,
        "F(swings(x))": big,
        "G(swings(x)) or F(b)": big | [b.any() for b in steps],
        "G(b implies swings(x))": np.array([(~b | s).all() for s, b in pairs]),
        "F(b and not swings(x))": np.array([(b & (not s)).any() for s, b in pairs]),
        "count(b or swings(x)) > 3": np.array([(b | s).sum() > 3 for s, b in pairs]),
        "odd(x, swings(x))": np.array([s and len(b) % 2 == 1 for s, b in pairs]),
        "until(swings(x), b)": np.array([b.any() and (s or bool(b[0])) for s, b in pairs]),
    }


def test_a_truth_of_the_record_means_the_same_everywhere(records):
    panel, *known = records
    for text, wanted in expected(*known).items():
        formula = Formula.parse(text, panel.schema, functions=FUNCTIONS)
        assert np.array_equal(formula(panel), wanted), text
        few = [bool(formula(panel[[k]])[0]) for k in range(12)]  # walked, not compiled
        assert few == wanted[:12].tolist(), text
        assert Formula.parse(str(formula), panel.schema, functions=FUNCTIONS) == formula


def test_it_is_said_without_a_time(records):
    panel, *_ = records
    for text in ("swings(x)", "F(swings(x))", "G(swings(x))"):
        formula = Formula.parse(text, panel.schema, functions=FUNCTIONS)
        assert english(formula, panel.schema) == "“x swings by more than 1”"
    assert english(Formula.parse("odd(x, b)", panel.schema, functions=FUNCTIONS), panel.schema) == (
        "odd of x and b is true"
    )


@pytest.mark.parametrize(
    "settings", few_fast([{}, {"growth": Greedy(simplify=False)}, {"missing": "unknown"}, {"cv": 2}]), ids=str
)
@pytest.mark.parametrize(
    "search",
    [MonteCarlo(evaluations=300), GeneticProgramming(evaluations=300), Exhaustive(), Auto(evaluations=500)],
    ids=lambda search: type(search).__name__,
)
def test_trees_ask_for_it_at_the_start_symbol(search, settings, records, tmp_path):
    panel, big, steps = records
    y = np.where(big, np.where([b.sum() % 2 == 1 for b in steps], "a", "b"), "c")
    model = GrammarTreeClassifier(
        GRAMMAR, search, functions=FUNCTIONS, max_depth=2, random_state=0, criterion=GiniSize(), **settings
    ).fit(panel, y)
    assert (model.predict(panel) == y).all()
    assert "swings(x)" in str(model.tree_)
    model.save(tmp_path / "model.json")
    assert (load(tmp_path / "model.json", functions=FUNCTIONS).predict(panel) == y).all()


def test_its_size_is_counted(records):
    grammar = Grammar.parse(GRAMMAR, records[0], functions=FUNCTIONS)
    assert len(grammar.derive("swings(x)")) == 2
    assert grammar.derive("swings(x)").nodes == 3
    assert str(grammar) == str(Grammar.parse(str(grammar), records[0], functions=FUNCTIONS))


@pytest.mark.parametrize("found", [np.array([True, False]), 1, "yes", None])
def test_what_is_no_truth_is_refused(found, records):
    @user_function(takes=["real"], gives="truth")
    def wrong(x):
        return found

    with pytest.raises(FunctionError, match="'wrong', record 0: it must return"):
        Formula.parse("wrong(x)", records[0].schema, functions=[wrong])(records[0])


def test_it_cannot_look_at_single_steps():
    with pytest.raises(SettingsError, match="elementwise"):
        user_function(takes=["real"], gives="truth", elementwise=True, name="f")(lambda x: True)
