"""GrammarTreeClassifier: a decision tree whose branches are temporal-logic formulas."""

import copy
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
from telltree.defaults import RANDOM_STATE
from telltree.engine.three_valued import check_bounds
from telltree.errors import DataWarning, SettingsError, warn
from telltree.estimators.folds import Fold, Learn, Validation, folds, probabilities, validate
from telltree.estimators.inputs import TrainingData, TrainingSet, read_known, read_training_data, remember
from telltree.estimators.parameters import (
    check_min_recall,
    check_parameters,
    settings_of,
    split_settings,
    with_settings,
)
from telltree.explain import Categories, RuleRow, Style, categorize, rules_table
from telltree.explain.headlines import with_headlines
from telltree.explain.notebook import tree_html
from telltree.grammar import Grammar
from telltree.grammar.default_language import MANY_SHAPES, SHAPES
from telltree.grammar.generic_language import PAPER
from telltree.logic import UserFunction
from telltree.panel import Panel, Schema, unusable
from telltree.panel.column_checks import may_be_missing, warn_of_leaks
from telltree.panel.schema import listed
from telltree.scale.checkpoint import description_of
from telltree.scale.out_of_core import local_backend
from telltree.scale.run_context import RunContext, run_context
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo, Search
from telltree.text import counted
from telltree.tree import MDL, Criterion, GiniSize, GrowthResult, Leaf, Node, NodeProgress, grow
from telltree.tree.class_target import ClassSummary
from telltree.tree.criterion import sized_for
from telltree.tree.growth import OPTIMAL_DEPTH, Greedy, Growth, Optimal, TreeSettings
from telltree.tree.induction import DEFAULT_CRITERION, DEFAULT_GROWTH, DEFAULT_SEARCH, Interruption, Run
from telltree.tree.min_recall import with_recall
from telltree.tree.pruning_path import PruningPath, equals_merged
from telltree.tree.target import Labels
from telltree.tree.training import Training, fingerprint
from telltree.tree.tree import Tree

if TYPE_CHECKING:
    from telltree.models import Model

logger = logging.getLogger("telltree")
Floats = NDArray[np.float64]

