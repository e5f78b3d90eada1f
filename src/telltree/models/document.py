"""The format of model files: the keys, and the values allowed for each."""

import abc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from telltree.grammar.limits import has_more_tokens
from telltree.search import SEARCHES
from telltree.tree.settings import DEEPEST_OPTIMAL, MOST_POOLED, MOST_TREES

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
"""A value that a target other than classes may store for itself or a leaf."""
DType = Literal[
    "object", "str", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
]  # fmt: skip


class Entry(BaseModel):
    """An object of the file, checked without type conversion; unknown keys are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Classes(Entry):
    """The labels, in order, and the NumPy type of predictions."""

    dtype: DType
    values: Annotated[Many[Label], Field(min_length=1)]


class ColumnEntry(Entry):
    """A column; absent fields are not written."""

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
    """A column that the grammar left out, and why."""

    column: str
    reason: str


class GrammarEntry(Entry):
    """A grammar with its groups written out; a column given by name alone is that of the training data."""

    text: str
    columns: Many[str | ColumnEntry]
    left_out: Many[LeftOut]


class GrammarText(Entry):
    """The text of a grammar as a user wrote it."""

    text: str


class FunctionEntry(Entry):
    """The signature of a user function, which must be given when the model is loaded."""

    name: str
    takes: Many[str]
    gives: str


class RunnerUpEntry(Entry):
    """A formula that would have split nearly as well."""

    formula: Text
    fitness: Number
    spoken: bool = False


class ProofEntry(Entry):
    """The formulas that are proved not to be fitter."""

    atoms: Count
    depth: Count
    size: Count | None
    formulas: Annotated[str, Field(pattern="^[0-9]{1,1000}$")]
    """A number in digits, since it may exceed the exact integers of JSON."""
    tried: Count
    wanted: Count
    fitness: Number
    sampled: Count
    is_all: bool = False
    goes_deeper: bool = True


class OptimumEntry(Entry):
    """The proof that no tree over a pool of formulas costs less."""

    levels: Annotated[int, Field(ge=1, le=DEEPEST_OPTIMAL)]
    pool: Annotated[int, Field(ge=1, le=MOST_POOLED)]
    leaves: Count
    compared: Count
    left_out: Count
    cost: float
    greedy: float
    told_in: Literal["bits", "of fitness"]


class FoundEntry(Entry):
    """Recall and precision of a class."""

    recall: Annotated[float, Field(ge=0, le=1)]
    precision: Annotated[float, Field(ge=0, le=1)] | None


class FloorEntry(Entry):
    """The effect of a minimum recall of a class."""

    label: Label
    floor: Annotated[float, Field(gt=0, le=1)]
    factor: Annotated[float, Field(gt=0)]
    before: FoundEntry
    after: FoundEntry


class UnknownEntry(Entry):
    """The formula before unknown answers were settled, and the branch of records with an unknown answer."""

    said: Text
    goes: bool
    records: Count


class Branch(Entry):
    """An inner node; the subtree of records for which its formula is true follows, then the other."""

    kind: Literal["branch"]
    formula: Text
    fitness: Number
    gain: Number
    robustness: Number
    runners_up: Many[RunnerUpEntry]
    spoken: bool = False
    """True if rules of the grammar have English of their own for it."""
    found: Text | None = None
    """The formula as the search found it, if it was changed."""
    naming: Annotated[float, Field(ge=0)] = 0.0
    """The length of the formula in its grammar, in bits."""
    by_size: Many[RunnerUpEntry] = []
    """The best formula of each size, the shortest first."""
    proof: ProofEntry | None = None
    unknown: UnknownEntry | None = None


class HeadlineEntry(Entry):
    """A short formula that is true of all training records of a leaf but `missed`, and of `elsewhere` of the others."""

    formula: Text
    others: Count
    elsewhere: Count
    missed: Count = 0


class ConditionEntry(Entry):
    """A condition without which a sentence about a leaf is vacuous, and the number of its records that meet it."""

    formula: Text
    members: Count


class LeafEntry(Entry):
    """A leaf: a summary of its training records, and its headline and short formula if it has them.

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
    def target_summary(self) -> dict[str, Any]:
        """The summary, as its target wrote it."""
        return {"counts": self.counts, "weights": self.weights} if self.summary is None else self.summary


