"""Files that people write: grammars, schemas, configurations. A larger or endless file is refused."""

from pathlib import Path

MOST_BYTES = 4 << 20


class TooLargeError(ValueError):
    """A file is larger than people write."""


def read_small(path: Path) -> str:
    """The text of a file; a TooLargeError if it has more than `MOST_BYTES`; no more than that is read."""
    with open(path, "rb") as file:
        return small_text(file.read(MOST_BYTES + 1))


def small_text(content: bytes) -> str:
    """The text of these bytes, if there are not too many."""
    if len(content) > MOST_BYTES:
        raise TooLargeError(f"it has more than {MOST_BYTES >> 20} MB, the most that is read of such a file")
    return content.decode("utf-8-sig")
