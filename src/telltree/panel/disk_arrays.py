"""Arrays that are too large for memory: they are in files that nobody else sees, and that vanish with them.

They are used like any other array. What is touched of them takes memory until `rest` is called, or until the machine
needs it: nothing is lost by that, it is read again.
"""

import io
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from telltree.errors import DataError

Array = npt.NDArray[Any]
PIECE = 1 << 21
"""Rows of an array on disk that are looked at together."""
Empty = Callable[[int, npt.DTypeLike], Array]
"""Makes room for so many values of a type: `numpy.empty` in memory, `empty` on disk."""
_FILES: weakref.WeakKeyDictionary[mmap.mmap, int] = weakref.WeakKeyDictionary()  # maps, and the files behind them


def empty(count: int, dtype: npt.DTypeLike) -> Array:
    """Room on disk for so many values; a DataError if there is none."""
    found = sparse(count, dtype)
    secure(found)
    return found


def sparse(count: int, dtype: npt.DTypeLike) -> Array:
    """The same, without a claim to the room: `secure` what is about to be written."""
    kind = np.dtype(dtype)
    if not count or kind.hasobject:
        return np.empty(count, kind)
    with _claimed(count * kind.itemsize), tempfile.TemporaryFile(prefix="telltree-") as file:
        file.truncate(count * kind.itemsize)
        known = os.dup(file.fileno())
        mapped = mmap.mmap(file.fileno(), count * kind.itemsize)
    _FILES[mapped] = known
    weakref.finalize(mapped, os.close, known)
    return np.ndarray(count, kind, mapped)


def mapped(array: Array, file: IO[bytes]) -> Array:
    """Give the same array, at the end of a file that is already there."""
    start = file.seek(0, io.SEEK_END)
    file.write(array.data)
    file.flush()
    found = np.memmap(file, array.dtype, "r", offset=start, shape=array.shape)
    if isinstance(found.base, mmap.mmap):  # so that it can rest as well
        _FILES[found.base] = -1
    return found


def allow_files(count: int) -> None:
    """Let this process have so many more files open, as far as the system lets it: each array on disk is one or two."""
    with suppress(ImportError, ValueError, OSError):  # there may be no such limit, or none that we may change
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 256 + 2 * len(_FILES) + count
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard < 0 else min(wanted, hard), hard))


def secure(array: Array) -> None:
    """Claim the room on disk for an array, or part of one; a full disk would end the program in the midst of work."""
    mapped = _map_of(array)
    if mapped is None or not array.size or not hasattr(os, "posix_fallocate"):
        return
    first = array.ctypes.data - np.frombuffer(mapped, np.uint8).ctypes.data
    with _claimed(array.nbytes):
        os.posix_fallocate(_FILES[mapped], first, array.nbytes)


@contextmanager
def _claimed(size: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"there is no room for {size / 1e6:,.0f} MB in the folder for temporary files, {tempfile.gettempdir()!r} "
            f"({error.strerror}); free some, or name a folder on a larger disk by the environment variable TMPDIR"
        ) from None


def on_disk(array: object) -> bool:
    """Whether an array, or the one that it is a view of, is on disk."""
    return _map_of(array) is not None


def _map_of(array: object) -> mmap.mmap | None:
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return array if isinstance(array, mmap.mmap) and array in _FILES else None


def rest() -> None:
    """Take no memory for arrays on disk, until they are touched again."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for known in _FILES.keyrefs():  # a list: other threads may make arrays meanwhile
            if (here := known()) is not None:
                here.madvise(mmap.MADV_DONTNEED)


def like(array: Array, dtype: npt.DTypeLike) -> Array:
    """Room for as many values where an array is: on disk, or in memory."""
    return (empty if on_disk(array) else np.empty)(len(array), dtype)


def pieces(array: Array) -> Iterator[slice]:
    """An array in memory as a whole, one on disk piece by piece."""
    length = len(array)
    if not on_disk(array):
        yield slice(0, length)
        return
    for start in range(0, length, PIECE):
        yield slice(start, min(start + PIECE, length))
        rest()


def piecewise(change: Callable[[Array], Array], array: Array, dtype: npt.DTypeLike) -> Array:
    """What becomes of the values of an array, each by itself; it is where the array is."""
    if not on_disk(array):
        return change(array)
    found = like(array, dtype)
    for piece in pieces(array):
        found[piece] = change(array[piece])
    return found


def by_records(array: Array, lengths: npt.NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Records and their rows, which an array has one record after the other: all at once, or some at a time."""
    if not on_disk(array):
        yield slice(0, len(lengths)), slice(0, len(array))
        return
    ends = np.cumsum(lengths)
    first = before = 0
    while first < len(lengths):
        last = max(first + 1, int(np.searchsorted(ends, before + PIECE, side="right")))
        yield slice(first, last), slice(before, int(ends[last - 1]))
        first, before = last, int(ends[last - 1])
        rest()
