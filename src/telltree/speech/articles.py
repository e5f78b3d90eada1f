"""Which phrases of columns take "the" in a sentence: "the vertical rate of aircraft 1", but "advisory 1" and names."""

import re

from telltree.data import Column, ColumnType

_DETERMINED = {
    "the", "a", "an", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "whose",
    "each", "every", "all", "both", "either", "neither", "some", "any", "no", "many", "most", "few", "several", "how",
    "one", "two", "three", "what", "which", "when", "whether",
}  # fmt: skip
_PREPOSITIONS = {
    "of", "to", "from", "between", "since", "until", "at", "in", "on", "over", "with", "per", "above", "below", "for",
    "by", "before", "after", "towards", "under",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z][A-Za-z’'-]*", re.ASCII)


def takes_article(column: Column) -> bool:
    """Whether a native speaker says "the" before a column's phrase, as far as its words tell.

    Names of columns stay bare, and so do single words, what has an article or the like, what ends in a label
    ("advisory 1", "pump B"), plurals, and what begins with a capital letter, which may be a name.
    """
    words = (column.phrase or "").split(" ")
    named = column.phrase in (None, column.name) or column.type is ColumnType.BOOLEAN  # whose phrase is a sentence
    if named or len(words) < 2 or not _WORD.fullmatch(words[0]):
        return False
    if words[0].lower() in _DETERMINED or words[0].istitle() or words[0].endswith(("'s", "’s", "s'", "s’")):
        return False
    head = next((words[:i] for i, word in enumerate(words) if i and word in _PREPOSITIONS), words)
    last = head[-1]
    is_plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    return len(last) > 1 and bool(_WORD.fullmatch(last)) and not is_plural
