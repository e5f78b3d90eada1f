"""The tree as a graph for Graphviz."""

from collections.abc import Iterator

from telltree.export.exported import Exported
from telltree.tree.tree import Leaf, Node
from telltree.visible import visible


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
    said = _quoted("\n".join(filter(None, [str(node.said), node.doubt])))
    return [f"  {name} [label={said}];", *above, *below] if below else []


def _quoted(text: str) -> str:
    """A string of the DOT language; Graphviz reads backslashes and HTML's entities inside of it."""
    escaped = visible(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n") + '"'
