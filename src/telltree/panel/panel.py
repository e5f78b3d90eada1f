"""Many records, column by column: an immutable view of shared row arrays."""

import dataclasses
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import EllipsisType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from telltree.errors import DataError, warn
from telltree.panel.arrays import arrays_of, read_arrays, read_table
from telltree.panel.dates import DateFormat, Dates, NamedStep, duration_text, moment_text
from telltree.panel.disk_arrays import on_disk, unload
from telltree.panel.frames import frame_of, frame_per_record, frames_of, long_frame
from telltree.panel.input_options import DEFAULT_ARGUMENTS, Options, Origin, ReadArguments, Roles
from telltree.panel.names_and_missing import says_missing
from telltree.panel.panel_data import PanelData, Rows, gather, unseen_levels, warn_unseen
from telltree.panel.resample import How, resampled
from telltree.panel.schema import ColumnType, Schema, listed, require_known
from telltree.panel.statistics import Statistics
from telltree.panel.store import (
    Array,
    Index,
    Real,
    SelectedRows,
    Store,
    align_codes,
    first_rows,
    frozen,
    is_missing,
    steps_within,
)
from telltree.panel.type_inference import convert_column, decoded, neither_true_nor_false, warn_neither
from telltree.panel.wide_tables import read_wide
from telltree.text import clip, counted, escaped

Overrides = Mapping[str, Mapping[str, Any]] | Schema
Repeated = Literal["error", "first", "last", "mean"]
PART = 1 << 24
"""The most values of a panel on disk that are in memory at a time."""
Key = int | slice | npt.ArrayLike | tuple[Any, EllipsisType]


