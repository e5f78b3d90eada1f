"""The scikit-learn face."""

from telltree.estimators.classifier import GrammarTreeClassifier
from telltree.estimators.features import TemporalFeatures
from telltree.estimators.models import load
from telltree.estimators.panel_maker import PanelMaker

__all__ = ["GrammarTreeClassifier", "PanelMaker", "TemporalFeatures", "load"]