DEEPEST = 100
"""The largest depth of any tree: trees are nested, and much deeper ones could be neither copied nor pickled."""
_MOST_THREADS = 256  # results do not depend on their number, and more are of no use
_EQUALS = 2.0  # a question whose answers predict the same class must be worth this many times its price
_DEFAULTS: Mapping[str, Any] = {"search": DEFAULT_SEARCH, "criterion": DEFAULT_CRITERION, "growth": DEFAULT_GROWTH}
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
    search: the search for the formula of a node, such as GeneticProgramming() or MonteCarlo(); None for Auto(), which
        also says what it has proved.
    criterion: the quality of a split; any function of (class weights of the true side, of all, sizes); None for MDL(),
        minimum description length, with which branches that are not worth their formulas are pruned; GiniSize() is
        the paper's.
    growth: None or Greedy() to make each question the best by itself; LookAhead() to judge each together with the best
        below it; Optimal() for the best of all small trees over a pool of questions, with a proof: `tree_.optimum`.
        These objects hold the rarer settings: thresholds, simplify, simplicity, and Greedy's min_gain and
        prevent_same_label.
    max_depth: the most branches from the root to a leaf; "auto" for a depth that suits the number of records, with
        Optimal() 2; None for no limit (but 100, more than anybody can read). Optimal() takes 1, 2 or 3.
    min_samples_leaf: the fewest records on each side of a split; "auto" for a hundredth of all, 10 at most, and no
        more than half of the rarest class.
    cv: the number of folds in which all trees of the pruning path are tried on unseen records, or the folds themselves
        as pairs of positions to learn from and to hold out; the model is then the smallest tree whose balanced
        accuracy there is at most a standard error of the difference below the best one's, and `validation_` has the
        results. None: no cross-validation; the price of formulas alone decides.
    class_weight: None, "balanced" or a dict from class to weight.
    min_recall: a dict from class to the least share of its training records to be predicted as such, for example
        {"failure": 0.95}. The records of a class that falls short weigh more in the leaves, by the least factor that
        reaches it, so that more leaves predict it; `tree_.floors` has the cost.
    missing: the value of an atom on a missing value: "false"; or "unknown" in three-valued logic, and a record whose
        answer is unknown then goes where more training records of the node went: `node.unknown` counts them.
    functions: user functions that a grammar given as text may call.
    random_state: a seed; the same seed gives the same tree, whatever `n_jobs` is, and the same as `telltree fit` on the
        command line. None for another seed each time.
    n_jobs: threads for evaluation; −1 for all cores.
    callback: called with a NodeProgress now and then while fitting.

    `X` is a Panel, or a plain two-dimensional table (array or frame) whose rows are records with one step. A record of
    weight 0 counts as if it were not there, but its class stays one of `classes_`.

    Attributes
    ----------
    tree_: the Tree; `print(clf.tree_)`. Its headlines are found when it is first asked for, and the training records
        are kept until then.
    pruning_path_: the trees from a single leaf to the whole tree, each the best for some price of formulas;
        `print(clf.pruning_path_)`, and see `at`.
    validation_: with cv, the predictions for records by trees that had not seen them.
    classes_, n_features_in_, feature_names_in_: as in scikit-learn; the last only if columns had names: arrays' have
        none, and formulas call them x1, x2 …
    grammar_: the Grammar that was searched.
    searches_: the result of each node's search, by node number (root 1, children of n: 2n and 2n + 1).
    interrupted_: True if Ctrl-C cut learning or cross-validation short.
    feature_importances_: the share of each column in the gain of the tree. The gain of a node is its decrease in Gini
        impurity, times the weight of its records, divided equally among the columns of its formula.
    training_: facts about the training data: schema, seed, fingerprint, columns that missed values, and standard
        deviations of signals.
    """

    def __init__(
        self,
        grammar: Grammar | str | None = None,
        search: Search | None = None,
        *,
        criterion: Criterion | None = None,
        growth: Growth | None = None,
        max_depth: int | Literal["auto"] | None = "auto",
        min_samples_leaf: int | Literal["auto"] = "auto",
        cv: int | Iterable[Fold] | None = None,
        class_weight: str | dict[Any, float] | None = None,
        min_recall: Mapping[Any, float] | None = None,
        missing: Literal["false", "unknown"] = "false",
        functions: Sequence[UserFunction] = (),
        random_state: Any = RANDOM_STATE,
        n_jobs: int | None = None,
        callback: Callable[[NodeProgress], None] | None = None,
    ) -> None:
        self.grammar = grammar
        self.search = search
        self.criterion = criterion
        self.growth = growth
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.cv = cv
        self.class_weight = class_weight
        self.min_recall = min_recall
        self.missing = missing
        self.functions = functions
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    @classmethod
    def paper(
        cls, experiment: PaperExperiment = "auslan", search: Literal["gp", "ge", "mc"] = "gp", **settings: Any
    ) -> "GrammarTreeClassifier":
        """The paper's method: its criterion, search, stopping and grammar, without pruning and without rewriting.

        experiment: the experiment of the paper whose search budgets and depth of the tree are used.
        search: genetic programming, grammatical evolution or Monte Carlo, with its authors' budgets.
        settings: parameters that differ, such as `grammar`, or `criterion__gini="weighted"`, as in its authors' code.
        """
        require_experiment(experiment)
        if search not in _OF_THE_PAPER:
            raise SettingsError(f"the paper's searches are {listed(_OF_THE_PAPER)}, got {search!r}")
        made = cls(
            PAPER,
            _OF_THE_PAPER[search].paper(experiment),
            criterion=GiniSize.paper(),
            growth=Greedy(thresholds="grid", simplify=False),
            max_depth=PAPER_DEPTHS[experiment],
            min_samples_leaf=1,
        )
        return made.set_params(**settings)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters; with `deep` also the settings of their parts, such as `search__evaluations`."""
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

        groups: with cv, one for each record; the records of a group are kept in the same part of each fold.
        client: a Dask client, whose workers hold the records and evaluate formulas. The tree is the same.
        checkpoint: a file that keeps intermediate results. If the process is killed, or interrupted, the same call
            goes on from there, and learns the tree that it would have learned undisturbed. A file of other data,
            settings or another version is refused. It is not deleted in the end.
        max_memory: the most memory that this process may take, such as "4 GB", or bytes. Data that do not fit are on
            disk while they are not in use; an estimate is logged first. None: half of the machine's for a panel of
            `telltree.scan`, else the default for a panel in memory. The tree is the same.
        """
        check_parameters(self.get_params(deep=False))
        generator = generator_of(self.random_state)
        with run_context(
            client=client, checkpoint=checkpoint, max_memory=max_memory, threads=self.threads, callback=self.callback
        ) as run:
            data = read_training_data(X, y, sample_weight, self.class_weight)
            check_min_recall(self.min_recall, data.classes)
            seed = int(generator.randint(2**31 - 1))
            if self.random_state is None:  # any seed will do, so the checkpoint's does
                seed = run.resumed_seed(seed)
            grammar, settings = self._choose_grammar(data), self._settings(data.training, seed)
            parts = self._folds(data, groups, seed)
            run.require(lambda: description_of(*data.training, grammar, settings, parts))
            if parts is not None and isinstance(self.grammar, Grammar):  # telltree's own languages suit each fold
                run.share(data.training.panel, self.sized(self.grammar))
            with run.interruption as interruption:
                with run.of_all() as here:
                    result = self._grow(data.training, grammar, settings, here)
                interruption.asked |= result.interrupted
                path, validation = PruningPath.of(result.tree), None
                if parts is not None:
                    validation = interruption.unless_asked(
                        lambda: self._validate(data.training, path, parts, seed, run)
                    )
                    interruption.asked |= validation is None
                run.write_checkpoint()
                result = result._replace(interrupted=interruption.asked)
                self._keep(data, grammar, settings, (result, path, validation))
                remember(self, X, data.training.panel)
        return self

    def _choose_grammar(self, data: TrainingData) -> Grammar | None:
        """The grammar to search, with a warning if it mentions columns that reveal the class."""
        grammar = self._checked_grammar(data.training)
        if grammar is not None and self._suits_data:
            panel, labels = data.training
            warn_of_leaks(panel, data.classes[labels.codes], grammar.attributes)
        return grammar

    def _checked_grammar(self, training: TrainingSet) -> Grammar | None:
        """The grammar for all training records; refused if answers may be unknown and it cannot bound them."""
        grammar = self._grammar_for(training)
        if grammar is not None and self.missing == "unknown":
            check_bounds(rule.template for rule in grammar.rules)
        return grammar

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
        """True if telltree writes the grammar for the training records."""
        return self.grammar is None or (isinstance(self.grammar, str) and self.grammar == SHAPES)

    def _settings(self, training: TrainingSet, seed: int) -> TreeSettings:
        """The settings of a tree of these records."""
        panel, labels = training
        growth = self.growth or DEFAULT_GROWTH
        depth = len(labels) if self.max_depth is None else self.max_depth
        if depth == "auto":
            depth = OPTIMAL_DEPTH if isinstance(growth, Optimal) else labels.depth()
        return TreeSettings(
            search=self.search or DEFAULT_SEARCH,
            criterion=self.criterion or DEFAULT_CRITERION,
            growth=growth,
            max_depth=min(DEEPEST, int(depth)),
            min_samples_leaf=labels.members() if self.min_samples_leaf == "auto" else int(self.min_samples_leaf),
            movable=self._movable(panel, growth),
            three_valued=self.missing == "unknown",
            seed=seed,
        )

    def _movable(self, panel: Panel, growth: Growth) -> frozenset[str]:
        """The columns whose constants may move."""
        if not growth.simplify or growth.thresholds == "grid" or (growth.thresholds is None and not self._suits_data):
            return frozenset()
        given = [column.name for column in panel.schema.values() if self._suits_data and column.thresholds is not None]
        return frozenset(panel.schema) - frozenset(given)

    def _folds(self, data: TrainingData, groups: Any, seed: int) -> list[Fold] | None:
        """The folds of the records that have a weight; None without cross-validation."""
        if self.cv is None:
            return None
        if isinstance(self.cv, int | np.integer):
            return folds(data.training.labels.codes, data.of_weighing(groups), int(self.cv), seed)
        sides = [[np.flatnonzero(np.isin(data.weighing, side)) for side in fold] for fold in self.cv]
        found = [(train, test) for train, test in sides if len(train) and len(test)]
        if not found:
            raise SettingsError("cv has no fold with records both to learn from and to hold out")
        return found

    def _grow(self, training: TrainingSet, grammar: Grammar | None, settings: TreeSettings, run: Run) -> GrowthResult:
        """The whole tree of these records, with a warning if it is a single leaf."""
        panel, labels = training
        if grammar is None or labels.is_pure:
            one_class = f"there is only one class, {labels.summary().predicted!r}"
            reason = one_class if labels.is_pure else "no column tells records apart"
            warn(f"{reason}: the tree is a single leaf")
            leaf = Tree(Leaf(labels.summary()), panel.schema, may_be_missing(panel), panel.step, panel.how_read)
            return GrowthResult(leaf, {}, False)
        result = grow(panel, labels, grammar, settings, run)
        if settings.max_depth and not result.interrupted and isinstance(result.tree.root, Leaf):
            reason = _why_single(result, settings, len(panel))
            more = "evaluations" if settings.search.seconds is None else "seconds"
            warn(f"{reason}: the tree is a single leaf; give a richer grammar, or the search more {more}")
        return result

    def _validate(
        self, training: TrainingSet, path: PruningPath, parts: Sequence[Fold], seed: int, run: RunContext
    ) -> Validation | None:
        """Try the trees of the pruning path in folds; None if Ctrl-C came."""

        def grow_here(number: int) -> GrowthResult:
            return self._grow_part(training.part(parts[number][0]), seed, run.of_fold(number, parts))

        learn: Learn = grow_here
        if run.is_distributed:
            alone = clone(self).set_params(callback=None)
            tasks = [(alone, train, seed) for train, _ in parts]
            learn = dict(run.on_workers(_grow_fold, tasks, training)).__getitem__
        simplicity = (self.growth or DEFAULT_GROWTH).simplicity
        return validate(learn, path, *training, folds=parts, simplicity=simplicity, min_recall=self.min_recall or {})

    def _grow_part(self, part: TrainingSet, seed: int, run: Run, grammar: Grammar | None = None) -> GrowthResult:
        """The tree of some of the records, without warnings about data, which were given about all."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return self._grow(part, grammar or self._grammar_for(part), self._settings(part, seed), run)

    def _choose_tree(
        self, path: PruningPath, validation: Validation | None, settings: TreeSettings
    ) -> tuple[int, Tree]:
        """The place in the pruning path of the tree to use, and that tree.

        It is without questions of little worth whose answers predict the same.
        """
        criterion, growth = settings.criterion, settings.growth
        price = criterion.price_for(path.whole.records) if isinstance(criterion, MDL) else 0.0
        if validation is not None:
            place = validation.chosen
        elif isinstance(criterion, MDL) and not isinstance(growth, Optimal):
            place = path.place_at_price(growth.simplicity * price)
        else:  # an optimal tree has weighed the cost of its formulas as a whole
            return len(path) - 1, path.whole
        return place, equals_merged(path[place].tree, _EQUALS * price)

    def _keep(
        self,
        data: TrainingData,
        grammar: Grammar | None,
        settings: TreeSettings,
        found: tuple[GrowthResult, PruningPath, Validation | None],
    ) -> None:
        """Set the fitted attributes, all at once: a fit that fails leaves those of the last one."""
        result, path, validation = found
        panel, labels = data.training
        place, tree = self._choose_tree(path, validation, settings)
        tree = with_recall(tree.narrowed(), self.min_recall or {})
        training = Training.of(panel, labels, tree, settings.seed)
        self.classes_, self.grammar_, self.training_ = data.classes, grammar, training
        # who presses Ctrl-C waits for nothing more, headlines included
        sample = None if result.interrupted else TrainingSample(panel, labels, training.fingerprint)
        self._wording = WordedTree(tree, sample)
        self.searches_, self.interrupted_ = result.searches, result.interrupted
        scored = path if validation is None else path.scored(validation.scores)
        self.pruning_path_, self.validation_ = scored.taken(place, tree), validation

    # ---- For forests

    def grow_for_forest(self, part: TrainingSet, seed: int, grammar: Grammar | None, run: Run) -> GrowthResult:
        """The pruned tree of some of the records. Without a grammar, it has one that suits them."""
        result = self._grow_part(part, seed, run, grammar)
        tree = self._choose_tree(PruningPath.of(result.tree), None, self._settings(part, seed))[1]
        return GrowthResult(tree.narrowed(), {}, result.interrupted)

    def sized(self, grammar: Grammar) -> Grammar:
        """The grammar with formulas sized as the criterion counts them, which all that share a backend must have."""
        return sized_for(self.criterion or DEFAULT_CRITERION, grammar)

    def shared_grammar(self, training: TrainingSet) -> Grammar | None:
        """A grammar that the trees of any of the records can share. None if each must have its own.

        A grammar that depends on labels would leak out-of-bag records, and shapes are pieces of records.
        """
        found = self._checked_grammar(training)
        if found is None or not self._suits_data:
            return found
        return found if self.grammar is None and found == Grammar.for_panel(training.panel) else None

    # ---- Fitted models

    def at(self, leaves: int) -> "GrammarTreeClassifier":
        """A copy of the model with another tree of the pruning path: the largest with at most this many leaves.

        Nothing is learned again. `pruning_path_` lists what there is to choose from; where none has exactly so many
        leaves, a warning says which was taken. Leaves that are new have no headline.
        """
        self._fitted()
        if not is_whole(leaves, 1):
            raise SettingsError(f"leaves must be a whole number of at least 1, got {leaves!r}")
        place = self.pruning_path_.place_at(leaves)
        if self.pruning_path_[place].leaves < leaves:
            warn(_no_such_tree(self.pruning_path_, place, leaves))
        other = copy.copy(self)
        other.tree_ = with_recall(self.pruning_path_[place].tree.narrowed(), self.min_recall or {})
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
        """The nodes that each record visits: records × nodes, in preorder, the true child first, including leaves."""
        tree, panel = self._known(X)
        return csr_matrix(tree.passes(panel))

    def unknown_path(self, X: Any) -> csr_matrix:
        """The visited nodes at which each record's answer is unknown; with missing="unknown" only.

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
        """The number of threads that evaluate formulas."""
        return (os.cpu_count() or 1) if self.n_jobs == -1 else min(self.n_jobs or 1, _MOST_THREADS)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each column of the training records, in their order; see the class."""
        return importances(self._fitted(), self.training_.schema)

    @property
    def class_counts_(self) -> tuple[int, ...]:
        """The number of training records of each class, in the order of `classes_`."""
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
        """The content of a model file."""
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


