"""Text split into words, marks and quotations, and how a text is quoted."""

import enum
import json
import re
from dataclasses import dataclass

from telltree.errors import SpeechError

MOST_CHARACTERS = 100_000  # a sentence of telltree's has a few hundred


class Kind(enum.Enum):
    """What a token is; the value is how messages name it."""

    WORD = "word"
    MARK = "mark"  # , or ;
    QUOTED = "quotation"
    END = "the end"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text and the position (from 1) where it begins; for a quotation, what is inside the quotes."""

    text: str
    kind: Kind
    place: int

    def __str__(self) -> str:
        if self.kind is Kind.QUOTED:
            return quoted(self.text)
        return repr(self.text) if self.text else self.kind.value


_TOKEN = re.compile(r'\s*(?:(?P<mark>[,;])|“(?P<curly>(?:[^”\\]|\\.)*)”|"(?P<straight>(?:[^"\\]|\\.)*)"|(?P<word>[^\s,;“”"]+))', re.S)  # fmt: skip  # noqa: E501
_KINDS = {"mark": Kind.MARK, "curly": Kind.QUOTED, "straight": Kind.QUOTED, "word": Kind.WORD}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a text, with an end token; SpeechError if a quotation is not closed, or the text is too long."""
    if len(text) > MOST_CHARACTERS:
        raise SpeechError(f"the text has {len(text)} characters, the most is {MOST_CHARACTERS}; read it in parts")
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            begun = len(text) - len(text[at:].lstrip())
            raise SpeechError(f"a quotation mark has no partner; found {text[begun : begun + 20]!r}", begun + 1)
        group = str(match.lastgroup)
        kind = _KINDS[group]
        inside = _unescaped(match[group]) if kind is Kind.QUOTED else match[group]
        found.append(Token(inside, kind, match.start(group) + (kind is not Kind.QUOTED)))
        at = match.end()
    return (*found, Token("", Kind.END, len(text) + 1))


def quoted(text: str) -> str:
    """A text in quotes, on one line, so that it can be read back."""
    inside = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("”", "\\”")
    unprintable = (c if c.isprintable() or ord(c) > 0xFFFF else f"\\u{ord(c):04x}" for c in inside)
    return "“" + "".join(unprintable) + "”"


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    return _ESCAPE.sub(character, text)
