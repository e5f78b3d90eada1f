"""Derivations: their parts, random draws, and what grammatical evolution reads from codons."""

import copy
import itertools
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from functools import cache
from math import lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tree.test_paper_example import GRAMMAR as PAPER
from tests.tree.test_paper_example import PLAIN as SCHEMA

from telltree.errors import SettingsError
from telltree.grammar import Derivation, Grammar
from telltree.logic import Type

TEXTS = {
    "the paper's": PAPER,
    "nested": "A ::= F(V) | not A | A and A\nV ::= x1 | F(V) | V implies V | x3 {<, >} [1, 2, 3] | not V",
    "templates": "A ::= F(V and (x1 or V) and V) | count(V) > 1\nV ::= x1 | x2 @3 | not V @2 | x3 < 2 and V",
    "deep": "A ::= F(not not (x3 < C)) | G(V)\nC ::= 1 | 2 | 3\nV ::= not not not x1 | V or V",
    "one formula": "A ::= F(x1 and x2)",
}
GRAMMARS = {name: Grammar.parse(text, SCHEMA) for name, text in TEXTS.items()}
PAPERS = GRAMMARS["the paper's"]
RANDOM = Grammar.parse("A ::= F(V)\nV ::= x3 < C | V and V\nC ::= 7 | random(0, 1)", SCHEMA)
grammars = st.sampled_from([*GRAMMARS.values(), RANDOM])
seeds = st.integers(0, 2**64 - 1)


def symbol_at(derivation, node):
    return derivation.grammar.rules[derivation.rules[node]].symbol


def check(derivation):
    """It is a formula of its grammar, and its size is that of its text."""
    assert derivation.expression.type is Type.BOOLEAN
    assert len(derivation) == derivation.expression.terminals
    assert derivation.grammar.derive(str(derivation)).expression == derivation.expression


@cache
def least_depth(grammar):
    """Of the simplest formula: the first limit that is not refused."""
    return next(depth for depth in itertools.count() if says_something(grammar, depth))


def says_something(grammar, depth):
    with suppress(SettingsError):
        return grammar.check_depth(depth) is None
    return False


# spans


def test_spans_of_a_derivation_by_hand():
    derivation = PAPERS.derive("F(x1 and x3 < 2)")  # F, and, x1, <, x3, 2
    assert [derivation.span(node) for node in range(6)] == [
        slice(0, 6), slice(1, 6), slice(2, 3), slice(3, 6), slice(4, 5), slice(5, 6)
    ]  # fmt: skip


@given(grammars, seeds)
def test_spans_are_nested_and_tile_their_parent(grammar, seed):
    derivation = grammar.draw(seed)
    assert derivation.span(0) == slice(0, len(derivation.rules))
    for node, rule in enumerate(derivation.rules):
        at = node + 1
        for symbol in grammar.rules[rule].holes:
            assert symbol_at(derivation, at) == symbol
            at = derivation.span(at).stop
        assert derivation.span(node) == slice(node, at)


def test_equal_derivations_are_equal():
    one, same, other = (PAPERS.derive(text) for text in ("F(x1)", "F(x1)", "G(x1)"))
    assert one == same != other
    assert len({one, same, other}) == 2
    assert one != "F(x1)"
    assert Derivation(PAPERS, one.rules) == one
    assert repr(one) == "<Derivation of F(x1)>"


# sizes and depths


FACTORED = [
    "A ::= F(x1 and x3 < 2) | F(x2)",
    "A ::= F(V) | F(x2)\nV ::= x1 and x3 < 2",
    "A ::= B\nB ::= C | D\nC ::= F(V)\nD ::= F(x2)\nV ::= W\nW ::= X and Y\nX ::= x1\nY ::= R < N\nR ::= x3\nN ::= 2",
    "A ::= F((x1 and L | x2))\nL ::= x3 < [2]",
]


@pytest.mark.parametrize("text", FACTORED)
def test_sizes_and_depths_do_not_depend_on_the_factoring(text):
    grammar = Grammar.parse(text, SCHEMA)
    found = {(str(d), len(d), d.depth) for d in grammar.enumerate(9)}
    assert found == {("F(x1 ∧ (x3 < 2))", 6, 3), ("F(x2)", 2, 1)}
    with pytest.raises(SettingsError, match="max_depth=0 is too shallow"):
        grammar.draw(1, max_depth=0)
    assert {str(grammar.draw(seed, max_depth=2)) for seed in range(50)} == {"F(x2)"}
    assert len({str(grammar.draw(seed, max_depth=3)) for seed in range(50)}) == 2


