"""Where results go: standard output, or a file that is checked before the work and written whole at its end."""

import csv
import io
import json
import math
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from telltree.cli.outcome import FAILURE, USAGE, fail
from telltree.cli.text import printable, wrapped
from telltree.spreadsheet import harmless
from telltree.visible import visible, visible_json


def check_output(path: Path | None, *, force: bool) -> None:
    """End with an error, before any work, if the file cannot be written, or exists and may not be overwritten."""
    if path is None:
        return
    from telltree.writing import require_writable, would_replace

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
        from telltree.writing import write_whole

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
    """The value with what JSON lacks replaced: keys other than text, NaN and infinity, NumPy's scalars."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
