"""What an experiment found, as a table for people and as JSON for machines."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from telltree.experiments.metrics import Summary
from telltree.experiments.paper import SOURCE, Figures
from telltree.experiments.table import experiment_text
from telltree.experiments.trial import Run

METRICS = ("accuracy", "f1", "precision", "recall", "terminals", "seconds")


@dataclass(frozen=True)
class ModelResult:
    """One model of an experiment: its runs in order of trials, and the paper's figures for it."""

    name: str
    title: str
    settings: str
    runs: tuple[Run, ...]
    paper: Figures | None

    @cached_property
    def summaries(self) -> dict[str, Summary]:
        """Mean and standard error of each metric that the model has, over its runs."""
        found = {}
        for metric in METRICS:
            values = [value for run in self.runs if (value := getattr(run, metric)) is not None]
            if values:
                found[metric] = Summary.of(values)
        return found


@dataclass(frozen=True)
class Experiment:
    """The models side by side. `print` shows the table; `to_json` is for machines.

    grammar: its text, or None for the generic one. interrupted: Ctrl-C ended it early; the models have the runs that
    were finished until then.
    """

    name: str
    title: str
    records: int
    classes: tuple[Any, ...]
    trials: int
    seed: int
    models: Mapping[str, ModelResult]
    grammar: str | None = None
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    def to_json(self) -> str:
        """All figures, run by run and summarised. Apart from times, the same settings give the same text."""
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
        whole = {
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
        return json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        return experiment_text(self)
