"""Input of an estimator -> a panel and labels; plain tables follow scikit-learn's conventions."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array

from telltree.amounts import counted
from telltree.data import Panel, Schema, check_labels
from telltree.data.records.frames import is_frame, open_frame
from telltree.data.warn import warn
from telltree.errors import DataError

_NO_SERIES = (
    "make a panel of series first: Panel.from_frame(table, id=...) for a long table, one row a step, or "
    "Panel.from_arrays(array, layout=...); inside a pipeline, PanelMaker does it"
)


def read_training(X: Any) -> Panel:
    """The panel to learn from: a panel unchanged, or a plain table, whose rows are records of one step."""
    if isinstance(X, Panel):
        panel = X
    else:
        _check_table(X)
        panel = Panel.from_table(X)
    if not len(panel):
        raise DataError("there are no records to learn from")
    return panel


def read_known(estimator: Any, X: Any, schema: Schema) -> Panel:
    """The records to answer for, read like those that `estimator` learnt from; `schema` has the columns it needs.

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
    """Refuse a plain table if a column was learnt as a series: its rows may be the steps of one record."""
    moving = [name for name, column in schema.items() if not column.static]
    if moving and not isinstance(X, Panel):
        raise DataError(f"a plain table has one value a record, but {moving[0]!r} was learnt as a series; {_NO_SERIES}")


def remember(estimator: Any, X: Any, panel: Panel) -> None:
    """Set the attributes that scikit-learn expects after fitting on X, from which the panel was made."""
    estimator.n_features_in_ = len(panel.schema)
    if isinstance(X, Panel) or is_frame(X):
        estimator.feature_names_in_ = np.array(panel.schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):  # from an earlier fit
        del estimator.feature_names_in_


def read_labels(y: Any, panel: Panel, X: Any) -> NDArray[Any]:
    """One label for each record of the panel made from X."""
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
    """The width of a plain table; anything else is refused, in scikit-learn's words where it has some."""
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
    """The frame with the names that array columns get."""
    opened = open_frame(frame)
    return opened.rename({name: f"x{number}" for number, name in enumerate(opened.columns, 1)}).to_native()
