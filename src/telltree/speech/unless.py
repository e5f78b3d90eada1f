"""Sentences that missing values may leave open: "at some point b; and, unless missing values leave it open: a"."""

import re

UNLESS = "unless missing values leave it open"
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_BEGINS = re.compile(rf"(?:^|; and,? |; ){UNLESS}[,:] ", re.IGNORECASE)


def with_open(known: str, left_open: str) -> str:
    """What is known to be so, and what is so unless missing values leave it open; either may be empty."""
    if not left_open:
        return known
    if not known:
        several = "; " in left_open or ", and " in left_open
        return f"{UNLESS}{':' if several else ','} {left_open}"
    return f"{known}; and, {UNLESS}: {left_open}"


def parted(text: str) -> tuple[str, str]:
    """The two parts of such a text; the second is empty if nothing may be left open."""
    bare = _QUOTED.sub(lambda found: "“" * len(found[0]), text)  # of the same length
    begins = _BEGINS.search(bare)
    return (text, "") if begins is None else (text[: begins.start()], text[begins.end() :])


def asks_what_is_missing(text: str) -> bool:
    """Tell whether a text speaks of values that are missing, and not only of those that are there."""
    return re.search(r"\b(missing|known|unknown)\b", _QUOTED.sub("", text)) is not None
