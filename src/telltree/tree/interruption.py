"""Ctrl-C while learning: noted at once, acted on where nothing is half done."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class Interruption:
    """While it is entered, a first Ctrl-C only sets `asked`; a second one interrupts as usual.

    Signals reach only the main thread; in other threads nothing is noted.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None
        self._cuts = False

    def __enter__(self) -> "Interruption":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def unless_asked(self, work: Callable[[], T]) -> T | None:
        """Return the result of work that may be left at any moment; None if Ctrl-C came, during the work or before."""
        try:
            try:
                self._cuts = True
                return None if self.asked else work()
            finally:
                self._cuts = False
        except KeyboardInterrupt:
            self.asked = True
            return None

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        if again or self._cuts:
            raise KeyboardInterrupt
