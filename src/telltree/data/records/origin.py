"""Where records were read: Parquet files, and the rows of each record in them."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from telltree.data.records.assemble import Options
from telltree.data.store import Array

if TYPE_CHECKING:
    from telltree.data.records.rows import Roles


@dataclass(frozen=True)
class Stored:
    """A file, and what it looked like before it was read."""

    path: str
    size: int
    changed: int
    """When it was changed last, in nanoseconds."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Files with the rows of some records, record by record, and how they were read."""

    files: tuple[Stored, ...]
    rows: tuple[int, ...]
    """Of each file."""
    roles: "Roles"
    options: Options
    starts: Array
    """The first row of each record, counted through all files."""
    counts: Array
    """The rows of each record, before those that repeat a time were made one, and before it was resampled."""

    def of(self, records: Array) -> "Origin":
        """Where some of the records were read."""
        return replace(self, starts=self.starts[records], counts=self.counts[records])
