"""Classifiers to model files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from telltree.errors import SettingsError
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
            grammar=classifier.grammar_,
            training=classifier.training_,
            interrupted=classifier.interrupted_,
            named=hasattr(classifier, "feature_names_in_"),
            parameters={name: value for name, value in parameters.items() if name not in _WITHOUT_EFFECT},
        )
    )
    write_whole(target, content)
