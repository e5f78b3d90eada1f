"""Amounts of time in place of numbers of steps: `F[0 s, 5 s](x)`."""

import math

from telltree.data.clock import UNITS
from telltree.data.how_read import StepLength
from telltree.errors import GrammarError
from telltree.grammar.text.source import Constant
from telltree.operators.numbers import number_text

_NEARLY_WHOLE = 1e-6


def steps_in(duration: Constant, step: StepLength | None) -> float:
    """How many steps of this length an amount of time is; GrammarError if that is no whole number, or not known."""
    said = f"{number_text(float(duration.value))} {duration.unit}"
    period, unit = step or (None, "")
    if period is None or not unit:
        lacks = "steps of different lengths" if unit else "steps without a length"
        remedy = "give a panel with a period and a time_unit, or write a number of steps"
        raise GrammarError(f"{said} is an amount of time, but these records have {lacks}; {remedy}", *duration.place)
    if duration.unit != unit and not {duration.unit, unit} <= UNITS.keys():
        raise GrammarError(f"{said} cannot be turned into {unit!r}, the unit of these records", *duration.place)
    amount = float(duration.value) * (1.0 if duration.unit == unit else UNITS[duration.unit] / UNITS[unit])
    steps = amount / period
    if not math.isfinite(steps) or abs(steps - round(steps)) > _NEARLY_WHOLE:
        length = f"{number_text(period)} {unit}"
        raise GrammarError(f"{said} is {steps:.6g} steps of {length}, and no whole number of them", *duration.place)
    return float(round(steps))
