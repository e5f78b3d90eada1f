"""How well a model does, for verbs that report it: options, the records to judge by, and class weights."""

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from telltree.cli.inputs import read_labelled, read_sources
from telltree.cli.options import USAGE, DataOptions, fail, say
from telltree.cli.progress import bar
from telltree.defaults import FOLDS
from telltree.errors import DataError, SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from telltree.estimators import GrammarTreeClassifier
    from telltree.estimators.judgement import Judgement
    from telltree.panel import Panel, Schema


@dataclass(frozen=True)
class JudgeOptions:
    """Which records to judge the tree by, and whether to choose its size by cross-validation."""

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
    """What to learn from, and what to judge by: folds of the same records, a test set, or nothing."""

    panel: "Panel"
    labels: Any
    groups: Any
    test: "tuple[Panel, Any] | None"
    folds: int | None
    """In how many folds the tree is judged; None if it is not, or by the test set."""
    cv: int | None
    """In how many folds its size is chosen."""


def read_records(sources: list[str], data: DataOptions, judge: JudgeOptions, seed: int) -> Records:
    """Read all that is needed, so that errors show before the long work."""
    panel, labels, groups = _grouped(sources, data, judge.groups)
    test = read_judged(judge.test, data, panel.schema) if judge.test else None
    cv = None if judge.cv is None else _folds(labels, groups, judge.cv, seed)
    apart = test is not None or judge.no_cv
    return Records(panel, labels, groups, test, None if apart else cv or _folds(labels, groups, None, seed), cv)


def read_judged(sources: list[str], data: DataOptions, like: "Schema") -> "tuple[Panel, Any]":
    """Labelled records for a model with this schema."""
    panel, labels = read_sources(sources, data, like)
    if labels is None:
        raise DataError("there are no labels to judge by: name their column with --label, or their table with --labels")
    return panel, labels


def judged(
    model: "GrammarTreeClassifier", records: Records, seed: int, *, client: Any = None, max_memory: str | None = None
) -> "Judgement | None":
    """How well the model does on unseen records; None if that was not requested."""
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


def class_weights(given: list[str] | None) -> dict[str, float] | str | None:
    """The value of --class-weight, by the text of each class; SettingsError if it cannot be read."""
    if not given:
        return None
    if "balanced" in given:
        if len(set(given)) > 1:
            raise SettingsError("--class-weight balanced gives every class its weight: give no others")
        return "balanced"
    return _by_class(given, _WEIGHT)


def least_recalls(given: list[str] | None) -> dict[str, float] | None:
    """The value of --min-recall, by the text of each class; SettingsError if it cannot be read."""
    return _by_class(given, _RECALL) if given else None


def of_classes(found: dict[str, float] | Any, labels: Any, option: str = "--class-weight") -> Any:
    """What an option says of classes, by class; SettingsError if there is no such class."""
    if not isinstance(found, dict):
        return found
    from telltree.panel.schema import listed

    classes = {str(label): label for label in sorted(set(labels.tolist()))}
    unknown = [label for label in found if label not in classes]
    if unknown:
        raise SettingsError(f"{option}: there is no class {unknown[0]!r}; there are {listed(classes, 10)}")
    return {classes[label]: number for label, number in found.items()}


class _Number(NamedTuple):
    """What an option gives to a class."""

    option: str
    name: str
    expected: str
    most: float


_WEIGHT = _Number("--class-weight", "weight", "balanced, or a class and its weight such as bad=4", math.inf)
_RECALL = _Number("--min-recall", "recall", "a class and a share such as bad=.95", 1.0)


def _by_class(given: list[str], of: _Number) -> dict[str, float]:
    """The number that each CLASS=NUMBER gives to a class."""
    found: dict[str, float] = {}
    for text in given:
        label, equals, number = text.rpartition("=")
        if not equals:
            raise SettingsError(f"{of.option} must be {of.expected}, got {text!r}")
        if label in found:
            raise SettingsError(f"{of.option} gives two {of.name}s to {label!r}; give one")
        found[label] = _read(label, number, of)
    return found


def _read(label: str, number: str, of: _Number) -> float:
    try:
        found = float(number)
    except ValueError:
        found = math.nan
    if not (0 <= found <= of.most and found < math.inf):
        bounds = "of at least 0" if of.most == math.inf else f"between 0 and {of.most:g}"
        raise SettingsError(f"{of.option}: the {of.name} of {label!r} must be a number {bounds}, got {number!r}")
    return found


def _grouped(sources: list[str], data: DataOptions, groups: str | None) -> "tuple[Panel, Any, Any]":
    """The panel without the column of groups, the labels, and the group of each record."""
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
    """The value of each record; DataError if a record has none, or several."""
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


def _folds(labels: Any, groups: Any, asked: int | None, seed: int) -> int | None:
    """The folds to judge by; None, with a remark, if there can be none and they were not requested."""
    import numpy as np

    from telltree.estimators.cross_validation import stratified_folds

    number = asked or FOLDS
    try:
        stratified_folds(np.unique(labels, return_inverse=True)[1], groups, number, seed)
    except SettingsError as error:
        if asked is not None:
            raise
        say(f"not cross-validated: {error}")
        return None
    return number


@contextmanager
def _folding() -> "Iterator[Callable[[int, int], None] | None]":
    """The `progress` function for a cross-validation, which shows a bar."""
    with bar() as progress:
        if progress is None:
            yield None
            return
        task = progress.add_task("cross-validating", total=1.0, remark="")

        def show(number: int, of: int) -> None:
            progress.update(task, completed=(number - 1) / of, remark=f"fold {number} of {of}")

        yield show
