"""A target that is not classes fits everywhere: it is registered, and nothing else is told of it."""

import json
import re
import runpy
import sqlite3
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from tests.support.browser import Page as Opened
from tests.support.browser import opened_browser
from tests.support.numeric_target import KIND, NumericTarget, Variance
from tests.support.report_page import Page, data_of

from telltree import Formula, Grammar, GrammarTreeClassifier, Panel, load
from telltree.cli.app import app
from telltree.errors import ModelFormatError, SettingsError
from telltree.explain import as_records, categorize, outline, rules_table, rules_text
from telltree.explain.headlines import with_headlines
from telltree.explain.notebook import tree_html
from telltree.models import Model, load_model
from telltree.models.export import TARGETS, export_model
from telltree.models.write_model import encode
from telltree.report import plot_category, plot_collage, plot_record, plot_tree, report_html, write_report
from telltree.search import MonteCarlo
from telltree.tree import MDL, GiniSize, Greedy, Node, Tree, TreeSettings, grow
from telltree.tree.class_target import register_target
from telltree.tree.pruning_path import PruningPath
from telltree.tree.training_facts import TrainingFacts

register_target(KIND, NumericTarget.from_entry)
TEXT = "Start ::= F(V) | G(V)\nV ::= on | speed {<, >} [-1, 0, 1, 2] | height > [0, 1]"
SAID = 22
"""How many formulas that is."""
CLASS_WORDS = re.compile(r"\bclass(es)?\b|labelled so|accuracy|balanced|recall", re.IGNORECASE)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    lengths = rng.integers(3, 9, 90)
    rows = int(lengths.sum())
    return {
        "id": np.repeat(np.arange(90), lengths),
        "t": np.concatenate([np.arange(length, dtype=float) for length in lengths]),
        "speed": rng.normal(size=rows).round(3),
        "height": rng.normal(size=rows).round(3),
        "on": rng.random(rows) < 0.1,
    }


@pytest.fixture(scope="module")
def panel(table):
    return Panel.from_frame(pa.table(table), id="id", time="t")


@pytest.fixture(scope="module")
def y(panel):
    """Fuel that is burnt: much where speed was ever above 1, more if the switch was ever on."""
    rng = np.random.default_rng(4)
    fast = np.array([panel.values("speed", i).max() > 1 for i in range(90)])
    on = np.array([panel.values("on", i).any() for i in range(90)])
    return (20 + 10 * fast + 25 * (fast & on) + rng.normal(size=90)).round(2)


@pytest.fixture(scope="module")
def labels(panel, y):
    return NumericTarget.of(y, "kg").read(y, panel)


@pytest.fixture(scope="module")
def learned(panel, labels):
    grammar = Grammar.parse(TEXT, panel)
    search = MonteCarlo(evaluations=SAID, max_depth=3)
    settings = TreeSettings(search, Variance(), Greedy(min_gain=1.0), labels.depth(), labels.members(), seed=1)
    return grow(panel, labels, grammar, settings)


@pytest.fixture(scope="module")
def tree(learned, panel):
    return with_headlines(learned.tree, panel)


@pytest.fixture(scope="module")
def model_file(learned, tree, panel, labels, tmp_path_factory):
    kept = TrainingFacts.of(panel, labels, tree, 1)
    settings = GrammarTreeClassifier().get_params(deep=False)
    grammar = Grammar.parse(TEXT, panel)
    model = Model(
        tree=tree.narrowed(),
        pruning_path=PruningPath.of(learned.tree),
        grammar=grammar,
        training=kept,
        interrupted=False,
        named=True,
        parameters=settings,
    )
    path = tmp_path_factory.mktemp("numbers") / "model.json"
    path.write_bytes(encode(model))
    return path


@pytest.fixture(scope="module")
def csv(table, y, tmp_path_factory):
    import pandas as pd

    frame = pd.DataFrame(table)
    path = tmp_path_factory.mktemp("data") / "flights.csv"
    frame.to_csv(path, index=False)
    return path


def told(command, *arguments):
    ended = CliRunner().invoke(app, [command, *map(str, arguments)])
    assert ended.exit_code == 0, ended.output
    return ended.stdout


def left(y, truth):
    """The share of the variance that is left on both sides, in percent."""
    return 100 * sum(len(part) * np.var(part) for part in (y[truth], y[~truth]) if len(part)) / (len(y) * np.var(y))


