"""Experiments: resuming, the table, and the same figures however they are computed."""

import json
import math
import os
import signal
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.effort import few_fast

from telltree import Grammar, GrammarTreeClassifier, Panel, TelltreeError
from telltree.errors import DataError, SettingsError
from telltree.experiments import Study, run_experiment
from telltree.experiments.models import BASELINES, SEARCHES, further_searches
from telltree.experiments.run import RunStore
from telltree.experiments.studies import ACASX, AUSLAN
from telltree.experiments.trial import Run
from telltree.search import Auto, GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import GiniSize, Greedy

REAL = Path(__file__).parents[3] / "shared" / "data"
SEARCH = {"mc": MonteCarlo(evaluations=200), "gp": GeneticProgramming(evaluations=200)}


@pytest.fixture(scope="module")
def study(panel, labels):
    return Study("made-up", "Made up", panel, np.array(labels), max_depth=2, trees=4, paper={"gp": AUSLAN["gp"]})


def timeless(experiment):
    """All that an experiment says, but for times."""
    said = json.loads(experiment.to_json())
    for model in said["models"]:
        del model["summary"]["seconds"]
        for run in model["runs"]:
            del run["seconds"]
    return said


@pytest.fixture(scope="module")
def whole(study):
    """Three trials in one process, without interruption."""
    return run_experiment(study, trials=3, searches=SEARCH, jobs=1, seed=5)


# -- whole experiments


def test_every_model_runs_in_every_trial(whole):
    assert list(whole.models) == ["mc", "gp", *BASELINES]
    for model in whole.models.values():
        assert [run.trial for run in model.runs] == [0, 1, 2]
        assert all(0 <= run.f1 <= 1 and run.seconds > 0 for run in model.runs)
        assert (model.runs[0].terminals is None) == (model.name in BASELINES)
    assert not whole.interrupted


def test_telltree_learns_something(whole):
    assert whole.models["gp"].summaries["accuracy"].mean > whole.models["bayes"].summaries["accuracy"].mean


def test_a_trial_does_not_depend_on_the_others(study, whole):
    alone = run_experiment(study, trials=1, searches={"gp": SEARCH["gp"]}, baselines=["forest"], jobs=1, seed=5)
    for name in ("gp", "forest"):
        assert replace(alone.models[name].runs[0], seconds=0) == replace(whole.models[name].runs[0], seconds=0)


def test_telltree_runs_as_in_the_paper(study, monkeypatch):
    made = []

    class Spy(GrammarTreeClassifier):
        def fit(self, X, y):
            made.append((self, X, y))
            return super().fit(X, y)

    monkeypatch.setattr("telltree.experiments.models.GrammarTreeClassifier", Spy)
    run_experiment(study, trials=1, searches={"gp": SEARCH["gp"]}, baselines=(), jobs=1)
    spied, X, y = made[-1]
    seed = spied.random_state
    paper = {
        "criterion": GiniSize(),
        "max_depth": study.max_depth,
        "min_samples_leaf": 1,
        "growth": Greedy(thresholds="grid", simplify=False),
    }
    plain = GrammarTreeClassifier(Grammar.generic(X), SEARCH["gp"], random_state=seed, **paper)
    assert {**spied.get_params(), "callback": None} == plain.get_params()
    assert str(plain.fit(X, y).tree_) == str(spied.tree_)


class Interrupt:
    """Presses Ctrl-C after some runs."""

    def __init__(self, after):
        self.after, self.runs = after, []

    def __call__(self, progress):
        if progress.run is not None:
            self.runs.append((progress.run.model, progress.run.trial))
        if len(self.runs) == self.after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("jobs", few_fast([1, 2]))
def test_resuming_after_ctrl_c_gives_the_same_table(study, whole, tmp_path, jobs):
    """All runs of the table are of as many processes, so that it does not depend on their number either."""
    file, settings = tmp_path / "runs.jsonl", {"trials": 3, "searches": SEARCH, "jobs": jobs, "seed": 5}
    first, second, third = Interrupt(4), Interrupt(None), Interrupt(None)
    cut = run_experiment(study, store=file, progress=first, **settings)
    assert cut.interrupted
    assert sum(len(model.runs) for model in cut.models.values()) == 4
    assert "3 trials (interrupted: 0 whole)" in str(cut)
    with open(file, "ab") as torn:
        torn.write(b'{"key": "1234", "mod')
    rest = run_experiment(study, store=file, progress=second, **settings)
    assert timeless(rest) == timeless(whole)
    assert len(first.runs) + len(second.runs) == len({*first.runs, *second.runs}) == 15
    again = run_experiment(study, store=file, progress=third, **settings)
    assert third.runs == []
    assert again.to_json() == rest.to_json()


