"""Classes: the target whose labels are a few names."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import DataError, ModelFormatError, SettingsError
from telltree.panel import Panel, check_labels
from telltree.panel.schema import listed
from telltree.text import by_weight, counted, percent
from telltree.tree.class_scores import ClassCertainty, ClassScores, scores_of
from telltree.tree.target import Bools, Ints, Target, Words, label_bits

ONE = 1 << 20
"""Weights are whole numbers of 1 / ONE, so that sums do not depend on the order of summation."""
_DAMAGED = "this model file is damaged"
_NEARLY = 0.1  # share of a leaf's weight by which a class may fall short of the greatest, and the leaf is mixed
_MOST_NAMED = 3  # classes of a mixed leaf
_WORDS = Words(
    label="label",
    predicted="class",
    part="class",
    parts="classes",
    measure="Labelled so",
    within="95 % interval",
    times="Times the share in all",
    remark="Weights",
    most="Largest share",
    least="Smallest share",
    otherwise="labelled otherwise",
    exception="Whose label is another class",
)
_BY_WEIGHT = (
    "records were weighted in training, and the class of greatest weight is the category’s; where another class has "
    "more records, its share of the weight is told"
)


@dataclass(frozen=True)
class ClassTarget:
    """All classes in order, and the NumPy type of predictions."""

    classes: tuple[Any, ...]
    dtype: str = field(default="object", compare=False)

    @classmethod
    def of(cls, classes: NDArray[Any]) -> "ClassTarget":
        """Return the target of an array of classes. Predictions get its type."""
        return cls(tuple(classes.tolist()), "str" if classes.dtype.kind == "U" else classes.dtype.name)

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> "ClassTarget":
        """Return the target that `entry` wrote; ModelFormatError if its array does not give the classes back."""
        target = cls(tuple(entry["values"]), entry["dtype"])
        wanted = [(type(value), value) for value in target.classes]
        try:
            with np.errstate(over="ignore"):
                found = [(type(value), value) for value in target.array.tolist()]
            kept = found == wanted and len(set(wanted)) == len(wanted)
        except (OverflowError, TypeError, ValueError):
            kept = False
        if not kept:
            raise ModelFormatError(f"{_DAMAGED}: its classes are not different values of type {target.dtype}")
        return target

    def entry(self) -> dict[str, Any]:
        """Return the entry in a model file, under a key that classes have had from the first version on."""
        values = [value.item() if isinstance(value, np.generic) else value for value in self.classes]
        return {"classes": {"dtype": self.dtype, "values": values}}

    def hashed(self) -> dict[str, Any]:
        """Return the types and texts of the classes."""
        return {"classes": [[type(value).__name__, str(value)] for value in self.classes]}

    @property
    def array(self) -> NDArray[Any]:
        """The classes, with the type that labels had."""
        return np.array(self.classes, dtype=np.str_ if self.dtype == "str" else self.dtype)

    @property
    def parts(self) -> tuple[Any, ...]:
        """The classes: each has a colour."""
        return self.classes

    @property
    def words(self) -> Words:
        return _WORDS

    @property
    def purpose(self) -> str:
        return f"to tell {counted(len(self.classes), 'class', 'classes')} apart"

    def glossary(self, *, weighted: bool) -> list[tuple[str, str]]:
        return [
            (
                "Labelled so",
                "the share of a category’s records whose label is its class, or the class named first if it is mixed, "
                "with Wilson’s 95 % interval",
            ),
            (
                "Times the share in all",
                "how often that class is in the category, beside how often it is in all records",
            ),
            *([("By weight", _BY_WEIGHT)] if weighted else []),
            (
                "Gain",
                "how much a question lowers the fitness, which tells how mixed the classes are; where that is MDL, "
                "how many bits it saves in telling them, the formula paid for",
            ),
        ]

    def read(self, y: Any, panel: Panel) -> "ClassLabels":
        """Return the classes of records; labels that are no class are appended as classes of their own."""
        labels = check_labels(y, panel).tolist()
        place = {name: k for k, name in enumerate(self.classes)}
        codes = np.array([place.setdefault(label, len(place)) for label in labels], np.int64)
        return ClassLabels(codes, ClassTarget((*self.classes, *list(place)[len(self.classes) :])))

    def predictions(self, leaves: Sequence["ClassSummary"]) -> NDArray[Any]:
        found: NDArray[Any] = self.array[[leaf.label for leaf in leaves]]
        return found

    def summary_of(self, entry: Mapping[str, Any]) -> "ClassSummary":
        """Return the summary of a leaf in a model file."""
        counts, weights = entry.get("counts", ()), entry.get("weights", ())
        if not len(counts) == len(weights) == len(self.classes) or not any(weights):
            there = counted(len(self.classes), "class", "classes")
            raise ModelFormatError(f"{_DAMAGED}: a leaf must have a count and a weight for each of {there}")
        return ClassSummary(self, tuple(counts), tuple(weights))


@dataclass(frozen=True)
class ClassSummary:
    """The records of a leaf by class. It predicts the class of greatest weight."""

    target: ClassTarget = field(repr=False)
    counts: tuple[int, ...]
    """Records of each class."""
    weights: tuple[float, ...]
    """The weight of each class, up to a factor common to all leaves."""

    @cached_property
    def label(self) -> int:
        """The position of the class of greatest weight among all; the first of equals."""
        return int(np.argmax(self.weights))

    @property
    def predicted(self) -> Any:
        """The class of greatest weight."""
        return self.target.classes[self.label]

    @cached_property
    def leading(self) -> tuple[int, ...]:
        """The positions of the classes that tie, or nearly tie, for the greatest weight: the label first."""
        least = self.weights[self.label] - _NEARLY * self.weight
        near = [k for k, weight in enumerate(self.weights) if weight and weight >= least * (1 - 1e-9)]
        return tuple(sorted(near, key=lambda k: (-self.weights[k], k)))

    @property
    def title(self) -> str:
        """The class, or "mixed: A or B" where others are about as likely."""
        if len(self.leading) < 2:
            return str(self.predicted)
        names = [str(self.target.classes[k]) for k in self.leading]
        if len(names) > _MOST_NAMED:
            names[_MOST_NAMED - 1 :] = [f"{len(names) - _MOST_NAMED + 1} others"]
        return f"mixed: {', '.join(names[:-1])} or {names[-1]}"

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each class: its share after one more record that belongs equally to all classes.

        Ten of ten records are better evidence than two of two, and neither is certainty.
        """
        weights = np.array(self.weights)
        expected: NDArray[np.float64] = (weights / weights.sum() * self.support + 1 / len(weights)) / (self.support + 1)
        return expected

    @property
    def support(self) -> int:
        """The number of records."""
        return sum(self.counts)

    @property
    def weight(self) -> float:
        """The weight of all records."""
        return math.fsum(self.weights)

    @property
    def weighted_share(self) -> float | None:
        """The label's share of the weight; None where there is none."""
        return self.weights[self.label] / self.weight if self.weight else None

    @property
    def decided_by_weights(self) -> bool:
        """True if another class has more records here than the label, but less weight."""
        return self.counts[self.label] < max(self.counts)

    @property
    def parts(self) -> tuple[int, ...]:
        return self.counts

    @property
    def part(self) -> int:
        return self.label

    @property
    def by_class(self) -> dict[Any, int]:
        """The number of records with each label that occurs."""
        return {self.target.classes[k]: count for k, count in enumerate(self.counts) if count}

    @property
    def hits(self) -> str:
        """The number of records of the class, or of each class in the title."""
        named = [f"{self.counts[k]:,}" for k in self.leading[:_MOST_NAMED]]
        if len(self.leading) > _MOST_NAMED:
            named[-1] = f"{sum(self.counts[k] for k in self.leading[_MOST_NAMED - 1 :]):,}"
        each = " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]
        return f"{each} of {counted(self.support, 'record')}"

    @property
    def mixed(self) -> str:
        """The number of records of each class, as text."""
        return ", ".join(f"{label}: {count}" for label, count in self.by_class.items())

    @property
    def remark(self) -> str:
        """A remark if weights decided the prediction."""
        return by_weight(self.predicted, self.weighted_share) if self.decided_by_weights else ""

    @property
    def brief_remark(self) -> str:
        """The remark for a place below the name of the class."""
        return f"by weight: {percent(self.weighted_share, 0)}" if self.decided_by_weights else ""

    def __add__(self, other: "ClassSummary") -> "ClassSummary":
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        weights = tuple(a + b for a, b in zip(self.weights, other.weights, strict=True))
        return ClassSummary(self.target, counts, weights)

    def bits(self, unit: float) -> float:
        return label_bits(self.weights, unit)

    def is_weighted(self, unit: float) -> bool:
        """Return True if a class weighs more or less than its records."""
        pairs = zip(self.weights, self.counts, strict=True)
        return not all(math.isclose(weight * unit, count, rel_tol=1e-9) for weight, count in pairs)

    def answers(self, *, every: bool) -> dict[str, Any]:
        """Return the class and its probability; with `every`, the probability of each class."""
        shares = self.probabilities.tolist()
        found = {"prediction": self.predicted, "probability": max(shares)}
        named = zip(self.target.array, shares, strict=True) if every else ()
        return found | {f"probability of {label}": share for label, share in named}

    def certainty(self, here: "ClassSummary | None", whole: "ClassSummary | None", *, weighted: bool) -> ClassCertainty:
        """Return the share of the class among some records, beside its share among all."""
        counts, everyone = (_counts(some, self.target) for some in (here, whole))
        return ClassCertainty(
            label=self.predicted,
            hits=counts[self.label],
            support=sum(counts),
            all_hits=everyone[self.label],
            all_records=sum(everyone),
            counts={} if here is None else here.by_class,
            weighted=self.weighted_share if weighted else None,
            decided_by_weights=self.decided_by_weights,
        )

    def entry(self) -> dict[str, Any]:
        """Return the entry in a model file, under keys that a leaf has had from the first version on."""
        return {"counts": list(self.counts), "weights": list(self.weights)}


