"""Categories: the leaves of a tree as clusters of records, each with the sentence that selects it."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, reduce
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.engine import Answers, Formula
from telltree.english import conditions, implication, repeats, term_of
from telltree.english.tokens import with_open
from telltree.explain.english import Style, are_said_exactly, check_style, english, english_of_all, static_columns
from telltree.explain.headlines import APART
from telltree.logic import Expression, UserFunction
from telltree.logic.expression import conjunction
from telltree.logic.operators import AND, NOT
from telltree.panel import Panel, Schema
from telltree.panel.column_checks import may_be_missing
from telltree.panel.dates import StepLength
from telltree.text import counted, percent, visible
from telltree.tree.target import Certainty, Summary
from telltree.tree.tree import Branch, Leaf, Node, Tree, UnsureBranch, are_siblings

# ---- How often the condition of a sentence occurs: "whenever A, B" says nothing of a record in which A never holds.


class Occurrence(NamedTuple):
    """In how many of some records each condition of a sentence occurs; no conditions: it says something of all."""

    times: tuple[int, ...]
    records: int

    def __add__(self, other: object) -> "Occurrence":
        """The same sentence, for the records of both."""
        assert isinstance(other, Occurrence)
        return Occurrence(
            tuple(a + b for a, b in zip(self.times, other.times, strict=True)), self.records + other.records
        )

    def told(self, whose: str = "its") -> str:
        """In words: "the condition occurs in 3 of its 25 members"; "" if there is none, or there are no records."""
        if not self.times or not self.records:
            return ""
        conditions = "the condition occurs" if len(self.times) == 1 else "the conditions occur"
        if set(self.times) == {self.records}:
            return f"{conditions} in all of {whose} members"
        each = [f"{times:,}" if times else "none" for times in self.times]
        listed = " and ".join(filter(None, [", ".join(each[:-1]), each[-1]]))
        return f"{conditions} in {listed} of {whose} {counted(self.records, 'member')}"

    def beside(self, whose: str = "its") -> str:
        """What to add to an exact sentence: nothing where each condition occurs in every record."""
        return f" ({self.told(whose)})" if set(self.times) - {self.records} and self.records else ""


Occurs: TypeAlias = Callable[[Sequence[Expression], int], Occurrence | None]
"""How often the conditions of the sentence that says some claims occur among the members of a category, by its number;
None if that is not known."""


def conditions_of(
    claims: Sequence[Expression], schema: Schema, missing: Container[str] | None, step: StepLength | None
) -> tuple[Expression, ...]:
    """Formulas that are true of the records in which the conditions of a sentence occur."""
    if not claims:
        return ()
    whole = reduce(lambda left, right: Expression(AND, (left, right)), claims)
    return conditions(term_of(whole, missing, static=static_columns(schema)), schema, step=step, missing=missing)


def occurs_in(
    tree: Tree,
    clusters: NDArray[np.int64],
    answers: Answers,
    missing: Container[str] | None,
    step: StepLength | None,
) -> Occurs:
    """How often conditions occur among records, given the category of each and their answers."""
    support = np.bincount(clusters, minlength=len(tree.leaves) + 1)

    @cache
    def times(claims: tuple[Expression, ...]) -> tuple[NDArray[np.int64], ...]:
        found = conditions_of(claims, tree.schema, missing, step)
        truth = answers.truth(found) if found else ()
        return tuple(np.bincount(clusters[holds], minlength=len(tree.leaves) + 1) for holds in truth)

    def occurs(claims: Sequence[Expression], number: int) -> Occurrence:
        return Occurrence(tuple(int(each[number]) for each in times(tuple(claims))), int(support[number]))

    return occurs


def occurred_in_training(tree: Tree) -> Occurs:
    """The same, of the training records, as the leaves of the tree keep it."""

    def occurs(claims: Sequence[Expression], number: int) -> Occurrence | None:
        leaf: Leaf = tree.leaves[number - 1][0]
        known = {str(condition.formula): condition.members for condition in leaf.conditions}
        found = [known.get(str(condition)) for condition in tree.conditions(*claims)]
        return Occurrence(tuple(n for n in found if n is not None), leaf.support) if None not in found else None

    return occurs


# ---- What missing values leave open: claims about a category that are unknown of some of its records, and of how
# many.
#
# With `missing="unknown"`, records whose answer to a question is unknown go one of its ways. What is told of those
# that went it is so "unless missing values leave it open", with the number of records of which they do.


def left_open(branch: Branch, missing: Container[str] | None) -> Expression | None:
    """What is claimed of the records that went this way, if it is unknown of some; None if it is known of all.

    `missing` names the columns that may miss values (None: any may).
    """
    if not isinstance(branch, UnsureBranch) or not branch.takes_unknown:
        return None
    said = branch.node.shown.expression
    gaps = missing is None or any(name in missing for name in said.attributes())
    if not gaps and not any(isinstance(part.head, UserFunction) for part in said.walk()):
        return None
    return said if branch[1] else Expression(NOT, (said,))


class Open(NamedTuple):
    """Of how many of the records that went one way the answer is unknown."""

    unknown: int
    records: int

    def __str__(self) -> str:
        some = f"{self.unknown:,}" if self.unknown else "none"
        return f"open for {some} of {counted(self.records, 'record')}"


class LeftOpen(NamedTuple):
    """What missing values leave open about the records of a leaf."""

    branches: tuple[Open | None, ...]
    """For each branch on the way, counted where it parts from the other; None if nothing is unknown there."""
    unknown: NDArray[np.bool_]
    """Which records come to this leaf, and have an unknown answer on the way."""


def left_open_of(tree: Tree, answers: Answers, missing: Container[str] | None) -> list[LeftOpen]:
    """What missing values leave open about the records of each leaf, in order."""
    truth = answers.truth([node.formula.expression for node in tree.nodes])
    passes, met = tree.passes_truth(truth), tree.unknown_truth(answers.truth)
    places = iter(range(passes.shape[1]))

    def below(
        node: Node | Leaf, place: int, above: tuple[Open | None, ...], unsure: NDArray[np.bool_]
    ) -> Iterator[LeftOpen]:
        if isinstance(node, Leaf):
            yield LeftOpen(above, passes[:, place] & unsure)
            return
        for side, truth in ((node.true, True), (node.false, False)):
            branch, here = UnsureBranch(node, truth), next(places)
            told = Open(int((met[:, place] & passes[:, here]).sum()), int(passes[:, here].sum()))
            ways = (*above, None if left_open(branch, missing) is None else told)
            yield from below(side, here, ways, unsure | met[:, place])

    return list(below(tree.root, next(places), (), np.zeros(len(passes), np.bool_)))


def open_in_training(branches: Sequence[Branch], missing: Container[str] | None) -> list[Open | None]:
    """The same of the training records that went each of these ways."""
    found: list[Open | None] = []
    for branch in branches:
        told = None
        if isinstance(branch, UnsureBranch) and left_open(branch, missing) is not None:
            side = branch.node.true if branch[1] else branch.node.false
            assert branch.node.unknown is not None
            told = Open(branch.node.unknown.records, side.summary.support)
        found.append(told)
    return found


# ---- Short descriptions in words: what tells a category's records from the others at hand, in fewer words.


def shorts_of(
    tree: Tree, panel: Panel, clusters: NDArray[np.int64], missing: Container[str], answers: Answers
) -> list[str | None]:
    """The short description of each leaf, in order, if it is true of its records of this panel and of no others here.

    None where it is not, or where there is none. `missing` names the columns that may miss values in the panel;
    `answers` are those of its records.
    """
    shown = [leaf.short for leaf, _ in tree.leaves]
    formulas = [short.expression for short in shown if short is not None]
    truth = iter(answers.truth(formulas))
    return [
        english(short, tree.schema, missing, step=panel.step)
        if short is not None and np.array_equal(next(truth), clusters == number)
        else None
        for number, short in enumerate(shown, 1)
    ]


# ---- Headlines in words: a short sentence for each category, and which records it is true of.


def headline_text(tree: Tree, number: int) -> str | None:
    """The headline of a leaf, with the shares of its training records and of others that it is true of.

    None if it has none, or if its condition has not been counted: it may be true because that never occurs.
    """
    leaf, _ = tree.leaves[number - 1]
    if leaf.headline is None:
        return None
    headline, claim = leaf.headline, leaf.headline.formula.expression
    occurrence = occurred_in_training(tree)([claim], number)
    if occurrence is None:
        return None
    reach = _reach(leaf.support - headline.missed, leaf.support, headline.others, headline.elsewhere)
    return f"{tree.sentence(claim)} ({'; '.join(filter(None, [reach, occurrence.told()]))})"


def headlines_of(
    tree: Tree, panel: Panel, clusters: NDArray[np.int64], missing: Container[str], answers: Answers, *, occurs: Occurs
) -> list[str | None]:
    """The headline of each leaf, in order, with its reach among the records of a panel; None where there is none.

    A headline that is true of less than half of the leaf's records in this panel is none here, nor is one whose
    condition occurs in less than half of them. `missing` names the columns that may miss values in the panel; `answers`
    are those of its records.
    """
    shown = [leaf.headline for leaf, _ in tree.leaves]
    formulas = [headline.formula.expression for headline in shown if headline is not None]
    truth = iter(answers.truth(formulas))
    found: list[str | None] = []
    for number, headline in enumerate(shown, 1):
        if headline is None:
            found.append(None)
            continue
        holds, here = next(truth), clusters == number
        inside, members, others, elsewhere = (
            int(np.count_nonzero(w)) for w in (holds & here, here, holds & ~here, ~here)
        )
        occurrence = occurs([headline.formula.expression], number)
        if occurrence is None or min((inside, *occurrence.times)) < APART * members:
            found.append(None)
            continue
        said = english(headline.formula, tree.schema, missing, step=panel.step)
        reach = _reach(inside, members, others, elsewhere)
        found.append(f"{said} ({'; '.join(filter(None, [reach, occurrence.told()]))})")
    return found


def _reach(inside: int, members: int, others: int, elsewhere: int) -> str:
    """How many records a headline is true of: `all of its members, 1 % of the others`."""
    own = f"{_share(inside, members)} of its members" if members else "no members here"
    return f"{own}, {_share(others, elsewhere)} of the others" if elsewhere else own


def _share(some: int, whole: int) -> str:
    return "none" if not some else "all" if some == whole else percent(some / whole, 0)


# ---- Categories in groups: what siblings share is told once above them, and for each what sets it apart.


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
        if not shared and self.claim is not None and above:
            shared = implication.follows(self.claim.expression, signed(self.branches[:-1]))
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


def numbers_of(part: CategoryGroup | Telling) -> tuple[int, int]:
    """The numbers of the first and the last category."""
    return (part.number, part.number) if isinstance(part, Telling) else part.numbers


def names_of(part: CategoryGroup | Telling) -> str:
    """`[1]`, `[1] and [2]`, `[1] to [5]`."""
    first, last = numbers_of(part)
    return f"[{first}]" if first == last else f"[{first}] {'and' if last == first + 1 else 'to'} [{last}]"


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


# ---- Categories: the leaves of a tree as clusters of records, each with the sentence that selects it.


@dataclass(frozen=True, eq=False)
class Category:
    """A leaf: which records come to it, and why.

    What is known of how sure its prediction is are attributes too; of classes, those of
    `telltree.tree.class_scores.ClassCertainty`, such as `counts`, `share`, `interval`, `purity` and `lift`.
    """

    number: int
    """Of the leaf: from left to right, the true branch first, from 1."""
    summary: Summary
    """What the leaf says of its training records."""
    branches: tuple[Branch, ...]
    """The formulas on the path from the root, and whether they are true."""
    description: str
    """The whole conjunction as text; "true" for a tree that is a single leaf."""
    english: str
    """The same in English, without what follows from the rest: true of exactly the category's records, for any data."""
    short: str
    """What tells its members from the other records at hand; for other records it may differ from `english`. The same
    as `english` if nothing is much shorter.
    """
    headline: str | None
    """A short sentence, with the shares of members and of other records that it is true of; None if there is none, as
    in the paper's style.
    """
    shared: str
    """What is true of this category and of its sibling, in English: all branches but the last."""
    claim: Formula | None
    """What the headline says; None if there is none."""
    apart: str
    """What sets it apart from its sibling, in English: the last branch."""
    steps: tuple[str, ...]
    """Each branch by itself, in English."""
    open: tuple[Open | None, ...]
    """For each branch, of how many of the records that went this way it is unknown; None if of none it could be."""
    unknown: int
    """How many of its own records have an unknown answer on the way."""
    positions: NDArray[np.int64]
    """The positions of its records in the panel, in order."""
    members: NDArray[Any]
    """Their ids."""
    among: int
    """How many records the panel has."""
    coverage: float
    """Their share of the panel's records."""
    certainty: Certainty
    """How sure the prediction is, by the labels of the members among all records of the panel, if they were given."""
    occurs: Mapping[str, Occurrence]
    """In how many of its records the conditions of its sentences occur, by sentence: "whenever A, B" says nothing of
    those in which A never holds.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "certainty":  # while it is being copied
            raise AttributeError(name)
        return getattr(self.certainty, name)

    @property
    def label(self) -> Any:
        """What the leaf predicts."""
        return self.summary.predicted

    @property
    def title(self) -> str:
        """What the category is called: its label, or "mixed: A or B" where its records are hardly more one than the
        other.
        """
        return self.summary.title

    @property
    def formula(self) -> Expression | None:
        """The conjunction as one expression; None for a tree that is a single leaf."""
        parts = signed(self.branches)
        return reduce(_both, parts) if parts else None

    def __str__(self) -> str:
        """The category by itself, with its short description, or else the whole sentence, and its formula."""
        return visible(self.told.alone())

    @property
    def told(self) -> Telling:
        """The category in the form that text output uses."""
        size = f"{counted(len(self.positions), 'record')}, {percent(self.coverage)}"
        doubt = f"missing values leave answers open for {self.unknown:,} of them" if self.unknown else None
        figures = "; ".join(filter(None, [size, self.certainty.mixed, self.certainty.remark, doubt]))
        claims = zip(self.steps, signed(self.branches), self.open, strict=True)
        return Telling(
            number=self.number,
            branches=self.branches,
            head=f"[{self.number}] {self.title}  ({figures})",
            headline=self.headline,
            whole=CategoryText(self.english, self.description),
            short=None if self.short == self.english else self.short,
            among=f"on these {counted(self.among, 'record')}",
            steps=tuple(
                CategoryText(step, str(claim), None if some is None else str(some)) for step, claim, some in claims
            ),
            claim=self.claim,
            occurs=self.occurs,
        )


class Categories(tuple[Category, ...]):
    """The categories of some records, in order; printed in groups, with what several share once above them."""

    __slots__ = ()

    def __str__(self) -> str:
        return visible(categories_text(self))

    def _repr_html_(self) -> str:
        """For notebooks: the same groups, with whole sentences and formulas folded away."""
        from telltree.explain.notebook import categories_html

        return categories_html(self)


def categorize(
    tree: Tree,
    panel: Panel,
    y: ArrayLike | None = None,
    *,
    missing: Container[str] | None = None,
    style: Style = "plain",
    answers: Answers | None = None,
) -> Categories:
    """The categories of a panel's records: one for each leaf, in order, empty ones too.

    `y` are the records' labels, for how sure predictions are. `missing` names the columns of which English must allow
    that values are missing: by default those that do miss values in this panel. `style` is that of `english`; what
    describes records in few words, and how often conditions occur, is told in plain English alone. `answers` of the
    records, as the tree reads them, need not be worked out again.
    """
    check_style(style)
    labels = None if y is None else tree.target.read(y, panel)
    everyone = None if labels is None else labels.summary()
    tree = tree.worded_for(panel)
    answers = Answers(tree.aligned(panel)) if answers is None else answers
    clusters = tree.apply_truth(answers.truth([node.formula.expression for node in tree.nodes]))
    unsure = missing_columns(tree, panel) if missing is None else missing
    occurs = occurs_in(tree, clusters, answers, unsure, panel.step)
    plain, nothing = style == "plain", [None] * len(tree.leaves)
    headlines = headlines_of(tree, panel, clusters, unsure, answers, occurs=occurs) if plain else nothing
    shorts = shorts_of(tree, panel, clusters, unsure, answers) if plain else nothing
    doubts = left_open_of(tree, answers, unsure)
    # siblings share most of it
    said = cache(partial(sentence, schema=tree.schema, missing=unsure, style=style, step=panel.step))
    found = []
    for number, (leaf, branches) in enumerate(tree.leaves, 1):
        positions = np.flatnonzero(clusters == number)
        here = None if labels is None else labels[positions].summary()
        short = shorts[number - 1]
        spoken = (branches, branches[:-1], *((b,) for b in branches)) if plain else ()
        told = [(said(some), signed(some)) for some in spoken]
        if short is not None and leaf.short is not None:
            told.append((short, [leaf.short.expression]))
        found.append(
            Category(
                number=number,
                summary=leaf.summary,
                branches=branches,
                description=conjunction(signed(branches)),
                english=said(branches),
                short=short or said(branches),
                headline=headlines[number - 1],
                claim=None if headlines[number - 1] is None or leaf.headline is None else leaf.headline.formula,
                shared=said(branches[:-1]),
                apart=said(branches[-1:]),
                steps=tuple(said((branch,)) for branch in branches),
                open=doubts[number - 1].branches,
                unknown=int(doubts[number - 1].unknown.sum()),
                positions=positions,
                members=panel.ids[positions],
                among=len(panel),
                coverage=len(positions) / len(panel) if len(panel) else 0.0,
                certainty=leaf.summary.certainty(here, everyone, weighted=tree.weighted),
                occurs={text: often for text, claims in told if (often := occurs(claims, number)) is not None},
            )
        )
    return Categories(found)


def categories_text(categories: Iterable[Category]) -> str:
    """The categories as blocks of text: what some share above them, and for each what sets it apart."""
    return groups_text(category.told for category in categories)


def signed(branches: Iterable[Branch]) -> list[Expression]:
    """The formulas of branches as expressions that are true; negated where the formula is false."""
    return [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]


def redundant(branches: Sequence[Branch]) -> list[bool]:
    """Select the branches to leave out: together they follow from those that stay, for every possible record.

    A branch is a formula and whether it is true. Earlier branches, which say less about a category, are left out first.
    """
    return implication.redundant(signed(branches))


def shown(branches: Sequence[Branch]) -> tuple[Branch, ...]:
    """Select the branches to show, in order: the others follow from them. At least the last one stays."""
    kept = [branch for branch, follows in zip(branches, redundant(branches), strict=True) if not follows]
    return tuple(kept or branches[-1:])


def sentence(
    branches: Sequence[Branch],
    schema: Schema,
    missing: Container[str] | None = None,
    *,
    style: Style = "plain",
    step: StepLength | None = None,
) -> str:
    """A conjunction of branches in English, without what follows from the rest; see `english` for the options.

    What is unknown of some of the records that went this way is told as what may be left open.
    """
    check_style(style)
    if not branches:
        return "every record"
    if style == "paper" or any(left_open(branch, missing) is not None for branch in branches):
        branches = shown(branches)
    known, doubts = list[Expression](), list[Expression]()
    for branch in branches:
        claim = left_open(branch, missing)
        if claim is not None and (style == "paper" or are_said_exactly([*doubts, claim], schema, missing, step)):
            doubts.append(claim)
        else:
            known += signed([branch])
    if style == "paper":
        return with_open(
            *("; and ".join(english(e, schema, missing, style="paper") for e in some) for some in (known, doubts))
        )
    said = english(reduce(_both, known), schema, missing, style=style, step=step) if known else ""
    return with_open(said, english_of_all(doubts, schema, step=step) if doubts else "")


def _both(left: Expression, right: Expression) -> Expression:
    return Expression(AND, (left, right))


def missing_columns(tree: Tree, panel: Panel) -> frozenset[str]:
    """The columns of the tree with missing or infinite values in the panel."""
    asked = [node.formula for node in tree.nodes]
    told = [leaf.headline.formula for leaf, _ in tree.leaves if leaf.headline is not None]
    return may_be_missing(
        panel.select(dict.fromkeys(name for f in (*asked, *told) for name in f.expression.attributes()))
    )
