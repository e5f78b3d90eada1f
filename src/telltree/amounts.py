"""Amounts in words: counts of things, shares, and how often one share goes into another."""

import math


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