def generator_of(random_state: Any) -> np.random.RandomState:
    """The generator that draws seeds; SettingsError if `random_state` is no seed or generator."""
    try:
        found: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise SettingsError(f"random_state must be None, a seed or a RandomState: {error}") from error
    return found


def _grow_fold(task: tuple[GrammarTreeClassifier, NDArray[np.int64], int], training: TrainingSet) -> GrowthResult:
    """On a worker: the tree of the training records of a fold."""
    classifier, train, seed = task
    run = Run(partial(local_backend, threads=classifier.threads))
    return classifier._grow_part(training.part(train), seed, run)._replace(searches={})  # which nobody asks for


def _why_single(result: GrowthResult, settings: TreeSettings, records: int) -> str:
    """The reason why a tree has no branches, even though there were several classes."""
    if not result.searches:
        sides = f"into sides of at least {settings.min_samples_leaf}"
        return f"no formula that was tried splits the {counted(records, 'record')} {sides}"
    if isinstance(settings.growth, Greedy) and settings.growth.prevent_same_label:
        return "the best split has sides that predict the same, which prevent_same_label refuses"
    return "no formula that was tried tells the classes apart well enough to be worth its length"


def _no_such_tree(path: PruningPath, place: int, leaves: int) -> str:
    """The tree that is taken in place of one with so many leaves, and the reason."""
    wanted, taken = (counted(number, "leaf", "leaves") for number in (leaves, path[place].leaves))
    if place == len(path) - 1:
        return f"no tree of the pruning path has {wanted}: the largest, which is taken, has {taken}"
    larger = counted(path[place + 1].leaves, "leaf", "leaves")
    return f"no tree of the pruning path has {wanted}: after {taken}, which is taken, the next larger has {larger}"


