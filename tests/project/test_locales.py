"""Where the locale writes 1,5 for 1.5, and has another lower case of I, everything is read, learnt and said alike."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.effort import few_fast

LOCALES = ("tr_TR", "de_DE")
SOURCES = Path("/usr/share/i18n/locales")

SCRIPT = """
import io, locale, sys
from pathlib import Path
found = locale.setlocale(locale.LC_ALL, "")
print("point", locale.localeconv()["decimal_point"], file=sys.stderr)
import numpy as np
import telltree
from telltree import Formula, GrammarTreeClassifier, export_model, load, read, scan
from telltree.search import MonteCarlo
from telltree.panel import csv as blocks
from telltree.explain import english
folder, out = Path(sys.argv[1]), Path(sys.argv[2])
out.mkdir()
keys = dict(id="ID", time="Time", label="WIN")
panel, y = read(folder / "data.csv", **keys)
blocks.WORTH = 1  # by Arrow's reader
assert read(folder / "data.csv", **keys).panel == panel == read(folder / "data.parquet", **keys).panel
assert scan(folder / "data.csv", **keys).panel == panel
comma = read(folder / "comma.csv", **keys).panel
assert comma == panel
print(repr(panel), panel.schema, *panel.notes, panel.values("SPEED", 0).tolist(), y.tolist(), sep="\\n")
dated = read(io.StringIO("id,t,x\\n1,13.01.2013 10:30,1.5\\n1,14.01.2013 10:30,2.5\\n"), id="id", time="t").panel
print(dated.dates(0), dated)
for text in ("F(SPEED > 1234.5)", "G(abs(`I`) < 0.125)", "count(LIT) > 3", 'F(MODE = "IDLE")', "F(mean(SPEED) > 1e-3)"):
    formula = Formula.parse(text, panel.schema)
    said = english(formula.expression, panel.schema)
    again = Formula.from_english(said, panel.schema)
    assert again(panel).tolist() == formula(panel).tolist()
    print(text, "|", said, "|", formula, "|", formula(panel).tolist())
print(telltree.ask(panel, "at some point SPEED is above 10.5 while LIT is true", y))
model = GrammarTreeClassifier(search=MonteCarlo(evaluations=500), max_depth=2, random_state=0).fit(panel, y)
print(model.outline(), model.predict_proba(panel).tolist(), *model.rules(), sep="\\n")
model.save(out / "model.json")
assert load(out / "model.json").predict(panel).tolist() == model.predict(panel).tolist()
for target in ("sql", "python", "stl", "markdown"):
    try:
        print(export_model(model, target))
    except telltree.errors.SettingsError as error:
        print(error)
model.report(panel, y, out / "report.html")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    records, steps = 60, 6
    win = rng.random(records) < 0.5
    speed = rng.normal(10, 4, (records, steps)).round(3) + 6 * win[:, None]
    table = pd.DataFrame(
        {
            "ID": np.repeat([f"I{k}" for k in range(records)], steps),
            "Time": np.tile(np.arange(steps) * 0.5, records),
            "SPEED": speed.ravel(),
            "I": rng.normal(0, 1e-2, records * steps),
            "LIT": np.where(rng.random(records * steps) < 0.5, "YES", "no"),
            "MODE": rng.choice(["IDLE", "İstanbul", "ısı", "Straße"], records * steps),
            "WIN": np.repeat(np.where(win, "IN", "OUT"), steps),
        }
    )
    table.to_csv(place / "data.csv", index=False)
    table.to_csv(place / "comma.csv", index=False, sep=";", decimal=",")
    table.to_parquet(place / "data.parquet")
    return place


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with the locales, which need not be installed."""
    if shutil.which("localedef") is None:
        pytest.skip("there is no localedef, which makes locales")
    if not all((SOURCES / name).exists() for name in LOCALES):
        pytest.skip("the sources of locales are not installed (Debian's package 'locales')")
    place = tmp_path_factory.mktemp("locales")
    for name in LOCALES:
        made = ["localedef", "-i", name, "-f", "UTF-8", place / f"{name}.UTF-8"]
        subprocess.run(made, check=True, capture_output=True)
    return place


def run(arguments, locale, place):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LC_")}
    environment |= {"LC_ALL": locale, "LANG": locale, "LOCPATH": str(place), "PYTHONIOENCODING": "utf-8"}
    ended = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert ended.returncode == 0, ended.stderr
    return ended


@pytest.fixture(scope="module")
def usual(folder, compiled, tmp_path_factory):
    return everything(folder, "C.UTF-8", compiled, tmp_path_factory.mktemp("usual") / "out")


def everything(folder, locale, compiled, out):
    """What is said on the way, and all files that are written."""
    ended = run(["-W", "error", "-c", SCRIPT, folder, out], locale, compiled)
    return ended.stderr, [ended.stdout, *((path.name, path.read_text("utf-8")) for path in sorted(out.iterdir()))]


@pytest.mark.parametrize("name", few_fast(LOCALES))
def test_reading_saying_and_fitting_do_not_depend_on_the_locale(folder, compiled, usual, tmp_path, name):
    said, found = everything(folder, f"{name}.UTF-8", compiled, tmp_path / "out")
    assert "point ," in said  # it was really there
    assert "point ." in usual[0]
    assert found == usual[1]


COMMAND_LINE = "import locale, sys; locale.setlocale(locale.LC_ALL, ''); from telltree.cli.app import app; app()"


@pytest.mark.slow
@pytest.mark.parametrize("name", LOCALES)
def test_the_command_line_does_not_depend_on_the_locale(folder, compiled, tmp_path, name):
    keys = ["--id", "ID", "--time", "Time", "--label", "WIN"]
    found = []
    for number, locale in enumerate(("C.UTF-8", f"{name}.UTF-8")):
        model = tmp_path / f"{number}.json"
        fit = ["--search-evaluations", "300", "--max-depth", "2", "--no-cv", "-o", model]
        outputs = [
            run(["-c", COMMAND_LINE, *arguments], locale, compiled).stdout
            for arguments in (
                ["inspect", folder / "comma.csv", *keys],
                ["fit", folder / "data.csv", *keys, *fit],
                ["show", model],
                ["predict", model, folder / "data.csv"],
                ["ask", folder / "data.csv", "at some point SPEED is above 12.5", *keys],
            )
        ]
        found.append([*outputs, model.read_text("utf-8")])
    assert found[0] == found[1]
