"""Arrays larger than memory: mapped from unnamed temporary files, which vanish with them.

They are used like any other array. Pages in use take memory until `unload` is called or the system needs it; they are
read again when used again.
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
"""Rows of an array on disk that are processed together."""
Empty = Callable[[int, npt.DTypeLike], Array]
"""Allocates an array of a length and type: `numpy.empty` in memory, `empty` on disk."""
_FILES: weakref.WeakKeyDictionary[mmap.mmap, int] = weakref.WeakKeyDictionary()  # maps -> their file descriptors


def empty(count: int, dtype: npt.DTypeLike) -> Array:
    """Allocate an array on disk; a DataError if the disk is full."""
    found = sparse(count, dtype)
    reserve(found)
    return found


def sparse(count: int, dtype: npt.DTypeLike) -> Array:
    """Allocate an array on disk without reserving blocks; `reserve` the parts that are about to be written."""
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
    """Append an array to an open file, and return it mapped from there."""
    start = file.seek(0, io.SEEK_END)
    file.write(array.data)
    file.flush()
    found = np.memmap(file, array.dtype, "r", offset=start, shape=array.shape)
    if isinstance(found.base, mmap.mmap):  # so that `unload` unloads it too
        _FILES[found.base] = -1
    return found


def allow_files(count: int) -> None:
    """Raise this process's limit of open files by `count`, if permitted; an array on disk has one or two."""
    with suppress(ImportError, ValueError, OSError):  # no such limit, or no permission to change it
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 256 + 2 * len(_FILES) + count
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard < 0 else min(wanted, hard), hard))


def reserve(array: Array) -> None:
    """Reserve disk blocks for an array or a part of one; writing to a full disk would kill the process."""
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
    """Return True if an array, or the array it is a view of, is on disk."""
    return _map_of(array) is not None


def _map_of(array: object) -> mmap.mmap | None:
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return array if isinstance(array, mmap.mmap) and array in _FILES else None


def unload() -> None:
    """Unload all arrays on disk from memory until they are used again."""
    if hasattr(mmap, "MADV_DONTNEED"):
        for known in _FILES.keyrefs():  # a list: other threads may make arrays meanwhile
            if (here := known()) is not None:
                here.madvise(mmap.MADV_DONTNEED)


def like(array: Array, dtype: npt.DTypeLike) -> Array:
    """Allocate an array of the same length where `array` is: on disk or in memory."""
    return (empty if on_disk(array) else np.empty)(len(array), dtype)


def pieces(array: Array) -> Iterator[slice]:
    """Yield slices that cover an array: one if it is in memory, several if it is on disk."""
    length = len(array)
    if not on_disk(array):
        yield slice(0, length)
        return
    for start in range(0, length, PIECE):
        yield slice(start, min(start + PIECE, length))
        unload()


def piecewise(change: Callable[[Array], Array], array: Array, dtype: npt.DTypeLike) -> Array:
    """Apply an elementwise function; the result is where the array is, on disk or in memory."""
    if not on_disk(array):
        return change(array)
    found = like(array, dtype)
    for piece in pieces(array):
        found[piece] = change(array[piece])
    return found


def by_records(array: Array, lengths: npt.NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Yield slices of whole records and of their rows: all at once in memory, some at a time on disk."""
    if not on_disk(array):
        yield slice(0, len(lengths)), slice(0, len(array))
        return
    ends = np.cumsum(lengths)
    first = before = 0
    while first < len(lengths):
        last = max(first + 1, int(np.searchsorted(ends, before + PIECE, side="right")))
        yield slice(first, last), slice(before, int(ends[last - 1]))
        first, before = last, int(ends[last - 1])
        unload()
