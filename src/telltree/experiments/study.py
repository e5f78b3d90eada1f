"""The subject of an experiment: labelled records, what may be said of them, and the limits for all models."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.experiments.paper import Figures
from telltree.grammar import Grammar
from telltree.tree import Fitness


@dataclass(frozen=True, eq=False)
class Study:
    """One data set and how models are to be learned from it.

    name, title: in files, and for people. grammar: text, or None for the generic grammar of each trial's training
    records. attributes: those that the text may speak of (None: all). max_depth: of telltree's trees, the decision
    tree and the forest's trees alike. trees: of the forest. fitness: of telltree's models that have none of their own
    (None: the estimator's). fitness_note: what a reader should know of it. paper: what the paper reports, by model.
    notes: what a reader of the table should know whatever the models.
    """

    name: str
    title: str
    panel: Panel
    y: NDArray[Any]
    max_depth: int
    trees: int
    grammar: str | None = None
    attributes: tuple[str, ...] | None = None
    fitness: Fitness | None = None
    fitness_note: str = ""
    paper: Mapping[str, Figures] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def classes(self) -> list[Any]:
        """The classes, in order."""
        found: list[Any] = np.unique(self.y).tolist()
        return found

    def grammar_for(self, train: Panel) -> Grammar:
        """The grammar to search, given the records to learn from."""
        if self.grammar is None:
            return Grammar.generic(train)
        return Grammar.parse(self.grammar, train if self.attributes is None else train.select(self.attributes))

    @cached_property
    def grammar_name(self) -> str:
        """A short name for the grammar; equal names mean equal text and attributes."""
        if self.grammar is None:
            return "the generic grammar"
        said = repr((self.grammar, self.attributes))
        return f"grammar {hashlib.blake2b(said.encode(), digest_size=6).hexdigest()}"

    @cached_property
    def data_fingerprint(self) -> str:
        """A hash of the records and their labels."""
        whole = hashlib.blake2b(digest_size=16)
        whole.update(repr([*self.panel.schema.values()]).encode())
        whole.update(repr(self.y.tolist()).encode())
        whole.update(np.ascontiguousarray(self.panel.lengths).tobytes())
        for name in self.panel.schema:
            whole.update(np.ascontiguousarray(self.panel.stacked(name)).tobytes())
        return whole.hexdigest()
