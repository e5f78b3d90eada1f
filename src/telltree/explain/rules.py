"""The rule table: a tree as one if-then rule for each leaf."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from telltree.english.styles import Style
from telltree.explain.occurrence import headline_text, training_occurrences
from telltree.explain.sentence import claims_of, sentence
from telltree.logic.expression import conjunction
from telltree.tree.target import Cell, Certainty
from telltree.tree.tree import Tree

NOTHING = "–"
"""The text of an empty cell."""


@dataclass(frozen=True)
class RuleRow:
    """A rule: the tree predicts the label for records of which the formula is true. Figures are of training records.

    The attributes of `certainty` are its own too; for classes, those of `telltree.tree.class_scores.ClassCertainty`,
    such as `share`, `low`, `high`, `support`, `counts` and `lift`.
    """

    cluster: int
    formula: str
    """The conjunction of the branches; "true" for a tree that is a single leaf."""
    english: str
    """A sentence that is true of exactly the records that reach this leaf, for any data."""
    short: str
    """A sentence that is true of exactly the training records that reached this leaf; for other records it may differ
    from `english`. The same as `english` if nothing is much shorter.
    """
    headline: str | None
    """A short sentence, with the shares of the records of this leaf and of others that it is true of."""
    label: Any
    """The prediction."""
    title: str
    """The label in words, or "mixed: A or B" if no class clearly prevails."""
    occurs: str
    """The number of these records in which the conditions of `english` occur, in words: "whenever A, B" says nothing of
    records in which A never holds. "" if it has no conditions, or if the number is unknown.
    """
    certainty: Certainty
    """Figures on how sure the prediction is, from the records of the leaf."""

    @property
    def figures(self) -> str:
        """Figures in words: `34 % of 234 records (28 to 40 %), 2.3 times the share in all; storm by weight: 75 %`."""
        return self.certainty.text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "certainty":  # while it is being copied
            raise AttributeError(name)
        return getattr(self.certainty, name)


def rules_table(tree: Tree, *, missing: Container[str] | None = None, style: Style = "plain") -> list[RuleRow]:
    """Return the rules of a tree, one for each leaf, in the order of clusters.

    `missing` names the columns whose missing values English must mention; by default those that missed values in
    training. `style` is that of `english`; only plain English has headlines and short descriptions.
    """
    may_miss = tree.missing if missing is None else missing
    occurrence_of = training_occurrences(tree)
    rows = []
    for number, (leaf, branches) in enumerate(tree.leaves, 1):
        english = sentence(branches, tree.schema, may_miss, style=style, step=tree.step)
        occurrence = occurrence_of(claims_of(branches), number) if style == "plain" else None
        short = leaf.short if style == "plain" else None
        rows.append(
            RuleRow(
                cluster=number,
                formula=conjunction(claims_of(branches)),
                english=english,
                short=english if short is None else tree.sentence(short.expression),
                headline=headline_text(tree, number) if style == "plain" else None,
                label=leaf.summary.predicted,
                title=leaf.summary.title,
                occurs="" if occurrence is None else occurrence.text(),
                certainty=leaf.summary.certainty(leaf.summary, tree.summary, weighted=tree.weighted),
            )
        )
    return rows


def as_records(rows: Iterable[RuleRow]) -> list[dict[str, Any]]:
    """Return the rules as dicts: `pandas.DataFrame(as_records(rows))`."""
    own = [field.name for field in fields(RuleRow) if field.name != "certainty"]
    return [{**{name: getattr(row, name) for name in own}, **row.certainty.values()} for row in rows]


def rules_text(rows: Sequence[RuleRow]) -> str:
    """Return the rows as a table in plain text, without optional columns that are empty, such as weighted shares."""
    columns = [
        [column[0].name, *(cell.text for cell in column)]
        for column in zip(*map(cells, rows), strict=True)
        if not column[0].optional or any(cell.text != NOTHING for cell in column)
    ]
    table = list(zip(*columns, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table)
    return "\n".join(line.rstrip() for line in lines)


def cells(row: RuleRow) -> list[Cell]:
    """Return a row of the table: cluster, label, figures, and formula."""
    label = Cell("label", row.title, number=False)
    return [
        Cell("cluster", str(row.cluster)),
        label,
        *row.certainty.cells(),
        Cell("formula", row.formula, number=False),
    ]
