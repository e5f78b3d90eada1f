"""Tokens of English: words, numbers, quotes, keywords and names of units; and texts compared or split as such."""

import enum
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from telltree.english.operator_phrases import PHRASES, beginnings
from telltree.errors import SpeechError
from telltree.logic import Shape
from telltree.logic.types import number_text

# ---- Tokens: words, punctuation and quotations.

MOST_CHARACTERS = 100_000  # sentences that telltree writes have a few hundred


class TokenKind(enum.Enum):
    """Kinds of tokens, by their names in error messages."""

    WORD = "word"
    MARK = "mark"  # , or ;
    QUOTED = "quotation"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text and its position, counted from 1; the text of a quotation excludes the quotes."""

    text: str
    kind: TokenKind
    place: int

    def __str__(self) -> str:
        if self.kind is TokenKind.QUOTED:
            return quoted(self.text)
        return repr(self.text) if self.text else self.kind.value


_TOKEN = re.compile(r'\s*(?:(?P<mark>[,;])|“(?P<curly>(?:[^”\\]|\\.)*)”|"(?P<straight>(?:[^"\\]|\\.)*)"|(?P<word>[^\s,;“”"]+))', re.S)  # fmt: skip  # noqa: E501
_KINDS = {"mark": TokenKind.MARK, "curly": TokenKind.QUOTED, "straight": TokenKind.QUOTED, "word": TokenKind.WORD}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def tokens_of(text: str) -> tuple[Token, ...]:
    """Split a text into tokens, the last of which marks the end.

    Raise SpeechError if a quotation is not closed, or the text is too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise SpeechError(f"the text has {len(text)} characters, the most is {MOST_CHARACTERS}; read it in parts")
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            start = len(text) - len(text[at:].lstrip())
            raise SpeechError(f"a quotation mark has no partner; found {text[start : start + 20]!r}", start + 1)
        group = str(match.lastgroup)
        kind = _KINDS[group]
        inside = _unescaped(match[group]) if kind is TokenKind.QUOTED else match[group]
        found.append(Token(inside, kind, match.start(group) + (kind is not TokenKind.QUOTED)))
        at = match.end()
    return (*found, Token("", TokenKind.END, len(text) + 1))


def quoted(text: str) -> str:
    """Put a text in quotes, escaped so that it stays on one line and can be read back."""
    inside = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("”", "\\”")
    unprintable = (c if c.isprintable() or ord(c) > 0xFFFF else f"\\u{ord(c):04x}" for c in inside)
    return "“" + "".join(unprintable) + "”"


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(character, text)


# ---- Numbers as people write them: 1000, 1,000, 1 000, 2.5, 1e3, ½, 50k, 50 thousand, fifty thousand.
#
# Other forms, such as 0x10, 1,5 and 1.000.000, are rejected as a whole rather than read in part.

