"""Models -> model files: the same model gives the same bytes."""

import dataclasses
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from telltree.engine import Formula
from telltree.errors import ModelFormatError, SettingsError
from telltree.files import would_replace, write_whole
from telltree.grammar import Grammar
from telltree.logic import UserFunction
from telltree.models.document import FOREST, FORMAT, MOST_PARTS, VERSION, Document, ForestDocument
from telltree.models.model import FittedModel, ForestModel, Model
from telltree.models.parse_document import MOST_BYTES, bounded, checked
from telltree.panel import Column, Schema
from telltree.panel.dates import StepLength, time_column_of
from telltree.panel.input_options import ReadArguments, joined_arguments
from telltree.panel.schema import TEXTS
from telltree.search import SEARCHES, Proof
from telltree.tree.criterion import MDL, GiniSize
from telltree.tree.pruning_path import TreeScore
from telltree.tree.tree import Floor, Headline, Leaf, Node, RunnerUp, Tree, Unknown

_CANNOT = "this model cannot be saved"


def encode(model: Model | ForestModel) -> bytes:
    """Return the bytes of a model file; ModelFormatError for what files cannot hold, such as odd types of labels."""
    document = _bounded_document(model) if isinstance(model, Model) else _bounded_forest_document(model)
    try:
        text = json.dumps(document.written(), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ModelFormatError(
            f"{_CANNOT}: a name, category or label has {half!a}, half of a character, which no file can hold; rename it"
        ) from None
    if len(content) > MOST_BYTES:
        raise ModelFormatError(f"{_CANNOT}: it takes {len(content):,} bytes, and at most {MOST_BYTES:,} are read")
    try:
        bounded(content)
    except ModelFormatError as error:
        raise ModelFormatError(f"{_CANNOT}, since it could not be loaded: {error}; learn from fewer columns") from None
    return content


def save_model(model: Model | ForestModel, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the model to a file, whole or not at all."""
    target = Path(path)
    if target.is_dir() or (would_replace(target) and not overwrite):
        remedy = "is a directory" if target.is_dir() else "exists; give another path, or overwrite=True"
        raise SettingsError(f"the model is not written: {str(target)!r} {remedy}")
    if not target.parent.is_dir():
        raise SettingsError(f"the model is not written: there is no directory {str(target.parent)!r}; make it first")
    write_whole(target, encode(model))


def _bounded_document(model: Model) -> Document:
    """Return the document, with as many of the best runners-up of each node as can be read."""
    lengths = (max(len(node.runners_up), len(node.by_size)) for node in model.pruning_path.whole.nodes)
    others = max(lengths, default=0)
    document = _document(model, others)
    while others and document.is_too_long():
        others //= 2
        document = _document(model, others)
    if document.is_too_long():
        raise ModelFormatError(
            f"{_CANNOT}: its formulas have more than the {MOST_PARTS:,} words and signs that are read; "
            f"learn a smaller tree, with max_depth or min_samples_leaf"
        )
    return document


def _bounded_forest_document(model: ForestModel) -> ForestDocument:
    document = _forest_document(model)
    if document.is_too_long():
        raise ModelFormatError(
            f"{_CANNOT}: its formulas have more than the {MOST_PARTS:,} words and signs that are read; learn fewer "
            "trees, or smaller ones, with max_depth or min_samples_leaf of the tree"
        )
    return document


def _document(model: Model, others: int) -> Document:
    found = {
        "format": FORMAT,
        **_shared_entries(model, [model.tree], model.pruning_path.whole.static, model.tree.how_read),
        "tree": list(_preorder(model.tree.root, others)),
        "pruning_path": _pruning_path(model, others),
        "optimum": None if model.tree.optimum is None else dataclasses.asdict(model.tree.optimum),
        "floors": [_floor(floor) for floor in model.tree.floors],
        "settings": _settings(model.parameters, model),
    }
    return checked(found, _CANNOT, Document)


def _forest_document(model: ForestModel) -> ForestDocument:
    trees, seed = model.trees, _python_value(model.random_state)
    still = frozenset().union(*(tree.static for tree in trees))
    found = {
        "format": FOREST,
        **_shared_entries(model, trees, still, joined_arguments(tree.how_read for tree in trees)),
        "trees": [list(_preorder(tree.root, 0)) for tree in trees],
        "counts": list(model.counts),
        "n_estimators": _python_value(model.n_estimators),
        "random_state": seed if isinstance(seed, int) else None,  # a generator cannot be stored
        "settings": None if model.parameters is None else _settings(model.parameters, model),
    }
    return checked(found, _CANNOT, ForestDocument)


def _shared_entries(
    model: Model | ForestModel, trees: Sequence[Tree], still: frozenset[str], how_read: ReadArguments
) -> dict[str, Any]:
    """Return the common part of files of trees and forests; `still`: columns that never change within a record."""
    training, schema, step = model.training, model.training.schema, trees[0].step
    return {
        "version": VERSION,
        **trees[0].target.entry(),
        "columns": [_column(column) for column in schema.values()],
        "functions": [{"name": f.name, "takes": list(f.takes), "gives": f.gives} for f in _functions(model, trees)],
        "grammar": None if model.grammar is None else _grammar(model.grammar, schema),
        "training": {
            "seed": training.seed,
            "step": None if step is None else {"length": step[0], "unit": step[1]} | _time_column(step),
            "how_read": _how_read(how_read),
            "fingerprint": training.fingerprint,
            "missing": list(training.missing),
            "still": sorted(name for name in still if not schema[name].static),
            "spread": [{"signal": signal, "deviation": size} for signal, size in sorted(training.deviations.items())],
            "interrupted": model.interrupted,
            "named": model.named,
        },
    }


def _python_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _number(value: Any) -> float | str | None:
    if value is None:
        return None
    return float(value) if math.isfinite(value) else str(float(value))


def _column(column: Column) -> dict[str, Any]:
    found = {name: getattr(column, name) for name in ("name", *TEXTS, "static")}
    thresholds = None if column.thresholds is None else list(column.thresholds)
    return {**found, "type": column.type.value, "thresholds": thresholds, "levels": list(column.levels)}


def _grammar(grammar: Grammar, schema: Schema) -> dict[str, Any]:
    columns = [
        column.name if schema.get(column.name) == column else _column(column) for column in grammar.schema.values()
    ]
    left_out = [{"column": name, "reason": reason} for name, reason in grammar.left_out.items()]
    return {"text": str(grammar), "columns": columns, "left_out": left_out}


def _preorder(node: Node | Leaf, others: int) -> Iterator[dict[str, Any]]:
    """Yield the nodes in preorder, each with at most `others` runners-up."""
    if isinstance(node, Leaf):
        headline = None if node.headline is None else _headline(node.headline)
        short = None if node.short is None else str(node.short)
        given = [{"formula": str(condition.formula), "members": condition.members} for condition in node.conditions]
        texts = {"headline": headline, "short": short, **({"conditions": given} if given else {})}
        yield {"kind": "leaf", **node.summary.entry(), **texts}
        return
    yield {
        "kind": "branch",
        **_formula(node.shown),
        "formula": str(node.formula),
        "fitness": _number(node.fitness),
        "gain": _number(node.gain),
        "robustness": _number(node.robustness),
        "found": None if node.found is None else str(node.found),
        "naming": node.naming,
        "runners_up": _runners_up(node.runners_up[:others]),
        **({"by_size": _runners_up(node.by_size[:others])} if node.by_size else {}),
        **({} if node.proof is None else {"proof": _proof(node.proof)}),
        **({} if node.unknown is None else {"unknown": _unknown(node.unknown)}),
    }
    yield from _preorder(node.true, others)
    yield from _preorder(node.false, others)


def _unknown(unknown: Unknown) -> dict[str, Any]:
    return {"said": str(unknown.shown), "goes": unknown.is_true, "records": unknown.records}


def _proof(proof: Proof) -> dict[str, Any]:
    return dataclasses.asdict(proof) | {"formulas": str(proof.formulas), "fitness": _number(proof.fitness)}


def _runners_up(formulas: Sequence[RunnerUp]) -> list[dict[str, Any]]:
    return [{**_formula(one.formula), "fitness": _number(one.fitness)} for one in formulas]


def _pruning_path(model: Model, others: int) -> dict[str, Any] | None:
    """Return the unpruned tree and the scores of its prunings; None if the model's tree is unpruned and unscored.

    If classes have a minimum recall, the weights of the model's leaves differ from those on the pruning path.
    """
    scores = [_score(step.score) for step in model.pruning_path if step.score is not None]
    if not scores and not model.tree.floors and len(model.pruning_path.whole.leaves) == len(model.tree.leaves):
        return None
    taken = next((place for place, step in enumerate(model.pruning_path) if step.own is not None), None)
    return {"tree": list(_preorder(model.pruning_path.whole.root, others)), "scores": scores, "taken": taken}


def _score(score: TreeScore) -> dict[str, Any]:
    further = {"balanced": score.balanced, "behind": score.behind}
    measures = {name: measured._asdict() for name, measured in further.items() if measured is not None}
    return {"share": score.share, "error": score.error, **measures}


def _headline(headline: Headline) -> dict[str, Any]:
    counts = {"others": headline.others, "elsewhere": headline.elsewhere, "missed": headline.missed}
    return {"formula": str(headline.formula), **counts}


def _formula(formula: Formula) -> dict[str, Any]:
    return {"formula": str(formula), "spoken": any(e.english is not None for e in formula.expression.walk())}


def _functions(model: Model | ForestModel, trees: Sequence[Tree]) -> list[UserFunction]:
    """Return the functions in parameters, grammar and formulas, without duplicates, sorted by name."""
    settings, grammar = model.parameters or {"functions": ()}, model.grammar
    called = (function for tree in trees for function in _functions_in(tree))
    given = [*settings["functions"], *(grammar.functions if grammar else ()), *called]
    found: dict[str, UserFunction] = {}
    for function in given:
        known = found.setdefault(function.name, function)
        if (known.takes, known.gives) != (function.takes, function.gives):
            raise ModelFormatError(f"{_CANNOT}: two different functions are called {function.name!r}; rename one")
    return [found[name] for name in sorted(found)]


def _functions_in(tree: Tree) -> Iterator[UserFunction]:
    for node in tree.nodes:
        for formula in (node.formula, *(other.formula for other in (*node.runners_up, *node.by_size))):
            yield from (e.head for e in formula.expression.walk() if isinstance(e.head, UserFunction))


def _settings(given: Mapping[str, Any], model: FittedModel) -> dict[str, Any]:
    seed = _python_value(given["random_state"])
    return {
        "grammar": _given_grammar(given["grammar"], model),
        "search": _search(given["search"]),
        "criterion": _criterion(given["criterion"]),
        "growth": _growth(given["growth"]),
        "max_depth": _python_value(given["max_depth"]),
        "min_samples_leaf": _python_value(given["min_samples_leaf"]),
        "cv": _python_value(given["cv"]) if isinstance(given["cv"], int | np.integer) else None,  # folds are of records
        "class_weight": _class_weight(given["class_weight"]),
        "min_recall": None if given["min_recall"] is None else _min_recall(given["min_recall"]),
        "missing": given["missing"],
        "functions": [function.name for function in given["functions"]],
        "random_state": seed if isinstance(seed, int) else None,  # a generator cannot be stored
    }


def _given_grammar(given: Any, model: FittedModel) -> dict[str, Any] | str | None:
    if isinstance(given, Grammar):
        return "learned" if given == model.grammar else _grammar(given, model.training.schema)
    return None if given is None else {"text": given}


def _time_column(step: StepLength) -> dict[str, str]:
    """Return the name of the column of times if there is no unit of times, which sentences prefer."""
    return {"clock": time_column_of(step)} if time_column_of(step) and not step[1] else {}


def _how_read(how_read: ReadArguments) -> dict[str, Any]:
    given = how_read.given()
    if not isinstance(how_read.how, str):
        given["how"] = [{"column": name, "way": way} for name, way in how_read.how]
    return given


def _search(search: Any) -> dict[str, Any] | str | None:
    if search is None:
        return None
    if type(search) not in {known.load() for known in SEARCHES.values()}:
        return "custom"
    settings = _settings_of(search)
    seeds = [str(seed) for seed in settings.pop("seeds")]
    return {"name": type(search).__name__, "settings": settings | ({"seeds": seeds} if seeds else {})}


def _settings_of(part: Any) -> dict[str, Any]:
    """Return the settings of a search or growth, by name."""
    found = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return {name: _number(value) if isinstance(value, float) else _python_value(value) for name, value in found.items()}


def _criterion(criterion: Any) -> dict[str, Any] | str | None:
    if criterion is None:
        return None
    if type(criterion) not in (MDL, GiniSize):
        return "custom"
    return {field.name: _python_value(getattr(criterion, field.name)) for field in dataclasses.fields(criterion)}


def _growth(growth: Any) -> dict[str, Any] | None:
    return None if growth is None else {"name": type(growth).__name__, "settings": _settings_of(growth)}


def _floor(floor: Floor) -> dict[str, Any]:
    found = {"before": floor.before._asdict(), "after": floor.after._asdict()}
    return {"label": floor.label, "floor": floor.floor, "factor": floor.factor, **found}


def _min_recall(given: Mapping[Any, float]) -> list[dict[str, Any]]:
    return [{"label": _python_value(label), "recall": float(share)} for label, share in given.items()]


def _class_weight(given: Any) -> list[dict[str, Any]] | str | None:
    if isinstance(given, Mapping):
        return [{"label": _python_value(label), "weight": float(weight)} for label, weight in given.items()]
    return None if given is None else str(given)
