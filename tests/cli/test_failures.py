"""The program where something is in its way: full disks, closed streams, a parent that is killed."""

import os
import subprocess
import sys

import numpy as np
import pytest
import typer

from tests.support.programs import PROGRAM

from telltree.cli.verbs import fit as fitting
from telltree.errors import SettingsError
from telltree.estimators import GrammarTreeClassifier, load
from telltree.files import write_whole
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo


@pytest.fixture(scope="module")
def fitted(panel, labels):
    return GrammarTreeClassifier(search=MonteCarlo(evaluations=200), max_depth=2, random_state=0).fit(panel, labels)


def full_disk(*args, **options):
    raise OSError(28, "No space left on device")


def test_a_model_that_cannot_be_saved_is_kept_elsewhere(fitted, panel, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fitting.tempfile, "tempdir", str(tmp_path))
    gone = tmp_path / "gone" / "model.json"
    assert not fitting._saved(fitted, gone, force=False)
    said = capsys.readouterr().err
    assert str(gone) in said
    (kept,) = tmp_path.glob("telltree-*/model.json")
    assert f"the model is in {kept}" in said
    assert load(kept).predict(panel).tolist() == fitted.predict(panel).tolist()


def test_a_file_that_appeared_meanwhile_is_left_alone(fitted, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fitting.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "model.json").write_text("somebody's")
    assert not fitting._saved(fitted, tmp_path / "model.json", force=False)
    assert "exists" in capsys.readouterr().err
    assert (tmp_path / "model.json").read_text() == "somebody's"
    assert len(list(tmp_path.glob("telltree-*/model.json"))) == 1


def test_the_tree_is_printed_though_no_disk_has_room(tmp_path, plain, labels, capsys, monkeypatch):
    from tests.cli.test_verbs import KEYS, write_csv

    from telltree.cli.app import app

    write_csv(tmp_path / "flights.csv", plain, labels)
    monkeypatch.setattr("telltree.models.write_model.write_whole", full_disk)
    words = ["fit", tmp_path / "flights.csv", *KEYS, "--label", "nmac", "--search-evaluations", "200", "--max-depth",
             "2", "--no-cv", "-o", tmp_path / "model.json"]  # fmt: skip
    with pytest.raises(SystemExit) as ended:
        typer.main.get_command(app)(list(map(str, words)))
    out, said = capsys.readouterr()
    assert ended.value.code == 1
    assert "yes:" in out
    assert f"{tmp_path / 'model.json'} cannot be written: No space left on device; nor could it be" in said


def test_an_error_of_the_disk_names_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(tmp_path / "file", b"content")
    assert caught.value.filename == str(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("closed", ["0<&-", "2>&-", "0<&- 2>&-", "1>&-", "0<&- 1>&- 2>&-"])
@pytest.mark.parametrize("words", ["--version", "inspect -"])
def test_closed_streams_are_no_traceback(closed, words, tmp_path):
    said = tmp_path / "said"
    keep = closed if "2>&-" in closed else f"{closed} 2>{said}"
    ended = subprocess.run(
        ["sh", "-c", f"'{PROGRAM}' {words} {keep}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    everything = ended.stdout + ended.stderr + (said.read_text() if said.exists() else "")
    assert "Traceback" not in everything
    assert "AttributeError" not in everything
    if words == "inspect -" and closed == "0<&-":
        assert "standard input is closed" in everything


def test_what_is_said_does_not_go_to_stdout_where_stderr_is_closed(capsys, monkeypatch):
    from telltree.cli.output import say

    monkeypatch.setattr(sys, "stderr", None)
    say("a remark")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("search", "name"),
    [
        (GeneticProgramming(population=10**12), "population"),
        (GeneticProgramming(tournament=10**12), "tournament"),
        (GrammaticalEvolution(population=10**12), "population"),
        (GrammaticalEvolution(codons=10**9), "codons"),
        (MonteCarlo(keep=10**12), "keep"),
        (MonteCarlo(evaluations=10**5000), "evaluations"),
    ],
)
def test_absurd_budgets_are_refused(search, name, panel, labels):
    with pytest.raises(SettingsError, match=f"{name} must be a whole number of at most"):
        GrammarTreeClassifier(search=search).fit(panel, labels)


def test_absurd_numbers_of_jobs_do_no_harm(fitted, panel, labels):
    again = GrammarTreeClassifier(search=MonteCarlo(evaluations=200), max_depth=2, random_state=0, n_jobs=10**9)
    assert np.array_equal(again.fit(panel, labels).predict(panel), fitted.predict(panel))
