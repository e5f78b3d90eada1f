"""Amounts in words: counts of things, shares, how often one share goes into another, and sizes in bytes."""

import math
import re

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number of things, with the plural if needed: `1 record`, `2,000 records`, `3 categories`.

    `things` is the plural where it takes more than an s. Both may go on to the verb: ("record has", "records have").
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def percent(share: float | None, decimals: int = 1) -> str:
    """A share for reading; 100 % and 0 % only where it is exactly that, and a dash where it is not known."""
    if share is None or math.isnan(share):
        return "–"
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    shown, least = f"{100 * share:.{decimals}f}", 10.0**-decimals
    if float(shown) == 0:
        return f"< {least:g} %"
    return f"> {100 - least:g} %" if float(shown) == 100 else f"{shown} %"


def times_all(lift: float) -> str:
    """A share relative to that in all records: `2.3 times the share in all`."""
    if lift == 1:
        return "the share in all"
    times = f"{lift:,.0f}" if lift >= 10 else f"{lift:.2g}"
    return "about the share in all" if times == "1" else f"{times} times the share in all"


def by_weight(label: object, share: float | None) -> str:
    """What to say if weights, not the number of records, decided a class: `storm by weight: 75 %`."""
    return f"{label} by weight: {percent(share, 0)}"


def size_of(text: object) -> int | None:
    """The bytes of a size such as "4 GB", "500MB" or 4e9; None if it is none, or not positive."""
    if isinstance(text, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*(?:[eE]\+?[0-9]{1,2})?)\s*([kKmMgGtT]?i?[bB]?)\s*", text)
        size = float(match[1]) * _UNITS.get(match[2].lower(), math.nan) if match else math.nan
    else:
        size = float(text) if isinstance(text, int | float) and not isinstance(text, bool) else math.nan
    return int(size) if 1 <= size < 1e18 else None


def size_said(size: float) -> str:
    """A size in bytes, for reading: `512 MB`, `3.9 GB`."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
