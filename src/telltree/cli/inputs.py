"""Inputs of a verb: user functions, records and labels, and a Dask cluster."""

import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.options import DataOptions
from telltree.cli.output import USAGE, fail, say
from telltree.errors import DataError, SettingsError

if TYPE_CHECKING:
    from types import CodeType, ModuleType

    from distributed import Client

    from telltree.grammar import Grammar
    from telltree.logic import UserFunction
    from telltree.panel import Panel, Schema
    from telltree.tree.tree import Tree


# ---- User functions, from a Python file that is run. Only the command line may name it, no model or configuration.

Functions = Annotated[
    Path | None,
    typer.Option(
        "--functions",
        metavar="FILE",
        help="A Python file with user functions that formulas call, each made by @user_function. The file is run.",
    ),
]


def functions_in(file: Path | None) -> "list[UserFunction]":
    """Return the user functions that a Python file defines or imports, in order; none without a file."""
    if file is None:
        return []
    from telltree.logic import UserFunction

    found: dict[str, UserFunction] = {}
    for value in vars(_run(file)).values():
        if isinstance(value, UserFunction) and found.setdefault(value.name, value) != value:
            fail(f"--functions {file}: two different functions are called {value.name!r}; rename one", USAGE)
    if not found:
        fail(f"--functions {file} has no user functions: mark them with @telltree.user_function(...)", USAGE)
    return list(found.values())


class _SourceLoader(SourceFileLoader):
    """A loader of one Python file that neither reads nor leaves bytecode beside it."""

    def __init__(self, name: str, file: Path) -> None:
        super().__init__(name, str(file))
        self._source = file.read_bytes()

    def get_code(self, fullname: str) -> "CodeType":
        return self.source_to_code(self._source, self.path)


def _run(file: Path) -> "ModuleType":
    try:
        loader = _SourceLoader("telltree_user_functions", file)
    except OSError as error:
        fail(f"--functions {file} cannot be read: {error.strerror or error}", USAGE)
    spec = spec_from_file_location(loader.name, file, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look up their module there
    try:
        loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises, SystemExit included
        fail(f"--functions {file}{_line(error, file)}: {type(error).__name__}: {error}", USAGE)
    return module


def _line(error: BaseException, file: Path) -> str:
    """Return the line of the file that raised the error: ", line 3"."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    syntax = error.lineno if isinstance(error, SyntaxError) else None
    number = syntax or (lines[-1] if lines else None)
    return "" if number is None else f", line {number}"


# ---- Records and labels.

_NOT_SCANNED = ("every", "how", "repeated", "wide")


def read_sources(sources: list[str], options: DataOptions, like: "Schema | None" = None) -> "tuple[Panel, Any]":
    """Return the panel, and the labels or None; columns that are categorical in the schema `like` are so here."""
    from telltree.panel import read, scan

    lists = {
        "columns": options.columns or None,
        "drop": options.drop or (),
        "static": options.static or (),
    }  # an option not given is an empty list
    given: dict[str, Any] = {**vars(options), **lists, "like": like}
    source: Any = sources[0] if len(sources) == 1 else sources
    if not given.pop("scan"):
        return read(source, **given)
    for name in _NOT_SCANNED:
        if given.pop(name) != getattr(DataOptions(), name):
            raise SettingsError(f"--scan reads rows as they stand, without --{name}; leave out one of the two")
    return scan(source, **given)


def as_learnt(sources: list[str], options: DataOptions, tree: "Tree") -> DataOptions:
    """Return the options, completed by how the tree's training data were read, with a remark on what was added.

    In a folder, or among several files, each file may be one record, so --id is never added there.
    """
    from telltree.panel.input_files import files_of

    several = len(sources) > 1 or (sources[0] != "-" and files_of(sources[0])[1])
    nameless = sources[0].lower().endswith((".ts", ".ts.gz"))
    excluded = {"id"} if several else {"id", "time"} if nameless else set()
    defaults = DataOptions()
    added = {
        name: value
        for name, value in tree.how_read.given().items()
        if getattr(options, name) == getattr(defaults, name) and name not in excluded
    }
    if added:
        listed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in added.items())
        say(f"reading as the model's training data were read: {listed}")
    return replace(options, **added)


def read_labelled(sources: list[str], options: DataOptions) -> "tuple[Panel, Any]":
    """Return the panel and the labels; DataError if there are none."""
    panel, labels = read_sources(sources, options)
    if labels is None:
        raise DataError("there are no labels: name their column with --label, or their table with --labels")
    return panel, labels


def id_heading(options: DataOptions, others: Collection[str]) -> str:
    """Return the heading of the id column in results: as in the data, unless another column of the table has it."""
    return options.id if options.id is not None and options.id not in others else "record"


# ---- Columns that a grammar leaves out.

_SHOWN = 10  # columns named in a remark


def say_left_out(grammar: "Grammar | None") -> None:
    """Print a remark on the columns that are left out: why, and how to bring them back."""
    from telltree.panel.column_checks import remedies

    left_out = {} if grammar is None else grammar.left_out
    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:_SHOWN]]
    more = f" and {len(left_out) - _SHOWN} more; `telltree inspect` lists them all" if len(left_out) > _SHOWN else ""
    if left_out:
        say("\n".join([f"columns left out: {', '.join(shown)}{more}", *remedies(left_out)]))
    if grammar is not None and grammar.unsaid:
        say(f"not asked: {grammar.unsaid}")


# ---- The option that hands work to a Dask cluster.

Dask = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Use the workers of the Dask scheduler at this address."),
]


@contextmanager
def client_of(address: str | None) -> "Iterator[Client | None]":
    """Yield a client of the cluster at this address, or None without an address."""
    if address is None:
        yield None
        return
    from telltree.scale.dask import connected

    with connected(address) as client:
        yield client
