"""The scikit-learn interface."""

from telltree.estimators.classifier import GrammarTreeClassifier
from telltree.estimators.cross_validation import cross_validate
from telltree.estimators.features import TemporalFeatures
from telltree.estimators.forest import GrammarForestClassifier
from telltree.estimators.judgement import Judgement, judge_by_folds, judge_on
from telltree.estimators.loading import load
from telltree.estimators.panel_maker import PanelMaker
from telltree.estimators.scorecard import Scorecard

__all__ = [
    "GrammarForestClassifier",
    "GrammarTreeClassifier",
    "Judgement",
    "PanelMaker",
    "Scorecard",
    "TemporalFeatures",
    "cross_validate",
    "judge_by_folds",
    "judge_on",
    "load",
]
