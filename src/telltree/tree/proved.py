"""What is proved of the questions of a tree, in a sentence."""

from telltree.search.proof import in_words
from telltree.tree.tree import Tree


def proved(tree: Tree) -> str | None:
    """What is proved of all questions of a tree; None if nothing is."""
    proofs = [node.proof for node in tree.nodes]
    least = min((0 if proof is None else proof.atoms for proof in proofs), default=0)
    if not least:
        return None
    beyond = next((proof.beyond for proof in proofs if proof is not None and proof.sampled), None)
    beyond = beyond or next(proof.beyond for proof in proofs if proof is not None)
    return f"at every question, no formula of up to {in_words(least)} is fitter than the best that was found; {beyond}"
