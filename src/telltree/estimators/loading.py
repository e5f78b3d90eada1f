"""Classifiers from model files."""

import os
from collections.abc import Sequence

import numpy as np

from telltree.errors import ModelFormatError
from telltree.estimators.classifier import GrammarTreeClassifier
from telltree.estimators.forest import GrammarForestClassifier
from telltree.logic import UserFunction
from telltree.models import ForestModel, Model, load_any, load_model
from telltree.tree.class_target import ClassTarget


def load(
    path: str | os.PathLike[str], *, functions: Sequence[UserFunction] = ()
) -> GrammarTreeClassifier | GrammarForestClassifier:
    """Read a tree or forest that its `save` has written: it predicts, explains and can be fitted again as before.

    `functions` are the user functions that its formulas call, which no file can hold. A file that is not a model is a
    ModelFormatError, one that a newer telltree has written a ModelVersionError. `searches_` of a tree is empty, and
    there is no `out_of_bag_` of a forest: they are not saved.
    """
    return _classifier(load_any(path, functions), path)


def load_tree(path: str | os.PathLike[str], *, functions: Sequence[UserFunction] = ()) -> GrammarTreeClassifier:
    """Read a tree; a forest is a ModelFormatError."""
    found = _classifier(load_model(path, functions), path)
    assert isinstance(found, GrammarTreeClassifier)
    return found


def _classifier(
    model: Model | ForestModel, path: str | os.PathLike[str]
) -> GrammarTreeClassifier | GrammarForestClassifier:
    target = (model.tree if isinstance(model, Model) else model.trees[0]).target
    if not isinstance(target, ClassTarget):
        raise ModelFormatError(
            f"{os.fspath(path)!r} holds a model that tells no classes, and is no classifier: read it with "
            "telltree.models.load_model(path)"
        )
    classifier = _tree(model) if isinstance(model, Model) else _forest(model)
    classifier.classes_, classifier.grammar_, classifier.training_ = target.array, model.grammar, model.training
    classifier.interrupted_ = model.interrupted
    names = model.training.schema.names
    classifier.n_features_in_ = len(names)
    if model.named:
        classifier.feature_names_in_ = np.array(names, dtype=object)
    return classifier


def _tree(model: Model) -> GrammarTreeClassifier:
    classifier = GrammarTreeClassifier(**model.parameters)
    classifier.tree_, classifier.searches_ = model.tree, {}
    classifier.pruning_path_, classifier.validation_ = model.pruning_path, None
    return classifier


def _forest(model: ForestModel) -> GrammarForestClassifier:
    tree = None if model.parameters is None else GrammarTreeClassifier(**model.parameters)
    classifier = GrammarForestClassifier(tree, model.n_estimators, random_state=model.random_state)
    classifier.trees_, classifier.class_counts_ = model.trees, model.counts
    classifier.out_of_bag_, classifier.oob_decision_function_ = None, None
    return classifier
