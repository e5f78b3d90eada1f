"""Classifiers to model files and back."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from telltree.errors import SettingsError
from telltree.operators import UserFunction
from telltree.writing import would_replace, write_whole

if TYPE_CHECKING:
    from telltree.estimators.classifier import GrammarTreeClassifier

_WITHOUT_EFFECT = ("n_jobs", "progress")
"""Parameters of which results do not depend: they say how this machine works, and are no part of the model."""


def save(classifier: "GrammarTreeClassifier", path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted classifier to a file, whole or not at all."""
    from telltree.tree.model import Model, encode

    target = Path(path)
    if target.is_dir() or (would_replace(target) and not overwrite):
        remedy = "is a directory" if target.is_dir() else "exists; give another path, or overwrite=True"
        raise SettingsError(f"the model is not written: {str(target)!r} {remedy}")
    if not target.parent.is_dir():
        raise SettingsError(f"the model is not written: there is no directory {str(target.parent)!r}; make it first")
    parameters = classifier.get_params(deep=False)
    content = encode(
        Model(
            tree=classifier.tree_,
            front=classifier.front_,
            classes=classifier.classes_,
            grammar=classifier.grammar_,
            training=classifier.training_,
            interrupted=classifier.interrupted_,
            named=hasattr(classifier, "feature_names_in_"),
            parameters={name: value for name, value in parameters.items() if name not in _WITHOUT_EFFECT},
        )
    )
    write_whole(target, content)


def load(path: str | os.PathLike[str], *, functions: Sequence[UserFunction] = ()) -> "GrammarTreeClassifier":
    """Read a classifier that `save` has written: it predicts, explains and can be fitted again as before.

    `functions` are the user functions that its formulas call, which no file can hold. A file that is not a model is a
    ModelFormatError, one that a newer telltree has written a ModelVersionError. `searches_` is empty: what searches met
    on the way is not kept.
    """
    from telltree.estimators.classifier import GrammarTreeClassifier
    from telltree.tree.model import load_model

    model = load_model(path, functions)
    classifier = GrammarTreeClassifier(**model.parameters)
    classifier.classes_, classifier.grammar_, classifier.training_ = model.classes, model.grammar, model.training
    classifier.tree_, classifier.searches_, classifier.interrupted_ = model.tree, {}, model.interrupted
    classifier.front_, classifier.validation_ = model.front, None
    names = model.training.schema.names
    classifier.n_features_in_ = len(names)
    if model.named:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    return classifier
