"""Warnings that point at the user's own line."""

import sys
import warnings

from telltree.errors import DataWarning


def warn(message: str) -> None:
    """Issue a DataWarning at the innermost line outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)
