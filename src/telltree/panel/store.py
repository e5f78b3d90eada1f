"""The columns of records as arrays, one record after another, and the codes of categories."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from telltree.panel.dates import Dates
from telltree.panel.disk_arrays import on_disk, piecewise
from telltree.panel.names_and_missing import level_name, says_missing

# ---- Arrays of columns, which all views of a panel share.

Array = npt.NDArray[Any]
Index = np.int64  # rows and records: panels may hold more than 2**31 rows
Real = np.float64  # NaN where missing
Flag = np.int8  # 1 true, 0 false, MISSING
Code = np.int32  # index into the levels, MISSING or UNSEEN
MISSING = -1  # a Boolean or categorical value that is absent
UNSEEN = -2  # a categorical value that is not among the levels: equal to none of them, and not missing


def frozen(array: npt.ArrayLike) -> Array:
    """Return a read-only view; the array itself, which may belong to the user, stays writable."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def first_rows(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the first row of each record, for records that are stored one after another."""
    return np.cumsum(lengths, dtype=Index) - lengths


def steps_within(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the number of each row within its record, from 0."""
    return np.arange(lengths.sum(), dtype=Index) - np.repeat(first_rows(lengths), lengths)


def is_missing(array: Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the missing values of an encoded column."""
    mask: npt.NDArray[np.bool_] = np.isnan(array) if array.dtype == Real else array == MISSING
    return mask


class SelectedRows(Mapping[str, Array]):
    """Some rows of columns, selected on each access: nothing is stored."""

    def __init__(self, columns: Mapping[str, Array], rows: "slice | Array") -> None:
        """Select these rows of all columns."""
        self._columns, self.selection = columns, rows

    def __getitem__(self, name: str) -> Array:
        """Return the rows of a column; a view if possible."""
        taken: Array = self._columns[name][self.selection]
        return taken

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._columns)

    def __len__(self) -> int:
        """Count the columns."""
        return len(self._columns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle these rows alone."""
        return dict, (dict(self),)


@dataclass(frozen=True, eq=False)
class Store:
    """Encoded columns of records stored one after another.

    `rows` holds one value per step, `static` one per record, `times` one time per step, and `dates` the dates of the
    records if they are known. Row arrays may be strided views of the user's own arrays.
    """

    lengths: npt.NDArray[np.int64]
    rows: Mapping[str, Array]
    static: dict[str, Array]
    times: npt.NDArray[np.float64] | None = None
    dates: Dates | None = None
    _expanded: dict[str, Array] = field(default_factory=dict, repr=False)

    def starts(self) -> npt.NDArray[np.int64]:
        """Return the first row of each record."""
        return first_rows(self.lengths)

    def column(self, name: str) -> Array:
        """Return one value per row; static columns are repeated over the steps of their record, once."""
        if name in self.rows:
            return frozen(self.rows[name])
        if self.lengths.max(initial=1) == 1:  # a table: one row per record
            return frozen(self.static[name])
        if name not in self._expanded:
            self._expanded[name] = np.repeat(self.static[name], self.lengths)
        return frozen(self._expanded[name])

    def with_columns(self, columns: dict[str, Array]) -> "Store":
        """Return a store of these columns; each is static exactly if it is static here."""
        rows = {name: array for name, array in columns.items() if name in self.rows}
        static = {name: array for name, array in columns.items() if name in self.static}
        return Store(self.lengths, rows, static, self.times, self.dates)

    @cached_property
    def on_disk(self) -> bool:
        """True if the values of rows are not in memory."""
        in_memory = isinstance(self.rows, SelectedRows) and not isinstance(self.rows.selection, slice)
        return not in_memory and any(map(on_disk, self.rows.values()))

    def clear_cache(self) -> None:
        """Drop the repeated static columns, which can be computed again."""
        self._expanded.clear()

    def encoded(self, name: str) -> Array:
        """Return the column as it is stored: per row, or per record if static."""
        return self.rows[name] if name in self.rows else self.static[name]


# ---- Codes of categories: translated from one list of levels to another.


def align_codes(codes: Array, have: Sequence[str], want: Sequence[str]) -> Array:
    """Translate codes by the names of levels; levels not in `want` become UNSEEN, missing values stay missing."""
    place = {level_name(level): code for code, level in enumerate(want)}
    place |= {level: code for code, level in enumerate(want)}
    return _translated(codes, [place.get(level, place.get(level_name(level), UNSEEN)) for level in have])


def reorder_codes(codes: Array, have: Sequence[str], want: Sequence[str]) -> Array:
    """Translate codes to those of the same levels in another order."""
    place = {level: code for code, level in enumerate(want)}
    return _translated(codes, [place[level] for level in have])


def category_codes(
    codes: Array, written: Sequence[str], declared: Collection[str] = ()
) -> tuple[Array, tuple[str, ...]]:
    """Translate codes of text as written to codes of category names; return these and the sorted names.

    Words for a missing value become missing, unless they are declared as levels.
    """
    names = [None if says_missing(word) and word not in declared else level_name(word) for word in written]
    levels = sorted({name for name in names if name is not None})
    if levels == list(written):
        return codes, tuple(levels)
    place = {level: code for code, level in enumerate(levels)}
    return _translated(codes, [MISSING if name is None else place[name] for name in names]), tuple(levels)


def _translated(codes: Array, table: Sequence[int]) -> Array:
    # The codes -2 and -1 index the last two entries.
    places = np.array([*table, UNSEEN, MISSING], Code)
    return piecewise(lambda some: places[some], codes, Code)
