"""Cells that Arrow has split: numbers and dates are read many at a time."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from telltree.data.columns.cells import Cells
from telltree.data.columns.naming import says_missing
from telltree.data.store import Array

GAPS = tuple(filter(says_missing, ("", "NA", "N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")))  # met at once
HEAD = 100  # cells that are tried first: it takes Arrow long to fail


class ArrowCells(Cells):
    """Cells that Arrow has split. It reads what Python reads, or less; what it takes for a number or a date is one."""

    def __init__(self, array: Any) -> None:
        """Take an array of text, without gaps; or a dictionary of it, of which only `coded` can be asked."""
        self._array = array

    @cached_property
    def _compute(self) -> Any:
        return import_module("pyarrow.compute")

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._array)

    def at(self, places: Sequence[int]) -> list[str]:
        """Give the cells at these places."""
        cells: list[str] = self._array.take(import_module("pyarrow").array(list(places), "int64")).to_pylist()
        return cells

    def have(self, mark: str) -> bool:
        """Tell whether a character occurs in any cell."""
        return bool(self._compute.any(self._compute.match_substring(self._array, mark)).as_py())

    def coded(self) -> tuple[list[str], Array]:
        """Give the different cells, in order of first appearance, and which of them each cell is."""
        coded = hasattr(self._array, "indices")
        encoded = self._array if coded else self._array.dictionary_encode()
        return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()

    def numbers(self, *, comma: bool) -> Array | None:
        """Give floats if all cells are numbers or missing, or None."""
        for written in self._written(comma):
            found = self._cast(written, "float64")
            numbers = None if found is None else _floats(found)
            if numbers is not None:
                return numbers
        return None

    def _written(self, comma: bool) -> Iterator[Any]:
        """Give the cells as they are; then without spaces round them, and without those that say nothing."""
        yield self._array
        compute = self._compute
        bare = compute.ascii_trim_whitespace(self._array)
        words = import_module("pyarrow").array(GAPS)
        bare = compute.if_else(compute.is_in(bare, words), None, bare)
        yield compute.replace_substring(bare, ",", ".") if comma else bare

    def whole_numbers(self) -> Array | None:
        """Give integers of 64 bits if all cells are such, or None."""
        found = self._cast(self._array, "int64")
        hexadecimal = found is not None and (self.have("x") or self.have("X"))  # for Arrow a number
        return None if found is None or hexadecimal else found.to_numpy()

    def dates(self) -> Array | None:
        """Give dates if all cells are written as ISO 8601 has it, without an offset from UTC, or None."""
        found = self._cast(self._array, import_module("pyarrow").timestamp("us"))
        return None if found is None else found.to_numpy()

    def _cast(self, array: Any, kind: Any) -> Any:
        try:
            if kind != "float64":
                array[:HEAD].cast(kind)
            return array.cast(kind)
        except import_module("pyarrow").ArrowInvalid:
            return None


class NumberCells(Cells):
    """Cells that Arrow has split and read as numbers at once; their text is split only if somebody asks for it."""

    def __init__(self, array: Any, text: Callable[[], Cells]) -> None:
        """Take an array of floats, null where a cell says that a value is missing."""
        self._array, self._split = array, text

    @cached_property
    def _text(self) -> Cells:
        return self._split()

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._array)

    def at(self, places: Sequence[int]) -> list[str]:
        """Give the cells at these places."""
        return self._text.at(places)

    def have(self, mark: str) -> bool:
        """Tell whether a character occurs in any cell."""
        return self._text.have(mark)

    def coded(self) -> tuple[list[str], Array]:
        """Give the different cells, in order of first appearance, and which of them each cell is."""
        return self._text.coded()

    def numbers(self, *, comma: bool) -> Array | None:
        """Give floats if all cells are numbers or missing, or None."""
        found = _floats(self._array)
        return self._text.numbers(comma=comma) if found is None else found

    def whole_numbers(self) -> Array | None:
        """Give nothing: they were not all whole before."""
        return None


def _floats(found: Any) -> Array | None:
    """Give NumPy's floats, NaN where they are null; None if one was NaN by itself, which may be nan(x): no number."""
    numbers: Array = found.to_numpy(zero_copy_only=False)
    absent = np.isnan(numbers).sum() if found.null_count or np.isnan(numbers.max(initial=0)) else 0
    return numbers if absent == found.null_count else None
