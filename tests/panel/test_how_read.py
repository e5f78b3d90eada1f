"""A model remembers how its training data were read: others are read alike, or refused."""

import json
import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from telltree import GrammarTreeClassifier, export_model, load, read
from telltree.cli.app import app
from telltree.errors import DataError
from telltree.search import MonteCarlo
from telltree.tree import Leaf, Tree

DAY = 86_400.0


def logs(records=30, days=4):
    """Records with a reading every six hours, whose daily means tell bad from good, and single readings do not."""
    rng = np.random.default_rng(0)
    bad = np.arange(records) % 2 == 0
    hours = np.arange(0, 24 * days + 1, 6)
    heat = rng.normal(0, 3, (records, len(hours))) + np.where(bad, 1.5, 0.0)[:, None]
    start = pd.Timestamp("2025-03-01")
    return pd.DataFrame(
        {
            "plant": np.repeat([f"p{i}" for i in range(records)], len(hours)),
            "when": np.tile([f"{start + pd.Timedelta(hours=int(h)):%d.%m.%Y %H:%M}" for h in hours], records),
            "heat": heat.ravel().round(3),
            "state": np.repeat(np.where(bad, "bad", "good"), len(hours)),
        }
    )


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "logs.csv"
    logs().to_csv(path, index=False)
    return path


HOW = {"id": "plant", "time": "when", "time_format": "%d.%m.%Y %H:%M"}


