"""Categories partition the records, and each is the set that its description selects."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import examples
from tests.support.strategies import FUNCTIONS, RandomFormulas, draw_case, draw_columns

from telltree.engine import Formula
from telltree.english import repeats
from telltree.errors import DataError
from telltree.estimators import GrammarTreeClassifier
from telltree.explain import categories, categories_text, categorize, outline, rules_table, rules_text, sentence
from telltree.explain.category_text import grouped, groups_text
from telltree.models.export import export_model
from telltree.panel import Column, Panel, Schema
from telltree.search import MonteCarlo
from telltree.tree import Node

SCHEMA = Schema([Column("x", "real", unit="m", phrase="height"), Column("a", "Boolean", phrase="it rains")])


def panel(*records, ids=None):
    arrays = [np.array(record, dtype=object) for record in records]
    overrides = {"x": {"type": "real"}, "a": {"type": "Boolean"}}
    return Panel.from_arrays(arrays, columns=["x", "a"], schema=overrides, ids=ids)


PANEL = panel([[1.0, True]], [[3.0, True], [2.0, False]], [[9.0, False]], [[5.0, True]], ids=["p", "q", "r", "s"])


def leaf(*counts):
    return class_leaf(counts, tuple(map(float, counts)))


def node(text, true, false, schema=SCHEMA):
    return Node(Formula.parse(text, schema, functions=FUNCTIONS), true, false)


@pytest.fixture
def tree():
    low = node("F(x < 2)", leaf(3, 0), leaf(1, 1))
    return class_tree(node("F(x < 4)", low, leaf(0, 2)), classes=("calm", "storm"), schema=SCHEMA)


@pytest.mark.parametrize(
    ("counts", "title", "hits"),
    [
        ((5, 5, 0), "mixed: calm or storm", "5 and 5 of 10 records"),
        ((5, 6, 0), "mixed: storm or calm", "6 and 5 of 11 records"),
        ((55, 45, 0), "mixed: calm or storm", "55 and 45 of 100 records"),
        ((56, 44, 0), "calm", "56 of 100 records"),
        ((3, 2, 0), "calm", "3 of 5 records"),
        ((1, 0, 0), "calm", "1 of 1 record"),
        ((1, 1, 1), "mixed: calm, storm or hail", "1, 1 and 1 of 3 records"),
        ((4, 2, 4), "mixed: calm or hail", "4 and 4 of 10 records"),
    ],
)
def test_a_category_of_classes_that_hardly_differ_in_number_is_mixed(counts, title, hits):
    root = node("F(x < 4)", leaf(*counts), leaf(0, 0, 9))
    tree = class_tree(root, classes=("calm", "storm", "hail"), schema=SCHEMA)
    first, second = categorize(tree, PANEL)
    assert (first.title, second.title) == (title, "hail")
    assert first.label == ("storm" if counts[1] > counts[0] else "calm")
    assert str(first).startswith(f"[1] {title}  (")
    assert f"[1] {title}: {hits}" in outline(tree)
    rows = rules_table(tree)
    assert (rows[0].title, rows[0].label) == (title, first.label)
    assert title in rules_text(rows)
    for text in ("markdown", "csv", "json", "dot"):
        assert title in export_model(tree, text)


def test_of_many_classes_that_tie_a_few_are_named():
    tree = class_tree(node("F(x < 4)", leaf(2, 2, 2, 2, 2), leaf(0, 0, 0, 0, 1)), classes="abcde", schema=SCHEMA)
    assert categorize(tree, PANEL)[0].title == "mixed: a, b or 3 others"
    assert "mixed: a, b or 3 others: 2, 2 and 6 of 10 records" in outline(tree)


def test_weights_decide_what_is_mixed():
    even = class_leaf((1, 9), (4.5, 4.5))
    one = class_leaf((5, 5), (1.0, 5.0))
    tree = class_tree(node("F(x < 4)", even, one), classes=("calm", "storm"), schema=SCHEMA)
    assert [category.title for category in categorize(tree, PANEL)] == ["mixed: calm or storm", "storm"]


def test_the_fields_of_categories(tree):
    first, second, third = categorize(tree, PANEL, ["calm", "storm", "storm", "calm"])
    assert [first.number, second.number, third.number] == [1, 2, 3]
    assert [first.label, second.label, third.label] == ["calm", "calm", "storm"]
    assert third.members.tolist() == ["r", "s"]
    assert third.positions.tolist() == [2, 3]
    assert third.counts == {"calm": 1, "storm": 1}
    assert (third.purity, third.coverage) == (0.5, 0.5)
    assert second.counts == {"storm": 1}
    assert second.description == "F(x < 4) ∧ ¬F(x < 2)"
    assert second.branches == tree.leaves[1][1]
    assert str(second.formula) == second.description


def test_english_leaves_out_what_follows_and_the_description_does_not(tree):
    first, second, _ = categorize(tree, PANEL)
    assert first.description == "F(x < 4) ∧ F(x < 2)"
    assert first.english == "at some point height is below 2 m"
    assert second.english == "at some point height is below 4 m, and height is always at least 2 m"


def test_english_speaks_of_missing_values_where_the_panel_has_them():
    tree = class_tree(node("G(not x < 2)", leaf(1, 0), leaf(0, 1)), (0, 1), SCHEMA)
    known = "height is always at least 2 m"
    may_be_missing = "height is never below 2 m"
    assert categorize(tree, PANEL)[0].english == known
    assert categorize(tree, panel([[None, True]]))[0].english == may_be_missing
    assert categorize(tree, PANEL, missing={"x"})[0].english == may_be_missing
    assert sentence(tree.leaves[0][1], SCHEMA) == may_be_missing


def test_a_single_leaf_is_true_of_every_record():
    (only,) = categorize(class_tree(leaf(2, 1), ("calm", "storm"), SCHEMA), PANEL)
    assert only.description == "true"
    assert only.english == "every record"
    assert only.formula is None
    assert only.coverage == 1.0
    assert only.purity is None


def test_an_empty_category_is_there(tree):
    first, *_ = categorize(tree, PANEL[[2]], ["storm"])
    assert (len(first.members), first.counts, first.purity, first.coverage) == (0, {}, None, 0.0)


def test_no_records_at_all():
    (only,) = categorize(class_tree(leaf(2, 1), ("calm", "storm"), SCHEMA), PANEL[[]], [])
    assert only.coverage == 0.0


def test_labels_the_tree_does_not_know(tree):
    third = categorize(tree, PANEL, ["calm", "calm", "fog", "storm"])[2]
    assert third.counts == {"storm": 1, "fog": 1}


@pytest.mark.parametrize("y", [["calm"], [["calm"]] * 4, "calm"])
def test_labels_that_do_not_fit(tree, y):
    with pytest.raises(DataError, match=r"got 1 label for 4 records|one-dimensional, one per record; got shape"):
        categorize(tree, PANEL, y)


def test_text(tree):
    categories = categorize(tree, PANEL, ["calm", "storm", "storm", "calm"])
    assert str(categories[1]) == (
        "[2] mixed: calm or storm  (1 record, 25.0 %; storm: 1)\n"
        "    at some point height is below 4 m, and height is always at least 2 m\n"
        "    F(x < 4) ∧ ¬F(x < 2)"
    )
    first, second = (
        "[1] and [2] share: at some point height is below 4 m\n"
        "    F(x < 4)\n"
        "  [1] calm  (1 record, 25.0 %; calm: 1)\n"
        "      unlike [2]: at some point height is below 2 m\n"
        "      F(x < 2)\n"
        "  [2] mixed: calm or storm  (1 record, 25.0 %; storm: 1)\n"
        "      unlike [1]: height is always at least 2 m\n"
        "      ¬F(x < 2)",
        "[3] storm  (2 records, 50.0 %; calm: 1, storm: 1)\n    height is always at least 4 m\n    ¬F(x < 4)",
    )
    assert categories_text(categories) == str(categories) == f"{first}\n\n{second}"


def test_columns_are_found_by_name(tree):
    other = PANEL.select(["a", "x"])
    assert [c.members.tolist() for c in categorize(tree, other)] == [["p"], ["q"], ["r", "s"]]


def draw_tree(rng, draw, schema, depth):
    if depth == 0 or rng.random() < 0.2:
        return leaf(rng.randint(0, 5), rng.randint(1, 5))
    text = oracle.text(draw.boolean(rng.randint(1, 3)), rng)
    true, false = (draw_tree(rng, draw, schema, depth - 1) for _ in range(2))
    return node(text, true, false, schema)


@examples(80)
@given(st.integers(0, 2**32))
def test_clusters_partition_the_records_as_described(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    records = draw_case(rng, columns, [rng.randint(1, 5) for _ in range(rng.randint(1, 70))]).panel
    tree = class_tree(draw_tree(rng, RandomFormulas(rng, columns), records.schema, 3), ("no", "yes"), records.schema)
    categories = categorize(tree, records, [rng.choice(("no", "yes")) for _ in range(len(records))])
    assert sorted(np.concatenate([c.positions for c in categories]).tolist()) == list(range(len(records)))
    assert sum(c.coverage for c in categories) == pytest.approx(1.0)
    for category in categories:
        assert sum(category.counts.values()) == len(category.positions)
        assert category.english
        selected = np.ones(len(records), bool)
        if category.description != "true":
            parsed = Formula.parse(category.description, records.schema, functions=FUNCTIONS)
            assert parsed.expression == category.formula
            selected = parsed(records)
        assert np.flatnonzero(selected).tolist() == category.positions.tolist()


def test_coverage_is_not_rounded_to_all():
    arrays = [np.array([[float(i > 0)]]) for i in range(10_000)]
    many = Panel.from_arrays(arrays, columns=["x"])
    tree = class_tree(node("F(x > 0.5)", leaf(1, 0), leaf(0, 1), many.schema), ("calm", "storm"), many.schema)
    most, one = categorize(tree, many)
    assert "9,999 records, > 99.9 %" in str(most)
    assert "1 record, < 0.1 %" in str(one)


def test_leaves_of_the_only_question_share_nothing():
    tree = class_tree(node("F(x < 4)", leaf(3, 0), leaf(0, 2)), classes=("calm", "storm"), schema=SCHEMA)
    categories = categorize(tree, PANEL)
    assert [len(group) for group in grouped(categories)] == [1, 1]
    assert "share" not in str(categories)


def test_groups_are_pairs_of_leaves_of_one_question():
    """Seven leaves; two leaves of one last question are siblings, whatever their formulas."""
    same = "F(x < 2)"
    left = node(same, leaf(1, 0), node(same, leaf(1, 0), leaf(0, 1)))
    right = node(same, node("F(a)", leaf(1, 0), leaf(0, 1)), node("F(a)", leaf(1, 0), leaf(0, 1)))
    tree = class_tree(node("F(x < 4)", left, right), ("calm", "storm"), SCHEMA)
    groups = [[category.number for category in group] for group in grouped(categorize(tree, PANEL))]
    assert groups == [[1], [2, 3], [4, 5], [6, 7]]


def test_a_headline_that_is_the_whole_sentence_is_said_once(tree):
    told = replace(categorize(tree, PANEL)[2].as_text, headline="height is always at least 4 m (all of its members)")
    assert told.alone().count("height is always at least 4 m") == 1
    assert "exactly" not in told.alone()


def test_notebooks_show_groups_and_fold_whole_sentences_away(tree):
    hostile = class_tree(tree.root, ("<b>calm", "storm"), tree.schema)
    page = categorize(hostile, PANEL)._repr_html_()
    assert page.count("share: at some point height is below 4 m") == 1
    assert page.count("<details>") == 3
    assert "unlike [2]: at some point height is below 2 m" in page
    assert "<b>calm" not in page


def chain():
    """Four categories: each question is asked of the records for which the last one was true."""
    deep = node("F(x < 2)", node("F(a)", leaf(1, 0), leaf(0, 1)), leaf(1, 0))
    return class_tree(node("F(x < 4)", deep, leaf(0, 2)), classes=("calm", "storm"), schema=SCHEMA)


def test_what_several_share_is_said_once_at_every_level():
    text = str(categorize(chain(), PANEL))
    lines = [line for line in text.splitlines() if "share: " in line or "unlike " in line]
    assert [line.split(": ")[0] for line in lines] == [
        "[1] to [3] share", "  [1] and [2] also share", "        unlike [2]", "        unlike [1]",
        "      unlike [1] and [2]",
    ]  # fmt: skip
    assert text.count("height is below 4 m") == text.count("height is below 2 m") == 1


def test_some_categories_of_a_tree_stand_alone():
    categories = categorize(chain(), PANEL)
    assert "share" not in categories_text(categories[1:])
    assert categories_text(categories[:1]) == str(categories[0])


def test_what_sets_a_category_apart_is_said_once_with_its_headline():
    told = categorize(chain(), PANEL)[2].as_text
    apart = told.steps[-1].english
    beside = replace(told, headline=f"{apart} (all of its members)").unlike("[1] and [2]")
    assert beside.count(apart) == 1
    assert f"unlike [1] and [2]: {apart} (all of its members)" in beside


def test_a_headline_that_repeats_a_line_with_other_digits_is_left_out(tree):
    told = categorize(tree, PANEL)[2].as_text
    assert told.whole.english == "height is always at least 4 m"
    near = replace(told, headline="height is always at least 4.1 m (all of its members)")
    assert near.alone() == replace(told, headline=None).alone()
    far = replace(told, headline="height is always at least 3 m (all of its members)")
    assert "at least 3 m (all" in far.alone()
    beside = categorize(tree, PANEL)[1].as_text
    near = replace(beside, headline="height is always at least 2.05 m (all of its members)")
    assert near.unlike("[1]") == replace(beside, headline=None).unlike("[1]")
    above = replace(beside, headline="at some point height is below 4.01 m (all of its members)")
    assert above.without_shared_headline.headline is None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("x is above 750 ft", "x is above 752 ft", True),
        ("x is above 750 ft", "x is above 752 m", False),
        ("x is above 750 ft", "x is above 800 ft", False),
        ("x1 is above 2", "x2 is above 2", False),
        ("x is above −750 ft", "x is above 750 ft", False),
        ("x is above 1,500 ft", "x is above 1505.5 ft", True),
        ("x is above 0", "x is above 0.1", False),
        ("on is true", "on is true", True),
    ],
)
def test_sentences_that_repeat_each_other(one, other, expected):
    assert repeats(one, other) is repeats(other, one) is expected


def test_a_headline_that_others_share_is_not_repeated():
    told = [category.as_text for category in categorize(chain(), PANEL)]
    shared = told[2].steps[0].english
    told[2] = replace(told[2], headline=f"{shared} (all of its members)")
    assert groups_text(told).count(shared) == 1
    assert "(all of its members)" in told[2].alone()


def test_a_headline_that_follows_from_what_others_share_is_left_out():
    """As where it joins two of the lines above."""
    told = replace(categorize(chain(), PANEL)[0].as_text, headline="in few words (all of its members)")
    assert [str(formula) for formula, _ in told.branches] == ["F(x < 4)", "F(x < 2)", "F(a)"]
    for text, left_out in (("F(x < 4) and F(x < 2)", True), ("F(x < 3)", True), ("F(x < 2) and F(a)", False)):
        claimed = replace(told, claim=Formula.parse(text, SCHEMA))
        assert (claimed.without_shared_headline.headline is None) is left_out, text


def test_what_siblings_share_is_worked_out_once(panel, labels, monkeypatch):
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=300), max_depth=4, random_state=0).fit(panel, labels)
    asked = []
    say = categories.english
    monkeypatch.setattr(categories, "english", lambda e, *args, **options: asked.append(e) or say(e, *args, **options))
    found = model.categories(panel)
    assert len(asked) == len(set(asked))
    assert len(found) > 2
