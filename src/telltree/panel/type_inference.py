"""Type inference: a column of any dataframe or array -> its type, and an array of floats, flags or codes."""

import dataclasses
import math
import numbers
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from telltree.errors import DataError, warn
from telltree.panel.disk_arrays import pieces, piecewise
from telltree.panel.names_and_missing import is_nothing, level_name, says_missing
from telltree.panel.schema import Column, ColumnType, listed
from telltree.panel.store import MISSING, UNSEEN, Array, Code, Flag, Real, category_codes, is_missing
from telltree.text import counted

# ---- The rule for Boolean columns. Without a declared type, a column is Boolean if it has one of these.
#
# - A Boolean type.
# - Text with only the words of one pair, in any capitals: true and false, yes and no, on and off; also y and n, or t
#   and f, if both occur, since one letter alone may be the name of anything.
# - Whole numbers that are only 0 and 1, if both occur: of an integer type, or in text files without a decimal point.
# - Floats of a dataframe, a file or an array of objects, such as 1.0, that are only 0 and 1, if both occur and some
#   values are missing: many programs turn whole numbers with gaps into floats.
#
# Otherwise, missing values make no difference. Other floats are real whatever their values, and so are those of arrays
# of floats, which have one type for all columns. Declared categories of a dataframe or a file are categorical.

PAIRS = (("false", "true"), ("no", "yes"), ("off", "on"), ("n", "y"), ("f", "t"))
TRUTHS = {word: float(truth) for pair in PAIRS for truth, word in enumerate(pair)}
HEAD = 1000  # values to look at first: most numeric columns are seen here not to be Boolean


def truth_of(word: str) -> float:
    """Return 1 or 0 for a word of any pair, a number for a number, else NaN."""
    bare = word.strip().lower()
    try:
        return TRUTHS[bare] if bare in TRUTHS else float(bare)
    except ValueError:
        return math.nan


def are_truth_words(levels: tuple[str, ...]) -> bool:
    """Return True if all levels are words of one pair."""
    words = {level.strip().lower() for level in levels}
    return any(words <= set(pair) and len(words) >= (1 if len(pair[0]) > 1 else 2) for pair in PAIRS)


def is_zero_one(numbers: Array, complete: bool = True) -> bool:
    """Return True if these floats are only 0, 1 and NaN, and 0 and 1 both occur, and NaN too unless `complete`."""
    if len(numbers) > HEAD and not _are_flags_or_missing(numbers[:HEAD]).all():  # most long columns need no second look
        return False
    found: set[float] = set()
    gaps = complete
    for piece in pieces(numbers):
        some = numbers[piece]
        if not _are_flags_or_missing(some).all():
            return False
        found |= {truth for truth in (0, 1) if (some == truth).any()}
        gaps = gaps or bool(np.isnan(some).any())
    return len(found) == 2 and gaps


def _are_flags_or_missing(numbers: Array) -> Array:
    return np.asarray((numbers == 0) | (numbers == 1) | np.isnan(numbers))


def to_flags(numbers: Array) -> Array:
    """Convert floats to flags; anything but 0 and 1 is missing."""
    return piecewise(_flags, numbers, Flag)


def _flags(numbers: Array) -> Array:
    return np.where(numbers == 1, 1, np.where(numbers == 0, 0, MISSING)).astype(Flag)


def levels_to_flags(codes: Array, levels: tuple[str, ...]) -> Array:
    """Convert names to flags; a name that means neither true nor false is missing."""
    table = np.array([*map(truth_of, levels), math.nan, math.nan])  # the codes -2 and -1 index the last two
    return piecewise(lambda some: _flags(table[some]), codes, Flag)


def flags_to_codes(truths: Array, levels: tuple[str, ...], unseen: int) -> Array:
    """Convert flags to codes of the levels that mean true or false; `unseen` if there is no such level, or several."""
    meaning = [[code for code, level in enumerate(levels) if truth_of(level) == truth] for truth in (0, 1)]
    table = np.array([*(codes[0] if len(codes) == 1 else unseen for codes in meaning), MISSING], Code)
    return np.where(is_missing(truths), MISSING, table[truths]).astype(Code)


def flags_to_floats(truths: Array) -> Array:
    """Convert flags to floats: 0, 1 and NaN."""
    return np.where(is_missing(truths), np.nan, truths.astype(float))


# ---- A column of any dataframe or array -> its type and an array of floats, flags or codes.

RecordId = Callable[[int], object]  # the id of the record that a row of the input belongs to
EXACT = 2**53  # above it, not every integer is a float


