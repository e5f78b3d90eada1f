"""PanelMaker: series in any form -> a Panel, as a step of a pipeline."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from telltree.errors import DataError, SettingsError
from telltree.estimators.inputs import accept_any_values, remember
from telltree.panel import Panel
from telltree.panel.arrays import CUBE_LAYOUTS, LIST_LAYOUTS
from telltree.panel.frames import is_frame
from telltree.panel.panel import Overrides, Repeated
from telltree.text import counted


class PanelMaker(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Makes a Panel of a three-dimensional array, of a list of arrays or frames, or of a long table.

    Arrays and lists have one item per record, so cross-validation can split them. A long table has one row per step,
    and splitting its rows would tear records apart: make the panel first, and cross-validate that.

    Parameters
    ----------
    layout: the axes of arrays. Three-dimensional: "records, steps, columns" or "records, columns, steps"; lists of
        two-dimensional ones: "steps, columns" or "columns, steps". It is never guessed.
    id: the column of a long table that identifies records.
    time: the column of a long table, or of each frame of a list, to sort by.
    columns: names of an array's columns (x1, x2 … if not given), or which columns of frames to use.
    static: columns of frames that have one value per record.
    schema, period, time_unit, missing: as in Panel.from_frame.
    repeated, time_format, day_first: as in Panel.from_frame; arrays have no use for them.

    Attributes
    ----------
    schema_: of the panel that `fit` made; later ones get its columns, in its order.
    n_features_in_, feature_names_in_: its columns.
    """

    def __init__(
        self,
        *,
        layout: str | None = None,
        id: str | None = None,  # noqa: A002 - as in Panel.from_frame
        time: str | None = None,
        columns: Iterable[str] | None = None,
        static: Iterable[str] = (),
        schema: Overrides | None = None,
        period: float | None = None,
        time_unit: str | None = None,
        missing: Literal["allow", "error"] = "allow",
        repeated: Repeated = "error",
        time_format: str | None = None,
        day_first: bool | None = None,
    ) -> None:
        self.layout = layout
        self.id = id
        self.time = time
        self.columns = columns
        self.static = static
        self.schema = schema
        self.period = period
        self.time_unit = time_unit
        self.missing = missing
        self.repeated = repeated
        self.time_format = time_format
        self.day_first = day_first

    def __sklearn_tags__(self) -> Tags:
        tags = accept_any_values(super().__sklearn_tags__())
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        return tags

    def fit(self, X: Any, y: Any = None) -> "PanelMaker":
        """Store the columns of X; y, if given, must have one label for each record."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Panel:
        """Store the columns of X, and make a panel of it."""
        panel = self._read(X)
        if y is not None and len(y) != len(panel):
            split = "; the rows of a long table cannot be split: make a panel of it first, and cross-validate that"
            remedy = split if self.id is not None else ""
            raise DataError(f"got {counted(len(y), 'label')} for {counted(len(panel), 'record')}{remedy}")
        self.schema_ = panel.schema
        self._day_first = panel.how_read.day_first
        remember(self, panel, panel)
        return panel

    def transform(self, X: Any) -> Panel:
        """Make a panel with the columns that `fit` found."""
        check_is_fitted(self, "schema_")
        return self._read(X, self._day_first).aligned(self.schema_)

    def set_output(self, *, transform: Any = None) -> "PanelMaker":
        """Do nothing: the output is a Panel, whatever output the other steps of a pipeline are set to."""
        return self

    def _read(self, X: Any, day_first: bool | None = None) -> Panel:
        """Make a panel; `day_first` is how `fit` read dates."""
        if isinstance(X, Panel):
            return X
        if is_frame(X):
            return self._read_long(X, day_first)
        if isinstance(X, np.ndarray) and X.dtype.kind == "O" and X.ndim == 1:
            X = list(X)
        if isinstance(X, Mapping) or (isinstance(X, list | tuple) and X and is_frame(X[0])):
            self._refuse("frames, one a record", "id", "layout")
            chosen = {"columns": self.columns, "static": self.static} | self._clocked(day_first)
            return Panel.from_frames(X, time=self.time, **chosen)
        return self._read_arrays(X)

    def _read_long(self, X: Any, day_first: bool | None) -> Panel:
        if self.id is None:
            raise SettingsError("say which column of the table tells records apart: PanelMaker(id=...)")
        self._refuse("a long table", "layout")
        chosen = {"columns": self.columns, "static": self.static} | self._clocked(day_first)
        return Panel.from_frame(X, id=self.id, time=self.time, **chosen)

    def _read_arrays(self, X: Any) -> Panel:
        if not isinstance(X, np.ndarray | list | tuple):
            raise DataError(f"expected arrays, frames, a long table or a Panel, got {type(X).__name__}")
        self._refuse("arrays", "id", "time", "static")
        known = CUBE_LAYOUTS if isinstance(X, np.ndarray) else LIST_LAYOUTS
        if self.layout not in known:
            raise SettingsError(f"layout must be {' or '.join(map(repr, known))} for these arrays, got {self.layout!r}")
        return Panel.from_arrays(X, layout=self.layout, columns=self.columns, **self._options())

    def _refuse(self, form: str, *names: str) -> None:
        for name in names:
            if getattr(self, name) not in (None, (), []):
                raise SettingsError(f"{name}={getattr(self, name)!r} does not apply to {form}")

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("schema", "period", "time_unit", "missing")}

    def _clocked(self, day_first: bool | None) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in ("repeated", "time_format", "day_first")}
        return self._options() | own | ({} if day_first is None else {"day_first": day_first})
