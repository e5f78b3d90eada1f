"""What the user says about the input: options, roles of columns, and the arguments for reading other records alike."""

import dataclasses
import enum
import math
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from telltree.errors import DataError
from telltree.panel.column_names import WIDE_REMEDY, has_no_names, likely_wide
from telltree.panel.dates import DateFormat, StepLength, duration_text
from telltree.panel.schema import Column, checked_fields, listed, require_known, unique_names
from telltree.panel.store import Array

# ---- What the user says about any kind of input.


WAYS = ("first", "last", "mean")
LATER = "later"  # times may repeat, since the records will be resampled


@dataclass(frozen=True)
class Options:
    """What the user says about any kind of input; checked once, here."""

    schema: Mapping[str, Any] | None = None
    period: float | None = None
    time_unit: str | None = None
    missing: str = "allow"
    repeated: str = "error"  # or one of `repeated.WAYS`, or LATER
    date_format: DateFormat = field(default_factory=DateFormat)
    like: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # overrides of columns that may be absent
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)  # levels that columns have elsewhere
    drop_unlabelled: bool = False

    def __post_init__(self) -> None:
        """Refuse invalid options."""
        if self.missing not in ("allow", "error"):
            raise DataError(f"missing must be 'allow' or 'error', got {self.missing!r}")
        if self.repeated not in ("error", LATER, *WAYS):
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
        """Return the names that are declared as levels of a column, even if they look like missing values."""
        change = (self.schema or {}).get(name)
        said = (
            change.levels
            if isinstance(change, Column)
            else change.get("levels")
            if isinstance(change, Mapping)
            else None
        )
        return {*(said if isinstance(said, list | tuple) else ()), *self.known.get(name, ())}


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value > 0


def _all_fields(column: Column) -> dict[str, Any]:
    return {field.name: getattr(column, field.name) for field in dataclasses.fields(column) if field.name != "name"}


# ---- The roles of columns.


class Use(enum.Enum):
    """The use of a column; file readers ask for it first, and skip columns without a use."""

    ATTRIBUTE = "attribute"
    ID = "id"
    LABEL = "label"
    TIME = "time"


Plan = Callable[[list[str]], dict[str, Use]]  # the names in a file -> what to read of it


@dataclass(frozen=True)
class Roles:
    """Which columns are the id, the time, the label and the attributes, as the user says."""

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
        """Store what the user said; names that are numbers become text, as in frames."""
        key, clock, answer = (None if name is None else str(name) for name in (id, time, label))
        chosen = None if columns is None else tuple(unique_names(columns))
        return cls(
            key, clock, answer, chosen, tuple(unique_names(static)), frozenset(hidden), tuple(unique_names(drop))
        )

    def plan(self, names: list[str]) -> dict[str, Use]:
        """What to read of a table with these names; a role that names no column is a DataError."""
        for name, what in ((self.id, "id column"), (self.time, "time column"), (self.label, "label column")):
            if name is not None:
                require_known(name, names, what)
        roles = ((self.id, Use.ID), (self.label, Use.LABEL), (self.time, Use.TIME))
        return {name: use for name, use in roles if name is not None} | dict.fromkeys(
            self.attributes(names), Use.ATTRIBUTE
        )

    def dropped(self) -> "Roles":
        """The same after a file was read, without the columns to drop."""
        return dataclasses.replace(self, hidden=self.hidden | set(self.drop), drop=())

    def long_plan(self, names: list[str]) -> dict[str, Use]:
        """What to read of a long table, which needs an id."""
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

    def told(self, options: Options, attributes: Collection[str]) -> Options:
        """Drop what a schema says about columns that have another role, or were not selected."""
        idle = {self.id, self.time, self.label, *self.hidden, *self.drop} - set(attributes)
        schema = {name: change for name, change in options.like.items() if name in attributes}
        for name, change in (options.schema or {}).items():
            if name in attributes or (self.columns is None and name not in idle):  # an absent column is a mistake
                schema[name] = change
        return dataclasses.replace(options, schema=schema)


# ---- How records were read, as far as it matters for reading other records for the same model.


@dataclass(frozen=True)
class ReadArguments:
    """Arguments of `read`, under their names; `how` by column is a tuple of pairs."""

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
        """The same with steps of another length."""
        return replace(self, every=str(every), how=how if isinstance(how, str) else tuple(sorted(how.items())))

    def of(self, columns: Container[str]) -> "ReadArguments":
        """The same for these columns alone: others, which may not be there again, need not be resampled."""
        if isinstance(self.how, str):
            return self
        kept = tuple((name, way) for name, way in self.how if name in columns)
        return replace(self, how=kept or "last")

    def given(self) -> dict[str, Any]:
        """The arguments of `read` that differ from their defaults."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["how"] = self.how if isinstance(self.how, str) else dict(self.how)
        return {field.name: found[field.name] for field in fields(self) if found[field.name] != field.default}

    def demand(self, learnt: StepLength | None) -> str:
        """What programs that read records themselves must know; "" if records were used as they came."""
        if self.every is None:
            return ""
        return f"Records must be resampled to {_told(learnt)}, as those were that the tree learnt from."

    def check(self, learnt: StepLength | None, found: StepLength | None) -> None:
        """DataError if the model's records were resampled, to steps as `learnt`, and those found differ."""
        if self.every is None or learnt is None or _alike(learnt, found):
            return
        raise DataError(
            f"the tree learnt from records that were resampled to {_told(learnt)}, but these have {_told(found)}; "
            f"read them with every={self.every!r}, or hand in panel.resample({self.every!r})"
        )


AS_USUAL = ReadArguments()


def joint_reading(parts: Iterable[ReadArguments]) -> ReadArguments:
    """How all columns were read, from how some of them were: what `of` gave for several lots of columns."""
    found = list(parts)
    pairs = {pair for one in found if not isinstance(one.how, str) for pair in one.how}
    return replace(found[0], how=tuple(sorted(pairs))) if pairs else found[0]


def _alike(learnt: StepLength | None, found: StepLength | None) -> bool:
    if learnt is None or found is None or learnt[0] is None or found[0] is None:
        return learnt == found
    return learnt[1] == found[1] and math.isclose(learnt[0], found[0], rel_tol=1e-9)


def _told(step: StepLength | None) -> str:
    if step is None:
        return "no times"
    if step[0] is None:
        return "steps of different lengths"
    return f"one step every {duration_text(step[0], step[1] or None)}"


# ---- Where records were read: Parquet files, and the rows of each record in them.


@dataclass(frozen=True)
class FileState:
    """A file, and what it looked like before it was read."""

    path: str
    size: int
    changed: int
    """When it was changed last, in nanoseconds."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Files with the rows of some records, record by record, and how they were read."""

    files: tuple[FileState, ...]
    rows: tuple[int, ...]
    """Of each file."""
    roles: Roles
    options: Options
    starts: Array
    """The first row of each record, counted through all files."""
    counts: Array
    """The rows of each record, before those that repeat a time were made one, and before it was resampled."""

    def of(self, records: Array) -> "Origin":
        """Where some of the records were read."""
        return replace(self, starts=self.starts[records], counts=self.counts[records])
