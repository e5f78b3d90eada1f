"""telltree experiment, through the installed program: its table, going on after Ctrl-C, and its pictures."""

import json
import signal
from pathlib import Path

import pytest

from tests.support import programs
from tests.support.programs import PROGRAM, started

REAL = Path(__file__).parents[3] / "shared" / "data" / "auslan8"
SMALL = ("encounters", "--records", "60", "--trials", "2", "--searches", "mc", "--jobs", "1")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A cache folder of our own, and no data set anywhere."""
    monkeypatch.delenv("TELLTREE_DATA", raising=False)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return tmp_path / "home"


def telltree(*args):
    ended = programs.telltree("experiment", *args)
    assert ended.returncode == 0, ended.stderr
    return ended


def figures(text):
    """The runs of a table in JSON, without their times."""
    models = json.loads(text)["models"]
    return {model["name"]: [{**run, "seconds": None} for run in model["runs"]] for model in models}


@pytest.mark.slow
def test_the_same_command_goes_on_after_ctrl_c(home):
    kept = home / "telltree" / "experiment-encounters.jsonl"
    with started([PROGRAM, "experiment", *SMALL]) as running:
        next(line for line in running.stderr if "of 8 runs, about" in line)
        running.send_signal(signal.SIGINT)
        table, said = running.communicate()
    assert running.returncode == 130, said
    assert "(interrupted:" in table
    assert "the same command goes on from there" in said
    before = kept.read_bytes().splitlines()
    assert 0 < len(before) < 8
    resumed = telltree(*SMALL, "--json").stdout
    runs = [(json.loads(line)["model"], json.loads(line)["seconds"]) for line in before]
    by_model = {model["name"]: [run["seconds"] for run in model["runs"]] for model in json.loads(resumed)["models"]}
    assert all(seconds in by_model[name] for name, seconds in runs)  # not run again
    assert not kept.exists()  # all finished: the next experiment measures anew
    anew = telltree(*SMALL, "--json", "--store", home / "runs.jsonl").stdout
    assert figures(anew) == figures(resumed)
    assert len((home / "runs.jsonl").read_bytes().splitlines()) == 8


@pytest.mark.usefixtures("home")
@pytest.mark.skipif(not REAL.is_dir(), reason="the real data are not in ../shared/data")
def test_pictures_are_of_the_data_that_were_named(tmp_path):
    drawn = tmp_path / "drawn"
    drawn.mkdir()
    ended = telltree("auslan", "--trials", 1, "--searches", "gp", "--jobs", 1, "--data", REAL, "--pictures", drawn)
    assert "in the paper" in ended.stdout
    assert sorted(path.name for path in drawn.iterdir()) == ["auslan-tree-english.png", "auslan-tree-formula.png"]
