"""The meaning of formulas in plain Python: the part of exported modules that is the same for every model.

Its source is copied into the module, so it uses only the standard library. Vectors are lists with one value per step;
missing numbers and categories are None.
"""

from typing import Any

from telltree.panel.names_and_missing import is_nothing, known_names, level_name, says_missing


def column(record: Any, name: str, names: Any = ()) -> list[Any]:
    """Return the values of a column, one per step, None where missing; a single value stands for every step.

    Text that says that a value is missing counts as missing, unless it is one of the names.
    """
    length = steps(record)
    values = record[name]
    found = list(values) if _is_vector(values) else [values] * length
    if not found or len(found) != length:
        raise ValueError(f"column {name!r} has not as many steps as the record: {len(found)}, not {length}")
    return [None if _is_missing(value, names) else value for value in found]


def _is_missing(value: Any, names: Any) -> bool:
    return value not in names and says_missing(value) if isinstance(value, str) else is_nothing(value)


def steps(record: Any) -> int:
    """Return the number of steps of a record."""
    return max([len(values) for values in record.values() if _is_vector(values)], default=1)


def _is_vector(values: Any) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str | bytes)


def real(record: Any, name: str) -> list[Any]:
    """Return the values of a real column."""
    return [None if value is None else float(value) for value in column(record, name)]


def boolean(record: Any, name: str) -> list[bool]:
    """Return for each step True if a Boolean column is true; a missing value is not true."""
    return [x is True for x in truths(record, name)]


def truths(record: Any, name: str) -> list[Any]:
    """Return the values of a Boolean column; text and numbers that mean neither true nor false are missing."""
    true, false = ("true", "yes", "on", "y", "t", "1", "1.0"), ("false", "no", "off", "n", "f", "0", "0.0")
    words = [str(value).strip().lower() for value in column(record, name)]
    return [True if word in true else False if word in false else None for word in words]


def categorical(record: Any, name: str, names: Any = ()) -> list[Any]:
    """Return the category names in a categorical column; `names` lists declared names."""
    known: Any = known_names(names)
    called = [None if value is None else level_name(value) for value in column(record, name, names)]
    return [known.get(category, category) for category in called]


def constant(like: list[Any], value: Any) -> list[Any]:
    """Repeat a constant for each step."""
    return [value for _ in like]


def missing(a: list[Any]) -> list[bool]:
    """Return for each step True if there is no value."""
    return [x is None for x in a]


def _known(a: Any, b: Any) -> list[tuple[bool, Any, Any]]:
    """Pair the values of two operands, one of which may be a constant, and tell at each step if both are present."""
    left = a if isinstance(a, list) else constant(b, a)
    right = b if isinstance(b, list) else constant(a, b)
    return [(x is not None and y is not None, x, y) for x, y in zip(left, right, strict=True)]


def less(a: Any, b: Any) -> list[bool]:
    """a < b; false where a value is missing, as for all comparisons."""
    return [known and x < y for known, x, y in _known(a, b)]


def less_equal(a: Any, b: Any) -> list[bool]:
    """a <= b"""
    return [known and x <= y for known, x, y in _known(a, b)]


def equal(a: Any, b: Any) -> list[bool]:
    """a = b"""
    return [known and x == y for known, x, y in _known(a, b)]


def same(a: Any, b: Any, levels: list[str]) -> list[bool]:
    """Return for each step True if two categories are the same, and known to the model."""
    return [known and x == y and x in levels for known, x, y in _known(a, b)]


def difference(a: Any, b: Any) -> list[Any]:
    """a - b; infinity minus infinity is missing."""
    return [number(x - y) if known else None for known, x, y in _known(a, b)]


def change(a: list[Any], window: float) -> list[Any]:
    """Return the difference from the value `window` steps before, or from the first step if there are fewer."""
    return difference(a, [a[max(0, t - int(window))] for t in range(len(a))])


def number(x: Any) -> Any:
    """Return a number, or None for NaN, such as infinity minus infinity."""
    return None if x is None or x != x else x  # noqa: PLR0124 - NaN alone differs from itself


