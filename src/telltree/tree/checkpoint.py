"""Checkpoints: a file from which learning goes on after its process was killed.

It is written whole or not at all, and so seldom that it takes no more than a hundredth of the time.
"""

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError, SettingsError, TelltreeWarning
from telltree.search.search import Remember
from telltree.search.state import State
from telltree.tree.answer_state import answer_of, answer_state
from telltree.tree.asking import Answer, Asking, Task
from telltree.tree.checkpoint_file import Place, content_of, line_of, read_file, state_of
from telltree.tree.ledger import Ledger
from telltree.writing import is_device, remove_parts, require_writable, write_whole

EVERY = 1.0
"""Seconds between two writes, at least."""
SHARE = 0.01
"""Of the time that may go into writing: after a write that took a second there is none for the next hundred."""

Name = str | os.PathLike[str]
_CUTS, _UNSAID = "cuts", np.array([-1])


@contextmanager
def naming(path: Name) -> Iterator[None]:
    """CheckpointErrors from within name the file, and say what to do."""
    try:
        yield
    except CheckpointError as error:
        remedy = "to start afresh, delete the file or name another"
        raise CheckpointError(f"the checkpoint {os.fspath(path)!r}: {error}; {remedy}") from error


class Checkpoint:
    """What is known of the trees of one fit, in memory and in a file."""

    def __init__(self, path: Name) -> None:
        """Read the file, if it is there; find out whether it can be written."""
        self._path, self._about = Path(path), dict[str, str]()
        self._lines: dict[Place, bytes] = {}
        self._made: dict[Place, Callable[[], State]] = {}
        self._lock, self._next, self._warned = threading.RLock(), time.monotonic() + EVERY, False
        try:
            require_writable(path)
        except OSError as error:
            raise SettingsError(f"the checkpoint {os.fspath(path)!r} cannot be written: {error.strerror}") from None
        if is_device(self._path):
            raise SettingsError(f"the checkpoint {os.fspath(path)!r} must be a file, which can be replaced")
        self.found = self._path.exists()
        if self.found:
            self._about, self._lines = read_file(path)
            remove_parts(path)  # of writes that were killed

    def said(self, what: str) -> str | None:
        """What the file says of the fit that it is of."""
        return self._about.get(what)

    def require(self, about: Mapping[str, str]) -> None:
        """CheckpointError, in words, unless the file is of a fit of which this is true; a new file is from now on."""
        if self.found:
            _require_same(self._about, about)
        self._about = dict(about)

    def tree(self, number: int) -> Ledger:
        """The ledger of a tree."""
        return _TreeLedger(self, number)

    def state(self, place: Place) -> State | None:
        """What the file held of a place."""
        line = self._lines.get(place)
        return None if line is None else state_of(line)

    def remember(self, place: Place, make: Callable[[], State]) -> None:
        """Keep what `make` makes; it is called when the file is written, which is now if it is time for that."""
        with self._lock:
            due = time.monotonic() >= self._next
            if place.finished:
                self._lines.pop(place._replace(finished=False), None)
            if place.finished or due:
                self._made[place] = make
            if due:
                self.write()

    def write(self) -> None:
        """Write the file now. Where that fails, it is said once, and learning goes on: the file stays as it was."""
        with self._lock:
            began = time.monotonic()
            self._lines |= {place: line_of(place, make()) for place, make in self._made.items()}
            self._made.clear()
            try:
                write_whole(self._path, content_of(self._about, self._lines.values()))
            except (OSError, CheckpointError) as error:
                self._warn(getattr(error, "strerror", None) or str(error))
            now = time.monotonic()
            self._next = now + max(EVERY, (now - began) / SHARE)

    def _warn(self, reason: str) -> None:
        if not self._warned:
            message = f"the checkpoint {str(self._path)!r} cannot be written: {reason}; learning goes on without"
            warnings.warn(TelltreeWarning(message), stacklevel=2)
        self._warned = True


class _TreeLedger(Ledger):
    def __init__(self, checkpoint: Checkpoint, tree: int) -> None:
        self._checkpoint, self._tree = checkpoint, tree

    def answer(self, task: Task, asking: Asking) -> Answer | None:
        state = self._checkpoint.state(Place(self._tree, task.number, finished=True))
        return None if state is None else answer_of(state, task, asking)

    def under_way(self, task: Task, cuts: NDArray[np.int64]) -> tuple[State | None, Remember | None]:
        place = Place(self._tree, task.number, finished=False)
        state = self._checkpoint.state(place)
        if state is not None and not np.array_equal(state.pop(_CUTS, _UNSAID), cuts):
            state = None  # it was on another number of workers: the node begins again
        return state, lambda make: self._checkpoint.remember(place, lambda: {_CUTS: cuts, **make()})

    def finished(self, task: Task, answer: Answer) -> None:
        if answer.search is not None:
            place = Place(self._tree, task.number, finished=True)
            self._checkpoint.remember(place, lambda: answer_state(answer, task))


def _require_same(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """CheckpointError that says in which way two fits differ, if they do."""
    differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if differing:
        told = [_told(name, before.get(name, "nothing"), now.get(name, "nothing")) for name in differing]
        raise CheckpointError(f"it is of another fit: {'; '.join(told)}")


def _told(name: str, before: str, now: str) -> str:
    if "sha256:" in before + now:
        return f"{name} is not the same"
    return f"{name} was {before:.200}, and is {now:.200}"
