"""GrammarTreeClassifier: a decision tree whose branches are temporal-logic formulas."""

import copy
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
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
from telltree.estimators.cross_validation import Fold, Validation, choose_tree, stratified_folds, validate
from telltree.estimators.fitted_tree import TrainingSample, WordedTree, importances, probabilities
from telltree.estimators.inputs import (
    TrainingData,
    TrainingSet,
    accept_any_values,
    read_known,
    read_training_data,
    remember,
)
from telltree.estimators.parameters import (
    check_min_recall,
    check_parameters,
    effective_parameters,
    settings_of,
    split_settings,
    with_settings,
)
from telltree.explain import Categories, RuleRow, Style, categorize, outline, rules_table
from telltree.explain.notebook import tree_html
from telltree.grammar import Grammar
from telltree.grammar.default_language import MANY_SHAPES, SHAPES
from telltree.grammar.generic_language import PAPER
from telltree.logic import UserFunction
from telltree.panel import Panel, unusable
from telltree.panel.column_checks import may_be_missing, warn_of_leaks
from telltree.panel.schema import listed
from telltree.scale.checkpoint import description_of
from telltree.scale.out_of_core import local_backend
from telltree.scale.run_context import RunContext, run_context
from telltree.search import GeneticProgramming, GrammaticalEvolution, MonteCarlo, Search
from telltree.text import counted
from telltree.tree import Criterion, GiniSize, GrowthResult, Leaf, NodeProgress, grow
from telltree.tree.criterion import sized_for
from telltree.tree.induction import DEFAULT_CRITERION, DEFAULT_GROWTH, DEFAULT_SEARCH, TreeRun
from telltree.tree.min_recall import with_recall
from telltree.tree.pruning_path import PruningPath
from telltree.tree.settings import OPTIMAL_DEPTH, Greedy, Growth, Optimal, TreeSettings
from telltree.tree.training_facts import TrainingFacts
from telltree.tree.tree import Tree

if TYPE_CHECKING:
    from telltree.models import Model

DEEPEST = 100
"""The largest depth of any tree: much deeper nested objects could be neither copied nor pickled."""
_MOST_THREADS = 256  # results do not depend on their number
_DEFAULTS: Mapping[str, Any] = {"search": DEFAULT_SEARCH, "criterion": DEFAULT_CRITERION, "growth": DEFAULT_GROWTH}
"""The defaults that None stands for, of parameters with settings of their own."""
_OF_THE_PAPER: Mapping[str, type[GeneticProgramming | GrammaticalEvolution | MonteCarlo]] = {
    "gp": GeneticProgramming,
    "ge": GrammaticalEvolution,
    "mc": MonteCarlo,
}


