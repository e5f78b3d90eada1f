"""GrammarForestClassifier: many trees, each of other records, that predict together."""

import logging
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from telltree.errors import SettingsError, warn
from telltree.estimators.classifier import GrammarTreeClassifier, generator_of, importances
from telltree.estimators.folds import probabilities
from telltree.estimators.inputs import TrainingData, TrainingSet, read_given, read_known, remember
from telltree.estimators.parameters import check_forest, check_tree_of_forest
from telltree.estimators.scorecard import Scorecard
from telltree.explain import Style
from telltree.explain.asked import Asked, joint_schema
from telltree.grammar import Grammar
from telltree.panel import Schema
from telltree.panel.leaks import warn_of_leaks
from telltree.panel.usable import may_be_missing, unchanging
from telltree.scale.dask import Cluster
from telltree.scale.processes import finished, processes_for, stop
from telltree.search import GeneticProgramming
from telltree.text import counted
from telltree.tree import Leaf, Node
from telltree.tree.induction import Interruption
from telltree.tree.out_of_core import local_backend
from telltree.tree.split_search import LocalBackend
from telltree.tree.training import Training, fingerprint
from telltree.tree.tree import Tree

if TYPE_CHECKING:
    from telltree.models import ForestModel


# ---- The trees of a forest: which records each of them learns from, and what it says of the others.
#
# A tree depends on the seed of the forest and on its own number alone, not on when, where or after which others it
# grows.

SHARE = 0.632
"""Of the records that a tree learns from: about as many different ones as a bootstrap has, and none of them twice."""


class Grown(NamedTuple):
    """A tree of a forest."""

    tree: Tree
    chances: NDArray[np.float64]
    """The probability of each class for each record that it has not learnt from, in their order."""
    interrupted: bool


@dataclass(frozen=True)
class Ground:
    """What all trees of a forest have in common."""

    classifier: "GrammarTreeClassifier"
    """How each is learnt."""
    training: TrainingSet
    seed: int
    grammar: Grammar | None
    """None if each tree has a language of its own."""
    groups: NDArray[np.int64] | None
    """Records of one group are learnt from together, or not at all."""

    def draw(self, number: int) -> tuple[NDArray[np.int64], int]:
        """The records that a tree learns from, by their places, and the seed of its searches."""
        chance = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        units = len(self.training.labels) if self.groups is None else int(self.groups.max()) + 1
        drawn = np.sort(chance.choice(units, max(1, round(SHARE * units)), replace=False))
        members = drawn if self.groups is None else np.flatnonzero(np.isin(self.groups, drawn))
        return members, int(chance.integers(2**31 - 1))

    def unseen(self, number: int) -> NDArray[np.int64]:
        """The records that a tree does not learn from."""
        return np.setdiff1d(np.arange(len(self.training.labels)), self.draw(number)[0])

    def grown(self, numbers: Sequence[int], *, quiet: bool) -> Iterator[tuple[int, Grown]]:
        """Trees one after the other, each with its number; if they have the same grammar, they share planes, and unless
        it is `quiet`, the memory that large records take is told once.
        """
        panel = self.training.panel
        threads = self.classifier.threads
        grammar = None if self.grammar is None else self.classifier.searched(self.grammar)
        backend = None if grammar is None else local_backend(panel, grammar, threads, quiet=quiet)
        for number in numbers:
            members, seed = self.draw(number)
            shared = backend.part(members) if isinstance(backend, LocalBackend) else None
            learned = self.classifier.learn_part(self.training.part(members), seed, self.grammar, shared)
            tree, others = self._told_as_all(_bare(learned.tree)), self.unseen(number)
            chances = probabilities(tree, panel[others]) if len(others) else np.empty((0, len(tree.target.parts)))
            yield number, Grown(tree, chances, learned.interrupted)

    def _told_as_all(self, tree: Tree) -> Tree:
        """The tree with what is known of all records: which columns miss values, and which do not change."""
        return replace(tree, schema=Schema(self._schema[name] for name in tree.schema), missing=self._missing)

    @cached_property
    def _schema(self) -> Schema:
        panel = self.training.panel
        still = unchanging(panel)
        return Schema(replace(column, static=column.name in still) for column in panel.schema.values())

    @cached_property
    def _missing(self) -> frozenset[str]:
        return may_be_missing(self.training.panel)


def grow_some(numbers: Sequence[int], ground: Ground) -> list[tuple[int, Grown]]:
    """In another process: some of the trees."""
    return list(ground.grown(numbers, quiet=True))


