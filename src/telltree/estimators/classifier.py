"""GrammarTreeClassifier: a decision tree whose branches are temporal-logic formulas."""

import copy
import hashlib
import json
import logging
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, is_dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from telltree.checks import PAPER_DEPTHS, PaperExperiment, is_whole, require_experiment
from telltree.defaults import RANDOM_STATE, SIMPLICITY, THRESHOLDS, ThresholdsName
from telltree.engine.three_valued import check_bounds
from telltree.errors import DataWarning, SettingsError, warn
from telltree.estimators.folds import Fold, Learn, Validation, folds, probabilities, validate
from telltree.estimators.inputs import TrainingSet, read_given, read_known, remember
from telltree.estimators.parameters import check_floors, check_parameters, settings_of, split_settings, with_settings
from telltree.explain import Categories, RuleRow, Style, categorize, rules_table
from telltree.explain.headlines import with_headlines
from telltree.explain.notebook import tree_html
from telltree.grammar import Grammar
from telltree.grammar.default_language import MANY_SHAPES, SHAPES
from telltree.grammar.generic_language import PAPER
from telltree.logic import UserFunction
from telltree.panel import Panel, Schema, unusable
from telltree.panel.leaks import warn_of_leaks
from telltree.panel.schema import listed
from telltree.panel.usable import may_be_missing
from telltree.scale.checkpoint import Checkpoint, naming
from telltree.scale.dask import Cluster
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo, Search
from telltree.text import counted, size_of
from telltree.tree import MDL, Criterion, GiniSize, GrowthResult, Induction, Leaf, Limits, Node, NodeProgress
from telltree.tree.class_target import ClassLabels, ClassSummary
from telltree.tree.criterion import sized_for
from telltree.tree.growth import USUAL, LookAhead, Optimal
from telltree.tree.induction import (
    DEFAULT_CRITERION,
    DEFAULT_SEARCH,
    NO_CHECKPOINT,
    CheckpointStore,
    Interruption,
    MakeBackend,
)
from telltree.tree.min_recall import with_recall
from telltree.tree.out_of_core import local_backend
from telltree.tree.pruning_path import PruningPath, equals_merged
from telltree.tree.split_search import Backend, LocalBackend
from telltree.tree.target import Labels
from telltree.tree.training import Training, fingerprint
from telltree.tree.tree import Tree

if TYPE_CHECKING:
    from telltree.models import Model


# ---- Importances: how much each column contributes to a tree.

Floats = NDArray[np.float64]


def importances(tree: Tree, schema: Schema) -> Floats:
    """The share of each column of the schema in the gain of the tree; they add up to 1, or are 0 for a leaf.

    The gain of a node is its decrease in Gini impurity, times the weight of its records, so gains are comparable
    whatever the fitness was. It is divided equally among the columns of the node's formula.
    """
    found = dict.fromkeys(schema, 0.0)

    def below(node: Node | Leaf) -> Floats:
        """The weight of each class here; adds the gains of this node and those below to the columns."""
        if isinstance(node, Leaf):
            assert isinstance(node.summary, ClassSummary)
            return np.array(node.summary.weights)
        true, false = below(node.true), below(node.false)
        gain = _impure(true + false) - _impure(true) - _impure(false)
        mentioned = [name for name in sorted(node.formula.expression.attributes()) if name in found]
        for name in mentioned:
            found[name] += max(gain, 0.0) / len(mentioned)
        return true + false

    below(tree.root)
    gains = np.array(list(found.values()))
    return gains / gains.sum() if gains.sum() > 0 else gains


def _impure(weights: Floats) -> float:
    """The Gini impurity of records of these classes, times their weight."""
    total = float(weights.sum())
    return total - float(weights @ weights) / total if total else 0.0


# ---- A tree, and the sentences about it, which are found when they are first asked for.
#
# Learning and predicting need no words, and finding good ones takes as long as learning.

logger = logging.getLogger("telltree")


@dataclass(frozen=True)
class TrainingSample:
    """The records that a tree was learned from, to choose words by."""

    panel: Panel
    labels: Labels
    fingerprint: str

    def say(self, tree: Tree) -> Tree:
        """The tree with its headlines. After Ctrl-C, or if the records are no longer what they were, it has none."""
        if fingerprint(self.panel, self.labels) != self.fingerprint:
            warn(
                "the records were changed since the tree was learned from them: its categories have no headlines; fit "
                "anew, or ask for `tree_` before you change them"
            )
            return tree
        with Interruption() as interruption:
            told = interruption.unless_asked(lambda: with_headlines(tree, self.panel))
        if told is None:
            logger.warning("telltree: interrupted; the tree is whole, but its categories have no headlines")
        return told or tree


