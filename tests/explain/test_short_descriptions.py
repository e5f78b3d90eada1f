"""Short descriptions, exact of the training records, and questions without what changes no training answer."""

from dataclasses import replace

import numpy as np
import pytest

from tests.support.class_trees import class_tree
from tests.support.effort import few_fast
from tests.support.random_trees import leaf
from tests.support.speech_truth import draw_subject

from telltree import GrammarTreeClassifier, Panel
from telltree.engine import Formula
from telltree.english import simpler_side
from telltree.explain import categorize, rules_table
from telltree.explain.candidates import DecisionPaths, TrainingRecords
from telltree.explain.headlines import short_formulas, with_headlines
from telltree.logic import Expression
from telltree.logic.operators import AND, IMPLIES, NOT, OR
from telltree.search import MonteCarlo
from telltree.tree import GiniSize, Node


def panel_of(*records):
    """Records of columns a, b and c, a row a step."""
    return Panel.from_arrays([np.array(record, dtype=float) for record in records], columns=["a", "b", "c"])


PANEL = panel_of([[2, 2, 2]], [[2, 0, 2]], [[0, 3, 0]], [[0, 0, 0]])


def shortened(tree, panel=PANEL):
    return short_formulas(DecisionPaths(tree), TrainingRecords(tree, panel))


def asked(first, second, panel=PANEL):
    """A tree that asks one question, and a second where the first is false."""
    first, second = (Formula.parse(text, panel.schema) for text in (first, second))
    below = Node(second, leaf((0, 1)), leaf((1, 0)))
    return class_tree(Node(first, leaf((2, 0)), below), ("calm", "storm"), panel.schema, frozenset())


def test_an_answer_that_follows_from_the_others_for_these_records_is_left_out():
    tree = asked("F(a > 1)", "F(b > 2.5)")
    yes, middle, rest = shortened(tree)
    assert yes is None
    assert str(middle) == "F(b > 2.5)"  # no record with a above 1 has it
    assert rest is None


def test_a_tree_that_asks_nothing_has_nothing_to_shorten():
    assert shortened(class_tree(leaf((2, 2)), ("calm", "storm"), PANEL.schema, frozenset())) == [None]


def test_parts_that_decide_nothing_are_left_out():
    tree = asked("F(a > 1 and c > 1)", "F(b > 1)")
    yes, *_ = shortened(tree)
    assert str(yes) in ("F(a > 1)", "F(c > 1)")


def test_a_way_that_speaks_of_no_column_is_described():
    """How many steps a record has can only be written about some column, whichever."""
    panel = panel_of([[2, 2, 2]] * 2, [[2, 0, 2]], [[0, 3, 0]], [[0, 0, 0]])
    tree = asked("count(a > 1 or not a > 1) = 2", "F(b > 2.5)", panel)
    told = [category.english for category in categorize(with_headlines(tree, panel), panel)]
    assert told[0] == "at exactly 2 steps in all, it is always so"
    truth = [Formula.from_english(words, panel.schema)(panel).tolist() for words in told]
    assert truth == [[i == 0 for i in range(4)], [i == 2 for i in range(4)], [i in (1, 3) for i in range(4)]]


def test_constants_have_few_digits():
    tree = asked("F(a > 1.23456 and c > 1.34567)", "F(b > 1)")
    yes, *_ = shortened(tree)
    assert str(yes) in ("F(a > 1.2)", "F(c > 1.3)")


def test_words_of_a_grammar_are_left_alone():
    tree = asked("F(a > 1 and c > 1)", "F(b > 1)")
    with_phrase = Formula(replace(tree.root.formula.expression, english="it is odd"))
    assert shortened(replace(tree, root=replace(tree.root, formula=with_phrase))) == [
        None,
        None,
        None,
    ]


def test_a_description_that_is_false_of_other_records_is_not_told_of_them():
    tree = with_headlines(asked("F(a > 1)", "F(b > 2.5)"), PANEL)
    here = categorize(tree, PANEL)[1]
    assert here.short == "at some point b is above 2.5"
    assert here.english == "a is always at most 1, and at some point b is above 2.5"
    other = panel_of([[2, 3, 0]], [[0, 3, 0]])  # the first is of category 1, and the description is true of it
    there = categorize(tree, other)[1]
    assert there.positions.tolist() == [1]
    assert there.short == there.english == here.english
    assert rules_table(tree)[1].short == here.short


