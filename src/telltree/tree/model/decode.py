"""Bytes to model. Whatever is wrong with them is a ModelFormatError."""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from telltree.amounts import counted
from telltree.data import Column, Schema
from telltree.data.how_read import HowRead
from telltree.errors import GrammarError, ModelFormatError, TelltreeError
from telltree.grammar import Grammar
from telltree.grammar.collecting import collecting_later
from telltree.grammar.parse import expression_of
from telltree.grammar.text.amount import has_more_parts
from telltree.grammar.text.canonical import parse_canonical
from telltree.grammar.text.source import Source
from telltree.grammar.text.syntax import check_size, parse_expression
from telltree.logic import Formula
from telltree.operators import UserFunction
from telltree.search import SEARCHES
from telltree.tree.bits import Bits
from telltree.tree.fitness import GiniSize
from telltree.tree.front import Front, Score
from telltree.tree.model.document import (
    MOST_PARTS,
    BitsEntry,
    Branch,
    ColumnEntry,
    Document,
    FrontEntry,
    FunctionEntry,
    GiniSizeEntry,
    GrammarEntry,
    GrammarText,
    HeadlineEntry,
    HowReadEntry,
    LeafEntry,
    RunnerUpEntry,
    SearchEntry,
    Settings,
    StepEntry,
)
from telltree.tree.model.model import ForgottenFitness, ForgottenSearch, Model
from telltree.tree.model.reading import read_document
from telltree.tree.target import Target, read_target
from telltree.tree.training import Training
from telltree.tree.tree import Headline, Leaf, Node, RunnerUp, Tree