class WordedTree:
    """A tree that is put into words once."""

    def __init__(self, plain: Tree, heard: TrainingSample | None = None) -> None:
        """`heard`: None if the words are there already, or nobody can find them."""
        self.plain, self._heard, self._lock = plain, heard, Lock()

    @property
    def tree(self) -> Tree:
        """The tree with its words; the records are let go."""
        with self._lock:
            if self._heard is not None:
                self.plain, self._heard = self._heard.say(self.plain), None
        return self.plain

    def __reduce__(self) -> tuple[type["WordedTree"], tuple[Tree]]:
        """A copy, here or elsewhere, has words and no records."""
        return WordedTree, (self.tree,)


# ---- What must be the same for a fit to go on from a checkpoint, in the words of whoever is told that it is not.

_SEED = "the seed that follows from random_state"


def about_data(panel: Panel, labels: ClassLabels, parts: Sequence[Fold] | None) -> dict[str, str]:
    """What a fit learns from."""
    halves = [] if parts is None else [half for fold in parts for half in fold]
    return {
        "the data (columns, records and their labels)": fingerprint(panel, labels),
        "the step": str(panel.step),
        "sample and class weights": "none" if labels.weights is None else _hash(labels.weights),
        "cv, or groups": "none" if parts is None else _hash(*halves),
    }


def about_settings(
    grammar: Grammar | None, search: Any, fitness: Any, limits: Limits, *, centre: Collection[str], seed: int
) -> dict[str, str]:
    """How it does so. A fitness, search or function of the user's own goes by its name, and settings if it has any."""
    functions = [] if grammar is None else sorted(function.name for function in grammar.functions)
    return {
        "the grammar": _hash(np.frombuffer(json.dumps([str(grammar), functions]).encode(), np.uint8)),
        "search": _named(search),
        "fitness": _named(fitness),
        **{name: str(value) for name, value in asdict(limits).items()},
        "centre": _hash(np.frombuffer(json.dumps(sorted(centre)).encode(), np.uint8)),
        _SEED: str(seed),
    }


def seed_said(known: Checkpoint, otherwise: int) -> int:
    """The seed of the fit that a checkpoint is of, if there is one."""
    said = known.said(_SEED) or ""
    return int(said) if said.isdecimal() and len(said) < 20 else otherwise


def _named(setting: Any) -> str:
    if is_dataclass(setting):
        return repr(setting)
    return (
        f"{setting.__module__}.{setting.__qualname__}" if hasattr(setting, "__qualname__") else type(setting).__name__
    )


