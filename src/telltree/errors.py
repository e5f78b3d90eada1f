"""Every error and warning telltree raises on purpose, under one root each."""

import sys
import warnings

# ---- Every error and warning telltree raises on purpose, under one root each.

LONGEST_MESSAGE = 2_000
"""Characters. Messages quote their subject, which may be a name of millions of characters."""


def shortened(text: str, most: int) -> str:
    """Return the text, without its middle if it has more than `most` characters: both ends of a message matter."""
    if len(text) <= most:
        return text
    left = len(text) - most
    gap = f" … ({left:,} character{'s' if left > 1 else ''} left out) … "
    return text[: (most + 1) // 2] + gap + text[len(text) - most // 2 :]


class TelltreeError(Exception):
    """The root of all errors telltree raises on purpose. No message is much longer than a page."""

    def __init__(self, message: object = "") -> None:
        super().__init__(shortened(str(message), LONGEST_MESSAGE))


class DataError(TelltreeError, ValueError):
    """The data cannot be used as it is; the message names the column or record and the remedy."""


class GrammarError(TelltreeError, ValueError):
    """A grammar or formula is wrong; `line` and `column` (from 1) point at the place when it came from text."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        place = "" if line is None else f"line {line}, column {column}: "
        super().__init__(place + message)
        self.line = line
        self.column = column


class SpeechError(TelltreeError, ValueError):
    """An English sentence cannot be read.

    `place` (from 1) is the character at which reading failed; `suggestion` is the nearest sentence that can be read, if
    there is one.
    """

    def __init__(self, message: str, place: int | None = None, suggestion: str | None = None) -> None:
        text = message if place is None else f"character {place}: {message}"
        super().__init__(text if suggestion is None else f"{text}; try: {suggestion}")
        self.message, self.place, self.suggestion = message, place, suggestion


class OperatorError(TelltreeError, NotImplementedError):
    """An operator is in the table of operators, but some part of telltree does not support it."""

    def __init__(self, operator: str, where: str) -> None:
        super().__init__(f"operator {operator!r} has no meaning in {where}; CONTRIBUTING.md lists where one is needed")


class SettingsError(TelltreeError, ValueError):
    """A parameter of a search, a criterion or an estimator has an invalid value."""


class FunctionError(TelltreeError):
    """A user-defined function failed, or returned something of the wrong shape or type."""


class ClusterError(TelltreeError, RuntimeError):
    """A cluster of machines stopped answering, or a part of the work failed on every machine that tried it."""


class MissingLibraryError(TelltreeError, ImportError):
    """An optional library that is needed here is not installed; the message says how to install it."""


class ModelFormatError(TelltreeError, ValueError):
    """A model file is not one of telltree's, or is damaged."""


class ModelVersionError(ModelFormatError):
    """A model file was written by a newer telltree than this one."""


class CheckpointError(TelltreeError, ValueError):
    """A checkpoint is damaged, or belongs to other data, settings or another version; the message says how to start
    afresh.
    """


class TelltreeWarning(UserWarning):
    """The root of all warnings that telltree issues; they are no longer than its errors."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, LONGEST_MESSAGE))


class DataWarning(TelltreeWarning):
    """A peculiarity of the data that the user should know of, but that does not stop the work."""


# ---- Warnings that point at the user's own line.


def warn(message: str) -> None:
    """Issue a DataWarning at the innermost line outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)
