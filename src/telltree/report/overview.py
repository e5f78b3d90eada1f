"""The overview: what was learned, from which records, its scores, and the search."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from telltree.errors import DataError
from telltree.explain.outline import proof_text
from telltree.panel import ColumnType, Panel, unusable
from telltree.panel.dates import duration_text
from telltree.proportions import wilson
from telltree.report.subject import Subject, clipped, known_labels, words
from telltree.search import Search
from telltree.text import counted, percent
from telltree.tree.class_target import ClassSummary
from telltree.tree.induction import DEFAULT_CRITERION, DEFAULT_GROWTH, DEFAULT_SEARCH
from telltree.tree.pruning_path import PruningPath, TreeScore
from telltree.tree.settings import Growth
from telltree.tree.target import TargetScores
from telltree.tree.tree import Tree

# ---- The agreement of predictions with labels.


def scores_of(subject: Subject) -> TargetScores | None:
    """Return the scores on the records of the report; None if they have no labels."""
    return None if subject.labels is None else subject.labels.scores(subject.tree.summaries, subject.clusters - 1)


def held_out_scores(tree: Tree, held_out: Any) -> TargetScores | None:
    """Return the scores on held-out records, given as (panel, labels)."""
    if held_out is None:
        return None
    if not (isinstance(held_out, tuple) and len(held_out) == 2 and isinstance(held_out[0], Panel)):
        raise DataError(f"held_out must be a pair (panel, labels), got {type(held_out).__name__}")
    panel, y = held_out
    if not len(panel):
        raise DataError("held_out has no records; leave it away if nothing was kept back")
    return known_labels(tree, panel, y).scores(tree.summaries, tree.apply(panel) - 1)


# ---- Trees of other sizes: the alternatives, and the accuracy of each on unseen records.

MOST_SIZES = 12  # rows; more would be too many to choose from


@dataclass(frozen=True)
class Size:
    """A row of the table of sizes."""

    categories: int
    words: int
    score: TreeScore | None
    worth: float | None
    """The bits of labels that its least worthy branch saves, for each bit of its formula."""
    own: bool
    """True for the tree of the report."""


@dataclass(frozen=True)
class SizeTable:
    """The trees of a pruning path, or some of them: the smallest, the largest and the report's own among them."""

    rows: tuple[Size, ...]
    more: int
    """The number of trees that are left out between them."""
    remarks: list[str]
    """A remark if questions were cut from the report's own tree after it was judged."""

    @property
    def scored(self) -> bool:
        """True if the trees were cross-validated."""
        return all(row.score is not None for row in self.rows)

    @property
    def balanced(self) -> bool:
        """True if they were compared by balanced accuracy, which files of an older telltree do not have."""
        return all(row.score is not None and row.score.balanced and row.score.behind for row in self.rows)


@dataclass(frozen=True)
class Unseen:
    """The accuracy of trees like that of the report on held-out records, weighted if records had weights."""

    share: float
    error: float
    low: float
    high: float
    """The 95 % interval (Wilson)."""
    records: int
    baseline: float
    """The share of the most common class."""
    folds: str
    """The number of folds, if known."""

    @property
    def rows(self) -> dict[str, str]:
        """The known figures, by the names that scores of classes have."""
        return {
            "Records": f"{self.records:,}",
            "Accuracy": percent(self.share),
            "95 % interval": f"{percent(self.low).replace(' %', '')} – {percent(self.high)}",
            "Always the commonest class": percent(self.baseline),
        }