NodeEntry = Annotated[Branch | LeafEntry, Field(discriminator="kind")]


class Spread(Entry):
    """The standard deviation of a signal over the training data."""

    signal: Text
    deviation: Annotated[float, Field(gt=0)]


class StepEntry(Entry):
    """The length of a step if all have the same, the unit of times ("" if none), and the name of their column."""

    length: Annotated[float, Field(gt=0)] | None = None
    unit: str
    clock: str = ""


class PathEntry(Entry):
    """The aggregation of a column within a step."""

    column: str
    way: Literal["last", "mean", "any"]


class HowReadEntry(Entry):
    """The arguments with which other data must be read in the same way as the training data."""

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
    """Properties of the training data."""

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
    """The settings of a criterion based on description length."""

    price: float
    tolerance: float
    leniency: float = 0.0


class MeasuredEntry(Entry):
    """A share of unseen records, or a difference of two, and its standard error."""

    share: Annotated[float, Field(ge=0, le=1)]
    error: Annotated[float, Field(ge=0)]


class ScoreEntry(MeasuredEntry):
    """The cross-validated scores of a tree of the pruning path: accuracy, and those that decide between sizes."""

    balanced: MeasuredEntry | None = None
    behind: MeasuredEntry | None = None


class PruningPathEntry(Entry):
    """The unpruned tree, and the scores of the trees on its pruning path."""

    tree: Many[NodeEntry]
    scores: Many[ScoreEntry] = []
    taken: Count | None = None
    """The position of the model's tree in the pruning path; None in old files."""


class ClassWeight(Entry):
    """The weight of a class."""

    label: Label
    weight: float


class RecallEntry(Entry):
    """The minimum recall of a class."""

    label: Label
    recall: Annotated[float, Field(gt=0, le=1)]


class GrowthEntry(Entry):
    """A way to grow trees, and its settings."""

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
    """The common part of files of trees and of forests."""

    version: Literal[2]
    classes: Classes | None = None
    target: dict[str, Plain] | None = None
    """A target other than classes: its `kind` and parameters."""
    columns: Many[ColumnEntry]
    functions: Many[FunctionEntry]
    grammar: GrammarEntry | None
    training: TrainingEntry

    @abc.abstractmethod
    def entries(self) -> Iterator[Branch | LeafEntry]:
        """Yield all nodes."""

    def formulas(self) -> Iterator[str]:
        """Yield the texts of all formulas."""
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
        """Return True if the distinct formulas have more words and signs than the limit."""
        return has_more_tokens(set(self.formulas()), MOST_PARTS)

    def written(self) -> dict[str, Any]:
        """Return the document in JSON's types, without fields that have their defaults."""
        return self.model_dump(exclude_defaults=True)


class Document(CommonEntry):
    """The file of a tree."""

    format: Literal["telltree model"]
    tree: Many[NodeEntry]
    """In preorder, the true side first."""
    pruning_path: PruningPathEntry | None = None
    optimum: OptimumEntry | None = None
    floors: Many[FloorEntry] = []
    settings: Settings

    def entries(self) -> Iterator[Branch | LeafEntry]:
        """Yield the nodes of the tree and of the unpruned tree."""
        yield from self.tree
        yield from self.pruning_path.tree if self.pruning_path else ()


class ForestDocument(CommonEntry):
    """The file of a forest."""

    format: Literal["telltree forest"]
    trees: Annotated[Many[Many[NodeEntry]], Field(min_length=1, max_length=MOST_TREES)]
    """Each in preorder, the true side first."""
    counts: Many[Count]
    """The number of training records of each class."""
    n_estimators: Annotated[int, Field(ge=1, le=MOST_TREES)]
    random_state: Count | None
    settings: Settings | None
    """Settings of the trees; None for the defaults."""

    def entries(self) -> Iterator[Branch | LeafEntry]:
        """Yield the nodes of all trees."""
        for tree in self.trees:
            yield from tree
