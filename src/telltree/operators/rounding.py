"""Formulas in few digits, for people to read."""

import dataclasses
import math

from telltree.operators import Expression, Number


def rounded(e: Expression, digits: int | None) -> Expression:
    """The expression with its constants in so many significant digits; None leaves them as they are."""
    if digits is None:
        return e
    if isinstance(e.head, Number):
        few = float(f"{e.head.value:.{digits}g}")
        return dataclasses.replace(e, head=Number(few)) if math.isfinite(few) else e  # the largest have none above
    if e.operands != e.args:  # parameters are no measurements
        few_operands = tuple(rounded(operand, digits) for operand in e.operands)
        return dataclasses.replace(e, args=(*few_operands, *e.args[len(few_operands) :]))
    args, parts = (tuple(rounded(below, digits) for below in side) for side in (e.args, e.parts))
    return dataclasses.replace(e, args=args, parts=parts)
