"""TemporalFeatures: the truth of formulas, and their robustness, as columns for any scikit-learn model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from telltree.engine import CompiledFormulas, Formula, truth_of
from telltree.errors import DataError, SettingsError
from telltree.estimators.inputs import accept_any_values, check_no_series, read_known, read_training, remember
from telltree.explain import Robustness
from telltree.logic import UserFunction
from telltree.panel import Panel
from telltree.tree import Tree

MOST_ROBUSTNESS = 1e6
"""Robustness is clipped to this many standard deviations, so that infinite values give finite columns."""


class TemporalFeatures(TransformerMixin, BaseEstimator):
    """The truth of formulas as features of records: one column per formula, 1 if it is true and 0 if not.

    Parameters
    ----------
    formulas: a list of formulas, as text or Formula.
    tree: a Tree, whose branches' formulas are used as they are, or a classifier such as GrammarTreeClassifier(...),
        which is cloned and learns its tree in `fit`. Both `formulas` and `tree` may be given.
    robustness: add a column for each formula with its margin: by how much it is true (positive) or false (negative),
        in standard deviations over the records of `fit`, which are kept for it.
    functions: user functions that formulas given as text may call.

    `X` is a Panel, or a plain two-dimensional table whose rows are records with one step.

    Attributes
    ----------
    formulas_: the formulas, each once.
    schema_: of the columns they mention.
    reference_: the records that robustness is measured by, or None.
    n_features_in_, feature_names_in_: as in scikit-learn.
    """

    def __init__(
        self,
        formulas: Sequence[str | Formula] | None = None,
        *,
        tree: Any = None,
        robustness: bool = False,
        functions: Sequence[UserFunction] = (),
    ) -> None:
        self.formulas = formulas
        self.tree = tree
        self.robustness = robustness
        self.functions = functions

    def __sklearn_tags__(self) -> Tags:
        tags = accept_any_values(super().__sklearn_tags__())
        tags.target_tags.required = hasattr(self.tree, "fit")
        return tags

    def fit(self, X: Any, y: Any = None) -> "TemporalFeatures":
        """Read the formulas for the columns of X, or learn them if `tree` is a classifier, which needs y."""
        self._check_parameters()
        panel = read_training(X)
        found = [f if isinstance(f, Formula) else self._parsed(f, panel) for f in self.formulas or ()]
        if self.tree is not None:
            tree = self.tree if isinstance(self.tree, Tree) else clone(self.tree).fit(X, y).tree_
            check_no_series(X, tree.schema)
            found += [node.formula for node in tree.nodes]
        formulas = tuple({str(formula): formula for formula in found}.values())
        used = {name for formula in formulas for name in formula.expression.attributes()}
        absent = sorted(used - set(panel.schema))
        if absent:
            raise DataError(f"formulas mention columns that X has not: {', '.join(map(repr, absent[:5]))}")
        known = panel.select([name for name in panel.schema if name in used])
        truth_of([formula.expression for formula in formulas], known[:1])  # find a column of the wrong type now
        self.formulas_, self.schema_, self.step_ = formulas, known.schema, panel.step
        self.reference_ = known if self.robustness else None
        remember(self, X, panel)
        return self

    def _check_parameters(self) -> None:
        if self.formulas is None and self.tree is None:
            raise SettingsError("there is nothing to work out: give formulas, a tree, or both")
        listed = isinstance(self.formulas, list | tuple) and all(isinstance(f, str | Formula) for f in self.formulas)
        if self.formulas is not None and not listed:
            raise SettingsError(f"formulas must be a list of formulas, as text or Formula, got {self.formulas!r:.80}")
        if not (self.tree is None or isinstance(self.tree, Tree) or hasattr(self.tree, "fit")):
            raise SettingsError(f"tree must be a Tree, a classifier that learns one, or None, got {self.tree!r:.80}")

    def _parsed(self, text: str, panel: Panel) -> Formula:
        return Formula.parse(text, panel.schema, functions=self.functions, step=panel.step)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the truth of each formula for each record, and then the robustness if asked for: records × columns."""
        check_is_fitted(self, "formulas_")
        panel = read_known(self, X, self.schema_).aligned(self.schema_)
        compiled = CompiledFormulas([formula.expression for formula in self.formulas_], self.schema_)
        compiled.check_time(self.step_, panel)
        truth = compiled.truth(panel).T.astype(np.float64)
        if self.reference_ is None:
            return truth
        return np.hstack([truth, _robustness(self.formulas_, panel, self.reference_)])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: the text of each formula, after "margin of " for robustness.

        `input_features` is only checked.
        """
        check_is_fitted(self, "formulas_")
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise DataError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got "
                f"{len(input_features)}"
            )
        known = getattr(self, "feature_names_in_", input_features)
        if input_features is not None and list(input_features) != list(known):
            raise DataError("input_features is not equal to feature_names_in_")
        names = [str(formula) for formula in self.formulas_]
        robustness = [] if self.reference_ is None else [f"margin of {name}" for name in names]
        return np.array([*names, *robustness], dtype=object)


def _robustness(formulas: Sequence[Formula], panel: Panel, reference: Panel) -> NDArray[np.float64]:
    measure = Robustness(panel, reference)
    columns = [measure.of_records(formula.expression) for formula in formulas]
    return np.clip(np.array(columns).reshape(len(formulas), len(panel)).T, -MOST_ROBUSTNESS, MOST_ROBUSTNESS)
