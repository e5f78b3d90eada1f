"""Text for people: no text from data may control a terminal."""

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

from telltree.visible import visible


def printable(text: str) -> str:
    """The text with control characters escaped, and those that have no width, which a terminal may obey."""
    return visible("".join(_escape(c) if unicodedata.category(c) == "Cf" else c for c in text))


def one_line(text: str) -> str:
    """The text with line ends and tabs escaped too, for a cell of a table."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of text, as wide as needed."""
    lines = [list(head), *([one_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


# What may precede the words of a line: blanks, the bars of a tree, an answer, a number.
_MARGIN = re.compile(r"[ │├└─]*(?:yes: |no:  )?(?:\[\d+\] )?")
_LEAST = 20  # columns left for words, at any depth


def wrapped(text: str, width: int) -> str:
    """The text wrapped at this many columns; the bars of a tree continue beside wrapped lines."""
    return "\n".join("\n".join(_folded(line, width)) for line in text.split("\n"))


def _folded(line: str, width: int) -> list[str]:
    margin = _MARGIN.match(line)
    first = margin[0] if margin else ""
    rest = "".join("│" if c in "├│" else " " for c in first)
    words = line[len(first) :]
    room = max(width - len(first), _LEAST)
    pieces = textwrap.wrap(
        words, room, break_long_words=False, break_on_hyphens=False, expand_tabs=False, replace_whitespace=False
    )
    return [line] if len(words) <= room else [(rest if i else first) + piece for i, piece in enumerate(pieces)]


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
