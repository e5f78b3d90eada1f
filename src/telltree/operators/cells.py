"""Who must know every operator: each keeps a table with a cell for each, and what is not in it is refused by name."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TypeVar

from telltree.errors import OperatorError
from telltree.operators.table import OPERATORS, Operator

T = TypeVar("T")


class Cells(MutableMapping[Operator, T]):
    """What one who speaks of operators knows of each; asking for one that is not there is an OperatorError."""

    def __init__(
        self, who: str, place: str, cells: Mapping[Operator, T], about: Callable[[Operator], bool] = lambda _: True
    ) -> None:
        """`who` speaks, in which `place` of the source; `about` tells which operators may come there."""
        self.who, self.place, self.about = who, place, about
        self._cells = dict(cells)
        self.changes = 0
        """How often cells were added or taken away, for those who remember what follows from all of them."""
        EVERYONE.append(self)

    def __getitem__(self, operator: Operator) -> T:
        try:
            return self._cells[operator]
        except KeyError:
            raise OperatorError(operator.name, f"{self.place} ({self.who})") from None

    def __contains__(self, operator: object) -> bool:
        return operator in self._cells

    def __setitem__(self, operator: Operator, cell: T) -> None:
        self._cells[operator] = cell
        self.changes += 1

    def __delitem__(self, operator: Operator) -> None:
        del self._cells[operator]
        self.changes += 1

    def __iter__(self) -> Iterator[Operator]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)


EVERYONE: list[Cells] = []  # type: ignore[type-arg]  # each has cells of its own kind
"""All tables of cells; those of a module are here once it is imported."""


_TABLE = "operators/table.py"
_IN_ROWS = {"LaTeX": "latex", "the paper's English": "english", "messages": "operands", "text": "spellings"}
"""Whose cells are fields of the rows themselves."""


def missing_cells() -> list[str]:
    """Which operators some table lacks: one line each, with the operator, who must know it, and where."""
    lacks = [(row, who, _TABLE) for row in OPERATORS for who, field in _IN_ROWS.items() if not getattr(row, field)]
    lacks += [(row, of.who, of.place) for row in OPERATORS for of in EVERYONE if of.about(row) and row not in of]
    return [f"operator {row.name!r} has no cell for {who}: add it in {place}" for row, who, place in lacks]
