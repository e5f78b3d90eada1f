"""The format of model files: their keys, and bytes of any source read as a checked document."""

import abc
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from telltree.errors import ModelFormatError, ModelVersionError
from telltree.grammar.limits import has_more_tokens
from telltree.search import SEARCHES
from telltree.text import counted
from telltree.tree.growth import DEEPEST_OPTIMAL, MOST_POOLED, MOST_TREES

# ---- The format of model files: the keys, and the values allowed for each.

FORMAT, FOREST, VERSION = "telltree model", "telltree forest", 2
LONGEST_FORMULA = 100_000  # characters; a derivation has at most 256 rules
MOST_PARTS = 100_000  # words and signs of all different formulas together; each takes some microseconds to read
MOST = 2**53  # whole numbers up to here are exact in every reader of JSON

Item = TypeVar("Item")
Many = Annotated[list[Item], Field(fail_fast=True)]  # a million wrong items make one error, not a million
Count = Annotated[int, Field(ge=0, le=MOST)]
Weight = Annotated[float, Field(ge=0, le=MOST)]
Text = Annotated[str, Field(max_length=LONGEST_FORMULA)]
Number = float | Literal["inf", "-inf", "nan"]
"""JSON has no other way to write numbers that are not finite."""
Scalar = bool | Annotated[int, Field(ge=-MOST, le=MOST)] | float | str
Label = bool | int | float | str
Plain = Scalar | Many[Scalar] | None
"""What a target that is not classes may keep of itself, and of a leaf."""
DType = Literal[
    "object", "str", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
]  # fmt: skip