def test_a_category_alone_says_of_which_records_its_description_is_exact():
    tree = with_headlines(asked("F(a > 1)", "F(b > 2.5)"), PANEL)
    told = replace(categorize(tree, PANEL)[1].as_text, headline=None)
    assert "    on these 4 records: at some point b is above 2.5\n" in told.alone()
    assert "exactly" not in told.alone()
    assert "    exactly: a is always at most 1, and at some point b is above 2.5\n" in told.alone(whole=True)


@pytest.mark.parametrize("seed", few_fast(range(0, 24, 2), 2))
def test_random_trees_are_described_to_the_record(seed):
    subject = draw_subject(seed)
    tree, panel = subject.tree, subject.case.panel[[i for i, weight in enumerate(subject.weights) if weight]]
    clusters = tree.apply(panel)
    for number, (short, (_, branches)) in enumerate(zip(shortened(tree, panel), tree.leaves, strict=True), 1):
        if short is not None:
            assert short(panel).tolist() == (clusters == number).tolist()
            whole = [
                f.expression if true else Formula.parse(f"not ({f})", tree.schema).expression for f, true in branches
            ]
            assert len(tree.sentence(short.expression).split()) <= 0.8 * len(tree.sentence(*whole).split())


GRAMMAR = """
S ::= F(B) | G(B)
B ::= B and B | B or B | not B | B implies B | a {<, >} [0.2, 0.4, 0.6, 0.8] | b {<, >} [0.2, 0.5, 0.8] | c
"""


def learned(seed):
    """A tree whose search is charged next to nothing for long formulas, and its records."""
    rng = np.random.default_rng(seed)
    arrays = [np.array([rng.random(4), rng.random(4), rng.random(4) < 0.3], dtype=object).T for _ in range(60)]
    panel = Panel.from_arrays(arrays, columns=["a", "b", "c"])
    labels = [bool((array[:, 0] > 0.7).any() and array[:, 2].any()) for array in arrays]
    settings = {"criterion": GiniSize(w2=1e-6), "max_depth": 2, "min_samples_leaf": 1, "cv": None}
    return GrammarTreeClassifier(GRAMMAR, MonteCarlo(evaluations=400), random_state=seed, **settings).fit(
        panel, labels
    ), panel


def with_records(node, panel):
    """The questions of a tree, each with the records that come to it."""
    if isinstance(node, Node):
        yield node, panel
        truth = node.formula(panel)
        yield from with_records(node.true, panel[np.flatnonzero(truth)])
        yield from with_records(node.false, panel[np.flatnonzero(~truth)])


def without_a_part(e):
    """The expression without an operand of one of its connectives, in every way."""
    if e.head in (AND, OR, IMPLIES):
        yield e.args[1]
        yield e.args[0] if e.head is not IMPLIES else Expression(NOT, (e.args[0],))
    for i, arg in enumerate(e.args):
        for left in without_a_part(arg):
            yield replace(e, args=(*e.args[:i], left, *e.args[i + 1 :]))


def test_what_changes_no_training_answer_is_not_kept_and_what_was_found_is():
    shortened = 0
    for seed in range(8):
        model, panel = learned(seed)
        for node, here in with_records(model.tree_.root, panel):
            truth = node.formula(here)
            if node.found is not None:
                assert len({*(node.found(here) == truth)}) == 1  # the same split, the same way round or the other
                shortened += node.found.expression.terminals > node.formula.expression.terminals
            for shorter in without_a_part(node.formula.expression):
                assert (Formula(shorter)(here) != truth).any(), f"{node.formula} says no more than {shorter}"
    assert shortened > 4


def test_of_a_split_and_its_complement_the_plainer_is_the_question():
    for seed in range(8):
        tree = learned(seed)[0].tree_
        for node in tree.nodes:
            asked, turned = simpler_side(node.formula.expression, tree.missing)
            assert not turned, f"{node.formula} would be plainer as {asked}"
