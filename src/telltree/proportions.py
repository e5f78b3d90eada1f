"""The share of a class among some records, its confidence interval, and its lift over all records."""

import math
from dataclasses import dataclass

_Z = 1.959963984540054  # standard deviations around the mean that hold 95 % of a normal distribution


@dataclass(frozen=True)
class Share:
    """The numbers of records of a class among some, and among all."""

    hits: int
    records: int
    all_hits: int
    all_records: int

    @property
    def share(self) -> float | None:
        """The share of the records; None if there are none."""
        return self.hits / self.records if self.records else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share (Wilson)."""
        return wilson(self.share, self.records)

    @property
    def lift(self) -> float | None:
        """The share divided by that among all records; None if there are no records, or none of the class."""
        if not self.records or not self.all_hits:
            return None
        return self.hits * self.all_records / (self.records * self.all_hits)


def wilson(share: float | None, records: int) -> tuple[float, float]:
    """Wilson's 95 % confidence interval of a share among this many records; 0 to 1 if there are none."""
    if not records or share is None:
        return 0.0, 1.0
    shrink = 1 + _Z**2 / records
    middle = (share + _Z**2 / (2 * records)) / shrink
    half = _Z / shrink * math.sqrt(share * (1 - share) / records + _Z**2 / (4 * records**2))
    return middle - half if share > 0 else 0.0, middle + half if share < 1 else 1.0
