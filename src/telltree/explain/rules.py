"""The rule table: a tree as one if-then rule for each leaf."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from telltree.amounts import by_weight, counted, percent, times_all
from telltree.explain.categories import sentence, signed
from telltree.explain.headline import headline_text
from telltree.explain.shares import Share
from telltree.operators.expression import conjunction
from telltree.tree.tree import Tree


@dataclass(frozen=True)
class RuleRow:
    """If the formula is true of a record, the tree predicts the label. Counts are of training records."""

    cluster: int
    formula: str
    """The conjunction of the branches; "true" for a tree that is a single leaf."""
    english: str
    """What is true of exactly the records that reach this leaf, for any data."""
    short: str
    """What is true of exactly the training records that reached this leaf; for other records it may differ from
    `english`. The same as `english` if nothing is much shorter.
    """
    headline: str | None
    """A short sentence, with the shares of the records of this leaf and of others that it is true of."""
    label: Any
    share: float | None
    """The share of the leaf's records with the label; None if there are none."""
    low: float
    high: float
    """The 95 % confidence interval of `share` (Wilson)."""
    support: int
    """How many records reached the leaf."""
    counts: dict[Any, int]
    """How many of them have each label."""
    lift: float | None
    """`share` divided by the label's share in all records."""
    weighted: float | None
    """The label's share of the weight here, as in `predict_proba`; None if all records weigh the same."""
    decided_by_weights: bool
    """Whether another class has more records here than the label, but less weight."""

    @property
    def figures(self) -> str:
        """In words: `34 % of 234 records (28 to 40 %), 2.3 times the share in all; storm by weight: 75 %`."""
        if self.share is None:
            return "no records"
        low, high = percent(self.low, 0).removesuffix(" %"), percent(self.high, 0)
        said = f"{percent(self.share, 0)} of {counted(self.support, 'record')} ({low} to {high})"
        if self.lift is not None:
            said += f", {times_all(self.lift)}"
        if self.decided_by_weights:
            return f"{said}; {by_weight(self.label, self.weighted)}"
        return said if self.weighted is None else f"{said}; by weight {percent(self.weighted, 0)}"


def rules_table(tree: Tree, *, missing: Container[str] | None = None) -> list[RuleRow]:
    """The rules of a tree, one for each leaf, in the order of clusters.

    `missing` names the columns whose missing values English must mention; by default those that missed values in
    training.
    """
    unsure = tree.missing if missing is None else missing
    rows = []
    totals = [sum(counts) for counts in zip(*(leaf.counts for leaf, _ in tree.leaves), strict=True)]
    for number, (leaf, branches) in enumerate(tree.leaves, 1):
        seen = Share(leaf.counts[leaf.label], leaf.support, totals[leaf.label], sum(totals))
        low, high = seen.interval
        english = sentence(branches, tree.schema, unsure, step=tree.step)
        rows.append(
            RuleRow(
                cluster=number,
                formula=conjunction(signed(branches)),
                english=english,
                short=english if leaf.short is None else tree.says(leaf.short.expression),
                headline=None if leaf.headline is None else headline_text(leaf.headline, leaf, tree),
                label=tree.classes[leaf.label],
                share=seen.share,
                low=low,
                high=high,
                support=leaf.support,
                counts={tree.classes[k]: n for k, n in enumerate(leaf.counts) if n},
                lift=seen.lift,
                weighted=leaf.weighted_share if tree.weighted else None,
                decided_by_weights=leaf.decided_by_weights,
            )
        )
    return rows


def as_records(rows: Iterable[RuleRow]) -> list[dict[str, Any]]:
    """The rows as plain dicts: `pandas.DataFrame(as_records(rows))`."""
    return [asdict(row) for row in rows]


def rules_text(rows: Sequence[RuleRow]) -> str:
    """The rows as a table in plain text, with a column for weighted shares if there are any."""
    weighed = any(row.weighted is not None for row in rows)
    head = ["cluster", "label", "share", "95 % interval", "support", "lift", "weighted share", "formula"]
    table = [head, *(cells(row) for row in rows)]
    if not weighed:
        table = [[*line[:-2], line[-1]] for line in table]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table)
    return "\n".join(line.rstrip() for line in lines)


def cells(row: RuleRow) -> list[str]:
    """A row of a table: cluster, label, share, interval, support, lift, weighted share and formula."""
    interval = f"{row.low:.3f} to {row.high:.3f}"
    weighted = _fixed(row.weighted, 3) + (" (decides)" if row.decided_by_weights else "")
    figures = [_fixed(row.share, 3), interval, str(row.support), _fixed(row.lift, 2), weighted]
    return [str(row.cluster), str(row.label), *figures, row.formula]


def _fixed(value: float | None, decimals: int) -> str:
    """A number with a fixed number of decimals, or a dash."""
    return "–" if value is None else f"{value:.{decimals}f}"
