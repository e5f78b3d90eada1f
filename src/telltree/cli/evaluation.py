"""Evaluation of a model, for verbs that report it: options, and the records to judge by."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.inputs import read_labelled, read_sources
from telltree.cli.options import DataOptions
from telltree.cli.output import USAGE, fail, say
from telltree.cli.progress import bar
from telltree.defaults import FOLDS
from telltree.errors import DataError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from telltree.estimators import GrammarTreeClassifier
    from telltree.estimators.judgement import Judgement
    from telltree.panel import Panel, Schema


@dataclass(frozen=True)
class EvaluationOptions:
    """Records to judge the tree by, and the cross-validation that chooses its size."""

    test: Annotated[
        list[str] | None,
        typer.Option(
            "--test", metavar="DATA", help="Labelled records that were kept back (repeatable): judge by them."
        ),
    ] = None
    cv: Annotated[
        int | None,
        typer.Option(
            metavar="FOLDS",
            min=2,
            help="Choose the size of the tree by cross-validation in so many folds, which also judge it, unless --test "
            f"does; without it, the tree is judged in {FOLDS} folds, and the price of formulas chooses its size.",
        ),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Records with the same value are kept apart together; it is not learnt from."
        ),
    ] = None
    no_cv: Annotated[
        bool, typer.Option("--no-cv", help="Do not cross-validate, which takes as long as learning once for each fold.")
    ] = False

    def check(self) -> None:
        """End with an error, before any work, if options contradict each other."""
        if self.no_cv and self.cv is not None:
            fail("give --cv or --no-cv, not both", USAGE)


@dataclass(frozen=True)
class Records:
    """Records to learn from, and to judge by: folds of the same records, a test set, or none."""

    panel: "Panel"
    labels: Any
    groups: Any
    test: "tuple[Panel, Any] | None"
    folds: int | None
    """Number of folds that judge the tree; None if the test set does, or nothing."""
    cv: int | None
    """Number of folds that choose its size."""


def read_records(sources: list[str], data: DataOptions, judge: EvaluationOptions, seed: int) -> Records:
    """Read everything before the long work, so that errors show first."""
    panel, labels, groups = _grouped(sources, data, judge.groups)
    test = read_judged(judge.test, data, panel.schema) if judge.test else None
    cv = None if judge.cv is None else _folds(labels, groups, judge.cv, seed)
    apart = test is not None or judge.no_cv
    return Records(panel, labels, groups, test, None if apart else cv or _folds(labels, groups, None, seed), cv)


def read_judged(sources: list[str], data: DataOptions, like: "Schema") -> "tuple[Panel, Any]":
    """Read labelled records for a model with this schema."""
    panel, labels = read_sources(sources, data, like)
    if labels is None:
        raise DataError("there are no labels to judge by: name their column with --label, or their table with --labels")
    return panel, labels


def judgement_of(
    model: "GrammarTreeClassifier", records: Records, seed: int, *, client: Any = None, max_memory: str | None = None
) -> "Judgement | None":
    """Judge the model on records that it has not seen; None if that was not requested."""
    from telltree.estimators.judgement import judge_by_folds, judge_on

    if records.test is not None:
        return judge_on(model, *records.test, train=(records.panel, records.labels))
    if records.folds is None:
        return None
    with _folding() as progress:
        return judge_by_folds(
            model, records.panel, records.labels,
            number=records.folds, groups=records.groups, seed=seed,
            progress=progress, client=client, max_memory=max_memory,
        )  # fmt: skip


def _grouped(sources: list[str], data: DataOptions, groups: str | None) -> "tuple[Panel, Any, Any]":
    """Return the panel without the column of groups, the labels, and the group of each record."""
    if groups is None:
        return *read_labelled(sources, data), None
    for name, role in ((data.id, "--id"), (data.time, "--time"), (data.label, "--label")):
        if groups == name:
            raise SettingsError(f"--groups must be a column of its own, and {groups!r} is {role}")
    columns = [*data.columns, groups] if data.columns and groups not in data.columns else data.columns
    panel, labels = read_labelled(sources, dataclasses.replace(data, columns=columns))
    found = _one_each(panel, groups)
    return panel.select([name for name in panel.schema if name != groups]), labels, found


def _one_each(panel: "Panel", name: str) -> Any:
    """Return the value of each record; DataError if a record has none, or several."""
    import numpy as np

    from telltree.panel.schema import listed
    from telltree.panel.store import is_missing

    values = panel.stacked(name)
    firsts = values[np.cumsum(panel.lengths) - panel.lengths]
    odd = is_missing(values) | (values != np.repeat(firsts, panel.lengths))
    if odd.any():
        records = np.unique(np.repeat(np.arange(len(panel)), panel.lengths)[odd])
        where = listed(panel.ids[records].tolist(), 3)
        raise DataError(f"column {name!r} must have one value in each record to group by, and has not in {where}")
    return firsts


def _folds(labels: Any, groups: Any, requested: int | None, seed: int) -> int | None:
    """Return the number of folds; None, with a remark, if none was requested and the records do not allow any."""
    import numpy as np

    from telltree.estimators.cross_validation import stratified_folds

    number = requested or FOLDS
    try:
        stratified_folds(np.unique(labels, return_inverse=True)[1], groups, number, seed)
    except SettingsError as error:
        if requested is not None:
            raise
        say(f"not cross-validated: {error}")
        return None
    return number


@contextmanager
def _folding() -> "Iterator[Callable[[int, int], None] | None]":
    """Yield the `progress` function for a cross-validation, which shows a bar."""
    with bar() as progress:
        if progress is None:
            yield None
            return
        task = progress.add_task("cross-validating", total=1.0, remark="")

        def show(number: int, of: int) -> None:
            progress.update(task, completed=(number - 1) / of, remark=f"fold {number} of {of}")

        yield show
