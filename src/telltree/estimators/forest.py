"""GrammarForestClassifier: many trees, each learned from other records, that predict together."""

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from telltree.errors import SettingsError, warn
from telltree.estimators.classifier import GrammarTreeClassifier, generator_of
from telltree.estimators.fitted_tree import importances, probabilities
from telltree.estimators.inputs import (
    TrainingData,
    TrainingSet,
    accept_any_values,
    read_known,
    read_training_data,
    remember,
)
from telltree.estimators.parameters import check_forest, check_tree_of_forest, effective_parameters
from telltree.estimators.scorecard import Scorecard
from telltree.explain import Style
from telltree.explain.common_splits import CommonSplits, joint_schema
from telltree.grammar import Grammar
from telltree.panel import Panel, Schema
from telltree.panel.column_checks import may_be_missing, unchanging, warn_of_leaks
from telltree.scale.dask import Cluster
from telltree.scale.out_of_core import local_backend
from telltree.scale.processes import finished, processes_for, stop
from telltree.search import GeneticProgramming
from telltree.text import counted
from telltree.tree import Leaf, Node
from telltree.tree.backend import Backend, LocalBackend
from telltree.tree.induction import TreeRun
from telltree.tree.interruption import Interruption
from telltree.tree.training_facts import TrainingFacts, fingerprint
from telltree.tree.tree import Tree

if TYPE_CHECKING:
    from telltree.models import ForestModel


logger = logging.getLogger("telltree")
Floats = NDArray[np.float64]


# ---- The trees of a forest: each learns from some of the records, and is judged by the others.
#
# A tree depends on the seed of the forest and on its own number alone, not on the time, the place or the order.

SHARE = 0.632
"""The share of the records that a tree learns from: as many as a bootstrap has different ones."""


class ForestTree(NamedTuple):
    """A tree of a forest."""

    tree: Tree
    oob_probabilities: Floats
    """The probability of each class for each out-of-bag record, in their order."""
    interrupted: bool


@dataclass(frozen=True)
class ForestSetup:
    """Everything that the trees of a forest share. They are grown here, or in other processes."""

    classifier: "GrammarTreeClassifier"
    training: TrainingSet
    seed: int
    grammar: Grammar | None
    """None if each tree has a grammar of its own."""
    groups: NDArray[np.int64] | None
    """The group of each record; a tree learns from all records of a group or from none."""

    def draw(self, number: int) -> tuple[NDArray[np.int64], int]:
        """Return the positions of the records that a tree learns from, and the seed of its searches."""
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        units = len(self.training.labels) if self.groups is None else int(self.groups.max()) + 1
        drawn = np.sort(random.choice(units, max(1, round(SHARE * units)), replace=False))
        members = drawn if self.groups is None else np.flatnonzero(np.isin(self.groups, drawn))
        return members, int(random.integers(2**31 - 1))

    def out_of_bag(self, number: int) -> NDArray[np.int64]:
        """Return the positions of the records that a tree does not learn from."""
        return np.setdiff1d(np.arange(len(self.training.labels)), self.draw(number)[0], assume_unique=True)

    def grow(self, numbers: Sequence[int], *, quiet: bool) -> Iterator[tuple[int, ForestTree]]:
        """Grow trees one after the other; if they have one grammar, they share bitsets."""
        panel, classifier = self.training.panel, self.classifier
        local, shared = partial(local_backend, threads=classifier.threads), None
        if self.grammar is not None:
            shared = local(panel, classifier.sized(self.grammar), quiet=quiet)
        for number in numbers:
            members, seed = self.draw(number)
            run = TreeRun(partial(local, quiet=True))
            if isinstance(shared, LocalBackend):
                run = TreeRun(partial(_shared_backend, shared.part(members)))
            result = classifier.grow_for_forest(self.training.part(members), seed, self.grammar, run)
            tree, others = self._with_facts_of_all(_bare(result.tree)), self.out_of_bag(number)
            oob = probabilities(tree, panel[others]) if len(others) else np.empty((0, len(tree.target.parts)))
            yield number, ForestTree(tree, oob, result.interrupted)

    def _with_facts_of_all(self, tree: Tree) -> Tree:
        """Return the tree with the columns that miss values, or do not change, among all records."""
        return replace(tree, schema=Schema(self._schema[name] for name in tree.schema), missing=self._missing)

    @cached_property
    def _schema(self) -> Schema:
        panel = self.training.panel
        still = unchanging(panel)
        return Schema(replace(column, static=column.name in still) for column in panel.schema.values())

    @cached_property
    def _missing(self) -> frozenset[str]:
        return may_be_missing(self.training.panel)


