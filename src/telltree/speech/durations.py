"""Amounts of time in the unit that a person would use: 287 days, not 24796800 s; what is said is exact."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from telltree.data.clock import UNITS

_SIZES = {unit: Decimal(repr(size)) for unit, size in UNITS.items()}
_LARGER = ("d", "h", "min", "s", "ms", "µs")  # largest first
_SMALLER = ("ms", "µs", "ns")
_MANY_DIGITS = 4  # more are not a number that anybody says
_MANY = 1000  # hours are told in days
_TINY = 0.1  # of seconds; what is less is told in a smaller unit


def convertible(unit: str) -> tuple[str, ...]:
    """The units in which amounts of this one may be given, itself first."""
    return (unit, *(other for other in UNITS if other != unit)) if unit in UNITS else (unit,) if unit else ()


def converted(amount: float, said: str, unit: str) -> float:
    """An amount that was given in one unit, in another; exact but for one rounding."""
    if said == unit or amount - amount:
        return amount
    return float(Decimal(repr(amount)) * _SIZES[said] / _SIZES[unit])


def suited(amounts: Sequence[float], unit: str) -> tuple[list[float], str]:
    """Amounts of time in one unit that suits them all, and this unit."""
    for other in _ordered(amounts, unit):
        scaled = [_scaled(amount, unit, other) for amount in amounts]
        if [converted(amount, other, unit) for amount in scaled] == list(amounts):  # else it would be read as another
            return scaled, other
    return list(amounts), unit


def unit_words(unit: str, one: bool) -> str:
    """What a unit is called behind a number."""
    return ("day" if one else "days") if unit == "d" else unit


def _ordered(amounts: Sequence[float], unit: str) -> Iterable[str]:
    """The units that may suit, the best first: the largest of which halves will do, or hundredths of long numbers."""
    finite = [amount for amount in amounts if amount - amount == 0]
    most = Decimal(repr(max(map(abs, finite), default=0.0)))
    if unit not in UNITS or not most:
        return
    fitting = [other for other in _LARGER if _SIZES[other] > _SIZES[unit] and most * _SIZES[unit] >= _SIZES[other]]
    scaled = {other: [Decimal(repr(a)) * _SIZES[unit] / _SIZES[other] for a in finite] for other in (*fitting, unit)}
    halves = [other for other in fitting if all(2 * amount % 1 == 0 for amount in scaled[other])]
    yield from (other for other in halves if max(map(abs, scaled[other])) < _MANY)
    if any(_digits(amount) > _MANY_DIGITS for amount in scaled[unit]):
        yield from (other for other in fitting if all(100 * amount % 1 == 0 for amount in scaled[other]))
    yield from halves
    if most * _SIZES[unit] < _TINY:
        smaller = [other for other in _SMALLER if _SIZES[other] < _SIZES[unit]]
        yield from (o for o in smaller if all(Decimal(repr(a)) * _SIZES[unit] / _SIZES[o] % 1 == 0 for a in finite))


def _digits(amount: Decimal) -> int:
    return len(amount.normalize().as_tuple().digits)


def _scaled(amount: float, unit: str, other: str) -> float:
    return amount if amount - amount else float(Decimal(repr(amount)) * _SIZES[unit] / _SIZES[other])
