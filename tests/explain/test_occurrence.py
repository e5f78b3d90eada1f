"""How often the condition of a sentence occurs is told, and rules that seldom apply are no headlines."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.support.class_trees import class_leaf, class_tree

from telltree import Formula, GrammarTreeClassifier, Panel, export_model, load
from telltree.cli.app import app
from telltree.english import conditions, term_of
from telltree.explain import categorize, rules_table
from telltree.explain.evidence import path_of
from telltree.explain.headlines import with_headlines
from telltree.explain.occurrence import Occurrence
from telltree.panel import Column, Schema
from telltree.search import MonteCarlo
from telltree.tree import Node

SCHEMA = Schema([
    Column("x", "real"), Column("y", "real"), Column("on", "Boolean"),
    Column("origin", "categorical", levels=("EWR", "JFK")),
])  # fmt: skip


def given(text, step=None):
    term = term_of(Formula.parse(text, SCHEMA).expression, frozenset())
    return [str(condition) for condition in conditions(term, SCHEMA, missing=frozenset(), step=step)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('G(origin = "EWR" implies x < 3)', ['F(origin = "EWR")']),
        ("G(on implies x < 3) and G(y > 2 implies x > 1)", ["F(on)", "F(y > 2)"]),
        ("G(elapsed() > 300 implies x < 3)", ["F(elapsed() > 300)"]),
        ("G(elapsed() > 300 implies (on implies x < 3))", ["F((elapsed() > 300) ∧ on)"]),
        ("F(on and G(y > 2 implies x > 1))", ["F(y > 2)"]),
        ("G(x < 3)", []),
        ("F(on and x > 3)", []),
        ("count(on) > 3", []),
        ("G(x < 3 or y < 2 or on)", []),  # "never … at once" claims nothing of what occurs
    ],
)
def test_what_must_occur_for_a_sentence_to_say_anything(text, expected):
    assert given(text) == expected


def test_occurrences_in_words():
    assert Occurrence((3,), 25).text() == "the condition occurs in 3 of its 25 members"
    assert Occurrence((3, 0), 25).text("their") == "the conditions occur in 3 and none of their 25 members"
    assert Occurrence((25,), 25).text() == "the condition occurs in all of its members"
    assert Occurrence((), 25).text() == Occurrence((0,), 0).text() == ""
    assert Occurrence((1,), 1).text() == "the condition occurs in all of its members"
    assert Occurrence((25,), 25).note() == Occurrence((0,), 0).note() == ""
    assert Occurrence((1, 2), 3) + Occurrence((0, 1), 4) == Occurrence((1, 3), 7)


def airports(ewr):
    """25 quiet records, so many of them from EWR, and 25 from EWR that are not quiet."""
    home = [9.0, 0.0, False, "JFK"]
    quiet = [[[1.0 + i % 7, 0.0, False, "JFK"] if i >= ewr else [1.0, 0.0, False, "EWR"], home] for i in range(25)]
    loud = [[[5.0 + i % 2, 0.0, False, "EWR"], home] for i in range(25)]
    arrays = [np.array(record, dtype=object) for record in quiet + loud]
    panel = Panel.from_arrays(arrays, columns=list(SCHEMA), schema=SCHEMA)
    formula = Formula.parse('G(origin = "EWR" implies x < 3)', panel.schema)
    root = Node(formula, class_leaf((25, 0)), class_leaf((0, 25)))
    return class_tree(root, ("quiet", "loud"), panel.schema, frozenset()), panel


@pytest.mark.parametrize("ewr", [0, 3, 12])
def test_a_rule_that_seldom_applies_is_no_headline(ewr):
    tree, panel = airports(ewr)
    told = with_headlines(tree, panel)
    first, _ = categorize(told, panel)
    assert "whenever" not in (first.headline or "")
    assert "whenever" not in (rules_table(told)[0].headline or "")
    often = ewr or "none"
    assert f"whenever origin is EWR, x is below 3 (the condition occurs in {often} of its 25 members)" in str(first)


def test_a_headline_says_how_often_its_condition_occurs():
    steps = [[[1.0 + i % 3, 5.0, True, "EWR"], [9.0, 0.0, False, "EWR"]] for i in range(20)]
    steps += [[[9.0, 5.0, False, "JFK"], [9.0, 0.0, False, "JFK"]] for i in range(2)]
    other = [
        [[4.0 + i % 5, 5.0, True, "EWR"], [1.0, 0.0, False, "JFK"], [9.0, 1.0, i % 2 == 0, "JFK"]] for i in range(30)
    ]
    panel = Panel.from_arrays([np.array(r, dtype=object) for r in steps + other], columns=list(SCHEMA), schema=SCHEMA)
    formula = Formula.parse("G(on implies x < 4)", panel.schema)
    assert formula(panel).sum() == 22
    tree = with_headlines(
        class_tree(Node(formula, class_leaf((22, 0)), class_leaf((0, 30))), ("a", "b"), panel.schema, frozenset()),
        panel,
    )
    first, _ = categorize(tree, panel)
    (row, _) = rules_table(tree)
    for headline in (first.headline, row.headline):
        if headline.startswith("whenever on is true"):
            assert headline.endswith("; the condition occurs in 20 of its 22 members)")
    assert "(the condition occurs in 20 of its 22 members)" in str(first) or "whenever" in first.headline


def test_of_single_records_it_is_told_where_the_condition_does_not_occur(tmp_path):
    tree, panel = airports(3)
    never, once = (path_of(tree, panel, record) for record in (0, 24))
    assert [turn.vacuous for turn in (*never, *once)] == [False, True]
    model = GrammarTreeClassifier('Start ::= G(origin = "EWR" implies x < 3)', random_state=1)
    model.fit(panel, ["quiet"] * 25 + ["loud"] * 25).save(tmp_path / "model.json")
    panel.to_frame(id="day").to_csv(tmp_path / "days.csv", index=False)
    said = "whenever origin is EWR, x is below 3"
    noted = f"{said} (its condition does not occur in this record)"
    for record, expected in (("0", f"{said} F("), ("24", f"{noted} F(")):
        where = ["--id", "day", "--record", record]
        shown = CliRunner().invoke(app, ["explain", str(tmp_path / "model.json"), str(tmp_path / "days.csv"), *where])
        assert expected in " ".join(shown.stdout.split()), shown.output
    where = ["--id", "day"]
    rows = CliRunner().invoke(app, ["categorize", str(tmp_path / "model.json"), str(tmp_path / "days.csv"), *where])
    assert rows.stdout.count("the condition occurs in 3 of its 25 members") == 25


def test_model_files_keep_how_often_conditions_occur(tmp_path):
    _, panel = airports(3)
    y = ["quiet"] * 25 + ["loud"] * 25
    grammar = """
    Start ::= G(origin = "EWR" implies x < 3)
    """
    model = GrammarTreeClassifier(grammar=grammar, search=MonteCarlo(evaluations=1), random_state=1).fit(panel, y)
    side = "whenever origin is EWR, x is below 3"
    number = next(c.number for c in model.categories(panel) if c.english == side)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    for one in (model, again):
        leaf, _ = one.tree_.leaves[number - 1]
        assert [(str(c.formula), c.members) for c in leaf.conditions] == [('F(origin = "EWR")', 3)]
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "model.json"), "--english"]).stdout
    assert f"{side} (the condition occurs in 3 of its 25 members)" in " ".join(shown.split())
    often = "the condition occurs in 3 of its 25 members"
    for target in ("json", "csv", "markdown"):
        assert often in export_model(model, target), target
    assert model.rules()[number - 1].occurs == often
    document = json.loads((tmp_path / "model.json").read_text())
    for entry in document["tree"]:
        entry.pop("conditions", None)
        if entry["kind"] == "leaf" and entry["counts"] == [0, 25]:
            entry["headline"] = {
                "formula": 'G(origin = "EWR" implies x < 3)',
                "others": 0,
                "elsewhere": 25,
                "missed": 0,
            }
    (tmp_path / "old.json").write_text(json.dumps(document))
    old = load(tmp_path / "old.json")  # of which it is not known how often the condition occurs
    assert old.rules()[number - 1].occurs == ""
    assert "whenever" not in (old.rules()[number - 1].headline or "")
    assert "whenever" not in (old.categories(panel)[number - 1].headline or "")
