"""Options that several verbs share, configuration files, and how results and errors leave the program."""

import csv
import dataclasses
import functools
import inspect
import io
import json
import logging
import math
import os
import re
import shutil
import sys
import textwrap
import typing
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from typer.core import TyperCommand

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
from telltree.files import read_small
from telltree.text import alike, harmless, visible, visible_json

# ---- Text for people: no text from data may control a terminal.


def printable(text: str) -> str:
    """The text with control characters escaped, and those that have no width, which a terminal may obey."""
    return visible("".join(_escape(c) if unicodedata.category(c) == "Cf" else c for c in text))


def one_line(text: str) -> str:
    """The text with line ends and tabs escaped too, for a cell of a table."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of text, as wide as needed."""
    lines = [list(head), *([one_line(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


# What may precede the words of a line: blanks, the bars of a tree, an answer, a number.
_MARGIN = re.compile(r"[ │├└─]*(?:yes: |no:  )?(?:\[\d+\] )?")
_LEAST = 20  # columns left for words, at any depth


def wrapped(text: str, width: int) -> str:
    """The text wrapped at this many columns; the bars of a tree continue beside wrapped lines."""
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


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


# ---- How a verb ends: errors become one line on stderr and an exit code, warnings become lines, Ctrl-C leaves 130.

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
    """One remark to the user, on stderr; nothing if stderr is closed."""
    if sys.stderr is None:  # print would use stdout instead
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
        except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            fail(f"{error.filename or 'input or output'}: {error.strerror or error}", FAILURE)

    return run


def _listen() -> None:
    """Turn warnings and log messages of the library into single lines on stderr."""

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


# ---- Where results go: standard output, or a file that is checked before the work and written whole at its end.


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


# ---- Settings from a TOML file: `--config file.toml` gives options their defaults, `--print-config` shows them all.

_MOST_CHARACTERS = 100_000
_OWN = ("config", "print_config", "functions", "help")


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Use the contents of the file as the verb's defaults; the command line still takes precedence."""
    if path is None:
        return path
    from telltree.files import parsed_toml

    try:
        found = parsed_toml(read_small(path), _MOST_CHARACTERS)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, not TOML, or too large
        fail(f"the configuration {path} cannot be read: {getattr(error, 'strerror', None) or error}", USAGE)
    options = _options_of(context)
    settings = {}
    for key, value in _section(context, path, found).items():
        name = key.replace("_", "-")
        if name == "functions":  # no file runs code: only who gives the command may say what to run
            _refuse(path, "sets 'functions', which runs code: give --functions on the command line")
        if name not in options:
            _refuse(path, f"sets {key!r}, which `telltree {context.info_name}` does not know", name, options)
        several = options[name].multiple and not isinstance(value, list)
        settings[str(options[name].name)] = [value] if several else value
    context.default_map = {**(context.default_map or {}), **settings}
    return path


def _section(context: typer.Context, path: Path, found: dict[str, Any]) -> dict[str, Any]:
    """The settings for a verb: its table, or the whole file if there are no tables."""
    if not any(isinstance(value, dict) for value in found.values()):
        return found
    verbs: Any = context.parent.command.commands if context.parent else {}  # type: ignore[attr-defined]
    for name, value in found.items():
        if not isinstance(value, dict):
            _refuse(path, f"sets {name!r} outside of tables such as [{context.info_name}]")
        if name not in verbs:
            _refuse(path, f"has a table [{name}], but there is no such verb", name, verbs)
    return dict(found.get(str(context.info_name), {}))


def _refuse(path: Path, what: str, name: str = "", known: Iterable[str] = ()) -> NoReturn:
    near = alike(name, known)
    hint = f"; did you mean {near[0]}?" if near else ""
    fail(f"the configuration {path} {what}{hint}", USAGE)


@dataclass(frozen=True)
class ConfigOptions:
    """Where options may come from, and how to show them."""

    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", is_eager=True, callback=_load, help="Take options from a TOML file."),
    ] = None
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the options in force as TOML, and end.")
    ] = False


class ConfigurableCommand(TyperCommand):
    """A verb that prints its options on request, and then needs no arguments."""

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        if "--print-config" in args:
            for parameter in self.params:
                parameter.required = False
        return super().parse_args(context, args)

    def invoke(self, context: Any) -> Any:
        if not context.params.get("print_config"):
            return super().invoke(context)
        return put(_text(context), exact=True)


def _text(context: typer.Context) -> str:
    """The options of the verb as TOML that `--config` reads; those without a value are comments."""
    lines = [f"[{context.info_name}]"]
    for key, option in _options_of(context).items():
        value = context.params.get(str(option.name))
        lines.append(f"# {key} =" if value is None else f"{key} = {_toml(value)}")
    return "\n".join(lines)


def _options_of(context: typer.Context) -> dict[str, Any]:
    """The options that a file may set, by their names there and on the command line."""
    options = [option for option in context.command.params if option.opts[0].startswith("-")]
    return {option.opts[0].lstrip("-"): option for option in options if option.name not in _OWN}


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # a JSON string is a TOML string too, except for DEL
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


# ---- Options that several verbs share: each group is a dataclass whose fields become options of the verb.

Source = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="A long table (CSV, gzipped CSV, Parquet), a .ts file, a directory or several files with one record each, "
        "or - for standard input.",
        show_default=False,
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that `telltree fit` wrote.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write here instead of to standard output.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output file if it exists.")]
InStyle = Annotated[
    Literal["plain", "paper"], typer.Option("--style", help="Tell in plain English, or in the paper's form.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


def _column(says: str, *names: str) -> Any:
    return typer.Option(*names, metavar="COLUMN", help=says)


@dataclass(frozen=True)
class DataOptions:
    """How to read the data."""

    id: Annotated[str | None, _column("Tells records apart.")] = None
    time: Annotated[str | None, _column("Holds times; rows are sorted by it.")] = None
    label: Annotated[str | None, _column("Holds labels, one value a record.")] = None
    labels: Annotated[
        str | None, typer.Option(metavar="FILE", help="Table with a label for each record id, if not in the data.")
    ] = None
    drop_unlabelled: Annotated[
        bool, typer.Option("--drop-unlabelled", help="Leave out records without a label, which are an error else.")
    ] = False
    columns: Annotated[list[str] | None, _column("To learn from (repeatable); by default all.", "--column")] = None
    drop: Annotated[list[str] | None, _column("Not to learn from (repeatable).", "--drop")] = None
    static: Annotated[list[str] | None, _column("Has one value a record (repeatable).", "--static")] = None
    schema: Annotated[
        str | None, typer.Option(metavar="FILE", help="What columns are, as `telltree inspect -o` writes it.")
    ] = None
    period: Annotated[float | None, typer.Option(metavar="NUMBER", help="Time between steps.")] = None
    time_unit: Annotated[str | None, typer.Option(metavar="UNIT", help="Unit of times, such as s.")] = None
    time_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help='How dates are written, such as "%d.%m.%Y %H:%M".')
    ] = None
    day_first: Annotated[
        bool | None,
        typer.Option(
            "--day-first/--month-first",
            help="Dates such as 3/4/2025 begin with the day, or the month; by default as the rows tell.",
        ),
    ] = None
    repeated: Annotated[
        Literal["error", "first", "last", "mean"],
        typer.Option(help="What to make of rows that repeat a time of their record; --every resolves them too."),
    ] = "error"
    every: Annotated[
        str | None, typer.Option(metavar="TIME", help="Resample to even steps of this length, such as 1s.")
    ] = None
    how: Annotated[
        Literal["last", "mean", "any"], typer.Option(help="How to make one value of those that fall into a step.")
    ] = "last"
    missing: Annotated[Literal["allow", "error"], typer.Option(help="What to do with missing values.")] = "allow"
    wide: Annotated[
        bool, typer.Option("--wide", help="Each row is a record, each column a step; the label may come first.")
    ] = False
    scan: Annotated[
        bool, typer.Option("--scan", help="Leave values on disk: for files larger than memory, in order of records.")
    ] = False
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of CSV files, such as cp1252; by default UTF-8.")
    ] = None


@dataclass(frozen=True)
class LogicOptions(DataOptions):
    """How to read the data, and what conditions mean where values are missing."""

    missing: Annotated[
        Literal["allow", "error", "unknown"],
        typer.Option(
            help="What to do with missing values: a condition on one is false, or with unknown neither true nor false; "
            "in a tree, a record whose answer is unknown goes where more training records went, and learning "
            "takes 30 to 200 times as long. error refuses them."
        ),
    ] = "allow"  # type: ignore[assignment]  # it may be one thing more

    @property
    def reading(self) -> DataOptions:
        """How to read the data alone."""
        return replace(self, missing="allow") if self.missing == "unknown" else self


def expanded(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with each dataclass parameter replaced by the fields of the dataclass, as options.

    Every verb also gets the options of ConfigOptions.
    """
    hints = typing.get_type_hints(verb, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in inspect.signature(verb).parameters.values():
        hint = hints[parameter.name]
        if dataclasses.is_dataclass(hint):
            assert isinstance(hint, type)
            groups[parameter.name] = hint
            parameters += _options(hint)
        else:
            parameters.append(parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY))
    parameters += _options(ConfigOptions)

    def run(**values: Any) -> None:
        del values["config"], values["print_config"]  # already applied
        packed = {
            name: group(**{field.name: values.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        verb(**values, **packed)

    run.__name__, run.__doc__ = verb.__name__, verb.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(group)
    ]
