"""Every error and warning telltree raises on purpose, under one root each."""

LONGEST_MESSAGE = 2_000
"""Characters. Messages quote what they complain about, which may be a name of millions."""


def shortened(text: str, most: int) -> str:
    """The text, without its middle if it has more than `most` characters: both ends of a message say what matters."""
    if len(text) <= most:
        return text
    gap = f" … ({len(text) - most:,} characters left out) … "
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
    """An English sentence cannot be read; `place` (from 1) is the character where that shows."""

    def __init__(self, message: str, place: int | None = None) -> None:
        super().__init__(message if place is None else f"character {place}: {message}")
        self.place = place


class OperatorError(TelltreeError, NotImplementedError):
    """An operator has a row in the table of operators, but some part of telltree does not know what it means there."""

    def __init__(self, operator: str, where: str) -> None:
        super().__init__(f"operator {operator!r} has no meaning in {where}; CONTRIBUTING.md lists where one is needed")


class SettingsError(TelltreeError, ValueError):
    """A parameter of a search, a fitness or an estimator has a value that makes no sense."""


class FunctionError(TelltreeError):
    """A user-defined function failed, or returned something of the wrong shape or type."""


class ClusterError(TelltreeError, RuntimeError):
    """A cluster of machines stopped answering, or a part of the work failed on every machine that tried it."""


class MissingLibraryError(TelltreeError, ImportError):
    """A library that telltree does without, but not here, is not installed; the message says how to install it."""


class ModelFormatError(TelltreeError, ValueError):
    """A model file is not one of telltree's, or is damaged."""


class ModelVersionError(ModelFormatError):
    """A model file was written by a newer telltree than this one."""


class CheckpointError(TelltreeError, ValueError):
    """A checkpoint is damaged, or of other data, settings or another version; the message says how to start afresh."""


class TelltreeWarning(UserWarning):
    """The root of all warnings telltree gives; they are no longer than its errors."""

    def __init__(self, message: str = "") -> None:
        super().__init__(shortened(message, LONGEST_MESSAGE))


class DataWarning(TelltreeWarning):
    """Something about the data that the user should know, but that stops nothing."""