def sizes_of(subject: Subject) -> tuple[SizeTable | None, Unseen | None]:
    """Return the trees of other sizes, if there are several, and the accuracy of the report's own, if known."""
    pruning_path = getattr(subject.fitted, "pruning_path_", None)
    if not isinstance(pruning_path, PruningPath):
        return None, None
    steps, own = pruning_path.beside(subject.tree)
    some = np.unique(np.linspace(0, len(steps) - 1, MOST_SIZES).round().astype(int)).tolist()
    kept = [step for k, step in enumerate(steps) if k in some or step is own]
    rows = tuple(Size(step.leaves, step.words, step.score, step.worth, step is own) for step in kept)
    score, whole = None if own is None else own.score, subject.tree.summary
    # the scores of a pruning path are accuracies, which only classes have
    unseen = _unseen(subject, score, whole) if score is not None and isinstance(whole, ClassSummary) else None
    return (
        SizeTable(rows, len(steps) - len(rows), [] if own is None else own.remarks) if len(steps) > 1 else None
    ), unseen


def _unseen(subject: Subject, score: TreeScore, whole: ClassSummary) -> Unseen:
    records = whole.support
    spread = score.share * (1 - score.share)
    low, high = wilson(score.share, round(spread / score.error**2) if score.error else records)
    share, baseline = score.share, whole.weighted_share or 0.0
    return Unseen(share, score.error, low, high, records, baseline, _folds(subject.fitted))


def _folds(fitted: Any) -> str:
    """Return the number of folds; a model from a file does not know it."""
    validation = getattr(fitted, "validation_", None)
    return "folds" if validation is None else counted(len(validation.folds), "fold")


# ---- The overview.

MOST_COLUMNS = 60  # in the table of columns
MOST_CHARACTERS = 6_000  # of a grammar


@dataclass(frozen=True)
class ColumnFact:
    """A row of the table of columns."""

    name: str
    words: str
    type: str
    unit: str
    missing: int
    share: float
    """The share of missing values."""
    use: str
    """"in the tree", or the reason why the column was left out."""


@dataclass(frozen=True)
class Facts:
    """The content of the overview."""

    records: int
    steps: str
    columns: str
    categories: int
    questions: int
    depth: int
    terminals: float
    same_records: bool
    """True if as many records of each part are shown as the tree was learned from."""
    learned_from: int
    purpose: str
    """The purpose of the tree."""
    parts: tuple[tuple[str, int], ...]
    """Names, and records among those shown, or without labels among those learned from."""
    strangers: tuple[str, ...]
    """Labels that the tree has never seen."""
    glossary: tuple[tuple[str, str], ...]
    """The meaning of the words that describe the target."""
    given: TargetScores | None
    held_out: TargetScores | None
    unseen: Unseen | None
    """The result of cross-validation; None if there are held-out records, which are better evidence."""
    sizes: SizeTable | None
    missing: int
    table: tuple[ColumnFact, ...]
    columns_more: int
    left_out: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    search: tuple[tuple[str, str], ...]
    grammar: str | None
    interrupted: bool
    weighted: bool
    """True if classes or records had weights in training."""


def facts_of(subject: Subject, held_out: Any) -> Facts:
    """Compute the overview."""
    tree, panel = subject.tree, subject.panel
    trained, labels = tree.summary, subject.labels
    counts = trained.parts if labels is None else labels.summary().parts
    weighted = tree.weighted or getattr(subject.fitted, "class_weight", None) is not None
    table = _columns(subject)
    sizes, unseen = sizes_of(subject)
    return Facts(
        records=len(panel),
        steps=_steps(subject),
        columns=_kinds(subject),
        categories=len(tree.leaves),
        questions=len(tree.nodes),
        depth=tree.depth,
        terminals=tree.terminals,
        same_records=counts == trained.parts and trained.support == len(panel),
        learned_from=trained.support,
        purpose=words(subject.target.purpose),
        parts=tuple((words(name), count) for name, count in zip(subject.target.parts, counts, strict=True)),
        strangers=() if labels is None else tuple(words(name) for name in labels.strangers(tree.target)),
        glossary=tuple(subject.target.glossary(weighted=weighted)),
        given=scores_of(subject),
        held_out=held_out_scores(tree, held_out),
        unseen=unseen if held_out is None else None,
        sizes=sizes,
        missing=sum(row.missing for row in table),
        table=tuple(table[:MOST_COLUMNS]),
        columns_more=max(0, len(table) - MOST_COLUMNS),
        left_out=tuple((words(name), words(reason)) for name, reason in _left_out(subject).items()),
        notes=tuple(words(note) for note in panel.notes),
        search=tuple(_search(subject.fitted)),
        grammar=_grammar(subject.fitted),
        interrupted=bool(getattr(subject.fitted, "interrupted_", False)),
        weighted=weighted,
    )


