"""The experiments of the paper: studies, models, trials, tables and figures."""

from telltree.experiments.figures import NmacCategories, categorize_nmacs
from telltree.experiments.leakage import Shortcut, shortcuts
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
    "NmacCategories",
    "RunProgress",
    "Shortcut",
    "Study",
    "acasx_grammar",
    "acasx_study",
    "auslan_study",
    "categorize_nmacs",
    "encounter_grammar",
    "encounter_study",
    "run_experiment",
    "shortcuts",
]
