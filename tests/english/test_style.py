"""The style of English: everyone who speaks takes it, means the same by it, and refuses another alike."""

import ast
import csv
import importlib
import inspect
import io
import json
import pkgutil
from pathlib import Path

import pytest

from tests.support.programs import telltree

import telltree as package
from telltree import explain, report
from telltree.cli import verbs
from telltree.errors import SettingsError
from telltree.estimators import GrammarForestClassifier, GrammarTreeClassifier
from telltree.explain.categories import missing_columns
from telltree.explain.common_splits import CommonSplits
from telltree.explain.notebook import tree_html
from telltree.models import export
from telltree.panel import Panel
from telltree.search import MonteCarlo

SILENT = {
    # explain: formulas, figures and steps; or texts of what was told before, in the style that has
    "as_records", "categories_text", "decisive_step", "decisive_steps", "plain", "redundant", "rules_text", "shown",
    # report: no sentences
    "draw_encounter", "plot_confusion", "plot_encounter", "plot_pruning_path", "plot_search",
}  # fmt: skip
SILENT_VERBS = {"demo", "evaluate", "experiment", "grammar", "inspect", "predict"}
PLAIN_ALONE = {"explain/categories.py", "report/tree_view.py"}  # the last tells both beside


def functions_of(*rooms):
    return [
        pytest.param(getattr(room, name), id=name)
        for room in rooms
        for name in sorted(room.__all__)
        if inspect.isfunction(getattr(room, name)) and name not in SILENT
    ]


METHODS = [
    GrammarTreeClassifier.categories, GrammarTreeClassifier.rules, GrammarForestClassifier.common_splits,
    CommonSplits.of, GrammarTreeClassifier.outline, tree_html,
]  # fmt: skip
VERBS = [module.name for module in pkgutil.iter_modules(verbs.__path__) if module.name not in SILENT_VERBS]


@pytest.mark.parametrize("speaker", [*functions_of(explain, report), export.export_model, *METHODS])
def test_every_public_function_that_speaks_takes_a_style(speaker):
    style = inspect.signature(speaker).parameters["style"]
    assert (style.default, style.kind) == ("plain", inspect.Parameter.KEYWORD_ONLY)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_speaks_takes_a_style(verb):
    told = getattr(importlib.import_module(f"telltree.cli.verbs.{verb}"), verb)
    assert inspect.signature(told).parameters["style"].default == "plain"


def test_whoever_says_a_formula_says_in_which_style():
    root = Path(package.__file__).parent
    silent = []
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root)
        if inside.as_posix() in PLAIN_ALONE or inside.parts[0] == "english":  # which is plain English itself
            continue
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            if named and call.func.id in ("english", "sentence") and "style" not in {k.arg for k in call.keywords}:
                silent.append(f"{inside}:{call.lineno}")
    assert not silent


@pytest.fixture(scope="module", params=["false", "unknown"])
def model(request, panel, labels):
    search = MonteCarlo(evaluations=300)
    return GrammarTreeClassifier(search=search, max_depth=3, random_state=0, missing=request.param).fit(panel, labels)


def paper_of(model, missing):
    tree = model.tree_
    return [explain.sentence(branches, tree.schema, missing, style="paper") for _, branches in tree.leaves]


def speakers(model, panel, labels, tmp_path):
    """Each with the keyword left open."""
    tree, page = model.tree_, tmp_path / "page.html"
    yield lambda style: explain.english(tree.root.shown, tree.schema, style=style)
    yield lambda style: explain.sentence((), tree.schema, style=style)
    yield lambda style: model.categories(panel, style=style)
    yield lambda style: model.rules(style=style)
    yield lambda style: model.plot(style=style)
    yield lambda style: model.report(panel, labels, page, style=style)
    yield lambda style: explain.outline(tree, style=style)
    yield lambda style: tree_html(tree, style=style)
    yield lambda style: package.ask(panel, "F(speed > 2)", style=style)
    yield lambda style: explain.path_of(tree, panel, 0, style=style)
    yield lambda style: explain.path_step(tree.root.shown, panel, 0, style=style)
    yield lambda style: CommonSplits.of([tree], style=style)
    yield lambda style: report.plot_category(tree, panel, style=style)
    yield lambda style: report.plot_record(tree, panel, 0, style=style)
    yield lambda style: report.plot_collage(tree, panel, style=style)
    for target in export.TARGETS:
        yield lambda style, target=target: export.export_model(model, target, style=style)


def test_another_style_is_refused_everywhere_in_the_same_words(model, panel, labels, tmp_path):
    for speaks in speakers(model, panel, labels, tmp_path):
        with pytest.raises(SettingsError, match=r"^style must be 'plain' or 'paper', got 'fancy'$"):
            speaks("fancy")
    assert not list(tmp_path.iterdir())


