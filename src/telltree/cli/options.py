"""Options that several verbs share, and configuration files that set options."""

import dataclasses
import inspect
import json
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from typer.core import TyperCommand

from telltree.cli.output import USAGE, fail, put
from telltree.files import parsed_toml, read_small
from telltree.text import alike

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


def _column(text: str, *names: str) -> Any:
    return typer.Option(*names, metavar="COLUMN", help=text)


@dataclass(frozen=True)
class DataOptions:
    """Options for reading the data."""

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
    """Options for reading the data, and for the meaning of conditions on missing values."""

    missing: Annotated[
        Literal["allow", "error", "unknown"],
        typer.Option(
            help="What to do with missing values: a condition on one is false, or with unknown neither true nor false; "
            "in a tree, a record whose answer is unknown goes where more training records went, and learning "
            "takes 30 to 200 times as long. error refuses them."
        ),
    ] = "allow"  # type: ignore[assignment]  # one more value than in DataOptions

    @property
    def reading(self) -> DataOptions:
        """The options for reading alone."""
        return replace(self, missing="allow") if self.missing == "unknown" else self


# ---- Groups of options: dataclasses whose fields become options of a verb.


def expanded(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the verb with each dataclass parameter replaced by the fields of the dataclass, as options.

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


# ---- Configuration files.

_MOST_CHARACTERS = 100_000
_OWN = ("config", "print_config", "functions", "help")


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Make the contents of the file the verb's defaults; the command line still takes precedence."""
    if path is None:
        return path
    try:
        found = parsed_toml(read_small(path), _MOST_CHARACTERS)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, not TOML, or too large
        fail(f"the configuration {path} cannot be read: {getattr(error, 'strerror', None) or error}", USAGE)
    options = _options_of(context)
    settings = {}
    for key, value in _section(context, path, found).items():
        name = key.replace("_", "-")
        if name == "functions":  # a configuration must not run code: only the command line may name what to run
            _refuse(path, "sets 'functions', which runs code: give --functions on the command line")
        if name not in options:
            _refuse(path, f"sets {key!r}, which `telltree {context.info_name}` does not know", name, options)
        several = options[name].multiple and not isinstance(value, list)
        settings[str(options[name].name)] = [value] if several else value
    context.default_map = {**(context.default_map or {}), **settings}
    return path


def _section(context: typer.Context, path: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Return the settings for a verb: its table, or the whole file if there are no tables."""
    if not any(isinstance(value, dict) for value in found.values()):
        return found
    verbs: Any = context.parent.command.commands if context.parent else {}  # type: ignore[attr-defined]
    for name, value in found.items():
        if not isinstance(value, dict):
            _refuse(path, f"sets {name!r} outside of tables such as [{context.info_name}]")
        if name not in verbs:
            _refuse(path, f"has a table [{name}], but there is no such verb", name, verbs)
    return dict(found.get(str(context.info_name), {}))


def _refuse(path: Path, problem: str, name: str = "", known: Iterable[str] = ()) -> NoReturn:
    near = alike(name, known)
    hint = f"; did you mean {near[0]}?" if near else ""
    fail(f"the configuration {path} {problem}{hint}", USAGE)


def _options_of(context: typer.Context) -> dict[str, Any]:
    """Return the options that a file may set, by their names there and on the command line."""
    options = [option for option in context.command.params if option.opts[0].startswith("-")]
    return {option.opts[0].lstrip("-"): option for option in options if option.name not in _OWN}


@dataclass(frozen=True)
class ConfigOptions:
    """Options that every verb has: a file to take options from, and a way to print them."""

    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", is_eager=True, callback=_load, help="Take options from a TOML file."),
    ] = None
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the options in force as TOML, and end.")
    ] = False


class ConfigurableCommand(TyperCommand):
    """A verb that prints its options on request; it then needs no arguments."""

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
    """Return the options of the verb as TOML that `--config` reads; those without a value are comments."""
    lines = [f"[{context.info_name}]"]
    for key, option in _options_of(context).items():
        value = context.params.get(str(option.name))
        lines.append(f"# {key} =" if value is None else f"{key} = {_toml(value)}")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # a JSON string is a TOML string too, except for DEL
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
