"""The input of estimators, read into a panel, labels and weights; plain tables follow scikit-learn's conventions."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_array

from telltree.errors import DataError, SettingsError, warn
from telltree.panel import ColumnType, Panel, Schema, check_labels
from telltree.panel.frames import is_frame, open_frame
from telltree.panel.labels import single_record_warning
from telltree.text import counted
from telltree.tree.class_target import ONE, ClassLabels, ClassTarget


class TrainingSet(NamedTuple):
    """Records to learn from, and their classes."""

    panel: Panel
    labels: ClassLabels

    def part(self, members: NDArray[np.int64]) -> "TrainingSet":
        return TrainingSet(self.panel[members], self.labels[members])


class TrainingData(NamedTuple):
    """The training records, without those of weight 0, and facts about all given records."""

    training: TrainingSet
    classes: NDArray[Any]
    """The classes of all given records, in order."""
    positions: NDArray[np.int64]
    """The positions of the training records among all given ones."""
    records: int
    """The number of given records."""

    def of_training(self, values: Any) -> Any:
        """Return the values of the training records, given one for each record, such as groups."""
        return values if values is None or len(self.positions) == self.records else np.asarray(values)[self.positions]


def read_training_data(X: Any, y: Any, sample_weight: Any, class_weight: Any) -> TrainingData:
    """Read the input of `fit`. Records of weight 0 are left out, but their classes stay."""
    panel = read_training(X)
    labels = read_labels(y, panel, X)
    if not isinstance(X, Panel):
        refuse_long(X, panel, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    singles = single_record_warning(np.bincount(codes).tolist())
    if singles is not None:
        warn(singles)
    weights = record_weights(labels, sample_weight, class_weight)
    records, positions = len(panel), np.arange(len(panel))
    if weights is not None and not weights.all():
        positions = np.flatnonzero(weights)
        panel, codes, weights = panel[positions], codes[positions], weights[positions]
    coded = ClassLabels(codes.astype(np.int64), ClassTarget.of(classes), fixed_point(weights))
    return TrainingData(TrainingSet(panel, coded), classes, positions, records)


# ---- Panels and labels.

_NO_SERIES = (
    "make a panel of series first: Panel.from_frame(table, id=...) for a long table, one row a step, or "
    "Panel.from_arrays(array, layout=...); inside a pipeline, PanelMaker does it"
)


def read_training(X: Any) -> Panel:
    """Return the panel to learn from: a panel as it is, or a plain table, whose rows are records of one step."""
    if isinstance(X, Panel):
        panel = X
    else:
        _check_table(X)
        panel = Panel.from_table(X)
    if not len(panel):
        raise DataError("there are no records to learn from")
    return panel


def read_known(estimator: Any, X: Any, schema: Schema) -> Panel:
    """Return the records to predict, read like those that `estimator` learned from; `schema` has the columns it needs.

    Columns are matched by name if they had names then and have names now, else by position, as in scikit-learn.
    """
    if isinstance(X, Panel):
        return X
    width, who = _check_table(X), type(estimator).__name__
    check_no_series(X, schema)
    names = getattr(estimator, "feature_names_in_", None)
    if is_frame(X) and names is not None:
        return Panel.from_table(X)
    if width != estimator.n_features_in_:
        raise DataError(f"X has {width} features, but {who} is expecting {estimator.n_features_in_} features as input")
    if is_frame(X):
        warn(f"X has feature names, but {who} was fitted without feature names: columns are taken in order")
        return Panel.from_table(_renamed(X))
    if names is not None:
        warn(
            f"X does not have valid feature names, but {who} was fitted with feature names: columns are taken in order"
        )
    return Panel.from_table(X, columns=names)


def check_no_series(X: Any, schema: Schema) -> None:
    """Refuse a plain table if a column was learned as a series: its rows may be the steps of one record."""
    moving = [name for name, column in schema.items() if not column.static]
    if moving and not isinstance(X, Panel):
        raise DataError(f"a plain table has one value a record, but {moving[0]!r} was learnt as a series; {_NO_SERIES}")


def accept_any_values(tags: Tags) -> Tags:
    """Declare that inputs may have missing values and text."""
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    return tags


def remember(estimator: Any, X: Any, panel: Panel) -> None:
    """Set the attributes that scikit-learn expects after fitting on X, from which the panel was made."""
    estimator.n_features_in_ = len(panel.schema)
    if isinstance(X, Panel) or is_frame(X):
        estimator.feature_names_in_ = np.array(panel.schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):  # from an earlier fit
        del estimator.feature_names_in_


def read_labels(y: Any, panel: Panel, X: Any) -> NDArray[Any]:
    """Return one label for each record of the panel made from X."""
    if y is None:
        raise DataError(
            "a classifier requires y to be passed, but the target y is None: give one label for each record"
        )
    shape = _shape(y)
    if shape[1:] == (1,):
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        y = [row[0] for row in y] if isinstance(y, list | tuple) else np.asarray(y)[:, 0]
    if is_frame(X) and shape != (len(panel),) and len(shape) == 1:
        raise DataError(
            f"got {counted(shape[0], 'label')} for {counted(len(panel), 'row')}, but a plain table has one record a "
            f"row; {_NO_SERIES}"
        )
    return check_labels(y, panel)


def _shape(y: Any) -> tuple[int, ...]:
    try:
        return np.asarray(y).shape
    except ValueError as error:
        raise DataError(f"labels must be one-dimensional, one per record: {error}") from error


def _check_table(X: Any) -> int:
    """Return the width of a plain table; DataError for anything else, in scikit-learn's words where it has some."""
    if is_frame(X):
        return len(open_frame(X).columns)
    first = X[0] if isinstance(X, list | tuple) and X else None
    if getattr(X, "ndim", 2) == 3 or is_frame(first) or getattr(first, "ndim", 1) == 2:
        raise DataError(f"series are no plain table; {_NO_SERIES}")
    try:
        return int(check_array(X, dtype=None, ensure_all_finite=False, input_name="X").shape[1])
    except (TypeError, ValueError) as error:
        raise DataError(str(error)) from error


