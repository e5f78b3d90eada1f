"""Draws the demo's tree as docs/images/tree.svg: `python docs/images/draw_tree.py`.

Boxes bring their own background and lines are mid-grey, so the picture reads on light and on dark pages.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from telltree.demo import LEARNT_FROM, fit_demo, make_demo
from telltree.explain import english
from telltree.tree import Leaf, Node, Tree

PICTURE = Path(__file__).with_name("tree.svg")
ACROSS, DOWN, TOP = 176, 112, 38
BRANCH_WIDTH, LEAF_WIDTH, LINE, LETTER = 250, 132, 15, 8
STYLE = """
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; text-anchor: middle; fill: #1f2933 }
.formula { font: 600 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
.answer { fill: #7d8590; font-style: italic }
.class { font-weight: 600 }
rect { stroke-width: 1.5 }
.branch { fill: #f6f4ee; stroke: #a59f8d }
.NMAC { fill: #fbe0cf; stroke: #c8632b }
.safe { fill: #d9e8f5; stroke: #3f7fb5 }
path { fill: none; stroke: #8b949e; stroke-width: 1.8 }
""".strip()


@dataclass
class Box:
    """A node or leaf, with its place."""

    item: Node | Leaf
    x: float
    depth: int
    lines: tuple[str, ...]
    children: tuple["Box", ...] = ()

    @property
    def y(self) -> float:
        return TOP + self.depth * DOWN

    @property
    def width(self) -> float:
        formula = 0 if isinstance(self.item, Leaf) else LETTER * len(self.lines[0]) + 26
        return max(formula, LEAF_WIDTH if isinstance(self.item, Leaf) else BRANCH_WIDTH)

    @property
    def height(self) -> float:
        return LINE * len(self.lines) + 18


def place(node: Node | Leaf, tree: Tree, numbers: Iterator[int], depth: int = 0) -> Box:
    """Leaves stand side by side, nodes in the middle above their children."""
    if isinstance(node, Leaf):
        number = next(numbers)
        lines = (f"{number}: {tree.classes[node.label]}", f"{node.support} encounters")
        return Box(node, (number - 0.5) * ACROSS, depth, lines)
    children = tuple(place(child, tree, numbers, depth + 1) for child in (node.true, node.false))
    said = textwrap.wrap(english(node.formula, tree.schema, missing=()), 36)
    return Box(node, sum(child.x for child in children) / 2, depth, (str(node.formula), *said), children)


def draw(box: Box, tree: Tree) -> Iterator[str]:
    """The lines to the children first, so that boxes lie on top of them."""
    for child, answer in zip(box.children, ("yes", "no"), strict=False):
        start, end = box.y + box.height / 2, child.y - child.height / 2
        middle = (start + end) / 2
        bend = f"C{box.x:.0f} {end:.0f} {child.x:.0f} {start:.0f}"
        yield f'<path d="M{box.x:.0f} {start:.0f} {bend} {child.x:.0f} {end:.0f}"/>'
        side = -16 if answer == "yes" else 16
        yield f'<text class="answer" x="{(box.x + child.x) / 2 + side:.0f}" y="{middle - 8:.0f}">{answer}</text>'
        yield from draw(child, tree)
    leaf = isinstance(box.item, Leaf)
    name = tree.classes[box.item.label] if isinstance(box.item, Leaf) else "branch"
    left, top = box.x - box.width / 2, box.y - box.height / 2
    yield (
        f'<rect class="{escape(name)}" x="{left:.0f}" y="{top:.0f}" width="{box.width:.0f}" '
        f'height="{box.height:.0f}" rx="{16 if leaf else 6}"/>'
    )
    for i, line in enumerate(box.lines):
        kind = "" if i else ' class="class"' if leaf else ' class="formula"'
        yield f'<text{kind} x="{box.x:.0f}" y="{top + 20 + i * LINE:.0f}">{escape(line)}</text>'


def picture() -> str:
    """The whole drawing."""
    panel, ends = make_demo()
    known = round(LEARNT_FROM * len(panel))
    tree: Tree = fit_demo(panel[:known], ends[:known]).tree_
    root = place(tree.root, tree, iter(range(1, len(tree.leaves) + 1)))
    width, height = len(tree.leaves) * ACROSS, TOP + tree.depth * DOWN + 40
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    told = escape(f"A decision tree with {len(tree.nodes)} formulas and {len(tree.leaves)} leaves")
    return "\n".join([head, f"<title>{told}</title>", f"<style>\n{STYLE}\n</style>", *draw(root, tree), "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