@dataclass(frozen=True)
class Encoded:
    """A column as a panel stores it.

    `whole`: it came from integers. `text`: it came from text that was not declared to be categories. `rounded`: the
    number of integers that lost digits as floats. `gaps`: the words that were read as missing values. `tabular`: it
    came from a table with a type for each column, which often stores whole numbers with gaps as floats.
    """

    type: ColumnType
    array: Array
    levels: tuple[str, ...] = ()
    whole: bool = False
    text: bool = False
    rounded: int = 0
    gaps: tuple[str, ...] = ()
    tabular: bool = False

    def __len__(self) -> int:
        """Count the values."""
        return len(self.array)


Values = nw.Series[Any] | Array | Encoded  # a column as it came; readers of files encode it at once


def encode(
    name: str, values: Values, owner: RecordId, wanted: ColumnType | None = None, declared: Collection[str] = ()
) -> Encoded:
    """Infer the type of a column and encode it; `wanted` forces another type if the values allow it.

    `declared` are names that are levels, even if they look like a word for a missing value.
    """
    found = encode_by_dtype(name, values, owner, wanted, declared)
    if wanted is None:
        return _boolean_if_so(found)
    if found.type is wanted:
        return found
    if is_missing(found.array).all():
        return all_missing(wanted, len(found.array))
    return _converted(name, found, wanted, owner)


def encode_by_dtype(
    name: str, values: Values, owner: RecordId, wanted: ColumnType | None = None, declared: Collection[str] = ()
) -> Encoded:
    """Encode a column by its data type alone: 0 and 1 are numbers, yes and no are names."""
    if isinstance(values, Encoded):
        found = values
    elif isinstance(values, np.ndarray):
        found = _from_array(name, values, owner, wanted)
    else:
        found = dataclasses.replace(_from_series(name, values, owner, wanted), tabular=True)
    if found.type is not ColumnType.CATEGORICAL:
        return found
    codes, levels = category_codes(found.array, found.levels, declared)
    gaps = tuple(word for word in found.levels if word.strip() and says_missing(word) and word not in declared)
    return dataclasses.replace(found, array=codes, levels=levels, gaps=found.gaps + gaps)


def _boolean_if_so(found: Encoded) -> Encoded:
    """Make a column Boolean if its values are, by the rule above."""
    if found.type is ColumnType.REAL and (found.whole or found.tabular) and is_zero_one(found.array, found.whole):
        return Encoded(ColumnType.BOOLEAN, to_flags(found.array), whole=True, tabular=not found.whole)
    if found.type is ColumnType.CATEGORICAL and found.text and are_truth_words(found.levels):
        return Encoded(ColumnType.BOOLEAN, levels_to_flags(found.array, found.levels), text=True)
    return found


def object_array(values: Iterable[object]) -> Array:
    """Return an array of the unchanged values; NumPy would turn 1 and "a" both into text, and cut trailing NULs."""
    cells = list(values)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def all_missing(kind: ColumnType, length: int) -> Encoded:
    """Return a column of missing values of this type."""
    if kind is ColumnType.REAL:
        return Encoded(kind, np.full(length, np.nan, Real))
    return Encoded(kind, np.full(length, MISSING, Flag if kind is ColumnType.BOOLEAN else Code))


def _from_series(name: str, series: nw.Series[Any], owner: RecordId, wanted: ColumnType | None) -> Encoded:
    dtype = series.dtype
    if is_object(series):
        return _from_objects(name, np.asarray(series.to_numpy(), dtype=object), owner, wanted)
    if dtype == nw.Boolean:
        return Encoded(ColumnType.BOOLEAN, series.cast(nw.Int8).fill_null(MISSING).to_numpy().astype(Flag, copy=False))
    if dtype == nw.Categorical and not _has_text(series):  # pandas may number categories
        native: Any = series.to_native()
        names = [level_name(value) for value in native.cat.categories.tolist()]
        return Encoded(ColumnType.CATEGORICAL, native.cat.codes.to_numpy().astype(Code), tuple(names))
    if dtype in (nw.String, nw.Categorical) or isinstance(dtype, nw.Enum):
        return _from_text(series)
    if dtype.is_numeric():
        return _from_number_series(series, wanted)
    if dtype.is_temporal():
        raise dates_error(name)
    if series.is_null().all():
        return all_missing(ColumnType.REAL, len(series))
    raise unsupported_error(name, str(dtype))


def _has_text(series: nw.Series[Any]) -> bool:
    return not series.cat.get_categories().dtype.is_numeric()


def _from_number_series(series: nw.Series[Any], wanted: ColumnType | None) -> Encoded:
    dtype = series.dtype
    absent = np.asarray(series.is_null().to_numpy(), np.bool_)
    if dtype.is_float() or (dtype.is_integer() and not absent.any()):
        return _from_numbers(series.to_numpy(), wanted, whole=dtype.is_integer())
    known = series.drop_nulls()  # with missing values, integers would become floats
    values = known.to_numpy() if dtype.is_integer() else object_array(known.to_list())
    if wanted is ColumnType.CATEGORICAL:
        found = _numbers_to_categories(values)
        codes = all_missing(wanted, len(series)).array
        codes[~absent] = found.array
        return dataclasses.replace(found, array=codes)
    floats = series.cast(nw.Float64).to_numpy()
    return Encoded(ColumnType.REAL, np.asarray(floats, Real), whole=dtype.is_integer(), rounded=count_rounded(values))


