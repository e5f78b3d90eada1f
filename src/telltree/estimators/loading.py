"""Classifiers from model files."""

import os
from collections.abc import Sequence

import numpy as np

from telltree.errors import ModelFormatError
from telltree.estimators.classifier import GrammarTreeClassifier
from telltree.operators import UserFunction
from telltree.tree.target import ClassTarget


def load(path: str | os.PathLike[str], *, functions: Sequence[UserFunction] = ()) -> GrammarTreeClassifier:
    """Read a classifier that its `save` has written: it predicts, explains and can be fitted again as before.

    `functions` are the user functions that its formulas call, which no file can hold. A file that is not a model is a
    ModelFormatError, one that a newer telltree has written a ModelVersionError. `searches_` is empty: what searches met
    on the way is not kept.
    """
    from telltree.tree.model import load_model

    model = load_model(path, functions)
    target = model.tree.target
    if not isinstance(target, ClassTarget):
        raise ModelFormatError(
            f"{os.fspath(path)!r} holds a model that tells no classes, and is no classifier: read it with "
            "telltree.tree.model.load_model(path)"
        )
    classifier = GrammarTreeClassifier(**model.parameters)
    classifier.classes_, classifier.grammar_, classifier.training_ = target.array, model.grammar, model.training
    classifier.tree_, classifier.searches_, classifier.interrupted_ = model.tree, {}, model.interrupted
    classifier.front_, classifier.validation_ = model.front, None
    names = model.training.schema.names
    classifier.n_features_in_ = len(names)
    if model.named:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    return classifier
