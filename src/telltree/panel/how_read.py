"""How records were read, as far as it matters for reading other records for the same model."""

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from telltree.errors import DataError
from telltree.panel.dates import duration_text

if TYPE_CHECKING:
    from telltree.panel.panel import Panel

StepLength = tuple[float | None, str]
"""The length of a step, None if steps differ in length, and the unit of times, as in `Panel.step`: (1.0, "s")."""


class NamedStep(tuple[float | None, str]):
    """A step length that knows what the column of times is called, and equals one that does not."""

    clock: str

    def __new__(cls, length: float | None, unit: str, clock: str) -> "NamedStep":
        """Keep the name beside the pair."""
        found = super().__new__(cls, (length, unit))
        found.clock = clock
        return found

    def __getnewargs__(self) -> tuple[float | None, str, str]:
        """For copies and pickles."""
        return (*self, self.clock)


def clock_of(step: StepLength | None) -> str:
    """What the column of times is called; "" if that is not known."""
    return step.clock if isinstance(step, NamedStep) else ""


@dataclass(frozen=True)
class HowRead:
    """Arguments of `read`, under their names; `how` by column is a tuple of pairs."""

    id: str | None = None
    time: str | None = None
    period: float | None = None
    time_unit: str | None = None
    time_format: str | None = None
    day_first: bool | None = None
    repeated: str = "error"
    every: str | None = None
    how: str | tuple[tuple[str, str], ...] = "last"
    wide: bool = False

    def resampled(self, every: float | str, how: str | Mapping[str, str]) -> "HowRead":
        """The same with steps of another length."""
        return replace(self, every=str(every), how=how if isinstance(how, str) else tuple(sorted(how.items())))

    def of(self, columns: Container[str]) -> "HowRead":
        """The same for these columns alone: others, which may not be there again, need not be resampled."""
        if isinstance(self.how, str):
            return self
        kept = tuple((name, way) for name, way in self.how if name in columns)
        return replace(self, how=kept or "last")

    def given(self) -> dict[str, Any]:
        """The arguments of `read` that differ from their defaults."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["how"] = self.how if isinstance(self.how, str) else dict(self.how)
        return {field.name: found[field.name] for field in fields(self) if found[field.name] != field.default}

    def demand(self, learnt: StepLength | None) -> str:
        """What programs that read records themselves must know; "" if records were used as they came."""
        if self.every is None:
            return ""
        return f"Records must be resampled to {_told(learnt)}, as those were that the tree learnt from."

    def check(self, learnt: StepLength | None, panel: "Panel") -> None:
        """DataError if the model's records were resampled, to steps as `learnt`, and the panel's steps differ."""
        if self.every is None or learnt is None or _alike(learnt, panel.step):
            return
        raise DataError(
            f"the tree learnt from records that were resampled to {_told(learnt)}, but these have {_told(panel.step)}; "
            f"read them with every={self.every!r}, or hand in panel.resample({self.every!r})"
        )


AS_USUAL = HowRead()


def joint_reading(parts: Iterable[HowRead]) -> HowRead:
    """How all columns were read, from how some of them were: what `of` gave for several lots of columns."""
    found = list(parts)
    pairs = {pair for one in found if not isinstance(one.how, str) for pair in one.how}
    return replace(found[0], how=tuple(sorted(pairs))) if pairs else found[0]


def _alike(learnt: StepLength | None, found: StepLength | None) -> bool:
    if learnt is None or found is None or learnt[0] is None or found[0] is None:
        return learnt == found
    return learnt[1] == found[1] and math.isclose(learnt[0], found[0], rel_tol=1e-9)


def _told(step: StepLength | None) -> str:
    if step is None:
        return "no times"
    if step[0] is None:
        return "steps of different lengths"
    return f"one step every {duration_text(step[0], step[1] or None)}"