def is_object(series: nw.Series[Any]) -> bool:
    """Return True if the values are Python objects, whose dtype narwhals only guesses from the first of them."""
    native = getattr(series.to_native(), "dtype", None)
    return series.dtype == nw.Object or (isinstance(native, np.dtype) and native.kind == "O")


def _from_array(name: str, array: Array, owner: RecordId, wanted: ColumnType | None) -> Encoded:
    kind = array.dtype.kind
    if kind == "b":
        return Encoded(ColumnType.BOOLEAN, array.view(Flag))
    if kind in "iuf":
        return _from_numbers(array, wanted, whole=kind in "iu")
    if kind == "U":
        levels, codes = np.unique(array, return_inverse=True)
        return Encoded(ColumnType.CATEGORICAL, codes.astype(Code), tuple(levels.tolist()), text=True)
    if kind == "O":
        return _from_objects(name, array, owner, wanted)
    if kind in "mM":
        raise dates_error(name)
    raise unsupported_error(name, str(array.dtype))


def _from_numbers(array: Array, wanted: ColumnType | None, *, whole: bool) -> Encoded:
    if wanted is ColumnType.CATEGORICAL:  # from the original numbers: large integers are not exact as floats
        return _numbers_to_categories(array)
    return Encoded(ColumnType.REAL, np.asarray(array, Real), whole=whole, rounded=count_rounded(array))


def count_rounded(values: Array) -> int:
    """Count the integers that no float represents exactly."""
    if values.dtype.kind not in "iuO" or values.dtype.itemsize < 8:
        return 0
    large = values[(values > EXACT) | (values < -EXACT)].tolist()
    return sum(value == int(value) and int(float(value)) != int(value) for value in large if _is_exact(value))


def _is_exact(value: Any) -> bool:
    """Return True if a number is exact in its source, and small enough for a float."""
    return not isinstance(value, float) and abs(value) < 1 << 1023


def _numbers_to_categories(array: Array) -> Encoded:
    """Encode numbers as categories; NaN is missing."""
    absent = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, np.bool_)
    distinct, inverse = np.unique(array[~absent], return_inverse=True)
    names = [level_name(value) for value in distinct]  # by NumPy's own type: a 32-bit 0.1 is also called 0.1
    levels = sorted(set(names))
    codes = np.full(array.shape, MISSING, Code)
    codes[~absent] = _positions(names, levels)[inverse]
    return Encoded(ColumnType.CATEGORICAL, codes, tuple(levels))


def _flags_to_categories(array: Array) -> Encoded:
    """Encode flags as categories; the levels are those that occur, as for all categories."""
    words = {value: word for value, word in ((0, "False"), (1, "True")) if (array == value).any()}
    codes = np.full(array.shape, MISSING, Code)
    for code, value in enumerate(words):
        codes[array == value] = code
    return Encoded(ColumnType.CATEGORICAL, codes, tuple(words.values()))


def _positions(names: Iterable[str], levels: Sequence[str]) -> Array:
    place = {level: code for code, level in enumerate(levels)}
    return np.array([place[name] for name in names], Code)


def _from_text(series: nw.Series[Any]) -> Encoded:
    text = series.cast(nw.String)
    levels = sorted(text.drop_nulls().unique().to_list())
    if not levels:
        return all_missing(ColumnType.CATEGORICAL, len(series))
    codes = text.replace_strict(levels, list(range(len(levels))), default=MISSING, return_dtype=nw.Int32)
    array = codes.fill_null(MISSING).to_numpy().astype(Code, copy=False)
    return Encoded(ColumnType.CATEGORICAL, array, tuple(levels), text=series.dtype == nw.String)


