"""The models of an experiment: telltree with each search, and the paper's baselines from scikit-learn."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from telltree.checks import PaperExperiment
from telltree.errors import SettingsError
from telltree.estimators import GrammarTreeClassifier
from telltree.experiments.studies import Study
from telltree.grammar import Grammar
from telltree.panel import ColumnType, Panel
from telltree.search import Auto, CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe, Search
from telltree.tree import Criterion, GiniSize, Greedy

# ---- Records as rows of numbers, as the paper prepares them for classifiers without a notion of time.

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Flattening:
    """The paper's conversion of records to rows of numbers, with scales learned from training records.

    Real attributes are z-scored with the mean and the standard deviation of all training steps, Booleans become ±1. The
    paper does not specify the encoding of categories; here they are one-hot. A missing or infinite value becomes 0, the
    mean. Records are padded with zeros to `steps` steps, and their time slices concatenated.
    """

    steps: int
    scales: dict[str, tuple[float, float]]
    """Mean and standard deviation of each real attribute; a constant one is divided by 1."""

    @classmethod
    def learn(cls, train: Panel, steps: int) -> "Flattening":
        """Compute means and standard deviations of these records."""
        scales = {}
        for column in train.schema.of_type(ColumnType.REAL):
            values = train.stacked(column.name)
            finite = values[np.isfinite(values)]
            mean, deviation = (float(finite.mean()), float(finite.std())) if len(finite) else (0.0, 0.0)
            scales[column.name] = mean, deviation or 1.0
        return cls(steps, scales)

    def __call__(self, panel: Panel, dtype: type[np.floating[Any]] = np.float64) -> Floats:
        """Return records × (steps · width): all columns of the first step, then all of the second, and so on."""
        width = sum(1 if c.type is not ColumnType.CATEGORICAL else len(c.levels) for c in panel.schema.values())
        flat = np.zeros((len(panel) * self.steps, width), dtype)
        starts = np.cumsum(panel.lengths) - panel.lengths
        within = np.arange(panel.steps) - np.repeat(starts, panel.lengths)
        rows = np.repeat(np.arange(len(panel)) * self.steps, panel.lengths) + within
        for place, values in enumerate(self._numbers(panel)):
            flat[rows, place] = values
        return flat.reshape(len(panel), self.steps * width)

    def _numbers(self, panel: Panel) -> Iterator[NDArray[Any]]:
        """Yield the columns of a step, each for all steps of all records."""
        for name, column in panel.schema.items():
            values = panel.stacked(name)
            if column.type is ColumnType.REAL:
                mean, deviation = self.scales[name]
                yield np.where(np.isfinite(values), (values - mean) / deviation, 0.0)
            elif column.type is ColumnType.BOOLEAN:
                yield np.where(values < 0, 0, 2 * values - 1)
            else:
                yield from (values == code for code in range(len(column.levels)))


# ---- The models.

BASELINES: Mapping[str, str] = {"tree": "decision tree", "forest": "random forest", "bayes": "naive Bayes"}

_NOT_SETTINGS = {"grammar", "random_state", "n_jobs", "callback"}
"""Parameters of GrammarTreeClassifier that do not affect what it learns, or are reported elsewhere."""


class Prediction(NamedTuple):
    """The predictions for the test records, the seconds that learning took, and the lengths of the formulas."""

    predicted: NDArray[Any]
    seconds: float
    terminals: float | None


class ComparedModel(Protocol):
    """A model that learns from some records of a study and predicts the class of others."""

    @property
    def title(self) -> str: ...

    def settings(self, study: Study) -> str:
        """Return everything that affects what it learns, besides the records and the seed."""
        ...

    def predict(self, study: Study, train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> Prediction:
        """Learn from the records at the positions `train` and predict those at `test`."""
        ...


@dataclass(frozen=True)
class Telltree:
    """GrammarTreeClassifier with one search, and its own criterion or the study's; it does not rewrite formulas."""

    title: str
    search: Search
    criterion: Criterion | None = None
    note: str = ""
    """A note for readers of the table."""

    def settings(self, study: Study) -> str:
        """Return all parameters of the estimator that affect what it learns, with defaults, and the grammar's name."""
        given = self.estimator(study, None, 0).get_params(deep=False)
        settings = ", ".join(f"{name}={given[name]!r}" for name in sorted(given.keys() - _NOT_SETTINGS))
        return f"GrammarTreeClassifier({settings}), {study.grammar_name}"

    def predict(self, study: Study, train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> Prediction:
        """Learn a tree and predict; KeyboardInterrupt if Ctrl-C ended learning early, as half a tree is no result."""
        began = time.perf_counter()
        model = self.learn(study, train, seed)
        seconds = time.perf_counter() - began
        if model.interrupted_:
            raise KeyboardInterrupt
        return Prediction(model.predict(study.panel[test]), seconds, model.tree_.terminals)

    def learn(self, study: Study, train: NDArray[np.int64], seed: int) -> GrammarTreeClassifier:
        """Learn a tree from the records at these positions."""
        model = self.estimator(study, study.grammar_for(study.panel[train]), seed)
        return model.fit(study.panel[train], study.y[train])

    def estimator(self, study: Study, grammar: Grammar | None, seed: int) -> GrammarTreeClassifier:
        """Return the estimator for a study and the grammar of its training records."""
        return GrammarTreeClassifier(
            grammar,
            self.search,
            criterion=self.criterion or study.criterion or GiniSize(),
            growth=Greedy(thresholds="grid", simplify=False),
            max_depth=study.max_depth,
            min_samples_leaf=1,
            random_state=seed,
        )


@dataclass(frozen=True)
class Baseline:
    """One of scikit-learn's classifiers on flattened records."""

    key: str

    @property
    def title(self) -> str:
        """The name in tables."""
        return BASELINES[self.key]

    def settings(self, study: Study) -> str:
        """Return the estimator and scikit-learn's version, which may change its results."""
        import sklearn

        return f"{self._estimator(study, 0)!r}, scikit-learn {sklearn.__version__}"

    def predict(self, study: Study, train: NDArray[np.int64], test: NDArray[np.int64], seed: int) -> Prediction:
        """Flatten the records, learn, predict. The learning time includes flattening the training records."""
        steps = int(study.panel.lengths.max())
        # Trees convert to single precision anyway; converting first halves the memory.
        dtype = np.float64 if self.key == "bayes" else np.float32
        began = time.perf_counter()
        flatten = Flattening.learn(study.panel[train], steps)
        estimator = self._estimator(study, seed).fit(flatten(study.panel[train], dtype), study.y[train])
        seconds = time.perf_counter() - began
        return Prediction(estimator.predict(flatten(study.panel[test], dtype)), seconds, None)

    def _estimator(self, study: Study, seed: int) -> Any:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.tree import DecisionTreeClassifier

        if self.key == "tree":
            return DecisionTreeClassifier(max_depth=study.max_depth, random_state=seed)
        if self.key == "forest":
            return RandomForestClassifier(study.trees, max_depth=study.max_depth, random_state=seed)
        return GaussianNB()


SEARCHES: Mapping[str, Telltree] = {
    "mc": Telltree("telltree, MC", MonteCarlo()),
    "ge": Telltree("telltree, GE", GrammaticalEvolution()),
    "gp": Telltree("telltree, GP", GeneticProgramming()),
}
"""The searches with their default settings."""
_THOROUGH = GeneticProgramming(evaluations=300_000, population=6_000, tournament=10)
ACASX_SEARCHES: Mapping[str, Telltree] = {
    "mc": Telltree("telltree, MC", MonteCarlo(evaluations=100_000)),
    "ge": Telltree("telltree, GE", GrammaticalEvolution()),
    "gp": Telltree("telltree, GP", _THOROUGH),
    "gp-long": Telltree(
        "GP, any length", _THOROUGH, GiniSize(w2=120, per_record=True), "with GP, any length, half of one is enough"
    ),
}
"""The searches for the paper's encounters. Smaller budgets miss the best formulas for the root, which matters most."""

_AUTHORS = replace(GiniSize.paper(), gini="weighted")
"""The criterion of the authors' code."""


def searches_of(experiment: str, *, paper_budgets: bool = False, to_the_letter: bool = False) -> Mapping[str, Telltree]:
    """Return the searches that an experiment compares by default.

    `paper_budgets`: with the settings and the criterion of the paper's authors. `to_the_letter`: with their settings,
    and the criterion as the paper defines it.
    """
    if not (paper_budgets or to_the_letter):
        return ACASX_SEARCHES if experiment == "acasx" else SEARCHES
    name: PaperExperiment = "auslan" if experiment == "auslan" else "acasx"
    budgets = {
        "mc": MonteCarlo.paper(name),
        "ge": GrammaticalEvolution.paper(name),
        "gp": GeneticProgramming.paper(name),
    }
    criterion = GiniSize.paper() if to_the_letter else _AUTHORS
    return {key: Telltree(SEARCHES[key].title, search, criterion) for key, search in budgets.items()}


def further_searches(*, paper_budgets: bool = False, to_the_letter: bool = False) -> Mapping[str, Telltree]:
    """Return the searches that the paper does not compare; an experiment runs them only by name."""
    authors = paper_budgets or to_the_letter
    criterion = GiniSize.paper() if to_the_letter else _AUTHORS if authors else None
    return {
        "ce": Telltree("telltree, CE", CrossEntropy.paper() if authors else CrossEntropy(), criterion),
        "pipe": Telltree("telltree, PIPE", Pipe.paper() if authors else Pipe(), criterion),
        "auto": Telltree("telltree, Auto", Auto(), criterion),
    }


def choose_models(
    searches: Iterable[str] | Mapping[str, Search],
    baselines: Iterable[str],
    known: Mapping[str, Telltree] = SEARCHES,
) -> dict[str, ComparedModel]:
    """Return the models of these names, in order; `known` are the searches that have names.

    A mapping gives searches with other settings, under names of their own.
    """
    if isinstance(searches, Mapping):
        chosen: dict[str, ComparedModel] = {
            name: Telltree(f"telltree, {name}", search) for name, search in searches.items()
        }
    else:
        chosen = {name: known[name] for name in _known(searches, known, "search")}
    chosen |= {name: Baseline(name) for name in _known(baselines, BASELINES, "baseline")}
    if not chosen:
        raise SettingsError("an experiment needs at least one search or baseline")
    return chosen


def _known(names: Iterable[str], table: Mapping[str, Any], kind: str) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    for name in listed:
        if name not in table:
            raise SettingsError(f"there is no {kind} called {name!r}; there are {', '.join(table)}")
    return list(dict.fromkeys(listed))


def compile_all(searches: tuple[Search, ...]) -> None:
    """Compile all kernels, or load them from the cache, so that the time of no trial includes that."""
    columns = {"x": {"type": "real"}, "b": {"type": "Boolean"}, "c": {"type": "categorical"}}
    record = np.array([[0.5, True, "u"], [1.5, False, "v"], [2.5, True, "u"]], dtype=object)
    panel = Panel.from_arrays([record[:2], record[1:], record, record[::2]], columns=list(columns), schema=columns)
    grammar = (
        "Start ::= F(VB) | G(VB) | count(VB) > [0, 1]"
        " VB ::= VB and VB | VB or VB | not VB | b | c = levels | abs(x - 1) < 1 | sign(x) = 1 | x {<, >=} grid(4)"
    )
    for search in searches:
        few = replace(search, evaluations=64, generations=3, max_depth=4)
        model = GrammarTreeClassifier(grammar, few, max_depth=2, random_state=0).fit(panel, [0, 1, 1, 0])
        model.predict(panel)
        if model.interrupted_:
            raise KeyboardInterrupt
