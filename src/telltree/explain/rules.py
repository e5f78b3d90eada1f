"""The rule table: a tree as one if-then rule for each leaf."""

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from telltree.explain.categories import sentence, signed
from telltree.operators.expression import conjunction
from telltree.tree.tree import Leaf, Tree

_Z = 1.959963984540054  # standard deviations on either side of the mean that hold 95 % of a normal distribution


@dataclass(frozen=True)
class RuleRow:
    """If the formula is true of a record, the tree predicts the label."""

    cluster: int
    formula: str
    """The conjunction of the branches; "true" for a tree that is a single leaf."""
    english: str
    label: Any
    probability: float
    """The share of the label among the training records that came here, weighted as in training."""
    low: float
    high: float
    """The 95 % confidence interval of `probability` for `support` records (Wilson)."""
    support: int
    """Training records that came here."""
    counts: dict[Any, int]
    """How many of them have each label."""


def rules_table(tree: Tree, *, missing: Container[str] | None = None) -> list[RuleRow]:
    """The rules of a tree, one for each leaf, in the order of clusters.

    `missing` names the columns that may miss values, of which English must speak (None: any may).
    """
    rows = []
    for number, (leaf, branches) in enumerate(tree.leaves, 1):
        share = _share(leaf)
        low, high = wilson(share, leaf.support)
        rows.append(
            RuleRow(
                cluster=number,
                formula=conjunction(signed(branches)),
                english=sentence(branches, tree.schema, missing),
                label=tree.classes[leaf.label],
                probability=share,
                low=low,
                high=high,
                support=leaf.support,
                counts={tree.classes[k]: n for k, n in enumerate(leaf.counts) if n},
            )
        )
    return rows


def as_records(rows: Iterable[RuleRow]) -> list[dict[str, Any]]:
    """The rows as plain dicts: `pandas.DataFrame(as_records(rows))`."""
    return [asdict(row) for row in rows]


def rules_text(rows: Sequence[RuleRow]) -> str:
    """The rows as a table in plain text."""
    head = ("cluster", "label", "probability", "95 % interval", "support", "formula")
    table = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table)
    return "\n".join(line.rstrip() for line in lines)


def wilson(share: float, records: int) -> tuple[float, float]:
    """Wilson's 95 % confidence interval of a share seen among so many records."""
    if not records or math.isnan(share):
        return 0.0, 1.0
    shrink = 1 + _Z**2 / records
    middle = (share + _Z**2 / (2 * records)) / shrink
    half = _Z / shrink * math.sqrt(share * (1 - share) / records + _Z**2 / (4 * records**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def _share(leaf: Leaf) -> float:
    """The weighted share of the leaf's label; NaN where all weight is 0."""
    whole = math.fsum(leaf.weights)
    return float(leaf.weights[leaf.label] / whole) if whole else math.nan


def _cells(row: RuleRow) -> tuple[str, ...]:
    interval = f"{row.low:.3f} to {row.high:.3f}"
    return str(row.cluster), str(row.label), f"{row.probability:.3f}", interval, str(row.support), row.formula