def test_categories_speak_the_papers_english(model, panel, labels):
    plain, paper = (model.categories(panel, labels, style=style) for style in ("plain", "paper"))
    assert str(plain) == str(model.categories(panel, labels))
    assert [one.english for one in paper] == paper_of(model, missing_columns(model.tree_, panel))
    for one, other in zip(paper, plain, strict=True):
        assert one.members.tolist() == other.members.tolist()
        assert (one.short, one.headline, one.occurs) == (one.english, None, {})
        assert [one.apart] == [one.steps[-1]]
    said = str(paper) + paper._repr_html_()
    assert any(one.headline for one in plain)
    assert not any(other.headline and other.headline in said for other in plain)
    assert all(one.english != other.english for one, other in zip(paper, plain, strict=True))
    assert all(step in str(paper) for one in paper for step in one.steps)


def test_rules_and_their_tables_speak_the_papers_english(model):
    told = paper_of(model, model.tree_.missing)
    rows = model.rules(style="paper")
    assert [row.english for row in rows] == [row.short for row in rows] == told
    assert not any(row.headline for row in rows)
    assert [row.formula for row in rows] == [row.formula for row in model.rules()]
    assert model.rules() == model.rules(style="plain")
    exported = {to: export.export_model(model, to, style="paper") for to in export.TARGETS}
    plain = {to: export.export_model(model, to) for to in export.TARGETS}
    assert {to for to in exported if exported[to] != plain[to]} == {"json", "csv", "markdown"}
    assert [row["english"] for row in json.loads(exported["json"])] == told
    assert [row["english"] for row in csv.DictReader(io.StringIO(exported["csv"]))] == told
    assert not any(row["headline"] for row in json.loads(exported["json"]))


def test_trees_ask_in_the_papers_english(model):
    tree = model.tree_
    asked = [explain.english(n.shown, tree.schema, tree.missed_by(n), style="paper") for n in tree.nodes]
    assert all(f"{question}?" in explain.outline(tree, style="paper") for question in asked)
    assert explain.outline(tree) == explain.outline(tree, style="plain") != explain.outline(tree, style="paper")
    assert {row.english for row in CommonSplits.of([tree], style="paper").questions} >= {
        explain.english(row.expression, tree.schema, tree.missing or (), style="paper")
        for row in CommonSplits.of([tree]).questions
    }


def test_answers_speak_the_papers_english():
    records = [[[1.0], [3.0]], [[1.0], [1.0]], [[float("nan")], [1.0]]]
    panel = Panel.from_arrays(records, columns=["speed"], layout="steps, columns")
    for missing in ("false", "unknown"):
        answer = package.ask(panel, "at some point speed is above 2", missing=missing, style="paper")
        assert answer.positions.tolist() == [0]
        assert str(answer).startswith("at some point, [speed] is greater than 2")
        assert answer.to_dict()["english"] == answer.english
        assert "instead, " in str(answer.explain(1))
        assert "[speed]" in str(answer.explain(1))
        assert answer.explain(0).decision.english.startswith("at some point, [speed] is greater than 2")


def test_ways_speak_the_papers_english(model, panel):
    tree = model.tree_
    for record in range(len(panel)):
        plain, paper = (explain.path_of(tree, panel, record, style=style) for style in ("plain", "paper"))
        for one, other in zip(plain, paper, strict=True):
            assert (one.holds, one.step, one.unknown) == (other.holds, other.step, other.unknown)
            assert one.english != other.english


def test_a_report_first_speaks_as_it_is_told_to(model, panel, labels):
    plain, paper = (report.report_html(model, panel, labels, style=style) for style in ("plain", "paper"))
    assert paper == plain.replace('<body data-say="plain">', '<body data-say="paper">') != plain


def test_verbs_speak_the_papers_english(tmp_path):
    rows = [f"{i},{t},{i % 2 * 3 + t}" for i in range(20) for t in range(3)]
    (tmp_path / "speeds.csv").write_text("\n".join(["id,t,speed", *rows]))
    (tmp_path / "ends.csv").write_text("\n".join(["id,end", *(f"{i},{'ab'[i % 2]}" for i in range(20))]))
    keys = (tmp_path / "speeds.csv", "--id", "id", "--time", "t")
    labelled, file = (*keys, "--labels", tmp_path / "ends.csv"), tmp_path / "model.json"

    def said(*args):
        ended = telltree(*args, "--style", "paper")
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    assert "[speed]" in said("fit", *labelled, "--no-cv", "-o", file)
    told = [row["english"] for row in json.loads(said("show", file, "--json"))]
    assert all("[speed]" in sentence for sentence in told)
    assert {row["english"] for row in csv.DictReader(io.StringIO(said("categorize", file, *keys)))} == set(told)
    assert [row["english"] for row in json.loads(said("export", file, "--to", "json"))] == told
    assert any(sentence in said("explain", file, *keys, "--record", "3") for sentence in told)
    assert "[speed]" in said("ask", *keys, "always speed is below 4")
    said("report", file, *labelled, "-o", tmp_path / "page.html")
    assert '<body data-say="paper">' in (tmp_path / "page.html").read_text("utf-8")
