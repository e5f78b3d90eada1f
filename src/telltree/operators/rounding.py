"""Formulas with few digits, for people to read."""

import dataclasses
import math

from telltree.operators import Expression, Number
from telltree.operators.table import CHANGE


def rounded(e: Expression, digits: int | None) -> Expression:
    """The expression with its constants in this many significant digits; None leaves them unchanged."""
    if digits is None:
        return e
    if isinstance(e.head, Number):
        few = float(f"{e.head.value:.{digits}g}")
        return dataclasses.replace(e, head=Number(few)) if math.isfinite(few) else e  # may overflow
    if e.head is CHANGE:  # a number of steps is not a measurement
        return dataclasses.replace(e, args=(rounded(e.args[0], digits), e.args[1]))
    args, parts = (tuple(rounded(below, digits) for below in side) for side in (e.args, e.parts))
    return dataclasses.replace(e, args=args, parts=parts)
