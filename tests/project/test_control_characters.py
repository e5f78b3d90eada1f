"""Control characters in names, categories, classes and ids are made visible wherever people read them."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from tests.support.programs import telltree

from telltree import GrammarTreeClassifier, Panel, ask
from telltree.explain import english
from telltree.logic.expression import level_text, name_text
from telltree.models.export import export_model
from telltree.report import plot_category, plot_collage, plot_record, plot_tree, report_html
from telltree.search import MonteCarlo
from telltree.text import visible, visible_json

ODD = "a\x00b\x1b[31m\x7f\x9b\x01\u202e"
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def data():
    rng, rows, y = np.random.default_rng(0), [], []
    for i in range(30):
        kind = i % 3
        rows += [(f"{i}{ODD}", t, kind + rng.random(), ("u" + ODD, "down")[kind == 1], kind == 2) for t in range(4)]
        y.append(("calm", "s" + ODD, "x")[kind])
    frame = pd.DataFrame(rows, columns=["id", "t", "speed" + ODD, "mode" + ODD, "on" + ODD])
    schema = {"speed" + ODD: {"unit": "m" + ODD, "phrase": "pace" + ODD}}
    return frame, Panel.from_frame(frame, id="id", time="t", schema=schema), y


@pytest.fixture(scope="module")
def model(data):
    _, panel, y = data
    return GrammarTreeClassifier(search=MonteCarlo(evaluations=200), random_state=0, max_depth=3).fit(panel, y)


def clean(text):
    assert text
    found = CONTROLS.search(text)
    assert found is None, repr(text[max(0, found.start() - 40) : found.end() + 20])
    return text


def test_every_text_for_terminals(data, model):
    _, panel, y = data
    for told in (panel, panel.schema, model.tree_, model.categories(panel, y), model.rules(), model.pruning_path_):
        clean(str(told))
    for category in model.categories(panel, y):
        clean(str(category))
    clean(model.outline(formulas=True))
    clean(english(model.tree_.root.formula, panel.schema))
    clean(english(model.tree_.root.formula, panel.schema, style="paper"))
    answer = ask(panel, model.tree_.root.formula, y)
    clean(str(answer))
    clean(str(answer.explain(0)))


def test_notebooks(data, model):
    _, panel, y = data
    for told in (panel, model, model.tree_, model.categories(panel, y)):
        clean(told._repr_html_())


def test_the_page_and_what_its_script_is_given(data, model):
    _, panel, y = data
    page = clean(report_html(model, panel, y))
    [block] = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)

    def texts(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                yield from texts(part)

    found = list(texts(json.loads(block)))
    assert any("\\x00" in text for text in found)
    for text in filter(None, found):
        clean(text)


@pytest.mark.parametrize("target", ["text", "latex", "dot", "json", "csv", "markdown", "stl", "python"])
def test_exports(model, target):
    clean(export_model(model, target).replace("\r\n", "\n"))


def test_figures(data, model):
    _, panel, y = data
    categories = model.categories(panel, y)
    for figure in (
        plot_tree(model.tree_),
        plot_record(model.tree_, panel, 0),
        plot_category(model.tree_, panel, y),
        plot_collage(categories, panel),
    ):
        file = io.StringIO()
        figure.savefig(file, format="svg")
        clean(file.getvalue())


def test_files_of_the_program(data, model, tmp_path):
    frame, _, y = data
    named = frame.rename(columns=lambda name: name.replace("\x00", "")).assign(end=np.repeat(y, 4))
    named.map(lambda cell: cell.replace("\x00", "") if isinstance(cell, str) else cell).to_csv(
        tmp_path / "data.csv", index=False
    )
    model.save(tmp_path / "model.json")
    columns = ("--id", "id", "--time", "t", "--label", "end")
    clean(telltree("inspect", tmp_path / "data.csv", *columns).stdout)
    clean(telltree("show", tmp_path / "model.json").stdout)
    done = telltree("show", tmp_path / "model.json", "--json")
    clean(done.stdout)
    json.loads(done.stdout)


def test_escapes_say_the_same():
    assert visible("a\x00\x1b\n\tb\u202e") == "a\\x00\\x1b\n\tb\\u202e"
    assert visible("é 👩‍🚀 ∧ ñ") == "é 👩‍🚀 ∧ ñ"
    assert json.loads(visible_json(json.dumps(ODD, ensure_ascii=False))) == ODD
    assert json.loads(level_text(ODD)) == ODD
    panel = Panel.from_frame(pd.DataFrame({"id": [1], ODD: [1.0]}), id="id")
    assert ask(panel, f"F({name_text(ODD)} > 0)").members.tolist() == [1]
    [[cell]] = csv.reader(io.StringIO(visible("a\x00b")))
    assert cell == "a\\x00b"
