"""The scikit-learn interface."""

from telltree.estimators.classifier import GrammarTreeClassifier
from telltree.estimators.forest import GrammarForestClassifier
from telltree.estimators.judgement import Judgement, cross_validate, judge_by_folds, judge_on
from telltree.estimators.loading import load
from telltree.estimators.panel_maker import PanelMaker
from telltree.estimators.scorecard import Scorecard
from telltree.estimators.temporal_features import TemporalFeatures

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
