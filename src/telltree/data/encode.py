"""One column of any dataframe or array -> its type and an array of floats, flags or codes."""

import math
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from telltree.amounts import counted
from telltree.data.schema import ColumnType
from telltree.data.store import MISSING, Array, Code, Flag, Real, is_missing
from telltree.data.truth import flags, is_zero_one, says_truth, truth_of, word_flags
from telltree.errors import DataError

Owner = Callable[[int], object]  # the id of the record that a row of the input belongs to

EXACT = 2.0**53  # above it not every whole number is a float, and names would claim digits that are not there


@dataclass(frozen=True)
class Encoded:
    """A column as a panel keeps it.

    `whole` tells that it came from integers, `text` that it came from text that nobody declared to be categories.
    """

    type: ColumnType
    array: Array
    levels: tuple[str, ...] = ()
    whole: bool = False
    text: bool = False

    def __len__(self) -> int:
        """Count the values."""
        return len(self.array)


Values = nw.Series[Any] | Array | Encoded  # a column as it came; readers of files encode what they read at once


def encode(name: str, values: Values, owner: Owner, wanted: ColumnType | None = None) -> Encoded:
    """Infer the type of a column and encode it; `wanted` forces another type where the values allow it."""
    found = as_it_is(name, values, owner, wanted)
    if wanted is None:
        return _told_true(found)
    if found.type is wanted:
        return found
    if is_missing(found.array).all():
        return nothing(wanted, len(found.array))
    return _retyped(name, found, wanted, owner)


def as_it_is(name: str, values: Values, owner: Owner, wanted: ColumnType | None = None) -> Encoded:
    """Encode a column by the type of its values alone: 0 and 1 are numbers, yes and no are names."""
    if isinstance(values, Encoded):
        return values
    if isinstance(values, np.ndarray):
        return _from_array(name, values, owner, wanted)
    return _from_series(name, values, owner, wanted)


def _told_true(found: Encoded) -> Encoded:
    """Make a column Boolean if its values are, as `truth` has it."""
    if found.type is ColumnType.REAL and found.whole and is_zero_one(found.array):
        return Encoded(ColumnType.BOOLEAN, flags(found.array), whole=True)
    if found.type is ColumnType.CATEGORICAL and found.text and says_truth(found.levels):
        return Encoded(ColumnType.BOOLEAN, word_flags(found.array, found.levels), text=True)
    return found


def object_array(values: Iterable[object]) -> Array:
    """Give the values as they are; NumPy left to itself makes 1 and "a" both text, and cuts trailing NULs."""
    cells = list(values)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def nothing(kind: ColumnType, length: int) -> Encoded:
    """Give a column of this type whose values are all missing."""
    if kind is ColumnType.REAL:
        return Encoded(kind, np.full(length, np.nan, Real))
    return Encoded(kind, np.full(length, MISSING, Flag if kind is ColumnType.BOOLEAN else Code))


def _from_series(name: str, series: nw.Series[Any], owner: Owner, wanted: ColumnType | None) -> Encoded:
    dtype = series.dtype
    if is_object(series):
        return _from_objects(name, np.asarray(series.to_numpy(), dtype=object), owner)
    if dtype == nw.Boolean:
        return Encoded(ColumnType.BOOLEAN, series.cast(nw.Int8).fill_null(MISSING).to_numpy().astype(Flag, copy=False))
    if dtype == nw.Categorical and series.cat.get_categories().dtype.is_numeric():  # pandas may number categories
        return _named(series.cast(nw.Float64).to_numpy())
    if dtype in (nw.String, nw.Categorical) or isinstance(dtype, nw.Enum):
        return _from_text(series)
    if dtype.is_numeric():
        exact = dtype.is_integer() and not series.is_null().any()
        plain = series if exact or dtype.is_float() else series.cast(nw.Float64)
        return _from_numbers(plain.to_numpy(), wanted, whole=dtype.is_integer())
    if dtype.is_temporal():
        raise holds_dates(name)
    if series.is_null().all():
        return nothing(ColumnType.REAL, len(series))
    raise unsupported(name, str(dtype))


def is_object(series: nw.Series[Any]) -> bool:
    """Tell whether the values are Python objects, whose dtype is only narwhals' guess from the first of them."""
    native = getattr(series.to_native(), "dtype", None)
    return series.dtype == nw.Object or (isinstance(native, np.dtype) and native.kind == "O")


def _from_array(name: str, array: Array, owner: Owner, wanted: ColumnType | None) -> Encoded:
    kind = array.dtype.kind
    if kind == "b":
        return Encoded(ColumnType.BOOLEAN, array.view(Flag))
    if kind in "iuf":
        return _from_numbers(array, wanted, whole=kind in "iu")
    if kind == "U":
        levels, codes = np.unique(array, return_inverse=True)
        return Encoded(ColumnType.CATEGORICAL, codes.astype(Code), tuple(levels.tolist()), text=True)
    if kind == "O":
        return _from_objects(name, array, owner)
    if kind in "mM":
        raise holds_dates(name)
    raise unsupported(name, str(array.dtype))


def _from_numbers(array: Array, wanted: ColumnType | None, *, whole: bool) -> Encoded:
    if wanted is ColumnType.CATEGORICAL:  # from the numbers as they came: large integers are not exact as floats
        return _named(array)
    return Encoded(ColumnType.REAL, np.asarray(array, Real), whole=whole)


