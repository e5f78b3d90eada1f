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
from telltree.estimators.classifier import GrammarTreeClassifier, generator_of, importances
from telltree.estimators.folds import probabilities
from telltree.estimators.inputs import TrainingData, TrainingSet, read_known, read_training_data, remember
from telltree.estimators.parameters import check_forest, check_tree_of_forest
from telltree.estimators.scorecard import Scorecard
from telltree.explain import Style
from telltree.explain.common_splits import CommonSplits, joint_schema
from telltree.grammar import Grammar
from telltree.panel import Panel, Schema
from telltree.panel.leaks import warn_of_leaks
from telltree.panel.usable import may_be_missing, unchanging
from telltree.scale.dask import Cluster
from telltree.scale.out_of_core import local_backend
from telltree.scale.processes import finished, processes_for, stop
from telltree.search import GeneticProgramming
from telltree.text import counted
from telltree.tree import Leaf, Node
from telltree.tree.backend import Backend, LocalBackend
from telltree.tree.induction import Interruption, Run
from telltree.tree.training import Training, fingerprint
from telltree.tree.tree import Tree

if TYPE_CHECKING:
    from telltree.models import ForestModel


logger = logging.getLogger("telltree")
Floats = NDArray[np.float64]
_AT_ONCE = 5
"""The most trees of one task: they share bitsets, which may take as long to make as a tree to grow."""


# ---- The trees of a forest: each learns from some of the records, and is judged by the others.
#
# A tree depends on the seed of the forest and on its own number alone, not on when, where or after which others it
# grows.

SHARE = 0.632
"""The share of the records that a tree learns from: as many as a bootstrap has different ones."""


class ForestTree(NamedTuple):
    """A tree of a forest."""

    tree: Tree
    chances: Floats
    """The probability of each class for each record that it was not learned from, in their order."""
    interrupted: bool


@dataclass(frozen=True)
class ForestSetup:
    """Everything that the trees of a forest share."""

    classifier: "GrammarTreeClassifier"
    training: TrainingSet
    seed: int
    grammar: Grammar | None
    """None if each tree has a grammar of its own."""
    groups: NDArray[np.int64] | None
    """All records of a group are in the training part of a tree, or none is."""

    def draw(self, number: int) -> tuple[NDArray[np.int64], int]:
        """The positions of the records that a tree learns from, and the seed of its searches."""
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        units = len(self.training.labels) if self.groups is None else int(self.groups.max()) + 1
        drawn = np.sort(random.choice(units, max(1, round(SHARE * units)), replace=False))
        members = drawn if self.groups is None else np.flatnonzero(np.isin(self.groups, drawn))
        return members, int(random.integers(2**31 - 1))

    def out_of_bag(self, number: int) -> NDArray[np.int64]:
        """The positions of the records that a tree does not learn from."""
        return np.setdiff1d(np.arange(len(self.training.labels)), self.draw(number)[0], assume_unique=True)

    def grow(self, numbers: Sequence[int], *, quiet: bool) -> Iterator[tuple[int, ForestTree]]:
        """Grow trees one after the other; if they have one grammar, they share bitsets."""
        panel, classifier = self.training.panel, self.classifier
        local, shared = partial(local_backend, threads=classifier.threads), None
        if self.grammar is not None:
            shared = local(panel, classifier.sized(self.grammar), quiet=quiet)
        for number in numbers:
            members, seed = self.draw(number)
            run = Run(partial(local, quiet=True))
            if isinstance(shared, LocalBackend):
                run = Run(partial(_given, shared.part(members)))
            result = classifier.grow_for_forest(self.training.part(members), seed, self.grammar, run)
            tree, others = self._with_facts_of_all(_bare(result.tree)), self.out_of_bag(number)
            chances = probabilities(tree, panel[others]) if len(others) else np.empty((0, len(tree.target.parts)))
            yield number, ForestTree(tree, chances, result.interrupted)

    def _with_facts_of_all(self, tree: Tree) -> Tree:
        """The tree with the columns that miss values, or do not change, among all records."""
        return replace(tree, schema=Schema(self._schema[name] for name in tree.schema), missing=self._missing)

    @cached_property
    def _schema(self) -> Schema:
        panel = self.training.panel
        still = unchanging(panel)
        return Schema(replace(column, static=column.name in still) for column in panel.schema.values())

    @cached_property
    def _missing(self) -> frozenset[str]:
        return may_be_missing(self.training.panel)


