"""Names that somebody may have meant: those most like a name that is not known, whatever its capitals."""

import difflib
from collections.abc import Iterable

_LONGEST = 200  # characters that are compared: the work grows with their square
_MOST = 10_000  # names that are compared with


def alike(name: str, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> list[str]:
    """The known names most like this one, the most alike first; none of very long ones."""
    if not name or len(name) > _LONGEST:
        return []
    by_fold: dict[str, str] = {}
    for other in known:
        if len(by_fold) == _MOST:
            break
        by_fold.setdefault(other[:_LONGEST].casefold(), other)
    found = difflib.get_close_matches(name.casefold(), by_fold, n=most, cutoff=likeness)
    return [by_fold[fold] for fold in found]
