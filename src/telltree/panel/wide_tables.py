"""Wide tables, one row per record and one column per step -> the data of a panel, and labels."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from telltree.errors import DataError, warn
from telltree.panel.grouping import Grouping, by_id, given_ids, in_order
from telltree.panel.input_options import Options, Roles, Use
from telltree.panel.panel_data import InputColumns, PanelData, assemble, labels_of
from telltree.panel.schema import ColumnType, listed
from telltree.panel.store import Array, align_codes, is_missing
from telltree.panel.type_inference import Encoded, Values, all_missing, encode_by_dtype
from telltree.panel.units_and_names import placeholder_names, stem_of
from telltree.text import counted

SERIES = "x1"  # the name of a table's only series, as in .ts files


def wide_plan(roles: Roles, names: list[str]) -> dict[str, Use]:
    """Return the uses of the columns of a wide table; without a header, the first column may be the label."""
    return _guess_label(roles, names).plan(names)


def read_wide(
    values: Mapping[str, Values], roles: Roles, options: Options, ids: Sequence[Any] | None = None
) -> tuple[PanelData, Array | None]:
    """Make a series of the steps in each row; missing values at its end do not count, so lengths may differ."""
    if roles.time is not None:
        raise DataError("a wide table has no column of times; say how long a step is by period (--period)")
    roles, values = _with_guessed_label(roles, values)
    count = len(next(iter(values.values()), ()))
    rows = _records(values, roles, ids, count)
    y = None if roles.label is None else labels_of(values[roles.label], roles.label, rows, gaps=options.drop_unlabelled)
    attributes = [name for name in roles.attributes(values) if name not in roles.static]
    series = {
        name: _stacked(steps, values, rows, options.declared(name)) for name, steps in _series(attributes).items()
    }
    lengths = _lengths(list(series.values()), count)
    grouping = in_order(rows.ids, lengths, None)
    static = {name: _arranged(name, values[name], rows, options.declared(name)) for name in roles.static}
    cut = {name: _cut(column, lengths) for name, column in series.items()}
    options = dataclasses.replace(roles, columns=None).relevant(options, [*cut, *static])
    return assemble(InputColumns(cut, static), grouping, options), y


def _guess_label(roles: Roles, names: Sequence[str]) -> Roles:
    chosen = roles.label is not None or roles.id is not None or roles.columns is not None or roles.hidden
    bare = bool(names) and list(names) == placeholder_names(len(names))
    return dataclasses.replace(roles, label=names[0]) if bare and not chosen else roles


def _with_guessed_label(roles: Roles, values: Mapping[str, Values]) -> tuple[Roles, Mapping[str, Values]]:
    """Take the first column of a table without a header for the label, as in the UCR archive, if possible."""
    guess = _guess_label(roles, list(values))
    if guess.label == roles.label or guess.label is None:
        return roles, values
    first = values[guess.label]
    array = first.array if isinstance(first, Encoded) else first
    if isinstance(array, np.ndarray) and array.dtype.kind == "f" and (array != np.round(array)).any():
        return roles, {**values, guess.label: Encoded(ColumnType.REAL, np.asarray(array, float))}
    warn("the table has no names; its first column is taken for the label, as in the UCR archive")
    return guess, values


def _records(values: Mapping[str, Values], roles: Roles, ids: Sequence[Any] | None, count: int) -> Grouping:
    roles.plan(list(values))  # first refuse roles that name no column
    if roles.id is None:
        return in_order(given_ids(ids, count), np.ones(count, np.int64), None)
    rows = by_id(values[roles.id], roles.id, None)
    several = rows.ids[rows.lengths > 1].tolist()
    if several:
        raise DataError(
            f"a wide table has one row a record, but {counted(len(several), 'id has', 'ids have')} several: "
            f"{listed(several)}; is it a long table?"
        )
    return rows


def _series(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the steps of each series: one series, or one for each stem if there are several (temp_0, flow_0, …)."""
    stems = {name: stem_of(name) for name in names}
    others = [name for name, stem in stems.items() if stem is None]
    if not names:
        raise DataError("there are no columns to learn from")
    if others and len(others) < len(names) and list(names) != placeholder_names(len(names)):
        raise DataError(
            f"columns of a wide table are steps, but {listed(others)} {'is' if len(others) == 1 else 'are'} not called "
            "like one; name them as id, label or static, or choose the steps by columns (--column)"
        )
    series: dict[str, list[str]] = {}
    for name, stem in stems.items():
        series.setdefault("" if others or stem is None else stem[0], []).append(name)
    if len(series) == 1:
        return {SERIES: list(names)}
    numbers = {stem: [found[1] for name in steps if (found := stems[name])] for stem, steps in series.items()}
    first = next(iter(numbers))
    odd = [stem for stem in numbers if numbers[stem] != numbers[first]]
    if odd:
        raise DataError(
            f"the series {first!r} and {odd[0]!r} of the wide table have different steps; choose one by columns "
            "(--column), or name what is no step as id, label or static"
        )
    return {stem or SERIES: steps for stem, steps in series.items()}


def _arranged(name: str, values: Values, rows: Grouping, declared: Collection[str]) -> Encoded:
    encoded = encode_by_dtype(name, values, rows.id_of, None, declared)
    return dataclasses.replace(encoded, array=rows.arranged(encoded.array))


def _stacked(steps: Sequence[str], values: Mapping[str, Values], rows: Grouping, declared: Collection[str]) -> Encoded:
    """Return the steps of a series as one column in record order; all must have one type."""
    columns = {step: _arranged(step, values[step], rows, declared) for step in steps}
    types = {found.type: step for step, found in columns.items() if not is_missing(found.array).all()}
    if len(types) > 1:
        shown = ", ".join(f"{step!r} is {kind}" for kind, step in types.items())
        raise DataError(
            f"the steps of a series are of one type, but {shown}; name what is no step as id, label or static"
        )
    kind = next(iter(types), ColumnType.REAL)
    levels = tuple(sorted({level for found in columns.values() for level in found.levels}))
    arrays = []
    for found in columns.values():
        array = found.array if found.type is kind else all_missing(kind, len(found)).array
        arrays.append(align_codes(array, found.levels, levels) if found.levels else array)
    whole = all(found.whole or is_missing(found.array).all() for found in columns.values())
    text = all(found.text or not found.levels for found in columns.values())
    rounded = sum(found.rounded for found in columns.values())
    gaps = tuple(dict.fromkeys(word for found in columns.values() for word in found.gaps))
    tabular = all(found.tabular for found in columns.values())
    return Encoded(kind, np.stack(arrays, axis=1).reshape(-1), levels, whole, text, rounded, gaps, tabular)


def _lengths(series: Sequence[Encoded], count: int) -> Array:
    """Return the number of steps of each record, up to its last value in any series."""
    present = np.zeros((count, len(series[0]) // max(count, 1)), np.bool_)
    for column in series:
        present |= ~is_missing(column.array).reshape(present.shape)
    return np.where(present.any(axis=1), present.shape[1] - np.argmax(present[:, ::-1], axis=1), 0)


def _cut(column: Encoded, lengths: Array) -> Encoded:
    steps = np.arange(len(column) // max(len(lengths), 1))
    inside = (steps < lengths[:, None]).reshape(-1)
    return column if inside.all() else dataclasses.replace(column, array=column.array[inside])
