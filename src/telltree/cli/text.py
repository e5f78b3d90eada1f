"""Text for people: nothing that comes from data may steer a terminal."""

import unicodedata
from collections.abc import Iterable, Sequence


def printable(text: str) -> str:
    """The text with control characters, but for line ends and tabs, written as escapes."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs") else _escape(c) for c in text)


def one_line(text: str) -> str:
    """The text with line ends and tabs written as escapes too, for a cell of a table."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of text, as wide as they must be."""
    lines = [list(head), *([one_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