def _from_objects(name: str, values: Array, owner: RecordId, wanted: ColumnType | None) -> Encoded:
    present = ~np.fromiter(map(is_nothing, values), np.bool_, len(values))
    found = {type(value) for value in values[present]}
    families = {_family(kind) for kind in found}
    if not families:
        return all_missing(ColumnType.REAL, len(values))
    if len(families) > 1 or None in families:
        raise _mixed_types_error(name, values, present, owner)
    kind = families.pop() or ColumnType.REAL
    known = values[present]
    if kind is ColumnType.CATEGORICAL or (kind is ColumnType.REAL and wanted is ColumnType.CATEGORICAL):
        text = kind is ColumnType.CATEGORICAL
        names = [str(value) if text else level_name(value) for value in known]
        levels = sorted(set(names))
        codes = all_missing(ColumnType.CATEGORICAL, len(values)).array
        codes[present] = _positions(names, levels)
        return Encoded(ColumnType.CATEGORICAL, codes, tuple(levels), text=text)
    encoded = all_missing(kind, len(values))
    try:
        encoded.array[present] = known.astype(encoded.array.dtype)
    except OverflowError:
        raise DataError(f"column {name!r} holds a whole number too large for a float; scale it, or use text") from None
    whole = kind is ColumnType.REAL and all(issubclass(cls, numbers.Integral) for cls in found)
    rounded = count_rounded(known) if kind is ColumnType.REAL else 0
    return Encoded(kind, encoded.array, whole=whole, rounded=rounded, tabular=True)


def _family(kind: type) -> ColumnType | None:
    if issubclass(kind, bool | np.bool_):
        return ColumnType.BOOLEAN
    if issubclass(kind, str):
        return ColumnType.CATEGORICAL
    return ColumnType.REAL if issubclass(kind, numbers.Real | Decimal) else None


def _converted(name: str, found: Encoded, wanted: ColumnType, owner: RecordId) -> Encoded:
    """Convert between types without loss, or raise a DataError with examples."""
    if wanted is ColumnType.CATEGORICAL:
        return (
            _numbers_to_categories(found.array) if found.type is ColumnType.REAL else _flags_to_categories(found.array)
        )
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
    result = all_missing(wanted, len(read)).array
    result[present] = read[present]
    return Encoded(wanted, result)


def _mixed_types_error(name: str, values: Array, present: Array, owner: RecordId) -> DataError:
    firsts: dict[object, int] = {}
    for row in np.flatnonzero(present).tolist():
        kind = type(values[row])
        firsts.setdefault(_family(kind) or kind, row)
    if len(firsts) == 1:
        row = next(iter(firsts.values()))
        return unsupported_error(
            name, f"{type(values[row]).__name__}, such as {values[row]!r:.80} in record {owner(row)!r}"
        )
    shown = [f"{values[row]!r:.40} in record {owner(row)!r}" for row in list(firsts.values())[:4]]
    return DataError(f"column {name!r} has mixed types: {'; '.join(shown)}; make all its values one type")


def dates_error(name: str) -> DataError:
    """Return the error for a column of dates, with a remedy."""
    return DataError(
        f"column {name!r} holds dates or durations, which are no attribute; name it as `time`, "
        "turn it into a number (such as seconds), or leave it out with `columns`"
    )


def unsupported_error(name: str, what: str) -> DataError:
    """Return the error for a column of an unsupported type, with a remedy."""
    remedy = "make them numbers, Booleans or text, or leave the column out"
    return DataError(f"column {name!r} holds values of an unsupported type: {what}; {remedy}")


# ---- An encoded column -> the type it had in other data, for types that differ only in their values.


def convert_column(own: Column, wanted: Column, array: Array) -> Array:
    """Convert values to the wanted type; numbers to names, and names to numbers, are a DataError.

    A column without any value fits every type.
    """
    if is_missing(array).all():
        return all_missing(wanted.type, len(array)).array
    if wanted.type is ColumnType.BOOLEAN:
        return to_flags(array) if own.type is ColumnType.REAL else levels_to_flags(array, own.levels)
    if own.type is ColumnType.BOOLEAN:
        named = wanted.type is ColumnType.CATEGORICAL
        return flags_to_codes(array, wanted.levels, UNSEEN) if named else flags_to_floats(array)
    raise DataError(
        f"column {own.name!r} is {own.type}, but {wanted.type} was expected; "
        "convert it, or give the schema when you read the data"
    )


def neither_true_nor_false(own: Column, before: Array, after: Array) -> list[str]:
    """Describe the values of a column that were lost when it became Boolean; empty if none were."""
    lost = before[is_missing(after) & ~is_missing(before)]
    if len(lost) == 0:
        return []
    some = np.unique(lost).tolist()
    shown = [own.levels[code] if code >= 0 else "a name that is not known" for code in some] if own.levels else some
    return [f"column {own.name!r}: {listed(shown, 3)} ({counted(len(lost), 'value')})"]


def warn_neither(findings: list[str]) -> None:
    """Issue one warning for all findings of `neither_true_nor_false`."""
    if findings:
        warn("values that are neither true nor false count as missing where that was learnt: " + "; ".join(findings))


def decoded(column: Column, values: Array) -> Array:
    """Return floats, Booleans or level names; missing Booleans and names are None, as are codes without a level."""
    if column.type is ColumnType.REAL:
        return values
    names: list[object] = [False, True] if column.type is ColumnType.BOOLEAN else list(column.levels)
    return object_array([*names, None, None])[values]  # the codes -2 and -1 index the last two
