"""Numbers as people write them: 1000, 1,000, 1 000, 2.5, 1e3, ½, 50k, 50 thousand, fifty thousand.

What is no number in one of these forms is none at all: 0x10, 1,5 and 1.000.000 have no meaning here, nor has a part of
them.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from telltree.speech.tokens import Kind, Token

FORMS = "numbers look like 1000, 1,000, 1 000, 2.5, 1e3, ½, 50k, 50 thousand or fifty"
"""What an error says of them."""

_PLAIN = re.compile(r"[-−+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-−+]?\d+)?|∞)", re.ASCII)
_GROUPED = re.compile(r"[-−+]?[1-9]\d{0,2}(?:(?:_\d{3})+|(?:['’]\d{3})+)(?:\.\d+)?(?![\d_'’])", re.ASCII)
_FRACTION = re.compile(r"[-−+]?\d+/0*[1-9]\d*(?![\d.])", re.ASCII)
_VULGAR = re.compile("([-−+]?)([0-9]*)([¼-¾⅐-⅞↉])")
_FIRST_GROUP = re.compile(r"[-−+]?[1-9]\d{0,2}", re.ASCII)
_GROUP = re.compile(r"\d{3}", re.ASCII)
_LAST_GROUP = re.compile(r"\d{3}(?:\.\d+)?(?![\d.])", re.ASCII)
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: i for i, word in enumerate(_ONES)} | {word: 10 * i for i, word in enumerate(_TENS, 2)}
_SMALL |= {f"{ten}-{one}": 10 * i + j for i, ten in enumerate(_TENS, 2) for j, one in enumerate(_ONES[:10]) if j}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
WORDS = frozenset({*_SMALL, *_SCALES, "hundred"})
"""The words of numbers."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number in a text."""

    digits: str
    """the number in plain digits, exactly"""
    rest: str
    """what follows it without a blank: a unit"""
    length: int
    """how many tokens it takes"""

    @property
    def value(self) -> float:
        """The number."""
        return float(self.digits.replace("∞", "inf"))


def numeral(tokens: Sequence[Token], at: int) -> Numeral | None:
    """The number that begins at a token; None if none does."""
    if tokens[at].kind is not Kind.WORD:
        return None
    if tokens[at].text.lower() == "minus":
        found = numeral(tokens, at + 1) if tokens[at + 1].text[:1] not in tuple("-−+") else None
        return found and Numeral(f"-{found.digits}", found.rest, found.length + 1)
    found = _in_groups(tokens, at) or _in_digits(tokens[at].text)
    return _in_words(tokens, at) if found is None else _scaled(found, tokens, at)


def begins_number(words: Sequence[str]) -> bool:
    """Whether words could be taken for a number, or for something behind one."""
    tokens = [*(Token(word, Kind.WORD, 0) for word in words), Token("", Kind.END, 0)]
    found = numeral(tokens, 0)
    return words[0].lower() in WORDS or (found is not None and found.rest in ("", "k"))


def _in_digits(text: str) -> Numeral | None:
    if vulgar := _VULGAR.match(text):
        share = Decimal(repr(unicodedata.numeric(vulgar[3])))
        return Numeral(_plain(f"{vulgar[1]}{int(vulgar[2] or 0) + share}"), text[vulgar.end() :], 1)
    if (fraction := _FRACTION.match(text)) is not None:
        above, below = _plain(fraction[0]).split("/")
        return Numeral(repr(int(above) / int(below)), text[fraction.end() :], 1)
    found = _GROUPED.match(text) or _PLAIN.match(text)
    if found is None:
        return None
    return Numeral(_plain(re.sub("[_'’]", "", found[0])), text[found.end() :], 1)


def _in_groups(tokens: Sequence[Token], at: int) -> Numeral | None:
    """Digits in groups of three, with commas and no blanks between them, or with blanks only."""
    if not _FIRST_GROUP.fullmatch(tokens[at].text):
        return None
    for stride in (2, 1):
        digits, end, rest = tokens[at].text, at, None
        while rest is None and (group := _group(tokens, end, stride)) is not None:
            end += stride
            if not (whole := _GROUP.fullmatch(group)):
                whole = _LAST_GROUP.match(group)
                if whole is None:
                    return None
                rest = group[whole.end() :]
            digits += whole[0]
        if end > at:
            return Numeral(_plain(digits), rest or "", end - at + 1)
    return None


def _group(tokens: Sequence[Token], at: int, stride: int) -> str | None:
    """The text of the next group of digits; with a stride of 2 it stands behind a comma, without a blank."""
    if at + stride >= len(tokens) or tokens[at + stride].kind is not Kind.WORD:
        return None
    group = tokens[at + stride]
    joined = [tokens[at + i + 1].place - tokens[at + i].place - len(tokens[at + i].text) for i in range(stride)]
    if stride == 2 and (tokens[at + 1].text != "," or any(joined)):
        return None
    return group.text if re.match(r"\d", group.text, re.ASCII) else None


def _scaled(found: Numeral, tokens: Sequence[Token], at: int) -> Numeral:
    """The number with a word such as "thousand" behind it."""
    word = tokens[at + found.length].text.lower() if at + found.length < len(tokens) else ""
    if found.rest or word not in (*_SCALES, "hundred") or tokens[at + found.length].kind is not Kind.WORD:
        return found
    scaled = Numeral(_times(found.digits, {**_SCALES, "hundred": 100}[word]), "", found.length + 1)
    return _scaled(scaled, tokens, at)


def _in_words(tokens: Sequence[Token], at: int) -> Numeral | None:
    """Such as "fifty thousand" or "a hundred"; never with "and", which is also between two bounds."""
    words = [token.text.lower() if token.kind is Kind.WORD else "" for token in tokens[at : at + 20]]
    article = words[0] == "a" and len(words) > 1 and words[1] in (*_SCALES, "hundred")
    total, part, length = 0, 1 if article else None, int(article)
    least = max(_SCALES.values()) * 10  # of the scales so far
    for word in words[length:]:
        if word in _SMALL and (part is None or _takes(part, _SMALL[word])):
            part = (part or 0) + _SMALL[word]
        elif word == "hundred" and part is not None and 0 < part < 100:
            part *= 100
        elif word in _SCALES and part and _SCALES[word] < least:
            least = _SCALES[word]
            total, part = total + part * least, None
        else:
            break
        length += 1
    return Numeral(str(total + (part or 0)), "", length) if length else None


def _takes(part: int, small: int) -> bool:
    """Whether a small number may follow: "twenty" takes "five", "two hundred" takes "twenty"."""
    return small > 0 and (part % 100 == 0 < part or (part % 100 in range(20, 91, 10) and small < 10))


def _times(digits: str, factor: int) -> str:
    return digits if "∞" in digits else format((Decimal(digits) * factor).normalize(), "f")


def thousands(found: Numeral) -> Numeral:
    """The number without its k, which is there if no unit is called so."""
    return Numeral(_times(found.digits, 1000), "", found.length)


def _plain(digits: str) -> str:
    return digits.replace("−", "-")
