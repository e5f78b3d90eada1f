"""Text for people: counts, shares, sizes, short names, visible control characters, suggestions, safe CSV cells."""

import difflib
import math
import re
from collections.abc import Iterable
from html import escape
from typing import Any

# ---- Text from data with its control characters made visible, wherever people may read it: terminals, pages, tables.

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def visible(text: object) -> str:
    """Return the text with control characters as escapes such as \\x00, except line ends and tabs.

    Halves of surrogate pairs, and characters that change the direction of the text after them, are escaped too.
    """
    return _CONTROLS.sub(_escape, str(text))


def visible_json(text: str) -> str:
    """Return JSON with those characters as JSON's own escapes, which do not change its meaning."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def escaped(text: object) -> str:
    """Return text for a page, with control characters as Python writes them."""
    return escape("".join(c if c.isprintable() else repr(c)[1:-1] for c in visible(text)))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


# ---- Amounts in words: counts of things, shares, how often one share goes into another, and sizes in bytes.

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Return a number of things with the plural if needed: `1 record`, `2,000 records`, `3 categories`.

    `things` is the plural where it takes more than an s. Both may go on to the verb: ("record has", "records have").
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def percent(share: float | None, decimals: int = 1) -> str:
    """Return a share as a percentage: 100 % and 0 % only if it is exactly that, and a dash if it is unknown."""
    if share is None or math.isnan(share):
        return "–"
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    shown, least = f"{100 * share:.{decimals}f}", 10.0**-decimals
    if float(shown) == 0:
        return f"< {least:g} %"
    return f"> {100 - least:g} %" if float(shown) == 100 else f"{shown} %"


def times_all(lift: float) -> str:
    """Return a share relative to that among all records: `2.3 times the share in all`."""
    if lift == 1:
        return "the share in all"
    times = f"{lift:,.0f}" if lift >= 10 else f"{lift:.2g}"
    return "about the share in all" if times == "1" else f"{times} times the share in all"


def by_weight(label: object, share: float | None) -> str:
    """Return a note that weights, not the number of records, decided a class: `storm by weight: 75 %`."""
    return f"{label} by weight: {percent(share, 0)}"


def size_of(text: object) -> int | None:
    """Return the bytes of a size such as "4 GB", "500MB" or 4e9; None if it is no size, or not positive."""
    if isinstance(text, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*(?:[eE]\+?[0-9]{1,2})?)\s*([kKmMgGtT]?i?[bB]?)\s*", text)
        size = float(match[1]) * _UNITS.get(match[2].lower(), math.nan) if match else math.nan
    else:
        size = float(text) if isinstance(text, int | float) and not isinstance(text, bool) else math.nan
    return int(size) if 1 <= size < 1e18 else None


def size_text(size: float) -> str:
    """Return a size in bytes as text: `512 MB`, `3.9 GB`."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


# ---- Names of any length, shortened for tables. Output for machines is never shortened.

WIDEST = 40  # characters of a name in a table


def clip(text: object, most: int = WIDEST) -> str:
    """Return the text, or its beginning and an ellipsis, in at most `most` characters."""
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1].rstrip() + "…"


# ---- Names that somebody may have meant: those most similar to an unknown name, in any case.

_LONGEST = 200  # characters that are compared, as the time grows with their square
_MOST = 10_000  # known names that are compared


def alike(name: str, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> list[str]:
    """Return the known names most similar to this one, the most similar first; none if it is very long."""
    if not name or len(name) > _LONGEST:
        return []
    by_fold: dict[str, str] = {}
    for other in known:
        if len(by_fold) == _MOST:
            break
        by_fold.setdefault(other[:_LONGEST].casefold(), other)
    found = difflib.get_close_matches(name.casefold(), by_fold, n=most, cutoff=likeness)
    return [by_fold[fold] for fold in found]


# ---- CSV cells that spreadsheet programs open without harm.


def harmless(value: Any) -> Any:
    """Return the value of a cell, with an apostrophe before text that a spreadsheet might take for a formula.

    Control characters, which many programs do not read, are escaped.
    """
    if not isinstance(value, str):
        return value
    suspect = value.startswith(("=", "@", "\t", "\r")) or (value.startswith(("+", "-")) and not _is_number(value))
    return f"'{visible(value)}" if suspect else visible(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
