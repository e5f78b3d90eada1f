"""What must be the same for a fit to go on from a checkpoint, in the words of whoever is told that it is not."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.estimators.folds import Fold
from telltree.grammar import Grammar
from telltree.tree import Limits
from telltree.tree.checkpoint import Checkpoint
from telltree.tree.target import ClassLabels
from telltree.tree.training import fingerprint

_SEED = "the seed that follows from random_state"


def about_data(panel: Panel, labels: ClassLabels, parts: Sequence[Fold] | None) -> dict[str, str]:
    """What a fit learns from."""
    halves = [] if parts is None else [half for fold in parts for half in fold]
    return {
        "the data (columns, records and their labels)": fingerprint(panel, labels),
        "the step": str(panel.step),
        "sample and class weights": "none" if labels.weights is None else _hash(labels.weights),
        "cv, or groups": "none" if parts is None else _hash(*halves),
    }


def about_settings(
    grammar: Grammar | None, search: Any, fitness: Any, limits: Limits, *, centre: Collection[str], seed: int
) -> dict[str, str]:
    """How it does so. A fitness, search or function of the user's own goes by its name, and settings if it has any."""
    functions = [] if grammar is None else sorted(function.name for function in grammar.functions)
    return {
        "the grammar": _hash(np.frombuffer(json.dumps([str(grammar), functions]).encode(), np.uint8)),
        "search": _named(search),
        "fitness": _named(fitness),
        **{name: str(value) for name, value in asdict(limits).items()},
        "centre": _hash(np.frombuffer(json.dumps(sorted(centre)).encode(), np.uint8)),
        _SEED: str(seed),
    }


def seed_said(known: Checkpoint, otherwise: int) -> int:
    """The seed of the fit that a checkpoint is of, if there is one."""
    said = known.said(_SEED) or ""
    return int(said) if said.isdecimal() and len(said) < 20 else otherwise


def _named(setting: Any) -> str:
    if is_dataclass(setting):
        return repr(setting)
    return (
        f"{setting.__module__}.{setting.__qualname__}" if hasattr(setting, "__qualname__") else type(setting).__name__
    )


def _hash(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{len(array)} ".encode() + np.ascontiguousarray(array).tobytes())
    return f"sha256:{digest.hexdigest()}"
