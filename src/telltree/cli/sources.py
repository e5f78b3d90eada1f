"""From the arguments of a verb to a panel."""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from telltree.cli.options import DataOptions
from telltree.cli.outcome import say
from telltree.errors import DataError, SettingsError

if TYPE_CHECKING:
    from telltree.data import Panel, Schema
    from telltree.tree import Tree


_NOT_SCANNED = ("every", "how", "repeated", "wide")


def read_sources(sources: list[str], options: DataOptions, like: "Schema | None" = None) -> "tuple[Panel, Any]":
    """The panel, and the labels or None; columns that are categorical in a model's schema, `like`, are so here."""
    from telltree.data import read, scan

    chosen = {
        "columns": options.columns or None,
        "drop": options.drop or (),
        "static": options.static or (),
    }  # an option not given is an empty list
    given: dict[str, Any] = {**vars(options), **chosen, "like": like}
    source: Any = sources[0] if len(sources) == 1 else sources
    if not given.pop("scan"):
        return read(source, **given)
    for name in _NOT_SCANNED:
        if given.pop(name) != getattr(DataOptions(), name):
            raise SettingsError(f"--scan reads rows as they stand, without --{name}; leave out one of the two")
    return scan(source, **given)


def as_learnt(sources: list[str], options: DataOptions, tree: "Tree") -> DataOptions:
    """The options, completed by how the tree's training data were read; reports what was added.

    In a folder, or among several files, each file may be one record: only the user can say, by --id.
    """
    from telltree.data.files.directory import files_of

    several = len(sources) > 1 or (sources[0] != "-" and files_of(sources[0])[1])
    nameless = sources[0].lower().endswith((".ts", ".ts.gz"))
    own = {"id"} if several else {"id", "time"} if nameless else set()
    usual = DataOptions()
    added = {
        name: value
        for name, value in tree.how_read.given().items()
        if getattr(options, name) == getattr(usual, name) and name not in own
    }
    if added:
        told = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in added.items())
        say(f"reading as the model's training data were read: {told}")
    return replace(options, **added)


def read_labelled(sources: list[str], options: DataOptions) -> "tuple[Panel, Any]":
    """The panel and the labels, which are required."""
    panel, labels = read_sources(sources, options)
    if labels is None:
        raise DataError("there are no labels: name their column with --label, or their table with --labels")
    return panel, labels


def id_heading(options: DataOptions, others: Collection[str]) -> str:
    """The heading of the id column in results: as in the data, unless another column of the table has that name."""
    return options.id if options.id is not None and options.id not in others else "record"