def _steps(subject: Subject) -> str:
    panel = subject.panel
    shortest, longest = int(panel.lengths.min()), int(panel.lengths.max())
    steps = counted(longest, "step") if shortest == longest else f"{shortest:,} to {longest:,} steps"
    if panel.period is None:
        return steps
    return words(f"{steps}, one every {duration_text(panel.period, panel.time_unit or '(no unit given)')}")


def _kinds(subject: Subject) -> str:
    counts = [(len(subject.panel.schema.of_type(kind)), kind) for kind in ColumnType]
    return ", ".join(f"{number:,} {kind}" for number, kind in counts if number)


def _left_out(subject: Subject) -> dict[str, str]:
    """Return the columns that the grammar left out, or that a generic grammar would leave out of these records."""
    grammar = getattr(subject.fitted, "grammar_", None)
    found: dict[str, str] = unusable(subject.panel) if grammar is None else dict(grammar.left_out)
    return found


def _columns(subject: Subject) -> list[ColumnFact]:
    """Return the columns that the tree mentions, then the others."""
    mentioned = {name for node in subject.tree.nodes for name in node.formula.expression.attributes()}
    left_out, missing = _left_out(subject), subject.panel.missing()
    rows = []
    for name, column in subject.schema.items():
        values = len(subject.panel) if column.static else subject.panel.steps
        rows.append(
            ColumnFact(
                name=words(name),
                words="" if column.words == name else words(column.words),
                type=f"{column.type.value}{', static' if column.static else ''}",
                unit=words(column.unit or ""),
                missing=missing[name],
                share=missing[name] / values,
                use="in the tree" if name in mentioned else words(left_out.get(name, "not needed")),
            )
        )
    return sorted(rows, key=lambda row: row.use != "in the tree")


def _search(fitted: Any) -> list[tuple[str, str]]:
    """Return the settings and results of a classifier's search, without what would differ in another fit."""
    found = getattr(fitted, "searches_", None)
    rows: list[tuple[str, str]] = []
    if fitted is None:
        return rows
    for name, default in (("search", DEFAULT_SEARCH), ("criterion", DEFAULT_CRITERION), ("growth", DEFAULT_GROWTH)):
        if hasattr(fitted, name):
            rows.append((name, _settings(getattr(fitted, name) or default)))
    for name in ("max_depth", "min_samples_leaf", "class_weight", "random_state"):
        value = getattr(fitted, name, None)
        if value is not None and isinstance(value, int | float | str | dict | np.integer):
            rows.append((name, words(value)))
    if found:
        tried = sum(search.evaluations for search in found.values())
        rows.append(("formulas tried", f"{tried:,} in {counted(len(found), 'search', 'searches')}"))
    tree = getattr(fitted, "tree_", None)
    if tree is not None and (proof := proof_text(tree)):
        rows.append(("proved", words(proof)))
    rows += [("recall", words(floor)) for floor in (() if tree is None else tree.floors)]
    return rows


def _settings(value: Any) -> str:
    """Return settings by name; for anything else only its name, since its repr may contain an address."""
    if not is_dataclass(value) or isinstance(value, type):
        return words(getattr(value, "__name__", type(value).__name__))
    if isinstance(value, Search | Growth):
        return words(repr(value))
    given = ", ".join(f"{field.name}={getattr(value, field.name)!r}" for field in fields(value) if field.repr)
    return words(f"{type(value).__name__}({given})")


def _grammar(fitted: Any) -> str | None:
    grammar = getattr(fitted, "grammar_", None)
    return None if grammar is None else clipped(words(grammar), MOST_CHARACTERS)
