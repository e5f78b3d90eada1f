"""A chunk of the cells of one column, and what can be read of it at once."""

import abc
import enum
from collections.abc import Sequence

import numpy as np

from telltree.data.store import Array, Index, Real


class Expects(enum.Enum):
    """What a column expects of its next cells, after those that it met: it may be wrong, but is worth a try."""

    TEXT = "anything"
    NUMBERS = "numbers, not all of them whole"
    NAMES = "words that occur again and again"


class Cells(abc.ABC):
    """Text of some rows, in order. What says "or None" may give up on what it could have read: others then read it."""

    @abc.abstractmethod
    def __len__(self) -> int:
        """Count the cells."""

    @abc.abstractmethod
    def at(self, places: Sequence[int]) -> list[str]:
        """Give the cells at these places."""

    @abc.abstractmethod
    def have(self, mark: str) -> bool:
        """Tell whether a character occurs in any cell."""

    @abc.abstractmethod
    def coded(self) -> tuple[list[str], Array]:
        """Give the different cells, in order of first appearance, and which of them each cell is."""

    @abc.abstractmethod
    def numbers(self, *, comma: bool) -> Array | None:
        """Give floats if all cells are numbers, or None."""

    @abc.abstractmethod
    def whole_numbers(self) -> Array | None:
        """Give integers of 64 bits if all cells are such, or None."""

    def dates(self) -> Array | None:
        """Give dates if all cells are written as ISO 8601 has it, without an offset from UTC, or None."""
        return None


class PythonCells(Cells):
    """Cells that Python has split."""

    def __init__(self, cells: Sequence[str]) -> None:
        """Take the cells."""
        self._cells = cells

    def __len__(self) -> int:
        """Count the cells."""
        return len(self._cells)

    def at(self, places: Sequence[int]) -> list[str]:
        """Give the cells at these places."""
        return [self._cells[place] for place in places]

    def have(self, mark: str) -> bool:
        """Tell whether a character occurs in any cell."""
        return mark in "".join(self._cells)

    def coded(self) -> tuple[list[str], Array]:
        """Give the different cells, in order of first appearance, and which of them each cell is."""
        codes = {cell: code for code, cell in enumerate(dict.fromkeys(self._cells))}
        return list(codes), np.fromiter(map(codes.__getitem__, self._cells), Index, len(self._cells))

    def numbers(self, *, comma: bool) -> Array | None:
        """Give floats if all cells are numbers, and none has a decimal comma, or None."""
        try:
            numbers = np.fromiter(map(float, self._cells), Real, len(self._cells))
        except ValueError:
            return None
        return None if self.have("_") else numbers  # Python reads 1_000 as a number; in data it is a name

    def whole_numbers(self) -> Array | None:
        """Give integers of 64 bits if all cells are such, or None."""
        try:
            return np.fromiter(map(int, self._cells), np.int64, len(self._cells))
        except (ValueError, OverflowError):
            return None
