"""Targets: the quantity that a tree learns to predict, behind the protocols that growing, writing and showing use."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from telltree.panel import Panel


def label_bits(weights: Any, unit: float) -> float:
    """Return the bits that encode the classes, given their weights, one record after another.

    Each record is predicted from the classes before it, as if each of k classes had occurred 1/k times to begin with.
    """
    share, whole, coded = 1.0 / len(weights), 0.0, 0.0
    for k in range(len(weights)):
        if weights[k] > 0:
            known = weights[k] * unit
            whole += known
            coded += math.lgamma(known + share) - math.lgamma(share)
    return (math.lgamma(whole + 1.0) - coded) / math.log(2.0)


# ---- The protocols.
#
# A `Target` is common to all records of a tree: the classes, or the unit of a number. `Labels` belong to some records;
# searches count them. A `Summary` is what a leaf keeps of the labels of its records. No other code knows what a target
# is. Classes are a target, in `class_target.py`.

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Bar(NamedTuple):
    """An interval and a value in it, as places from 0 to 1 along a track."""

    low: float
    at: float
    high: float


class Cell(NamedTuple):
    """A cell of a table of rules: the name of its column, and its text."""

    name: str
    text: str
    number: bool = True
    """True if the column is one of numbers, which are right-aligned."""
    optional: bool = False
    """True if the column is left out when no row has a text."""


class Measure(NamedTuple):
    """The certainty of a category, for a page."""

    size: float | None
    """The sort key of categories."""
    value: str
    """The size in words."""
    within: str
    """The confidence interval, in words."""
    bar: Bar | None
    beside: str
    """The comparison with all records, in words."""
    times: str
    """The comparison as a number."""
    brief: str | None
    """The value in the box of a leaf."""
    remark: str | None = None
    """A necessary remark."""
    brief_remark: str | None = None


class Tile(NamedTuple):
    """A score in large type: its name, its value, and a note below."""

    name: str
    value: str
    note: str


class Words(NamedTuple):
    """The names of the parts of a target on pages, in tables and in exported programs."""

    label: str
    """The label of a record, in one word: "label"."""
    predicted: str
    """The name of a column of predictions: "class"."""
    part: str
    """One of the things that figures draw in colours: "class"."""
    parts: str
    measure: str
    """The certainty of a category: "Labelled so"."""
    within: str
    """The range of that: "95 % interval"."""
    times: str
    """The comparison with all records: "Times the share in all"."""
    remark: str
    """The subject of a remark: "Weights"."""
    most: str
    least: str
    otherwise: str
    """A category's exceptions: "labelled otherwise"."""
    exception: str
    """One exception: "Whose label is another class"."""


class TargetScores(Protocol):
    """The agreement of predictions with labels."""

    @property
    def records(self) -> int:
        """The number of records compared."""

    @property
    def rows(self) -> Mapping[str, str]:
        """All scores by name, as a table shows them."""

    @property
    def classes(self) -> Sequence[Any]:
        """The scores of each class; none if the target has no classes."""

    def tile(self, *, main: bool, weighted: bool) -> Tile:
        """Return the score to show first; `main` if no other stands before it, `weighted` if records had weights."""


class Certainty(Protocol):
    """The certainty of a leaf's prediction, for some records of the leaf, beside all records."""

    @property
    def text(self) -> str:
        """The certainty in words: `34 % of 234 records (28 to 40 %), 2.3 times the share in all`."""

    @property
    def mixed(self) -> str:
        """The records by label: `calm: 3, storm: 40`; "" if that is not known."""

    @property
    def remark(self) -> str:
        """A necessary remark on the prediction: `storm by weight: 75 %`; "" if there is none."""

    def values(self) -> dict[str, Any]:
        """Return all figures by the names of their attributes."""

    def exported(self) -> dict[str, Any]:
        """Return all figures by the names that they have in tables, for JSON; lists have no place in CSV."""

    def cells(self) -> list[Cell]:
        """Return a row of a table."""

    def measure(self) -> Measure:
        """Return the certainty as a page shows it."""


