"""Categories in groups: what siblings share is told once above them, and of each what sets it apart."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from telltree.tree.tree import Branch, are_siblings


class Reached(Protocol):
    """A category, as far as grouping asks."""

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The formulas on the way from the root, and whether they are true."""


Leaf = TypeVar("Leaf", bound=Reached)


def grouped(categories: Iterable[Leaf]) -> Iterator[tuple[Leaf, ...]]:
    """The categories in order: two leaves of one question together, each other leaf alone.

    Where that question is the only one, they share nothing that could be told, and stand alone.
    """
    waiting: Leaf | None = None
    for category in categories:
        if waiting is not None and len(category.branches) > 1 and are_siblings(waiting.branches, category.branches):
            yield waiting, category
            waiting = None
            continue
        if waiting is not None:
            yield (waiting,)
        waiting = category
    if waiting is not None:
        yield (waiting,)


class Said(NamedTuple):
    """What is told of a category in one place: in English, and if asked, as a formula."""

    english: str
    formula: str | None = None

    def lines(self, before: str = "") -> list[str]:
        """The English, after some words, and the formula below it."""
        return [before + self.english, *([] if self.formula is None else [self.formula])]


@dataclass(frozen=True)
class Telling:
    """A category as it is told: its class and figures in one line, its headline, and what is true of it."""

    number: int
    branches: tuple[Branch, ...]
    head: str
    headline: str | None
    whole: Said
    shared: Said
    """All branches but the last."""
    apart: Said
    """The last branch."""

    def alone(self) -> str:
        """With the whole sentence."""
        exactly = self.whole.lines("" if self.headline is None else "exactly: ")
        if self.headline is not None and self.headline.startswith(f"{self.whole.english} ("):
            del exactly[0]  # the headline says it all
        return _block(self.head, self._headline, exactly)

    def beside(self, sibling: int) -> str:
        """With what sets it apart from its sibling."""
        return _block(self.head, self._headline, self.apart.lines(f"unlike [{sibling}]: "))

    @property
    def _headline(self) -> list[str]:
        return [] if self.headline is None else [self.headline]


def groups_text(told: Iterable[Telling]) -> str:
    """The categories as blocks of text, with an empty line between groups.

    What is told above two siblings, and of one of them, is together true of its records and of no others.
    """
    return "\n\n".join(map(_group_text, grouped(told)))


def _group_text(group: tuple[Telling, ...]) -> str:
    if len(group) == 1:
        return group[0].alone()
    yes, no = group
    english, *formula = yes.shared.lines()
    above = _block(f"[{yes.number}] and [{no.number}] share: {english}", formula)
    return "\n".join((above, yes.beside(no.number), no.beside(yes.number)))


def _block(head: str, *below: Sequence[str]) -> str:
    return "\n".join((head, *(f"    {line}" for lines in below for line in lines)))
