"""Formulas, pictures and tables of rules are read back, and must say what the tree says."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.mathtext import MathTextParser

from tests.support.class_trees import class_tree
from tests.support.effort import examples
from tests.support.random_trees import CLASSES, HOSTILE, draw_tree_case, expected, hostile_case, leaf, tree_of
from tests.support.strategies import Case, Column

import telltree
from telltree import Formula, GrammarTreeClassifier
from telltree.errors import SettingsError
from telltree.explain import rules_table, sentence
from telltree.models.export import TARGETS, export_model
from telltree.search import MonteCarlo
from telltree.text import visible
from telltree.tree import Leaf, Node

drawn = examples(25)
FIGURES = ("share", "low", "high", "lift", "weighted share")


def members(text, tree, panel):
    """Of which records a formula is true; "true" says nothing and is true of all."""
    return [True] * len(panel) if text == "true" else Formula.parse(text, tree.schema)(panel).tolist()


@drawn
@given(st.randoms(use_true_random=False))
def test_text_holds_one_formula_a_category(rng):
    tree, case = draw_tree_case(rng)
    clusters, _ = expected(tree, case)
    blocks = export_model(tree, "text").split("\n\n")
    assert len(blocks) == len(tree.leaves)
    for number, block in enumerate(blocks, 1):
        head, formula = block.rstrip("\n").split("\n")
        assert head.startswith(f"# category {number}: ")
        assert json.loads(head.split(": ", 1)[1]) == tree.summaries[number - 1].predicted
        alone = export_model(tree, "text", category=number)
        assert alone.rstrip("\n") == block.rstrip("\n")
        whole = alone if formula != "true" else formula  # comments are part of the language
        assert members(whole, tree, case.panel) == [cluster == number for cluster in clusters]


@drawn
@given(st.randoms(use_true_random=False))
def test_json_and_csv_hold_the_rules(rng):
    tree, case = draw_tree_case(rng)
    clusters, _ = expected(tree, case)
    rules = json.loads(export_model(tree, "json"))
    table = list(csv.DictReader(io.StringIO(export_model(tree, "csv"), newline="")))
    for number, (rule, line, row) in enumerate(zip(rules, table, rules_table(tree), strict=True), 1):
        assert (rule["category"], rule["label"], rule["support"]) == (number, row.label, row.support)
        assert {count["label"]: count["records"] for count in rule["counts"]} == row.counts
        figures = (row.share, row.low, row.high, row.lift, row.weighted)
        assert tuple(rule[name] for name in FIGURES) == figures
        assert rule["decided by weights"] is row.decided_by_weights
        assert (int(line["category"]), line["label"], int(line["support"])) == (number, row.label, row.support)
        assert tuple(float(line[name]) if line[name] else None for name in FIGURES) == figures
        assert line["decided by weights"] == str(row.decided_by_weights).lower()
        assert line["english"] == rule["english"] == row.english
        assert line["short"] == rule["short"] == row.short
        assert (line["headline"] or None) == rule["headline"] == row.headline
        assert line["formula"] == rule["formula"]
        assert members(rule["formula"], tree, case.panel) == [cluster == number for cluster in clusters]
        assert json.loads(export_model(tree, "json", category=number)) == [rule]


class Cells(HTMLParser):
    """The text of a table's cells, and which tags there are."""

    def __init__(self):
        super().__init__()
        self.tags, self.cells = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


def shown(text):
    return visible(" ".join(text.split()))


@pytest.mark.parametrize("name", [*HOSTILE, *CLASSES, "![x](javascript:alert(1))", "[a][b]", "*a* _b_ `c` ~~d~~ ==e=="])
def test_markdown_shows_every_name_to_the_letter(name):
    markdown = pytest.importorskip("markdown")
    tree, _ = hostile_case(name)
    page = Cells()
    page.feed(markdown.markdown(export_model(tree, "markdown"), extensions=["tables", "attr_list", "footnotes"]))
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td"}
    rows = rules_table(tree)
    lines = [[shown(cell) for cell in page.cells[i : i + 10]] for i in range(10, len(page.cells), 10)]
    told = {int(line[0]): line for line in lines if line[0].isdigit()}
    pairs = [line for line in lines if not line[0].isdigit()]
    assert list(told) == [row.cluster for row in rows]
    for row in rows:
        line = told[row.cluster]
        assert [line[1], line[7], line[9]] == [shown(text) for text in (row.title, row.formula, row.headline or "–")]
    (both,) = pairs  # the last two of a chain of questions
    last = len(rows)
    assert both[0] == f"{last - 1} and {last}"
    above, apart = ([shown(sentence(some, tree.schema)) for _, way in tree.leaves[-2:] for some in (cut(way),)]
                    for cut in (lambda way: way[:-1], lambda way: way[-1:]))  # fmt: skip
    assert both[8] == above[0] == above[1]
    assert [told[last - 1][8], told[last][8]] == [f"unlike {last}: {apart[0]}", f"unlike {last - 1}: {apart[1]}"]
    assert all(told[row.cluster][8] == shown(row.english) for row in rows[:-2])


def test_markdown_of_one_category_has_its_whole_sentence():
    tree, _ = hostile_case("x")
    (row,) = rules_table(tree)[-1:]
    lines = export_model(tree, "markdown", category=row.cluster).splitlines()
    assert len(lines) == 3
    assert "unlike" not in lines[2]


