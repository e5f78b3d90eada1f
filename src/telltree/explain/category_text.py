"""Categories as text: each by itself, or in groups, with what several share told once above them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple, Protocol, TypeVar

from telltree.engine import Formula
from telltree.english import repeats
from telltree.explain.implication import follows
from telltree.explain.occurrence import Occurrence
from telltree.tree.tree import Branch, are_siblings


class CategoryText(NamedTuple):
    """What is told of a category in one place: in English, and if requested, as a formula."""

    english: str
    formula: str | None = None
    doubt: str | None = None
    """Of how many records it is unknown, where it may be."""

    @property
    def sentence(self) -> str:
        """The English, with of how many records it is unknown."""
        return self.english if self.doubt is None else f"{self.english} ({self.doubt})"

    def lines(self, before: str = "") -> list[str]:
        """The sentence, after an introduction, and the formula below it."""
        return [before + self.sentence, *([] if self.formula is None else [self.formula])]


@dataclass(frozen=True)
class Telling:
    """A category as it is told: its class and figures in one line, its headline, and what is true of it."""

    number: int
    branches: tuple[Branch, ...]
    head: str
    headline: str | None
    whole: CategoryText
    """What is true of exactly its records, for any data."""
    short: str | None
    """The same for the records at hand, in fewer words; None if there is none."""
    among: str
    """Which records these are: "on the 400 training records"."""
    steps: tuple[CategoryText, ...]
    """Each branch by itself."""
    claim: Formula | None = None
    """What the headline says."""
    occurs: Mapping[str, Occurrence] = field(default_factory=dict)
    """In how many of its records the conditions of sentences occur, by sentence."""

    def noted(self, said: str) -> str:
        """A sentence, with how often its conditions occur where that is not in every record."""
        found = self.occurs.get(said)
        return said if found is None else said + found.beside()

    def alone(self, *, whole: bool = False) -> str:
        """With the short description, if there is one, or the whole sentence."""
        own = self.without_repeats(self.whole.english, *([] if self.short is None else [self.short]))
        if own is not self:
            return own.alone(whole=whole)
        described = (
            [] if self.short is None or self.is_headline(self.short) else [f"{self.among}: {self.noted(self.short)}"]
        )
        whole_said = self.whole._replace(english=self.noted(self.whole.english))
        exactly = whole_said.lines("" if self.headline is None and self.short is None else "exactly: ")
        if self.is_headline(self.whole.english) or (self.short is not None and not whole):
            del exactly[0]
        return _block(self.head, self._headline, described, exactly)

    def beside(self, others: str) -> str:
        """With what sets it apart from its siblings; if that is the headline, it is said once."""
        if self._repeats(self.steps[-1].english):
            return replace(self, headline=None).beside(others)
        headline, (apart, *formula) = self._headline, self.steps[-1].lines()
        if self.headline is not None and self.is_headline(apart):
            headline, apart = [], self.headline
        else:
            apart = self.noted(apart)
        return _block(self.head, headline, [f"unlike {others}: {apart}", *formula])

    @property
    def _headline(self) -> list[str]:
        return [] if self.headline is None else [self.headline]

    @property
    def without_what_is_shared(self) -> "Telling":
        """Without a headline that is told of all categories in a group around it, or follows from what is."""
        above = [said.english for said in self.steps[:-1]]
        shared = any(self.is_headline(said) or self._repeats(said) for said in above)
        shared = shared or (self.claim is not None and bool(above) and follows(self.claim, self.branches[:-1]))
        return replace(self, headline=None) if shared else self

    def without_repeats(self, *said: str) -> "Telling":
        """Without a headline that is one of these sentences with other digits."""
        return replace(self, headline=None) if any(map(self._repeats, said)) else self

    def _repeats(self, said: str) -> bool:
        """Whether the headline is this sentence with other digits."""
        sentence = (self.headline or "").rpartition(" (")[0]
        return self.headline is not None and not self.is_headline(said) and repeats(sentence, said)

    def is_headline(self, said: str) -> bool:
        """Whether the headline is this sentence."""
        return self.headline is not None and self.headline.startswith(f"{said} (")


@dataclass(frozen=True)
class CategoryGroup:
    """Categories that share an answer, with subgroups that share one more."""

    said: CategoryText
    """What all of them share, besides what is told above."""
    parts: "tuple[CategoryGroup | Telling, ...]"

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of the first and the last category."""
        return numbers_of(self.parts[0])[0], numbers_of(self.parts[-1])[1]


