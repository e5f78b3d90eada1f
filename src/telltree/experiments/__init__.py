"""The paper's tables: trials, baselines, metrics."""

from telltree.experiments.experiment import Experiment, ModelResult
from telltree.experiments.grammars import acasx_grammar, encounter_grammar
from telltree.experiments.leakage import Shortcut, shortcuts
from telltree.experiments.progress import Progress
from telltree.experiments.run import run_experiment
from telltree.experiments.stories import Stories, tell_stories
from telltree.experiments.studies import acasx_study, auslan_study, encounter_study
from telltree.experiments.study import Study

__all__ = [
    "Experiment",
    "ModelResult",
    "Progress",
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