FORMS = "numbers look like 1000, 1,000, 1 000, 2.5, 1e3, ½, 50k, 50 thousand or fifty"
"""The accepted forms, for error messages."""

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
"""Words that numbers are made of."""


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number in a text."""

    digits: str
    """The exact number in plain digits."""
    rest: str
    """Text attached to it without a blank, such as a unit."""
    length: int
    """Number of tokens."""

    @property
    def value(self) -> float:
        """The number as a float."""
        return float(self.digits.replace("∞", "inf"))


def numeral(tokens: Sequence[Token], at: int) -> Numeral | None:
    """Return the number that begins at a token, or None."""
    if tokens[at].kind is not TokenKind.WORD:
        return None
    if tokens[at].text.lower() == "minus":
        found = numeral(tokens, at + 1) if tokens[at + 1].text[:1] not in tuple("-−+") else None
        return found and Numeral(f"-{found.digits}", found.rest, found.length + 1)
    found = _in_groups(tokens, at) or _in_digits(tokens[at].text)
    return _in_words(tokens, at) if found is None else _scaled(found, tokens, at)


def begins_number(words: Sequence[str]) -> bool:
    """Return True if words could be taken for a number or its multiplier."""
    tokens = [*(Token(word, TokenKind.WORD, 0) for word in words), Token("", TokenKind.END, 0)]
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
    """Read groups of three digits, separated by commas without blanks, or by blanks."""
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
    """Return the next group of digits; with a stride of 2, a comma without blanks precedes it."""
    if at + stride >= len(tokens) or tokens[at + stride].kind is not TokenKind.WORD:
        return None
    group = tokens[at + stride]
    joined = [tokens[at + i + 1].place - tokens[at + i].place - len(tokens[at + i].text) for i in range(stride)]
    if stride == 2 and (tokens[at + 1].text != "," or any(joined)):
        return None
    return group.text if re.match(r"\d", group.text, re.ASCII) else None


def _scaled(found: Numeral, tokens: Sequence[Token], at: int) -> Numeral:
    """Multiply a number by the words after it, such as "thousand"."""
    word = tokens[at + found.length].text.lower() if at + found.length < len(tokens) else ""
    if found.rest or word not in (*_SCALES, "hundred") or tokens[at + found.length].kind is not TokenKind.WORD:
        return found
    scaled = Numeral(_times(found.digits, {**_SCALES, "hundred": 100}[word]), "", found.length + 1)
    return _scaled(scaled, tokens, at)


def _in_words(tokens: Sequence[Token], at: int) -> Numeral | None:
    """Read "fifty thousand" or "a hundred"; "and" is not part of a number, because it also separates bounds."""
    words = [token.text.lower() if token.kind is TokenKind.WORD else "" for token in tokens[at : at + 20]]
    article = words[0] == "a" and len(words) > 1 and words[1] in (*_SCALES, "hundred")
    total, part, length = 0, 1 if article else None, int(article)
    least = max(_SCALES.values()) * 10  # smallest scale so far
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
    """Return True if a small number may follow: "five" after "twenty", "twenty" after "two hundred"."""
    return small > 0 and (part % 100 == 0 < part or (part % 100 in range(20, 91, 10) and small < 10))


def _times(digits: str, factor: int) -> str:
    return digits if "∞" in digits else format((Decimal(digits) * factor).normalize(), "f")


def thousands(found: Numeral) -> Numeral:
    """Read the k attached to a number as thousands."""
    return Numeral(_times(found.digits, 1000), "", found.length)


def _plain(digits: str) -> str:
    return digits.replace("−", "-")


# ---- Keywords, and the quotes around a user's words that could be confused with them.

BOUNDS = {
    "below": "<", "less than": "<", "at most": "<=", "above": ">", "more than": ">", "greater than": ">",
    "at least": ">=",
}  # fmt: skip
"""Words for comparisons, with their operators; telltree writes the first word of each operator."""

ALONE = ("missing", "known")
"""Predicates that have their own form for two signals: "x or y is missing"."""

OPENERS = (
    "at some point", "each at some point", "at no point", "at the end", "at the last step", "at each step", "its value",
    "never", "always", "whenever", "either",
    "all of", "then or later", "from then on", "it is so that", "it is not so that", "it is false that",
    "it is always so", "it is never so", "it is always the case that", "it is never the case that",
    "it is known whether", "it is unknown whether", "it is always false that",
    "it is never false that", "it is always known whether", "it is never known whether",
    "it is always unknown whether", "it is never unknown whether", "that is unknown", "the sign of",
    "the absolute value of", "the difference", "the excess of", "the number of steps at which",
    "the record lasts", "the record has", "the time since the start", "the share of the record", "the change of",
    "it is false or unknown that", "it is true or unknown that",
)  # fmt: skip
"""Words that begin a part of a sentence; a user's words that begin with them are quoted."""

_OTHERS = (
    *BOUNDS, "exactly", "between", "from", "to", "within", "of", "other than", "equal to", "unequal to", "the same as",
    "different from", "missing", "known", "not", "neither", "nor", "is", "are", "ever", "in all", "steps", "step",
    "either way", "beyond", "at once", "both", "inclusive", "for exactly", "at exactly", "fewer than", "fewer", "more",
    "less", "after the first", "in steps", "after", "before", "until", "in the first", "in the last",
)  # fmt: skip
_KEYWORDS = tuple(tuple(keyword.split()) for keyword in (*OPENERS, *_OTHERS))
OR_AT_THE_START = "or at the start, whichever is later"
"""The words after "its value 5 steps earlier"; their "or" does not join items of a list."""
_JOINTS = {"and", "or", "nor", "while", "minus", "whenever"}
QUOTED = re.compile("“.*?”")
_JOINT = re.compile(" (?:and|or|while) ")


def joins_items(text: str) -> bool:
    """Return True if the text joins items by "and", "or" or "while" outside quotes."""
    return bool(_JOINT.search(QUOTED.sub("", text)))


def number_words(value: float) -> str:
    """Write a number in its shortest form, with a true minus sign."""
    sign = "−" if value < 0 else ""
    return sign + ("∞" if math.isinf(value) else number_text(abs(value)))


def shape_words(shape: Shape) -> str:
    """Write a shapelet as its name and its picture, or its quoted numbers if it has no picture."""
    drawn = shape.picture or quoted(" ".join(map(number_words, shape.values)))
    return f"a {shape.name} {drawn}"


def shape_of(text: str) -> Shape | None:
    """Read a shapelet from its picture or from its numbers; return None if the text is neither."""
    numbers = [number_of(word) for word in text.split(" ")]
    values = tuple(number for number in numbers if number is not None)
    shape = Shape(values) if len(values) == len(numbers) else Shape.drawn(text)
    return None if shape is None or shape.problem else shape


def number_of(text: str) -> float | None:
    """Read a plain number, or return None."""
    if not _PLAIN.fullmatch(text):
        return None
    return float(text.replace("−", "-").replace("∞", "inf"))


