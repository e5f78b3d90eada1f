"""Output of the program: results on stdout or in files, remarks and errors on stderr, exit codes."""

import csv
import functools
import io
import json
import logging
import math
import os
import re
import shutil
import sys
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import typer

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
from telltree.text import harmless, visible, visible_json

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
    """Print a remark on stderr; do nothing if stderr is closed."""
    if sys.stderr is None:  # print would then use stdout
        return
    print(printable(message), file=sys.stderr, flush=True)


def fail(message: str, code: int) -> NoReturn:
    """Print an error and end with this exit code."""
    say(f"telltree: error: {shortened(message, LONGEST_MESSAGE)}")
    raise typer.Exit(code)


def with_exit_codes(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the verb with errors and warnings as lines on stderr, and an exit code for each kind of error."""

    @functools.wraps(verb)
    def run(*args: Any, **kwargs: Any) -> None:
        _show_warnings()
        try:
            verb(*args, **kwargs)
            if sys.stdout is not None:
                sys.stdout.flush()
        except TelltreeError as error:
            fail(str(error), next(code for kind, code in _CODES if isinstance(error, kind)))
        except KeyboardInterrupt:
            say("telltree: interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            fail(f"{error.filename or 'input or output'}: {error.strerror or error}", FAILURE)

    return run


def _show_warnings() -> None:
    """Show warnings and log messages of the library as single lines on stderr."""

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


# ---- Results: to standard output, or to a file that is checked before the work and written at once after it.


def check_output(path: Path | None, *, force: bool) -> None:
    """End with an error, before any work, if the file cannot be written, or exists and may not be overwritten."""
    if path is None:
        return
    from telltree.files import require_writable, would_replace

    if would_replace(path) and not force:
        fail(f"{path} exists; give --force to overwrite it, or another name", USAGE)
    try:
        require_writable(path)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}", FAILURE)


def put(text: str, path: Path | None = None, *, exact: bool = False, wrap: bool = False) -> None:
    """Print a result, or write it to a file.

    `exact` output is for machines and is not altered. With `wrap`, long lines are folded to the width of the terminal,
    if it is one.
    """
    if not text.endswith("\n"):
        text += "\n"
    if path is not None:
        from telltree.files import write_whole

        shown = text if exact else visible(text)
        write_whole(path, shown.encode("utf-8", "backslashreplace"))  # an id may be a file name that is not valid text
        return
    if sys.stdout is None:
        fail("standard output is closed", FAILURE)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ∧ shows question marks instead
    terminal = sys.stdout.isatty()
    shown = text if exact and not terminal else printable(text)
    sys.stdout.write(wrapped(shown, shutil.get_terminal_size().columns) if wrap and terminal else shown)


def put_json(value: Any, path: Path | None = None) -> None:
    """Print a value as JSON, or write it to a file."""
    put(visible_json(json.dumps(_plain(value), ensure_ascii=False, indent=2, allow_nan=False)), path, exact=True)


def put_csv(head: Sequence[str], rows: Iterable[Sequence[Any]], path: Path | None = None) -> None:
    """Print a table as CSV, or write it to a file; no cell is a spreadsheet formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, head))
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    put(text.getvalue(), path, exact=True)


def _plain(value: Any) -> Any:
    """Replace what JSON lacks: keys other than text, NaN and infinity, NumPy's scalars."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# ---- Text for people. Text from data must not control a terminal.


def printable(text: str) -> str:
    """Escape control characters and characters without width, which a terminal may obey."""
    return visible("".join(_escape(c) if unicodedata.category(c) == "Cf" else c for c in text))


def one_line(text: str) -> str:
    """Escape line ends and tabs too, for a cell of a table."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in plain text; columns are as wide as needed."""
    lines = [list(head), *([one_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


# Anything before the words of a line: blanks, the bars of a tree, an answer, a number.
_MARGIN = re.compile(r"[ │├└─]*(?:yes: |no:  )?(?:\[\d+\] )?")
_LEAST = 20  # columns left for words, at any depth


def wrapped(text: str, width: int) -> str:
    """Wrap the text at this many columns; the bars of a tree continue beside wrapped lines."""
    return "\n".join("\n".join(_folded(line, width)) for line in text.split("\n"))


def _folded(line: str, width: int) -> list[str]:
    margin = _MARGIN.match(line)
    first = margin[0] if margin else ""
    rest = "".join("│" if c in "├│" else " " for c in first)
    words = line[len(first) :]
    room = max(width - len(first), _LEAST)
    pieces = textwrap.wrap(
        words, room, break_long_words=False, break_on_hyphens=False, expand_tabs=False, replace_whitespace=False
    )
    return [line] if len(words) <= room else [(rest if i else first) + piece for i, piece in enumerate(pieces)]
