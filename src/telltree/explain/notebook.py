"""A tree as nested HTML for notebooks: it folds, needs no script, and every text from data is escaped."""

from collections.abc import Container, Iterator

from telltree.amounts import by_weight, counted
from telltree.data.notebook import escaped
from telltree.explain.english import english
from telltree.tree.tree import Leaf, Node, Tree

# Only the page's own colours, so that it reads in light and dark themes.
_STYLE = """
.telltree details, .telltree .leaf {margin: .2em 0}
.telltree .side {margin-left: 1em; padding-left: .6em; border-left: 1px solid currentColor}
.telltree summary {cursor: pointer}
.telltree .said, .telltree .counts {opacity: .75}
.telltree .said {display: block; margin-left: 1em; font-style: italic}
"""


def tree_html(tree: Tree, *, missing: Container[str] | None = None) -> str:
    """A tree with the formula, English and records of each node, and the class and records of each leaf.

    `missing` names the columns that may miss values, of which English must speak; by default those of the training
    records that did.
    """
    missing = tree.missing if missing is None else missing
    body = _node(tree.root, tree, missing, iter(range(1, len(tree.leaves) + 1)))
    return f'<div class="telltree"><style>{_STYLE}</style>{body}</div>'


def _node(
    node: Node | Leaf, tree: Tree, missing: Container[str] | None, numbers: Iterator[int], answer: str = ""
) -> str:
    records = f'<span class="counts">{_records(node.counts, tree)}</span>'
    if isinstance(node, Leaf):
        label = tree.classes[node.label]
        weighed = escaped(f"; {by_weight(label, node.weighted_share)}") if node.decided_by_weights else ""
        return f'<div class="leaf">{answer}[{next(numbers)}] <b>{escaped(label)}</b> {records}{weighed}</div>'
    said = escaped(english(node.formula, tree.schema, missing, step=tree.step))
    sides = "".join(
        f'<div class="side">{_node(side, tree, missing, numbers, answer)}</div>'
        for answer, side in (("yes: ", node.true), ("no: ", node.false))
    )
    summary = f'{answer}<code>{escaped(node.formula)}</code> {records}<span class="said">{said}</span>'
    return f"<details open><summary>{summary}</summary>{sides}</details>"


def _records(counts: tuple[int, ...], tree: Tree) -> str:
    mixed = ", ".join(f"{escaped(tree.classes[k])}: {n}" for k, n in enumerate(counts) if n)
    whole = sum(counts)
    return f"{counted(whole, 'record')} ({mixed})"
