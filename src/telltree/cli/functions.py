"""The user functions of a model: from a Python file that the user names, and only then."""

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from telltree.cli.outcome import USAGE, fail

if TYPE_CHECKING:
    from types import ModuleType

    from telltree.operators import UserFunction

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
    from telltree.operators import UserFunction

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
