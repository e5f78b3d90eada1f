"""Settings from a TOML file: `--config file.toml` gives options their defaults, `--print-config` shows them all."""

import difflib
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from telltree.cli.outcome import USAGE, fail

_OWN = ("config", "print_config", "help")


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Make what the file says the defaults of the verb; what stands on the command line still goes first."""
    if path is None:
        return path
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        fail(f"the configuration {path} cannot be read: {getattr(error, 'strerror', None) or error}", USAGE)
    tables = {key: value for key, value in found.items() if isinstance(value, dict)}
    section = tables.get(context.info_name or "", {}) if tables else found  # a table a verb, or one verb's options
    known = _keys(context)
    settings = {}
    for key, value in section.items():
        name = key.replace("_", "-")
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            fail(
                f"the configuration {path} sets {key!r}, which `telltree {context.info_name}` does not know{hint}",
                USAGE,
            )
        settings[known[name]] = value
    context.default_map = {**(context.default_map or {}), **settings}
    return path


@dataclass(frozen=True)
class ConfigOptions:
    """Where options may come from, and a look at them."""

    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", is_eager=True, callback=_load, help="Take options from a TOML file."),
    ] = None
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the options in force as TOML, and end.")
    ] = False


class ConfigurableCommand(TyperCommand):
    """A verb that prints its options when asked to, and then needs no arguments."""

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        context.resilient_parsing |= "--print-config" in args
        return super().parse_args(context, args)

    def invoke(self, context: Any) -> Any:
        if not context.params.get("print_config"):
            return super().invoke(context)
        return print(_text(context))


def _text(context: typer.Context) -> str:
    """The options of the verb as TOML that `--config` reads; those without a value are comments."""
    lines = [f"[{context.info_name}]"]
    for key, name in _keys(context).items():
        value = context.params.get(name)
        lines.append(f"# {key} =" if value is None else f"{key} = {_toml(value)}")
    return "\n".join(lines)


def _keys(context: typer.Context) -> dict[str, str]:
    """The options that a file may set, as they are written there and on the command line: key -> parameter."""
    options = [option for option in context.command.params if option.opts[0].startswith("-")]
    return {option.opts[0].lstrip("-"): str(option.name) for option in options if option.name not in _OWN}


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(str(value), ensure_ascii=False)  # a JSON string is a TOML string too
