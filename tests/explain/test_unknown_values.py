"""Categories where answers may be unknown: what is told of them is judged by three-valued truth."""

import random
import re
from itertools import count

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.engine.test_three_valued import has_absolute_count
from tests.support import oracle, three_valued
from tests.support.class_trees import class_tree
from tests.support.effort import few_fast
from tests.support.oracle_form import judged
from tests.support.random_trees import PlainFormulas, leaf
from tests.support.strategies import Case, Column
from tests.support.three_valued import FALSE, TRUE, UNKNOWN
from tests.tree.test_unknown_values import draw, grown

from telltree import Formula, GrammarTreeClassifier, Panel
from telltree.engine.three_valued import resolve_unknown
from telltree.english import plain
from telltree.english.tokens import UNLESS, mentions_missing_values
from telltree.explain import categories_text, categorize, outline, rules_table
from telltree.explain.headlines import with_headlines
from telltree.proportions import wilson
from telltree.search import MonteCarlo
from telltree.tree import Node
from telltree.tree.tree import Unknown

COLUMNS = (
    Column("x", "real"), Column("y", "real"), Column("b", "Boolean"), Column("c", "categorical", ("up", "down"))
)  # fmt: skip
LEAF_BY_LEAF = ("yes", "no")


def answers(formula, case):
    """Three-valued, by the judge."""
    expression = judged(formula.expression)
    return np.array([three_valued.truth(expression, record, {}) for record in case.records])


def random_case(rng, records=40):
    """Records of one to five steps, with gaps."""
    values = {
        "x": lambda: round(rng.gauss(0, 1), 2), "y": lambda: round(rng.gauss(0, 1), 2), "b": lambda: rng.random() < 0.5,
        "c": lambda: rng.choice(("up", "down")),
    }  # fmt: skip
    drawn = []
    for _ in range(records):
        steps = rng.randint(1, 5)
        drawn.append({k: [None if rng.random() < 0.15 else v() for _ in range(steps)] for k, v in values.items()})
    return Case(COLUMNS, tuple(drawn))


def drawn_question(rng):
    """One that has bounds."""
    draws = (PlainFormulas(rng, COLUMNS).boolean(rng.randint(1, 3)) for _ in count())
    return next(formula for formula in draws if not has_absolute_count(formula))


def random_tree(rng, case, depth=2):
    """A tree of random questions, unknown answers to which go either way, and the leaf of each record by the judge."""
    labels = np.array([rng.choice(LEAF_BY_LEAF) for _ in case.records])
    clusters, number = np.zeros(len(labels), int), iter(range(1, 99))

    def grow(here, depth):
        if not depth or here.sum() < 6:
            clusters[here] = next(number)
            return leaf([int(np.sum(labels[here] == name)) for name in LEAF_BY_LEAF])
        drawn = Formula.parse(oracle.text(drawn_question(rng), rng), case.panel.schema)
        said = Formula(plain(drawn.expression, ()))
        found, goes = answers(said, case), rng.random() < 0.5
        yes = (found == TRUE) | ((found == UNKNOWN) & goes)
        if not (here & yes).any() or not (here & ~yes).any():
            return grow(here, depth - 1)
        unknown = Unknown(said, goes, int((here & (found == UNKNOWN)).sum()))
        sides = grow(here & yes, depth - 1), grow(here & ~yes, depth - 1)
        return Node(Formula(resolve_unknown(said.expression, goes)), *sides, unknown=unknown)

    root = grow(np.ones(len(labels), bool), depth)
    missing = frozenset(name for name, gaps in case.panel.missing().items() if gaps)
    return class_tree(root, LEAF_BY_LEAF, case.panel.schema, missing), labels, clusters


def assert_true_of_members(text, case, members, found, answer):
    """A sentence reads back as true of all members; it is a fact only where the judge knows all their answers."""
    assert Formula.from_english(text, case.panel.schema)(case.panel)[members].all(), text
    known = TRUE if answer else FALSE
    assert set(found[members].tolist()) <= {known, UNKNOWN}
    if UNKNOWN in found[members]:
        assert text.startswith(UNLESS) or mentions_missing_values(text), text


def path_of(tree, number):
    return [branch.node for branch in tree.leaves[number - 1][1]]


@pytest.mark.parametrize("seed", few_fast(range(8), 2))
def test_random_categories_are_told_as_the_judge_sees_them(seed):
    rng, told, open_ones = random.Random(seed), 0, 0
    for _ in range(8):
        case = random_case(rng)
        tree, labels, clusters = random_tree(rng, case)
        tree = with_headlines(tree, case.panel)
        for category in categorize(tree, case.panel, labels):
            members = np.flatnonzero(clusters == category.number)
            assert_array_equal(category.positions, members)
            if category.branches:
                read = Formula.from_english(category.english, tree.schema)
                assert_array_equal(read(case.panel), clusters == category.number, category.english)
            path = path_of(tree, category.number)
            met = [answers(node.shown, case) == UNKNOWN for node in path]
            unknown = np.logical_or.reduce([*met, np.zeros(len(clusters), bool)])
            assert category.unknown == unknown[members].sum()
            open_ones += category.unknown
            for sentence, (_, answer), node in zip(category.steps, category.branches, path, strict=True):
                assert_true_of_members(sentence, case, members, answers(node.shown, case), answer)
                told += sentence.startswith(UNLESS)
            if category.open and category.open[-1] is not None:  # the last branch is this category's own
                assert category.open[-1] == (met[-1][members].sum(), len(members))
            assert category.share == np.mean(labels[members] == category.label)
            assert category.interval == pytest.approx(wilson(category.share, len(members)))
            headline = tree.leaves[category.number - 1][0].headline
            if headline is not None:
                found = answers(headline.formula, case)
                assert (found[members] == TRUE).sum() == len(members) - headline.missed
                assert (np.delete(found, members) == TRUE).sum() == headline.others
    assert told > 5
    assert open_ones > 20