@pytest.fixture(scope="module")
def fitted(table):
    panel, y = read(table, **HOW, label="state", every="1d", how={"heat": "mean"})
    grammar = "Start ::= F(heat > [0, 0.5, 1, 1.5, 2, 2.5, 3]) | G(heat > [-2, -1, -0.5, 0])"  # which STL can say
    return GrammarTreeClassifier(grammar, MonteCarlo(evaluations=11), random_state=0).fit(panel, y), panel


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def model(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.json"
    flags = ["--id", "plant", "--time", "when", "--time-format", HOW["time_format"], "--every", "1d", "--how", "mean"]
    done = run("fit", table, *flags, "--label", "state", "--search-evaluations", 300, "--no-cv", "-o", path)
    assert done.exit_code == 0, done.output
    return path, flags


def test_a_model_file_keeps_how_data_were_read(fitted, tmp_path):
    classifier, panel = fitted
    classifier.save(tmp_path / "m.json")
    kept = load(tmp_path / "m.json").tree_.how_read
    assert kept == classifier.tree_.how_read == panel.how_read
    assert kept.given() == {**HOW, "every": "1d", "how": {"heat": "mean"}}
    assert str(tmp_path) not in (tmp_path / "m.json").read_text()  # no paths


def test_panels_keep_it_wherever_they_go(fitted):
    panel = fitted[1]
    for other in (panel[:3], panel.select(["heat"]), pickle.loads(pickle.dumps(panel))):  # noqa: S301  our own
        assert other.how_read == panel.how_read


def test_records_with_other_steps_are_refused_with_the_remedy(fitted, table):
    classifier, panel = fitted
    raw, _ = read(table, **HOW)
    with pytest.raises(DataError, match=r"resampled to one step every 1 d, but these have .*every='1d'"):
        classifier.predict(raw)
    assert classifier.predict(raw.resample("1d", {"heat": "mean"})).tolist() == classifier.predict(panel).tolist()
    assert classifier.predict(raw.resample("24 h")).shape == (30,)  # as long by another name


def test_records_that_were_never_resampled_demand_nothing(table):
    raw, y = read(table, **HOW, label="state")
    classifier = GrammarTreeClassifier(search=MonteCarlo(evaluations=100), random_state=0).fit(raw, y)
    assert classifier.tree_.how_read.every is None
    classifier.predict(raw.resample("1d"))


def test_the_command_line_reads_as_the_model_was_taught(model, table):
    path, flags = model
    alone, told = run("predict", path, table), run("predict", path, table, *flags)
    assert alone.exit_code == 0, alone.output
    assert alone.stdout == told.stdout
    assert alone.stdout.startswith("plant,")  # the name of the ids too
    assert "reading as the model's training data were read: id plant, time when" in alone.stderr
    assert "every 1d, how mean" in alone.stderr
    assert "reading as" not in told.stderr


@pytest.mark.parametrize("verb", ["categorize", "evaluate", "explain"])
def test_other_verbs_do_so_too(verb, model, table):
    path, flags = model
    more = {"categorize": [], "evaluate": ["--label", "state"], "explain": ["--record", "p3"]}[verb]
    assert run(verb, path, table, *more).stdout == run(verb, path, table, *flags, *more).stdout != ""


def test_reports_do_so_too(model, table, tmp_path):
    path, flags = model
    for name, more in (("alone", []), ("told", flags)):
        done = run("report", path, table, "--label", "state", *more, "-o", tmp_path / f"{name}.html")
        assert done.exit_code == 0, done.output
    assert (tmp_path / "alone.html").read_bytes() == (tmp_path / "told.html").read_bytes()


def test_a_report_demands_the_steps_that_were_learnt(fitted, table, tmp_path):
    raw, y = read(table, **HOW, label="state")
    with pytest.raises(DataError, match=r"resampled to one step every 1 d, but these have .*every='1d'"):
        fitted[0].report(raw, y, tmp_path / "report.html")


def test_columns_that_the_tree_does_not_ask_for_need_not_be_there_again(table, tmp_path):
    more = logs().assign(noise=0.5, alarm=False)
    more.to_csv(tmp_path / "more.csv", index=False)
    how = {"heat": "mean", "noise": "mean", "alarm": "any"}
    panel, y = read(tmp_path / "more.csv", **HOW, label="state", every="1d", how=how)
    grammar = "Start ::= F(heat > [0, 0.5, 1, 1.5, 2, 2.5, 3])"
    classifier = GrammarTreeClassifier(grammar, MonteCarlo(evaluations=7), random_state=0).fit(panel, y)
    classifier.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").tree_.how_read.given() == {**HOW, "every": "1d", "how": {"heat": "mean"}}
    done = run("predict", tmp_path / "m.json", table)
    assert done.exit_code == 0, done.output
    told = dict(line.split(",")[:2] for line in done.stdout.splitlines()[1:])
    assert told == dict(zip(panel.ids, classifier.predict(panel), strict=True))


@pytest.mark.parametrize("unit", ["s", "min"])
def test_the_unit_of_times_is_kept_and_used(unit, tmp_path):
    table = logs()
    table["when"] = table.groupby("plant").cumcount()
    table.to_csv(tmp_path / "numbers.csv", index=False)
    flags = ["--id", "plant", "--time", "when", "--time-unit", unit]
    fit = ["--label", "state", "--search-evaluations", 300, "--no-cv", "-o", tmp_path / "m.json"]
    assert run("fit", tmp_path / "numbers.csv", *flags, *fit).exit_code == 0
    assert load(tmp_path / "m.json").tree_.how_read.time_unit == unit
    alone, told = (run("predict", tmp_path / "m.json", tmp_path / "numbers.csv", *more) for more in ([], flags))
    assert alone.stdout == told.stdout != ""
    assert f"time unit {unit}" in alone.stderr


def test_another_length_of_steps_is_refused(model, table):
    done = run("predict", model[0], table, "--every", "12h")
    assert done.exit_code == 3
    assert "resampled to one step every 1 d, but these have one step every 12 h" in done.stderr


def test_programs_say_what_they_ask_for(fitted):
    classifier, panel = fitted
    wanted = "Records must be resampled to one step every 1 d"
    for target in ("sql", "python", "stl"):
        assert wanted in export_model(classifier, target)
    frame = panel.to_frame().rename(columns={"id": "record"})
    with sqlite3.connect(":memory:") as database:
        frame.assign(time=frame["time"].astype(str)).to_sql("records", database, index=False)
        found = database.execute(export_model(classifier, "sql", id="record")).fetchall()
    expected = zip(panel.ids, classifier.predict(panel), strict=True)
    assert {record: label for record, _, label in found} == dict(expected)


def test_older_model_files_know_nothing_of_it(fitted, tmp_path):
    path = tmp_path / "m.json"
    fitted[0].save(path)
    document = json.loads(path.read_text())
    del document["training"]["how_read"]
    path.write_text(json.dumps(document))
    loaded = load(path)
    assert loaded.tree_.how_read.given() == {}
    assert isinstance(loaded.tree_, Tree)
    assert not isinstance(loaded.tree_.root, Leaf)


def test_files_may_be_records_by_themselves(model, table, tmp_path):
    path, flags = model
    for name, part in logs().groupby("plant"):
        part.drop(columns="plant").to_csv(tmp_path / f"{name}.csv", index=False)
    told = run("predict", path, table, *flags).stdout.splitlines()
    alone = run("predict", path, tmp_path)
    assert alone.exit_code == 0, alone.output
    assert "id plant" not in alone.stderr
    assert sorted(alone.stdout.splitlines()[1:]) == sorted(told[1:])
