"""Bytes to model. Whatever is wrong with them is a ModelFormatError."""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any

from telltree.amounts import counted
from telltree.data import Schema
from telltree.errors import GrammarError, ModelFormatError, TelltreeError
from telltree.grammar import Grammar
from telltree.logic import Formula
from telltree.operators import UserFunction
from telltree.search import SEARCHES
from telltree.tree.bits import Bits
from telltree.tree.fitness import GiniSize
from telltree.tree.front import Front, Score
from telltree.tree.model.document import (
    MOST_RUNNERS_UP,
    BitsEntry,
    Branch,
    Document,
    FrontEntry,
    GiniSizeEntry,
    GrammarEntry,
    GrammarText,
    HeadlineEntry,
    LeafEntry,
    RunnerUpEntry,
    SearchEntry,
    Settings,
)
from telltree.tree.model.model import ForgottenFitness, ForgottenSearch, Model
from telltree.tree.model.reading import read_document
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
from telltree.tree.training import Training
from telltree.tree.tree import Headline, Leaf, Node, RunnerUp, Tree

_QUOTED = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|`(?:[^`\\\n]++|\\.)*+`')
_GROUP = re.compile(r"\b(?:each|grid|quantiles|thresholds|levels|other)\b")


def decode(content: bytes, functions: Sequence[UserFunction] = ()) -> Model:
    """The model that a file holds; `functions` are those that its formulas call."""
    document = read_document(content)
    try:
        return _model(document, functions)
    except ModelFormatError:
        raise
    except TelltreeError as error:
        raise ModelFormatError(f"{DAMAGED}: {error}") from error


def _model(document: Document, functions: Sequence[UserFunction]) -> Model:
    _check_runners_up(document)
    called = functions_of(document.functions, functions)
    schema = Schema(map(column_of, document.columns))
    grammar = None if document.grammar is None else _grammar(document.grammar, schema, called)
    classes = classes_of(document.classes)
    formulas = _Formulas(grammar, schema, called)
    kept = document.training
    known = schema_of(document)

    def tree_of(entries: Sequence[Branch | LeafEntry]) -> Tree:
        check_shape(entries)
        root = _tree(iter(entries), formulas, len(classes))
        names = tuple(document.classes.values)
        return Tree(root, names, known, frozenset(kept.missing), step_of(kept.step), how_read_of(kept.how_read))

    tree = tree_of(document.tree)
    spread = {entry.signal: entry.deviation for entry in kept.spread}
    return Model(
        tree=tree.narrowed(),
        front=_front(tree if document.front is None else tree_of(document.front.tree), document.front),
        classes=classes,
        grammar=grammar,
        training=Training(schema, kept.seed, kept.fingerprint, tuple(kept.missing), spread),
        interrupted=kept.interrupted,
        named=kept.named,
        parameters=_parameters(document.settings, grammar, schema, called),
    )


def _check_runners_up(document: Document) -> None:
    entries = [*document.tree, *(document.front.tree if document.front else ())]
    branches = [entry for entry in entries if isinstance(entry, Branch)]
    others = {one.formula for entry in branches for one in (*entry.runners_up, *entry.by_size)}
    if len(others) > MOST_RUNNERS_UP:
        raise ModelFormatError(
            f"{DAMAGED}: it has {len(others):,} different runners-up, and at most {MOST_RUNNERS_UP:,} are written"
        )


def _grammar(entry: GrammarEntry, schema: Schema, functions: dict[str, UserFunction]) -> Grammar:
    word = _GROUP.search(_QUOTED.sub("", entry.text))
    if word:  # a short text may stand for a million rules; files have them written out
        raise ModelFormatError(f"{DAMAGED}: its grammar has the group {word[0]!r}, which should be written out")
    columns = []
    for column in entry.columns:
        if isinstance(column, str) and column not in schema:
            raise ModelFormatError(f"{DAMAGED}: its grammar mentions the column {column!r:.80}, which it does not have")
        columns.append(schema[column] if isinstance(column, str) else column_of(column))
    try:
        grammar = Grammar.parse(entry.text, Schema(columns), functions=tuple(functions.values()))
    except GrammarError as error:
        raise ModelFormatError(f"{DAMAGED}: its grammar, {error}") from error
    return dataclasses.replace(grammar, left_out={one.column: one.reason for one in entry.left_out})


class _Formulas:
    """Reads formulas, and gives those that speak in the grammar's own English their words back."""

    def __init__(self, grammar: Grammar | None, schema: Schema, functions: dict[str, UserFunction]) -> None:
        self._grammar, self._functions, self._training = grammar, tuple(functions.values()), schema
        self._schema = schema if grammar is None else grammar.schema
        self._known: dict[tuple[str, bool], Formula] = {}

    def read(self, text: str, spoken: bool) -> Formula:
        """The formula, whose columns must be those of the training data."""
        if (text, spoken) not in self._known:
            self._known[text, spoken] = self._read(text, spoken)
        return self._known[text, spoken]

    def _read(self, text: str, spoken: bool) -> Formula:
        try:
            # headlines may speak of columns that the grammar does not
            schema = self._schema if spoken else self._training
            formula = Formula.parse(text, schema, functions=self._functions)
            if spoken and self._grammar is not None:
                formula = Formula(self._grammar.derive(formula.expression).expression)
        except GrammarError as error:
            raise ModelFormatError(f"{DAMAGED}: its formula {text!r:.100}: {error}") from error
        for name in formula.expression.attributes():
            column = self._training.get(name)
            if column is None or column.type is not self._schema.get(name, column).type:
                raise ModelFormatError(f"{DAMAGED}: a formula reads the column {name!r:.80}, which is not as it says")
        return formula


def _tree(waiting: Iterator[Branch | LeafEntry], formulas: _Formulas, classes: int) -> Node | Leaf:
    entry = next(waiting)
    if isinstance(entry, LeafEntry):
        short = None if entry.short is None else formulas.read(entry.short, spoken=False)
        return dataclasses.replace(leaf_of(entry, classes), headline=_headline(entry.headline, formulas), short=short)
    formula = formulas.read(entry.formula, entry.spoken)
    others, by_size = (_others(entries, formulas) for entries in (entry.runners_up, entry.by_size))
    true, false = _tree(waiting, formulas, classes), _tree(waiting, formulas, classes)
    counts = tuple(a + b for a, b in zip(true.counts, false.counts, strict=True))
    found = None if entry.found is None else formulas.read(entry.found, spoken=False)
    figures = float(entry.fitness), float(entry.gain), float(entry.margin)
    return Node(formula, true, false, counts, *figures, others, found, entry.naming, by_size)


def _others(entries: Sequence[RunnerUpEntry], formulas: _Formulas) -> tuple[RunnerUp, ...]:
    return tuple(RunnerUp(formulas.read(one.formula, one.spoken), float(one.fitness)) for one in entries)


def _headline(entry: HeadlineEntry | None, formulas: _Formulas) -> Headline | None:
    if entry is None:
        return None
    return Headline(formulas.read(entry.formula, spoken=False), entry.others, entry.elsewhere, entry.missed)


def _front(whole: Tree, entry: FrontEntry | None) -> Front:
    front = Front.of(whole)
    if entry is None or not entry.scores:
        return front
    if len(entry.scores) != len(front):
        raise ModelFormatError(f"{DAMAGED}: it has {counted(len(entry.scores), 'score')} for {len(front)} trees")
    return front.scored([Score(one.share, one.error) for one in entry.scores])


def _parameters(
    settings: Settings, grammar: Grammar | None, schema: Schema, functions: dict[str, UserFunction]
) -> dict[str, Any]:
    weights = settings.class_weight
    unknown = [name for name in settings.functions if name not in functions]
    if unknown:
        raise ModelFormatError(f"{DAMAGED}: its settings name the function {unknown[0]!r:.80}, which it does not list")
    return {
        "grammar": _given_grammar(settings.grammar, grammar, schema, functions),
        "search": _search(settings.search),
        "fitness": _fitness(settings.fitness),
        "max_depth": settings.max_depth,
        "min_members": settings.min_members,
        "min_gain": None if settings.min_gain is None else float(settings.min_gain),
        "prevent_same_label": settings.prevent_same_label,
        "centre": settings.centre,
        "cv": settings.cv,
        "simplicity": settings.simplicity,
        "class_weight": {one.label: one.weight for one in weights} if isinstance(weights, list) else weights,
        "functions": [functions[name] for name in settings.functions] or (),
        "random_state": settings.random_state,
    }


def _given_grammar(
    given: GrammarEntry | GrammarText | str | None,
    grammar: Grammar | None,
    schema: Schema,
    functions: dict[str, UserFunction],
) -> Grammar | str | None:
    if isinstance(given, GrammarEntry):
        return _grammar(given, schema, functions)
    if isinstance(given, GrammarText):
        return given.text
    return None if given is None else grammar


def _search(entry: SearchEntry | str | None) -> Any:
    if not isinstance(entry, SearchEntry):
        return None if entry is None else ForgottenSearch()
    kind = next(known for known in SEARCHES.values() if known.name == entry.name).load()
    known = {field.name for field in dataclasses.fields(kind)}
    for name in entry.settings:
        if name not in known:
            raise ModelFormatError(f"{DAMAGED}: {entry.name} has no setting {name!r:.80}")
    return kind(**{name: _unless_word(value) for name, value in entry.settings.items()})


def _unless_word(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value


def _fitness(entry: GiniSizeEntry | BitsEntry | str | None) -> Any:
    match entry:
        case GiniSizeEntry():
            return GiniSize(**entry.model_dump())
        case BitsEntry():
            return Bits(**entry.model_dump())
    return None if entry is None else ForgottenFitness()
