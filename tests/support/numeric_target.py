"""A target of numbers, as somebody else might write one: trees, reports, model files and exports know nothing of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from telltree.errors import DataError, ModelFormatError
from telltree.text import counted
from telltree.tree.target import Bar, Cell, Measure, Tile, Words

KIND = "numbers"
WORDS = Words(
    label="mean",
    predicted="mean",
    part="range",
    parts="ranges",
    measure="Mean",
    within="95 % interval",
    times="Above the mean of all",
    remark="Remark",
    most="Largest mean",
    least="Smallest mean",
    otherwise="far from the mean",
    exception="Whose number is two standard deviations or more from the mean",
)


@dataclass(frozen=True)
class NumericTarget:
    """Numbers from `low` on in steps of `step`, in a unit; figures draw the ranges between `cuts` in colours."""

    low: float
    step: float
    cuts: tuple[float, ...]
    unit: str = ""

    @classmethod
    def of(cls, values, unit="", steps=200):
        """A target for numbers like these, in so many steps, and three ranges of as many records each."""
        low, high = float(np.min(values)), float(np.max(values))
        cuts = tuple(float(f"{cut:.3g}") for cut in np.quantile(values, [1 / 3, 2 / 3]))
        return cls(low, (high - low) / steps or 1.0, cuts, unit)

    @classmethod
    def from_entry(cls, entry: Mapping):
        try:
            return cls(entry["low"], entry["step"], tuple(entry["cuts"]), entry["unit"])
        except (KeyError, TypeError) as error:
            raise ModelFormatError(f"this model file is damaged: its numbers have no {error}") from error

    def entry(self):
        return {"target": {"kind": KIND, **asdict(self), "cuts": list(self.cuts)}}

    def hashed(self):
        return {"numbers": asdict(self)}

    def said(self, value):
        return f"{value:.4g} {self.unit}".rstrip()

    def value(self, steps):
        return self.low + self.step * steps

    @property
    def parts(self):
        first, last = self.said(self.cuts[0]), self.said(self.cuts[-1])
        middle = [f"{self.said(a)} to {self.said(b)}" for a, b in zip(self.cuts, self.cuts[1:], strict=False)]
        return (f"below {first}", *middle, f"from {last} on")

    @property
    def words(self):
        return WORDS

    @property
    def purpose(self):
        return "to foretell a number"

    def glossary(self, *, weighted):
        return [("Mean", "of the numbers of a category’s records, with its 95 % interval"),
                ("Gain", "how much of the variance a question takes away")]  # fmt: skip

    def read(self, y, panel):
        values = np.asarray(y, np.float64)
        if values.shape != (len(panel),) or not np.isfinite(values).all():
            raise DataError(f"expected a finite number for each of the {counted(len(panel), 'record')}")
        return NumericLabels(np.round((values - self.low) / self.step).astype(np.int64), self)

    def predictions(self, leaves):
        return np.array([leaf.predicted for leaf in leaves])

    def summary_of(self, entry):
        try:
            return NumericSummary(self, entry["support"], entry["total"], entry["squares"], tuple(entry["parts"]))
        except (KeyError, TypeError) as error:
            raise ModelFormatError(f"this model file is damaged: a leaf has no {error}") from error


@dataclass(frozen=True)
class NumericSummary:
    """The number of records, and the sums of their numbers and squares, in steps."""

    target: NumericTarget
    support: int
    total: int
    squares: int
    parts: tuple[int, ...]

    @property
    def weight(self):
        return float(self.support)

    @property
    def title(self):
        return str(self.predicted)

    @property
    def predicted(self):
        return float(f"{self.target.value(self.total / max(1, self.support)):.6g}")

    @property
    def variance(self):
        """In steps."""
        return max(0.0, self.squares - self.total**2 / self.support) / self.support if self.support else 0.0

    @property
    def deviation(self):
        return self.target.step * math.sqrt(self.variance)

    @property
    def part(self):
        return int(np.searchsorted(self.target.cuts, self.predicted, side="right"))

    @property
    def hits(self):
        return f"± {self.target.said(self.deviation)}, {counted(self.support, 'record')}"

    @property
    def mixed(self):
        named = zip(self.target.parts, self.parts, strict=True)
        return ", ".join(f"{name}: {count}" for name, count in named if count)

    remark = brief_remark = ""

    def __add__(self, other):
        parts = tuple(a + b for a, b in zip(self.parts, other.parts, strict=True))
        sums = self.support + other.support, self.total + other.total, self.squares + other.squares
        return NumericSummary(self.target, *sums, parts)

    def bits(self, unit):
        """Bits of a normal distribution, to a step."""
        return 0.5 * self.support * math.log2(1 + 2 * math.pi * math.e * self.variance)

    def is_weighted(self, unit):
        return False

    def answers(self, *, every):
        return {"prediction": self.predicted} | ({"deviation": self.deviation} if every else {})

    def certainty(self, here, whole, *, weighted):
        return NumericCertainty(self.target, here, whole)

    def entry(self):
        own = {"support": self.support, "total": self.total, "squares": self.squares, "parts": list(self.parts)}
        return {"summary": own}


@dataclass(frozen=True)
class NumericCertainty:
    """The mean of some records, how far they lie about it, and the mean of all."""

    target: NumericTarget
    here: NumericSummary | None
    whole: NumericSummary | None

    @property
    def known(self):
        return self.here is not None and self.here.support > 0

    @property
    def mean(self):
        return self.here.predicted if self.known else None

    @property
    def interval(self):
        half = 1.96 * self.here.deviation / math.sqrt(self.here.support)
        return self.mean - half, self.mean + half

    @property
    def above(self):
        return None if not self.known else self.mean - self.whole.predicted

    @property
    def text(self):
        if not self.known:
            return "no records"
        low, high = map(self.target.said, self.interval)
        return f"{self.target.said(self.mean)} ({low} to {high}), of {counted(self.here.support, 'record')}"

    @property
    def mixed(self):
        return self.here.mixed if self.known else ""

    remark = ""

    def values(self):
        low, high = self.interval if self.known else (None, None)
        support = self.here.support if self.known else 0
        return {"mean": self.mean, "low": low, "high": high, "above": self.above, "support": support}

    exported = values

    def cells(self):
        return [Cell(name, "–" if value is None else f"{value:.4g}") for name, value in self.values().items()]

    def measure(self):
        if not self.known:
            return Measure(None, "–", "–", None, "–", "–", None)
        low, high = self.interval
        ends = self.target.low, self.target.value(200)
        bar = Bar(*(min(1.0, max(0.0, (x - ends[0]) / (ends[1] - ends[0]))) for x in (low, self.mean, high)))
        said, beside = self.target.said, f"{self.target.said(self.above)} above the mean of all"
        within = f"{said(low)} to {said(high)}"
        return Measure(
            self.mean, said(self.mean), within, bar, beside, f"{self.above:.3g}", f"± {said(high - self.mean)}"
        )


@dataclass(frozen=True)
class NumericScores:
    """The distance of predictions from the numbers."""

    records: int
    error: float
    told: float
    """The share of the variance that predictions tell."""

    classes = ()

    @property
    def rows(self):
        return {
            "Records": str(self.records),
            "Mean error": f"{self.error:.4g}",
            "Variance told": f"{100 * self.told:.1f} %",
        }

    def tile(self, *, main, weighted):
        return Tile("Variance told", f"{100 * self.told:.1f} %", f"mean error {self.error:.4g}")


@dataclass(frozen=True)
class NumericLabels:
    """The number of each record, in steps."""

    steps: np.ndarray
    target: NumericTarget
    weights = None

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, members):
        return NumericLabels(self.steps[members], self.target)

    @property
    def values(self):
        return self.target.value(self.steps)

    def _columns(self):
        """The contribution of each record to a criterion: 1, its number, and the square of that."""
        return np.column_stack([np.ones_like(self.steps), self.steps, self.steps**2])

    def groups(self):
        """Numbers are sums of powers of two: the records that have a bit are counted, and each is worth that power."""
        found, worth = [], []
        for column, values in enumerate(self._columns().T):
            for bit in range(int(values.max(initial=0)).bit_length()):
                found.append((values >> bit) & 1 == 1)
                worth.append([(1 << bit) * (column == k) for k in range(3)])
        return found, np.array(worth, np.int64).reshape(-1, 3)

    def totals(self):
        return self._columns().sum(axis=0)

    @property
    def is_pure(self):
        return len(np.unique(self.steps)) <= 1

    def kinds(self):
        return []

    def depth(self):
        return 3

    def members(self):
        return 5

    def summary(self):
        count, total, squares = self.totals().tolist()
        parts = np.bincount(self.parts, minlength=len(self.target.parts)).tolist()
        return NumericSummary(self.target, count, total, squares, tuple(parts))

    def hashed(self):
        return np.asarray(self.steps, "<i8").tobytes()

    @property
    def parts(self):
        return np.searchsorted(self.target.cuts, self.values, side="right")

    @cached_property
    def _distinct(self):
        return np.unique(self.steps, return_inverse=True)

    def named(self):
        return [self.target.said(self.target.value(step)) for step in self._distinct[0]], self._distinct[1]

    def parts_of_named(self):
        return np.searchsorted(self.target.cuts, self.target.value(self._distinct[0]), side="right")

    def _predicted(self, leaves, places):
        return np.array([leaf.predicted for leaf in leaves])[places]

    def exceptions(self, leaves, places):
        far = np.array([2 * leaf.deviation for leaf in leaves])[places]
        return np.abs(self.values - self._predicted(leaves, places)) > far

    def check_known(self, target):
        pass

    def strangers(self, target) -> Sequence:
        return ()

    def scores(self, leaves, places):
        off = self.values - self._predicted(leaves, places)
        told = 1 - float(np.mean(off**2)) / max(float(np.var(self.values)), 1e-300)
        return NumericScores(len(self), float(np.mean(np.abs(off))), told)


@dataclass(frozen=True)
class Variance:
    """A fitness: 100 · the share of the variance that is left on both sides + w · (size of the formula)."""

    w: float = 0.1

    def __call__(self, true, total, size):
        whole = max(float(_spread(total[None, :].astype(float))[0]), 1e-300)
        true = true.astype(float)
        return 100 * (_spread(true) + _spread(total - true)) / whole + self.w * size


def _spread(sums):
    """The sum of squared distances from the mean."""
    count, total, squares = sums.T
    return np.maximum(0.0, squares - total**2 / np.maximum(count, 1))
