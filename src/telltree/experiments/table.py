"""The table of an experiment in plain text: metrics down, models across, the paper's figures below ours."""

import textwrap
from typing import TYPE_CHECKING

from telltree.amounts import counted
from telltree.experiments.metrics import Summary

if TYPE_CHECKING:
    from telltree.experiments.experiment import Experiment, ModelResult

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
    """The table with a line above it that says what was done, and notes below."""
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


def _cell(summary: Summary | None, decimals: int) -> str:
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
