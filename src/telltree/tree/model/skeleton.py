"""What everyone who reads a model file needs first: its columns, its classes, and a tree that is one."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.amounts import counted
from telltree.data import Column, Schema
from telltree.data.how_read import HowRead
from telltree.errors import ModelFormatError
from telltree.operators import UserFunction
from telltree.tree.model.document import (
    Branch,
    Classes,
    ColumnEntry,
    Document,
    FunctionEntry,
    HowReadEntry,
    LeafEntry,
    StepEntry,
)
from telltree.tree.tree import Leaf

DEEPEST = 200
"""Branches from root to leaf; trees are walked recursively, and none is learnt half as deep."""
DAMAGED = "this model file is damaged"


def functions_of(wanted: Iterable[FunctionEntry], given: Sequence[UserFunction]) -> dict[str, UserFunction]:
    """The functions that the file names, found among those given."""
    known = {function.name: function for function in given}
    found = {}
    for entry in wanted:
        function = known.get(entry.name)
        signature = f"{entry.name}({', '.join(entry.takes)}) -> {entry.gives}"
        if function is None:
            raise ModelFormatError(
                f"this model calls the user function {signature:.200}, which a file cannot hold: give it to load, as "
                f"in load(path, functions=[{entry.name:.80}])"
            )
        if (list(function.takes), function.gives) != (entry.takes, entry.gives):
            raise ModelFormatError(
                f"this model calls {signature:.200}, but the function given takes {', '.join(function.takes)} and "
                f"gives {function.gives}; give the one it was learnt with"
            )
        found[entry.name] = function
    return found


def column_of(entry: ColumnEntry) -> Column:
    """A column, as the file has it."""
    fields = entry.model_dump()
    return Column(**{**fields, "levels": tuple(entry.levels)})


def classes_of(entry: Classes) -> NDArray[Any]:
    """The labels as an array that gives them back as they are."""
    wanted = [(type(value), value) for value in entry.values]
    try:
        with np.errstate(over="ignore"):
            found = np.array(entry.values, dtype=np.str_ if entry.dtype == "str" else entry.dtype)
        kept = [(type(value), value) for value in found.tolist()] == wanted and len(set(wanted)) == len(wanted)
    except (OverflowError, TypeError, ValueError):
        kept = False
    if not kept:
        raise ModelFormatError(f"{DAMAGED}: its classes are not different values of type {entry.dtype}")
    return found


def schema_of(document: Document) -> Schema:
    """The columns as the tree knows them: those that did not change in any training record are static."""
    still = document.training.still
    columns = map(column_of, document.columns)
    return Schema(dataclasses.replace(column, static=column.static or column.name in still) for column in columns)


def leaf_of(entry: LeafEntry, classes: int) -> Leaf:
    """A leaf of a tree for so many classes, without what is told of it."""
    if not len(entry.counts) == len(entry.weights) == classes or not any(entry.weights):
        raise ModelFormatError(
            f"{DAMAGED}: a leaf must have a count and a weight for each of {counted(classes, 'class', 'classes')}"
        )
    return Leaf(tuple(entry.counts), tuple(entry.weights))


def step_of(entry: StepEntry | None) -> tuple[float | None, str] | None:
    """The length of a step and its unit, if times were known."""
    return None if entry is None else (entry.length, entry.unit)


def how_read_of(entry: HowReadEntry) -> HowRead:
    """How the training records were read."""
    found = dict(entry)
    if not isinstance(entry.how, str):
        found["how"] = tuple((way.column, way.way) for way in entry.how)
    return HowRead(**found)


def check_shape(entries: Sequence[Branch | LeafEntry]) -> None:
    """That each branch is followed by two subtrees, and none is too deep."""
    depths = [0]  # of the subtrees that are yet to come
    for entry in entries:
        if not depths:
            raise ModelFormatError(f"{DAMAGED}: there are nodes after the end of the tree")
        depth = depths.pop()
        if isinstance(entry, Branch):
            depths += [depth + 1] * 2
        if depth > DEEPEST:
            raise ModelFormatError(f"{DAMAGED}: its tree is more than {DEEPEST} branches deep")
    if depths:
        raise ModelFormatError(f"{DAMAGED}: its tree ends too early")
