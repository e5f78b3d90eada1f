"""What became of a floor for the recall of a class."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from telltree.amounts import percent


class Found(NamedTuple):
    """How well a class is found."""

    recall: float
    """The share of its records that are predicted so."""
    precision: float | None
    """The share of the records predicted so that are of it; None if there are none."""


@dataclass(frozen=True)
class Floor:
    """What became of the floor of one class, on the training records."""

    label: Any
    floor: float
    """The least share of its records that shall be found."""
    factor: float
    """How many times as much its records weigh in the leaves as they did."""
    before: Found
    """Without it."""
    after: Found
    """With it."""

    def __str__(self) -> str:
        recall, was = percent(self.after.recall), percent(self.before.recall)
        precision, had = percent(self.after.precision), percent(self.before.precision)
        least = percent(self.floor)
        if self.factor == 1:
            return f"recall of {self.label} on the training records is {recall}, at least {least} as it was to be"
        return (
            f"recall of {self.label} on the training records is {recall} instead of {was}, at least {least} as it was "
            f"to be, and precision {precision} instead of {had}: in the leaves, its records weigh {self.factor:.3g} "
            "times as much"
        )
