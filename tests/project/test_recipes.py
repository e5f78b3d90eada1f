"""What is added as CONTRIBUTING.md says, a toy search, export, criterion or parameter, is known wherever it says so."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from telltree import GrammarTreeClassifier, Panel, load
from telltree.cli.app import app
from telltree.models.document import Settings

FOLLOWED = """
import sys
import types
from dataclasses import dataclass

import numpy as np

from telltree.models import export
from telltree.search import registry
from telltree.search.monte_carlo import MonteCarlo


@dataclass(frozen=True, repr=False)
class Toy(MonteCarlo):  # step 1: a dataclass, and what it breeds
    salt: int = 0

    def breeder(self, task):
        return super().breeder(task._replace(seed=task.seed + self.salt))


def toy_text(exported, table):
    return f"{table} has {len(exported.tree.leaves)} categories\\n"


def put(name, **contents):
    module = types.ModuleType(name)
    module.__dict__.update(contents)
    sys.modules[name] = module


put("telltree.search.toy", Toy=Toy)
put("telltree.models.toy", toy_text=toy_text)
registry.SEARCHES["toy"] = registry.Registered("toy", "Toy", "a toy")  # step 2: the rows
export.TARGETS["toy"] = export.ExportTarget("toy", "toy_text", "a toy language", takes=("table",))

from typer.testing import CliRunner

import telltree
from telltree.cli.app import app

rng = np.random.default_rng(0)
with open("data.csv", "w") as file:
    file.write("id,t,x,end\\n")
    for i in range(40):
        for t in range(5):
            file.write(f"{i},{t},{rng.normal() + i % 2:.3f},{'ab'[i % 2]}\\n")


def run(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


data = ("data.csv", "--id", "id", "--time", "t", "--label", "end")
assert "toy: a toy" in " ".join(run("fit", "--help").replace("│", " ").split())
run("fit", *data, "--search", "toy", "--search-setting", "salt=3", "--max-depth", 1, "-o", "model.json")
assert "toy has " in run("export", "model.json", "--to", "toy", "--table", "toy")
run("report", "model.json", *data, "-o", "report.html")
model = telltree.load("model.json")
assert model.search == Toy(salt=3), model.search
assert model.get_params()["search__salt"] == 3
assert model.set_params(search__salt=5).search == Toy(salt=5)
assert telltree.export_model(model, "toy", table="t").startswith("t has ")
"""

WITHOUT_OPTION = {"criterion", "callback"}
"""Parameters that the command line does not have: it takes no criterion of one's own, and shows progress by a bar."""
NOT_OF_THE_MODEL = {"n_jobs", "callback"}
"""Parameters that model files do not keep, for they change nothing that is learned."""


def test_a_search_and_an_export_are_known_everywhere_by_their_rows(tmp_path):
    command = [sys.executable, "-c", FOLLOWED]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "salt=3" in (tmp_path / "report.html").read_text(encoding="utf-8")


PARAMETERS = sorted(set(inspect.signature(GrammarTreeClassifier).parameters))


@pytest.fixture(scope="module")
def options():
    return CliRunner().invoke(app, ["fit", "--help"], env={"COLUMNS": "300"}).output


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_in_all_places_of_the_recipe(name, options):
    assert f"\n    {name}: " in GrammarTreeClassifier.__doc__, "the docstring"
    assert (name in Settings.model_fields) != (name in NOT_OF_THE_MODEL), "models/document.py"
    assert (f"--{name.replace('_', '-')} " in options) != (name in WITHOUT_OPTION), "cli/verbs/fit.py"
    if name != "random_state":  # which scikit-learn checks
        with pytest.raises(ValueError, match=name):
            GrammarTreeClassifier(**{name: object()}).fit([[0.0], [1.0]], ["a", "b"])


class Halves:
    """A toy criterion: the distance from a question that half of the records answer with yes."""

    def __call__(self, true, total, size):
        return np.abs(true.sum(axis=1) - total.sum() / 2) + 0.0 * size


def test_a_criterion_of_ones_own_is_used_and_its_model_is_kept(tmp_path):
    rng = np.random.default_rng(0)
    panel = Panel.from_arrays(list(rng.normal(size=(40, 3, 1))), columns=["x"])
    labels = ["a", "b"] * 20
    model = GrammarTreeClassifier(criterion=Halves(), max_depth=1, cv=None, random_state=0).fit(panel, labels)
    assert [leaf.summary.support for leaf, _ in model.tree_.leaves] == [20, 20]
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").predict(panel).tolist() == model.predict(panel).tolist()
