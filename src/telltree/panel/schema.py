"""Schemas: the type and meaning of each column; also as TOML files for people to edit."""

import dataclasses
import enum
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from telltree.errors import DataError
from telltree.files import TomlError, parsed_toml
from telltree.text import alike, clip, counted

LONGEST_NAME = 1000  # characters; a longer one is probably text that lost its quotation marks
ROWS_SHOWN = 60  # a schema of thousands of columns still prints on a few screens


class ColumnType(enum.StrEnum):
    """The type of a column."""

    REAL = "real"
    BOOLEAN = "Boolean"
    CATEGORICAL = "categorical"

    @classmethod
    def _missing_(cls, value: object) -> "ColumnType | None":
        """Accept any case, such as `boolean`."""
        matches = [member for member in cls if isinstance(value, str) and member.value.lower() == value.lower()]
        return matches[0] if matches else None


@dataclass(frozen=True)
class Column:
    """One attribute of the records.

    `kind` is the physical quantity; only columns of one kind are compared with each other. `thresholds` are the
    constants that formulas may compare a real column with. `levels` are the names of a categorical column; codes index
    into it. `static` columns have one value per record.

    `phrase` names the column in English: a noun phrase ("vertical rate"), or a clause for a Boolean column ("the valve
    is open"). `negated` is the clause for a false value of a Boolean column ("the valve is shut"). `high` and `low` are
    words of a real column for "above" and "below" ("warmer than"); with {0} in them, which stands for the constant,
    they are whole clauses ("less than {0} after the alarm").
    """

    name: str
    type: ColumnType
    kind: str | None = None
    unit: str | None = None
    phrase: str | None = None
    thresholds: tuple[float, ...] | None = None
    levels: tuple[str, ...] = ()
    static: bool = False
    negated: str | None = None
    high: str | None = None
    low: str | None = None

    def __post_init__(self) -> None:
        """Check the fields, and convert values from files and users to the exact types."""
        if not isinstance(self.name, str):
            raise DataError(f"the column name {self.name!r} is not a string")
        require_sayable(self.name, "the column name")
        object.__setattr__(self, "type", _column_type(self.name, self.type))
        for field in TEXTS:
            value = getattr(self, field)
            if value is None:
                continue
            if not isinstance(value, str):
                raise DataError(f"column {self.name!r}: {field} must be text, got {value!r}")
            require_sayable(value, f"column {self.name!r}: {field}")
        _check_words(self)
        if not isinstance(self.static, bool):
            raise DataError(f"column {self.name!r}: static must be true or false, got {self.static!r}")
        object.__setattr__(self, "thresholds", _thresholds(self.name, self.type, self.thresholds))
        object.__setattr__(self, "levels", _levels(self.name, self.type, self.levels))

    @property
    def words(self) -> str:
        """The name of the column in English: its phrase, or its name."""
        return self.phrase or self.name

    @cached_property
    def level_names(self) -> frozenset[str]:
        """The levels as a set, for fast lookup."""
        return frozenset(self.levels)


TEXTS = ("kind", "unit", "phrase", "negated", "high", "low")
"""The fields that are free text."""
FIELDS = tuple(field.name for field in dataclasses.fields(Column) if field.name != "name")


def _column_type(name: str, value: object) -> ColumnType:
    try:
        return ColumnType(value)  # type: ignore[arg-type]
    except ValueError:
        known = ", ".join(repr(member.value) for member in ColumnType)
        raise DataError(f"column {name!r}: unknown type {value!r}; the types are {known}") from None


def _check_words(column: Column) -> None:
    """Refuse words that do not apply to a column's type."""
    for field, needed in (("negated", ColumnType.BOOLEAN), ("high", ColumnType.REAL), ("low", ColumnType.REAL)):
        words = getattr(column, field)
        if words is not None and column.type is not needed:
            raise DataError(f"column {column.name!r} is {column.type}: only {needed} columns have {field!r}")
        if words is not None and not words.strip():
            raise DataError(f"column {column.name!r}: {field} must have words in it, got {words!r}")


