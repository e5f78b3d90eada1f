"""From the arguments of a verb to a panel."""

from typing import TYPE_CHECKING, Any

from telltree.cli.options import DataOptions
from telltree.errors import DataError

if TYPE_CHECKING:
    from telltree.data import Panel


def read_sources(sources: list[str], options: DataOptions) -> "tuple[Panel, Any]":
    """The panel, and the labels or None."""
    from telltree.data import read

    panel, labels = read(
        sources[0] if len(sources) == 1 else sources,
        id=options.id,
        time=options.time,
        label=options.label,
        labels=options.labels,
        columns=options.columns or None,
        static=options.static or (),
        schema=options.schema,
        period=options.period,
        time_unit=options.time_unit,
        every=options.every,
        how=options.how,
        missing=options.missing,
        encoding=options.encoding,
    )
    return panel, labels


def read_labelled(sources: list[str], options: DataOptions) -> "tuple[Panel, Any]":
    """The panel and the labels, which must be there."""
    panel, labels = read_sources(sources, options)
    if labels is None:
        raise DataError("there are no labels: name their column with --label, or their table with --labels")
    return panel, labels
