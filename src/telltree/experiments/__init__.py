"""The paper's tables: trials, baselines, metrics."""

from telltree.experiments.leakage import Shortcut, shortcuts
from telltree.experiments.pictures import Stories, tell_stories
from telltree.experiments.results import Experiment, ModelResult
from telltree.experiments.run import RunProgress, run_experiment
from telltree.experiments.studies import (
    Study,
    acasx_grammar,
    acasx_study,
    auslan_study,
    encounter_grammar,
    encounter_study,
)

__all__ = [
    "Experiment",
    "ModelResult",
    "RunProgress",
    "Shortcut",
    "Stories",
    "Study",
    "acasx_grammar",
    "acasx_study",
    "auslan_study",
    "encounter_grammar",
    "encounter_study",
    "run_experiment",
    "shortcuts",
    "tell_stories",
]
