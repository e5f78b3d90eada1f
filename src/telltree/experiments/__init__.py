"""The paper's tables: trials, baselines, metrics."""

from telltree.experiments.encounter_grammar import encounter_grammar
from telltree.experiments.experiment import Experiment, ModelResult
from telltree.experiments.leakage import Shortcut, shortcuts
from telltree.experiments.progress import Progress
from telltree.experiments.run import run_experiment
from telltree.experiments.stories import Stories, tell_stories
from telltree.experiments.studies import auslan_study, encounter_study
from telltree.experiments.study import Study

__all__ = [
    "Experiment",
    "ModelResult",
    "Progress",
    "Shortcut",
    "Stories",
    "Study",
    "auslan_study",
    "encounter_grammar",
    "encounter_study",
    "run_experiment",
    "shortcuts",
    "tell_stories",
]
