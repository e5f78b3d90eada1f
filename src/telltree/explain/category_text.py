"""Categories as text: each by itself, or nested in groups whose shared claims come once above them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple, Protocol, TypeVar

from telltree.engine import Formula
from telltree.english import implication, repeats
from telltree.explain.occurrence import Occurrence
from telltree.explain.sentence import claims_of
from telltree.tree.tree import Branch, are_siblings


class Statement(NamedTuple):
    """A claim about the records of a category, in English and, if requested, as a formula."""

    english: str
    formula: str | None = None
    doubt: str | None = None
    """The number of records for which it is unknown, in words; None if it cannot be unknown."""

    @property
    def sentence(self) -> str:
        """The English, with the number of records for which it is unknown."""
        return self.english if self.doubt is None else f"{self.english} ({self.doubt})"

    def lines(self, before: str = "") -> list[str]:
        """Return the sentence after an introduction, and the formula below it."""
        return [before + self.sentence, *([] if self.formula is None else [self.formula])]


@dataclass(frozen=True)
class CategoryText:
    """The texts about a category: its class and figures in one line, its headline, and its statements."""

    number: int
    branches: tuple[Branch, ...]
    head: str
    headline: str | None
    whole: Statement
    """True of exactly its records, for any data."""
    short: str | None
    """A shorter sentence that is true of the same records among those at hand; None if there is none."""
    among: str
    """The records at hand: "on the 400 training records"."""
    steps: tuple[Statement, ...]
    """Each branch by itself."""
    claim: Formula | None = None
    """The formula of the headline."""
    occurs: Mapping[str, Occurrence] = field(default_factory=dict)
    """The occurrence of the conditions of sentences among its records, by sentence."""

    def with_note(self, sentence: str) -> str:
        """Return a sentence with a note on the occurrence of its conditions, unless they occur in every record."""
        found = self.occurs.get(sentence)
        return sentence if found is None else sentence + found.note()

    def alone(self, *, whole: bool = False) -> str:
        """Return the category by itself; the exact sentence only if `whole`, or if there is no short one."""
        concise = self.without_repeated_headline(self.whole.english, *([] if self.short is None else [self.short]))
        if concise is not self:
            return concise.alone(whole=whole)
        described = (
            []
            if self.short is None or self.is_headline(self.short)
            else [f"{self.among}: {self.with_note(self.short)}"]
        )
        noted = self.whole._replace(english=self.with_note(self.whole.english))
        exactly = noted.lines("" if self.headline is None and self.short is None else "exactly: ")
        if self.is_headline(self.whole.english) or (self.short is not None and not whole):
            del exactly[0]
        return _block(self.head, self._headline, described, exactly)

    def unlike(self, others: str) -> str:
        """Return the category with what sets it apart from its siblings, once if that is the headline too."""
        if self._repeats(self.steps[-1].english):
            return replace(self, headline=None).unlike(others)
        headline, (apart, *formula) = self._headline, self.steps[-1].lines()
        if self.headline is not None and self.is_headline(apart):
            headline, apart = [], self.headline
        else:
            apart = self.with_note(apart)
        return _block(self.head, headline, [f"unlike {others}: {apart}", *formula])

    @property
    def _headline(self) -> list[str]:
        return [] if self.headline is None else [self.headline]

    @property
    def without_shared_headline(self) -> "CategoryText":
        """The text, without its headline if that holds for a whole group around the category."""
        above = [statement.english for statement in self.steps[:-1]]
        shared = any(self.is_headline(sentence) or self._repeats(sentence) for sentence in above)
        shared = shared or (
            self.claim is not None
            and bool(above)
            and implication.follows(self.claim.expression, claims_of(self.branches[:-1]))
        )
        return replace(self, headline=None) if shared else self

    def without_repeated_headline(self, *sentences: str) -> "CategoryText":
        """Return the same without a headline that is one of these sentences with other digits."""
        return replace(self, headline=None) if any(map(self._repeats, sentences)) else self

    def _repeats(self, sentence: str) -> bool:
        """Return True if the headline is this sentence with other digits."""
        own = (self.headline or "").rpartition(" (")[0]
        return self.headline is not None and not self.is_headline(sentence) and repeats(own, sentence)

    def is_headline(self, sentence: str) -> bool:
        """Return True if the headline is this sentence."""
        return self.headline is not None and self.headline.startswith(f"{sentence} (")


@dataclass(frozen=True)
class CategoryGroup:
    """Categories that share an answer, with subgroups that share one more."""

    shared: Statement
    """The statement that all of them share, besides those of the groups around."""
    parts: "tuple[CategoryGroup | CategoryText, ...]"

    @property
    def numbers(self) -> tuple[int, int]:
        """The numbers of the first and the last category."""
        return _numbers_of(self.parts[0])[0], _numbers_of(self.parts[-1])[1]


def groups_text(categories: Iterable[CategoryText]) -> str:
    """Return the categories as blocks of text, with an empty line between the sides of the first question.

    The statements above a category and its own, taken together, are true of exactly its records.
    """
    parts = nested(list(categories))
    return "\n\n".join(
        part.alone() if isinstance(part, CategoryText) else "\n".join(_lines(part, "share")) for part in parts
    )


def _lines(group: CategoryGroup, verb: str) -> Iterator[str]:
    english, *formula = group.shared.lines()
    yield from _block(f"{names_of(group)} {verb}: {english}", formula).splitlines()
    for one, other in (group.parts, reversed(group.parts)):
        if isinstance(one, CategoryText):
            yield from (f"  {line}" for line in one.unlike(names_of(other)).split("\n"))
        else:
            yield from (f"  {line}" for line in _lines(one, "also share"))


def _block(head: str, *below: Sequence[str]) -> str:
    return "\n".join((head, *(f"    {line}" for lines in below for line in lines)))


def names_of(part: CategoryGroup | CategoryText) -> str:
    """Return `[1]`, `[1] and [2]`, or `[1] to [5]`."""
    first, last = _numbers_of(part)
    return f"[{first}]" if first == last else f"[{first}] {'and' if last == first + 1 else 'to'} [{last}]"


def _numbers_of(part: CategoryGroup | CategoryText) -> tuple[int, int]:
    return (part.number, part.number) if isinstance(part, CategoryText) else part.numbers


def nested(categories: Sequence[CategoryText]) -> tuple[CategoryGroup | CategoryText, ...]:
    """Return the categories of a tree, nested by its questions; if some are missing, each by itself.

    The statements of a category and of all groups around it, taken together, are true of exactly its records.
    """
    return _nested(categories, 0) or tuple(categories)


def _nested(categories: Sequence[CategoryText], depth: int) -> tuple[CategoryGroup | CategoryText, ...] | None:
    """Return the two sides of the question at this depth; None if a leaf below it is missing."""
    if len(categories) == 1 and len(categories[0].branches) <= depth:
        return (categories[0].without_shared_headline,)
    if any(len(category.branches) <= depth for category in categories):
        return None
    parts: list[CategoryGroup | CategoryText] = []
    for truth in (True, False):
        side = [category for category in categories if category.branches[depth][1] is truth]
        below = _nested(side, depth + 1) if side else None
        if below is None:
            return None
        parts.append(below[0] if len(below) == 1 else CategoryGroup(_shared(side, depth), below))
    return tuple(parts)


def _shared(side: Sequence[CategoryText], depth: int) -> Statement:
    """Return the statement that categories share at a depth, with the occurrence of its conditions in all of them."""
    statement = side[0].steps[depth]
    found = [category.occurs.get(statement.english) for category in side]
    known = [occurrence for occurrence in found if occurrence is not None]
    note = reduce(Occurrence.__add__, known).note("their") if len(known) == len(found) else ""
    return statement._replace(english=statement.english + note)


# ---- Siblings next to each other.


class HasBranches(Protocol):
    """A category of any kind, as far as grouping is concerned."""

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The formulas on the path from the root, each with its truth value."""


Member = TypeVar("Member", bound=HasBranches)


def grouped(categories: Iterable[Member]) -> Iterator[tuple[Member, ...]]:
    """Yield the categories in order: two leaves of one question together, each other leaf alone.

    If that question is the root, they share no statement, and come alone.
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