def test_draws_do_not_depend_on_rules_that_only_rename():
    renaming = PAPER.replace("C     ::= 1 | 2 | 3 | 4 | 5", "C ::= D\nD ::= E\nE ::= 1 | 2 | 3 | 4 | 5")
    other = Grammar.parse(renaming, SCHEMA)
    assert [str(PAPERS.draw(seed)) for seed in range(100)] == [str(other.draw(seed)) for seed in range(100)]


# draws


@pytest.mark.parametrize("name", GRAMMARS)
@pytest.mark.parametrize("extra", [0, 1, 2, 5])
def test_every_draw_ends_inside_the_limit(name, extra):
    grammar = GRAMMARS[name]
    least = least_depth(grammar)
    depths = set()
    for seed in range(60):
        derivation = grammar.draw(seed, max_depth=least + extra)
        check(derivation)
        depths.add(derivation.depth)
    assert max(depths) <= least + extra
    if name != "one formula":
        assert max(depths) > least or extra == 0
    with pytest.raises(SettingsError, match="too shallow"):
        grammar.draw(0, max_depth=least - 1)


def test_the_seed_alone_decides_a_draw():
    assert [str(PAPERS.draw(seed)) for seed in range(50)] == [str(PAPERS.draw(seed)) for seed in range(50)]
    assert len({str(PAPERS.draw(seed)) for seed in range(50)}) > 20
    assert RANDOM.draw(4) == RANDOM.draw(4)


def shares(grammar, depth, draws, of=str):
    counts = Counter(of(grammar.draw(seed, max_depth=depth)) for seed in range(draws))
    return {what: count / draws for what, count in counts.items()}


def assert_shares(found, expected, draws):
    assert set(found) == set(expected)
    for what, share in expected.items():  # six standard deviations: luck never fails, a wrong table always does
        assert abs(found[what] - share) < 6 * (share * (1 - share) / draws) ** 0.5, what


def test_draws_are_uniform_among_the_rules_that_fit():
    draws = 3_000
    quarter = {f"{o}({x})": 0.25 for o in "FG" for x in ("x1", "x2")}
    assert_shares(shares(PAPERS, 1, draws), quarter, draws)
    expected = {f"{o}({x})": 1 / 8 for o in "FG" for x in ("x1", "x2")}
    expected |= {f"{o}({x} ∧ {y})": 1 / 32 for o in "FG" for x in ("x1", "x2") for y in ("x1", "x2")}
    expected |= {f"{o}({x} < {c})": 1 / 80 for o in "FG" for x in ("x3", "x4") for c in range(1, 6)}
    assert_shares(shares(PAPERS, 2, draws), expected, draws)


def test_draws_respect_weights():
    grammar = Grammar.parse("A ::= F(V) @3 | G(V)\nV ::= x1 @0.5 | x2 @1.5 | not V @2", SCHEMA)
    draws = 3_000
    flat = {f"{o}({x})": p * q for o, p in (("F", 0.75), ("G", 0.25)) for x, q in (("x1", 0.25), ("x2", 0.75))}
    assert_shares(shares(grammar, 1, draws), flat, draws)  # within depth 1 the third does not fit
    heads = shares(grammar, 2, draws, lambda d: str(d)[2:4])
    assert_shares(heads, {"x1": 0.125, "x2": 0.375, "¬x": 0.5}, draws)


def test_a_group_is_one_alternative():
    grammar = Grammar.parse("A ::= F(V)\nV ::= V and V | V or V | not V | x3 {<, >} grid(0, 1, 1000)", SCHEMA)
    draws = 2_000
    atoms = shares(grammar, 4, draws, lambda d: d.depth == 2)  # F and a comparison
    assert_shares(atoms, {True: 0.25, False: 0.75}, draws)


def test_random_constants_are_drawn_from_all_of_their_range():
    grammar = Grammar.parse("A ::= F(x3 < random(-2, 6))", SCHEMA)
    drawn = [float(grammar.draw(seed).constants[-1]) for seed in range(1_500)]
    assert (min(drawn), max(drawn)) == (-2, 6)
    assert abs(np.mean(drawn) - 2) < 0.4
    assert 100 < len(set(drawn)) <= 256  # a bounded pool: bitsets are costly