NODE = re.compile(r'  (n\d+) \[label=("(?:[^"\\]|\\.)*")(?:, style=rounded)?\];')
EDGE = re.compile(r'  (n\d+) -> (n\d+) \[label="(yes|no)"\];')


def graph(text):
    """The labels of the nodes and the edges of a DOT graph, read as Graphviz does."""
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == ("digraph tree {", "}")
    nodes, edges = {}, {}
    for line in lines[3:-1]:
        if edge := EDGE.fullmatch(line):
            edges[edge[1], edge[3]] = edge[2]
        else:
            node = NODE.fullmatch(line)
            unescaped = re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], node[2][1:-1])
            assert not re.search(r"&(?!amp;)", unescaped)
            nodes[node[1]] = unescaped.replace("&amp;", "&")
    return nodes, edges


@drawn
@given(st.randoms(use_true_random=False))
def test_dot_is_the_tree(rng):
    tree, _ = draw_tree_case(rng)
    nodes, edges = graph(export_model(tree, "dot"))
    numbers = iter(range(1, 99))

    def follow(node, name):
        if isinstance(node, Leaf):
            assert nodes[name].startswith(f"[{next(numbers)}] {node.summary.title}\n")
            return 1
        assert nodes[name] == str(node.formula)
        return 1 + follow(node.true, edges[name, "yes"]) + follow(node.false, edges[name, "no"])

    assert follow(tree.root, "n0") == len(nodes) == len(edges) + 1
    for number, (_, branches) in enumerate(tree.leaves, 1):
        nodes, edges = graph(export_model(tree, "dot", category=number))
        assert [key[1] for key in edges] == ["yes" if truth else "no" for _, truth in branches][: len(edges)]
        assert len(nodes) == len(branches) + 1


@pytest.mark.parametrize("name", [name for name in (*HOSTILE, *CLASSES) if "\u202e" not in name])
def test_latex_can_be_typeset(name):
    tree, _ = hostile_case(name)
    for number in range(1, 5):
        formula = export_model(tree, "latex", category=number)
        MathTextParser("path").parse(f"${formula.strip()}$")
    lines = export_model(tree, "latex").splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{aligned}", r"\end{aligned}")
    assert [line.count(r"&\Leftarrow") for line in lines[1:-1]] == [1] * 4
    assert all(line.endswith(r" \\") for line in lines[1:-2])


def test_a_single_leaf_is_exported_to_every_table():
    _, case = hostile_case("x")
    tree = class_tree(leaf([2]), ("only",), case.panel.schema)
    assert export_model(tree, "text") == '# category 1: "only"\ntrue\n'
    assert export_model(tree, "latex", category=1) == "\\top\n"
    assert graph(export_model(tree, "dot")) == ({"n0": "[1] only\nonly: 2"}, {})
    assert json.loads(export_model(tree, "json"))[0]["formula"] == "true"


@pytest.fixture(scope="module")
def fitted(panel, labels):
    return GrammarTreeClassifier(search=MonteCarlo(evaluations=300), max_depth=2, random_state=0).fit(panel, labels)


@pytest.mark.parametrize("target", TARGETS)
def test_a_classifier_exports_as_its_tree_and_the_same_every_time(fitted, target):
    assert export_model(fitted, target) == export_model(fitted, target)
    assert export_model(fitted, target, missing=fitted.training_.missing) == export_model(fitted, target)
    assert export_model(fitted.tree_, target, missing=fitted.training_.missing) == export_model(fitted, target)
    assert export_model(fitted, target).endswith("\n")
    assert export_model(fitted, target, category=1) != export_model(fitted, target, category=2)


def test_english_speaks_of_missing_values_where_training_met_them():
    case = Case((Column("x", "real"), Column("y", "real")), ({"x": [1.0], "y": [1.0]},))
    tree = tree_of(case, ["F(not x > 2)", "F(not y > 2)"], ("a", "b", "c"))
    model = SimpleNamespace(tree_=tree, training_=SimpleNamespace(missing=("x",)))
    for asked, missing in ((tree, {"x", "y"}), (model, {"x"})):
        english = export_model(asked, "csv")
        assert {name for name in "xy" if f"at some point {name} is at most 2 or missing" in english} == missing
    assert "missing" not in export_model(model, "csv", missing=())


def test_the_package_can_be_called_like_the_function(fitted):
    assert telltree.export_model(fitted, "text") == export_model(fitted, "text")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"to": "cobol"}, "cannot export to 'cobol'; the targets are text, latex"),
        ({"to": "text", "category": 0}, "category must be a number from 1 to"),
        ({"to": "text", "category": 99}, "category must be a number from 1 to"),
        ({"to": "text", "category": True}, "category must be a number from 1 to"),
    ],
)
def test_senseless_arguments_are_refused(fitted, arguments, message):
    with pytest.raises(SettingsError, match=message):
        export_model(fitted, **arguments)


def test_what_is_no_fitted_model_is_refused():
    for model in (GrammarTreeClassifier(), None, "model.json", Node):
        with pytest.raises(SettingsError, match="fit it first"):
            export_model(model, "text")