# ---- The estimator.


class ForestProgress(NamedTuple):
    """The progress of a forest after each tree."""

    done: int
    trees: int


class GrammarForestClassifier(ClassifierMixin, BaseEstimator):
    """A forest of trees of formulas, each learned from other records, that predict together.

    Parameters
    ----------
    estimator: the GrammarTreeClassifier that learns each tree; None for one with default settings, but with
        GeneticProgramming(), which takes less time: proofs are of no use in many trees. Its `random_state` and
        `callback` are ignored for the forest's, and `n_jobs` are threads for each tree. It has neither `cv` nor
        `min_recall`, which are about a single tree.
    n_estimators: the number of trees.
    random_state: a seed; the same seed gives the same forest, wherever its trees grow. The first trees of a larger
        forest are those of a smaller one.
    n_jobs: processes that grow trees; None for this one alone, −1 for one per core.
    callback: called with a ForestProgress after each tree.

    Each tree learns from 63.2 % of the records, drawn without replacement: as many as a bootstrap has different ones.
    Its predictions for the other records are judged: `out_of_bag_`. `X` and weights are those of
    GrammarTreeClassifier.

    Attributes
    ----------
    trees_: the trees, each a Tree; `print(forest.trees_[0])`. They have neither runners-up nor headlines.
    out_of_bag_: a Scorecard of the predictions for each record by the trees that were not learned from it; None if
        there are none, and after loading. By sample weight, if there are weights.
    oob_decision_function_: these probabilities, records × classes; NaN for a record that all trees were learned from.
        None after loading.
    oob_score_: the accuracy of `out_of_bag_`, as in scikit-learn.
    classes_, n_features_in_, feature_names_in_: as in scikit-learn.
    grammar_: the Grammar that all trees have searched; None if each had its own.
    class_counts_: the number of training records of each class.
    feature_importances_: the mean of those of the trees, normalised to a sum of 1.
    interrupted_: True if Ctrl-C cut learning short; `trees_` are those that were finished.
    training_: facts about the training data.
    """

    def __init__(
        self,
        estimator: GrammarTreeClassifier | None = None,
        n_estimators: int = 50,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[ForestProgress], None] | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, client: Any = None
    ) -> "GrammarForestClassifier":
        """Learn a forest. Ctrl-C ends learning early and keeps the trees that are finished.

        groups: one for each record; a tree learns from all records of a group or from none, so that related records do
            not flatter its out-of-bag predictions.
        client: a Dask client, on whose workers the trees grow. The forest is the same.
        """
        check_forest(self.get_params(deep=False))
        template = self._template()
        check_tree_of_forest(template.get_params(deep=False))
        generator = generator_of(self.random_state)
        data = read_training_data(X, y, sample_weight, template.class_weight)
        seed = int(generator.randint(2**31 - 1))
        setup = self._set_up(data, template, seed, groups)
        with Interruption() as interruption:
            grown = self._grow(setup, client, interruption)
            self._keep(data, setup, grown, sample_weight, interrupted=interruption.asked)
            remember(self, X, setup.training.panel)
        self._warn_of_single_leaves(setup)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each record: the most probable, the first of equals."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[likeliest]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Return the mean of the trees' probabilities: records × classes, in the order of `classes_`."""
        check_is_fitted(self)
        panel = read_known(self, X, joint_schema(self.trees_))
        found: Floats = np.mean([probabilities(tree, panel) for tree in self.trees_], axis=0)
        return found

    def common_splits(self, *, style: Style = "plain") -> CommonSplits:
        """Return the questions of the trees and how often they occur, for printing and as lists.

        `style="paper"` words them in the paper's form.
        """
        check_is_fitted(self)
        return CommonSplits.of(self.trees_, style=style)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted forest to one JSON file that holds no code; `telltree.load(path)` reads it."""
        from telltree.models.write_model import save_model

        check_is_fitted(self)
        save_model(self.model(), path, overwrite=overwrite)

    def model(self) -> "ForestModel":
        """Return the content of a model file."""
        from telltree.models import ForestModel

        return ForestModel(
            trees=self.trees_,
            counts=self.class_counts_,
            n_estimators=self.n_estimators,
            random_state=self.random_state,
            grammar=self.grammar_,
            training=self.training_,
            interrupted=self.interrupted_,
            named=hasattr(self, "feature_names_in_"),
            parameters=None if self.estimator is None else effective_parameters(self.estimator),
        )

    @property
    def oob_score_(self) -> float | None:
        """The accuracy out of bag; None if no record is out of bag."""
        check_is_fitted(self)
        return None if self.out_of_bag_ is None else self.out_of_bag_.accuracy.value

    @property
    def feature_importances_(self) -> Floats:
        """The importance of each column of the training records, in their order; see the class."""
        check_is_fitted(self)
        found: Floats = np.mean([importances(tree, self.training_.schema) for tree in self.trees_], axis=0)
        return found / found.sum() if found.any() else found

    @property
    def class_weight(self) -> Any:
        """The class weight of the trees."""
        return self._template().class_weight

    def __sklearn_tags__(self) -> Tags:
        return accept_any_values(super().__sklearn_tags__())

    # ---- Learning, in the order of `fit`

    def _template(self) -> GrammarTreeClassifier:
        if not isinstance(self.estimator, GrammarTreeClassifier | None):
            raise SettingsError(f"estimator must be a GrammarTreeClassifier or None, got {self.estimator!r}")
        return self.estimator or GrammarTreeClassifier(search=GeneticProgramming())

    def _set_up(self, data: TrainingData, template: GrammarTreeClassifier, seed: int, groups: Any) -> ForestSetup:
        """Collect everything that the trees share."""
        own = clone(template).set_params(callback=None, random_state=None)
        known = data.of_training(groups)
        if known is not None and len(known) != len(data.positions):
            records = counted(data.records, "record")
            raise SettingsError(f"groups must have one for each of {records}, got {len(known):,}")
        codes = None if known is None else np.unique(known, return_inverse=True)[1]
        grammar = own.shared_grammar(data.training)
        if template.grammar is None and grammar is not None:
            warn_of_leaks(data.training.panel, data.classes[data.training.labels.codes], grammar.attributes)
        return ForestSetup(own, data.training, seed, grammar, codes)

    def _grow(self, setup: ForestSetup, client: Any, interruption: Interruption) -> dict[int, ForestTree]:
        """Grow the trees, and return the finished ones by number; if Ctrl-C came before the first, the one begun."""
        found: dict[int, ForestTree] = {}
        interruption.unless_asked(lambda: self._collect(setup, client, found))
        if not found:
            raise KeyboardInterrupt  # not even the first tree has begun
        ordered = dict(sorted(found.items()))
        finished = {number: tree for number, tree in ordered.items() if not tree.interrupted}
        grown = finished or dict(list(ordered.items())[:1])
        interruption.asked |= any(tree.interrupted for tree in found.values())
        if interruption.asked:
            logger.warning("telltree: interrupted; the forest has %d of %d trees", len(grown), self.n_estimators)
        return grown

    def _collect(self, setup: ForestSetup, client: Any, found: dict[int, ForestTree]) -> None:
        """Add each tree to those found as it is finished, up to one that was cut short."""
        results = self._results(setup, client)
        try:
            for number, tree in results:
                found[number] = tree
                if tree.interrupted:
                    return
                if self.callback is not None:
                    self.callback(ForestProgress(len(found), self.n_estimators))
        finally:
            stop(results)

    def _results(self, setup: ForestSetup, client: Any) -> Generator[tuple[int, ForestTree]]:
        """Yield the trees with their numbers as they are finished: here, in other processes, or on a cluster."""
        if client is not None:
            with Cluster(client) as cluster:
                tasks = _tasks(self.n_estimators, cluster.workers)
                for _, some in cluster.finished(grow_some, tasks, setup):
                    yield from some
            return
        processes = processes_for(None if self.n_jobs == -1 else self.n_jobs or 1, self.n_estimators)
        if processes == 1:
            yield from setup.grow(range(self.n_estimators), quiet=False)
            return
        for _, some in finished(grow_some, _tasks(self.n_estimators, processes), setup, processes):
            yield from some

    def _keep(
        self,
        data: TrainingData,
        setup: ForestSetup,
        grown: dict[int, ForestTree],
        sample_weight: Any,
        *,
        interrupted: bool,
    ) -> None:
        """Set the fitted attributes, all at once: a fit that fails leaves those of the last one."""
        panel, labels = setup.training
        probability = _out_of_bag(setup, grown, len(data.classes))
        card = _scorecard(data, probability, sample_weight)
        missing = tuple(sorted(may_be_missing(panel)))
        self.classes_, self.trees_ = data.classes, tuple(tree.tree for tree in grown.values())
        self.grammar_, self.class_counts_ = setup.grammar, tuple(labels.counts().tolist())
        self.training_ = TrainingFacts(panel.schema, setup.seed, fingerprint(panel, labels), missing, {})
        self.oob_decision_function_: Floats | None = _for_all_records(data, probability)
        self.out_of_bag_, self.interrupted_ = card, interrupted

    def _warn_of_single_leaves(self, setup: ForestSetup) -> None:
        if not all(isinstance(tree.root, Leaf) for tree in self.trees_) or self.interrupted_:
            return
        labels = setup.training.labels
        if labels.is_pure:
            warn(f"there is only one class, {labels.summary().predicted!r}: every tree is a single leaf")
        elif setup.classifier.max_depth != 0:
            warn(
                "no tree found a formula that is worth its length: every tree is a single leaf; give a richer grammar, "
                "or the search more evaluations"
            )


def _out_of_bag(setup: ForestSetup, kept: dict[int, ForestTree], classes: int) -> Floats:
    """Return the mean probabilities of each training record by trees it is out of bag for; NaN if there are none."""
    records = len(setup.training.labels)
    total, judges = np.zeros((records, classes)), np.zeros(records)
    for number, grown in kept.items():
        others = setup.out_of_bag(number)
        total[others] += grown.oob_probabilities
        judges[others] += 1
    return np.divide(total, judges[:, None], out=np.full_like(total, np.nan), where=judges[:, None] > 0)


def _scorecard(data: TrainingData, oob: Floats, sample_weight: Any) -> Scorecard | None:
    judged = ~np.isnan(oob[:, 0])
    if not judged.any():
        return None
    labels, known = data.training.labels.codes[judged], data.classes.tolist()
    weights = None if sample_weight is None else np.asarray(sample_weight)[data.positions[judged]]
    return Scorecard.of(data.classes[labels].tolist(), oob[judged], known, weights)


def _for_all_records(data: TrainingData, oob: Floats) -> Floats:
    """Return the probabilities for all given records; those of weight 0 have NaN."""
    found = np.full((data.records, oob.shape[1]), np.nan)
    found[data.positions] = oob
    return found


# ---- Growing some of the trees.


def _shared_backend(backend: Backend, panel: Panel, grammar: Grammar) -> Backend:
    return backend


def grow_some(numbers: Sequence[int], setup: ForestSetup) -> list[tuple[int, ForestTree]]:
    """Grow some of the trees in another process."""
    return list(setup.grow(numbers, quiet=True))


def _bare(tree: Tree) -> Tree:
    """Return the tree without the side results of its searches, which are not kept for many trees."""

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            return node
        true, false = below(node.true), below(node.false)
        return replace(node, true=true, false=false, runners_up=(), by_size=(), found=None, proof=None)

    return replace(tree, root=below(tree.root))


_AT_ONCE = 5
"""The most trees of one task: they share bitsets, which may take as long to make as a tree to grow."""


def _tasks(trees: int, places: int) -> list[list[int]]:
    """Return the numbers of the trees in tasks, several for each place, so that none waits long for the last."""
    size = max(1, min(_AT_ONCE, trees // (4 * places)))
    return [list(range(first, min(first + size, trees))) for first in range(0, trees, size)]