class Entry(BaseModel):
    """An object of the file: no type conversion, and no unknown keys."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Classes(Entry):
    """The labels, in order, and the NumPy type that predictions have."""

    dtype: DType
    values: Annotated[Many[Label], Field(min_length=1)]


class ColumnEntry(Entry):
    """A column; fields that it does not have are not written."""

    name: str
    type: Literal["real", "Boolean", "categorical"]
    kind: str | None = None
    unit: str | None = None
    phrase: str | None = None
    negated: str | None = None
    high: str | None = None
    low: str | None = None
    thresholds: Many[float] | None = None
    levels: Many[str] = []
    static: bool = False


class LeftOut(Entry):
    """A column that the grammar passed over, and why."""

    column: str
    reason: str


class GrammarEntry(Entry):
    """A grammar with its groups written out; a column given only by name is that of the training data."""

    text: str
    columns: Many[str | ColumnEntry]
    left_out: Many[LeftOut]


class GrammarText(Entry):
    """The text of a grammar as a user wrote it."""

    text: str


class FunctionEntry(Entry):
    """The signature of a user function; the function itself must be provided when the model is loaded."""

    name: str
    takes: Many[str]
    gives: str


class RunnerUpEntry(Entry):
    """A formula that would have split nearly as well."""

    formula: Text
    fitness: Number
    spoken: bool = False


class ProofEntry(Entry):
    """Which formulas are certain not to be fitter."""

    atoms: Count
    depth: Count
    size: Count | None
    formulas: Annotated[str, Field(pattern="^[0-9]{1,1000}$")]
    """In digits: there may be more than whole numbers of JSON can say."""
    tried: Count
    wanted: Count
    fitness: Number
    sampled: Count
    is_all: bool = False
    goes_deeper: bool = True


class OptimumEntry(Entry):
    """What is proved of the whole tree: none over these questions costs less."""

    levels: Annotated[int, Field(ge=1, le=DEEPEST_OPTIMAL)]
    pool: Annotated[int, Field(ge=1, le=MOST_POOLED)]
    leaves: Count
    compared: Count
    left_out: Count
    cost: float
    greedy: float
    told_in: Literal["bits", "of fitness"]


class FoundEntry(Entry):
    """How well a class is found."""

    recall: Annotated[float, Field(ge=0, le=1)]
    precision: Annotated[float, Field(ge=0, le=1)] | None


class FloorEntry(Entry):
    """What became of the floor for the recall of a class."""

    label: Label
    floor: Annotated[float, Field(gt=0, le=1)]
    factor: Annotated[float, Field(gt=0)]
    before: FoundEntry
    after: FoundEntry


class UnknownEntry(Entry):
    """The question as it is said, and what becomes of records whose answer is unknown."""

    said: Text
    goes: bool
    records: Count


class Branch(Entry):
    """A node; the subtree for records for which the formula is true follows, then the other."""

    kind: Literal["branch"]
    formula: Text
    fitness: Number
    gain: Number
    robustness: Number
    runners_up: Many[RunnerUpEntry]
    spoken: bool = False
    """Whether rules of the grammar have English of their own for it."""
    found: Text | None = None
    """The formula as the search found it, if it was changed."""
    naming: Annotated[float, Field(ge=0)] = 0.0
    """The bits that name the formula in its grammar."""
    by_size: Many[RunnerUpEntry] = []
    """The best formula of each size, the shortest first."""
    proof: ProofEntry | None = None
    unknown: UnknownEntry | None = None


class HeadlineEntry(Entry):
    """A short formula that is true of all training records of a leaf except those missed, and of some elsewhere."""

    formula: Text
    others: Count
    elsewhere: Count
    missed: Count = 0


class ConditionEntry(Entry):
    """What must occur in a record for a sentence about a leaf to say anything, and in how many of its it does."""

    formula: Text
    members: Count


class LeafEntry(Entry):
    """A leaf: what it says of its training records, and its headline and short formula if it has them.

    Of classes it has the records of each class, and their weights; of any other target its `summary`.
    """

    kind: Literal["leaf"]
    counts: Many[Count] = []
    weights: Many[Weight] = []
    summary: dict[str, Plain] | None = None
    headline: HeadlineEntry | None = None
    short: Text | None = None
    conditions: Many[ConditionEntry] = []

    @property
    def told(self) -> dict[str, Any]:
        """What its target wrote of it."""
        return {"counts": self.counts, "weights": self.weights} if self.summary is None else self.summary


NodeEntry = Annotated[Branch | LeafEntry, Field(discriminator="kind")]


class Spread(Entry):
    """The standard deviation of a signal over the training data."""

    signal: Text
    deviation: Annotated[float, Field(gt=0)]


class StepEntry(Entry):
    """The length of a step, if all had the same, the unit of times, "" if none, and the name of their column."""

    length: Annotated[float, Field(gt=0)] | None = None
    unit: str
    clock: str = ""


class PathEntry(Entry):
    """How the values of one column within a step become one."""

    column: str
    way: Literal["last", "mean", "any"]


class HowReadEntry(Entry):
    """How the training data were read, as far as other data must be read the same way."""

    id: str | None = None
    time: str | None = None
    period: Annotated[float, Field(gt=0)] | None = None
    time_unit: str | None = None
    time_format: str | None = None
    day_first: bool | None = None
    repeated: Literal["error", "first", "last", "mean"] = "error"
    every: Annotated[str, Field(max_length=100)] | None = None
    how: Literal["last", "mean", "any"] | Many[PathEntry] = "last"
    wide: bool = False


class TrainingEntry(Entry):
    """What is kept of the training data."""

    seed: Count
    step: StepEntry | None = None
    how_read: HowReadEntry = HowReadEntry()
    fingerprint: Annotated[str, Field(max_length=200)]
    missing: Many[str]
    still: Many[str] = []
    """Columns that had one value in each record, though they were not declared static."""
    spread: Many[Spread]
    interrupted: bool
    named: bool


if TYPE_CHECKING:
    SearchName = str
else:
    SearchName = Literal[*sorted(search.name for search in SEARCHES.values())]


class SearchEntry(Entry):
    """A search and its settings."""

    name: SearchName
    settings: dict[str, Scalar | Many[Text] | None]


class GiniSizeEntry(Entry):
    """The settings of a Gini criterion."""

    w1: float
    w2: float
    gini: Literal["weighted", "sum"]
    size: Literal["terminals", "nodes"]
    tolerance: float
    per_record: bool = False
    ties: Literal["robustness", "first"] = "robustness"


class MDLEntry(Entry):
    """The settings of a criterion in bits."""

    price: float
    tolerance: float
    leniency: float = 0.0


class MeasuredEntry(Entry):
    """A share of unseen records, or a difference of two, and its standard error."""

    share: Annotated[float, Field(ge=0, le=1)]
    error: Annotated[float, Field(ge=0)]


class ScoreEntry(MeasuredEntry):
    """How well a tree of the pruning path did in cross-validation: accuracy, and what decides between sizes."""

    balanced: MeasuredEntry | None = None
    behind: MeasuredEntry | None = None


class PruningPathEntry(Entry):
    """The whole tree, of which the model's is a part, and the scores of the trees on its pruning path."""

    tree: Many[NodeEntry]
    scores: Many[ScoreEntry] = []
    taken: Count | None = None
    """The place in the pruning path of the tree that the model's was made of; None in old files."""


