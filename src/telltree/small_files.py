"""Files that people write: grammars, schemas, configurations. What is larger than those, or never ends, is none."""

from pathlib import Path

MOST_BYTES = 4 << 20


class TooLargeError(ValueError):
    """A file has more bytes than people write."""


def read_small(path: Path) -> str:
    """The text of a file; a TooLargeError if it has more than `MOST_BYTES`, of which no more are read."""
    with open(path, "rb") as file:
        return small_text(file.read(MOST_BYTES + 1))


def small_text(content: bytes) -> str:
    """The text of some bytes, if they are no more than a file may have."""
    if len(content) > MOST_BYTES:
        raise TooLargeError(f"it has more than {MOST_BYTES >> 20} MB, the most that is read of such a file")
    return content.decode("utf-8-sig")