def test_other_settings_share_the_file_but_no_runs(study, tmp_path):
    file, settings = tmp_path / "runs.jsonl", {"trials": 1, "searches": (), "baselines": ["bayes"], "jobs": 1}
    run_experiment(study, store=file, **settings)
    others = (
        (study, settings | {"seed": 1}),
        (replace(study, y=study.y[::-1].copy()), settings),
        (replace(study, panel=study.panel.select(["speed", "on"])), settings),
    )
    for number, (other, changed) in enumerate(others, 2):
        runs = Interrupt(None)
        run_experiment(other, store=file, progress=runs, **changed)
        assert runs.runs == [("bayes", 0)]
        assert len(file.read_bytes().splitlines()) == number
    more = Interrupt(None)
    run_experiment(study, store=file, progress=more, **settings | {"trials": 2, "baselines": ["bayes", "tree"]})
    assert more.runs == [("tree", 0), ("bayes", 1), ("tree", 1)]


def test_progress_counts_and_estimates(study):
    seen = []
    run_experiment(study, trials=3, searches=(), baselines=["tree", "bayes"], jobs=1, progress=seen.append)
    assert [event.done for event in seen] == list(range(7))
    assert {event.total for event in seen} == {6}
    assert seen[0].run is None
    assert seen[0].seconds_left is None
    assert all(event.seconds_left > 0 for event in seen[1:-1])
    assert seen[-1].seconds_left == 0


def test_the_table_reads_well(whole):
    lines = str(whole).splitlines()
    assert lines[0].startswith(
        "Made up: 60 records of 3 classes, 3 trials, each a stratified random 70/30 split; seed 5"
    )
    head = next(line for line in lines if "naive Bayes" in line)
    assert head.split("  ")[-1].strip() == "naive Bayes"
    ours = next(line for line in lines if line.startswith("macro F1"))
    mean, error = whole.models["gp"].summaries["f1"]
    assert f"{mean:.4f} ± {error:.4f}" in ours
    assert lines[lines.index(ours) + 1].split() == ["in", "the", "paper", "-", "0.9867", "-", "-", "-"]
    assert max(map(len, lines)) <= 120


def test_json_holds_every_figure(whole):
    said = json.loads(whole.to_json())
    assert [model["name"] for model in said["models"]] == list(whole.models)
    gp = said["models"][1]
    assert gp["paper"]["f1"] == 0.9867
    assert gp["summary"]["f1"]["mean"] == pytest.approx(statistics.fmean(run["f1"] for run in gp["runs"]))
    assert "GeneticProgramming" in gp["settings"]


def test_one_trial_has_no_standard_error(study):
    found = run_experiment(study, trials=1, searches=(), baselines=["bayes"], jobs=1)
    assert json.loads(found.to_json())["models"][0]["summary"]["accuracy"]["standard_error"] is None
    assert "±" not in str(found).split("mean ±")[0]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"trials": 0}, "trials must be a whole number of at least 1"),
        ({"jobs": 0}, "jobs must be"),
        ({"seed": -1}, "seed must be"),
        ({"searches": ["gpp"]}, "no search called 'gpp'; there are mc, ge, gp"),
        ({"baselines": ["svm"]}, "no baseline called 'svm'; there are tree, forest, bayes"),
        ({"searches": (), "baselines": ()}, "at least one"),
    ],
)
def test_settings_that_make_no_sense(study, settings, told):
    with pytest.raises(SettingsError, match=told):
        run_experiment(study, **settings)


def test_an_unknown_experiment():
    with pytest.raises(SettingsError, match="no experiment called 'aslan'; there are auslan, acasx, encounters"):
        run_experiment("aslan")


# -- the file of finished runs