class ClassWeight(Entry):
    """The weight of a class."""

    label: Label
    weight: float


class RecallEntry(Entry):
    """The least recall of a class."""

    label: Label
    recall: Annotated[float, Field(gt=0, le=1)]


class GrowthEntry(Entry):
    """The way a tree is grown, and its settings."""

    name: Literal["Greedy", "LookAhead", "Optimal"]
    settings: dict[str, Scalar | None]


class Settings(Entry):
    """The parameters of the classifier."""

    grammar: GrammarEntry | GrammarText | Literal["learned"] | None
    search: SearchEntry | Literal["custom"] | None
    criterion: GiniSizeEntry | MDLEntry | Literal["custom"] | None
    growth: GrowthEntry | None = None
    max_depth: Count | Literal["auto"] | None
    min_samples_leaf: Count | Literal["auto"]
    cv: Count | None = None
    class_weight: Many[ClassWeight] | Literal["balanced"] | None
    min_recall: Many[RecallEntry] | None = None
    missing: Literal["false", "unknown"] = "false"
    functions: Many[str]
    random_state: Count | None


class CommonEntry(Entry):
    """What files of trees and of forests have in common."""

    version: Literal[2]
    classes: Classes | None = None
    target: dict[str, Plain] | None = None
    """What is predicted, if it is not classes: its `kind`, and what that must know."""
    columns: Many[ColumnEntry]
    functions: Many[FunctionEntry]
    grammar: GrammarEntry | None
    training: TrainingEntry

    @abc.abstractmethod
    def entries(self) -> Iterator[Branch | LeafEntry]:
        """All nodes."""

    def formulas(self) -> Iterator[str]:
        """The texts of all formulas."""
        for entry in self.entries():
            if isinstance(entry, Branch):
                yield entry.formula
                yield from (one.formula for one in (*entry.runners_up, *entry.by_size))
                if entry.unknown is not None:
                    yield entry.unknown.said
            else:
                yield from (condition.formula for condition in entry.conditions)
                if entry.headline is not None:
                    yield entry.headline.formula
            other = entry.found if isinstance(entry, Branch) else entry.short
            if other is not None:
                yield other

    def is_too_long(self) -> bool:
        """Whether its different formulas have more words and signs than are read."""
        return has_more_tokens(set(self.formulas()), MOST_PARTS)

    def written(self) -> dict[str, Any]:
        """The document in JSON's types, without absent fields of columns and formulas."""
        return self.model_dump(exclude_defaults=True)


class Document(CommonEntry):
    """The whole file of a tree."""

    format: Literal["telltree model"]
    tree: Many[NodeEntry]
    """In preorder, the true side first."""
    pruning_path: PruningPathEntry | None = None
    optimum: OptimumEntry | None = None
    floors: Many[FloorEntry] = []
    settings: Settings

    def entries(self) -> Iterator[Branch | LeafEntry]:
        """Of the tree, and of the whole one."""
        yield from self.tree
        yield from self.pruning_path.tree if self.pruning_path else ()