def _counts(some: ClassSummary | None, target: ClassTarget) -> Sequence[int]:
    return (0,) * len(target.classes) if some is None else some.counts


@dataclass(frozen=True)
class ClassLabels:
    """The class of each record, and its weight as a whole number (None: all weigh the same)."""

    codes: Ints
    target: ClassTarget
    weights: Ints | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, members: Any) -> "ClassLabels":
        weights = None if self.weights is None else self.weights[members]
        return ClassLabels(self.codes[members], self.target, weights)

    def totals(self) -> Ints:
        found = np.zeros(len(self.target.classes), np.int64)
        np.add.at(found, self.codes, 1 if self.weights is None else self.weights)
        return found

    def counts(self) -> Ints:
        """Return the records of each class."""
        return np.bincount(self.codes, minlength=len(self.target.classes))

    def kinds(self) -> list[Bools]:
        """Return the records of each class."""
        return [self.codes == k for k in range(len(self.target.classes))]

    def groups(self) -> tuple[list[Bools], Ints | None]:
        """Return groups of records to count, and the matrix that turns counts into class weights: groups × classes.

        Without weights the groups are the classes, and there is no matrix (None). With them, a class has a group for
        each of its different weights, or if these are many, one for each bit of them.
        """
        classes = self.kinds()
        if self.weights is None:
            return classes, None
        parts = [(k, weight, group) for k, own in enumerate(classes) for weight, group in _parts(self.weights, own)]
        worth = np.zeros((len(parts), len(classes)), np.int64)
        for row, (k, weight, _) in enumerate(parts):
            worth[row, k] = weight
        return [group for _, _, group in parts], worth

    @property
    def is_pure(self) -> bool:
        """True if all records are of one class."""
        return bool(np.count_nonzero(self.counts()) <= 1)

    def depth(self) -> int:
        """Return enough levels to tell all classes apart, and more where there are many records."""
        return max(math.ceil(math.log2(len(self.target.classes))) + 2, min(8, len(self).bit_length()))

    def members(self) -> int:
        """Return a hundredth of the records, 10 at most, and no more than half of the rarest class."""
        counts = self.counts()
        return max(1, min(10, len(self) // 100, int(counts[counts > 0].min()) // 2))

    def summary(self) -> ClassSummary:
        counts, weights = self.counts(), self.totals()
        if not weights.any():  # records of weight 0 only
            weights = counts * ONE
        unit = 1 if self.weights is None else ONE
        return ClassSummary(self.target, tuple(counts.tolist()), tuple((weights / unit).tolist()))

    def hashed(self) -> bytes:
        """Return the positions of the classes as bytes."""
        return np.asarray(self.codes, "<i8").tobytes()

    @property
    def parts(self) -> Ints:
        """The class of each record."""
        return self.codes

    def named(self) -> tuple[Sequence[Any], Ints]:
        """Return the classes, and the position of each record's class."""
        return self.target.classes, self.codes

    def parts_of_named(self) -> None:
        """Return None: the classes are the parts."""

    def exceptions(self, leaves: Sequence[ClassSummary], places: Ints) -> Bools:
        """Return True for records of a class that the title of their category does not name."""
        named = np.zeros((len(leaves), len(self.target.classes)), np.bool_)
        for row, leaf in zip(named, leaves, strict=True):
            row[list(leaf.leading)] = True
        found: Bools = ~named[places, self.codes]
        return found

    def check_known(self, target: ClassTarget) -> None:
        """Raise DataError if none of the labels is a class of the target."""
        if not (self.codes < len(target.classes)).any():
            raise DataError(
                f"none of the labels is a class of the tree: they are {listed(self.strangers(target))}, the tree's are "
                f"{listed(target.classes)}; give the labels as they were when the tree was learned"
            )

    def strangers(self, target: ClassTarget) -> Sequence[Any]:
        """Return the labels that are no class of the target."""
        return self.target.classes[len(target.classes) :]

    def scores(self, leaves: Sequence[ClassSummary], places: Ints) -> ClassScores:
        return scores_of(self.codes, self._predicted(leaves, places), self.target.classes)

    def _predicted(self, leaves: Sequence[ClassSummary], places: Ints) -> Ints:
        found: Ints = np.array([leaf.label for leaf in leaves])[places]
        return found


def _parts(weights: Ints, own: Bools) -> list[tuple[int, Bools]]:
    """Return the records of a class by weight if it has few different ones, else by each bit of their weights."""
    distinct = np.unique(weights[own])
    bits = int(weights.max()).bit_length()
    if len(distinct) <= bits:
        return [(int(weight), own & (weights == weight)) for weight in distinct if weight]
    return [(1 << bit, own & ((weights >> bit) & 1 == 1)) for bit in range(bits)]


# ---- The kinds of targets in model files, by name. A new kind of target is registered here.

Read = Callable[[Mapping[str, Any]], Target]
"""Returns a target, given its entry in a model file; ModelFormatError if that is damaged."""

_KINDS: dict[str, Read] = {"classes": ClassTarget.from_entry}


def register_target(kind: str, read: Read) -> None:
    """Register a kind of target, so that model files of it can be read."""
    if kind in _KINDS:
        raise SettingsError(f"there is a kind of target {kind!r} already; give another name")
    _KINDS[kind] = read


def read_target(kind: str, entry: Mapping[str, Any]) -> Target:
    """Return the target of a model file."""
    if kind not in _KINDS:
        raise ModelFormatError(
            f"this model predicts {kind!r:.80}, a kind of target that is not known here; there are {listed(_KINDS)}: "
            "register it before the file is read, with register_target(kind, read)"
        )
    return _KINDS[kind](entry)