DEEPEST = 200
"""Branches from root to leaf; trees are walked recursively, and none is learnt half as deep."""
LONG_GRAMMAR = 20_000
"""Words and signs; a longer one is read when it is first asked for."""
MOST_UNLIKE = 20_000
"""Characters of formulas that are spelt as no model file spells them."""
_QUOTED = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|`(?:[^`\\\n]++|\\.)*+`')
_GROUP = re.compile(r"\b(?:each|grid|quantiles|thresholds|levels|other)\b")
_DAMAGED = "this model file is damaged"


@collecting_later()
def decode(content: bytes, functions: Sequence[UserFunction] = ()) -> Model:
    """The model that a file holds; `functions` are those that its formulas call."""
    document = read_document(content)
    try:
        return _model(document, functions)
    except ModelFormatError:
        raise
    except TelltreeError as error:
        raise ModelFormatError(f"{_DAMAGED}: {error}") from error


def _model(document: Document, functions: Sequence[UserFunction]) -> Model:
    if document.is_too_long():
        raise ModelFormatError(
            f"{_DAMAGED}: its formulas have more than the {MOST_PARTS:,} words and signs that are read; write it anew"
        )
    called = _functions(document.functions, functions)
    schema = Schema(map(_column, document.columns))
    grammar = None if document.grammar is None else _grammar(document.grammar, schema, called)
    target = _target(document)
    formulas = _Formulas(_speaking(document.grammar, grammar), schema, called)
    kept = document.training
    still = frozenset(kept.still)
    known = Schema(dataclasses.replace(c, static=True) if c.name in still else c for c in schema.values())

    def tree_of(entries: Sequence[Branch | LeafEntry]) -> Tree:
        _check_shape(entries)
        root = _tree(iter(entries), formulas, target)
        return Tree(root, known, frozenset(kept.missing), _step(kept.step), _how_read(kept.how_read))

    tree = tree_of(document.tree)
    spread = {entry.signal: entry.deviation for entry in kept.spread}
    return Model(
        tree=tree.narrowed(),
        front=_front(tree if document.front is None else tree_of(document.front.tree), document.front),
        grammar=grammar,
        training=Training(schema, kept.seed, kept.fingerprint, tuple(kept.missing), spread),
        interrupted=kept.interrupted,
        named=kept.named,
        parameters=_parameters(document.settings, grammar, schema, called),
    )


def _step(entry: StepEntry | None) -> tuple[float | None, str] | None:
    return None if entry is None else (entry.length, entry.unit)


def _functions(wanted: Iterable[FunctionEntry], given: Sequence[UserFunction]) -> dict[str, UserFunction]:
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


def _column(entry: ColumnEntry) -> Column:
    return Column(**vars(entry))


def _grammar(entry: GrammarEntry, schema: Schema, functions: dict[str, UserFunction]) -> Grammar:
    word = _GROUP.search(_QUOTED.sub("", entry.text))
    if word:  # a short text may stand for a million rules; files have them written out
        raise ModelFormatError(f"{_DAMAGED}: its grammar has the group {word[0]!r}, which should be written out")
    check_size(entry.text, "its grammar", len(entry.columns))
    columns = []
    for column in entry.columns:
        if isinstance(column, str) and column not in schema:
            raise ModelFormatError(
                f"{_DAMAGED}: its grammar mentions the column {column!r:.80}, which it does not have"
            )
        columns.append(schema[column] if isinstance(column, str) else _column(column))
    left_out = {one.column: one.reason for one in entry.left_out}
    read = partial(_read_grammar, entry.text, Schema(columns), tuple(functions.values()), left_out)
    return Grammar.unread(read) if _is_long(entry) else read()


def _is_long(entry: GrammarEntry) -> bool:
    """Whether a grammar takes so long to read that it is read only when it is asked for; prediction needs none."""
    return has_more_parts((entry.text,), LONG_GRAMMAR)


def _speaking(entry: GrammarEntry | None, grammar: Grammar | None) -> Grammar | None:
    """The grammar whose words formulas may have; none if it is too long to be read for them."""
    return None if entry is None or _is_long(entry) else grammar


def _read_grammar(text: str, schema: Schema, functions: tuple[UserFunction, ...], left_out: dict[str, str]) -> Grammar:
    try:
        grammar = Grammar.parse_any(text, schema, functions)
    except GrammarError as error:
        raise ModelFormatError(f"{_DAMAGED}: its grammar, {error}") from error
    return dataclasses.replace(grammar, left_out=left_out)


def _target(document: Document) -> Target:
    """What the model predicts: classes, or what another kind of target has written of itself."""
    if document.classes is not None and document.target is None:
        return read_target("classes", document.classes.model_dump())
    kind = None if document.target is None else document.target.get("kind")
    if document.classes is not None or not isinstance(kind, str):
        raise ModelFormatError(f"{_DAMAGED}: it must have either classes, or a target with its kind")
    return read_target(kind, document.target or {})


class _Formulas:
    """Reads formulas, and gives those that speak in the grammar's own English their words back."""

    def __init__(self, grammar: Grammar | None, schema: Schema, functions: dict[str, UserFunction]) -> None:
        self._grammar, self._functions, self._training = grammar, tuple(functions.values()), schema
        self._schema = schema if grammar is None else grammar.schema
        self._known: dict[tuple[str, bool], Formula] = {}
        self._unlike = 0

    def read(self, text: str, spoken: bool) -> Formula:
        """The formula, whose columns must be those of the training data."""
        if (text, spoken) not in self._known:
            self._known[text, spoken] = self._read(text, spoken)
        return self._known[text, spoken]

    def _read(self, text: str, spoken: bool) -> Formula:
        try:
            # headlines may speak of columns that the grammar does not
            schema = self._schema if spoken else self._training
            formula = Formula(expression_of(self._source(text), schema, functions=self._functions))
            if spoken and self._grammar is not None:
                formula = Formula(self._grammar.derive(formula.expression).expression)
        except GrammarError as error:
            raise ModelFormatError(f"{_DAMAGED}: its formula {text!r:.100}: {error}") from error
        for name in formula.expression.attributes():
            column = self._training.get(name)
            if column is None or column.type is not self._schema.get(name, column).type:
                raise ModelFormatError(f"{_DAMAGED}: a formula reads the column {name!r:.80}, which is not as it says")
        return formula

    def _source(self, text: str) -> Source:
        """The text parsed: fast if it is as telltree writes formulas, and else not for very many."""
        source = parse_canonical(text)
        if source is not None:
            return source
        self._unlike += len(text)
        if self._unlike > MOST_UNLIKE:
            raise GrammarError(
                f"with those before it, {self._unlike:,} characters are in formulas that telltree would write "
                f"otherwise, and at most {MOST_UNLIKE:,} are read"
            )
        return parse_expression(text)


def _check_shape(entries: Sequence[Branch | LeafEntry]) -> None:
    """That each branch is followed by two subtrees, and none is too deep."""
    depths = [0]  # of the subtrees that are yet to come
    for entry in entries:
        if not depths:
            raise ModelFormatError(f"{_DAMAGED}: there are nodes after the end of the tree")
        depth = depths.pop()
        if isinstance(entry, Branch):
            depths += [depth + 1] * 2
        if depth > DEEPEST:
            raise ModelFormatError(f"{_DAMAGED}: its tree is more than {DEEPEST} branches deep")
    if depths:
        raise ModelFormatError(f"{_DAMAGED}: its tree ends too early")


def _tree(waiting: Iterator[Branch | LeafEntry], formulas: _Formulas, target: Target) -> Node | Leaf:
    entry = next(waiting)
    if isinstance(entry, LeafEntry):
        short = None if entry.short is None else formulas.read(entry.short, spoken=False)
        return Leaf(target.summary_of(entry.told), _headline(entry.headline, formulas), short)
    formula = formulas.read(entry.formula, entry.spoken)
    others, by_size = (_others(entries, formulas) for entries in (entry.runners_up, entry.by_size))
    true, false = _tree(waiting, formulas, target), _tree(waiting, formulas, target)
    found = None if entry.found is None else formulas.read(entry.found, spoken=False)
    figures = float(entry.fitness), float(entry.gain), float(entry.margin)
    return Node(formula, true, false, *figures, others, found, entry.naming, by_size)


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
        raise ModelFormatError(f"{_DAMAGED}: it has {counted(len(entry.scores), 'score')} for {len(front)} trees")
    return front.scored([Score(one.share, one.error) for one in entry.scores])


def _parameters(
    settings: Settings, grammar: Grammar | None, schema: Schema, functions: dict[str, UserFunction]
) -> dict[str, Any]:
    weights = settings.class_weight
    unknown = [name for name in settings.functions if name not in functions]
    if unknown:
        raise ModelFormatError(f"{_DAMAGED}: its settings name the function {unknown[0]!r:.80}, which it does not list")
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


def _how_read(entry: HowReadEntry) -> HowRead:
    found = dict(entry)
    if not isinstance(entry.how, str):
        found["how"] = tuple((way.column, way.way) for way in entry.how)
    return HowRead(**found)


def _search(entry: SearchEntry | str | None) -> Any:
    if not isinstance(entry, SearchEntry):
        return None if entry is None else ForgottenSearch()
    kind = next(known for known in SEARCHES.values() if known.name == entry.name).load()
    known = {field.name for field in dataclasses.fields(kind)}
    for name in entry.settings:
        if name not in known:
            raise ModelFormatError(f"{_DAMAGED}: {entry.name} has no setting {name!r:.80}")
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
