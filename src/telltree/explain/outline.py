"""The outline of a tree: its questions in English, one below the other, and the prediction of each leaf."""

from telltree.explain.english import Style, check_style, english
from telltree.tree.target import Summary
from telltree.tree.tree import INDENT, Node, Tree, tree_lines


def outline(tree: Tree, *, formulas: bool = False, style: Style = "plain") -> str:
    """Return the tree as questions in English, with the prediction of each leaf and its support.

    formulas: also show the formula of each question, below it.
    style: that of `telltree.explain.english`.
    """
    check_style(style)

    def question_lines(node: Node) -> list[str]:
        question = english(node.said, tree.schema, tree.missed_by(node), style=style, step=tree.step)
        below = [str(node.said)] * formulas + [node.doubt] * (node.doubt is not None)
        return [f"{question}?", *(f"{INDENT}{line}" for line in below)]

    return "\n".join(tree_lines(tree, question_lines, _outcome))


def _outcome(summary: Summary) -> str:
    return "; ".join(filter(None, [f"{summary.title}: {summary.hits}", summary.remark]))
