"""Names that somebody may have meant: those most similar to an unknown name, in any case."""

import difflib
from collections.abc import Iterable

_LONGEST = 200  # characters that are compared: the time grows with their square
_MOST = 10_000  # names that are compared with


def alike(name: str, known: Iterable[str], most: int = 1, likeness: float = 0.6) -> list[str]:
    """The known names most similar to this one, the most similar first; none if it is very long."""
    if not name or len(name) > _LONGEST:
        return []
    by_fold: dict[str, str] = {}
    for other in known:
        if len(by_fold) == _MOST:
            break
        by_fold.setdefault(other[:_LONGEST].casefold(), other)
    found = difflib.get_close_matches(name.casefold(), by_fold, n=most, cutoff=likeness)
    return [by_fold[fold] for fold in found]