class GrammarTreeClassifier(ClassifierMixin, BaseEstimator):
    """A tree of formulas drawn from a grammar, which classifies records and explains each leaf as a category.

    Parameters
    ----------
    grammar: a Grammar, the text of one, or None for a language that suits the training data, `Grammar.for_panel`;
        "shapes" for the same with 200 shapes, pieces of training records; "paper" for the paper's generic grammar,
        `Grammar.generic` with alternatives of equal weight.
    search: the search for the formula of a node, such as GeneticProgramming() or MonteCarlo(); None for Auto(), which
        also returns proofs.
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
    missing: the value of an atom on a missing value: "false"; or "unknown" in three-valued logic. A record with
        an unknown answer then goes where more training records of the node went: `node.unknown` counts them.
    functions: user functions that a grammar given as text may call.
    random_state: a seed; the same seed gives the same tree, whatever `n_jobs` is, and the same as `telltree fit` on the
        command line. None for another seed each time.
    n_jobs: threads for evaluation; −1 for all cores.
    callback: called with a NodeProgress now and then while fitting.

    `X` is a Panel, or a plain two-dimensional table (array or frame) whose rows are records with one step. A record of
    weight 0 counts as if it were not there, but its class stays one of `classes_`.

    Attributes
    ----------
    tree_: the Tree; `print(clf.tree_)`. Its headlines are found when it is first used; until then, the training records
        are kept.
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
        """Return a classifier with the paper's method: its criterion, search, stopping and grammar, without pruning.

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
        """Return all parameters; with `deep` also the settings of their parts, such as `search__evaluations`."""
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
            seed = self._draw_seed(generator, run)
            grammar = self._choose_grammar(data)
            settings = self._settings(data.training, seed)
            folds = self._folds(data, groups, seed)
            run.require(lambda: description_of(*data.training, grammar, settings, folds))
            if folds is not None and isinstance(self.grammar, Grammar):  # telltree's own languages suit each fold
                run.share_bitsets(data.training.panel, self.sized(self.grammar))
            with run.interruption as interruption:
                with run.whole_tree() as tree_run:
                    result = self._grow(data.training, grammar, settings, tree_run)
                interruption.asked |= result.interrupted
                path = PruningPath.of(result.tree)
                validation = self._validate(data.training, path, folds, seed, run)
                run.write_checkpoint()
                self._keep(
                    data, grammar, settings, result, path=path, validation=validation, interrupted=interruption.asked
                )
                remember(self, X, data.training.panel)
        return self

    def at(self, leaves: int) -> "GrammarTreeClassifier":
        """Return a copy of the model with another tree of the pruning path: the largest with at most this many leaves.

        Nothing is learned again. `pruning_path_` lists the choices; if none has exactly so many leaves, a warning names
        the one taken. New leaves have no headline.
        """
        self._fitted()
        if not is_whole(leaves, 1):
            raise SettingsError(f"leaves must be a whole number of at least 1, got {leaves!r}")
        place = self.pruning_path_.place_at(leaves)
        if self.pruning_path_[place].leaves < leaves:
            warn(_no_such_tree(self.pruning_path_, place, leaves))
        other = copy.copy(self)
        other.tree_ = with_recall(self.pruning_path_[place].tree.narrowed(), self.min_recall)
        other.pruning_path_ = self.pruning_path_.taken(place, other._wording.plain)
        return other

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each record."""
        tree, panel = self._known(X)
        return tree.predict(panel)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class for every record, in the order of `classes_`.

        It is the share of the class in the record's leaf, weighted as in training.
        """
        tree, panel = self._known(X)
        return probabilities(tree, panel)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the cluster number of each record: leaves from left to right, from 1."""
        tree, panel = self._known(X)
        return tree.apply(panel)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes that each record visits: records × nodes, in preorder, the true child first, with leaves."""
        tree, panel = self._known(X)
        return csr_matrix(tree.passes(panel))

    def unknown_path(self, X: Any) -> csr_matrix:
        """Return the visited nodes at which each record's answer is unknown; with missing="unknown" only.

        Columns are those of `decision_path`; row sums are the unknown answers on each record's path.
        """
        tree, panel = self._known(X)
        return csr_matrix(tree.unknown(panel))

    def categories(self, X: Any, y: Any = None, *, style: Style = "plain") -> Categories:
        """Return each leaf as a category: its members among the records of X, its formula, and its description.

        Printed together, conditions shared by siblings stand once above them. `style="paper"` uses the paper's form,
        without headlines and short descriptions.
        """
        _, panel = self._known(X)
        return categorize(self.tree_, panel, y, style=style)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each column of the training records, in their order; see the class."""
        return importances(self._fitted(), self.training_.schema)

    @property
    def class_counts_(self) -> tuple[int, ...]:
        """The number of training records of each class, in the order of `classes_`."""
        return self._fitted().summary.parts

    def outline(self, *, formulas: bool = False, style: Style = "plain") -> str:
        """Return the tree as questions in English, with the prediction of each leaf: `telltree.explain.outline`."""
        return outline(self.tree_, formulas=formulas, style=style)

    def rules(self, *, style: Style = "plain") -> list[RuleRow]:
        """Return one row per leaf: formula, English, class, and its share of the training records.

        `style="paper"` uses the paper's form, without headlines and short descriptions.
        """
        self._fitted()
        return rules_table(self.tree_, style=style)

    def plot(self, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Draw the tree as a matplotlib Figure, with the records of X, by their labels y, or of training.

        Other options are those of `telltree.report.plot_tree`, such as `text="formula"`.
        """
        from telltree.report import plot_tree

        panel = None if X is None else self._known(X)[1]
        return plot_tree(self.tree_, panel=panel, y=y, **options)

    def report(self, X: Any, y: Any, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write one HTML page about the tree and these records; it also describes the search.

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
        from telltree.models.write_model import save_model

        self._fitted()
        save_model(self.model(), path, overwrite=overwrite)

    def model(self) -> "Model":
        """Return the content of a model file."""
        from telltree.models import Model

        return Model(
            tree=self.tree_,
            pruning_path=self.pruning_path_,
            grammar=self.grammar_,
            training=self.training_,
            interrupted=self.interrupted_,
            named=hasattr(self, "feature_names_in_"),
            parameters=effective_parameters(self),
        )

    @property
    def tree_(self) -> Tree:
        """The tree. Its headlines are found when it is first used, by the records it was learned from."""
        self._fitted()
        return self._wording.tree

    @tree_.setter
    def tree_(self, tree: Tree) -> None:
        self._wording = WordedTree(tree)

    @property
    def threads(self) -> int:
        """The number of threads that evaluate formulas."""
        return (os.cpu_count() or 1) if self.n_jobs == -1 else min(self.n_jobs or 1, _MOST_THREADS)

    def __sklearn_tags__(self) -> Tags:
        return accept_any_values(super().__sklearn_tags__())

    def _html_repr(self) -> str:
        """Return the representation for notebooks: scikit-learn's diagram, and the tree if it is fitted."""
        return tree_html(self.tree_) if self.__sklearn_is_fitted__() else super()._html_repr()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_wording")

    def _parts(self, given: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """Return the parameters that have settings, by name, with the default in place of None."""
        parts = {name: given.get(name, getattr(self, name)) for name in _DEFAULTS}
        return {name: _DEFAULTS[name] if part is None else part for name, part in parts.items()}

    # ---- Learning, in the order of `fit`

    def _draw_seed(self, generator: np.random.RandomState, run: RunContext) -> int:
        """Draw the seed of the tree. Without a random_state any seed will do, so that of the checkpoint is taken."""
        seed = int(generator.randint(2**31 - 1))
        return run.resumed_seed(seed) if self.random_state is None else seed

    def _choose_grammar(self, data: TrainingData) -> Grammar | None:
        """Return the grammar to search; warn if columns that it mentions reveal the class."""
        grammar = self._checked_grammar(data.training)
        if grammar is not None and self._suits_data:
            panel, labels = data.training
            warn_of_leaks(panel, data.classes[labels.codes], grammar.attributes)
        return grammar

    def _checked_grammar(self, training: TrainingSet) -> Grammar | None:
        """Return the grammar for all training records; raise GrammarError if it cannot bound unknown answers."""
        grammar = self._grammar_for(training)
        if grammar is not None and self.missing == "unknown":
            check_bounds(rule.template for rule in grammar.rules)
        return grammar

    def _grammar_for(self, training: TrainingSet) -> Grammar | None:
        """Return the grammar to search; None if no column can be used."""
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
        """Return the settings of a tree of these records."""
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
        """Return the columns whose constants may move."""
        if not growth.simplify or growth.thresholds == "grid" or (growth.thresholds is None and not self._suits_data):
            return frozenset()
        given = [column.name for column in panel.schema.values() if self._suits_data and column.thresholds is not None]
        return frozenset(panel.schema) - frozenset(given)

    def _folds(self, data: TrainingData, groups: Any, seed: int) -> list[Fold] | None:
        """Return the folds of the records that have a weight; None without cross-validation."""
        if self.cv is None:
            return None
        if isinstance(self.cv, int | np.integer):
            return stratified_folds(data.training.labels.codes, data.of_training(groups), int(self.cv), seed)
        sides = [[np.flatnonzero(np.isin(data.positions, side)) for side in fold] for fold in self.cv]
        found = [(train, test) for train, test in sides if len(train) and len(test)]
        if not found:
            raise SettingsError("cv has no fold with records both to learn from and to hold out")
        return found

    def _grow(
        self, training: TrainingSet, grammar: Grammar | None, settings: TreeSettings, run: TreeRun
    ) -> GrowthResult:
        """Grow the whole tree of these records; warn if it is a single leaf."""
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
        self, training: TrainingSet, path: PruningPath, folds: Sequence[Fold] | None, seed: int, run: RunContext
    ) -> Validation | None:
        """Try the trees of the pruning path in folds; None without folds, or if Ctrl-C came."""
        if folds is None:
            return None

        def grow_here(number: int) -> GrowthResult:
            train, _ = folds[number]
            return self._grow_part(training.part(train), seed, run.fold(number, train, of=len(folds)))

        def validate_all() -> Validation | None:
            grow_fold: Callable[[int], GrowthResult] = grow_here
            if run.is_distributed:
                alone = clone(self).set_params(callback=None)
                tasks = [(alone, train, seed) for train, _ in folds]
                grow_fold = dict(run.on_workers(_grow_fold, tasks, training)).__getitem__
            simplicity = (self.growth or DEFAULT_GROWTH).simplicity
            return validate(grow_fold, path, *training, folds=folds, simplicity=simplicity, min_recall=self.min_recall)

        validation = run.interruption.unless_asked(validate_all)
        run.interruption.asked |= validation is None
        return validation

    def _grow_part(self, part: TrainingSet, seed: int, run: TreeRun, grammar: Grammar | None = None) -> GrowthResult:
        """Grow the tree of some of the records, without warnings about data, which were given about all."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            return self._grow(part, grammar or self._grammar_for(part), self._settings(part, seed), run)

    def _keep(
        self,
        data: TrainingData,
        grammar: Grammar | None,
        settings: TreeSettings,
        result: GrowthResult,
        *,
        path: PruningPath,
        validation: Validation | None,
        interrupted: bool,
    ) -> None:
        """Set the fitted attributes, all at once: a fit that fails leaves those of the last one."""
        panel, labels = data.training
        place, tree = choose_tree(path, validation, settings.criterion, settings.growth)
        tree = with_recall(tree.narrowed(), self.min_recall)
        training = TrainingFacts.of(panel, labels, tree, settings.seed)
        self.classes_, self.grammar_, self.training_ = data.classes, grammar, training
        # after Ctrl-C, nothing takes long any more, headlines included
        sample = None if interrupted else TrainingSample(panel, labels, training.fingerprint)
        self._wording = WordedTree(tree, sample)
        self.searches_, self.interrupted_ = result.searches, interrupted
        scored = path if validation is None else path.scored(validation.scores)
        self.pruning_path_, self.validation_ = scored.taken(place, tree), validation

    # ---- For forests

    def grow_for_forest(self, part: TrainingSet, seed: int, grammar: Grammar | None, run: TreeRun) -> GrowthResult:
        """Grow and prune the tree of some of the records; without a grammar, with one that suits them."""
        result, settings = self._grow_part(part, seed, run, grammar), self._settings(part, seed)
        _, tree = choose_tree(PruningPath.of(result.tree), None, settings.criterion, settings.growth)
        return GrowthResult(tree.narrowed(), {}, result.interrupted)

    def sized(self, grammar: Grammar) -> Grammar:
        """Return the grammar with formulas sized as the criterion counts them, as a shared backend needs it."""
        return sized_for(self.criterion or DEFAULT_CRITERION, grammar)

    def shared_grammar(self, training: TrainingSet) -> Grammar | None:
        """Return a grammar that the trees of any of the records can share; None if each must have its own.

        A grammar that depends on labels would leak out-of-bag records, and shapelets are pieces of records.
        """
        found = self._checked_grammar(training)
        if found is None or not self._suits_data:
            return found
        return found if self.grammar is None and found == Grammar.for_panel(training.panel) else None

    # ---- The fitted tree

    def _fitted(self) -> Tree:
        """Return the tree, with or without headlines."""
        check_is_fitted(self)
        return self._wording.plain

    def _known(self, X: Any) -> tuple[Tree, Panel]:
        tree = self._fitted()
        return tree, read_known(self, X, tree.schema)


def generator_of(random_state: Any) -> np.random.RandomState:
    """Return the generator that draws seeds; SettingsError if `random_state` is no seed or generator."""
    try:
        found: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise SettingsError(f"random_state must be None, a seed or a RandomState: {error}") from error
    return found


def _grow_fold(task: tuple[GrammarTreeClassifier, NDArray[np.int64], int], training: TrainingSet) -> GrowthResult:
    """Grow the tree of the training records of a fold on a worker."""
    classifier, train, seed = task
    run = TreeRun(partial(local_backend, threads=classifier.threads))
    return classifier._grow_part(training.part(train), seed, run)._replace(searches={})  # they are not needed


def _why_single(result: GrowthResult, settings: TreeSettings, records: int) -> str:
    """Return the reason why a tree has no branches although there were several classes."""
    if not result.searches:
        sides = f"into sides of at least {settings.min_samples_leaf}"
        return f"no formula that was tried splits the {counted(records, 'record')} {sides}"
    if isinstance(settings.growth, Greedy) and settings.growth.prevent_same_label:
        return "the best split has sides that predict the same, which prevent_same_label refuses"
    return "no formula that was tried tells the classes apart well enough to be worth its length"


def _no_such_tree(path: PruningPath, place: int, leaves: int) -> str:
    """Return a warning that names the tree taken in place of one with so many leaves."""
    wanted, taken = (counted(number, "leaf", "leaves") for number in (leaves, path[place].leaves))
    if place == len(path) - 1:
        return f"no tree of the pruning path has {wanted}: the largest, which is taken, has {taken}"
    larger = counted(path[place + 1].leaves, "leaf", "leaves")
    return f"no tree of the pruning path has {wanted}: after {taken}, which is taken, the next larger has {larger}"
