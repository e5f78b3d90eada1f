"""Targets: what a tree learns to tell, and what whoever grows, writes or shows one asks of it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from telltree.panel import Panel

# ---- How long a message is from which somebody who has the records could read off their classes.


def label_bits(weights: Any, unit: float) -> float:
    """The bits in which the classes of so much weight are told one record after another.

    Each record is foretold by the classes before it, as if each of k classes had been met 1/k times to begin with.
    """
    share, whole, told = 1.0 / len(weights), 0.0, 0.0
    for k in range(len(weights)):
        if weights[k] > 0:
            known = weights[k] * unit
            whole += known
            told += math.lgamma(known + share) - math.lgamma(share)
    return (math.lgamma(whole + 1.0) - told) / math.log(2.0)


# ---- Targets: what a tree learns to tell, and what whoever grows, writes or shows one asks of it.
#
# A `Target` is what all records of a tree have in common: the classes there are, the unit of a number. `Labels` are
# what some records are worth to it, and searches count them. A `Summary` is what a leaf keeps of the labels of its
# records, and all that it says of them. Nobody else knows what a target is: classes are one, in `classes.py`.

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Bar(NamedTuple):
    """An interval and a value in it, as places from 0 to 1 along a track."""

    low: float
    at: float
    high: float


class Cell(NamedTuple):
    """A cell of a table of rules: the name of its column, and what it says."""

    name: str
    text: str
    number: bool = True
    """Whether the column is one of numbers, which stand at the right."""
    optional: bool = False
    """Whether a text leaves the column out if it says nothing in any row."""


class Measure(NamedTuple):
    """How sure a category is, as a page tells it."""

    size: float | None
    """By which categories are sorted."""
    value: str
    """The same in words."""
    within: str
    """From where to where it may be."""
    bar: Bar | None
    beside: str
    """How it compares with all records, in words."""
    times: str
    """The same as a number."""
    brief: str | None
    """The value in the box of a leaf."""
    remark: str | None = None
    """What must be known beside it."""
    brief_remark: str | None = None


class Tile(NamedTuple):
    """A score in large type: its name, what it is, and a note below."""

    name: str
    value: str
    note: str


class Words(NamedTuple):
    """What pages, tables and exported programs call the parts of a target."""

    label: str
    """What is predicted of a record, in one word: "label"."""
    predicted: str
    """What a column of a table is called that has it: "class"."""
    part: str
    """One of what figures draw in colours: "class"."""
    parts: str
    measure: str
    """What is told of how sure a category is: "Labelled so"."""
    within: str
    """From where to where that may be: "95 % interval"."""
    times: str
    """How that compares with all records: "Times the share in all"."""
    remark: str
    """What a remark on it is about: "Weights"."""
    most: str
    least: str
    """How categories are sorted by it: "Largest share"."""
    otherwise: str
    """What exceptions are: "labelled otherwise"."""
    exception: str
    """Which members they are: "Whose label is another class"."""


class TargetScores(Protocol):
    """How well predictions agree with labels."""

    @property
    def records(self) -> int:
        """How many were compared."""

    @property
    def rows(self) -> Mapping[str, str]:
        """All scores by name, as a table tells them."""

    @property
    def classes(self) -> Sequence[Any]:
        """How well each class is told from the others; none where the target has no classes."""

    def tile(self, *, main: bool, weighted: bool) -> Tile:
        """The score to show first; `main` if no other stands before it, `weighted` if records had weights."""


class Sureness(Protocol):
    """How sure a leaf's prediction is, by some of its records beside all: those of training, or those at hand."""

    @property
    def text(self) -> str:
        """In words, for reading: `34 % of 234 records (28 to 40 %), 2.3 times the share in all`."""

    @property
    def mixed(self) -> str:
        """What the records are: `calm: 3, storm: 40`; "" if that is not known."""

    @property
    def remark(self) -> str:
        """What must be known beside the prediction: `storm by weight: 75 %`; "" if there is nothing."""

    def values(self) -> dict[str, Any]:
        """All figures by the names that they have as attributes."""

    def exported(self) -> dict[str, Any]:
        """All figures by the names that they have in tables, for JSON; those that are lists have no place in CSV."""

    def cells(self) -> list[Cell]:
        """A row of a table."""

    def measure(self) -> Measure:
        """For a page."""