class ForestDocument(CommonEntry):
    """The whole file of a forest."""

    format: Literal["telltree forest"]
    trees: Annotated[Many[Many[NodeEntry]], Field(min_length=1, max_length=MOST_TREES)]
    """Each in preorder, the true side first."""
    counts: Many[Count]
    """The training records of each class."""
    n_estimators: Annotated[int, Field(ge=1, le=MOST_TREES)]
    random_state: Count | None
    settings: Settings | None
    """Of the trees; none where they were the usual ones."""

    def entries(self) -> Iterator[Branch | LeafEntry]:
        """Of all trees."""
        for tree in self.trees:
            yield from tree


# ---- Files of version 1, which had other names for some settings.

_RENAMED = {"fitness": "criterion", "min_members": "min_samples_leaf", "recall": "min_recall"}
_SIZES = {"nodes": "terminals", "derivation nodes": "nodes"}
"""Sizes of GiniSize: the first versions called terminals "nodes"."""


def upgraded(found: dict[str, Any]) -> dict[str, Any]:
    """A document of version 1 in the terms of this version. Whatever is damaged in it stays so."""
    renamed = {"front": "pruning_path", "n_trees": "n_estimators"}
    new = {renamed.get(key, key): value for key, value in found.items()} | {"version": VERSION}
    for key, value in new.items():
        match key, value:
            case "tree", list():
                new[key] = _upgraded_nodes(value)
            case "trees", list():
                new[key] = [_upgraded_nodes(nodes) if isinstance(nodes, list) else nodes for nodes in value]
            case "pruning_path", {"tree": list(nodes)}:
                new[key] = value | {"tree": _upgraded_nodes(nodes)}
            case "settings", dict():
                new[key] = _upgraded_settings(value)
    return new


def _upgraded_nodes(nodes: list[Any]) -> list[Any]:
    return [
        {"robustness" if key == "margin" else key: value for key, value in node.items()}
        if isinstance(node, dict)
        else node
        for node in nodes
    ]


def _upgraded_settings(settings: dict[str, Any]) -> dict[str, Any]:
    new = {_RENAMED.get(key, key): value for key, value in settings.items()}
    match new.get("criterion"):
        case {"size": str(size), **others}:
            ties = {"ties": "robustness"} if others.get("ties") == "margin" else {}
            new["criterion"] = others | {"size": _SIZES.get(size, size)} | ties
    before = new.get("growth")
    centre, exact = new.pop("centre", None), new.pop("thresholds", "centred") == "exact"
    growth = {
        "thresholds": "best" if exact else None if centre is None else "midpoint" if centre else "grid",
        "simplify": not new.pop("as_derived", False),
        "simplicity": new.pop("simplicity", 1.0),
    }
    greedy = {"min_gain": new.pop("min_gain", None), "prevent_same_label": new.pop("prevent_same_label", False)}
    if isinstance(before, dict):
        new["growth"] = {"name": before.get("name"), "settings": growth | {"pool": before.get("pool")}}
    elif growth | greedy != {
        "thresholds": None, "simplify": True, "simplicity": 1.0, "min_gain": None, "prevent_same_label": False
    }:  # fmt: skip
        new["growth"] = {"name": "Greedy", "settings": growth | greedy}
    return new


# ---- Bytes from any source to a checked document: bounded in size, and raising only our errors.

Kind = TypeVar("Kind", bound=CommonEntry)
_KINDS: dict[str, type[Document] | type[ForestDocument]] = {FORMAT: Document, FOREST: ForestDocument}
MOST_BYTES = 16 << 20
"""A model of twenty thousand columns takes eight million."""
MOST_OF = {b"{": 200_000, b"[": 250_000, b",": 1_500_000}
"""Objects, lists and items: what takes memory when it is read, and is counted before; the text of grammars has some."""
MOST_COLUMNS = 50_000
MOST_ITEMS = 1_000_000
"""Of all lists together."""
MOST_KEYS = 50
"""The most keys of one object; no object of the format has half as many."""


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a model file, unless there are too many."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or error
        raise ModelFormatError(f"cannot read the model file {os.fspath(path)!r}: {reason}") from error
    if len(content) > MOST_BYTES:
        raise ModelFormatError(
            f"{os.fspath(path)!r} is no model file: it has more than {MOST_BYTES >> 20} MB, the most that one may have"
        )
    return content