def _hash(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{len(array)} ".encode() + np.ascontiguousarray(array).tobytes())
    return f"sha256:{digest.hexdigest()}"


# ---- GrammarTreeClassifier: a decision tree whose branches are temporal-logic formulas.

_MOST_THREADS = 256  # results do not depend on their number, and more are of no use
DEEPEST = 100
"""The largest depth of any tree: trees are nested, and much deeper ones could be neither copied nor pickled."""
Tell = Callable[[NodeProgress], None]
_EQUALS = 2.0  # a question whose answers predict the same class must be worth this many times its price


_DEFAULTS: Mapping[str, Any] = {"search": DEFAULT_SEARCH, "fitness": DEFAULT_CRITERION}
"""The defaults that None stands for, of parameters with settings of their own."""
_OF_THE_PAPER: Mapping[str, type[GeneticProgramming | GrammaticalEvolution | MonteCarlo]] = {
    "gp": GeneticProgramming,
    "ge": GrammaticalEvolution,
    "mc": MonteCarlo,
}


class GrammarTreeClassifier(ClassifierMixin, BaseEstimator):
    """Learns a tree of formulas drawn from a grammar, classifies with it, and explains each leaf as a category.

    Parameters
    ----------
    grammar: a Grammar, the text of one, or None for a language that suits the training data, `Grammar.for_panel`;
        "shapes" for the same with 200 shapes, pieces of training records; "paper" for the paper's generic grammar,
        `Grammar.generic` with alternatives of equal weight.
    search: how to look for the formula of a node, such as GeneticProgramming() or MonteCarlo(); None for Auto(), which
        also says what it has proved.
    fitness: what makes a split good; any function of (class weights of the true side, of all, sizes); None for Bits().
        With Bits, branches that are not worth their formulas are pruned; GiniSize() is the paper's.
    max_depth: the most branches from the root to a leaf; "auto" for what suits the number of records; None for no limit
        (but 100, more than anybody can read).
    min_samples_leaf: records that each side of a split must have; "auto" for a hundredth of all, 10 at most, and no
        more than half of the rarest class.
    min_gain: by how much a split must lower the fitness; None takes any, with Bits any that saves bits.
    prevent_same_label: refuse splits whose two sides predict the same class.
    centre: move the constants of a chosen formula to the middle of the gap in which it splits the training records
        alike; None does so where `grammar` is None or "shapes", except for columns whose thresholds the schema gives.
    thresholds: "centred" leaves the split of a chosen formula as the search found it; "exact" moves the constants that
        may be moved, see `centre`, to where the formula is fittest, and of gaps in which it is as fit to the widest.
    as_derived: keep each formula exactly as the search derived it: no part is dropped, no constant moved, nothing
        brought to normal form, and yes and no are not exchanged.
    cv: the number of folds in which all trees of the front are tried on unseen records, or the folds themselves as
        pairs of positions to learn from and to hold out; the model is then the smallest tree whose balanced accuracy
        there is at most a standard error of the difference below the best one's, and `validation_` has the results.
        None: no cross-validation; the price of formulas alone decides.
    simplicity: by how many standard errors a tree may be behind the best one in cross-validation, and still be
        taken because it is smaller. Without cv, a factor of the price of formulas. 0 takes the best, or the whole tree.
    class_weight: None, "balanced" or a dict from class to weight.
    recall: a dict from class to the least share of its training records that shall be predicted as such, such as
        {"failure": 0.95}. The records of a class that falls short weigh more in the leaves, by the least factor that
        reaches it, so that more leaves predict it; `tree_.floors` says what that cost.
    growth: None to grow the tree greedily, each question the best by itself; LookAhead() to judge each together with
        the best below it; Optimal() for the best of all small trees over a pool of questions, with a proof:
        `tree_.optimum`. `max_depth` is then 1, 2 or 3, and "auto" is 2.
    missing: what an atom on a missing value is: "false"; or "unknown" in three-valued logic, and a record whose answer
        is unknown then goes where more training records of the node went: `node.unknown` says how many that were.
    functions: user functions that a grammar given as text may call.
    random_state: a seed; the same seed gives the same tree, whatever `n_jobs` is, and without one `fit` on the command
        line learns the same. None for another seed each time.
    n_jobs: threads for evaluation; −1 for all cores.
    progress: called with a NodeProgress now and then while fitting.

    `X` is a Panel, or a plain two-dimensional table (array or frame) whose rows are records with one step. A record of
    weight 0 counts as if it were not there, but its class stays one of `classes_`.

    Attributes
    ----------
    tree_: the Tree; `print(clf.tree_)`. Its words are found when it is first asked for, and the training records are
        kept until then.
    front_: all trees worth having, from a single leaf to the whole tree; `print(clf.pruning_path_)`, and see `at`.
    validation_: with cv, what trees predicted for records that they had not seen.
    classes_, n_features_in_, feature_names_in_: as in scikit-learn; the last only if columns had names: arrays' have
        none, and formulas call them x1, x2 …
    grammar_: the Grammar that was searched.
    searches_: what each node's search found, by node number (root 1, children of n: 2n and 2n + 1).
    interrupted_: whether Ctrl-C cut learning or cross-validation short.
    feature_importances_: the share of each column in the gain of the tree. The gain of a node is its decrease in Gini
        impurity, times the weight of its records, divided equally among the columns of its formula.
    training_: what the model keeps of the training data: schema, seed, fingerprint, columns that missed values, and
        standard deviations of signals.
    """

    def __init__(
        self,
        grammar: Grammar | str | None = None,
        search: Search | None = None,
        *,
        fitness: Criterion | None = None,
        max_depth: int | Literal["auto"] | None = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        min_gain: float | None = None,
        prevent_same_label: bool = False,
        centre: bool | None = None,
        thresholds: ThresholdsName = THRESHOLDS,
        as_derived: bool = False,
        cv: int | Iterable[Fold] | None = None,
        simplicity: float = SIMPLICITY,
        class_weight: str | dict[Any, float] | None = None,
        recall: Mapping[Any, float] | None = None,
        growth: Optimal | LookAhead | None = None,
        missing: Literal["false", "unknown"] = "false",
        functions: Sequence[UserFunction] = (),
        random_state: Any = RANDOM_STATE,
        n_jobs: int | None = None,
        progress: Callable[[NodeProgress], None] | None = None,
    ) -> None:
        self.grammar = grammar
        self.search = search
        self.fitness = fitness
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.prevent_same_label = prevent_same_label
        self.centre = centre
        self.thresholds = thresholds
        self.as_derived = as_derived
        self.cv = cv
        self.simplicity = simplicity
        self.class_weight = class_weight
        self.recall = recall
        self.growth = growth
        self.missing = missing
        self.functions = functions
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    @classmethod
    def paper(
        cls, experiment: PaperExperiment = "auslan", search: Literal["gp", "ge", "mc"] = "gp", **settings: Any
    ) -> "GrammarTreeClassifier":
        """The paper's method: its criterion, search, stopping and grammar, without pruning and without rewriting.

        experiment: of which of the paper's experiments the budgets of the search and the depth of the tree are.
        search: genetic programming, grammatical evolution or Monte Carlo, with its authors' budgets.
        settings: parameters that differ, such as `grammar`, or `fitness__gini="weighted"`, as in its authors' code.
        """
        require_experiment(experiment)
        if search not in _OF_THE_PAPER:
            raise SettingsError(f"the paper's searches are {listed(_OF_THE_PAPER)}, got {search!r}")
        made = cls(
            PAPER,
            _OF_THE_PAPER[search].paper(experiment),
            fitness=GiniSize.paper(),
            max_depth=PAPER_DEPTHS[experiment],
            min_samples_leaf=1,
            centre=False,
            as_derived=True,
        )
        return made.set_params(**settings)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters; with `deep` also the settings of search and fitness, such as `search__evaluations`."""
        found: dict[str, Any] = super().get_params(deep=False)
        nested = [settings_of(name, part) for name, part in self._parts().items()] if deep else []
        return {**found, **{name: value for part in nested for name, value in part.items()}}

    def set_params(self, **params: Any) -> "GrammarTreeClassifier":
        """Set parameters; `search__evaluations=500` sets only that of the search, the default one if it is None."""
        own, nested = split_settings(params, _DEFAULTS)
        parts = self._parts(own)
        changed = {name: with_settings(name, parts[name], changes) for name, changes in nested.items()}
        super().set_params(**{**own, **changed})
        return self

    def _parts(self, given: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """The parameters that have settings, by name, with the default in place of None."""
        parts = {name: given.get(name, getattr(self, name)) for name in _DEFAULTS}
        return {name: _DEFAULTS[name] if part is None else part for name, part in parts.items()}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        client: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        max_memory: str | float | None = None,
    ) -> "GrammarTreeClassifier":
        """Learn a tree. Ctrl-C ends learning early and keeps the best tree so far.

        groups: with cv, one for each record; those of one group are kept apart together.
        client: a Dask client, whose workers hold the records and evaluate formulas. The tree is the same.
        checkpoint: a file to keep what was found out so far. If the process is killed, or interrupted, the same call
            goes on from there, and learns the tree that it would have learnt undisturbed. A file of other data,
            settings or another version is refused. It is not deleted in the end.
        max_memory: the most memory that this process may take, such as "4 GB", or bytes. What does not fit is on disk
            while it is not in use; what will be needed is told before. None: half of the machine's for a panel of
            `telltree.scan`, else what is usual beside a panel in memory. The tree is the same.
        """
        check_parameters(self.get_params(deep=False))
        most = None if max_memory is None else size_of(max_memory)
        if max_memory is not None and most is None:
            raise SettingsError(f"max_memory must be a size such as '4 GB', or a number of bytes, got {max_memory!r}")
        local = partial(local_backend, threads=self.threads, max_memory=most)
        if checkpoint is None:
            return self._fit(X, y, sample_weight, groups, client, local=local)
        with naming(checkpoint):
            return self._fit(X, y, sample_weight, groups, client, known=Checkpoint(checkpoint), local=local)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        client: Any,
        *,
        known: Checkpoint | None = None,
        local: "partial[Backend]",
    ) -> "GrammarTreeClassifier":
        generator = generator_of(self.random_state)
        given = read_given(X, y, sample_weight, self.class_weight)
        training, classes = given.training, given.classes
        panel, coded = training
        check_floors(self.recall, classes)
        seed = int(generator.randint(2**31 - 1))
        if known is not None and self.random_state is None:  # any seed will do, so that of the file will
            seed = seed_said(known, seed)
        grammar = self._known_grammar(training)
        if grammar is not None and self._suits_data:
            warn_of_leaks(panel, classes[coded.codes], grammar.attributes)
        parts = self._folds(coded, given.of_weighing(groups), seed, given.weighing)
        if known is not None:
            known.require(self._about(training, grammar, seed, parts))
        with Interruption() as interruption:
            with nullcontext() if client is None else Cluster(client) as cluster:
                shared = self._shared(training, local) if cluster is None and parts is not None else None
                here = local if shared is None else _always(shared)
                backend = here if cluster is None else cluster.backend
                learned = self._learn(
                    training, grammar, seed, self.progress, backend, checkpoint_store=_checkpoint_store(known, 0)
                )
            interruption.asked |= learned.interrupted
            steps, validation = PruningPath.of(learned.tree), None
            if parts is not None:
                validation = interruption.unless_asked(
                    lambda: self._validate(
                        training, steps, seed, parts, client, shared=shared, known=known, local=local
                    )
                )
                interruption.asked |= validation is None
            if known is not None:
                known.write()
            place, tree = self._chosen(steps, validation)
            tree = with_recall(tree.narrowed(), self.recall or {})
            kept = Training.of(panel, coded, tree, seed)
            # all at once: a fit that fails leaves what was learned before as it was
            self.classes_, self.grammar_, self.training_ = classes, grammar, kept
            # who presses Ctrl-C waits for nothing more, words included
            self._wording = WordedTree(
                tree, None if interruption.asked else TrainingSample(panel, coded, kept.fingerprint)
            )
            self.searches_, self.interrupted_ = learned.searches, interruption.asked
            scored = steps if validation is None else steps.scored(validation.scores)
            self.pruning_path_, self.validation_ = scored.taken(place, tree), validation
            remember(self, X, panel)
        return self

    def _about(
        self, training: TrainingSet, grammar: Grammar | None, seed: int, parts: Sequence[Fold] | None
    ) -> dict[str, str]:
        """What must be the same for a fit to go on from a checkpoint."""
        search, fitness = self.search or DEFAULT_SEARCH, self.fitness or DEFAULT_CRITERION
        limits, centre = self._limits(training.labels), self._movable(training.panel)
        settings = about_settings(grammar, search, fitness, limits, centre=centre, seed=seed)
        further = {"growth": repr(self.growth), "missing": self.missing, "thresholds": self.thresholds}
        further["as_derived"] = repr(bool(self.as_derived))
        return about_data(*training, parts) | settings | further

    def _learn(
        self,
        training: TrainingSet,
        grammar: Grammar | None,
        seed: int,
        progress: Tell | None,
        backend: MakeBackend | None = None,
        *,
        checkpoint_store: CheckpointStore = NO_CHECKPOINT,
    ) -> GrowthResult:
        panel, labels = training
        if grammar is None or labels.settled:
            one_class = f"there is only one class, {labels.summary().predicted!r}"
            reason = one_class if labels.settled else "no column tells records apart"
            warn(f"{reason}: the tree is a single leaf")
            leaf = Tree(Leaf(labels.summary()), panel.schema, may_be_missing(panel), panel.step, panel.how_read)
            return GrowthResult(leaf, {}, False)
        limits = self._limits(labels)
        search, fitness = self.search or DEFAULT_SEARCH, self.fitness or DEFAULT_CRITERION
        centre = self._movable(panel)
        threads = self.threads
        induction = Induction(
            grammar,
            search,
            fitness,
            limits,
            seed,
            threads,
            centre,
            progress,
            backend,
            checkpoint_store=checkpoint_store,
            growth=self.growth,
            exact=self.thresholds == "exact",
            unknown=self.missing == "unknown",
            as_derived=bool(self.as_derived),
        )
        learned = induction.run(panel, labels)
        if limits.max_depth and not learned.interrupted and isinstance(learned.tree.root, Leaf):
            reason = _why_single(learned, limits, len(panel))
            more = "evaluations" if search.seconds is None else "seconds"
            warn(f"{reason}: the tree is a single leaf; give a richer grammar, or the search more {more}")
        return learned

    def _limits(self, labels: ClassLabels) -> Limits:
        """When a node of these records stays a leaf."""
        most = len(labels) if self.max_depth is None else self.max_depth
        depth = self._usual_depth(labels) if most == "auto" else int(most)
        members = labels.members() if self.min_samples_leaf == "auto" else int(self.min_samples_leaf)
        return Limits(min(DEEPEST, depth), members, self.min_gain, self.prevent_same_label)

    def _usual_depth(self, labels: ClassLabels) -> int:
        return USUAL if isinstance(self.growth, Optimal) else labels.depth()

    def _folds(self, labels: ClassLabels, groups: Any, seed: int, weighing: NDArray[np.int64]) -> list[Fold] | None:
        """The folds that were asked for, of the records that weigh something; None if none were."""
        if self.cv is None or isinstance(self.cv, int | np.integer):
            return None if self.cv is None else folds(labels.codes, groups, int(self.cv), seed)
        sides = [[np.flatnonzero(np.isin(weighing, side)) for side in fold] for fold in self.cv]
        found = [(train, test) for train, test in sides if len(train) and len(test)]
        if not found:
            raise SettingsError("cv has no fold with records both to learn from and to hold out")
        return found

    def _validate(
        self,
        training: TrainingSet,
        steps: PruningPath,
        seed: int,
        parts: Sequence[Fold],
        client: Any,
        *,
        shared: LocalBackend | None,
        known: Checkpoint | None,
        local: "partial[Backend]",
    ) -> Validation | None:
        """What comes of the trees of the front in folds; None if Ctrl-C came."""
        panel, labels = training

        def here(number: int) -> GrowthResult:
            tell = self.progress
            told = None if tell is None else lambda event: tell(event._replace(fold=(number + 1, len(parts))))
            train, checkpoint_store = parts[number][0], _checkpoint_store(known, number + 1)
            backend = partial(local, quiet=True) if shared is None else _always(shared.part(train))
            return self._learn_fold(training.part(train), seed, told, backend, checkpoint_store)

        learn: Learn = here
        if client is not None:
            alone = clone(self).set_params(progress=None)
            tasks = [(alone, train, seed) for train, _ in parts]
            learn = dict(Cluster(client).finished(_fold, tasks, training)).__getitem__
        floors = self.recall or {}
        return validate(learn, steps, panel, labels, folds=parts, simplicity=self.simplicity, floors=floors)

    def _learn_fold(
        self,
        part: TrainingSet,
        seed: int,
        progress: Tell | None,
        backend: MakeBackend | None = None,
        checkpoint_store: CheckpointStore = NO_CHECKPOINT,
        *,
        grammar: Grammar | None = None,
    ) -> GrowthResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # what is to be said was said of the whole
            return self._learn(
                part, grammar or self._grammar_for(part), seed, progress, backend, checkpoint_store=checkpoint_store
            )

    def learn_part(
        self, part: TrainingSet, seed: int, grammar: Grammar | None, backend: LocalBackend | None
    ) -> GrowthResult:
        """For forests: the tree that is kept of some of the records. `grammar`: None for one that suits them."""
        make = partial(local_backend, threads=self.threads, quiet=True) if backend is None else _always(backend)
        learned = self._learn_fold(part, seed, self.progress, make, grammar=grammar)
        return GrowthResult(self._chosen(PruningPath.of(learned.tree), None)[1].narrowed(), {}, learned.interrupted)

    def language_for(self, training: TrainingSet) -> Grammar | None:
        """For forests: a grammar that trees of any of the records can share. None if each must have its own.

        What labels have shaped would tell a tree of records that it shall not know; shapes are pieces of records.
        """
        found = self._known_grammar(training)
        if found is None or not self._suits_data:
            return found
        return found if self.grammar is None and found == Grammar.for_panel(training.panel) else None

    def searched(self, grammar: Grammar) -> Grammar:
        """The grammar with formulas sized as the fitness counts them, which all that share a bench must have."""
        return sized_for(self.fitness or DEFAULT_CRITERION, grammar)

    def _known_grammar(self, training: TrainingSet) -> Grammar | None:
        """The grammar of all training records, if answers in it may be unknown where they may be."""
        grammar = self._grammar_for(training)
        if grammar is not None and self.missing == "unknown":
            check_bounds(rule.template for rule in grammar.rules)
        return grammar

    def _shared(self, training: TrainingSet, local: "partial[Backend]") -> LocalBackend | None:
        """A bench for the trees of all folds, if they have the same grammar, and all planes fit into memory.

        Languages of our own suit each fold.
        """
        if not isinstance(self.grammar, Grammar):
            return None
        found = local(training.panel, self.searched(self.grammar), quiet=True)
        return found if isinstance(found, LocalBackend) else None

    def _chosen(self, steps: PruningPath, validation: Validation | None) -> tuple[int, Tree]:
        """The place in the front of the tree to use, and the tree, without questions of little worth whose answers
        predict the same."""
        fitness = self.fitness or DEFAULT_CRITERION
        price = fitness.price_for(steps.whole.records) if isinstance(fitness, MDL) else 0.0
        if validation is not None:
            place = validation.chosen
        elif isinstance(fitness, MDL) and not isinstance(self.growth, Optimal):
            place = steps.place_at_price(self.simplicity * price)
        else:  # of an optimal tree, what formulas cost was weighed for the whole
            return len(steps) - 1, steps.whole
        return place, equals_merged(steps[place].tree, _EQUALS * price)

    def _movable(self, panel: Panel) -> frozenset[str]:
        """The columns whose constants may be moved."""
        if self.centre is None and self._suits_data and not self.as_derived:
            return frozenset(column.name for column in panel.schema.values() if column.thresholds is None)
        return frozenset(panel.schema) if self.centre else frozenset()

    def _grammar_for(self, training: TrainingSet) -> Grammar | None:
        """The grammar to search; None if no column can be used."""
        panel = training.panel
        if isinstance(self.grammar, Grammar):
            return self.grammar
        if isinstance(self.grammar, str) and not self._suits_data and self.grammar != PAPER:
            return Grammar.parse(self.grammar, panel, functions=self.functions)
        if len(unusable(panel)) == len(panel.schema):
            return None
        if self.grammar == PAPER:
            return Grammar.generic(panel, atoms_weight=1.0)
        return Grammar.for_panel(panel, training.labels.codes, shapes=0 if self.grammar is None else MANY_SHAPES)

    @property
    def _suits_data(self) -> bool:
        """Whether the language is made for the training records."""
        return self.grammar is None or (isinstance(self.grammar, str) and self.grammar == SHAPES)

    def at(self, leaves: int) -> "GrammarTreeClassifier":
        """The same model with another tree of the front: the largest with at most this many leaves.

        Nothing is learnt again. `pruning_path_` lists what there is to choose from; where none has exactly so many
        leaves, a warning says which was taken. Leaves that are new have no headline.
        """
        self._fitted()
        if not is_whole(leaves, 1):
            raise SettingsError(f"leaves must be a whole number of at least 1, got {leaves!r}")
        place = self.pruning_path_.place_at(leaves)
        if self.pruning_path_[place].leaves < leaves:
            warn(_no_such_tree(self.pruning_path_, place, leaves))
        other = copy.copy(self)
        other.tree_ = with_recall(self.pruning_path_[place].tree.narrowed(), self.recall or {})
        other.pruning_path_ = self.pruning_path_.taken(place, other._wording.plain)
        return other

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each record."""
        tree, panel = self._known(X)
        return tree.predict(panel)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of each class, weighted as in training, in the leaf of each record, in the order of `classes_`."""
        tree, panel = self._known(X)
        return probabilities(tree, panel)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """The cluster number of each record: leaves from left to right, from 1."""
        tree, panel = self._known(X)
        return tree.apply(panel)

    def decision_path(self, X: Any) -> csr_matrix:
        """Which nodes each record visits: records × nodes, in preorder, the true child first, including leaves."""
        tree, panel = self._known(X)
        return csr_matrix(tree.passes(panel))

    def unknown_path(self, X: Any) -> csr_matrix:
        """At which nodes each record's answer is unknown, of those that it visits; with missing="unknown" only.

        Columns are those of `decision_path`; its sum by rows is how many unknown answers each record meets.
        """
        tree, panel = self._known(X)
        return csr_matrix(tree.unknown(panel))

    def categories(self, X: Any, y: Any = None, *, style: Style = "plain") -> Categories:
        """Each leaf as a category: its members among the records of X, its formula, and what it says in English.

        Printed together, the conditions that siblings share are said once above them. `style="paper"` tells them in the
        paper's form, without headlines and short descriptions.
        """
        _, panel = self._known(X)
        return categorize(self.tree_, panel, y, style=style)

    @property
    def threads(self) -> int:
        """How many threads evaluate formulas."""
        return (os.cpu_count() or 1) if self.n_jobs == -1 else min(self.n_jobs or 1, _MOST_THREADS)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each column of the training records, in their order; see the class."""
        return importances(self._fitted(), self.training_.schema)

    @property
    def class_counts_(self) -> tuple[int, ...]:
        """How many training records are of each class, in the order of `classes_`."""
        return self._fitted().summary.parts

    def rules(self, *, style: Style = "plain") -> list[RuleRow]:
        """One row per leaf: formula, English, class, and its share of the training records with interval and lift.

        `style="paper"` tells them in the paper's form, without headlines and short descriptions.
        """
        self._fitted()
        return rules_table(self.tree_, style=style)

    def plot(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Draw the tree as a matplotlib Figure, with the records of X, by their labels y, or of training.

        Other options are those of `telltree.report.plot_tree`, such as `text="formula"`.
        """
        panel = None if X is None else self._known(X)[1]
        return self.tree_.plot(panel=panel, y=y, **options)

    def report(self, X: Any, y: Any, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML page about the tree and these records; it also tells how the tree was searched for.

        Options are those of `telltree.report.write_report`, such as `title` and `held_out=(X_test, y_test)`.
        """
        from telltree.report import write_report

        _, panel = self._known(X)
        match options.get("held_out"):
            case (kept, labels):
                options["held_out"] = self._known(kept)[1], labels
        return write_report(self, panel, y, path, **options)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to one JSON file that holds no code; `telltree.load(path)` reads it."""
        from telltree.estimators.saving import save

        self._fitted()
        save(self, path, overwrite=overwrite)

    def model(self) -> "Model":
        """What a model file holds."""
        from telltree.estimators.saving import parameters_of
        from telltree.models import Model

        return Model(
            tree=self.tree_,
            pruning_path=self.pruning_path_,
            grammar=self.grammar_,
            training=self.training_,
            interrupted=self.interrupted_,
            named=hasattr(self, "feature_names_in_"),
            parameters=parameters_of(self),
        )

    def _html_repr(self) -> str:
        """The representation for notebooks: scikit-learn's diagram, and the tree if it is fitted."""
        return tree_html(self.tree_) if self.__sklearn_is_fitted__() else super()._html_repr()

    @property
    def tree_(self) -> Tree:
        """The tree. Its sentences are found when it is first asked for, by the records it was learned from."""
        self._fitted()
        return self._wording.tree

    @tree_.setter
    def tree_(self, tree: Tree) -> None:
        self._wording = WordedTree(tree)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_wording")

    def _fitted(self) -> Tree:
        """The tree, with or without words."""
        check_is_fitted(self)
        return self._wording.plain

    def _known(self, X: Any) -> tuple[Tree, Panel]:
        tree = self._fitted()
        return tree, read_known(self, X, tree.schema)


def _fold(task: tuple[GrammarTreeClassifier, NDArray[np.int64], int], training: TrainingSet) -> GrowthResult:
    """On a worker: what is learnt of the records of a fold."""
    classifier, train, seed = task
    learned = classifier._learn_fold(training.part(train), seed, None)
    return learned._replace(searches={})  # which nobody asks for


def _why_single(learned: GrowthResult, limits: Limits, records: int) -> str:
    """Why a tree has no branches, even though there were several classes."""
    if not learned.searches:
        sides = f"into sides of at least {limits.min_samples_leaf}"
        return f"no formula that was tried splits the {counted(records, 'record')} {sides}"
    if limits.prevent_same_label:
        return "the best split has sides that predict the same, which prevent_same_label refuses"
    return "no formula that was tried tells the classes apart well enough to be worth its length"


def _no_such_tree(pruning_path: PruningPath, place: int, leaves: int) -> str:
    """Which tree is taken in place of one with so many leaves, and why."""
    wanted, taken = (counted(number, "leaf", "leaves") for number in (leaves, pruning_path[place].leaves))
    if place == len(pruning_path) - 1:
        return f"no tree of the front has {wanted}: the largest, which is taken, has {taken}"
    larger = counted(pruning_path[place + 1].leaves, "leaf", "leaves")
    return f"no tree of the front has {wanted}: after {taken}, which is taken, the next larger has {larger}"


def _always(backend: Backend) -> MakeBackend:
    """Makes no bench, but takes this one."""
    return lambda panel, grammar: backend


def generator_of(random_state: Any) -> np.random.RandomState:
    """What draws seeds; SettingsError if it is nothing of the kind."""
    try:
        found: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise SettingsError(f"random_state must be None, a seed or a RandomState: {error}") from error
    return found


def _checkpoint_store(known: Checkpoint | None, tree: int) -> CheckpointStore:
    return NO_CHECKPOINT if known is None else known.tree(tree)