def gappy():
    """x is known to stay above 2.5 in a third of the first class only; the others have gaps."""
    rng = np.random.default_rng(0)
    records = []
    for k in range(38):
        x = rng.uniform(3, 5, 6) if k < 30 else rng.uniform(0, 2, 6)
        if k < 20:
            x[rng.integers(6)] = np.nan
        records.append(x[:, None])
    return Panel.from_arrays(records, columns=["x"]), np.array(["high"] * 30 + ["low"] * 8)


@pytest.fixture(scope="module")
def model():
    panel, y = gappy()
    return GrammarTreeClassifier(
        "S ::= F(x < 2.5)", MonteCarlo(evaluations=5), missing="unknown", random_state=0, max_depth=1
    ).fit(panel, y)


def test_what_is_unknown_of_members_is_not_told_as_a_fact(model):
    panel, y = gappy()
    high = next(c for c in model.categories(panel, y) if c.label == "high")
    assert high.english == f"{UNLESS}, x is always at least 2.5"
    assert high.unknown == 20
    assert "(30 records, 78.9 %; high: 30; missing values leave answers open for 20 of them)" in str(high)
    assert "never below" not in str(high)
    assert high.headline is None or not high.headline.startswith("x is always at least 2.5 (all")
    whole = categories_text(model.categories(panel, y))
    assert "missing values leave answers open for 20 of them" in whole


def test_groups_count_what_is_open_where_it_is_told():
    case, labels = draw(gaps=0.25)
    tree = grown(case, labels).tree_
    text = categories_text(categorize(tree, case.panel, labels))
    for node in tree.nodes:
        side = node.true if node.unknown.is_true else node.false
        if node.unknown.records:
            assert f"(open for {node.unknown.records} of {side.summary.support} records)" in text


def test_rules_and_weighted_shares_count_records(model):
    panel, y = gappy()
    rules = rules_table(model.tree_)
    assert any(row.english == f"{UNLESS}, x is always at least 2.5" for row in rules)
    weights = np.where(y == "low", 4.0, 0.5)
    weighted = GrammarTreeClassifier(
        "S ::= F(x < 2.5) | F(x < 4)", MonteCarlo(evaluations=9), missing="unknown", random_state=0, max_depth=2
    ).fit(panel, y, sample_weight=weights)
    clusters = weighted.apply(panel)
    for row in weighted.rules():
        here = clusters == row.cluster
        assert row.support == here.sum()
        assert row.share == np.mean(y[here] == row.label)
        assert (row.low, row.high) == pytest.approx(wilson(row.share, row.support))
        share = weights[here & (y == row.label)].sum() / weights[here].sum()
        assert row.weighted is None or row.weighted == pytest.approx(share, abs=1e-4)


def test_without_gaps_nothing_is_left_open(model):
    panel, y = gappy()
    whole = [i for i in range(38) if not np.isnan(panel.values("x", i)).any()]
    for category in model.categories(panel[whole], y[whole]):
        assert UNLESS not in category.english
        assert category.unknown == 0
        assert not any(category.open)


@pytest.mark.parametrize(
    "text", ["{u}, x is never below 2", "at some point y is above 1; and, {u}: x is never below 2"]
)
def test_what_may_be_open_is_read_back(text):
    panel = Panel.from_arrays([np.array([[3.0, 2.0], [np.nan, 0.0]]), np.array([[1.0, 2.0]])], columns=["x", "y"])
    assert Formula.from_english(text.format(u=UNLESS), panel.schema)(panel).tolist() == [True, False]
    existence = Formula.from_english(f"{UNLESS}, at some point x is below 2", panel.schema)
    assert existence(panel).tolist() == [True, True]
    assert re.match(r".*missing", str(existence))
    quoted = Panel.from_arrays([np.array([[1.0]])], columns=[f"; {UNLESS}, y"])
    said = f'at some point "; {UNLESS}, y" is below 2'
    assert Formula.from_english(said, quoted.schema)(quoted).tolist() == [True]


def test_a_question_that_asks_what_is_missing_says_so():
    tree = grown(*draw(gaps=0.25)).tree_
    assert any("missing(" in str(node.shown) for node in tree.nodes)
    assert "it is never so" not in outline(tree)


@pytest.mark.parametrize(("subject", "size"), [("x", 1.0), ("x minus 0.5", 0.5)])
def test_either_of_two_numbers_or_missing_allows_missing_values(subject, size):
    panel = Panel.from_arrays([np.array([[value]]) for value in (np.nan, 1.0, 7.0)], columns=["x"])
    text = f"at some point {subject} is either exactly −{size}, exactly {size} or missing"
    assert Formula.from_english(text, panel.schema)(panel).tolist() == [True, True, False]