def _named(array: Array) -> Encoded:
    absent = np.isnan(array)
    distinct, inverse = np.unique(array[~absent], return_inverse=True)
    names = [number_name(value) for value in distinct.tolist()]
    levels = sorted(names)
    codes = np.full(array.shape, MISSING, Code)
    codes[~absent] = _positions(names, levels)[inverse]
    return Encoded(ColumnType.CATEGORICAL, codes, tuple(levels))


def number_name(value: int | float) -> str:
    """Name a category after a number: 2.0 and 2 alike."""
    return str(int(value)) if abs(value) < EXACT and value == int(value) else str(value)


def _positions(names: Iterable[str], levels: list[str]) -> Array:
    place = {level: code for code, level in enumerate(levels)}
    return np.array([place[name] for name in names], Code)


def _from_text(series: nw.Series[Any]) -> Encoded:
    text = series.cast(nw.String)
    levels = sorted(text.drop_nulls().unique().to_list())
    if not levels:
        return nothing(ColumnType.CATEGORICAL, len(series))
    codes = text.replace_strict(levels, list(range(len(levels))), default=MISSING, return_dtype=nw.Int32)
    array = codes.fill_null(MISSING).to_numpy().astype(Code, copy=False)
    return Encoded(ColumnType.CATEGORICAL, array, tuple(levels), text=series.dtype == nw.String)


def _from_objects(name: str, values: Array, owner: Owner) -> Encoded:
    present = ~np.fromiter(map(is_absent, values), np.bool_, len(values))
    found = {type(value) for value in values[present]}
    families = {_family(kind) for kind in found}
    if not families:
        return nothing(ColumnType.REAL, len(values))
    if len(families) > 1 or None in families:
        raise _mixed(name, values, present, owner)
    encoded = nothing(families.pop() or ColumnType.REAL, len(values))
    if encoded.type is ColumnType.CATEGORICAL:
        names = [str(value) for value in values[present]]
        levels = sorted(set(names))
        encoded.array[present] = _positions(names, levels)
        return Encoded(encoded.type, encoded.array, tuple(levels), text=True)
    try:
        encoded.array[present] = values[present].astype(encoded.array.dtype)
    except OverflowError:
        raise DataError(f"column {name!r} holds a whole number too large for a float; scale it, or use text") from None
    whole = encoded.type is ColumnType.REAL and all(issubclass(kind, numbers.Integral) for kind in found)
    return Encoded(encoded.type, encoded.array, whole=whole)


def is_absent(value: object) -> bool:
    """Tell whether a Python object stands for a missing value: None, NaN, pandas' NA and NaT."""
    if isinstance(value, float | np.floating | Decimal):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _family(kind: type) -> ColumnType | None:
    if issubclass(kind, bool | np.bool_):
        return ColumnType.BOOLEAN
    if issubclass(kind, str):
        return ColumnType.CATEGORICAL
    return ColumnType.REAL if issubclass(kind, numbers.Real | Decimal) else None


def _retyped(name: str, found: Encoded, wanted: ColumnType, owner: Owner) -> Encoded:
    """Convert between types without loss, or raise a DataError with examples."""
    if wanted is ColumnType.CATEGORICAL:
        named = found.type is ColumnType.REAL
        return _named(found.array) if named else Encoded(wanted, found.array.astype(Code), ("False", "True"))
    present = ~is_missing(found.array)
    read = found.array.astype(Real)
    if found.type is ColumnType.CATEGORICAL:
        read[present] = np.array([truth_of(level) for level in found.levels])[found.array[present]]
    fits = np.isin(read, (0, 1)) if wanted is ColumnType.BOOLEAN else ~np.isnan(read)
    bad = np.flatnonzero(present & ~fits)
    if len(bad):
        shown = [found.levels[found.array[row]] if found.levels else found.array[row].item() for row in bad[:3]]
        examples = "; ".join(f"{v!r} in record {owner(int(row))!r}" for v, row in zip(shown, bad[:3], strict=True))
        misfits = counted(len(bad), "value does", "values do")
        raise DataError(f"column {name!r} cannot be {wanted}: {misfits} not fit, such as {examples}")
    result = nothing(wanted, len(read)).array
    result[present] = read[present]
    return Encoded(wanted, result)


def _mixed(name: str, values: Array, present: Array, owner: Owner) -> DataError:
    firsts: dict[object, int] = {}
    for row in np.flatnonzero(present).tolist():
        kind = type(values[row])
        firsts.setdefault(_family(kind) or kind, row)
    if len(firsts) == 1:
        row = next(iter(firsts.values()))
        return unsupported(name, f"{type(values[row]).__name__}, such as {values[row]!r:.80} in record {owner(row)!r}")
    shown = [f"{values[row]!r:.40} in record {owner(row)!r}" for row in list(firsts.values())[:4]]
    return DataError(f"column {name!r} has mixed types: {'; '.join(shown)}; make all its values one type")


def holds_dates(name: str) -> DataError:
    """Say that dates are no attribute, and what to do."""
    return DataError(
        f"column {name!r} holds dates or durations, which are no attribute; name it as `time`, "
        "turn it into a number (such as seconds), or leave it out with `columns`"
    )


def unsupported(name: str, what: str) -> DataError:
    """Say that values of this type cannot be used, and what to do."""
    remedy = "make them numbers, Booleans or text, or leave the column out"
    return DataError(f"column {name!r} holds values of an unsupported type: {what}; {remedy}")
