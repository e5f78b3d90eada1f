"""Settings from a TOML file: `--config file.toml` gives options their defaults, `--print-config` shows them all."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from telltree.cli.outcome import USAGE, fail
from telltree.cli.output import put
from telltree.likeness import alike
from telltree.small_files import read_small

_MOST_CHARACTERS = 100_000
_OWN = ("config", "print_config", "functions", "help")


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Use the contents of the file as the verb's defaults; the command line still takes precedence."""
    if path is None:
        return path
    from telltree.data.files.toml import parsed_toml

    try:
        found = parsed_toml(read_small(path), _MOST_CHARACTERS)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, not TOML, or too large
        fail(f"the configuration {path} cannot be read: {getattr(error, 'strerror', None) or error}", USAGE)
    options = _options(context)
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
    for key, option in _options(context).items():
        value = context.params.get(str(option.name))
        lines.append(f"# {key} =" if value is None else f"{key} = {_toml(value)}")
    return "\n".join(lines)


def _options(context: typer.Context) -> dict[str, Any]:
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
