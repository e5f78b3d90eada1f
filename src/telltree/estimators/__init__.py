"""The scikit-learn face."""

from telltree.estimators.classifier import GrammarTreeClassifier

__all__ = ["GrammarTreeClassifier"]
