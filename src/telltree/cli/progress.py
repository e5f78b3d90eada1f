"""Progress on stderr: a bar on a terminal, otherwise nothing."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from telltree.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

    from telltree.tree import NodeProgress


@contextmanager
def bar(*, left: bool = True) -> Iterator["Progress | None"]:
    """Yield a bar with a remark beside it, and the time left unless `left` is false; None if stderr is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console, ConsoleOptions
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    class Narrower(Console):
        """Leaves room for the ^C that a terminal echoes: after a full line it would wrap, and the bar would stay."""

        @property
        def options(self) -> ConsoleOptions:
            full = super().options
            return full.update_width(full.max_width - len("^C"))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f} %", markup=False),
        TimeElapsedColumn(),
        *((TextColumn("left", markup=False), TimeRemainingColumn()) if left else ()),
        # The last column is cut off if the line is too long: formulas may be.
        TextColumn("{task.fields[remark]}", markup=False, table_column=Column(ratio=1, no_wrap=True)),
    )
    with Progress(*columns, console=Narrower(stderr=True), transient=True, expand=True) as progress:
        yield progress


@contextmanager
def fitting(max_depth: int, folds: int = 0) -> Iterator["Callable[[NodeProgress], None] | None"]:
    """Yield the `callback` of an estimator, which shows a bar for learning and for cross-validation."""
    from telltree.cli.output import one_line

    with bar() as progress:
        if progress is None:
            yield None
            return
        task = progress.add_task("learning", total=1.0, remark="")
        shares = [WorkShare(max_depth) for _ in range(folds + 1)]

        def show(event: "NodeProgress") -> None:
            search, fold = event.search, 0 if event.fold is None else event.fold[0]
            remark = f"node {event.node}, {counted(event.records, 'record')}"
            if search.evaluations and search.seconds:
                remark = f"{search.evaluations / search.seconds:,.0f} formulas/s · {remark}"
            if search.best:  # there is none while formulas are scored on a sample alone
                remark += f" · {search.fitness:.2f} {one_line(str(search.best))}"
            phase = "learning" if event.fold is None else f"cross-validating, fold {fold} of {event.fold[1]}"
            done = (fold + shares[min(fold, folds)].done(event)) / (folds + 1)
            progress.update(task, description=phase, completed=done, remark=remark)

        yield show


class WorkShare:
    """An estimate of the share of the work that is done, in units of one record at one level of the tree.

    Nodes come in preorder, the true side first, so everything to the left of the path to a node is done. A side that
    became a leaf early counts as if all its levels had been learned.
    """

    def __init__(self, max_depth: int) -> None:
        self._levels = max(1, max_depth)
        self._records: dict[int, int] = {}

    def done(self, event: "NodeProgress") -> float:
        """Return the share that is done when a node reports, from 0 to 1."""
        self._records[event.node] = event.records
        total = self._records.get(1, event.records) * self._levels
        here = 0.5 if event.search.spent is None else event.search.spent
        done = event.records * here
        node = event.node
        while node > 1:
            parent, levels_below = node // 2, self._levels - node.bit_length() + 1
            done += self._records[parent]
            if node % 2:  # this is the false side, so the true side, with the other records, is done
                done += (self._records[parent] - self._records[node]) * levels_below
            node = parent
        return float(min(1.0, done / total)) if total else 1.0
