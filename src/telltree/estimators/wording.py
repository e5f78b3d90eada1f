"""A tree, and the sentences about it, which are found when they are first asked for.

Learning and predicting need no words, and finding good ones takes as long as learning.
"""

import logging
from dataclasses import dataclass
from threading import Lock

from telltree.data import Panel
from telltree.data.warn import warn
from telltree.tree import Tree
from telltree.tree.headlines import with_headlines
from telltree.tree.interruption import Interruption
from telltree.tree.target import Labels
from telltree.tree.training import fingerprint

logger = logging.getLogger("telltree")


@dataclass(frozen=True)
class Heard:
    """The records that a tree was learned from, to choose words by."""

    panel: Panel
    labels: Labels
    fingerprint: str

    def say(self, tree: Tree) -> Tree:
        """The tree with its headlines. After Ctrl-C, or if the records are no longer what they were, it has none."""
        if fingerprint(self.panel, self.labels) != self.fingerprint:
            warn(
                "the records were changed since the tree was learned from them: its categories have no headlines; fit "
                "anew, or ask for `tree_` before you change them"
            )
            return tree
        with Interruption() as interruption:
            told = interruption.unless_asked(lambda: with_headlines(tree, self.panel))
        if told is None:
            logger.warning("telltree: interrupted; the tree is whole, but its categories have no headlines")
        return told or tree


class Wording:
    """A tree that is put into words once."""

    def __init__(self, plain: Tree, heard: Heard | None = None) -> None:
        """`heard`: None if the words are there already, or nobody can find them."""
        self.plain, self._heard, self._lock = plain, heard, Lock()

    @property
    def tree(self) -> Tree:
        """The tree with its words; the records are let go."""
        with self._lock:
            if self._heard is not None:
                self.plain, self._heard = self._heard.say(self.plain), None
        return self.plain

    def __reduce__(self) -> tuple[type["Wording"], tuple[Tree]]:
        """A copy, here or elsewhere, has words and no records."""
        return Wording, (self.tree,)