# ---- A tree and its headlines, which are found when they are first asked for.
#
# Learning and predicting need no headlines, and finding good ones takes as long as learning.


@dataclass(frozen=True)
class TrainingSample:
    """The records that a tree was learned from, by which its headlines are chosen."""

    panel: Panel
    labels: Labels
    fingerprint: str

    def add_headlines(self, tree: Tree) -> Tree:
        """The tree with its headlines; without any after Ctrl-C, or if the records have changed since."""
        if fingerprint(self.panel, self.labels) != self.fingerprint:
            warn(
                "the records were changed since the tree was learned from them: its categories have no headlines; fit "
                "anew, or ask for `tree_` before you change them"
            )
            return tree
        with Interruption() as interruption:
            found = interruption.unless_asked(lambda: with_headlines(tree, self.panel))
        if found is None:
            logger.warning("telltree: interrupted; the tree is whole, but its categories have no headlines")
        return found or tree


class WordedTree:
    """A tree whose headlines are found once."""

    def __init__(self, plain: Tree, sample: TrainingSample | None = None) -> None:
        """`sample`: None if the headlines are there already, or cannot be found."""
        self.plain, self._sample, self._lock = plain, sample, Lock()

    @property
    def tree(self) -> Tree:
        """The tree with its headlines; the training records are released."""
        with self._lock:
            if self._sample is not None:
                self.plain, self._sample = self._sample.add_headlines(self.plain), None
        return self.plain

    def __reduce__(self) -> tuple[type["WordedTree"], tuple[Tree]]:
        """A copy, here or elsewhere, has headlines and no records."""
        return WordedTree, (self.tree,)


# ---- Importances: the contribution of each column to a tree.


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