def _renamed(frame: Any) -> Any:
    """Return the frame with the names that array columns get."""
    opened = open_frame(frame)
    return opened.rename({name: f"x{number}" for number, name in enumerate(opened.columns, 1)}).to_native()


# ---- Weights of records: sample weights times class weights, as integers.

Weights = NDArray[np.float64]
_SAME = 1e-9  # relative difference up to which two weights are meant to be equal: 3 · 0.1 is not 0.3
_MOST_PARTS = 60  # into which the smallest weight may be divided so that all weights are multiples


def record_weights(labels: NDArray[Any], sample_weight: Any, class_weight: Any) -> Weights | None:
    """Return the product of sample and class weights, as shares of the largest; None if neither is given.

    A record of weight 0 does not count, not even for "balanced".
    """
    if sample_weight is None and class_weight is None:
        return None
    given = np.ones(len(labels)) if sample_weight is None else _floats(sample_weight)
    if given.shape != (len(labels),) or not np.all(np.isfinite(given)) or np.any(given < 0) or not given.any():
        raise SettingsError(
            f"sample_weight must hold one finite number of at least 0 for each of the "
            f"{counted(len(labels), 'record')}, not all of them zero"
        )
    classes = np.ones(len(labels)) if class_weight is None else _class_weights(class_weight, labels, given > 0)
    return _product(given, classes)


def _product(one: Weights, other: Weights) -> Weights:
    """Return the products as shares of the largest, without underflow or overflow."""
    (a, b), (c, d) = np.frexp(one), np.frexp(other)
    size, exponent = np.frexp(a * c)
    exponent = exponent + b + d
    most = exponent[size > 0].max(initial=-(1 << 20))
    found: Weights = np.ldexp(size, exponent - most)
    return np.where(size > 0, np.maximum(found, np.finfo(np.float64).tiny), 0.0)


def fixed_point(weights: Weights | None) -> NDArray[np.int64] | None:
    """Return weights as integers of at most ONE, which depend only on their ratios; None if all are equal.

    Weights in the ratio of small integers keep that ratio exactly, and so stand for repeated records. A weight that is
    not 0 becomes at least 1.
    """
    if weights is None or np.all(np.abs(weights - weights[0]) <= _SAME * weights[0]):
        return None
    whole = _ratios(weights)
    if whole is None:
        whole = np.floor(weights / weights.max() * ONE + 0.5 + _SAME)
    else:  # scale by a power of two, which keeps sums exact
        whole = np.ldexp(whole, ONE.bit_length() - 1 - np.frexp(whole.max())[1])
    found: NDArray[np.int64] = np.maximum(whole, weights > 0).astype(np.int64)
    return found