def test_each_question_is_the_best_of_all_by_a_plain_reckoning(learned, panel, labels, y):
    steps = labels.values
    formulas = [Formula.parse(f"{q}({atom})", panel.schema) for q in "FG" for atom in (
        "on", *(f"speed {sign} {c}" for sign in "<>" for c in (-1, 0, 1, 2)), "height > 0", "height > 1")]  # fmt: skip
    assert len(formulas) == SAID
    root = learned.tree.root
    truth = root.formula(panel)
    best = min(left(steps, f(panel)) + 0.1 * f.terminals for f in formulas if 5 <= f(panel).sum() <= len(panel) - 5)
    assert root.fitness == pytest.approx(best, rel=1e-9)
    assert left(steps, truth) == pytest.approx(root.fitness - 0.1 * root.formula.terminals, abs=0.3)


@pytest.mark.parametrize("fitness", [MDL(), GiniSize()])
def test_a_fitness_of_classes_is_refused(panel, labels, fitness):
    settings = TreeSettings(MonteCarlo(evaluations=SAID), fitness, seed=1)
    with pytest.raises(SettingsError, match="tells how mixed classes are, and got NumericLabels"):
        grow(panel, labels, Grammar.parse(TEXT, panel), settings)


def test_leaves_predict_the_means_of_their_records(tree, panel, y):
    assert len(tree.leaves) >= 3
    clusters = tree.apply(panel)
    for number, said in enumerate(tree.summaries, 1):
        own = y[clusters == number]
        assert said.support == len(own)
        assert said.predicted == pytest.approx(own.mean(), abs=tree.target.step)
        assert said.deviation == pytest.approx(own.std(), abs=2 * tree.target.step)
    assert np.mean((tree.predict(panel) - y) ** 2) < 0.1 * np.var(y)
    assert tree.summary.support == 90
    assert all(node.summary == node.true.summary + node.false.summary for node in tree.nodes)


def test_a_tree_of_numbers_is_printed(tree):
    said = tree.summaries[0]
    assert f"[1] {said.predicted}  ({said.mixed})" in str(tree)
    assert f"[1] {said.predicted}: {said.hits}" in outline(tree)
    assert "speed is above 1?" in outline(tree.plain())
    assert "kg" in tree_html(tree)
    assert not CLASS_WORDS.search(str(tree) + outline(tree))


def test_its_rules_tell_means(tree):
    rows = rules_table(tree)
    assert [row.label for row in rows] == [said.predicted for said in tree.summaries]
    assert rows[0].figures == rows[0].certainty.text
    assert rows[0].mean == rows[0].label  # figures of the target are attributes of the row
    assert "mean" in rules_text(rows).splitlines()[0].split()
    assert set(as_records(rows)[0]) >= {"label", "mean", "low", "high", "english"}


def test_records_are_put_into_categories(tree, panel, y):
    found = categorize(tree, panel, y)
    assert sum(len(category.positions) for category in found) == 90
    for category in found:
        assert category.mean == pytest.approx(y[category.positions].mean(), abs=tree.target.step)
        assert f"[{category.number}] {category.label}" in str(found)
    assert categorize(tree, panel)[0].mean is None


def test_its_front_has_trees_from_one_leaf_to_the_whole(tree):
    pruning_path = PruningPath.of(tree)
    assert [len(step.tree.leaves) for step in pruning_path] == sorted({len(step.tree.leaves) for step in pruning_path})
    assert (pruning_path[0].leaves, pruning_path.whole) == (1, tree)


def test_a_model_file_gives_the_tree_back(model_file, tree, panel):
    loaded = load_model(model_file)
    assert loaded.tree == tree.narrowed()
    assert loaded.tree.target == tree.target
    assert loaded.tree.predict(panel).tolist() == tree.predict(panel).tolist()
    document = json.loads(model_file.read_bytes())
    assert document["target"]["kind"] == KIND
    assert "classes" not in document
    assert encode(loaded) == model_file.read_bytes()


def test_no_classifier_is_made_of_it(model_file):
    with pytest.raises(ModelFormatError, match="tells no classes, and is no classifier"):
        load(model_file)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d["target"].update(kind="colours"), "predicts 'colours', a kind of target that is not known"),
        (lambda d: d["target"].pop("kind"), "either classes, or a target with its kind"),
        (lambda d: d.pop("target"), "either classes, or a target with its kind"),
        (lambda d: d.update(classes={"dtype": "str", "values": ["a"]}), "either classes, or a target with its kind"),
        (lambda d: d["target"].pop("step"), "its numbers have no 'step'"),
        (lambda d: d["tree"][-1].pop("summary"), "a leaf has no"),
        (lambda d: d["tree"][-1]["summary"].update(total={}), "at tree"),
    ],
)
def test_damaged_files_are_refused(model_file, tmp_path, change, told):
    document = json.loads(model_file.read_bytes())
    change(document)
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps(document))
    with pytest.raises(ModelFormatError, match=told):
        load_model(damaged)


def test_a_kind_is_registered_once():
    with pytest.raises(SettingsError, match="a kind of target 'classes' already"):
        register_target("classes", NumericTarget.from_entry)