def groups_text(told: Iterable[Telling]) -> str:
    """The categories as blocks of text, with an empty line between the sides of the first question.

    What is told above a category, and of itself, is together true of exactly its records.
    """
    parts = nested(list(told))
    return "\n\n".join(one.alone() if isinstance(one, Telling) else "\n".join(_lines(one, "share")) for one in parts)


def _lines(group: CategoryGroup, share: str) -> Iterator[str]:
    english, *formula = group.said.lines()
    yield from _block(f"{names_of(group)} {share}: {english}", formula).splitlines()
    for one, other in (group.parts, reversed(group.parts)):
        if isinstance(one, Telling):
            yield from (f"  {line}" for line in one.beside(names_of(other)).split("\n"))
        else:
            yield from (f"  {line}" for line in _lines(one, "also share"))


def _block(head: str, *below: Sequence[str]) -> str:
    return "\n".join((head, *(f"    {line}" for lines in below for line in lines)))


def names_of(part: CategoryGroup | Telling) -> str:
    """`[1]`, `[1] and [2]`, `[1] to [5]`."""
    first, last = numbers_of(part)
    return f"[{first}]" if first == last else f"[{first}] {'and' if last == first + 1 else 'to'} [{last}]"


def numbers_of(part: CategoryGroup | Telling) -> tuple[int, int]:
    """The numbers of the first and the last category."""
    return (part.number, part.number) if isinstance(part, Telling) else part.numbers


def nested(told: Sequence[Telling]) -> tuple[CategoryGroup | Telling, ...]:
    """The categories of a tree, nested by its questions; if only some are given, each by itself.

    What is said of a category and of all groups around it is together true of exactly its records.
    """
    return _nested(told, 0) or tuple(told)


def _nested(told: Sequence[Telling], depth: int) -> tuple[CategoryGroup | Telling, ...] | None:
    """The two parts into which a question at this depth divides a group; None if not all of its leaves are there."""
    if len(told) == 1 and len(told[0].branches) <= depth:
        return (told[0].without_what_is_shared,)
    if any(len(one.branches) <= depth for one in told):
        return None
    parts: list[CategoryGroup | Telling] = []
    for truth in (True, False):
        side = [one for one in told if one.branches[depth][1] is truth]
        below = _nested(side, depth + 1) if side else None
        if below is None:
            return None
        parts.append(below[0] if len(below) == 1 else CategoryGroup(_noted(side, depth), below))
    return tuple(parts)


def _noted(side: Sequence[Telling], depth: int) -> CategoryText:
    """What categories share at a depth, with how often its conditions occur among the records of all of them."""
    said = side[0].steps[depth]
    found = [one.occurs.get(said.english) for one in side]
    known = [one for one in found if one is not None]
    note = reduce(Occurrence.__add__, known).beside("their") if len(known) == len(found) else ""
    return said._replace(english=said.english + note)


# ---- Categories in order: siblings together.


class Reached(Protocol):
    """What grouping needs to know of a category."""

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The formulas on the path from the root, and whether they are true."""


Member = TypeVar("Member", bound=Reached)


def grouped(categories: Iterable[Member]) -> Iterator[tuple[Member, ...]]:
    """The categories in order: two leaves of one question together, each other leaf alone.

    If that question is the only one, they share nothing to tell, and stand alone.
    """
    waiting: Member | None = None
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
