"""Classifiers to model files."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from telltree.errors import SettingsError
from telltree.files import would_replace, write_whole

if TYPE_CHECKING:
    from telltree.estimators.classifier import GrammarTreeClassifier
    from telltree.estimators.forest import GrammarForestClassifier

_WITHOUT_EFFECT = ("n_jobs", "callback")
"""Parameters that do not affect results: they describe how this machine works, and are not part of the model."""


def save(
    classifier: "GrammarTreeClassifier | GrammarForestClassifier",
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
) -> None:
    """Write a fitted classifier to a file, whole or not at all."""
    from telltree.models.write_model import encode

    target = Path(path)
    if target.is_dir() or (would_replace(target) and not overwrite):
        remedy = "is a directory" if target.is_dir() else "exists; give another path, or overwrite=True"
        raise SettingsError(f"the model is not written: {str(target)!r} {remedy}")
    if not target.parent.is_dir():
        raise SettingsError(f"the model is not written: there is no directory {str(target.parent)!r}; make it first")
    write_whole(target, encode(classifier.model()))


def parameters_of(classifier: "GrammarTreeClassifier") -> dict[str, Any]:
    """The parameters that affect results."""
    given = classifier.get_params(deep=False)
    return {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}