@pytest.mark.parametrize(
    ("low", "high", "most"),
    [(1, 4, 4), (0, 1e6, 5), (-1e-7, 1e-7, 5), (0.123456789, 0.2, 9), (1e9, 1e9 + 1, 13), (0, 1e300, 17),
     (0, 1e-300, 17), (1e15, 1e15 + 64, 17)],
)  # fmt: skip
def test_random_constants_have_few_digits_and_stay_apart(low, high, most):
    grammar = Grammar.parse(f"A ::= F(x3 < random({low!r}, {high!r}))", SCHEMA)
    drawn = np.unique([float(grammar.draw(seed).constants[-1]) for seed in range(3_000)])
    gaps = np.diff(drawn) / ((high - low) / 255)
    assert low <= drawn.min()
    assert drawn.max() <= high
    assert len(drawn) > 240
    assert gaps.min() > 0.5
    assert max(len(f"{abs(n)!r}".partition("e")[0].replace(".", "").strip("0")) for n in drawn.tolist()) <= most


@pytest.mark.parametrize(("low", "high"), [(2, 2), (-1e308, 1e308), (1, np.nextafter(1, 2))])
def test_random_constants_of_odd_ranges_are_in_them(low, high):
    grammar = Grammar.parse(f"A ::= F(x3 < random({low!r}, {float(high)!r}))", SCHEMA)
    assert all(low <= grammar.draw(seed).constants[-1] <= high for seed in range(100))


def test_a_random_constant_near_zero_is_zero_without_a_sign():
    grammar = Grammar.parse("A ::= F(x3 < random(-127.0001, 128))", SCHEMA)
    drawn = {str(grammar.draw(seed)) for seed in range(3_000)}
    assert "F(x3 < 0)" in drawn
    assert "F(x3 < -0)" not in drawn


# decoding


def test_codons_read_by_hand():
    # Start: F G; VB: x1, x2, and, <; VR: x3 x4; C: 1 … 5. Depth first, one codon a choice.
    assert str(PAPERS.decode([0, 0])) == "F(x1)"
    assert str(PAPERS.decode([7, 5])) == "G(x2)"  # 7 mod 2, 5 mod 4
    assert str(PAPERS.decode([0, 2, 0, 3, 1, 4])) == "F(x1 ∧ (x4 < 5))"
    assert str(PAPERS.decode([0, 2, 3, 0, 6, 1])) == "F((x3 < 2) ∧ x2)"  # 6 mod 5
    assert str(PAPERS.decode([1, 1, 99, 99])) == "G(x2)"  # what is left over is not read


def test_codons_are_read_again_when_they_run_out():
    assert str(PAPERS.decode([0, 3])) == "F(x3 < 4)"  # 0 3 0 3
    assert PAPERS.decode([0, 3], wraps=0) is None
    assert str(PAPERS.decode([0, 3], wraps=1)) == "F(x3 < 4)"
    assert PAPERS.decode([2], wraps=50, max_depth=6) is None  # F(((… ∧ …) ∧ …) ∧ …) for ever
    assert str(PAPERS.decode([0])) == "F(x1)"
    assert PAPERS.decode([0], wraps=0) is None


def test_codons_that_lead_too_deep_say_nothing():
    deep = [0, 2, 2, 2, 0, 0, 0, 0]
    assert str(PAPERS.decode(deep, max_depth=4)) == "F(((x1 ∧ x1) ∧ x1) ∧ x1)"
    assert PAPERS.decode(deep, max_depth=3) is None
    assert PAPERS.decode([0, 3, 0, 0], max_depth=1) is None
    with pytest.raises(SettingsError, match="too shallow"):
        PAPERS.decode([0, 0], max_depth=0)


def test_a_codon_is_used_only_where_there_is_a_choice():
    grammar = Grammar.parse("A ::= F(V)\nV ::= x1 and W | x2\nW ::= x3 < C\nC ::= 1 | 2", SCHEMA)
    assert str(grammar.decode([0, 1], wraps=0)) == "F(x1 ∧ (x3 < 2))"
    assert str(GRAMMARS["one formula"].decode([5], wraps=0)) == "F(x1 ∧ x2)"


def test_codons_without_use_are_refused():
    with pytest.raises(SettingsError, match="at least one codon"):
        PAPERS.decode([])
    with pytest.raises(SettingsError, match="use a grid"):
        RANDOM.decode([1, 2, 3])


def read(grammar, codons, wraps):
    """Grammatical evolution in plain Python; None if the codons run out."""
    tape = iter(list(codons) * (wraps + 1))
    rules = []

    def expand(symbol):
        own = [r for r, rule in enumerate(grammar.rules) if rule.symbol == symbol]
        weights = [Fraction(grammar.rules[r].weight).limit_denominator(10_000) for r in own]
        whole = lcm(*(weight.denominator for weight in weights))
        lots = [r for r, weight in zip(own, weights, strict=True) for _ in range(int(weight * whole))]
        rules.append(lots[next(tape) % len(lots)] if len(lots) > 1 else lots[0])
        for hole in grammar.rules[rules[-1]].holes:
            expand(hole)

    try:
        expand(grammar.start)
    except StopIteration:
        return None
    return rules


