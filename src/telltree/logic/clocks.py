"""Whether records measure time in the same unit as those that formulas were learnt from."""

import math
from collections.abc import Iterable

from telltree.data import Panel
from telltree.data.how_read import StepLength
from telltree.errors import DataError
from telltree.operators import Expression, Operator
from telltree.operators.numbers import number_text
from telltree.operators.table import GONE, TIMES, Form


def check_clock(formulas: Iterable[Expression], learnt: StepLength | None, panel: Panel) -> None:
    """DataError if formulas ask for times, and the panel counts them in another unit; for shares of the record, and it
    would be another share; or if they look at windows of steps, and its steps are of another length."""
    heads = {e.head for formula in formulas for e in formula.walk()}
    if any(isinstance(head, Operator) and head.form is Form.WINDOW for head in heads):
        _check_length(learnt, panel.step)
    if GONE in heads:
        _check_share(learnt, panel.step)
    if heads.isdisjoint(TIMES):
        return
    wanted, found = _counted(learnt), _counted(panel.step)
    if wanted != found:
        remedy = "read the data without times" if learnt is None else _remedy(learnt[1])
        raise DataError(
            f"formulas ask for the time elapsed in {wanted}, but these records have it in {found}; {remedy}"
        )


def _check_length(learnt: StepLength | None, found: StepLength | None) -> None:
    """DataError if steps are known to be of another length than those by which windows were counted."""
    if learnt is None or found is None or None in (learnt[0], found[0]) or _alike(learnt, found):
        return
    raise DataError(
        f"formulas look at windows of steps of {number_text(learnt[0] or 0.0)} {learnt[1]}, but these records have "
        f"steps of {number_text(found[0] or 0.0)} {found[1]}; resample them to the same length"
    )


def _check_share(learnt: StepLength | None, found: StepLength | None) -> None:
    """DataError if one has shares of the record's time, and the other knows no times. Of even steps both are alike."""
    if learnt is None and found is not None and found[0] is None:
        raise DataError(
            "formulas ask for shares of the record's steps, but these records have times, and steps of different "
            "lengths; read the data without times"
        )
    if found is None and learnt is not None and learnt[0] is None:
        raise DataError(
            f"formulas ask for shares of the record's time, but these records have no times; {_remedy(learnt[1])}"
        )


def _alike(learnt: StepLength, found: StepLength) -> bool:
    return learnt[1] == found[1] and math.isclose(learnt[0] or 0.0, found[0] or 0.0, rel_tol=1e-9)


def _counted(step: StepLength | None) -> str:
    return "steps" if step is None else f"{step[1]!r}" if step[1] else "times without a unit"


def _remedy(unit: str) -> str:
    return f"give times, or a period, in {unit!r} and time_unit={unit!r}" if unit else "give times without a time_unit"
