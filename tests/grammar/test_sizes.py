"""Deriving, enumerating and counting what a grammar can say, and the stock grammar."""

import itertools

import numpy as np
import pytest

from tests.grammar.test_parse import PAPER, panel, rules
from tests.support.grammar_catalogue import SCHEMA

from telltree.errors import GrammarError, SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel

GRAMMARS = [
    PAPER,
    "A ::= F(x1)",
    "A ::= F(V) | not A | A and A\nV ::= x1 | V implies V | x3 {<, >} [1, 2, 3] | not V",
    "A ::= F(x1 and (x1 | not x2) and V)\nV ::= x1 | (F(V) | G(V)) @2",
    "A ::= count(V) > C | count(V) < count(V)\nV ::= x1 | x2 | V or V\nC ::= grid(0, 3, 4)",
]


@pytest.mark.parametrize("text", GRAMMARS)
def test_enumeration_is_complete_ordered_and_counted(text):
    grammar = Grammar.parse(text, SCHEMA)
    found = list(grammar.enumerate(9))
    sizes = [derivation.expression.terminals for derivation in found]
    assert len({tuple(derivation.rules) for derivation in found}) == len(found)
    keys = [(size, tuple(derivation.rules)) for size, derivation in zip(sizes, found, strict=True)]
    assert keys == sorted(keys)
    for most in range(10):
        assert grammar.count(most) == sum(size <= most for size in sizes)


@pytest.mark.parametrize("text", GRAMMARS)
def test_whatever_a_grammar_says_it_can_derive(text):
    grammar = Grammar.parse(text, SCHEMA)
    for derivation in itertools.islice(grammar.enumerate(9), 300):
        again = grammar.derive(str(derivation))
        assert again.expression == derivation.expression
        assert list(again.rules) <= list(derivation.rules)  # the first in rule order


def test_a_grammar_says_nothing_else():
    grammar = Grammar.parse(PAPER, SCHEMA)
    for text in ("F(x1 or x2)", "F(x3 > 1)", "F(x3 < 7)", "G(F(x1))", "F(x1) and F(x2)"):
        with pytest.raises(GrammarError, match="this grammar cannot say"):
            grammar.derive(text)
    with pytest.raises(GrammarError, match="no attribute called speed"):
        grammar.derive("F(speed < 1)")


def test_random_constants_match_any_number_of_their_range():
    grammar = Grammar.parse("A ::= F(x3 < C)\nC ::= 7 | random(0, 5)", SCHEMA)
    derivation = grammar.derive("F(x3 < 2.5)")
    assert list(derivation.rules) == [0, 2]
    np.testing.assert_array_equal(derivation.constants, [np.nan, 2.5])
    assert str(derivation) == "F(x3 < 2.5)"
    assert list(grammar.derive("F(x3 < 7)").rules) == [0, 1]
    with pytest.raises(GrammarError, match="cannot say"):
        grammar.derive("F(x3 < 6)")
    with pytest.raises(SettingsError, match="infinitely many"):
        grammar.count(5)
    with pytest.raises(SettingsError, match="infinitely many"):
        grammar.enumerate(5)


def test_counting_and_enumerating_go_far():
    grammar = Grammar.parse("A ::= F(V)\nV ::= not V | x1", SCHEMA)
    assert grammar.count(3_000) == 2_999
    assert Grammar.parse(PAPER, SCHEMA).count(60) == 139366932524017932553634108984
    *_, longest = grammar.enumerate(600)
    assert len(longest.rules) == 600


def mixed_panel():
    rng = np.random.default_rng(1)
    table = {"a": rng.normal(size=6), "b b": rng.normal(size=6), "VB": [True, False, True, True, False, False]}
    table |= {"mode": ["up", "down", "up", "level", "up", "up"], "still": [1.0] * 6, "id": [0, 0, 0, 1, 1, 1]}
    import pandas as pd

    return Panel.from_frame(pd.DataFrame(table), id="id", schema={"b b": {"thresholds": [0.0, 0.5]}})


def test_the_stock_grammar_speaks_of_every_usable_column():
    data = mixed_panel()
    grammar = Grammar.generic(data)
    assert list(grammar.left_out) == ["still"]
    assert grammar.attributes == ("a", "b b", "VB", "mode")
    assert set(rules(grammar, "Start")) == {"F(VB)", "G(VB)"}
    shares = rules(grammar, "VB")
    atoms = {
        text: share for text, share in shares.items() if "VB ∧" not in text and "VB " not in text and text != "¬VB"
    }
    assert sum(atoms.values()) == pytest.approx(0.5)
    low, high = float(data.stacked("a").min()), float(data.stacked("a").max())
    for text in (f"G(a <= {low!r} implies not `b b` > 0.5)", f"F(`VB` or a = {high!r})", 'F(mode = "down")'):
        grammar.derive(text)
    assert Grammar.parse(str(grammar), data.schema) == grammar


def test_the_stock_grammar_can_be_made_smaller():
    data = mixed_panel()
    grammar = Grammar.generic(data, operators=("F", "and", "<"), points=3, atoms_weight=9, columns=["a", "still"])
    assert set(rules(grammar, "VB")) == {"VB ∧ VB", "a < _1", "still < 1"}
    assert rules(grammar, "VB")["VB ∧ VB"] == pytest.approx(0.1)
    assert grammar.left_out == {}
    assert Grammar.generic(data, operators=("G", "<")).left_out["mode"] == "none of the operators compares it"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"operators": ("and", "<")}, "must include F or G"),
        ({"operators": ("F", "xor")}, "'xor' is none of"),
        ({"operators": ("F", "abs")}, "'abs' is none of"),
        ({"atoms_weight": 0}, "greater than 0"),
        ({"atoms_weight": float("nan")}, "greater than 0"),
        ({"atoms_weight": "a"}, "greater than 0"),
        ({"atoms_weight": 1e300}, r"from 1e-06 to 1e\+06"),
        ({"points": 0}, "points must be a whole number of at least 1, got 0"),
        ({"points": 1.5}, "points must be a whole number"),
        ({"columns": "mode"}, r"got the text 'mode'; write \['mode'\]"),
        ({"columns": ["z"]}, "no column 'z'"),
        ({"columns": []}, "no column is left"),
    ],
)
def test_senseless_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        Grammar.generic(mixed_panel(), **settings)


def test_a_panel_without_usable_columns_has_no_grammar():
    with pytest.raises(SettingsError, match="'still'"):
        Grammar.generic(panel(still=[1.0, 1.0]))