@dataclass(frozen=True, eq=False, repr=False)
class Panel:
    """Records as (start, length) into shared row arrays; slicing copies no rows. Build one with `Panel.from_...`.

    `notes` lists the doubts of type inference. Arrays handed in may be used without a copy: they are never changed, and
    should not be changed by others while the panel is in use.
    """

    schema: Schema
    ids: Array
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    period: float | None
    time_unit: str | None
    notes: tuple[str, ...]
    _store: Store
    _positions: npt.NDArray[np.int64]  # of this view's records in the store, for static columns
    how_read: ReadArguments = DEFAULT_ARGUMENTS
    """The arguments for reading more records of this kind."""
    origin: Origin | None = None
    """The files from which the records of the store can be read again; None if they came from elsewhere."""
    time_column: str = ""
    """The name of the column of times; empty if there is none."""

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def _of(cls, data: PanelData, how_read: ReadArguments = DEFAULT_ARGUMENTS) -> "Panel":
        """Return a panel of whole records."""
        store = data.store
        positions = frozen(np.arange(len(store.lengths), dtype=Index))
        return cls(
            data.schema, frozen(data.ids), frozen(store.starts()), frozen(store.lengths), data.period, data.time_unit,
            data.notes, store, positions, how_read, data.origin, data.time_column,
        )  # fmt: skip

    def _data(self) -> PanelData:
        """Return the data of this view's records alone; values are looked up when needed."""
        store, rows = self._store, self.rows()
        own = Store(
            self.lengths,
            SelectedRows(store.rows, rows),
            {name: array[self._positions] for name, array in store.static.items()},
            None if store.times is None else store.times[rows],
            self._own_dates(),
        )
        return PanelData(
            self.schema, own, self.ids, self.period, self.time_unit, self.notes, time_column=self.time_column
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        id: str,  # noqa: A002 - the word users look for
        time: str | None = None,
        columns: Iterable[str] | None = None,
        static: Iterable[str] = (),
        schema: Overrides | None = None,
        period: float | None = None,
        time_unit: str | None = None,
        missing: Literal["allow", "error"] = "allow",
        repeated: Repeated = "error",
        time_format: str | None = None,
        day_first: bool | None = None,
    ) -> "Panel":
        """Read a long table (pandas, polars, pyarrow): one row per step, `id` tells the records apart.

        Records come in order of first appearance; rows are sorted by `time` if given. `id` and `time` may be index
        levels of a pandas frame. A date `time` becomes seconds from the start of its record, and `dates` gives it back.
        `columns` are the attributes (default: all others); `static` ones have one value per record. `schema` overrides
        what is inferred: `{"alt": {"type": "real", "kind": "altitude"}}`, or a Schema. `missing="error"` refuses
        missing values.

        Rows that repeat a time of their record are a DataError, unless `repeated` merges them column by column: into
        the "first" or "last" present value, or the "mean" of real values (the last of others). Times in text are dates
        in ISO 8601, or such as 3/4/2025 and 3.4.2025 12:30. Whether these begin with the day follows from the rows, as
        in 13.4.2025, or from `day_first`; if neither decides, they do, with a DataWarning. `time_format` reads any
        other, such as "%d %b %Y".
        """
        options = Options(schema, period, time_unit, missing, repeated, DateFormat(time_format, day_first))
        rows = long_frame(frame, id=id, time=time)
        return cls._gathered(rows, Roles.of(id, time, columns=columns, static=static), options)

    @classmethod
    def _gathered(cls, rows: Rows, roles: Roles, options: Options) -> "Panel":
        data = gather(rows, roles, options)[0]
        return cls._of(data, ReadArguments(day_first=options.date_format.resolved().day_first))

    @classmethod
    def from_frames(
        cls,
        frames: Mapping[Any, Any] | Iterable[Any],
        *,
        time: str | None = None,
        ids: Sequence[Any] | None = None,
        columns: Iterable[str] | None = None,
        static: Iterable[str] = (),
        schema: Overrides | None = None,
        period: float | None = None,
        time_unit: str | None = None,
        missing: Literal["allow", "error"] = "allow",
        repeated: Repeated = "error",
        time_format: str | None = None,
        day_first: bool | None = None,
    ) -> "Panel":
        """Read one frame per record: a list (with `ids`, or numbered from 0) or a dict id -> frame.

        Frames have the same columns, in any order. The other arguments are those of `from_frame`.
        """
        options = Options(schema, period, time_unit, missing, repeated, DateFormat(time_format, day_first))
        rows = frame_per_record(frames, time=time, ids=ids)
        return cls._gathered(rows, Roles.of(None, time, columns=columns, static=static), options)

    @classmethod
    def from_arrays(
        cls,
        records: Any,
        *,
        columns: Iterable[str] | None = None,
        layout: str | None = None,
        ids: Sequence[Any] | None = None,
        static: Any = None,
        schema: Overrides | None = None,
        period: float | None = None,
        time_unit: str | None = None,
        missing: Literal["allow", "error"] = "allow",
    ) -> "Panel":
        """Read a list of 2-D arrays, one per record, or one 3-D array.

        `layout` names the axes. Lists: "steps, columns" (default) or "columns, steps". A 3-D array must say
        "records, steps, columns" (used without a copy) or "records, columns, steps": the orientation is never
        guessed. `columns` default to x1, x2, ... `static` is a frame, or a dict name -> one value per record.
        """
        options = Options(schema, period, time_unit, missing)
        return cls._of(read_arrays(records, options, columns=columns, layout=layout, ids=ids, static=static))

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        columns: Iterable[str] | None = None,
        ids: Sequence[Any] | None = None,
        schema: Overrides | None = None,
        missing: Literal["allow", "error"] = "allow",
    ) -> "Panel":
        """Read a 2-D array or a frame of records x static attributes; every record has one step."""
        return cls._of(read_table(table, Options(schema, missing=missing), columns=columns, ids=ids))

    @classmethod
    def from_wide(
        cls,
        frame: Any,
        *,
        id: str | None = None,  # noqa: A002 - as in from_frame
        label: str | None = None,
        columns: Iterable[str] | None = None,
        static: Iterable[str] = (),
        ids: Sequence[Any] | None = None,
        schema: Overrides | None = None,
        period: float | None = None,
        time_unit: str | None = None,
        missing: Literal["allow", "error"] = "allow",
    ) -> "Panel":
        """Read a wide table: one row per record, and one column per step, in order.

        `columns` are the steps (default: all but `id`, `label` and `static`). They make one series, called x1; or one
        for each stem where they are called temp_0, temp_1, ..., flow_0, flow_1, ... Missing values at the end of a row
        do not count as steps. `label` names a column that is left out: `read(frame, wide=True, label=...)` gives it
        too.
        """
        options = Options(schema, period, time_unit, missing)
        roles = Roles.of(id, label=label, columns=columns, static=static)
        return cls._of(read_wide(long_frame(frame, id=id, time=None).values, roles, options, ids)[0])

    def __len__(self) -> int:
        """Count the records of this view."""
        return len(self.lengths)

    @property
    def shape(self) -> tuple[int, int]:
        """(records, columns); scikit-learn reads the number of samples here."""
        return len(self), len(self.schema)

    @property
    def step(self) -> tuple[float | None, str] | None:
        """The length of a step (None if steps differ) and the unit of times ("" if they have none).

        None if times are unknown.
        """
        if self.period is None and self._store.times is None:
            return None
        return NamedStep(self.period, self.time_unit or "", self.time_column)

    @property
    def steps(self) -> int:
        """The total number of steps of the records in this view."""
        return int(self.lengths.sum())

    def __getitem__(self, key: Key) -> "Panel":
        """Return the records selected by a slice, an integer array, a mask or one integer; no rows are copied.

        `panel[key, ...]`, which scikit-learn uses, means `panel[key]`.
        """
        picked = self._pick(key)
        return dataclasses.replace(
            self,
            ids=frozen(self.ids[picked]),
            starts=frozen(self.starts[picked]),
            lengths=frozen(self.lengths[picked]),
            _positions=frozen(self._positions[picked]),
        )

    def _pick(self, key: Key) -> slice | Array:
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]
        if isinstance(key, slice):
            return key
        index = np.asarray(key)
        if index.dtype.kind == "b" and index.shape != (len(self),):
            raise IndexError(f"a mask of shape {index.shape} cannot select from {counted(len(self), 'record')}")
        if index.size == 0 and index.ndim == 1 and index.dtype.kind != "b":
            index = index.astype(Index)  # an empty list arrives as float
        if index.dtype.kind not in "biu" or index.ndim > 1:
            raise IndexError(f"records are selected by position: an int, a slice, ints or a mask; got {key!r:.80}")
        return np.atleast_1d(index)

    def column(self, name: str) -> Array:
        """Return the shared row array of a column, read-only; index it with `starts` and `lengths`.

        Real: float64, NaN where missing. Boolean: int8, 1, 0 or -1 (missing). Categorical: int32 codes into
        `schema[name].levels`, -1 missing, -2 a level the schema does not have. It covers all records of the panel
        this view was cut from, and may be strided: `np.ascontiguousarray` it for compiled code.
        """
        return self._store.column(self._known(name))

    def values(self, name: str, record: int) -> Array:
        """Return the steps of one record (by its position in this view), encoded as in `column`."""
        array = self._store.encoded(self._known(name))
        start, length = int(self.starts[record]), int(self.lengths[record])
        if name in self._store.rows:
            return frozen(array[start : start + length])
        return frozen(np.repeat(array[self._positions[record]], length))

    def stacked(self, name: str) -> Array:
        """Return the values of this view's records one after another; a view of `column` if possible."""
        found = self.column(name)[self.rows()]
        return frozen(np.array(found) if on_disk(found) else found)  # a copy, so that it takes memory only while in use

    def statistics(self, name: str) -> Statistics:
        """Return statistics of all values of this view in a column, encoded as in `column`."""
        return Statistics([partial(part.stacked, name) for part in self.parts()])

    def parts(self) -> Sequence["Panel"]:
        """Return this view in parts of consecutive records, each small enough for memory, and loaded one at a time.

        A panel in memory is one part. Code that looks at all values of all records iterates over these.
        """
        if not self.on_disk or self.steps * len(self.schema) <= PART:
            return [self]
        return _PartByPart(self)

    @property
    def on_disk(self) -> bool:
        """True if the values are on disk, as in panels of `telltree.scan`."""
        return self._store.on_disk

    def alone(self) -> "Panel":
        """Return the same records in columns that have no other rows; values are looked up when needed."""
        return Panel._of(self._data(), self.how_read)

    @property
    def is_small_part(self) -> bool:
        """True if these are few of the steps that its columns have."""
        return not self.on_disk and 4 * self.steps < int(self._store.lengths.sum())

    def unload(self) -> None:
        """Free memory: drop what can be computed again, and unload arrays on disk until they are used."""
        self._store.clear_cache()
        unload()

    def rows(self) -> slice | Array:
        """Return the rows of this view, in order: a slice if the records are contiguous."""
        if len(self) == 0:
            return slice(0, 0)
        ends = self.starts + self.lengths
        if np.array_equal(self.starts[1:], ends[:-1]):
            return slice(int(self.starts[0]), int(ends[-1]))
        return np.repeat(self.starts - first_rows(self.lengths), self.lengths) + np.arange(self.steps, dtype=Index)

    def _known(self, name: str) -> str:
        if name not in self.schema:
            require_known(name, self.schema.names, "column")
        return name

    def record(self, i: int) -> dict[str, Array]:
        """Decode one record: floats; Booleans, None if missing; level names, None if missing or not a level."""
        return {name: decoded(column, self.values(name, i)) for name, column in self.schema.items()}

    def times(self, i: int) -> npt.NDArray[np.float64] | None:
        """Return the times of one record: as read, or counted from 0 by `period`, or None if neither is known."""
        start, length = int(self.starts[i]), int(self.lengths[i])
        if self._store.times is not None:
            return frozen(self._store.times[start : start + length])
        return None if self.period is None else np.arange(length, dtype=Real) * self.period

    def stacked_times(self) -> npt.NDArray[np.float64] | None:
        """Return the times of this view's records one after another, or None if none are known."""
        if self._store.times is not None:
            return frozen(self._store.times[self.rows()])
        return None if self.period is None else np.asarray(steps_within(self.lengths) * self.period, Real)

    def dates(self, i: int) -> npt.NDArray[np.datetime64] | None:
        """Return the dates of one record's steps in the local time of the data; None if times were no dates."""
        dates, times = self._store.dates, self.times(i)
        if dates is None or times is None:
            return None
        return dates.local(dates.starts[self._positions[i]], times, self._rows_of(i))

    def offsets(self, i: int) -> npt.NDArray[np.int32] | None:
        """Return the offset of local time from UTC at each step of a record, in seconds; None if it is unknown."""
        known = None if self._store.dates is None else self._store.dates.offsets
        return None if known is None else frozen(known[self._rows_of(i)])

    def _own_dates(self) -> Dates | None:
        """Return the dates of this view's records alone."""
        known = self._store.dates
        return None if known is None else known.cut(self._positions, self.rows())

    @property
    def daily(self) -> bool:
        """True if times were dates, all of them at midnight."""
        return self._store.dates is not None and self._store.dates.daily

    def time_text(self, i: int, step: int) -> str | None:
        """Return the date of a step, or its time in a suitable unit; None if times are unknown."""
        date, times = self.date_text(i, step), self.times(i)
        return date if date is not None or times is None else duration_text(float(times[step]), self.time_unit)

    def date_text(self, i: int, step: int, *, iso: bool = False) -> str | None:
        """Return the date of a step in local time, with its offset from UTC if known; None if there is no date.

        Seconds are left out if they are 0, and the time of day if all times are midnights. With `iso`, nothing is left
        out, and the form is that of ISO 8601.
        """
        moments, offsets = self.dates(i), self.offsets(i)
        if moments is None:
            return None
        return moment_text(moments[step], None if offsets is None else int(offsets[step]), daily=self.daily, iso=iso)

    def date_range(self, *, iso: bool = False) -> tuple[str, str] | None:
        """Return the first and the last date of all records, as `date_text` writes them; None if there is none."""
        dates, times = self._own_dates(), self.stacked_times()
        if dates is None or times is None or len(self) == 0:
            return None
        ends = dates.instants(dates.starts, times[np.cumsum(self.lengths) - 1])
        first, last = int(np.argmin(dates.starts)), int(np.argmax(ends))
        return str(self.date_text(first, 0, iso=iso)), str(self.date_text(last, -1, iso=iso))

    def _rows_of(self, i: int) -> slice:
        start = int(self.starts[i])
        return slice(start, start + int(self.lengths[i]))

    def static_values(self, name: str) -> Array:
        """Return one value per record of a static column, encoded as in `column`."""
        if not self.schema[self._known(name)].static:
            raise DataError(f"column {name!r} is not static: it has a value for each step")
        return frozen(self._store.static[name][self._positions])

    def missing(self) -> dict[str, int]:
        """Count the missing values of each column over this view; a static value counts once per record."""
        return {
            name: int(is_missing(self.static_values(name)).sum()) if column.static else self._missing(name)
            for name, column in self.schema.items()
        }

    def _missing(self, name: str) -> int:
        return sum(int(is_missing(part.stacked(name)).sum()) for part in self.parts())

    def with_schema(self, schema: Schema) -> "Panel":
        """Return the same data under a schema with other kinds, units, phrases or thresholds."""
        if schema.names != self.schema.names:
            differ = set(schema.names) ^ set(self.schema.names)
            raise DataError(f"the schema has other columns, or another order: {listed(sorted(differ)) or 'order'}")
        for old, new in zip(self.schema.values(), schema.values(), strict=True):
            if (old.type, old.levels, old.static) != (new.type, new.levels, new.static):
                raise DataError(
                    f"column {old.name!r}: type, levels and static cannot change on a panel that exists; "
                    "give the schema when you read the data"
                )
        return dataclasses.replace(self, schema=schema)

    def select(self, columns: Iterable[str]) -> "Panel":
        """Return the same records with these columns, in this order."""
        names = [self._known(name) for name in columns]
        schema = Schema(self.schema[name] for name in names)
        store = self._store.with_columns({name: self._store.encoded(name) for name in names})
        return dataclasses.replace(self, schema=schema, _store=store)

    def aligned(self, schema: Schema) -> "Panel":
        """Return the columns of `schema`, found by name and in its order, coded by its levels; ignore all others.

        An absent column, or one of another type, is a DataError. Levels that the schema lacks get the code -2, which
        equals no level, and one DataWarning. A column without any value fits every type. Booleans become 0 and 1 in a
        real column, and the levels that mean true or false in a categorical one. In a Boolean column, numbers and names
        that mean neither count as missing, with one DataWarning.
        """
        absent = [name for name in schema if name not in self.schema]
        if absent:
            raise DataError(f"the data lack {listed(absent)}; columns found: {listed(self.schema.names)}")
        arrays, columns = {}, []
        for name, wanted in schema.items():
            own, arrays[name] = self.schema[name], self._store.encoded(name)
            if own.type is not wanted.type:
                arrays[name] = convert_column(own, wanted, arrays[name])
            elif own.levels != wanted.levels:
                arrays[name] = align_codes(arrays[name], own.levels, wanted.levels)
            columns.append(wanted if wanted.static == own.static else dataclasses.replace(wanted, static=own.static))
        store, same = self._store.with_columns(arrays), all(map(operator.is_, columns, schema.values()))
        aligned = dataclasses.replace(self, schema=schema if same else Schema(columns), _store=store, origin=None)
        warn_unseen([what for name in schema for what in self._unseen(aligned, name)])
        warn_neither([what for name in schema for what in self._neither(aligned, name)])
        self._warn_gaps(schema)
        return aligned

    def _warn_gaps(self, schema: Schema) -> None:
        """Warn of names such as NA that are levels in the schema but were read as missing in these data."""
        lost = {
            name: words
            for name, wanted in schema.items()
            if (words := [level for level in wanted.levels if says_missing(level)])
            and not set(words) & set(self.schema[name].levels)
            and is_missing(self.stacked(name)).any()
        }
        if lost:
            shown = "; ".join(f"column {clip(name)!r}: {listed(words)}" for name, words in lost.items())
            warn(f"levels that count as missing in these data, unless they are read with like= or levels: {shown}")

    def _unseen(self, aligned: "Panel", name: str) -> list[str]:
        """Describe the levels of a column that lost their code in this view; empty if none did."""
        own, wanted = self.schema[name], aligned.schema[name]
        levels = ("false", "true") if own.type is ColumnType.BOOLEAN else own.levels
        if wanted.type is not ColumnType.CATEGORICAL or set(levels) <= set(wanted.levels):
            return []
        return unseen_levels(name, levels, self.stacked(name), aligned.stacked(name))

    def _neither(self, aligned: "Panel", name: str) -> list[str]:
        own, wanted = self.schema[name], aligned.schema[name]
        if wanted.type is not ColumnType.BOOLEAN or own.type is wanted.type:
            return []
        return neither_true_nor_false(own, self.stacked(name), aligned.stacked(name))

    def resample(self, every: float | str, how: How = "last") -> "Panel":
        """Return the same records with steps of equal length, counted from the first time of each record.

        `every` is a number in the panel's time unit, or text such as "1s" or "500 ms". The value at a grid point
        summarises the time since the point before: (t - every, t]. `how` is "last" (the last value so far, however
        long ago), "mean" (real columns) or "any" (Boolean columns: true if it was true at any time); columns that it
        does not suit take the last. `how={"speed": "mean", "alarm": "any"}` chooses by column. "mean" and "any" of no
        value are missing. Missing values are skipped. Static columns do not change.
        """
        data = resampled(self._data(), every, how)
        if self.origin is not None and self.how_read.every is None:  # files can be resampled once when read again
            data = dataclasses.replace(data, origin=self.origin.of(self._positions))
        return Panel._of(data, self.how_read.resampled(every, how))

    def to_frame(
        self,
        backend: Literal["pandas", "polars", "pyarrow"] = "pandas",
        *,
        id: str = "id",  # noqa: A002 - as in from_frame
        time: str = "time",
    ) -> Any:
        """Return one long table: a column of ids, one of times if they are known, and all columns decoded.

        Times that were dates are dates again. A categorical value that is not a level comes out as missing, since its
        name is not known.
        """
        return frame_of(self._data(), backend, id, time)

    def to_frames(
        self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas", *, time: str = "time"
    ) -> dict[Any, Any]:
        """Return a dict id -> table with the steps of one record."""
        return frames_of(self._data(), backend, time)

    def to_arrays(self, layout: str) -> list[Array] | Array:
        """Return floats, true as 1 and missing as NaN: a list of 2-D arrays, or one 3-D array if lengths are equal.

        `layout` is one of those of `from_arrays`. Categorical columns are a DataError; leave them out with `select`.
        """
        return arrays_of(self._data(), layout)

    def __eq__(self, other: object) -> bool:
        """Compare schema, ids, lengths, values (missing equals missing), period and unit of the two views."""
        if not isinstance(other, Panel):
            return NotImplemented
        return (
            (self.schema, self.period, self.time_unit) == (other.schema, other.period, other.time_unit)
            and np.array_equal(self.lengths, other.lengths)
            and self.ids.tolist() == other.ids.tolist()
            and all(np.array_equal(self.stacked(name), other.stacked(name), equal_nan=True) for name in self.schema)
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the records of this view, not all that it was cut from."""
        return Panel._of, (self._data(), self.how_read)

    def _repr_html_(self) -> str:
        return panel_html(self)

    def __repr__(self) -> str:
        """Summarise in a few lines, whatever the size."""
        if len(self) == 0:
            return f"Panel: no records, {counted(len(self.schema), 'column')}"
        shortest, longest = int(self.lengths.min()), int(self.lengths.max())
        steps = counted(longest, "step") if shortest == longest else f"{shortest:,} to {longest:,} steps"
        lines = [f"Panel: {counted(len(self), 'record')} of {steps} ({self.steps:,} in all)"]
        for kind in ColumnType:
            names = [column.name for column in self.schema.of_type(kind)]
            lines += [f"  {kind} columns ({len(names)}): {listed(names)}"] if names else []
        static = [column.name for column in self.schema.values() if column.static]
        lines += [f"  static among them ({len(static)}): {listed(static)}"] if static else []
        if self.period is not None:
            lines.append(f"  one step every {duration_text(self.period, self.time_unit or '(no unit)')}")
        dates = self.date_range()
        lines += [f"  dates from {dates[0]} to {dates[1]}"] if dates else []
        missing = {name: count for name, count in self.missing().items() if count}
        lines.append(f"  missing values: {sum(missing.values())}" + (f" in {listed(missing)}" if missing else ""))
        lines += [f"  notes: {len(self.notes)}, such as: {self.notes[0]}"] if self.notes else []
        return "\n".join(lines)


class _PartByPart(Sequence[Panel]):
    """A panel on disk in parts, each made on access; iteration keeps one in memory."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        ends = np.cumsum(panel.lengths)
        share = (ends - 1) // max(1, PART // max(1, len(panel.schema)))
        self._bounds = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(panel)]

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __getitem__(self, number: Any) -> Any:
        place = range(len(self))[number]
        return self._panel[self._bounds[place] : self._bounds[place + 1]].alone()

    def __iter__(self) -> Iterator[Panel]:
        for low, high in pairwise(self._bounds):
            yield self._panel[low:high].alone()
            unload()