class Summary(Protocol):
    """A leaf's summary of its records; that of a node is the sum of its sides'."""

    @property
    def target(self) -> "Target":
        """The target of the tree."""

    @property
    def support(self) -> int:
        """The number of records."""

    @property
    def weight(self) -> float:
        """The weight of the records, up to a factor common to all leaves."""

    @property
    def predicted(self) -> Any:
        """The prediction, as a plain value of Python."""

    @property
    def title(self) -> str:
        """The title of a category: the prediction, or "mixed: A or B" if that is hardly decided."""

    @property
    def parts(self) -> tuple[int, ...]:
        """The number of records in each part of the target."""

    @property
    def part(self) -> int:
        """The part in whose colours the prediction is drawn."""

    @property
    def hits(self) -> str:
        """The support of the prediction, in words: `40 of 43 records`."""

    @property
    def mixed(self) -> str:
        """The records by label: `calm: 3, storm: 40`."""

    @property
    def remark(self) -> str:
        """A necessary remark on the prediction: `storm by weight: 75 %`; "" if there is none."""

    @property
    def brief_remark(self) -> str:
        """The remark for a place below the prediction: `by weight: 75 %`."""

    def __add__(self, other: Any) -> Self:
        """Return the summary of the records of both."""

    def bits(self, unit: float) -> float:
        """Return the code length of the labels without a split; a weight of 1 counts as `unit` records."""

    def is_weighted(self, unit: float) -> bool:
        """Return True if some of the records counted more than others."""

    def answers(self, *, every: bool) -> dict[str, Any]:
        """Return the columns of a table of predictions for each record here; all of them with `every`."""

    def certainty(self, here: Any, whole: Any, *, weighted: bool) -> Certainty:
        """Return the certainty of the prediction for the records `here` (None: not known) among the `whole`.

        `weighted`: True if training records had weights.
        """

    def entry(self) -> dict[str, Any]:
        """Return the entry in a model file, under keys of a leaf: `summary`, a dict of plain values."""


class Labels(Protocol):
    """The labels of some records: the groups that a search counts, and their display."""

    @property
    def target(self) -> "Target":
        """Their target; it may know more parts than a tree's, if records are new to the tree."""

    def __len__(self) -> int:
        """Return the number of records."""

    def __getitem__(self, members: Any) -> Self:
        """Return the labels of some records."""

    def groups(self) -> tuple[list[Bools], Ints | None]:
        """Return groups of records to count, and the matrix from counts to a criterion's columns: groups × columns.

        None if each group is a column.
        """

    @property
    def weights(self) -> Ints | None:
        """The weight of each record, up to a factor; None if all weigh the same."""

    def totals(self) -> Ints:
        """Return what a criterion gets for all records: one number per column."""

    @property
    def is_pure(self) -> bool:
        """True if there is nothing to tell apart."""

    def kinds(self) -> list[Bools]:
        """Return groups of records that the levels of a tree should have room to set apart; may be none."""

    def depth(self) -> int:
        """Return a suitable depth for a tree of these records."""

    def members(self) -> int:
        """Return a suitable least number of records on a side of a split."""

    def summary(self) -> Summary:
        """Return the summary of all records."""

    def hashed(self) -> bytes:
        """Return bytes that identify these labels, the same on any machine."""

    @property
    def parts(self) -> Ints:
        """The part of the target that each record is in."""

    def named(self) -> tuple[Sequence[Any], Ints]:
        """Return all labels that may occur, and the position of each record's label."""

    def parts_of_named(self) -> Ints | None:
        """Return the part of each of those labels; None if the labels are the parts."""

    def exceptions(self, leaves: Sequence[Any], places: Ints) -> Bools:
        """Return True for records whose label is not in the title of their category: the summary at their place."""

    def check_known(self, target: Any) -> None:
        """Raise DataError if a tree with this target could not be right about any of these records."""

    def strangers(self, target: Any) -> Sequence[Any]:
        """Return labels that a tree with this target has never seen."""

    def scores(self, leaves: Sequence[Any], places: Ints) -> TargetScores:
        """Return the agreement of the predictions, by the summary at each record's place, with these labels."""


class Target(Protocol):
    """The quantity that a tree learns to predict."""

    @property
    def parts(self) -> tuple[Any, ...]:
        """The names that figures draw in colours of their own; every record has one of them."""

    @property
    def words(self) -> Words:
        """The names of its parts."""

    @property
    def purpose(self) -> str:
        """The purpose of a tree, after "by 5 questions, ": `to tell 3 classes apart`."""

    def glossary(self, *, weighted: bool) -> Sequence[tuple[str, str]]:
        """Return the terms of a report and their meaning."""

    def read(self, y: Any, panel: Panel) -> Labels:
        """Return the labels of a panel's records; DataError if they are none."""

    def predictions(self, leaves: Sequence[Any]) -> NDArray[Any]:
        """Return the predictions of leaves with these summaries, as an array of the labels' type."""

    def summary_of(self, entry: Mapping[str, Any]) -> Summary:
        """Return the summary that a model file keeps; ModelFormatError if it is none."""

    def entry(self) -> dict[str, Any]:
        """Return the entry in a model file: `target`, a dict of plain values with its `kind`."""

    def hashed(self) -> dict[str, Any]:
        """Return plain values that identify the target."""
