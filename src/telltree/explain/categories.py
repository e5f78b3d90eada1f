"""Categories: the leaves of a tree as clusters of records, each with the sentence that selects it."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.engine import Answers, Formula
from telltree.english.styles import Style, all_of, check_style, english
from telltree.explain.category_text import CategoryText, Telling, groups_text
from telltree.explain.headlines import APART
from telltree.explain.occurrence import Occurrence, Occurs, Open, left_open_of, occurred_in_training, occurs_in
from telltree.explain.sentence import sentence, signed
from telltree.logic import Expression
from telltree.logic.expression import conjunction
from telltree.panel import Panel
from telltree.panel.usable import may_be_missing
from telltree.text import counted, percent, visible
from telltree.tree.target import Summary, Sureness
from telltree.tree.tree import Branch, Tree


@dataclass(frozen=True, eq=False)
class Category:
    """A leaf: which records come to it, and why.

    What is known of how sure its prediction is are attributes too; of classes, those of
    `telltree.tree.class_target.ClassSureness`, such as `counts`, `share`, `interval`, `purity` and `lift`.
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
    sureness: Sureness
    """How sure the prediction is, by the labels of the members among all records of the panel, if they were given."""
    occurs: Mapping[str, Occurrence]
    """In how many of its records the conditions of its sentences occur, by sentence: "whenever A, B" says nothing of
    those in which A never holds.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "sureness":  # while it is being copied
            raise AttributeError(name)
        return getattr(self.sureness, name)

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
        return all_of(parts) if parts else None

    def __str__(self) -> str:
        """The category by itself, with its short description, or else the whole sentence, and its formula."""
        return visible(self.told.alone())

    @property
    def told(self) -> Telling:
        """The category in the form that text output uses."""
        size = f"{counted(len(self.positions), 'record')}, {percent(self.coverage)}"
        doubt = f"missing values leave answers open for {self.unknown:,} of them" if self.unknown else None
        figures = "; ".join(filter(None, [size, self.sureness.mixed, self.sureness.remark, doubt]))
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
    tree = tree.spoken_of(panel)
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
                sureness=leaf.summary.sureness(here, everyone, weighted=tree.weighted),
                occurs={text: often for text, claims in told if (often := occurs(claims, number)) is not None},
            )
        )
    return Categories(found)


def categories_text(categories: Iterable[Category]) -> str:
    """The categories as blocks of text: what some share above them, and for each what sets it apart."""
    return groups_text(category.told for category in categories)


def missing_columns(tree: Tree, panel: Panel) -> frozenset[str]:
    """The columns of the tree with missing or infinite values in the panel."""
    asked = [node.formula for node in tree.nodes]
    told = [leaf.headline.formula for leaf, _ in tree.leaves if leaf.headline is not None]
    return may_be_missing(
        panel.select(dict.fromkeys(name for f in (*asked, *told) for name in f.expression.attributes()))
    )


# ---- Short descriptions and headlines in words, with the records they are true of.


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
    return f"{tree.says(claim)} ({'; '.join(filter(None, [reach, occurrence.told()]))})"


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
