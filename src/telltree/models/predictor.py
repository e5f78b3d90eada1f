"""Model files for prediction: columns, target, tree and formulas, without what only learning and explaining need."""

import dataclasses
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from telltree.engine import Formula
from telltree.engine.three_valued import resolve_unknown
from telltree.errors import GrammarError, ModelFormatError, TelltreeError
from telltree.grammar.formulas import expression_of
from telltree.grammar.grammar import Grammar
from telltree.grammar.parser import parse_expression
from telltree.logic import UserFunction
from telltree.models.document import Branch, ColumnEntry, CommonEntry, Document, FunctionEntry, HowReadEntry, LeafEntry
from telltree.models.parse_document import read_file, read_tree
from telltree.panel import Column, Schema
from telltree.panel.dates import NamedStep, StepLength
from telltree.panel.input_options import ReadArguments
from telltree.tree.class_target import read_target
from telltree.tree.target import Target
from telltree.tree.tree import Leaf, Node, Optimum, Tree, Unknown

# ---- Parts of model files that prediction needs: columns, target, shape and formulas of the tree.

DAMAGED = "this model file is damaged"
DEEPEST = 200
"""The most branches from root to leaf; trees are walked recursively, and learned ones are less than half as deep."""


def functions_of(wanted: Iterable[FunctionEntry], given: Sequence[UserFunction]) -> dict[str, UserFunction]:
    """Return the functions that the file names, from those given."""
    known = {function.name: function for function in given}
    found = {}
    for entry in wanted:
        function = known.get(entry.name)
        signature = f"{entry.name}({', '.join(entry.takes)}) -> {entry.gives}"
        if function is None:
            raise ModelFormatError(
                f"this model calls the user function {signature:.200}, which a file cannot hold: give it to load, as "
                f"in load(path, functions=[{entry.name:.80}]), or by --functions FILE"
            )
        if (list(function.takes), function.gives) != (entry.takes, entry.gives):
            raise ModelFormatError(
                f"this model calls {signature:.200}, but the function given takes {', '.join(function.takes)} and "
                f"gives {function.gives}; give the one it was learnt with"
            )
        found[entry.name] = function
    return found


def column_of(entry: ColumnEntry) -> Column:
    """Return the column of an entry."""
    return Column(**vars(entry))


def tree_of(document: Document, schema: Schema, root: Node | Leaf) -> Tree:
    """Return the tree below a root, with the properties of its training data."""
    kept = document.training
    optimum = None if document.optimum is None else Optimum(**document.optimum.model_dump())
    return Tree(
        root, known_schema(document, schema), frozenset(kept.missing), step_of(document), how_read_of(kept.how_read),
        optimum,
    )  # fmt: skip


def known_schema(document: CommonEntry, schema: Schema) -> Schema:
    """Return the schema of trees, in which columns that never changed within records are static."""
    still = frozenset(document.training.still)
    return Schema(dataclasses.replace(c, static=True) if c.name in still else c for c in schema.values())


def step_of(document: CommonEntry) -> StepLength | None:
    """Return the length of a step in training, and its unit."""
    step = document.training.step
    return None if step is None else NamedStep(step.length, step.unit, step.clock)


def target_of(document: CommonEntry) -> Target:
    """Return the target of the model: classes, or another kind."""
    if document.classes is not None and document.target is None:
        return read_target("classes", document.classes.model_dump())
    kind = None if document.target is None else document.target.get("kind")
    if document.classes is not None or not isinstance(kind, str):
        raise ModelFormatError(f"{DAMAGED}: it must have either classes, or a target with its kind")
    return read_target(kind, document.target or {})


class FormulaReader:
    """Parses formulas, and restores the English that rules of the grammar give them."""

    def __init__(self, grammar: Grammar | None, schema: Schema, functions: dict[str, UserFunction]) -> None:
        self._grammar, self._functions, self._training = grammar, tuple(functions.values()), schema
        self._schema = schema if grammar is None else grammar.schema
        self._known: dict[tuple[str, bool], Formula] = {}

    def read(self, text: str, spoken: bool) -> Formula:
        """Parse a formula; its columns must be those of the training data."""
        if (text, spoken) not in self._known:
            self._known[text, spoken] = self._read(text, spoken)
        return self._known[text, spoken]

    def _read(self, text: str, spoken: bool) -> Formula:
        try:
            # headlines may mention columns that the grammar does not
            schema = self._schema if spoken else self._training
            formula = Formula(expression_of(parse_expression(text), schema, functions=self._functions))
            if spoken and self._grammar is not None:
                formula = Formula(self._grammar.derive(formula.expression).expression)
        except GrammarError as error:
            raise ModelFormatError(f"{DAMAGED}: its formula {text!r:.100}: {error}") from error
        for name in formula.expression.attributes():
            column = self._training.get(name)
            if column is None or column.type is not self._schema.get(name, column).type:
                raise ModelFormatError(f"{DAMAGED}: a formula reads the column {name!r:.80}, which is not as it says")
        return formula


def question_of(entry: Branch, formulas: FormulaReader, *, spoken: bool = True) -> tuple[Formula, Unknown | None]:
    """Return the formula of a node, and its form for unknown answers; `spoken`: with the English of the grammar."""
    if entry.unknown is None:
        return formulas.read(entry.formula, entry.spoken and spoken), None
    unsettled = formulas.read(entry.unknown.said, entry.spoken and spoken)
    formula = Formula(resolve_unknown(unsettled.expression, entry.unknown.goes))
    if formula != formulas.read(entry.formula, spoken=False):
        raise ModelFormatError(f"{DAMAGED}: its formula {entry.formula!r:.100} is not what it says of unknown answers")
    return formula, Unknown(unsettled, entry.unknown.goes, entry.unknown.records)


def check_shape(entries: Sequence[Branch | LeafEntry]) -> None:
    """Raise a ModelFormatError unless each branch is followed by two subtrees, and none is too deep."""
    depths = [0]  # of the subtrees still to come
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


def how_read_of(entry: HowReadEntry) -> ReadArguments:
    """Return the arguments with which the training data were read."""
    found = dict(entry)
    if not isinstance(entry.how, str):
        found["how"] = tuple((way.column, way.way) for way in entry.how)
    return ReadArguments(**found)


# ---- Predictors: the tree of a model file. `load_model` reads and checks the grammar, runners-up and sentences too.


class Predictor(NamedTuple):
    """A tree that predicts."""

    tree: Tree
    """Leaves have no headlines, and nodes no scores."""
    schema: Schema
    """The columns of the training data."""


def load_predictor(path: str | os.PathLike[str], functions: Sequence[UserFunction] = ()) -> Predictor:
    """Load the tree of a model file, whose formulas may call `functions`; errors name the file."""
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
        return Leaf(target.summary_of(entry.target_summary))
    formula, unknown = question_of(entry, formulas, spoken=False)
    return Node(formula, _tree(waiting, formulas, target), _tree(waiting, formulas, target), unknown=unknown)