@pytest.mark.parametrize("to", TARGETS)
def test_it_is_exported_to_everything(tree, to):
    text = export_model(tree, to)
    assert str(tree.summaries[0].predicted) in text
    assert not CLASS_WORDS.search(text)
    assert export_model(tree, to, category=1)


def test_exported_tables_have_its_own_columns(tree):
    first = json.loads(export_model(tree, "json"))[0]
    assert (first["label"], first["mean"]) == (tree.summaries[0].predicted,) * 2
    assert export_model(tree, "csv").startswith("category,label,mean,low,high,above,support,formula")
    assert export_model(tree, "markdown").startswith("| category | label | mean | low | high | above | support |")


def test_exported_programs_predict_the_same(tree, panel, table, tmp_path):
    wanted = tree.predict(panel).tolist()
    (tmp_path / "model.py").write_text(export_model(tree, "python"))
    module = runpy.run_path(str(tmp_path / "model.py"))
    rows = [{name: table[name][table["id"] == i].tolist() for name in ("speed", "height", "on")} for i in range(90)]
    assert [module["predict"](row) for row in rows] == wanted
    with sqlite3.connect(":memory:") as base:
        base.execute("CREATE TABLE records (id, time, speed, height, 'on')")
        columns = zip(*(table[name].tolist() for name in ("id", "t", "speed", "height", "on")), strict=True)
        base.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", columns)
        found = base.execute(export_model(tree, "sql"))
        assert [column[0] for column in found.description] == ["id", "category", "mean"]
        assert [row[2] for row in found] == wanted


def test_its_report_speaks_of_numbers_alone(tree, panel, y):
    html = report_html(tree, panel, y, held_out=(panel[:30], y[:30]))
    data, text = data_of(html), Page(html).text
    assert data["parts"] == list(tree.target.parts)
    assert [category["predicted"] for category in data["categories"]] == [str(s.predicted) for s in tree.summaries]
    assert "Variance told" in text
    assert "to foretell a number" in text
    assert not CLASS_WORDS.search(text + json.dumps({k: v for k, v in data.items() if k != "words"}))
    assert all(sum(node["counts"]) == node["records"] for node in data["nodes"])
    assert "No labels were given" in Page(report_html(tree, panel)).text


def test_its_page_works_in_a_browser(tree, panel, y, tmp_path):
    write_report(tree, panel, y, tmp_path / "report.html")
    with opened_browser(tmp_path / "profile") as driver:
        page = Opened(driver, tmp_path / "report.html")
        assert len(page.texts(".card .badge")) == len(tree.leaves)
        shown = page.run("return document.body.innerText")
        assert str(tree.summaries[0].predicted) in shown
        assert "95 % interval" in shown
        assert not CLASS_WORDS.search(shown)
        assert not [line for line in driver.get_log("browser") if line["level"] == "SEVERE"]


def test_its_figures_are_drawn(tree, panel, y):
    for figure in (
        plot_tree(tree),
        plot_tree(tree, panel=panel, y=y),
        plot_tree(tree, panel=panel),
        plot_category(tree, panel, y, 1),
        plot_collage(tree, panel, y),
        plot_record(tree, panel, 0),
    ):
        said = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
        assert any(str(summary.predicted) in words for words in said for summary in tree.summaries)
        assert not any(map(CLASS_WORDS.search, said))


def test_the_command_line_takes_its_model(model_file, csv, tree, panel):
    where = (csv, "--id", "id", "--time", "t")
    assert str(tree.summaries[0].predicted) in told("show", model_file)
    predicted = [float(line.split(",")[1]) for line in told("predict", model_file, *where).splitlines()[1:]]
    assert predicted == tree.predict(panel).tolist()
    assert told("categorize", model_file, *where).startswith("id,category,mean,formula,english,headline")
    assert json.loads(told("categorize", model_file, *where, "--json"))[0]["mean"] is None
    assert f"[{tree.apply(panel)[5]}]" in told("explain", model_file, *where, "--record", 5)
    assert "CASE category" in told("export", model_file, "--to", "sql")


def test_splits_that_predict_the_same_can_be_refused(panel, labels):
    same = replace(labels, steps=np.where(np.arange(90) % 2, 10, 30))
    search = MonteCarlo(evaluations=SAID, max_depth=3)
    settings = TreeSettings(search, Variance(), Greedy(prevent_same_label=True), 2, 5, seed=1)
    found = grow(panel, same, Grammar.parse(TEXT, panel), settings).tree
    assert isinstance(found, Tree)
    assert all(node.true.summary.predicted != node.false.summary.predicted for node in found.nodes)
    assert all(isinstance(node, Node) for node in found.nodes)
