"""Putting off the garbage collector while a grammar is made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_later() -> Iterator[None]:
    """Collect no garbage meanwhile: thousands of columns make a million small objects, none of them in a cycle, and the
    collector would go over all that the process holds again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
