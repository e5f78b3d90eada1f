"""Folders that cannot be written to: data are read from them, and what should be written there is one error at once."""

import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.support.effort import few_fast
from tests.support.read_only import bound, require_bound

import telltree

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no such permissions")
KEYS = ("--id", "run", "--time", "t", "--label", "end")
FEW = ("--search-evaluations", "50", "--max-depth", "1", "--no-cv")
COMMAND_LINE = ("-c", "from telltree.cli.app import app; app()")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with data and a model, without the permission to write into it."""
    place = tmp_path_factory.mktemp("read-only")
    rng = np.random.default_rng(0)
    high = np.repeat(np.arange(40) % 2, 5)
    table = pd.DataFrame({"run": np.repeat(np.arange(40), 5), "t": np.tile(np.arange(5), 40)})
    table = table.assign(x=(rng.normal(size=200) + 4 * high).round(3), end=np.where(high, "high", "low"))
    table.to_csv(place / "data.csv", index=False)
    table.to_parquet(place / "data.parquet")
    panel, y = telltree.read(place / "data.csv", id="run", time="t", label="end")
    few = telltree.search.MonteCarlo(evaluations=50)
    telltree.GrammarTreeClassifier("Start ::= F(x > [2, 3])", few, max_depth=1).fit(panel, y).save(place / "model.json")
    place.chmod(0o555)
    require_bound(place)
    yield place
    place.chmod(0o755)


def telltree_in(folder, *arguments, **environment):
    """Run the command line in a folder."""
    return bound([*COMMAND_LINE, *arguments], cwd=folder, env={**os.environ, **environment})


WORK = (
    ("fit", "SOURCE", *KEYS, *FEW, "--grammar", "/dev/stdin"),
    ("inspect", "SOURCE", *KEYS),
    ("inspect", "SOURCE", *KEYS, "--scan"),
    ("show", "model.json"),
    ("predict", "model.json", "SOURCE"),
    ("evaluate", "model.json", "SOURCE", "--label", "end"),
    ("ask", "SOURCE", "at some point x is above 2", *KEYS),
    ("export", "model.json", "--to", "sql"),
)


@pytest.mark.parametrize("source", few_fast(["data.csv", "data.parquet"]))
@pytest.mark.parametrize("work", few_fast(WORK), ids=lambda work: work[0])
def test_data_and_models_are_read_from_there_and_work_is_done_there(folder, work, source):
    before = sorted(path.name for path in folder.iterdir())
    arguments = [source if word == "SOURCE" else word for word in work]
    given = {"input": "Start ::= F(x > [2, 3])"} if "/dev/stdin" in arguments else {}
    ended = bound([*COMMAND_LINE, *arguments], cwd=folder, **given)
    assert ended.returncode == 0, (arguments, ended.stderr)
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    few_fast(
        [
            ("fit", "absent.csv", *KEYS, *FEW, "-o", "new.json"),
            ("inspect", "absent.csv", *KEYS, "-o", "schema.toml"),
            ("fit", "absent.csv", *KEYS, *FEW, "-o", "model.json", "--force"),
            ("fit", "absent.csv", *KEYS, *FEW, "--checkpoint", "night.checkpoint"),
            ("predict", "absent.json", "absent.csv", "-o", "answers.csv"),
            ("export", "absent.json", "--to", "sql", "-o", "model.sql"),
            ("report", "absent.json", "absent.csv", "-o", "report.html"),
        ]
    ),
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_output_that_cannot_be_written_is_one_error_before_any_work(folder, arguments):
    """Nothing is read before: that the data are absent is not noticed."""
    ended = telltree_in(folder, *arguments)
    assert ended.returncode not in (0, 1) or "annot be written" in ended.stderr, ended.stderr
    assert "absent" not in ended.stderr
    assert "ermission denied" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) <= 2, ended.stderr
    assert not ended.stdout


def test_python_is_told_at_once_too(folder):
    script = f"""
import numpy as np, telltree
from telltree import GrammarTreeClassifier
from telltree.search import MonteCarlo
panel, y = telltree.scan({str(folder / "data.csv")!r}, id="run", time="t", label="end")
tried = []
model = GrammarTreeClassifier("Start ::= F(x > [2, 3])", MonteCarlo(evaluations=50), max_depth=1, callback=tried.append)
for work in (
    lambda: model.fit(panel, y, checkpoint={str(folder / "night.checkpoint")!r}),
    lambda: model.fit(panel, y).save({str(folder / "new.json")!r}),
    lambda: model.report(panel, y, {str(folder / "new.html")!r}),
):
    tried.clear()
    try:
        work()
    except (OSError, telltree.errors.SettingsError) as error:
        print(type(error).__name__, getattr(error, "filename", error), len(tried) > 0, sep="|")
"""
    ended = bound(["-c", script])
    assert ended.returncode == 0, ended.stderr
    kinds, names, begun = zip(*(line.split("|") for line in ended.stdout.splitlines()), strict=True)
    assert kinds == ("SettingsError", "PermissionError", "PermissionError")
    assert names[0] == f"the checkpoint {str(folder / 'night.checkpoint')!r} cannot be written: Permission denied"
    assert names[1:] == (str(folder / "new.json"), str(folder / "new.html"))
    assert begun[0] == "False"  # before the long work


def test_temporary_files_need_a_folder_and_the_error_says_which(folder):
    ended = telltree_in(folder, "inspect", "data.csv", *KEYS, "--scan", TMPDIR=str(folder))
    assert ended.returncode == 0 or "TMPDIR" in ended.stderr, ended.stderr  # Python may find another one
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_an_install_and_a_cache_that_cannot_be_written_to(folder, tmp_path):
    """The package, its compiled kernels and the home are read-only: it works, and says so where it costs time."""
    copy = tmp_path / "install" / "telltree"
    shutil.copytree(Path(telltree.__file__).parent, copy)
    for place in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        place.chmod(0o555)
    home = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder), "PYTHONPATH": str(copy.parent), "TERM": "dumb"}
    try:
        where = bound(["-c", "import telltree; print(telltree.__file__)"], env={**os.environ, **home}, cwd=tmp_path)
        assert where.stdout.strip() == str(copy / "__init__.py"), where.stderr
        for arguments in (
            ("ask", "data.csv", "at some point x is above 2", *KEYS),
            ("predict", "model.json", "data.csv"),
        ):
            ended = telltree_in(folder, *arguments, **home)
            assert ended.returncode == 0, ended.stderr
            assert "Traceback" not in ended.stderr
        assert not list(folder.glob(".*"))
    finally:
        for place in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
            place.chmod(0o755)
