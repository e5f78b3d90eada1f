"""Schemas as TOML files, for people to edit."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from telltree.errors import DataError
from telltree.panel.open_files import File
from telltree.panel.schema import TEXTS, Column, ColumnType, Schema, checked_fields, require_known

# ---- TOML from any source: its size is checked before it is parsed, and it raises only one kind of error.

MOST_CHARACTERS = 4_000_000
"""A schema of ten thousand columns has two million."""
MOST_ITEMS = 200_000
"""Of all lists together."""
MOST_TABLES, MOST_KEYS, MOST_LINES = 25_000, 100_000, 400_000
"""Of a text. The schema that telltree writes of twenty thousand columns has a table and ten lines for each of them."""
_MOST_PARTS = 16
"""The most parts of one key: `a.b.c` has three. Parsing takes time that grows with their square."""
_ASIDE = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    r"|'''(?:[^']++|'(?!''))*+'''"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+",
    re.DOTALL,
)
_TABLE = re.compile(r"^[ \t]*+\[", re.MULTILINE)
_LONG_KEY = re.compile(rf'(?:\.[ \t]*+[\w"-]*+[ \t]*+){{{_MOST_PARTS}}}')


class TomlError(ValueError):
    """What is wrong with a text that should be TOML; the caller says which text it was."""


def parsed_toml(text: str, most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """The content of a text of at most `most` characters; TomlError if it is not TOML, or too large."""
    if len(text) > most:
        raise TomlError(f"it has {len(text):,} characters; at most {most:,} are read")
    bare = _ASIDE.sub('""', text)
    for what, found, bound in (
        ("items in its lists", bare.count(","), MOST_ITEMS),
        ("tables", len(_TABLE.findall(bare)), MOST_TABLES),
        ("keys", bare.count("="), MOST_KEYS),
        ("lines", text.count("\n"), MOST_LINES),
    ):
        if found > bound:
            raise TomlError(f"it has {found:,} {what}; at most {bound:,} are read: leave out what is not needed")
    if _LONG_KEY.search(bare):
        raise TomlError(f"a key in it has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"it is not TOML: {error}") from None
    except RecursionError:
        raise TomlError("its lists or tables are nested too deeply") from None
    except ValueError:  # Python parses no integers of more than 4,300 digits
        raise TomlError("it has a number of thousands of digits") from None


# ---- Schemas as TOML files, for people to edit.

HEAD = """\
# What each column is. Edit it, and hand it back as the schema when the data are read; what is left out is inferred.
#   type        "real", "Boolean" or "categorical"
#   kind        the physical quantity, such as "altitude"; columns of one kind may be compared with each other
#   unit        how constants are written, such as "ft"
#   phrase      how English speaks of the column, such as "vertical rate", or "the valve is open" (Boolean columns)
#   negated     what it says where the value is false, such as "the valve is shut" (Boolean columns)
#   high, low   words for "above" and "below", such as "warmer than"; or whole clauses, with {0} for the constant,
#               such as "less than {0} after the alarm" (real columns)
#   thresholds  the constants worth asking about, such as [0, 10, 20.5] (real columns)
#   levels      the names that occur (categorical columns); any other name equals none of them
#   static      true if the column has one value per record
# Under [time], unit says what times are counted in, such as "s".
"""
_USED = {"negated": ColumnType.BOOLEAN, "high": ColumnType.REAL, "low": ColumnType.REAL}
"""The fields of columns of one type only; for other types they are not written."""


def to_toml(schema: Schema, time_unit: str | None = None) -> str:
    """Write all columns, with a comment that explains the fields."""
    time = "\n".join(["[time]", _field("unit", time_unit), ""])
    return "\n".join([HEAD, time, *map(_table, schema.values())])


def from_toml(text: str) -> Schema:
    """Read what `to_toml` wrote; every column needs a type."""
    columns = []
    for name, fields in _parsed(text)[0].items():
        if "type" not in fields:
            known = ", ".join(repr(kind.value) for kind in ColumnType)
            raise DataError(f"column {name!r} has no type; add type = one of {known}")
        columns.append(Column(name, **fields))
    return Schema(columns)


def _parsed(text: str) -> tuple[dict[str, dict[str, Any]], str | None]:
    """Read a schema file that may leave out columns and fields: what it says about each column, and the unit of times.

    Anything else is a DataError.
    """
    try:
        content = parsed_toml(text)
    except TomlError as error:
        raise DataError(f"the schema cannot be read: {error}") from None
    for key in content:
        require_known(key, ("columns", "time"), "table in the schema: columns are [columns.name], but there is")
    columns, time = content.get("columns", {}), content.get("time", {})
    if not isinstance(columns, dict):
        raise DataError(f"in the schema, columns are tables such as [columns.altitude]; got columns = {columns!r:.60}")
    if not isinstance(time, dict) or not isinstance(time.get("unit", ""), str):
        raise DataError(f'in the schema, time is a table, [time], that may say unit = "s"; got time = {time!r:.60}')
    for key in time:
        require_known(key, ("unit",), "field of [time] in the schema:")
    return {name: checked_fields(name, fields) for name, fields in columns.items()}, time.get("unit")


def load_overrides(schema: Any) -> tuple[Mapping[str, Any] | None, str | None]:
    """Return a schema or overrides unchanged; read them, and the unit of times, if given the path of a TOML file."""
    if schema is None or isinstance(schema, Mapping):
        return schema, None
    if not isinstance(schema, str | os.PathLike):
        raise DataError(f"schema is a Schema, a dict, or the path of a TOML file; got {type(schema).__name__}")
    file = File.at(schema)
    text = file.small_text()
    try:
        return _parsed(text)
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from None


def _table(column: Column) -> str:
    lines = [f"[columns.{_quoted(column.name)}]", f"type = {_quoted(column.type)}"]
    lines += [_field(name, getattr(column, name)) for name in TEXTS if _USED.get(name, column.type) is column.type]
    if column.thresholds is not None:
        lines.append(f"thresholds = [{', '.join(map(repr, column.thresholds))}]")
    elif column.type is ColumnType.REAL:
        lines.append("# thresholds = []")
    if column.levels:
        lines.append(f"levels = [{', '.join(map(_quoted, column.levels))}]")
    lines.append(f"static = {str(column.static).lower()}")
    return "\n".join(lines) + "\n"


def _field(name: str, value: str | None) -> str:
    return f"# {name} =" if value is None else f"{name} = {_quoted(value)}"


def _quoted(text: str) -> str:
    """Write a TOML string; JSON strings are valid TOML, except for DEL."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")