def _thresholds(name: str, kind: ColumnType, values: object) -> tuple[float, ...] | None:
    if values is None:
        return None
    if kind is not ColumnType.REAL:
        raise DataError(f"column {name!r} is {kind}: only real columns have thresholds")
    try:
        numbers = tuple(float(value) for value in values)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise DataError(f"column {name!r}: thresholds must be a list of numbers, got {values!r}") from None
    if not all(math.isfinite(number) for number in numbers):
        raise DataError(f"column {name!r}: thresholds must be finite numbers, got {values!r}")
    return numbers


def _levels(name: str, kind: ColumnType, values: object) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DataError(f"column {name!r}: levels must be a list of names, got {values!r}")
    levels = tuple(values)
    if levels and kind is not ColumnType.CATEGORICAL:
        raise DataError(f"column {name!r} is {kind}: only categorical columns have levels")
    if not all(isinstance(level, str) for level in levels):
        raise DataError(f"column {name!r}: levels must be strings, got {levels[:5]!r}")
    for level in levels:
        require_sayable(level, f"column {name!r}: the level")
    if len(set(levels)) < len(levels):
        raise DataError(f"column {name!r}: a level appears twice in {levels[:20]!r}")
    return levels


class Schema(Mapping[str, Column]):
    """The columns of a panel by name, in order. Immutable; equal if the columns and their order are."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Iterable[Column]) -> None:
        """Store the columns in order; a duplicate name is a DataError."""
        ordered = tuple(columns)
        self._columns = {column.name: column for column in ordered}
        if len(self._columns) < len(ordered):
            times = Counter(column.name for column in ordered)
            twice = next(name for name, number in times.items() if number > 1)
            raise DataError(f"two columns are named {twice!r}; column names must be unique")

    def __getitem__(self, name: str) -> Column:
        """Return the column of that name; KeyError otherwise, as for any mapping."""
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        """Return True if a column has that name."""
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names in order."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Count the columns."""
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        """Compare columns, in order."""
        if not isinstance(other, Schema):
            return NotImplemented
        return tuple(self.values()) == tuple(other.values())

    def __hash__(self) -> int:
        """Hash consistently with equality."""
        return hash(tuple(self.values()))

    def __repr__(self) -> str:
        """Show a table, one line per column; names appear as `repr` shows them, long ones shortened."""
        shown = list(self.values())[:ROWS_SHOWN]
        table = [
            ("column", "type", "kind", "unit", "phrase", "values"),
            *(_cells(column) for column in shown),
        ]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = [" ".join(cell.ljust(width + 1) for cell, width in zip(row, widths, strict=True)) for row in table]
        if len(self) > ROWS_SHOWN:
            lines.append(f"... and {counted(len(self) - ROWS_SHOWN, 'more column')}")
        return "\n".join(line.rstrip() for line in lines)

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self._columns)

    def of_type(self, type: ColumnType | str) -> list[Column]:  # noqa: A002 - the field's own name
        """List the columns of one type, in order."""
        return [column for column in self.values() if column.type == ColumnType(type)]

    def kinds(self) -> dict[str, list[Column]]:
        """Group the columns that have a kind by it, in order of first appearance."""
        groups: dict[str, list[Column]] = {}
        for column in self.values():
            if column.kind is not None:
                groups.setdefault(column.kind, []).append(column)
        return groups

    def override(self, changes: Mapping[str, Mapping[str, Any]]) -> "Schema":
        """Return a schema with some fields of some columns replaced: `{"alt": {"kind": "altitude", "unit": "ft"}}`.

        An unknown column or field is a DataError that names the nearest known one.
        """
        columns = dict(self._columns)
        for name, fields in changes.items():
            require_known(name, self.names, "column")
            columns[name] = dataclasses.replace(columns[name], **checked_fields(name, fields))
        return Schema(columns.values())

    def to_toml(self, *, time_unit: str | None = None) -> str:
        """Write the schema as a TOML file for editing, with comments that explain the fields.

        `read(..., schema=path)` reads it back, also with columns or fields left out. `time_unit` is written too.
        """
        time = "\n".join(["[time]", _toml_field("unit", time_unit), ""])
        return "\n".join([TOML_HEAD, time, *map(_toml_table, self.values())])

    @classmethod
    def from_toml(cls, text: str) -> "Schema":
        """Read what `to_toml` wrote; every column needs a type.

        An unknown column field is a DataError that names the nearest known one.
        """
        columns = []
        for name, fields in parse_overrides(text)[0].items():
            if "type" not in fields:
                known = ", ".join(repr(kind.value) for kind in ColumnType)
                raise DataError(f"column {name!r} has no type; add type = one of {known}")
            columns.append(Column(name, **fields))
        return cls(columns)


