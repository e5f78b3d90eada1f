"""Compiled kernels on disk. Damaged ones are compiled again; if nothing can be saved, every run compiles."""

import hashlib
import logging
import pickle
import time
from functools import cache, cached_property
from pathlib import Path
from typing import IO, Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

logger = logging.getLogger("telltree")
_FORMAT = "telltree 1"  # of the files; those in an older format are ignored
_DIGEST = hashlib.sha256().digest_size
# Packages that neither define a kernel nor lend a function or constant to one; a test compares this with the imports.
WITHOUT_KERNELS = frozenset({"cli", "english", "estimators", "experiments", "explain", "models", "report", "scale"})
_said: set[str] = set()


@cache
def sources_digest() -> str:
    """Return a digest of the sources that any kernel may be compiled from.

    Numba notices only changes to the file that defines a kernel, but a function compiled into it may stand elsewhere.
    """
    package, digest = Path(__file__).parent, hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package)
        if name.parts[0] in WITHOUT_KERNELS:
            continue
        content = path.read_bytes()
        digest.update(f"{name.as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _say_once(message: str, *args: object) -> None:
    """Issue a warning the first time only: what happens to one kernel happens to most of them."""
    if message not in _said:
        _said.add(message)
        logger.warning(message, *args)


def _say_damaged(path: str) -> None:
    _say_once("telltree: its compiled kernels in %s are damaged; it compiles them anew", Path(path).parent)


class _Entries(IndexDataCacheFile):
    """Numba's cache files with a checksum, so that corrupted machine code never runs.

    They are valid for one version of Numba and for the sources they were compiled from.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, source_stamp)  # type: ignore[no-untyped-call]
        self._version = f"{self._version}, {_FORMAT}"

    def _load_index(self) -> dict[Any, str]:
        try:
            found: dict[Any, str] = super()._load_index()  # type: ignore[no-untyped-call]
        except OSError as error:
            _say_once("telltree: its compiled kernels cannot be read: %s: %s", error.filename, error.strerror)
            return {}
        except (ImportError, AttributeError):  # it names a module or class that another version of telltree has
            return {}
        except Exception:  # noqa: BLE001 - a damaged pickle may raise anything
            _say_damaged(self._index_path)
            return {}
        return found

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)  # type: ignore[no-untyped-call]
        content = Path(path).read_bytes()
        digest, data = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(data).digest() != digest:
            _say_damaged(path)
            raise OSError(f"{path} is damaged")  # which Numba treats as a missing file
        return pickle.loads(data)  # noqa: S301 - Numba's own, and as it was written

    def _dump(self, obj: Any) -> bytes:
        data: bytes = dumps(obj)  # type: ignore[no-untyped-call]
        return data

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:  # type: ignore[no-untyped-call]
            file.write(hashlib.sha256(content).digest() + content)


class _Turn:
    """A lock that lets one process compile a kernel while others that need it wait, and then load it.

    Where there are no locks, all compile. A lock ends with its process, and nobody waits without an end.
    """

    patience, pause = 2_400, 0.05  # attempts to take the lock, and seconds between them

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def take(self) -> None:
        """Wait for the lock, within reason."""
        self.end()
        if fcntl is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("ab")
            for _ in range(self.patience):
                if self._is_free():
                    return
                time.sleep(self.pause)
        except OSError:  # a folder that cannot be written, or one without locks
            self.end()

    def _is_free(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[arg-type]
        except BlockingIOError:
            return False
        return True

    def end(self) -> None:
        """Release the lock."""
        if self._file is not None:
            self._file.close()
            self._file = None


class KernelCache(FunctionCache):
    """Numba's cache of one function, with checksums, locks and warnings in place of errors."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stamp = self._impl.locator.get_source_stamp(), sources_digest()
        self._cache_file = _Entries(self._cache_path, self._impl.filename_base, stamp)
        self._turn = _Turn(Path(self._cache_path) / f"{self._impl.filename_base}.lock")

    @cached_property
    def signatures(self) -> list[tuple[Any, ...]]:
        """The argument types of the versions that were on disk when this property was first read."""
        return [key[0] for key in self._cache_file._load_index()]  # type: ignore[no-untyped-call]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled version from disk, or wait for the process that is compiling it; None if there is none."""
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None and self._enabled:
            self._turn.take()
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is not None:
            self._turn.end()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compiled version, if there is room for it."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            self.disable()  # type: ignore[no-untyped-call]
            _say_once(
                "telltree: its compiled kernels cannot be kept in %s: %s; every run compiles them anew",
                self._cache_path,
                error.strerror or error,
            )
        finally:
            self._turn.end()
