"""What is proved of a tree and its questions, and what else is to be told of it as a whole, in sentences."""

from telltree.tree.tree import Tree


def proved(tree: Tree) -> str | None:
    """What is proved of a tree as a whole, or else of all its questions; None if nothing is."""
    if tree.optimum is not None:
        whole = "" if len(tree.leaves) == tree.optimum.leaves else "of a larger tree, of which this one is a part: "
        return f"{whole}{tree.optimum}"
    proofs = [node.proof for node in tree.nodes if node.proof is not None and node.proof.atoms]
    if not proofs or len(proofs) < len(tree.nodes):
        return None
    least = min(proofs, key=lambda proof: (proof.is_all, proof.atoms, not proof.sampled))
    return f"at every question, {least.told('condition')}{least.beyond and '; ' + least.beyond}"


def doubts(tree: Tree) -> list[str]:
    """Of which questions answers were unknown, and what became of these, for where the questions are not shown."""
    return [f"whether {tree.asks(node)}: {node.doubt}" for node in tree.nodes if node.doubt is not None]


def remarks(tree: Tree) -> list[str]:
    """What is proved, and what became of floors for the recall of classes."""
    told = proved(tree)
    return [*([] if told is None else [told]), *map(str, tree.floors)]
