"""Whether one sentence repeats another, word for word or with other digits."""

import re

from telltree.speech.words import number_of

_NUMBER = re.compile(r"(?<![\w.])[−-]?\d[\d,]*\.?\d*(?![\w.])")
_NEARLY = 0.05  # relative difference of numbers that say about the same


def repeats(one: str, other: str) -> bool:
    """Whether two sentences are the same but for numbers that are nearly the same: 752 after 750."""
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return False
    found = zip(_numbers(one), _numbers(other), strict=True)
    return all(abs(a - b) <= _NEARLY * max(abs(a), abs(b)) for a, b in found)


def _numbers(text: str) -> list[float]:
    found = (number_of(number.replace(",", "").rstrip(".")) for number in _NUMBER.findall(text))
    return [number for number in found if number is not None]