AGGREGATES = {"mean": "average", "min": "min", "max": "max", "spread": "spread"}
"""The function of a list of numbers, present and at least one, that computes each aggregate; it is not copied."""


def moving(a: list[Any], first: float, last: float, made: Any) -> list[Any]:
    """Apply a function to the values in a window, counted back from each step; missing if there are none."""
    near, far = int(min(first, len(a))), int(min(last, len(a)))
    windows = [[x for x in a[max(0, t - far) : max(0, t - near + 1)] if x is not None] for t in range(len(a))]
    return [number(made(window)) if window else None for window in windows]


def _plus(high: float, low: float, x: float) -> tuple[float, float]:
    """Add a number to a sum and the error of its rounding."""
    found = high + x
    lost = (high - found) + x if abs(high) >= abs(x) else (x - found) + high
    return (found, low + lost) if found - found == 0 else (found, 0.0)


def summed(values: Any) -> float:
    """Return the sum, corrected for rounding."""
    high, low = 0.0, 0.0
    for x in values:
        high, low = _plus(high, low, x)
    return high + low


def average(values: list[float]) -> float:
    """Return the mean."""
    return summed(values) / len(values)


def spread(values: list[float]) -> float:
    """Return the greatest minus the least value."""
    return max(values) - min(values)


def first(values: list[float]) -> float:
    """Return the first value."""
    return values[0]


def last(values: list[float]) -> float:
    """Return the last value."""
    return values[-1]


def whole(a: list[Any], made: Any) -> list[Any]:
    """Apply a function to all values of the record; missing if there are none."""
    values = [x for x in a if x is not None]
    return constant(a, number(made(values)) if values else None)


def slope(a: list[Any]) -> list[Any]:
    """Return the slope per step of the line through all values, by least squares; 0 for a single value."""
    known = [(t, x) for t, x in enumerate(a) if x is not None]
    if not known or any(x - x != 0 for _, x in known):  # infinity is nowhere near a line
        return constant(a, None)
    n, steps_summed = len(known), sum(t for t, _ in known)
    width = n * sum(t * t for t, _ in known) - steps_summed**2
    rise = summed((n * t - steps_summed) * x for t, x in known)
    return constant(a, rise / width if width else 0.0)


def when(a: list[Any], times: list[float], best: Any) -> list[Any]:
    """Return the time of the first step with the least or greatest value; missing if there is no value."""
    values = [x for x in a if x is not None]
    return constant(a, times[a.index(best(values))] if values else None)


def distance(a: list[Any], pattern: list[float]) -> list[Any]:
    """Return the distance of the last steps, standardised, from a pattern of mean 0 and length 1."""
    k = len(pattern)
    return [None if t < k - 1 else _apart(a[t - k + 1 : t + 1], pattern) for t in range(len(a))]


def _apart(piece: list[Any], pattern: list[float]) -> Any:
    """Return 0 for the same shape, 1 for a constant, up to 2 for the opposite; missing if a value is missing."""
    height = None if None in piece else max(piece) - min(piece)
    if not height or height - height != 0:
        return 1.0 if height == 0 else None
    shares = [(x - min(piece)) / height for x in piece]
    square = summed(x * x for x in shares) - summed(shares) ** 2 / len(piece)
    alike = summed(x * y for x, y in zip(shares, pattern, strict=True)) / square**0.5
    return round(max(0.0, 2.0 - 2.0 * alike) ** 0.5, 6)


def total(a: list[Any]) -> list[Any]:
    """Return the sum of the values up to each step; missing before the first."""
    found, high, low, any_yet = [], 0.0, 0.0, False
    for x in a:
        if x is not None:
            high, low = _plus(high, low, x)
            any_yet = True
        found.append(number(high + low) if any_yet else None)
    return found


def latest(a: list[Any], holds: list[bool]) -> list[Any]:
    """Return the value when a condition last held; missing if it never did."""
    found, value = [], None
    for x, held in zip(a, holds, strict=True):
        value = x if held else value
        found.append(value)
    return found


