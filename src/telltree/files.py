"""Bounded reading and atomic writing of files."""

import contextlib
import errno
import os
import re
import tempfile
from pathlib import Path

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


# ---- Files are written whole or not at all.


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