@given(
    st.sampled_from(list(GRAMMARS.values())),
    st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=12),
    st.integers(0, 3),
    st.integers(0, 4),
)
def test_decoding_agrees_with_a_plain_reading(grammar, codons, wraps, extra):
    depth = least_depth(grammar) + extra
    expected = read(grammar, codons, wraps)
    found = grammar.decode(codons, wraps=wraps, max_depth=depth)
    if expected is None or Derivation(grammar, expected).depth > depth:
        assert found is None
    else:
        assert found is not None
        assert found.rules.tolist() == expected
        check(found)


# odd settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((-1,), "seed must be a whole number of at least 0, got -1"),
        ((2**64,), "seed must be"),
        ((1.5,), "seed must be"),
        ((True,), "seed must be"),
        ((1, 1.5), "max_depth must be a whole number, got 1.5"),
        ((1, -1), "max_depth=-1 is too shallow"),
    ],
)
def test_senseless_draws_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        PAPERS.draw(*settings)


@pytest.mark.parametrize(
    ("codons", "settings", "message"),
    [
        ([0, 2**40], {}, "codon 1 must be a whole number of at most 2,147,483,647, got 1099511627776"),
        ([-1], {}, "codon 0 must be"),
        ([1.5], {}, "codon 0 must be"),
        (np.array([0.0, 1.0]), {}, "codon 0 must be"),
        ("ab", {}, "codon 0 must be"),
        (5, {}, "codons must be a list of whole numbers, got 5"),
        ([0], {"wraps": -1}, "wraps must be a whole number of at least 0"),
        ([0], {"wraps": 1.5}, "wraps must be"),
        ([0], {"max_depth": "6"}, "max_depth must be"),
    ],
)
def test_senseless_codons_are_refused(codons, settings, message):
    with pytest.raises(SettingsError, match=message):
        PAPERS.decode(codons, **settings)


def test_codons_may_be_an_array():
    assert PAPERS.decode(np.array([0, 0], np.uint8)) == PAPERS.decode([0, 0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("grammar", [*GRAMMARS.values(), RANDOM])
def test_depth_without_a_limit_costs_nothing(grammar):
    assert str(grammar.draw(1, 20_000))
    assert str(grammar.draw(1, 10**30))
    if grammar is not RANDOM:
        assert grammar.decode([0, 1], max_depth=10**9) == grammar.decode([0, 1], max_depth=1_000)


def test_a_grammar_is_its_own_copy():
    assert copy.copy(PAPERS) is PAPERS
    assert copy.deepcopy([PAPERS])[0] is PAPERS


def test_the_rarest_alternative_can_be_decoded():
    """However small its share: weights multiply from group to group."""
    text = "x1"
    for _ in range(40):
        text = f"({text} @0.000001 | x2 @1000000)"
    grammar = Grammar.parse(f"A ::= F({text})", SCHEMA)
    assert set(grammar.tables.lot.tolist()) == set(range(len(grammar.rules)))


def test_thousands_of_alternatives_have_one_lot_each():
    constants = ", ".join(map(str, range(5_000)))
    grammar = Grammar.parse(f"A ::= F(x3 < [{constants}])", SCHEMA)
    assert str(grammar.decode([4_999])) == "F(x3 < 4999)"
    assert grammar.decode([5_000]) == grammar.decode([0])


@pytest.mark.parametrize(
    ("text", "widths"),
    [
        ("A ::= F(V)\nV ::= x1 | not not not V", {1: 2, 3: 2, 4: 3, 6: 3, 7: 4, 31: 12}),
        ("A ::= F(V)\nV ::= x1 | V and V", {1: 2, 2: 4, 3: 8, 20: 256}),
        ("A ::= F(x1) | F(V and V)\nV ::= x1 | x2", {1: 1, 2: 3, 50: 3}),
        ("A ::= F(V)\nV ::= x1 | not V | not not not not not (V and V)", {2: 3, 6: 7, 7: 8}),
    ],
)
def test_the_longest_derivation_of_a_depth_is_known(text, widths):
    grammar = Grammar.parse(text, SCHEMA)
    assert {depth: grammar.width(depth) - 1 for depth in widths} == widths  # a place is kept after the last rule


def test_no_derivation_is_longer_than_the_width_of_its_depth():
    grammar = Grammar.parse("A ::= F(V)\nV ::= x1 | not V | not not not not not (V and V)", SCHEMA)
    for depth in range(1, 12):
        drawn = [len(grammar.draw(seed, max_depth=depth).rules) for seed in range(200)]
        assert max(drawn) < grammar.width(depth)
