"""A tree as a whole, in English: its outline, its proof, and remarks about it."""

from telltree.english.styles import Style, check_style, english
from telltree.tree.target import Summary
from telltree.tree.tree import INDENT, Node, Tree, tree_lines


def outline(tree: Tree, *, formulas: bool = False, style: Style = "plain") -> str:
    """Return the tree as questions in English, with the prediction of each leaf and its support.

    formulas: also show the formula of each question, below it.
    style: that of `telltree.explain.english`.
    """
    check_style(style)

    def question_lines(node: Node) -> list[str]:
        question = english(node.shown, tree.schema, tree.missed_by(node), style=style, step=tree.step)
        below = [str(node.shown)] * formulas + [node.unknown_note] * (node.unknown_note is not None)
        return [f"{question}?", *(f"{INDENT}{line}" for line in below)]

    return "\n".join(tree_lines(tree, question_lines, _outcome))


def _outcome(summary: Summary) -> str:
    return "; ".join(filter(None, [f"{summary.title}: {summary.hits}", summary.remark]))


def proof_text(tree: Tree) -> str | None:
    """Return the proof for the tree as a whole, or else for all its questions; None without one."""
    if tree.optimum is not None:
        whole = "" if len(tree.leaves) == tree.optimum.leaves else "of a larger tree, of which this one is a part: "
        return f"{whole}{tree.optimum}"
    proofs = [node.proof for node in tree.nodes if node.proof is not None and node.proof.atoms]
    if not proofs or len(proofs) < len(tree.nodes):
        return None
    least = min(proofs, key=lambda proof: (proof.is_all, proof.atoms, not proof.sampled))
    return f"at every question, {least.claim('condition')}{least.beyond and '; ' + least.beyond}"


def unknown_answers(tree: Tree) -> list[str]:
    """Return a sentence for each question that has unknown answers, for places that do not show the questions."""
    return [
        f"whether {tree.question(node)}: {node.unknown_note}" for node in tree.nodes if node.unknown_note is not None
    ]


def remarks(tree: Tree) -> list[str]:
    """Return the proof, and the minimum recalls of classes that were reached."""
    proof = proof_text(tree)
    return [*([] if proof is None else [proof]), *map(str, tree.floors)]