def _ratios(weights: Weights) -> Weights | None:
    """Return the weights as the smallest integers with the same ratios; None if those are not small."""
    with np.errstate(over="ignore"):
        shares = weights / weights[weights > 0].min()
    if not shares.max() < ONE:
        return None
    distinct = np.unique(shares)
    for parts in range(1, _MOST_PARTS + 1):
        if np.all(np.abs(distinct * parts - np.round(distinct * parts)) <= _SAME * distinct * parts):
            return np.round(shares * parts) if distinct[-1] * parts < ONE else None
    return None


def _floats(values: Any) -> Weights:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"sample_weight must hold numbers: {error}") from error


def _class_weights(class_weight: Any, labels: NDArray[Any], has_weight: NDArray[np.bool_]) -> Weights:
    """Return the weight of each record's class."""
    found = np.zeros(len(labels))
    if class_weight == "balanced":
        found[has_weight] = compute_sample_weight(class_weight, labels[has_weight])
        return found
    try:
        found[:] = compute_sample_weight(class_weight, labels)
    except ValueError as error:  # a dict that names none of the classes
        raise SettingsError(f"class_weight: {error}") from error
    if not found[has_weight].any():
        raise SettingsError(f"class_weight gives every class the weight 0: {class_weight!r}")
    return found


# ---- Long tables given as plain ones are refused, since their rows are steps, not records.

_FEWEST = 3  # records; fewer are distinguished by chance too easily
_PAIRS = 10  # of successive rows, all in order of time: by chance, one table in a thousand
_TIMES = {"time", "t", "date", "datetime", "timestamp", "step", "second", "seconds", "minute", "hour", "day", "frame"}


def refuse_long(X: Any, panel: Panel, labels: NDArray[Any]) -> None:
    """Raise DataError if the rows of a plain table, the records of `panel`, look like steps of records.

    That is so if a column has the same value in several rows, all with one label, and another column rises in these
    from row to row, and either begins anew where the first one changes or is called a time.
    """
    codes = np.unique(labels, return_inverse=True)[1]
    for name, key in _keys(X, panel):
        order = np.argsort(key, kind="stable")
        fresh = np.concatenate(([True], key[order][1:] != key[order][:-1]))
        records = int(fresh.sum())
        few = records < max(_FEWEST, int(codes.max(initial=0)) + 2) or len(panel) - records < max(_PAIRS, records)
        if few or (codes[order][1:] != codes[order][:-1])[~fresh[1:]].any():
            continue
        if name is None:
            raise _error("the first level of its index", "the two levels of its index are id and time", records, panel)
        time = next((other for other in panel.schema if other != name and _is_time(panel, other, order, fresh)), None)
        if time is not None:
            remedy = f"Panel.from_frame(table, id={name!r}, time={time!r})"
            raise _error(f"column {name!r}", f"{time!r} rises from row to row of each: {remedy}", records, panel)


def _error(key: str, evidence: str, records: int, panel: Panel) -> DataError:
    return DataError(
        f"this looks like a long table, with one row a step: {key} tells {counted(records, 'record')} apart in "
        f"{counted(len(panel), 'row')}, the rows of each have one label, and {evidence}. Make a panel of it, with one "
        "label for each record; or hand in Panel.from_table(table) if each row is a record by itself"
    )


def _keys(X: Any, panel: Panel) -> Iterator[tuple[str | None, NDArray[Any]]]:
    """Yield the possible keys of records: names or integers, without gaps, and the first level of a two-level index."""
    index: Any = getattr(X, "index", None)
    if getattr(index, "nlevels", 1) == 2:
        yield None, np.asarray(index.codes[0])
    for name, column in panel.schema.items():
        values = panel.stacked(name)
        if column.type is ColumnType.REAL:
            if (values[:100] == np.floor(values[:100])).all() and (values == np.floor(values)).all():
                yield name, values
        elif column.type is ColumnType.CATEGORICAL and (values >= 0).all():
            yield name, values


def _is_time(panel: Panel, name: str, order: NDArray[np.int64], fresh: NDArray[np.bool_]) -> bool:
    """Return True if a column rises within all records, and falls back between most of them or is called a time."""
    if panel.schema[name].type is not ColumnType.REAL:
        return False
    values = panel.stacked(name)[order]
    rises = values[1:] > values[:-1]  # false where one is missing
    between = fresh[1:]
    return bool(rises[~between].all() and (name.lower() in _TIMES or rises[between].mean() <= 0.5))
