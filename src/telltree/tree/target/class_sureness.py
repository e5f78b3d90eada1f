"""How many of some records have the class that a leaf predicts, and how that compares with all records."""

from dataclasses import asdict, dataclass
from typing import Any

from telltree.amounts import by_weight, counted, percent, times_all
from telltree.shares import Share
from telltree.tree.target.target import Bar, Cell, Measure


@dataclass(frozen=True)
class ClassSureness:
    """So many of some records have the label of a leaf, and so many of all records."""

    label: Any
    hits: int
    support: int
    """Records that came here; 0 if their labels are not known."""
    all_hits: int
    all_records: int
    counts: dict[Any, int]
    """How many of the records here have each label; empty if labels are not known."""
    weighted: float | None
    """The label's share of the training weight here, which is what `predict_proba` gives; None if all records weighed
    the same."""
    decided_by_weights: bool
    """Whether another class had more training records here, and the label only more weight."""

    @property
    def _seen(self) -> Share:
        return Share(self.hits, self.support, self.all_hits, self.all_records)

    @property
    def share(self) -> float | None:
        """Of the records here, those with the label; None if there are none, or labels are not known."""
        return self._seen.share

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of `share` (Wilson)."""
        return self._seen.interval

    @property
    def low(self) -> float:
        """Where the interval begins."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """Where it ends."""
        return self.interval[1]

    @property
    def lift(self) -> float | None:
        """How many times the label's share in all records `share` is; None if that is not known, or none has it."""
        return self._seen.lift

    @property
    def purity(self) -> float | None:
        """The share of the commonest label among the records here; None if there are no records or labels."""
        return max(self.counts.values()) / self.support if self.counts else None

    @property
    def text(self) -> str:
        """In words: `34 % of 234 records (28 to 40 %), 2.3 times the share in all; storm by weight: 75 %`."""
        if self.share is None:
            return "no records"
        low, high = percent(self.low, 0).removesuffix(" %"), percent(self.high, 0)
        said = f"{percent(self.share, 0)} of {counted(self.support, 'record')} ({low} to {high})"
        if self.lift is not None:
            said += f", {times_all(self.lift)}"
        if self.decided_by_weights:
            return f"{said}; {self.remark}"
        return said if self.weighted is None else f"{said}; by weight {percent(self.weighted, 0)}"

    @property
    def mixed(self) -> str:
        """How many records here have each label."""
        return ", ".join(f"{label}: {count}" for label, count in self.counts.items())

    @property
    def remark(self) -> str:
        """That weights decided, where they did."""
        return by_weight(self.label, self.weighted) if self.decided_by_weights else ""

    def values(self) -> dict[str, Any]:
        """All figures by the names that they have here."""
        known = asdict(self)
        names = ("share", "low", "high", "support", "counts", "purity", "lift", "weighted", "decided_by_weights")
        return {name: known[name] if name in known else getattr(self, name) for name in names}

    def exported(self) -> dict[str, Any]:
        """All figures by the names that they have in tables; there is no interval where nothing is known."""
        low, high = (None, None) if self.share is None else self.interval
        return {
            "share": self.share,
            "low": low,
            "high": high,
            "support": self.support,
            "lift": self.lift,
            "weighted share": self.weighted,
            "decided by weights": self.decided_by_weights,
            "counts": [{"label": label, "records": count} for label, count in self.counts.items()],
        }

    def cells(self) -> list[Cell]:
        """Share, interval, support, lift, and the weighted share where there is one."""
        weighted = _fixed(self.weighted, 3) + (" (decides)" if self.decided_by_weights else "")
        return [
            Cell("share", _fixed(self.share, 3)),
            Cell("95 % interval", f"{self.low:.3f} to {self.high:.3f}", number=False),
            Cell("support", str(self.support)),
            Cell("lift", _fixed(self.lift, 2)),
            Cell("weighted share", weighted, optional=True),
        ]

    def measure(self) -> Measure:
        """The share, for a page."""
        known, decided = self.share is not None, self.decided_by_weights
        return Measure(
            size=self.share,
            value=percent(self.share),
            within=f"{percent(self.low)} to {percent(self.high)}" if known else "–",
            bar=None if self.share is None else Bar(self.low, self.share, self.high),
            beside="–" if self.lift is None else times_all(self.lift),
            times=_fixed(self.lift, 2),
            brief=f"{percent(self.share)} labelled so" if known else None,
            remark=f"by weight {percent(self.weighted)}, which decided the class" if decided else None,
            brief_remark=f"by weight: {percent(self.weighted)}" if decided else None,
        )


def _fixed(value: float | None, decimals: int) -> str:
    """A number with so many decimals, or a dash."""
    return "–" if value is None else f"{value:.{decimals}f}"
