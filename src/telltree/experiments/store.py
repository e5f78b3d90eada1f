"""Finished runs in a file, one line of JSON each, so that an interrupted experiment can be resumed."""

import json
import math
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from telltree.errors import DataError
from telltree.experiments.trial import Run
from telltree.whole import is_whole

_BEGINNING = b'{"key": "'  # of every line


class Store:
    """The runs of a file, which may exist already; None keeps them only in memory.

    A last line without an end is what a crash leaves of a run: it is dropped. Any other line that is no run means that
    the file is something else, and it is left as it is.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self._path = None if path is None else Path(path)
        self.runs: dict[tuple[str, int], Run] = {}
        if self._path is not None:
            self._open(self._path)

    def add(self, run: Run) -> None:
        """Store a run; when this returns, it is on disk."""
        self.runs[run.key, run.trial] = run
        if self._path is not None:
            line = json.dumps(asdict(run), allow_nan=False).encode() + b"\n"
            try:
                with open(self._path, "ab") as file:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise DataError(f"{self._path}: cannot be written: {error}") from None

    def _open(self, path: Path) -> None:
        """Read what is there, and check before any work that the file can be written."""
        try:
            with open(path, "ab+") as file:
                file.seek(0)
                *lines, torn = file.read().split(b"\n")
                if not (torn.startswith(_BEGINNING) or _BEGINNING.startswith(torn)):
                    raise DataError(_foreign(path, len(lines) + 1))
                for number, line in enumerate(lines, 1):
                    run = _run(line, path, number)
                    self.runs[run.key, run.trial] = run
                if torn:
                    file.truncate(sum(len(line) + 1 for line in lines))
        except OSError as error:
            raise DataError(f"{path}: cannot be read and written: {error}") from None


def _run(line: bytes, path: Path, number: int) -> Run:
    try:
        values = json.loads(line)
    except ValueError:
        values = None
    if not isinstance(values, dict) or set(values) != {f.name for f in fields(Run)}:
        raise DataError(_foreign(path, number))
    if not all(_fits(name, value) for name, value in values.items()):
        raise DataError(_foreign(path, number))
    return Run(**values)


def _fits(name: str, value: Any) -> bool:
    if name in ("key", "model"):
        return isinstance(value, str)
    if name == "trial":
        return is_whole(value, 0)
    return (name == "terminals" and value is None) or (isinstance(value, float) and math.isfinite(value))


def _foreign(path: Path, number: int) -> str:
    return f"{path}, line {number}: not a finished run of an experiment; name another file, or a new one"
