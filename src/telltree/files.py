"""Bounded reading and atomic writing of files."""

import contextlib
import errno
import os
import re
import tempfile
from pathlib import Path
from typing import Any

# ---- Files that people write: grammars, schemas, configurations. A larger or endless file is refused.

MOST_BYTES = 4 << 20


class TooLargeError(ValueError):
    """A file is larger than those that people write."""


def read_small(path: Path) -> str:
    """Return the text of a file; raise TooLargeError if it has more than `MOST_BYTES`, without reading more."""
    with open(path, "rb") as file:
        return small_text(file.read(MOST_BYTES + 1))


def small_text(content: bytes) -> str:
    """Return the text of these bytes; raise TooLargeError if there are too many."""
    if len(content) > MOST_BYTES:
        raise TooLargeError(f"it has more than {MOST_BYTES >> 20} MB, the most that is read of such a file")
    return content.decode("utf-8-sig")


# ---- TOML from any source: its size is checked before it is parsed, and it raises only one kind of error.

MOST_CHARACTERS = 4_000_000
"""The most characters of a text; a schema of ten thousand columns has two million."""
MOST_ITEMS = 200_000
"""The most items in all lists of a text."""
MOST_TABLES, MOST_KEYS, MOST_LINES = 25_000, 100_000, 400_000
"""The most of each in a text. The schema that telltree writes for twenty thousand columns has a table and ten lines for
each.
"""
_MOST_PARTS = 16
"""The most parts of one key: `a.b.c` has three. Parsing takes time that grows with their square."""
_ASIDE = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    r"|'''(?:[^']++|'(?!''))*+'''"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+",
    re.DOTALL,
)
_TABLE = re.compile(r"^[ \t]*+\[", re.MULTILINE)
_LONG_KEY = re.compile(rf'(?:\.[ \t]*+[\w"-]*+[ \t]*+){{{_MOST_PARTS}}}')


class TomlError(ValueError):
    """A text is not TOML, or too large; the message gives the reason, and the caller adds which text it was."""


def parsed_toml(text: str, most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """Return the content of a TOML text; raise TomlError if it is not TOML, or has more than `most` characters."""
    if len(text) > most:
        raise TomlError(f"it has {len(text):,} characters; at most {most:,} are read")
    bare = _ASIDE.sub('""', text)
    for what, found, bound in (
        ("items in its lists", bare.count(","), MOST_ITEMS),
        ("tables", len(_TABLE.findall(bare)), MOST_TABLES),
        ("keys", bare.count("="), MOST_KEYS),
        ("lines", text.count("\n"), MOST_LINES),
    ):
        if found > bound:
            raise TomlError(f"it has {found:,} {what}; at most {bound:,} are read: leave out what is not needed")
    if _LONG_KEY.search(bare):
        raise TomlError(f"a key in it has more than {_MOST_PARTS} parts")
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"it is not TOML: {error}") from None
    except RecursionError:
        raise TomlError("its lists or tables are nested too deeply") from None
    except ValueError:  # Python parses no integers of more than 4,300 digits
        raise TomlError("it has a number of thousands of digits") from None


# ---- Atomic writing


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: at every moment, even after a crash, it has either its old content or all of the new.

    A link goes on pointing to the file. A device or a pipe, such as /dev/stdout, is written to and never replaced.
    An OSError names this file, whatever went wrong on the way.
    """
    try:
        _write(Path(path), content)
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


def _write(target: Path, content: bytes) -> None:
    if is_device(target):
        target.write_bytes(content)
        return
    target = Path(os.path.realpath(target))
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def remove_parts(path: str | os.PathLike[str]) -> None:
    """Remove what attempts to write a file have left beside it when their process was killed."""
    target = Path(os.path.realpath(path))
    left = re.compile(re.escape(f".{target.name[:100]}.") + r"[a-z0-9_]{8}\.part")
    for file in target.parent.iterdir():
        if left.fullmatch(file.name):
            file.unlink(missing_ok=True)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Raise an OSError with the reason if `write_whole` could not write this file; leaves no trace."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not is_device(target):
        with tempfile.TemporaryFile(dir=Path(os.path.realpath(target)).parent):
            pass  # permissions do not tell all, so the file is made and removed
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def would_replace(path: Path) -> bool:
    """Return True if writing there would overwrite something: a file, but not a device."""
    return path.exists() and not path.is_dir() and not is_device(path)


def is_device(path: Path) -> bool:
    """Return True if this is a device or a pipe, not a file or a free path."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _mode(target: Path) -> int:
    """The permissions of the file to be replaced, or those of a new one."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
