"""Text and numbers from data, as they go into the page."""

import math
from typing import Any

from telltree.amounts import counted
from telltree.visible import visible


def words(value: Any) -> str:
    """Any name, class or id as text for a page in UTF-8: halves of surrogate pairs become U+FFFD, controls escapes."""
    return visible(str(value).encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def clipped(text: str, most: int) -> str:
    """The text, or its beginning with a note of how much was left out."""
    return text if len(text) <= most else f"{text[:most]} … ({counted(len(text) - most, 'more character')})"


def number(value: float | None, digits: int = 6) -> float | None:
    """Six digits are more than a page shows of most numbers; JSON has neither infinity nor NaN."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.{digits}g}")


def moment(time: float) -> float | None:
    """A time. It may count from long ago, so more digits matter."""
    return number(time, 12)