def bounded(content: bytes) -> Any:
    """What JSON says, if it is not too large to be a model."""
    for sign, most in MOST_OF.items():
        if content.count(sign) > most:
            raise ModelFormatError(
                f"this is no model file: it has {content.count(sign):,} times {sign.decode()!r}, and at most {most:,} "
                f"are read"
            )
    found = _parsed(content)
    columns = found.get("columns") if isinstance(found, dict) else None
    if isinstance(columns, list) and len(columns) > MOST_COLUMNS:
        raise ModelFormatError(
            f"this is no model file: it has {len(columns):,} columns, and at most {MOST_COLUMNS:,} are read"
        )
    return found


def read_document(content: bytes) -> Document | ForestDocument:
    """The document that the content says; ModelFormatError, or ModelVersionError, if it says none."""
    found = bounded(content)
    if b"\\ud" in content.lower():  # perhaps half of a character, which could not be written again
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ModelFormatError(
                f"this is no model file: {error.object[error.start]!a} is half of a character"
            ) from None
    kind = _KINDS.get(str(found.get("format"))) if isinstance(found, dict) else None
    if kind is None:
        raise ModelFormatError(
            f'this is no model file: it should be a JSON object with "format": "{FORMAT}"; write one with model.save()'
        )
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise ModelFormatError(f"this model file is damaged: its version is {version!r:.40}, not a whole number from 1")
    if version > VERSION:
        raise ModelVersionError(
            f"this model file has format version {str(version)[:20]}, and this telltree reads versions up to "
            f"{VERSION}; upgrade telltree: pip install --upgrade telltree"
        )
    return checked(upgraded(found) if version == 1 else found, "this model file is damaged", kind)


def read_tree(content: bytes) -> Document:
    """The document of a tree; a forest is refused."""
    found = read_document(content)
    if isinstance(found, ForestDocument):
        raise ModelFormatError(
            f"it holds a forest of {counted(len(found.trees), 'tree')}, and a single tree is wanted here; read it with "
            "telltree.load(path) in Python, and predict with that"
        )
    return found


def checked(found: dict[str, Any], what: str, kind: type[Kind]) -> Kind:
    """The document, if valid; otherwise an error that begins with `what` and names the place."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = " → ".join(map(str, first["loc"]))
        raise ModelFormatError(f"{what}: at {place[:200]}: {first['msg'][:200]}") from None


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_Objects().object, parse_constant=_no_constant)
    except RecursionError:
        raise ModelFormatError("this is no model file: it is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"this is no model file: byte {error.start} is no text in UTF-8") from None
    except json.JSONDecodeError as error:
        raise ModelFormatError(
            f"this is no model file, or one cut short: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except ModelFormatError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise ModelFormatError(f"this is no model file: {error}") from None


class _Objects:
    """Makes the objects of a file, and counts the items of the lists in them."""

    def __init__(self) -> None:
        self._items = 0

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(pairs) > MOST_KEYS:
            raise ModelFormatError(f"this is no model file: an object in it has {len(pairs):,} keys")
        found = dict(pairs)
        if len(found) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ModelFormatError(f"this model file is damaged: the key {twice!r:.80} stands twice in one object")
        self._items += sum([len(value) for value in found.values() if type(value) is list])
        if self._items > MOST_ITEMS:
            raise ModelFormatError(f"this is no model file: its lists have more than {MOST_ITEMS:,} items in all")
        return found


def _no_constant(word: str) -> Any:
    raise ModelFormatError(f"this is no model file: {word} is no number in JSON")