def openings() -> frozenset[str]:
    """Return the words that may begin a part of a sentence, including phrases of operators."""
    return _openings(beginnings(PHRASES.changes))


@lru_cache(maxsize=2)
def _openings(of_operators: frozenset[str]) -> frozenset[str]:
    return of_operators | frozenset(OPENERS)


@lru_cache(maxsize=10_000)
def stands_bare(text: str, numbers: bool = False) -> bool:
    """Return True if a user's words need no quotes among the keywords.

    With `numbers`, they may begin with a number.
    """
    words = text.split(" ")
    if not text.isprintable() or any(not word or set(word) & set(',;“”"[]') for word in words):
        return False
    lower = tuple(word.lower() for word in words)
    if (not numbers and begins_number(words)) or _JOINTS.intersection(lower):
        return False
    hidden = any(keyword[: len(lower)] == lower for keyword in _KEYWORDS)
    opening = any(lower[: len(keyword)] == keyword for keyword in _KEYWORDS[: len(OPENERS)])
    return not hidden and not opening and " ".join(lower) not in openings()


def bare_or_quoted(text: str, quote_all: bool = False, numbers: bool = False) -> str:
    """Quote a user's words if necessary, or always if `quote_all`."""
    return text if not quote_all and stands_bare(text, numbers) else quoted(text)


# ---- Names of units: "seconds" is s, "percent" is %.

_NAMES = {
    "s": "second seconds sec secs", "ms": "millisecond milliseconds", "min": "minute minutes mins",
    "h": "hour hours hr hrs", "d": "day days", "%": "percent pct", "m": "meter meters metre metres",
    "km": "kilometer kilometers kilometre kilometres", "ft": "foot feet", "in": "inch inches", "mi": "mile miles",
    "kn": "knot knots kt kts", "g": "gram grams", "kg": "kilogram kilograms", "l": "liter liters litre litres L",
    "V": "volt volts", "W": "watt watts", "A": "amp amps ampere amperes", "Pa": "pascal pascals",
    "N": "newton newtons", "Hz": "hertz", "K": "kelvin", "°C": "celsius degC", "°F": "fahrenheit degF",
    "°": "degree degrees deg", "bar": "bar bars", "rpm": "rpm", "bpm": "bpm",
}  # fmt: skip
_SYMBOLS = {name: symbol for symbol, names in _NAMES.items() for name in (symbol, *names.split())}


def unit_named(word: str, units: Iterable[str]) -> str | None:
    """Return the unit among `units` that a word names, or None; full names may be capitalised, symbols not."""
    spelled = word if word in _SYMBOLS else word.lower()
    symbol = _SYMBOLS.get(spelled) if word in _SYMBOLS or len(word) > 2 else None
    return None if symbol is None else next((unit for unit in units if _SYMBOLS.get(unit) == symbol), None)


# ---- Sentences that repeat others, word for word or with similar numbers.

_DIGITS = re.compile(r"(?<![\w.])[−-]?\d[\d,]*\.?\d*(?![\w.])")
_NEARLY = 0.05  # relative difference of numbers that readers take as equal


def repeats(one: str, other: str) -> bool:
    """Return True if two sentences differ only in numbers that are nearly equal, such as 752 and 750."""
    if _DIGITS.sub("0", one) != _DIGITS.sub("0", other):
        return False
    found = zip(_numbers(one), _numbers(other), strict=True)
    return all(abs(a - b) <= _NEARLY * max(abs(a), abs(b)) for a, b in found)


def _numbers(text: str) -> list[float]:
    found = (number_of(number.replace(",", "").rstrip(".")) for number in _DIGITS.findall(text))
    return [number for number in found if number is not None]


# ---- Sentences that missing values may leave open: "at some point b; and, unless missing values leave it open: a".

UNLESS = "unless missing values leave it open"
_IN_QUOTES = re.compile(r'"[^"]*"|“[^”]*”')
_BEGINS = re.compile(rf"(?:^|; and,? |; ){UNLESS}[,:] ", re.IGNORECASE)


def with_open(known: str, left_open: str) -> str:
    """Join a text that is certain and one that missing values may leave open; either may be empty."""
    if not left_open:
        return known
    if not known:
        several = "; " in left_open or ", and " in left_open
        return f"{UNLESS}{':' if several else ','} {left_open}"
    return f"{known}; and, {UNLESS}: {left_open}"


def parted(text: str) -> tuple[str, str]:
    """Split such a text into its certain part and its open part, which may be empty."""
    bare = _IN_QUOTES.sub(lambda found: "“" * len(found[0]), text)  # of the same length
    begins = _BEGINS.search(bare)
    return (text, "") if begins is None else (text[: begins.start()], text[begins.end() :])


def mentions_missing_values(text: str) -> bool:
    """Return True if a text mentions that values are missing, known or unknown."""
    return re.search(r"\b(missing|known|unknown)\b", _IN_QUOTES.sub("", text)) is not None
