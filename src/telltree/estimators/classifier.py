"""GrammarTreeClassifier: a decision tree whose branches are temporal-logic formulas."""

import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from telltree.data import Panel, check_labels, unusable
from telltree.errors import DataError, DataWarning, SettingsError
from telltree.explain import Category, RuleRow, categorize, rules_table
from telltree.grammar import Grammar
from telltree.operators import UserFunction
from telltree.search import GeneticProgramming, Search
from telltree.tree import Fitness, GiniSize, Induction, Learned, Limits, NodeProgress, Tree
from telltree.tree.induction import leaf_of
from telltree.tree.objective import ONE, Labels


class GrammarTreeClassifier(ClassifierMixin, BaseEstimator):
    """Learns a tree of formulas drawn from a grammar, classifies with it, and explains each leaf as a category.

    Parameters
    ----------
    grammar: a Grammar, the text of one, or None for the generic temporal-logic grammar of the training data.
    search: how to look for the formula of a node, such as GeneticProgramming(), MonteCarlo(), GrammaticalEvolution().
    fitness: what makes a split good; any function of (class weights of the true side, of all, sizes).
    max_depth: the most branches from the root to a leaf.
    min_members: records that each side of a split must have.
    min_gain: by how much a split must lower the fitness; None takes any.
    prevent_same_label: refuse splits whose two sides predict the same class.
    class_weight: None, "balanced" or a dict from class to weight.
    functions: user functions that a grammar given as text may call.
    random_state: a seed; the same seed gives the same tree, whatever `n_jobs` is.
    n_jobs: threads for evaluation; −1 for all cores.
    progress: called with a NodeProgress now and then while fitting.

    `X` is a Panel, or a plain two-dimensional table whose rows are records with one step.

    Attributes
    ----------
    tree_: the Tree; `print(clf.tree_)`. classes_, n_features_in_, feature_names_in_: as in scikit-learn.
    grammar_: the Grammar that was searched. searches_: what each node's search found, by node number (root 1,
    children of n: 2n and 2n + 1). interrupted_: whether Ctrl-C cut learning short.
    """

    def __init__(
        self,
        grammar: Grammar | str | None = None,
        search: Search = GeneticProgramming(),  # noqa: B008  frozen, so it can be shared
        *,
        fitness: Fitness = GiniSize(),  # noqa: B008  frozen, so it can be shared
        max_depth: int = 6,
        min_members: int = 1,
        min_gain: float | None = None,
        prevent_same_label: bool = False,
        class_weight: str | dict[Any, float] | None = None,
        functions: Sequence[UserFunction] = (),
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Callable[[NodeProgress], None] | None = None,
    ) -> None:
        self.grammar = grammar
        self.search = search
        self.fitness = fitness
        self.max_depth = max_depth
        self.min_members = min_members
        self.min_gain = min_gain
        self.prevent_same_label = prevent_same_label
        self.class_weight = class_weight
        self.functions = functions
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GrammarTreeClassifier":
        """Learn a tree. Ctrl-C ends learning early and keeps the best tree so far."""
        self._check_parameters()
        generator = _generator(self.random_state)
        panel = as_panel(X)
        labels = check_labels(y, panel)
        if not len(panel):
            raise DataError("there are no records to learn from")
        classes, codes = np.unique(labels, return_inverse=True)
        weights = _fixed_point(self._weights(labels, sample_weight))
        coded = Labels(codes.astype(np.int64), len(classes), weights)
        grammar = self._grammar_for(panel)
        seed = int(generator.randint(2**31 - 1))
        learned = self._learn(panel, coded, tuple(classes.tolist()), grammar, seed)
        # all at once: a fit that fails leaves what was learned before as it was
        self.classes_, self.grammar_ = classes, grammar
        self.n_features_in_ = len(panel.schema)
        self.feature_names_in_ = np.array(panel.schema.names, dtype=object)
        self.tree_, self.searches_, self.interrupted_ = learned
        return self

    def _learn(
        self, panel: Panel, labels: Labels, classes: tuple[Any, ...], grammar: Grammar | None, seed: int
    ) -> Learned:
        if grammar is None or len(classes) == 1:
            one_class = f"there is only one class, {classes[0]!r}"
            reason = one_class if len(classes) == 1 else "no column tells records apart"
            warnings.warn(f"{reason}: the tree is a single leaf", DataWarning, stacklevel=3)
            return Learned(Tree(leaf_of(labels), classes, panel.schema), {}, False)
        limits = Limits(self.max_depth, self.min_members, self.min_gain, self.prevent_same_label)
        threads = _threads(self.n_jobs)
        induction = Induction(grammar, self.search, self.fitness, limits, seed, threads, self.progress)
        return induction.run(panel, labels, classes)

    def _check_parameters(self) -> None:
        wanted: list[tuple[str, bool, str]] = [
            ("grammar", self.grammar is None or isinstance(self.grammar, Grammar | str), "a Grammar, text, or None"),
            ("search", isinstance(self.search, Search), "a search, such as GeneticProgramming()"),
            ("fitness", callable(self.fitness), "a fitness, such as GiniSize(), or a function"),
            ("max_depth", _whole(self.max_depth, 0), "a whole number of at least 0"),
            ("min_members", _whole(self.min_members, 1), "a whole number of at least 1"),
            ("min_gain", self.min_gain is None or _is_number(self.min_gain), "a number or None"),
            ("prevent_same_label", isinstance(self.prevent_same_label, bool | np.bool_), "True or False"),
            ("class_weight", _weighs_classes(self.class_weight), 'None, "balanced" or a dict from class to weight'),
            ("functions", _are_functions(self.functions), "a list of functions made with @user_function"),
            ("n_jobs", self.n_jobs is None or (_whole(self.n_jobs, -1) and self.n_jobs != 0), "None, −1 or at least 1"),
            ("progress", self.progress is None or callable(self.progress), "a function or None"),
        ]
        for name, right, expected in wanted:
            if not right:
                raise SettingsError(f"{name} must be {expected}, got {getattr(self, name)!r}")

    def _grammar_for(self, panel: Panel) -> Grammar | None:
        """The grammar to search; None if there is nothing that a generic one could speak of."""
        if isinstance(self.grammar, Grammar):
            return self.grammar
        if isinstance(self.grammar, str):
            return Grammar.parse(self.grammar, panel, functions=self.functions)
        return Grammar.for_panel(panel) if len(unusable(panel)) < len(panel.schema) else None

    def _weights(self, labels: NDArray[Any], sample_weight: Any) -> NDArray[np.float64] | None:
        """The product of sample and class weights, or None if neither is given."""
        if sample_weight is None and self.class_weight is None:
            return None
        given = np.ones(len(labels)) if sample_weight is None else _floats(sample_weight)
        if given.shape != (len(labels),) or not np.all(np.isfinite(given)) or np.any(given < 0) or not given.any():
            raise SettingsError(
                f"sample_weight must hold one finite number of at least 0 for each of the {len(labels)} records, not "
                f"all of them 0"
            )
        if self.class_weight is not None:
            given = given * _class_weights(self.class_weight, labels)
        return given

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each record."""
        tree = self._fitted()
        return self.classes_[tree.predict(as_panel(X))]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class among the training records of the leaf of each record, in the order of `classes_`."""
        return self._fitted().probabilities(as_panel(X))

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The cluster number of each record: leaves from left to right, from 1."""
        return self._fitted().apply(as_panel(X))

    def decision_path(self, X: Any) -> csr_matrix:
        """Which nodes each record passes: records × nodes, in preorder, the true child first, leaves included."""
        tree = self._fitted()
        return csr_matrix(tree.passes(as_panel(X)))

    def categories(self, X: Any, y: Any = None) -> tuple[Category, ...]:
        """Each leaf as a category: its members among the records of X, its formula, and what it says in English."""
        tree, panel = self._fitted(), as_panel(X)
        return categorize(tree, panel, None if y is None else check_labels(y, panel))

    def rules(self) -> list[RuleRow]:
        """One row a leaf: formula, English, class, probability, support."""
        return rules_table(self._fitted())

    def _fitted(self) -> Tree:
        check_is_fitted(self, "tree_")
        return self.tree_


def as_panel(X: Any) -> Panel:
    """A panel as it is; anything else is read as a plain table of records with one step."""
    return X if isinstance(X, Panel) else Panel.from_table(X)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not math.isnan(value)


def _weighs_classes(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_number(weight) and 0 <= weight < math.inf for weight in value.values())
    return value is None or (isinstance(value, str) and value == "balanced")


def _are_functions(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(function, UserFunction) for function in value)


def _generator(random_state: Any) -> np.random.RandomState:
    try:
        found: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise SettingsError(f"random_state must be None, a seed or a RandomState: {error}") from error
    return found


def _floats(values: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"sample_weight must hold numbers: {error}") from error


def _class_weights(class_weight: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
    """The weight of each record's class."""
    try:
        found: NDArray[np.float64] = compute_sample_weight(class_weight, labels)
    except ValueError as error:  # a dict that names none of the classes
        raise SettingsError(f"class_weight: {error}") from error
    if not found.any():
        raise SettingsError(f"class_weight gives every class the weight 0: {class_weight!r}")
    return found


def _threads(n_jobs: int | None) -> int:
    return (os.cpu_count() or 1) if n_jobs == -1 else n_jobs or 1


def _fixed_point(weights: NDArray[np.float64] | None) -> NDArray[np.int64] | None:
    """Weights as whole numbers of at most ONE; None if all are the same.

    They are scaled by a power of two, so that whole weights keep their ratios and stand for repeated records exactly.
    """
    if weights is None or np.all(weights == weights[0]):
        return None
    _, exponent = np.frexp(weights.max())
    found: NDArray[np.int64] = np.round(np.ldexp(weights, ONE.bit_length() - 1 - exponent)).astype(np.int64)
    return found
