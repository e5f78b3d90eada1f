"""Formulas as text and LaTeX, and the tree as a Graphviz graph."""

import json
import re
from collections.abc import Iterator

from telltree.logic import Expression, Level
from telltree.logic.expression import conjunction
from telltree.logic.operators import AND, Form, Operator
from telltree.models.exported import Chosen, Exported
from telltree.text import visible, visible_json
from telltree.tree.tree import Leaf, Node

# ---- The tree as a graph for Graphviz.


def dot(exported: Exported) -> str:
    """A directed graph; for one category, the path from the root to it."""
    lines = ["digraph tree {", '  node [shape=box, fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    numbers = iter(range(len(exported.tree.nodes) + len(exported.tree.leaves)))
    clusters = iter(range(1, len(exported.tree.leaves) + 1))
    lines += _below(exported, exported.tree.root, "", numbers, clusters)
    return "\n".join([*lines, "}"]) + "\n"


def _below(
    exported: Exported, node: Node | Leaf, edge: str, numbers: Iterator[int], clusters: Iterator[int]
) -> list[str]:
    """The lines of a subtree, and of the edge that leads to it; none if the requested category is not in it."""
    name = f"n{next(numbers)}"
    above = [edge.format(name)] if edge else []
    if isinstance(node, Leaf):
        cluster = next(clusters)
        told = node.summary
        remark = f"\n{told.remark}" if told.remark else ""
        said = _quoted(f"[{cluster}] {told.title}\n{told.mixed}{remark}")
        return [f"  {name} [label={said}, style=rounded];", *above] if exported.category in (None, cluster) else []
    below = [
        line
        for side, word in ((node.true, "yes"), (node.false, "no"))
        for line in _below(exported, side, f'  {name} -> {{}} [label="{word}"];', numbers, clusters)
    ]
    said = _quoted("\n".join(filter(None, [str(node.shown), node.unknown_note])))
    return [f"  {name} [label={said}];", *above, *below] if below else []


def _quoted(text: str) -> str:
    """A string of the DOT language; Graphviz reads backslashes and HTML's entities inside of it."""
    escaped = visible(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n") + '"'


# ---- Formulas, as telltree itself reads them.


def formula_text(exported: Exported) -> str:
    """One formula per category, each after a comment with its number and label."""
    blocks = []
    for chosen in exported.categories:
        label = visible_json(json.dumps(chosen.label, ensure_ascii=False, default=str))
        blocks.append(f"# category {chosen.number}: {label}\n{conjunction(chosen.formulas)}\n")
    return "\n".join(blocks)


# ---- LaTeX mathematics; `aligned` and `text` are amsmath's.


def latex(exported: Exported) -> str:
    """The formula of one category; or all, one per line, after the labels that they imply."""
    if exported.category is not None:
        return "".join(map(_formula, exported.categories)) + "\n"
    lines = [f"{_latex(Expression(Level(str(one.label))))} &\\Leftarrow {_formula(one)}" for one in exported.categories]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


def _formula(chosen: Chosen) -> str:
    alone = len(chosen.formulas) == 1
    parts = [_latex(e) if alone or not _is_infix(e) else f"({_latex(e)})" for e in chosen.formulas]
    return f" {AND.latex} ".join(parts) or r"\top"


def _latex(e: Expression) -> str:
    return re.sub(r"\s", " ", e.latex())  # a name may have line breaks


def _is_infix(e: Expression) -> bool:
    return isinstance(e.head, Operator) and e.head.form is Form.INFIX