def checked_fields(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as a dict; an unknown field is a DataError."""
    if not isinstance(fields, Mapping):
        raise DataError(f"column {name!r}: expected fields such as {{'kind': ...}}, got {fields!r}")
    for field in fields:
        if field not in FIELDS:
            require_known(field, FIELDS, f"field of column {name!r}:")
    return dict(fields)


MOST_LISTED = 30
"""The most known names that an error lists."""


def require_known(name: object, known: Iterable[str], what: str) -> None:
    """Raise a DataError that lists the known names, with a suggestion, unless `name` is one of them."""
    names = list(known)
    if name in names:
        return
    text = clip(name, LONGEST_NAME) if isinstance(name, str) else name
    near = alike(str(text), names)
    there = f"there are {listed(names, MOST_LISTED)}" if names else "there are none"
    hint = f"; did you mean {near[0]!r}? T{there[1:]}" if near else f"; {there}"
    raise DataError(f"unknown {what} {text!r:.{LONGEST_NAME}}{hint}")


def require_sayable(text: str, what: str) -> None:
    """Raise a DataError if text contains half a surrogate pair, which cannot be encoded."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{what} {clip(text)!r} has {text[error.start]!a}, half of a character, which no file can hold; rename it"
        ) from None


def unique_names(names: Iterable[object]) -> list[str]:
    """Return column names as text; duplicates and overlong names are a DataError."""
    texts = [names] if isinstance(names, str) else [str(name) for name in names]
    long = max(texts, key=len, default="")
    if len(long) > LONGEST_NAME:
        raise DataError(f"a column name has {len(long):,} characters, more than {LONGEST_NAME:,}: {clip(long)!r}")
    if len(set(texts)) < len(texts):
        twice = [text for text, times in Counter(texts).items() if times > 1]
        raise DataError(f"two columns have the same name: {listed(twice)}; column names must be unique")
    return texts


def listed(values: Iterable[object], most: int = 5) -> str:
    """Join the `repr` of the first few values, which escapes control characters; long ones are shortened."""
    items = list(values)
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(repr(clip(item) if isinstance(item, str) else item) for item in items[:most]) + more


def _cells(column: Column) -> tuple[str, ...]:
    values = ""
    if column.thresholds is not None:
        values = "thresholds " + ", ".join(f"{value:g}" for value in column.thresholds[:5])
        values += ", ..." if len(column.thresholds) > 5 else ""
    elif column.levels:
        values = listed(column.levels)
    kind = f"{column.type}, static" if column.static else str(column.type)
    texts = ("" if text is None else repr(clip(text))[1:-1] for text in (column.kind, column.unit, column.phrase))
    return (repr(clip(column.name)), kind, *texts, values)


# ---- Schemas as TOML files, for people to edit.

TOML_HEAD = """\
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
_TYPE_OF = {"negated": ColumnType.BOOLEAN, "high": ColumnType.REAL, "low": ColumnType.REAL}
"""The type of columns that have a field; for other types it is not written."""


def parse_overrides(text: str) -> tuple[dict[str, dict[str, Any]], str | None]:
    """Parse a schema file, in which columns and fields may be left out; return fields by column, and the unit of times.

    Anything else in it is a DataError.
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


def _toml_table(column: Column) -> str:
    lines = [f"[columns.{_toml_string(column.name)}]", f"type = {_toml_string(column.type)}"]
    lines += [
        _toml_field(name, getattr(column, name)) for name in TEXTS if _TYPE_OF.get(name, column.type) is column.type
    ]
    if column.thresholds is not None:
        lines.append(f"thresholds = [{', '.join(map(repr, column.thresholds))}]")
    elif column.type is ColumnType.REAL:
        lines.append("# thresholds = []")
    if column.levels:
        lines.append(f"levels = [{', '.join(map(_toml_string, column.levels))}]")
    lines.append(f"static = {str(column.static).lower()}")
    return "\n".join(lines) + "\n"


def _toml_field(name: str, value: str | None) -> str:
    return f"# {name} =" if value is None else f"{name} = {_toml_string(value)}"


def _toml_string(text: str) -> str:
    """Write a TOML string: a JSON string is one, except for DEL."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")
