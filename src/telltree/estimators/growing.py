"""The trees of a forest: which records each of them learns from, and what it says of the others.

A tree depends on the seed of the forest and on its own number alone, not on when, where or after which others it grows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Schema
from telltree.data.usable import doubtful, unchanging
from telltree.estimators.probabilities import probabilities
from telltree.estimators.training_set import TrainingSet
from telltree.grammar import Grammar
from telltree.tree import Leaf, Node, Tree
from telltree.tree.asking import LocalBench
from telltree.tree.turns import local_bench

if TYPE_CHECKING:
    from telltree.estimators.classifier import GrammarTreeClassifier

SHARE = 0.632
"""Of the records that a tree learns from: about as many different ones as a bootstrap has, and none of them twice."""


class Grown(NamedTuple):
    """A tree of a forest."""

    tree: Tree
    chances: NDArray[np.float64]
    """The probability of each class for each record that it has not learnt from, in their order."""
    interrupted: bool


@dataclass(frozen=True)
class Ground:
    """What all trees of a forest have in common."""

    classifier: "GrammarTreeClassifier"
    """How each is learnt."""
    training: TrainingSet
    seed: int
    grammar: Grammar | None
    """None if each tree has a language of its own."""
    groups: NDArray[np.int64] | None
    """Records of one group are learnt from together, or not at all."""

    def draw(self, number: int) -> tuple[NDArray[np.int64], int]:
        """The records that a tree learns from, by their places, and the seed of its searches."""
        chance = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(number,)))
        units = len(self.training.labels) if self.groups is None else int(self.groups.max()) + 1
        drawn = np.sort(chance.choice(units, max(1, round(SHARE * units)), replace=False))
        members = drawn if self.groups is None else np.flatnonzero(np.isin(self.groups, drawn))
        return members, int(chance.integers(2**31 - 1))

    def unseen(self, number: int) -> NDArray[np.int64]:
        """The records that a tree does not learn from."""
        return np.setdiff1d(np.arange(len(self.training.labels)), self.draw(number)[0])

    def grown(self, numbers: Sequence[int], *, quiet: bool) -> Iterator[tuple[int, Grown]]:
        """Trees one after the other, each with its number; if they have the same grammar, they share planes, and unless
        it is `quiet`, the memory that large records take is told once.
        """
        panel = self.training.panel
        threads = self.classifier.threads
        grammar = None if self.grammar is None else self.classifier.searched(self.grammar)
        bench = None if grammar is None else local_bench(panel, grammar, threads, quiet=quiet)
        for number in numbers:
            members, seed = self.draw(number)
            shared = bench.part(members) if isinstance(bench, LocalBench) else None
            learned = self.classifier.learn_part(self.training.part(members), seed, self.grammar, shared)
            tree, others = self._told_as_all(_bare(learned.tree)), self.unseen(number)
            chances = probabilities(tree, panel[others]) if len(others) else np.empty((0, len(tree.target.parts)))
            yield number, Grown(tree, chances, learned.interrupted)

    def _told_as_all(self, tree: Tree) -> Tree:
        """The tree with what is known of all records: which columns miss values, and which do not change."""
        return replace(tree, schema=Schema(self._schema[name] for name in tree.schema), missing=self._missing)

    @cached_property
    def _schema(self) -> Schema:
        panel = self.training.panel
        still = unchanging(panel)
        return Schema(replace(column, static=column.name in still) for column in panel.schema.values())

    @cached_property
    def _missing(self) -> frozenset[str]:
        return doubtful(self.training.panel)


def grow_some(numbers: Sequence[int], ground: Ground) -> list[tuple[int, Grown]]:
    """In another process: some of the trees."""
    return list(ground.grown(numbers, quiet=True))


def _bare(tree: Tree) -> Tree:
    """The tree without what its searches met on the way, of which nobody reads fifty times as much."""

    def below(node: Node | Leaf) -> Node | Leaf:
        if isinstance(node, Leaf):
            return node
        true, false = below(node.true), below(node.false)
        return replace(node, true=true, false=false, runners_up=(), by_size=(), found=None, proof=None)

    return replace(tree, root=below(tree.root))