def _given(backend: Backend, panel: Panel, grammar: Grammar) -> Backend:
    return backend


def grow_some(numbers: Sequence[int], setup: ForestSetup) -> list[tuple[int, ForestTree]]:
    """In another process: some of the trees."""
    return list(setup.grow(numbers, quiet=True))


def _bare(tree: Tree) -> Tree:
    """The tree without the side results of its searches: nobody reads those of fifty trees."""

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            return node
        true, false = below(node.true), below(node.false)
        return replace(node, true=true, false=false, runners_up=(), by_size=(), found=None, proof=None)

    return replace(tree, root=below(tree.root))


# ---- The estimator.


class ForestProgress(NamedTuple):
    """The progress of a forest after each tree."""

    done: int
    trees: int


class GrammarForestClassifier(ClassifierMixin, BaseEstimator):
    """Learns many trees of formulas, each of other records, and predicts with all of them together.

    Parameters
    ----------
    estimator: how each tree is learned, a GrammarTreeClassifier; None for one with default settings, but with
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, client: Any = None
    ) -> "GrammarForestClassifier":
        """Learn a forest. Ctrl-C ends learning early and keeps the trees that are finished.

        groups: one for each record; a tree learns from all records of a group or from none, so that what it says of the
            others is no mere memory of their kin.
        client: a Dask client, on whose workers the trees grow. The forest is the same.
        """
        check_forest(self.get_params(deep=False))
        template = self._template()
        check_tree_of_forest(template.get_params(deep=False))
        generator = generator_of(self.random_state)
        given = read_training_data(X, y, sample_weight, template.class_weight)
        seed = int(generator.randint(2**31 - 1))
        setup = self._set_up(given, template, seed, groups)
        if template.grammar is None and setup.grammar is not None:
            warn_of_leaks(given.training.panel, given.classes[given.training.labels.codes], setup.grammar.attributes)
        found: dict[int, ForestTree] = {}
        with Interruption() as interruption:
            interruption.unless_asked(lambda: self._grow(setup, client, found))
            kept = _whole(found)
            if not kept:
                raise KeyboardInterrupt  # not even the first tree has begun
            interrupted = interruption.asked or any(grown.interrupted for grown in found.values())
            if interrupted:
                logger.warning("telltree: interrupted; the forest has %d of %d trees", len(kept), self.n_estimators)
            panel, labels = setup.training
            chances = _judged(setup, kept, len(given.classes))
            card = _card(given, chances, sample_weight)
            missing = tuple(sorted(may_be_missing(panel)))
            # all at once: a fit that fails leaves what was learned before as it was
            self.classes_, self.trees_ = given.classes, tuple(grown.tree for grown in kept.values())
            self.grammar_, self.class_counts_ = setup.grammar, tuple(labels.counts().tolist())
            self.training_ = Training(panel.schema, seed, fingerprint(panel, labels), missing, {})
            self.oob_decision_function_: Floats | None = _of_all(given, chances)
            self.out_of_bag_, self.interrupted_ = card, interrupted
            remember(self, X, panel)
        self._say_what_is_odd(setup)
        return self

    def _template(self) -> GrammarTreeClassifier:
        if not isinstance(self.estimator, GrammarTreeClassifier | None):
            raise SettingsError(f"estimator must be a GrammarTreeClassifier or None, got {self.estimator!r}")
        return self.estimator or GrammarTreeClassifier(search=GeneticProgramming())

    def _set_up(self, given: TrainingData, template: GrammarTreeClassifier, seed: int, groups: Any) -> ForestSetup:
        """Everything that the trees share."""
        own = clone(template).set_params(callback=None, random_state=None)
        known = given.of_weighing(groups)
        if known is not None and len(known) != len(given.weighing):
            records = counted(given.records, "record")
            raise SettingsError(f"groups must have one for each of {records}, got {len(known):,}")
        codes = None if known is None else np.unique(known, return_inverse=True)[1]
        return ForestSetup(own, given.training, seed, own.shared_grammar(given.training), codes)

    def _grow(self, setup: ForestSetup, client: Any, found: dict[int, ForestTree]) -> None:
        """Grow the trees, and put each among those found."""
        results = self._results(setup, client)
        try:
            for number, grown in results:
                found[number] = grown
                if grown.interrupted:
                    return
                if self.callback is not None:
                    self.callback(ForestProgress(len(found), self.n_estimators))
        finally:
            stop(results)

    def _results(self, setup: ForestSetup, client: Any) -> Generator[tuple[int, ForestTree]]:
        """The trees as they are finished, with their numbers: here, in other processes, or on other machines."""
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

    def _say_what_is_odd(self, setup: ForestSetup) -> None:
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

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each record: the most probable, the first of equals."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        found: NDArray[Any] = self.classes_[likeliest]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """The mean of the trees' probabilities: records × classes, in the order of `classes_`."""
        check_is_fitted(self)
        panel = read_known(self, X, joint_schema(self.trees_))
        found: Floats = np.mean([probabilities(tree, panel) for tree in self.trees_], axis=0)
        return found

    def common_splits(self, *, style: Style = "plain") -> CommonSplits:
        """The questions of the trees and how often they occur; print it, or take its `questions` and `conditions`.

        `style="paper"` asks in the paper's form.
        """
        check_is_fitted(self)
        return CommonSplits.of(self.trees_, style=style)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted forest to one JSON file that holds no code; `telltree.load(path)` reads it."""
        from telltree.estimators.saving import save

        check_is_fitted(self)
        save(self, path, overwrite=overwrite)

    def model(self) -> "ForestModel":
        """The content of a model file."""
        from telltree.estimators.saving import parameters_of
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
            parameters=None if self.estimator is None else parameters_of(self.estimator),
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


def _tasks(trees: int, places: int) -> list[list[int]]:
    """The numbers of the trees, in tasks: several for each place, so that none waits long for the last."""
    size = max(1, min(_AT_ONCE, trees // (4 * places)))
    return [list(range(first, min(first + size, trees))) for first in range(0, trees, size)]


def _whole(found: dict[int, ForestTree]) -> dict[int, ForestTree]:
    """The finished trees by number; if Ctrl-C came before there was one, the one that was begun."""
    ordered = dict(sorted(found.items()))
    return {number: grown for number, grown in ordered.items() if not grown.interrupted} or dict(
        list(ordered.items())[:1]
    )


def _judged(setup: ForestSetup, kept: dict[int, ForestTree], classes: int) -> Floats:
    """The mean probabilities of each training record by trees that it is out of bag for; NaN if there are none."""
    records = len(setup.training.labels)
    total, judges = np.zeros((records, classes)), np.zeros(records)
    for number, grown in kept.items():
        others = setup.out_of_bag(number)
        total[others] += grown.chances
        judges[others] += 1
    return np.divide(total, judges[:, None], out=np.full_like(total, np.nan), where=judges[:, None] > 0)


def _card(given: TrainingData, chances: Floats, sample_weight: Any) -> Scorecard | None:
    judged = ~np.isnan(chances[:, 0])
    if not judged.any():
        return None
    labels, known = given.training.labels.codes[judged], given.classes.tolist()
    weights = None if sample_weight is None else np.asarray(sample_weight)[given.weighing[judged]]
    return Scorecard.of(given.classes[labels].tolist(), chances[judged], known, weights)


def _of_all(given: TrainingData, chances: Floats) -> Floats:
    """The probabilities for all given records; those of weight 0 have NaN."""
    found = np.full((given.records, chances.shape[1]), np.nan)
    found[given.weighing] = chances
    return found
