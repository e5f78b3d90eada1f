"""Pause the garbage collector while a grammar is built."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_later() -> Iterator[None]:
    """Pause the garbage collector: thousands of columns make a million small objects, none of them in a cycle, and the
    collector would scan every object of the process again and again.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
