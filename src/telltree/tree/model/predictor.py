"""What prediction needs of a model file: its tree, without what only learning and telling need.

The grammar, the runners-up and the sentences are checked by `load_model`, which reads them.
"""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from telltree.data import Schema
from telltree.errors import ModelFormatError, TelltreeError
from telltree.operators import UserFunction
from telltree.tree.model.document import Branch, Document, LeafEntry
from telltree.tree.model.reading import read_file, read_tree
from telltree.tree.model.skeleton import (
    DAMAGED,
    FormulaReader,
    check_shape,
    column_of,
    functions_of,
    question_of,
    target_of,
    tree_of,
)
from telltree.tree.target import Target
from telltree.tree.tree import Leaf, Node, Tree


class Predictor(NamedTuple):
    """A tree that predicts."""

    tree: Tree
    """Its leaves have no headlines, and its nodes no figures."""
    schema: Schema
    """Of all columns of the training data."""


def load_predictor(path: str | os.PathLike[str], functions: Sequence[UserFunction] = ()) -> Predictor:
    """The tree of a model file, to predict with, whose formulas may call `functions`; errors name the file."""
    try:
        return _predictor(read_tree(read_file(path)), functions)
    except ModelFormatError as error:
        raise type(error)(f"{os.fspath(path)!r}: {error}") from error
    except TelltreeError as error:
        raise ModelFormatError(f"{os.fspath(path)!r}: {DAMAGED}: {error}") from error


def _predictor(document: Document, functions: Sequence[UserFunction]) -> Predictor:
    called = functions_of(document.functions, functions)
    schema = Schema(map(column_of, document.columns))
    check_shape(document.tree)
    root = _tree(iter(document.tree), FormulaReader(None, schema, called), target_of(document))
    return Predictor(tree_of(document, schema, root).narrowed(), schema)


def _tree(waiting: Iterator[Branch | LeafEntry], formulas: FormulaReader, target: Target) -> Node | Leaf:
    entry = next(waiting)
    if isinstance(entry, LeafEntry):
        return Leaf(target.summary_of(entry.told))
    formula, unknown = question_of(entry, formulas, spoken=False)
    return Node(formula, _tree(waiting, formulas, target), _tree(waiting, formulas, target), unknown=unknown)
