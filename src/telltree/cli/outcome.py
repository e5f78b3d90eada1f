"""How a verb ends: errors become one line on stderr and an exit code, warnings become lines, Ctrl-C leaves 130."""

import functools
import logging
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from telltree.cli.text import printable
from telltree.errors import (
    LONGEST_MESSAGE,
    CheckpointError,
    DataError,
    GrammarError,
    ModelFormatError,
    SettingsError,
    SpeechError,
    TelltreeError,
    shortened,
)

FAILURE, USAGE, DATA, MODEL, INTERRUPTED = 1, 2, 3, 4, 130
_CODES: tuple[tuple[type[TelltreeError], int], ...] = (
    (ModelFormatError, MODEL),
    (CheckpointError, MODEL),
    (DataError, DATA),
    (GrammarError, USAGE),
    (SpeechError, USAGE),
    (SettingsError, USAGE),
    (TelltreeError, FAILURE),
)


def say(message: str) -> None:
    """One remark to the user, on stderr; to nobody where that is closed."""
    if sys.stderr is None:  # and print would take stdout for it
        return
    print(printable(message), file=sys.stderr, flush=True)


def fail(message: str, code: int) -> NoReturn:
    """End with an error."""
    say(f"telltree: error: {shortened(message, LONGEST_MESSAGE)}")
    raise typer.Exit(code)


def ending_well(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb whose errors, warnings and interruptions end as users of a command line expect."""

    @functools.wraps(verb)
    def run(*args: Any, **kwargs: Any) -> None:
        _listen()
        try:
            verb(*args, **kwargs)
            if sys.stdout is not None:
                sys.stdout.flush()
        except TelltreeError as error:
            fail(str(error), next(code for kind, code in _CODES if isinstance(error, kind)))
        except KeyboardInterrupt:
            say("telltree: interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            fail(f"{error.filename or 'input or output'}: {error.strerror or error}", FAILURE)

    return run


def _listen() -> None:
    """Warnings and what the library logs become single lines on stderr."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        say(f"telltree: warning: {message}")

    warnings.showwarning = show
    logger = logging.getLogger("telltree")
    if not logger.handlers:
        logger.addHandler(_Lines())
        logger.propagate = False


class _Lines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())
