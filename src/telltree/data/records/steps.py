"""Column names that are steps: headers of wide tables, one row per record and one column per step."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from telltree.data.columns.naming import says_missing

STEP = re.compile(r"(?P<stem>(?:[^\W\d]\w*?)?)[ _.-]?(?P<number>\d+(?:\.\d+)?)")  # 0, t0, temp_12, v 0.5
USUAL = ("", "t", "ts", "time", "step", "timestep", "v", "val", "value", "att")  # stems of steps; others may be names
DOZENS = 24  # columns of one stem: this many are hardly attributes
REMEDY = "if each row is a record and each column a step, say wide (--wide)"


def stem_of(name: str) -> tuple[str, float] | None:
    """The stem of a step's name and its number; None if it is not named like a step."""
    match = STEP.fullmatch(name.strip())
    return None if match is None else (match["stem"], float(match["number"]))


def likely_wide(names: Sequence[str]) -> bool:
    """Whether dozens of columns are named like consecutive steps of a series."""
    stems: dict[str, list[float]] = {}
    for stem, number in filter(None, map(stem_of, names)):
        stems.setdefault(stem.lower(), []).append(number)
    return any(len(stems.get(stem, ())) >= DOZENS and _is_even(stems[stem]) for stem in USUAL)


def has_no_names(row: Sequence[str]) -> bool:
    """Whether the first row of a file holds values: numbers, not evenly spaced like steps, perhaps after a label."""
    numbers = [_number(cell) for cell in row[1:]]
    return (
        len(numbers) > 1 and None not in numbers and not _is_even([number for number in numbers if number is not None])
    )


def unnamed(count: int) -> list[str]:
    """Names for the columns of a file without a header."""
    return [f"column {number}" for number in range(1, count + 1)]


def _is_even(numbers: Sequence[float]) -> bool:
    gaps = [after - before for before, after in pairwise(numbers)]
    return all(gap > 0 and math.isclose(gap, gaps[0], rel_tol=1e-6) for gap in gaps)


def _number(cell: str) -> float | None:
    try:
        return float(cell.strip() or "nan")
    except ValueError:
        return math.nan if cell.strip() == "?" or says_missing(cell) else None
