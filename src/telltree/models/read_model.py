"""Model files -> models. Any defect of a file is a ModelFormatError."""

import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from telltree.errors import GrammarError, ModelFormatError, SettingsError, TelltreeError
from telltree.grammar import Grammar
from telltree.grammar.grammar import collecting_later
from telltree.grammar.limits import check_size, has_more_tokens
from telltree.logic import UserFunction
from telltree.models.document import (
    MOST_PARTS,
    Branch,
    CommonEntry,
    Document,
    FloorEntry,
    ForestDocument,
    GiniSizeEntry,
    GrammarEntry,
    GrammarText,
    GrowthEntry,
    HeadlineEntry,
    LeafEntry,
    MDLEntry,
    MeasuredEntry,
    ProofEntry,
    PruningPathEntry,
    RunnerUpEntry,
    SearchEntry,
    Settings,
    TrainingEntry,
)
from telltree.models.model import ForestModel, ForgottenCriterion, ForgottenSearch, Model
from telltree.models.parse_document import read_document, read_file, read_tree
from telltree.models.predictor import (
    DAMAGED,
    FormulaReader,
    check_shape,
    column_of,
    functions_of,
    how_read_of,
    known_schema,
    question_of,
    step_of,
    target_of,
    tree_of,
)
from telltree.panel import Schema
from telltree.search import SEARCHES, Proof
from telltree.text import counted
from telltree.tree.criterion import MDL, GiniSize
from telltree.tree.pruning_path import Measured, PruningPath, TreeScore
from telltree.tree.settings import Greedy, Growth, LookAhead, Optimal
from telltree.tree.target import Target
from telltree.tree.training_facts import TrainingFacts
from telltree.tree.tree import ClassRecall, Condition, Floor, Headline, Leaf, Node, RunnerUp, Tree