def _bare(tree: Tree) -> Tree:
    """The tree without what its searches met on the way, of which nobody reads fifty times as much."""

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            return node
        true, false = below(node.true), below(node.false)
        return replace(node, true=true, false=false, runners_up=(), by_size=(), found=None, proof=None)

    return replace(tree, root=below(tree.root))


# ---- GrammarForestClassifier: many trees, each of other records, that predict together.

logger = logging.getLogger("telltree")
Floats = NDArray[np.float64]
_AT_ONCE = 5
"""Trees of one task at most: they share planes, which may take as long to make as a tree to grow."""


class ForestProgress(NamedTuple):
    """What a forest reports after each tree."""

    done: int
    trees: int


class GrammarForestClassifier(ClassifierMixin, BaseEstimator):
    """Learns many trees of formulas, each of other records, and predicts with all of them together.

    Parameters
    ----------
    tree: how each tree is learnt, a GrammarTreeClassifier; None for one with the usual settings, but with
        GeneticProgramming(), which takes less time: of many trees, nobody asks what was proved. Its `random_state` and
        `progress` are the forest's affair, and `n_jobs` are threads for each tree. It has neither `cv` nor `recall`,
        which are about a single tree.
    n_estimators: how many trees.
    random_state: a seed; the same seed gives the same forest, wherever its trees grow. The first trees of a larger
        forest are those of a smaller one.
    n_jobs: processes that grow trees; None for this one alone, −1 for one per core.
    progress: called with a ForestProgress after each tree.

    Each tree learns from 63.2 % of the records, drawn without replacement: about as many different ones as a bootstrap
    has. What trees say of records that they have not learnt from is judged: `out_of_bag_`. `X` and weights are those of
    GrammarTreeClassifier.

    Attributes
    ----------
    trees_: the trees, each a Tree; `print(forest.trees_[0])`. They have neither runners-up nor headlines.
    out_of_bag_: a Scorecard of what was said of each record by the trees that had not learnt from it; None if there is
        none, and after loading. By sample weight, if there are weights.
    oob_decision_function_: these probabilities, records × classes; a record that no tree judged has NaN. None after
        loading.
    oob_score_: the accuracy of `out_of_bag_`, as in scikit-learn.
    classes_, n_features_in_, feature_names_in_: as in scikit-learn.
    grammar_: the Grammar that all trees have searched; None if each had its own.
    class_counts_: how many training records are of each class.
    feature_importances_: the mean of those of the trees, brought to a sum of 1.
    interrupted_: whether Ctrl-C cut learning short; `trees_` are those that were finished.
    training_: what the model keeps of the training data.
    """

    def __init__(
        self,
        tree: GrammarTreeClassifier | None = None,
        n_estimators: int = 50,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Callable[[ForestProgress], None] | None = None,
    ) -> None:
        self.tree = tree
        self.n_estimators = n_estimators
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

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
        given = read_given(X, y, sample_weight, template.class_weight)
        seed = int(generator.randint(2**31 - 1))
        ground = self._ground(given, template, seed, groups)
        if template.grammar is None and ground.grammar is not None:
            warn_of_leaks(given.training.panel, given.classes[given.training.labels.codes], ground.grammar.attributes)
        found: dict[int, Grown] = {}
        with Interruption() as interruption:
            interruption.unless_asked(lambda: self._grow(ground, client, found))
            kept = _whole(found)
            if not kept:
                raise KeyboardInterrupt  # not even the first tree has begun
            interrupted = interruption.asked or any(grown.interrupted for grown in found.values())
            if interrupted:
                logger.warning("telltree: interrupted; the forest has %d of %d trees", len(kept), self.n_estimators)
            panel, labels = ground.training
            chances = _judged(ground, kept, len(given.classes))
            card = _card(given, chances, sample_weight)
            missing = tuple(sorted(may_be_missing(panel)))
            # all at once: a fit that fails leaves what was learned before as it was
            self.classes_, self.trees_ = given.classes, tuple(grown.tree for grown in kept.values())
            self.grammar_, self.class_counts_ = ground.grammar, tuple(labels.counts().tolist())
            self.training_ = Training(panel.schema, seed, fingerprint(panel, labels), missing, {})
            self.oob_decision_function_: Floats | None = _of_all(given, chances)
            self.out_of_bag_, self.interrupted_ = card, interrupted
            remember(self, X, panel)
        self._say_what_is_odd(ground)
        return self

    def _template(self) -> GrammarTreeClassifier:
        if not isinstance(self.tree, GrammarTreeClassifier | None):
            raise SettingsError(f"tree must be a GrammarTreeClassifier or None, got {self.tree!r}")
        return self.tree or GrammarTreeClassifier(search=GeneticProgramming())

    def _ground(self, given: TrainingData, template: GrammarTreeClassifier, seed: int, groups: Any) -> Ground:
        """What the trees have in common."""
        own = clone(template).set_params(progress=None, random_state=None)
        known = given.of_weighing(groups)
        if known is not None and len(known) != len(given.weighing):
            records = counted(given.records, "record")
            raise SettingsError(f"groups must have one for each of {records}, got {len(known):,}")
        codes = None if known is None else np.unique(known, return_inverse=True)[1]
        return Ground(own, given.training, seed, own.language_for(given.training), codes)

    def _grow(self, ground: Ground, client: Any, found: dict[int, Grown]) -> None:
        """Grow the trees, and put each among those found."""
        results = self._results(ground, client)
        try:
            for number, grown in results:
                found[number] = grown
                if grown.interrupted:
                    return
                if self.progress is not None:
                    self.progress(ForestProgress(len(found), self.n_estimators))
        finally:
            stop(results)

    def _results(self, ground: Ground, client: Any) -> Generator[tuple[int, Grown]]:
        """The trees as they are finished, with their numbers: here, in other processes, or on other machines."""
        if client is not None:
            with Cluster(client) as cluster:
                tasks = _tasks(self.n_estimators, cluster.workers)
                for _, some in cluster.finished(grow_some, tasks, ground):
                    yield from some
            return
        processes = processes_for(None if self.n_jobs == -1 else self.n_jobs or 1, self.n_estimators)
        if processes == 1:
            yield from ground.grown(range(self.n_estimators), quiet=False)
            return
        for _, some in finished(grow_some, _tasks(self.n_estimators, processes), ground, processes):
            yield from some

    def _say_what_is_odd(self, ground: Ground) -> None:
        if not all(isinstance(tree.root, Leaf) for tree in self.trees_) or self.interrupted_:
            return
        labels = ground.training.labels
        if labels.settled:
            warn(f"there is only one class, {labels.summary().predicted!r}: every tree is a single leaf")
        elif ground.classifier.max_depth != 0:
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
        """The mean of what the trees say, records × classes, in the order of `classes_`."""
        check_is_fitted(self)
        panel = read_known(self, X, joint_schema(self.trees_))
        found: Floats = np.mean([probabilities(tree, panel) for tree in self.trees_], axis=0)
        return found

    def asked(self, *, style: Style = "plain") -> Asked:
        """What the trees ask, and how many of them; print it, or take its `questions` and `conditions`.

        `style="paper"` asks in the paper's form.
        """
        check_is_fitted(self)
        return Asked.by(self.trees_, style=style)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted forest to one JSON file that holds no code; `telltree.load(path)` reads it."""
        from telltree.estimators.saving import save

        check_is_fitted(self)
        save(self, path, overwrite=overwrite)

    def model(self) -> "ForestModel":
        """What a model file holds."""
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
            parameters=None if self.tree is None else parameters_of(self.tree),
        )

    @property
    def oob_score_(self) -> float | None:
        """The accuracy out of bag; None if no record was judged so."""
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
        """That of the trees."""
        return self._template().class_weight


def _tasks(trees: int, places: int) -> list[list[int]]:
    """The numbers of the trees, in tasks: several for each place, so that none waits long for the last."""
    size = max(1, min(_AT_ONCE, trees // (4 * places)))
    return [list(range(first, min(first + size, trees))) for first in range(0, trees, size)]


def _whole(found: dict[int, Grown]) -> dict[int, Grown]:
    """The finished trees by number; if Ctrl-C came before there was one, the one that was begun."""
    ordered = dict(sorted(found.items()))
    return {number: grown for number, grown in ordered.items() if not grown.interrupted} or dict(
        list(ordered.items())[:1]
    )


def _judged(ground: Ground, kept: dict[int, Grown], classes: int) -> Floats:
    """The mean of what trees say of each training record that they have not learnt from; NaN where none does."""
    records = len(ground.training.labels)
    total, judges = np.zeros((records, classes)), np.zeros(records)
    for number, grown in kept.items():
        others = ground.unseen(number)
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
    """The same for all records that were given; those of weight 0 have NaN."""
    found = np.full((given.records, chances.shape[1]), np.nan)
    found[given.weighing] = chances
    return found
