"""What prediction needs of a model file: its tree, and nothing of what only learning and telling need.

The grammar, the runners-up and the sentences are checked by who reads them, which is `load_model`.
"""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from numpy.typing import NDArray

from telltree.data import Schema
from telltree.errors import ModelFormatError, TelltreeError
from telltree.logic import Formula
from telltree.tree.model.document import Branch, Document, LeafEntry
from telltree.tree.model.reading import read_document, read_file
from telltree.tree.model.skeleton import (
    DAMAGED,
    check_shape,
    classes_of,
    column_of,
    functions_of,
    how_read_of,
    leaf_of,
    schema_of,
    step_of,
)
from telltree.tree.tree import Leaf, Node, Tree


class Predictor(NamedTuple):
    """A tree that predicts."""

    tree: Tree
    """Its leaves have no headlines, and its nodes no figures."""
    classes: NDArray[Any]
    """The tree's classes, with the type that labels had."""
    schema: Schema
    """Of all columns of the training data."""


def load_predictor(path: str | os.PathLike[str]) -> Predictor:
    """The tree of a model file, to predict with; errors name the file."""
    try:
        return _predictor(read_document(read_file(path)))
    except ModelFormatError as error:
        raise type(error)(f"{os.fspath(path)!r}: {error}") from error
    except TelltreeError as error:
        raise ModelFormatError(f"{os.fspath(path)!r}: {DAMAGED}: {error}") from error


def _predictor(document: Document) -> Predictor:
    functions_of(document.functions, ())
    schema, kept = Schema(map(column_of, document.columns)), document.training
    classes = classes_of(document.classes)
    check_shape(document.tree)
    root = _tree(iter(document.tree), schema, len(classes))
    names, known = tuple(document.classes.values), schema_of(document)
    tree = Tree(root, names, known, frozenset(kept.missing), step_of(kept.step), how_read_of(kept.how_read))
    return Predictor(tree.narrowed(), classes, schema)


def _tree(waiting: Iterator[Branch | LeafEntry], schema: Schema, classes: int) -> Node | Leaf:
    entry = next(waiting)
    if isinstance(entry, LeafEntry):
        return leaf_of(entry, classes)
    formula = Formula.parse(entry.formula, schema)
    true, false = _tree(waiting, schema, classes), _tree(waiting, schema, classes)
    return Node(formula, true, false, tuple(a + b for a, b in zip(true.counts, false.counts, strict=True)))