LONG_GRAMMAR = 20_000
"""Words and signs; longer grammars are parsed when they are first used."""
_GROWTHS: dict[str, type[Growth]] = {"Greedy": Greedy, "Optimal": Optimal, "LookAhead": LookAhead}
_QUOTED = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|`(?:[^`\\\n]++|\\.)*+`')
_GROUP = re.compile(r"\b(?:each|grid|quantiles|thresholds|levels|other)\b")


def load_model(path: str | os.PathLike[str], functions: Sequence[UserFunction] = ()) -> Model:
    """Load a model file; errors name the file."""
    content = read_file(path)
    with _with_path(path):
        return decode(content, functions)


def load_any(path: str | os.PathLike[str], functions: Sequence[UserFunction] = ()) -> Model | ForestModel:
    """Load a model file that may hold a forest; errors name the file."""
    content = read_file(path)
    with _with_path(path):
        return decode_any(content, functions)


@contextmanager
def _with_path(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except ModelFormatError as error:
        raise type(error)(f"{os.fspath(path)!r}: {error}") from error


@collecting_later()
def decode(content: bytes, functions: Sequence[UserFunction] = ()) -> Model:
    """Return the model in the bytes of a file; its formulas may call `functions`."""
    document = read_tree(content)
    with _as_model_format_errors():
        return _model(document, functions)


@collecting_later()
def decode_any(content: bytes, functions: Sequence[UserFunction] = ()) -> Model | ForestModel:
    """Return the model in the bytes of a file, which may be a forest."""
    document = read_document(content)
    with _as_model_format_errors():
        return _model(document, functions) if isinstance(document, Document) else _forest(document, functions)


@contextmanager
def _as_model_format_errors() -> Iterator[None]:
    """Turn all other errors into errors about the file."""
    try:
        yield
    except ModelFormatError:
        raise
    except TelltreeError as error:
        raise ModelFormatError(f"{DAMAGED}: {error}") from error


class _SharedContent(NamedTuple):
    """The common part of files of trees and of forests, as objects."""

    called: dict[str, UserFunction]
    schema: Schema
    grammar: Grammar | None
    target: Target
    formulas: FormulaReader

    @classmethod
    def of(cls, document: CommonEntry, functions: Sequence[UserFunction]) -> "_SharedContent":
        if document.is_too_long():
            raise ModelFormatError(
                f"{DAMAGED}: its formulas have more than the {MOST_PARTS:,} words and signs that are read; write it "
                "anew"
            )
        called = functions_of(document.functions, functions)
        schema = Schema(map(column_of, document.columns))
        grammar = None if document.grammar is None else _grammar(document.grammar, schema, called)
        formulas = FormulaReader(_grammar_for_english(document.grammar, grammar), schema, called)
        return cls(called, schema, grammar, target_of(document), formulas)

    def root(self, entries: Sequence[Branch | LeafEntry]) -> Node | Leaf:
        """Return the tree of nodes in preorder."""
        check_shape(entries)
        return _tree(iter(entries), self.formulas, self.target)

    def training(self, kept: TrainingEntry) -> TrainingFacts:
        deviations = {entry.signal: entry.deviation for entry in kept.spread}
        return TrainingFacts(self.schema, kept.seed, kept.fingerprint, tuple(kept.missing), deviations)


def _model(document: Document, functions: Sequence[UserFunction]) -> Model:
    read, kept = _SharedContent.of(document, functions), document.training

    def grown(entries: Sequence[Branch | LeafEntry]) -> Tree:
        return tree_of(document, read.schema, read.root(entries))

    tree = dataclasses.replace(grown(document.tree), floors=tuple(map(_floor, document.floors)))
    pruning_path = _pruning_path(
        tree if document.pruning_path is None else grown(document.pruning_path.tree), document.pruning_path
    )
    place = document.pruning_path.taken if document.pruning_path else None
    if place is None:
        place = pruning_path.place_of(tree)
    elif place >= len(pruning_path):
        raise ModelFormatError(f"{DAMAGED}: it takes tree {place + 1} of {counted(len(pruning_path), 'tree')}")
    return Model(
        tree=tree.narrowed(),
        pruning_path=pruning_path if place is None else pruning_path.taken(place, tree),
        grammar=read.grammar,
        training=read.training(kept),
        interrupted=kept.interrupted,
        named=kept.named,
        parameters=_parameters(document.settings, read.grammar, read.schema, read.called),
    )


def _forest(document: ForestDocument, functions: Sequence[UserFunction]) -> ForestModel:
    read, kept, settings = _SharedContent.of(document, functions), document.training, document.settings
    if len(document.counts) != len(read.target.parts) or not any(document.counts):
        raise ModelFormatError(f"{DAMAGED}: it must have a count of training records for each class")
    return ForestModel(
        trees=_trees(document, read),
        counts=tuple(document.counts),
        n_estimators=document.n_estimators,
        random_state=document.random_state,
        grammar=read.grammar,
        training=read.training(kept),
        interrupted=kept.interrupted,
        named=kept.named,
        parameters=None if settings is None else _parameters(settings, read.grammar, read.schema, read.called),
    )


def _trees(document: ForestDocument, read: _SharedContent) -> tuple[Tree, ...]:
    """Return the trees, each with the columns of its formulas; common parts are built once."""
    known, kept = known_schema(document, read.schema), document.training
    places = {name: place for place, name in enumerate(known)}
    missing, step, how_read = frozenset(kept.missing), step_of(document), how_read_of(kept.how_read)
    ways = {} if isinstance(how_read.how, str) else dict(how_read.how)

    def grown(entries: Sequence[Branch | LeafEntry]) -> Tree:
        tree = Tree(read.root(entries), known, missing, step, how_read)
        used = {name for node in tree.nodes for name in node.formula.expression.attributes()}
        if not used:
            return tree
        own = Schema(known[name] for name in sorted(used, key=places.__getitem__))
        how = tuple((name, ways[name]) for name in sorted(used) if name in ways) or "last"
        return dataclasses.replace(
            tree, schema=own, how_read=dataclasses.replace(how_read, how=how) if ways else how_read
        )

    return tuple(map(grown, document.trees))


def _grammar(entry: GrammarEntry, schema: Schema, functions: dict[str, UserFunction]) -> Grammar:
    word = _GROUP.search(_QUOTED.sub("", entry.text))
    if word:  # a short text may stand for a million rules; files have them written out
        raise ModelFormatError(f"{DAMAGED}: its grammar has the group {word[0]!r}, which should be written out")
    check_size(entry.text, "its grammar", len(entry.columns))
    columns = []
    for column in entry.columns:
        if isinstance(column, str) and column not in schema:
            raise ModelFormatError(f"{DAMAGED}: its grammar mentions the column {column!r:.80}, which it does not have")
        columns.append(schema[column] if isinstance(column, str) else column_of(column))
    left_out = {one.column: one.reason for one in entry.left_out}
    read = partial(_read_grammar, entry.text, Schema(columns), tuple(functions.values()), left_out)
    return Grammar.deferred(read) if _is_long(entry) else read()


def _is_long(entry: GrammarEntry) -> bool:
    """Return True if a grammar is so long that it is parsed only when used; prediction needs none."""
    return has_more_tokens((entry.text,), LONG_GRAMMAR)


def _grammar_for_english(entry: GrammarEntry | None, grammar: Grammar | None) -> Grammar | None:
    """Return the grammar whose English formulas may have; None if it is too long to be parsed for that."""
    return None if entry is None or _is_long(entry) else grammar


def _read_grammar(text: str, schema: Schema, functions: tuple[UserFunction, ...], left_out: dict[str, str]) -> Grammar:
    try:
        grammar = Grammar.parse_any(text, schema, functions)
    except GrammarError as error:
        raise ModelFormatError(f"{DAMAGED}: its grammar, {error}") from error
    return dataclasses.replace(grammar, left_out=left_out)


def _tree(waiting: Iterator[Branch | LeafEntry], formulas: FormulaReader, target: Target) -> Node | Leaf:
    entry = next(waiting)
    if isinstance(entry, LeafEntry):
        short = None if entry.short is None else formulas.read(entry.short, spoken=False)
        given = tuple(Condition(formulas.read(one.formula, spoken=False), one.members) for one in entry.conditions)
        return Leaf(target.summary_of(entry.target_summary), _headline(entry.headline, formulas), short, given)
    formula, unknown = question_of(entry, formulas)
    others, by_size = (_runners_up(entries, formulas) for entries in (entry.runners_up, entry.by_size))
    true, false = _tree(waiting, formulas, target), _tree(waiting, formulas, target)
    found = None if entry.found is None else formulas.read(entry.found, spoken=False)
    figures = float(entry.fitness), float(entry.gain), float(entry.robustness)
    return Node(formula, true, false, *figures, others, found, entry.naming, by_size, _proof(entry.proof), unknown)


def _floor(entry: FloorEntry) -> Floor:
    before, after = (ClassRecall(found.recall, found.precision) for found in (entry.before, entry.after))
    return Floor(entry.label, entry.floor, entry.factor, before, after)


def _proof(entry: ProofEntry | None) -> Proof | None:
    if entry is None:
        return None
    return Proof(**entry.model_dump() | {"formulas": int(entry.formulas), "fitness": float(entry.fitness)})


def _runners_up(entries: Sequence[RunnerUpEntry], formulas: FormulaReader) -> tuple[RunnerUp, ...]:
    return tuple(RunnerUp(formulas.read(one.formula, one.spoken), float(one.fitness)) for one in entries)


def _headline(entry: HeadlineEntry | None, formulas: FormulaReader) -> Headline | None:
    if entry is None:
        return None
    return Headline(formulas.read(entry.formula, spoken=False), entry.others, entry.elsewhere, entry.missed)


def _pruning_path(whole: Tree, entry: PruningPathEntry | None) -> PruningPath:
    pruning_path = PruningPath.of(whole)
    if entry is None or not entry.scores:
        return pruning_path
    if len(entry.scores) != len(pruning_path):
        raise ModelFormatError(
            f"{DAMAGED}: it has {counted(len(entry.scores), 'score')} for {counted(len(pruning_path), 'tree')}"
        )
    return pruning_path.scored(
        [TreeScore(one.share, one.error, _measured(one.balanced), _measured(one.behind)) for one in entry.scores]
    )


def _measured(entry: MeasuredEntry | None) -> Measured | None:
    return None if entry is None else Measured(entry.share, entry.error)


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
        "criterion": _criterion(settings.criterion),
        "growth": _growth(settings.growth),
        "max_depth": settings.max_depth,
        "min_samples_leaf": settings.min_samples_leaf,
        "cv": settings.cv,
        "class_weight": {one.label: one.weight for one in weights} if isinstance(weights, list) else weights,
        "min_recall": None if settings.min_recall is None else {one.label: one.recall for one in settings.min_recall},
        "missing": settings.missing,
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
    return _with_settings(next(known for known in SEARCHES.values() if known.name == entry.name).load(), entry)


def _growth(entry: GrowthEntry | None) -> Growth | None:
    found: Growth | None = None if entry is None else _with_settings(_GROWTHS[entry.name], entry)
    return found


def _with_settings(kind: Any, entry: SearchEntry | GrowthEntry) -> Any:
    """Return a search or growth with the settings of a file."""
    known = {field.name for field in dataclasses.fields(kind)}
    for name in entry.settings:
        if name not in known:
            raise ModelFormatError(f"{DAMAGED}: {entry.name} has no setting {name!r:.80}")
    try:
        return kind(**{name: _float_of_word(value) for name, value in entry.settings.items()})
    except SettingsError as error:
        raise ModelFormatError(f"{DAMAGED}: {entry.name}: {error}") from None


def _float_of_word(value: Any) -> Any:
    return float(value) if isinstance(value, str) and value in ("inf", "-inf", "nan") else value


def _criterion(entry: GiniSizeEntry | MDLEntry | str | None) -> Any:
    match entry:
        case GiniSizeEntry():
            return GiniSize(**entry.model_dump())
        case MDLEntry():
            return MDL(**entry.model_dump())
    return None if entry is None else ForgottenCriterion()
