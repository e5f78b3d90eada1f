"""Whether records measure time in the same unit as those that formulas were learnt from."""

from collections.abc import Iterable

from telltree.data import Panel
from telltree.data.how_read import StepLength
from telltree.errors import DataError
from telltree.operators import Expression
from telltree.operators.table import ELAPSED


def check_clock(formulas: Iterable[Expression], learnt: StepLength | None, panel: Panel) -> None:
    """DataError if formulas use the elapsed time, and the panel counts it in another unit."""
    if not any(e.head is ELAPSED for formula in formulas for e in formula.walk()):
        return
    wanted, found = _counted(learnt), _counted(panel.step)
    if wanted != found:
        remedy = "read the data without times" if learnt is None else _remedy(learnt[1])
        raise DataError(
            f"formulas ask for the time elapsed in {wanted}, but these records have it in {found}; {remedy}"
        )


def _counted(step: StepLength | None) -> str:
    return "steps" if step is None else f"{step[1]!r}" if step[1] else "times without a unit"


def _remedy(unit: str) -> str:
    return f"give times, or a period, in {unit!r} and time_unit={unit!r}" if unit else "give times without a time_unit"
