"""Results of an experiment, as a table for people and as JSON for machines."""

import json
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from telltree.experiments.studies import SOURCE, PaperScores
from telltree.experiments.trial import Run, TrialSummary
from telltree.text import counted

# ---- The table of an experiment in plain text: metrics down, models across, the paper's figures below ours.

_ROWS = (  # metric, its name, decimals
    ("accuracy", "accuracy", 4),
    ("f1", "macro F1", 4),
    ("precision", "macro precision", 4),
    ("recall", "macro recall", 4),
    ("terminals", "terminals a formula", 2),
    ("seconds", "seconds to learn", 2),
)
_WIDTH = 120


def experiment_text(experiment: "Experiment") -> str:
    """Return the table, with a heading and notes."""
    models = list(experiment.models.values())
    lines = [["", *(model.title for model in models)]]
    for metric, name, decimals in _ROWS:
        lines.append([name, *(_cell(model.summaries.get(metric), decimals) for model in models)])
        if metric != "seconds" and any(model.paper for model in models):
            lines.append(["  in the paper", *(_paper(model, metric, decimals) for model in models)])
    if len({len(model.runs) for model in models}) > 1:
        lines.append(["trials", *(str(len(model.runs)) for model in models)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines]
    return "\n".join([*textwrap.wrap(_heading(experiment), _WIDTH), "", *table, "", *_notes(experiment)])


def _heading(experiment: "Experiment") -> str:
    done = min(len(model.runs) for model in experiment.models.values())
    cut = f" (interrupted: {done} whole)" if experiment.interrupted else ""
    trials, classes = counted(experiment.trials, "trial"), counted(len(experiment.classes), "class", "classes")
    return (
        f"{experiment.title}: {counted(experiment.records, 'record')} of {classes}, {trials}{cut}, "
        f"each a stratified random 70/30 split; seed {experiment.seed}"
    )


def _cell(summary: TrialSummary | None, decimals: int) -> str:
    if summary is None:
        return "-"
    error = "" if summary.error is None else f" ± {summary.error:.{decimals}f}"
    return f"{summary.mean:.{decimals}f}{error}"


def _paper(model: "ModelResult", metric: str, decimals: int) -> str:
    figure = getattr(model.paper, metric, None)
    return "-" if figure is None else f"{figure:.{decimals}f}"


def _notes(experiment: "Experiment") -> list[str]:
    notes = ["mean ± standard error over the trials, on the test records", *experiment.notes]
    return [line for note in notes for line in textwrap.wrap(f"- {note}", _WIDTH, subsequent_indent="  ")]


# ---- Results.

METRICS = ("accuracy", "f1", "precision", "recall", "terminals", "seconds")


@dataclass(frozen=True)
class ModelResult:
    """One model of an experiment: its runs in order of trials, and the paper's scores for it."""

    name: str
    title: str
    settings: str
    runs: tuple[Run, ...]
    paper: PaperScores | None

    @cached_property
    def summaries(self) -> dict[str, TrialSummary]:
        """The mean and standard error over the runs of each metric that the model has."""
        found = {}
        for metric in METRICS:
            values = [value for run in self.runs if (value := getattr(run, metric)) is not None]
            if values:
                found[metric] = TrialSummary.of(values)
        return found


@dataclass(frozen=True)
class Experiment:
    """An experiment with the results of its models. `print` shows the table; `to_json` is for machines."""

    name: str
    title: str
    records: int
    classes: tuple[Any, ...]
    trials: int
    seed: int
    models: Mapping[str, ModelResult]
    grammar: str | None = None
    """The text of the grammar; None for the generic one."""
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    """True if Ctrl-C ended it early; the models then have the runs that were finished before."""

    def to_json(self) -> str:
        """Return all figures, run by run and summarised; apart from times, the same settings give the same text."""
        models = [
            {
                "name": model.name,
                "title": model.title,
                "settings": model.settings,
                "summary": {
                    metric: {"mean": found.mean, "standard_error": found.error}
                    for metric, found in model.summaries.items()
                },
                "paper": None if model.paper is None else model.paper._asdict(),
                "runs": [{name: value for name, value in asdict(run).items() if name != "model"} for run in model.runs],
            }
            for model in self.models.values()
        ]
        document = {
            "experiment": self.name,
            "title": self.title,
            "records": self.records,
            "classes": list(self.classes),
            "trials": self.trials,
            "seed": self.seed,
            "interrupted": self.interrupted,
            "grammar": self.grammar,
            "notes": list(self.notes),
            "paper": SOURCE,
            "models": models,
        }
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        return experiment_text(self)
