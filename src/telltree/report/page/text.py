"""Texts and numbers from data, as they go into the page."""

import math
from typing import Any

from telltree.plural import counted


def words(value: Any) -> str:
    """Any name, class or id as text that can be written in UTF-8: halves of surrogate pairs become U+FFFD."""
    return str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clipped(text: str, most: int) -> str:
    """The text, or its beginning and a word on how much was left out."""
    return text if len(text) <= most else f"{text[:most]} … ({counted(len(text) - most, 'more character')})"


def number(value: float | None, digits: int = 6) -> float | None:
    """Six digits are more than a page shows of most numbers; JSON knows neither infinity nor NaN."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.{digits}g}")


def moment(time: float) -> float | None:
    """A time: it may be counted from long ago, so more digits matter."""
    return number(time, 12)


def percent(share: float | None) -> str:
    """A share for reading; 100 % and 0 % only where it is exactly that."""
    if share is None or math.isnan(share):
        return "–"
    if 0 < share < 0.001 or 0.999 < share < 1:
        return "< 0.1 %" if share < 0.5 else "> 99.9 %"
    return f"{100 * share:.1f} %" if share not in (0, 1) else f"{100 * share:.0f} %"