# ---- A panel as a small table for notebooks; text from data is escaped.

COLUMNS_SHOWN = 20
_HEAD = ("column", "type", "kind", "unit", "values", "missing")


def panel_html(panel: "Panel") -> str:
    """Return the first line of the panel's summary, and a table of its first columns."""
    summary, names = repr(panel).splitlines()[0], list(panel.schema)
    absent = panel.select(names[:COLUMNS_SHOWN]).missing()
    rows = [_row("th", _HEAD)]
    for column in list(panel.schema.values())[:COLUMNS_SHOWN]:
        kind = f"{column.type}, static" if column.static else column.type
        levels = ", ".join(map(clip, column.levels[:5])) + (", …" if len(column.levels) > 5 else "")
        texts = (clip(column.name), kind, clip(column.kind or ""), clip(column.unit or ""))
        rows.append(_row("td", (*texts, levels, absent[column.name])))
    hidden = len(names) - COLUMNS_SHOWN
    more = f"<div>… and {counted(hidden, 'more column')}</div>" if hidden > 0 else ""
    return f"<div><div>{escaped(summary)}</div><table>{''.join(rows)}</table>{more}</div>"


def _row(tag: str, cells: tuple[object, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escaped(cell)}</{tag}>" for cell in cells) + "</tr>"
