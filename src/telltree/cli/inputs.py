"""From the arguments of a verb to a panel, user functions and a cluster."""

import importlib.util
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.options import DataOptions
from telltree.cli.output import USAGE, fail, say
from telltree.errors import DataError, SettingsError

if TYPE_CHECKING:
    from types import ModuleType

    from distributed import Client

    from telltree.grammar import Grammar
    from telltree.logic import UserFunction
    from telltree.panel import Panel, Schema
    from telltree.tree.tree import Tree


# ---- The user functions of a model: from a Python file that the user names, and only then.

Functions = Annotated[
    Path | None,
    typer.Option(
        "--functions",
        metavar="FILE",
        help="A Python file with user functions that formulas call, each made by @user_function. The file is run.",
    ),
]


def functions_in(file: Path | None) -> "list[UserFunction]":
    """The user functions that a Python file defines or imports, in their order there; none if no file is named."""
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


def _run(file: Path) -> "ModuleType":
    """Run the file as a module of its own."""
    try:
        source = file.read_bytes()
    except OSError as error:
        fail(f"--functions {file} cannot be read: {error.strerror or error}", USAGE)
    spec = importlib.util.spec_from_loader("telltree_user_functions", loader=None, origin=str(file))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # dataclasses look there for what they are part of
    try:
        exec(compile(source, str(file), "exec"), vars(module))  # noqa: S102 - the user names the file to run
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever the user's code raises, SystemExit included
        fail(f"--functions {file}{_line(error, file)}: {type(error).__name__}: {error}", USAGE)
    return module


def _line(error: BaseException, file: Path) -> str:
    """Where in the file an error came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    own = error.lineno if isinstance(error, SyntaxError) else None
    number = own or (lines[-1] if lines else None)
    return "" if number is None else f", line {number}"


# ---- From the arguments of a verb to a panel.

_NOT_SCANNED = ("every", "how", "repeated", "wide")


def read_sources(sources: list[str], options: DataOptions, like: "Schema | None" = None) -> "tuple[Panel, Any]":
    """The panel, and the labels or None; columns that are categorical in a model's schema, `like`, are so here."""
    from telltree.panel import read, scan

    chosen = {
        "columns": options.columns or None,
        "drop": options.drop or (),
        "static": options.static or (),
    }  # an option not given is an empty list
    given: dict[str, Any] = {**vars(options), **chosen, "like": like}
    source: Any = sources[0] if len(sources) == 1 else sources
    if not given.pop("scan"):
        return read(source, **given)
    for name in _NOT_SCANNED:
        if given.pop(name) != getattr(DataOptions(), name):
            raise SettingsError(f"--scan reads rows as they stand, without --{name}; leave out one of the two")
    return scan(source, **given)


def as_learnt(sources: list[str], options: DataOptions, tree: "Tree") -> DataOptions:
    """The options, completed by how the tree's training data were read; reports what was added.

    In a folder, or among several files, each file may be one record: only the user can say, by --id.
    """
    from telltree.panel.open_files import files_of

    several = len(sources) > 1 or (sources[0] != "-" and files_of(sources[0])[1])
    nameless = sources[0].lower().endswith((".ts", ".ts.gz"))
    own = {"id"} if several else {"id", "time"} if nameless else set()
    usual = DataOptions()
    added = {
        name: value
        for name, value in tree.how_read.given().items()
        if getattr(options, name) == getattr(usual, name) and name not in own
    }
    if added:
        told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in added.items())
        say(f"reading as the model's training data were read: {told}")
    return replace(options, **added)


def read_labelled(sources: list[str], options: DataOptions) -> "tuple[Panel, Any]":
    """The panel and the labels, which are required."""
    panel, labels = read_sources(sources, options)
    if labels is None:
        raise DataError("there are no labels: name their column with --label, or their table with --labels")
    return panel, labels


def id_heading(options: DataOptions, others: Collection[str]) -> str:
    """The heading of the id column in results: as in the data, unless another column of the table has that name."""
    return options.id if options.id is not None and options.id not in others else "record"


# ---- What a grammar leaves out of the data.

_SHOWN = 10  # columns that are named


def say_left_out(grammar: "Grammar | None") -> None:
    """Say which columns are left out, why, and how to bring them back, and what else; nothing if nothing is."""
    from telltree.panel.usable import remedies

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
    """A client of the cluster at an address; None if no address was given."""
    if address is None:
        yield None
        return
    from telltree.scale.dask import connected

    with connected(address) as client:
        yield client