RUN = Run("k", "gp", 0, 0.9, 0.8, 0.7, 0.6, 4.25, 1.5)


def test_runs_come_back_as_they_went(tmp_path):
    file, runs = tmp_path / "ünï.jsonl", [RUN, replace(RUN, trial=1, terminals=None), replace(RUN, key="other")]
    for run in runs:
        RunStore(file).add(run)
    assert list(RunStore(file).runs.values()) == runs


def test_every_torn_last_line_is_dropped(tmp_path):
    file = tmp_path / "runs.jsonl"
    store = RunStore(file)
    store.add(RUN)
    whole = file.read_bytes()
    store.add(replace(RUN, trial=1))
    two = file.read_bytes()
    for length in range(len(whole), len(two)):
        file.write_bytes(two[:length])
        assert list(RunStore(file).runs.values()) == [RUN]
        assert file.read_bytes() == whole


@pytest.mark.parametrize(
    "content",
    [
        b"id,label\n1,a\n",
        b"a letter to a friend",
        b'{"key": "k"}\n',
        b"[1, 2]\n",
        b"\n",
        b"\xff\xfe\n",
        json.dumps(RUN.__dict__ | {"trial": -1}).encode() + b"\n",
        json.dumps(RUN.__dict__ | {"f1": "high"}).encode() + b"\n",
        json.dumps(RUN.__dict__ | {"f1": math.nan}).encode() + b"\n",
    ],
)
def test_another_file_is_left_as_it_is(tmp_path, content, study):
    file = tmp_path / "other"
    file.write_bytes(content)
    with pytest.raises(DataError, match="line 1: not a finished run"):
        run_experiment(study, store=file)
    assert file.read_bytes() == content


def test_a_file_that_cannot_be_written_is_found_before_the_work(study, tmp_path):
    seen = []
    with pytest.raises(DataError, match="cannot be read and written"):
        run_experiment(study, store=tmp_path / "no" / "such" / "folder.jsonl", progress=seen.append)
    assert not seen


# -- the paper


def test_the_papers_figures_have_a_column_for_every_model():
    for table in (AUSLAN, ACASX):
        assert set(table) == {*SEARCHES, *BASELINES}
        assert max(table, key=lambda name: table[name].f1) == "gp"
    assert isinstance(SEARCHES["ge"].search, GrammaticalEvolution)


@pytest.mark.parametrize("paper_budgets", [False, True])
def test_searches_that_the_paper_does_not_compare_run_if_they_are_named(paper_budgets):
    further = further_searches(paper_budgets=paper_budgets)
    assert not {*further} & {*SEARCHES}
    learning = [further[name].search.population for name in ("ce", "pipe")]
    assert learning == [1_000 if paper_budgets else 200] * 2
    assert isinstance(further["auto"].search, Auto)


@pytest.mark.slow
@pytest.mark.skipif(not (REAL / "auslan8").is_dir(), reason="the real data are not beside the project")
def test_the_real_auslan():
    found = run_experiment("auslan", data=REAL, trials=2, searches=["gp"], jobs=1)
    assert (found.records, len(found.classes)) == (216, 8)
    assert found.models["gp"].summaries["f1"].mean > 0.95
    assert found.models["forest"].summaries["accuracy"].mean > 0.9
    assert found.models["tree"].summaries["accuracy"].mean < found.models["gp"].summaries["accuracy"].mean
    assert "F(x < c) has four" in str(found)


class Deadly:
    """A model whose process is killed, as the system does when memory runs out."""

    title = "deadly"

    def settings(self, study):
        return "deadly"

    def predict(self, study, train, test, seed):
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_process_is_one_clear_error(monkeypatch, tmp_path):
    panel = Panel.from_arrays([np.array([[float(i)]]) for i in range(12)], columns=["x"])
    study = Study("k", "K", panel, np.array(["a", "b"] * 6), 2, 4)
    monkeypatch.setattr("telltree.experiments.run.choose_models", lambda *_, **__: {"deadly": Deadly()})
    with pytest.raises(TelltreeError, match="most likely because memory ran out: try fewer jobs than 2"):
        run_experiment(study, trials=2, jobs=2, store=tmp_path / "runs.jsonl")