class Summary(Protocol):
    """What a leaf says of the records that came to it; that of a node is the sum of its sides'."""

    @property
    def target(self) -> "Target":
        """What it speaks of."""

    @property
    def support(self) -> int:
        """How many records came."""

    @property
    def weight(self) -> float:
        """What they weigh, up to a factor common to all leaves."""

    @property
    def predicted(self) -> Any:
        """What is predicted for them, as a plain value of Python."""

    @property
    def title(self) -> str:
        """What a category with it is called: what is predicted, or "mixed: A or B" where that is hardly decided."""

    @property
    def parts(self) -> tuple[int, ...]:
        """How many records are in each part of the target."""

    @property
    def part(self) -> int:
        """The part in whose colours the prediction is drawn."""

    @property
    def hits(self) -> str:
        """How much there is to the prediction, in words: `40 of 43 records`."""

    @property
    def mixed(self) -> str:
        """What the records are: `calm: 3, storm: 40`."""

    @property
    def remark(self) -> str:
        """What must be known beside the prediction: `storm by weight: 75 %`; "" if there is nothing."""

    @property
    def brief_remark(self) -> str:
        """The same where the prediction stands above it: `by weight: 75 %`."""

    def __add__(self, other: Any) -> Self:
        """The summary of the records of both."""

    def bits(self, unit: float) -> float:
        """In how many bits their labels are told if nothing is asked; a weight of 1 counts as `unit` records."""

    def is_weighted(self, unit: float) -> bool:
        """Whether some of the records counted more than others."""

    def answers(self, *, every: bool) -> dict[str, Any]:
        """What a table of predictions says of each record here, by column; with `every`, all that there is to say."""

    def sureness(self, here: Any, whole: Any, *, weighted: bool) -> Sureness:
        """How sure the prediction is for records with the summary `here` (None: not known) among the `whole`.

        `weighted` tells whether records of training had weights.
        """

    def entry(self) -> dict[str, Any]:
        """What a model file keeps of it, under keys of a leaf: `summary`, a dict of plain values."""


class Labels(Protocol):
    """What each of some records is worth: what a search counts, and what is shown of them."""

    @property
    def target(self) -> "Target":
        """What they are labels of; it may know more parts than that of a tree, if records are strange to the tree."""

    def __len__(self) -> int:
        """How many records there are."""

    def __getitem__(self, members: Any) -> Self:
        """The labels of some records."""

    def groups(self) -> tuple[list[Bools], Ints | None]:
        """Groups of records to count, and how what a fitness gets is made of the counts: groups × columns.

        None if each group is a column.
        """

    @property
    def weights(self) -> Ints | None:
        """What each record weighs, up to a factor; None if all weigh the same."""

    def totals(self) -> Ints:
        """What a fitness gets for all records: one number a column."""

    @property
    def is_pure(self) -> bool:
        """Whether there is nothing to tell apart."""

    def kinds(self) -> list[Bools]:
        """Groups of records that the levels of a tree should have room to set apart; none if there are no such."""

    def depth(self) -> int:
        """How many levels suit a tree for these records."""

    def members(self) -> int:
        """How many records each side of a split should have."""

    def summary(self) -> Summary:
        """What a leaf says of all of them."""

    def hashed(self) -> bytes:
        """What tells these labels from others, the same on any machine."""

    @property
    def parts(self) -> Ints:
        """The part of the target that each record is in."""

    def named(self) -> tuple[Sequence[Any], Ints]:
        """All labels that may occur, and which of them each record has."""

    def parts_of_named(self) -> Ints | None:
        """The part that each of those is in; None if the labels are the parts."""

    def exceptions(self, leaves: Sequence[Any], places: Ints) -> Bools:
        """Which records have a label that the title of their category, by the summary at their place, does not name."""

    def check_known(self, target: Any) -> None:
        """DataError if a tree with this target could not be right about a single one of them."""

    def strangers(self, target: Any) -> Sequence[Any]:
        """Labels that a tree with this target has never seen."""

    def scores(self, leaves: Sequence[Any], places: Ints) -> TargetScores:
        """How well what is predicted, by the summary at each record's place, agrees with them."""


class Target(Protocol):
    """What a tree learns to tell."""

    @property
    def parts(self) -> tuple[Any, ...]:
        """What figures draw in colours of their own: a few names that every record has one of."""

    @property
    def words(self) -> Words:
        """What its parts are called."""

    @property
    def purpose(self) -> str:
        """What a tree of it is for, after "by 5 questions, ": `to tell 3 classes apart`."""

    def glossary(self, *, weighted: bool) -> Sequence[tuple[str, str]]:
        """What the words mean that a report says of it."""

    def read(self, y: Any, panel: Panel) -> Labels:
        """The labels of a panel's records; DataError if they are none."""

    def predictions(self, leaves: Sequence[Any]) -> NDArray[Any]:
        """What leaves with these summaries predict, as an array of the type that labels had."""

    def summary_of(self, entry: Mapping[str, Any]) -> Summary:
        """The summary that a model file keeps; ModelFormatError if it is none."""

    def entry(self) -> dict[str, Any]:
        """What a model file keeps of it: `target`, a dict of plain values with its `kind`."""

    def hashed(self) -> dict[str, Any]:
        """What tells it from others, in plain values."""