def counted(record: Any, period: float) -> list[float]:
    """Return the time since the first step, for steps of equal length."""
    return [t * period for t in range(steps(record))]


def timed(record: Any, name: str) -> list[float]:
    """Return the time since the first step, by the record's own times."""
    times = [float(time) for time in record[name]]
    return [time - times[0] for time in times]


def left(record: Any, name: str) -> list[float]:
    """Return the time until the last step, by the record's own times."""
    times = [float(time) for time in record[name]]
    return [times[-1] - time for time in times]


def gone(times: list[float]) -> list[float]:
    """Return the share of the record that has passed, given the times since the first step; 1 at the last step."""
    return [time / (times[-1] or 1.0) for time in times[:-1]] + [1.0]


def length(record: Any) -> list[int]:
    """Return the number of steps of the record, at each step."""
    return [steps(record)] * steps(record)


def absolute(a: list[Any]) -> list[Any]:
    """Return the absolute value."""
    return [None if x is None else abs(x) for x in a]


def sign(a: list[Any]) -> list[Any]:
    """1, 0 or -1"""
    return [None if x is None else (x > 0) - (x < 0) for x in a]


def negation(a: list[bool]) -> list[bool]:
    """not a"""
    return [not x for x in a]


def conjunction(a: list[bool], b: list[bool]) -> list[bool]:
    """a and b"""
    return [x and y for x, y in zip(a, b, strict=True)]


def disjunction(a: list[bool], b: list[bool]) -> list[bool]:
    """a or b"""
    return [x or y for x, y in zip(a, b, strict=True)]


def implication(a: list[bool], b: list[bool]) -> list[bool]:
    """not a, or b"""
    return [not x or y for x, y in zip(a, b, strict=True)]


def eventually(a: list[bool]) -> list[bool]:
    """Return for each step True if it holds at this step or a later one."""
    found, later = [], False
    for x in reversed(a):
        later = later or x
        found.append(later)
    return found[::-1]


def globally(a: list[bool]) -> list[bool]:
    """Return for each step True if it holds at this step and all later ones."""
    return negation(eventually(negation(a)))


def some_within(a: list[bool], first: float, last: float) -> list[bool]:
    """Return for each step True if it holds at a step of a window that is counted from this one."""
    end = int(min(last, len(a))) + 1
    return [any(a[t + int(first) : t + end]) for t in range(len(a))]


def all_within(a: list[bool], first: float, last: float) -> list[bool]:
    """Return for each step True if it holds at all steps of a window that is counted from this one."""
    return negation(some_within(negation(a), first, last))


def some_before(a: list[bool], first: float, last: float) -> list[bool]:
    """Return for each step True if it held at a step of a window that is counted back from this one."""
    return some_within(a[::-1], first, last)[::-1]


def all_before(a: list[bool], first: float, last: float) -> list[bool]:
    """Return for each step True if it held at all steps of a window that is counted back from this one."""
    return all_within(a[::-1], first, last)[::-1]


def once(a: list[bool]) -> list[bool]:
    """Return for each step True if it holds at this step or an earlier one."""
    return eventually(a[::-1])[::-1]


def historically(a: list[bool]) -> list[bool]:
    """Return for each step True if it holds at this step and all earlier ones."""
    return globally(a[::-1])[::-1]


def until(a: list[bool], b: list[bool], weak: bool = False) -> list[bool]:
    """Return for each step True if b comes and a holds until then; if weak, also if a holds to the end."""
    found, after = [], weak
    for x, y in zip(reversed(a), reversed(b), strict=True):
        after = y or (x and after)
        found.append(after)
    return found[::-1]


def since(a: list[bool], b: list[bool]) -> list[bool]:
    """Return for each step True if b came and a has held since."""
    return until(a[::-1], b[::-1])[::-1]


def count(a: list[bool]) -> list[int]:
    """Return the number of steps of the record at which it holds."""
    return constant(a, sum(a))


def longest(a: list[bool]) -> list[int]:
    """Return the greatest number of consecutive steps at which it holds."""
    most = run = 0
    for x in a:
        run = run + 1 if x else 0
        most = max(most, run)
    return constant(a, most)
