"""Options for reading: those of any input, the roles of columns, and the arguments for reading other records alike."""

import dataclasses
import enum
import math
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from telltree.errors import DataError
from telltree.panel.dates import DateFormat, StepLength, duration_text
from telltree.panel.schema import Column, checked_fields, listed, require_known, unique_names
from telltree.panel.store import Array
from telltree.panel.units_and_names import WIDE_REMEDY, has_no_names, likely_wide

# ---- Options of any input.

WAYS = ("first", "last", "mean")
RESAMPLED = "later"  # times may repeat, since the records will be resampled


@dataclass(frozen=True)
class Options:
    """The user's options for any kind of input; checked once, here."""

    schema: Mapping[str, Any] | None = None
    period: float | None = None
    time_unit: str | None = None
    missing: str = "allow"
    repeated: str = "error"  # or one of WAYS, or RESAMPLED
    date_format: DateFormat = field(default_factory=DateFormat)
    like: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # overrides; columns may be absent
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)  # levels in other data
    drop_unlabelled: bool = False

    def __post_init__(self) -> None:
        """Refuse invalid options."""
        if self.missing not in ("allow", "error"):
            raise DataError(f"missing must be 'allow' or 'error', got {self.missing!r}")
        if self.repeated not in ("error", RESAMPLED, *WAYS):
            raise DataError(f"repeated must be 'error', 'first', 'last' or 'mean', got {self.repeated!r}")
        if self.period is not None and not _is_positive(self.period):
            raise DataError(f"period must be a positive number, got {self.period!r}")
        if not isinstance(self.time_unit, str | None):
            raise DataError(f"time_unit must be text, got {self.time_unit!r}")

    def fields(self, names: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the overrides by column; a column or a field that does not exist is a DataError."""
        overrides = {}
        for name, change in (self.schema or {}).items():
            require_known(name, names, "column in schema")
            overrides[name] = _all_fields(change) if isinstance(change, Column) else checked_fields(name, change)
        return overrides

    def declared(self, name: str) -> Collection[str]:
        """Return the declared levels of a column, which are names even if they look like missing values."""
        change = (self.schema or {}).get(name)
        levels: Any = change.get("levels") if isinstance(change, Mapping) else getattr(change, "levels", None)
        return {*(levels if isinstance(levels, list | tuple) else ()), *self.known.get(name, ())}


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _all_fields(column: Column) -> dict[str, Any]:
    return {field.name: getattr(column, field.name) for field in dataclasses.fields(column) if field.name != "name"}


# ---- The roles of columns.


class Use(enum.Enum):
    """The use of a column; readers of files skip columns without one."""

    ATTRIBUTE = "attribute"
    ID = "id"
    LABEL = "label"
    TIME = "time"


Plan = Callable[[list[str]], dict[str, Use]]  # the names of columns -> the uses of those to read


@dataclass(frozen=True)
class Roles:
    """The roles of columns, as the user names them: id, time, label and attributes."""

    id: str | None = None
    time: str | None = None
    label: str | None = None
    columns: tuple[str, ...] | None = None  # None: all without another role
    static: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()  # never attributes, unless named
    drop: tuple[str, ...] = ()  # never attributes, and not read

    @classmethod
    def of(
        cls,
        id: str | None = None,  # noqa: A002 - the word users look for
        time: str | None = None,
        *,
        label: str | None = None,
        columns: Iterable[str] | None = None,
        static: Iterable[str] = (),
        hidden: Iterable[str] = (),
        drop: Iterable[str] = (),
    ) -> "Roles":
        """Return the roles for the user's arguments; names that are numbers become text, as in frames."""
        id_name, time_name, label_name = (None if name is None else str(name) for name in (id, time, label))
        chosen = None if columns is None else tuple(unique_names(columns))
        return cls(
            id_name,
            time_name,
            label_name,
            chosen,
            tuple(unique_names(static)),
            frozenset(hidden),
            tuple(unique_names(drop)),
        )

    def plan(self, names: list[str]) -> dict[str, Use]:
        """Return the uses of the columns of a table; a role that names no column is a DataError."""
        for name, what in ((self.id, "id column"), (self.time, "time column"), (self.label, "label column")):
            if name is not None:
                require_known(name, names, what)
        roles = ((self.id, Use.ID), (self.label, Use.LABEL), (self.time, Use.TIME))
        return {name: use for name, use in roles if name is not None} | dict.fromkeys(
            self.attributes(names), Use.ATTRIBUTE
        )

    def dropped(self) -> "Roles":
        """Return the roles for a table that was read without the columns to drop."""
        return dataclasses.replace(self, hidden=self.hidden | set(self.drop), drop=())

    def long_plan(self, names: list[str]) -> dict[str, Use]:
        """Return the uses of the columns of a long table, which needs an id."""
        if self.id is None:
            wide = f"; {WIDE_REMEDY}" if likely_wide(names) or has_no_names(names) else ""
            raise DataError(f"say which column is the id, and tells the records apart; there are {listed(names)}{wide}")
        return self.plan(names)

    def attributes(self, names: Iterable[str]) -> list[str]:
        """Return the attributes, in order."""
        taken = {name for name in (self.id, self.time, self.label) if name is not None}
        free = [name for name in names if name not in taken]
        for name in self.drop:
            require_known(name, free, "column to drop:")
            if name in (*(self.columns or ()), *self.static):
                raise DataError(f"column {name!r} is named both to be used and to be dropped; leave out one of the two")
        free = [name for name in free if name not in self.drop]
        known = set(free)
        chosen = [name for name in free if name not in self.hidden] if self.columns is None else list(self.columns)
        chosen += sorted(set(self.static) - set(chosen), key=self.static.index)
        for name in chosen:
            if name in taken:
                role = "the label" if name == self.label else "the id or the time"
                raise DataError(f"column {name!r} is {role}, and cannot be an attribute too; copy it first")
            if name not in known:
                require_known(name, free, "column")
        return chosen

    def relevant(self, options: Options, attributes: Collection[str]) -> Options:
        """Return the options without overrides for columns that have another role, or were not selected."""
        unused = {self.id, self.time, self.label, *self.hidden, *self.drop} - set(attributes)
        schema = {name: change for name, change in options.like.items() if name in attributes}
        for name, change in (options.schema or {}).items():
            if name in attributes or (self.columns is None and name not in unused):  # an absent column is a mistake
                schema[name] = change
        return dataclasses.replace(options, schema=schema)


# ---- The arguments with which records were read, for reading other records for the same model.


@dataclass(frozen=True)
class ReadArguments:
    """Arguments of `read`, by name; `how` by column is a tuple of pairs."""

    id: str | None = None
    time: str | None = None
    period: float | None = None
    time_unit: str | None = None
    time_format: str | None = None
    day_first: bool | None = None
    repeated: str = "error"
    every: str | None = None
    how: str | tuple[tuple[str, str], ...] = "last"
    wide: bool = False

    def resampled(self, every: float | str, how: str | Mapping[str, str]) -> "ReadArguments":
        """Return the arguments for records that were also resampled."""
        return replace(self, every=str(every), how=how if isinstance(how, str) else tuple(sorted(how.items())))

    def of(self, columns: Container[str]) -> "ReadArguments":
        """Return the arguments for these columns alone: others may be absent, and are not resampled."""
        if isinstance(self.how, str):
            return self
        kept = tuple((name, way) for name, way in self.how if name in columns)
        return replace(self, how=kept or "last")

    def given(self) -> dict[str, Any]:
        """Return the arguments of `read` that differ from their defaults."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["how"] = self.how if isinstance(self.how, str) else dict(self.how)
        return {field.name: found[field.name] for field in fields(self) if found[field.name] != field.default}

    def requirement(self, expected: StepLength | None) -> str:
        """Return a sentence for programs that read records themselves; "" if records were not resampled."""
        if self.every is None:
            return ""
        return f"Records must be resampled to {_step_text(expected)}, as those were that the tree learnt from."

    def check(self, expected: StepLength | None, found: StepLength | None) -> None:
        """Raise a DataError if the model learnt from resampled records, and the steps of new ones differ."""
        if self.every is None or expected is None or _equal_steps(expected, found):
            return
        raise DataError(
            f"the tree learnt from records that were resampled to {_step_text(expected)}, "
            f"but these have {_step_text(found)}; read them with every={self.every!r}, "
            f"or hand in panel.resample({self.every!r})"
        )


DEFAULT_ARGUMENTS = ReadArguments()


def joined_arguments(parts: Iterable[ReadArguments]) -> ReadArguments:
    """Join the arguments that `of` returned for several sets of columns."""
    found = list(parts)
    pairs = {pair for one in found if not isinstance(one.how, str) for pair in one.how}
    return replace(found[0], how=tuple(sorted(pairs))) if pairs else found[0]


def _equal_steps(expected: StepLength | None, found: StepLength | None) -> bool:
    if expected is None or found is None or expected[0] is None or found[0] is None:
        return expected == found
    return expected[1] == found[1] and math.isclose(expected[0], found[0], rel_tol=1e-9)


def _step_text(step: StepLength | None) -> str:
    if step is None:
        return "no times"
    if step[0] is None:
        return "steps of different lengths"
    return f"one step every {duration_text(step[0], step[1] or None)}"


# ---- The origin of records: Parquet files, and the rows of each record in them.


@dataclass(frozen=True)
class FileState:
    """The path, size and modification time of a file; a file that differs has changed."""

    path: str
    size: int
    modified: int  # nanoseconds


@dataclass(frozen=True, eq=False)
class Origin:
    """The files that hold the rows of some records, record by record, and how they were read."""

    files: tuple[FileState, ...]
    rows: tuple[int, ...]
    """The number of rows of each file."""
    roles: Roles
    options: Options
    starts: Array
    """The first row of each record, counted through all files."""
    counts: Array
    """The number of rows of each record in the files, before repeated times are merged and steps resampled."""

    def of(self, records: Array) -> "Origin":
        """Return the origin of some of the records."""
        return replace(self, starts=self.starts[records], counts=self.counts[records])
