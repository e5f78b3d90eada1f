"""Categories: the leaves of a tree as clusters of records, each with a sentence that is true of exactly its records."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.engine import Answers, Formula
from telltree.english.styles import Style, all_of, check_style, english
from telltree.explain.category_text import CategoryText, Statement, groups_text
from telltree.explain.headlines import APART
from telltree.explain.notebook import categories_html
from telltree.explain.occurrence import (
    Occurrence,
    OccurrenceOf,
    Reach,
    UnknownCount,
    leaf_unknowns,
    occurrences_in,
    with_reach,
)
from telltree.explain.sentence import claims_of, sentence
from telltree.logic import Expression
from telltree.logic.expression import conjunction
from telltree.panel import Panel
from telltree.panel.column_checks import may_be_missing
from telltree.text import counted, percent, visible
from telltree.tree.target import Certainty, Summary
from telltree.tree.tree import Branch, Tree


@dataclass(frozen=True, eq=False)
class Category:
    """A leaf of the tree with the records that reach it, and sentences that describe them.

    The attributes of `certainty` are its own too; for classes, those of `telltree.tree.class_scores.ClassCertainty`,
    such as `counts`, `share`, `interval`, `purity` and `lift`.
    """

    number: int
    """The number of the leaf, from left to right, the true branch first, from 1."""
    summary: Summary
    """The leaf's summary of its training records."""
    branches: tuple[Branch, ...]
    """The formulas on the path from the root, each with its truth value."""
    description: str
    """The whole conjunction as a formula; "true" for a tree that is a single leaf."""
    english: str
    """The formula in English, without implied parts: true of exactly the category's records, for any data."""
    short: str
    """A sentence that tells its members from the other records at hand; for other records it may differ from `english`.
    The same as `english` if nothing is much shorter.
    """
    headline: str | None
    """A short sentence, with the shares of members and of other records that it is true of; None if there is none, as
    in the paper's style.
    """
    shared: str
    """All branches but the last in English: true of this category and of its sibling."""
    claim: Formula | None
    """The formula of the headline; None if there is none."""
    apart: str
    """The last branch in English: it sets the category apart from its sibling."""
    steps: tuple[str, ...]
    """Each branch by itself, in English."""
    open: tuple[UnknownCount | None, ...]
    """For each branch, the number of records that took it with an unknown answer; None if none can be unknown."""
    unknown: int
    """Number of its own records with an unknown answer on the path."""
    positions: NDArray[np.int64]
    """The positions of its records in the panel, in order."""
    members: NDArray[Any]
    """Their ids."""
    among: int
    """Number of records of the panel."""
    coverage: float
    """Their share of the panel's records."""
    certainty: Certainty
    """Figures on how sure the prediction is, from the labels of members and of all records, if labels were given."""
    occurs: Mapping[str, Occurrence]
    """Number of its records in which the conditions of its sentences occur, by sentence: "whenever A, B" says nothing
    of those in which A never holds.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "certainty":  # while it is being copied
            raise AttributeError(name)
        return getattr(self.certainty, name)

    @property
    def label(self) -> Any:
        """The prediction of the leaf."""
        return self.summary.predicted

    @property
    def title(self) -> str:
        """The name of the category: its label, or "mixed: A or B" if no class clearly prevails among its records."""
        return self.summary.title

    @property
    def formula(self) -> Expression | None:
        """The conjunction as one expression; None for a tree that is a single leaf."""
        claims = claims_of(self.branches)
        return all_of(claims) if claims else None

    def __str__(self) -> str:
        """Return the category by itself: its short description, or else the whole sentence, and its formula."""
        return visible(self.as_text.alone())

    @property
    def as_text(self) -> CategoryText:
        """The texts about the category, for printing it alone or in groups."""
        size = f"{counted(len(self.positions), 'record')}, {percent(self.coverage)}"
        doubt = f"missing values leave answers open for {self.unknown:,} of them" if self.unknown else None
        figures = "; ".join(filter(None, [size, self.certainty.mixed, self.certainty.remark, doubt]))
        claims = zip(self.steps, claims_of(self.branches), self.open, strict=True)
        return CategoryText(
            number=self.number,
            branches=self.branches,
            head=f"[{self.number}] {self.title}  ({figures})",
            headline=self.headline,
            whole=Statement(self.english, self.description),
            short=None if self.short == self.english else self.short,
            among=f"on these {counted(self.among, 'record')}",
            steps=tuple(
                Statement(step, str(claim), None if count is None else str(count)) for step, claim, count in claims
            ),
            claim=self.claim,
            occurs=self.occurs,
        )


class Categories(tuple[Category, ...]):
    """The categories of some records, in order; they print in groups, with shared claims once above each group."""

    __slots__ = ()

    def __str__(self) -> str:
        return visible(categories_text(self))

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the same groups, with whole sentences and formulas folded away."""
        return categories_html(category.as_text for category in self)


def categorize(
    tree: Tree,
    panel: Panel,
    y: ArrayLike | None = None,
    *,
    missing: Container[str] | None = None,
    style: Style = "plain",
    answers: Answers | None = None,
) -> Categories:
    """Return the categories of a panel's records: one for each leaf, in order, empty ones too.

    `y` are the records' labels, for figures on how sure predictions are. `missing` names the columns whose missing
    values English must mention: by default those with missing values in this panel. `style` is that of `english`; only
    plain English has headlines, short descriptions and the occurrence of conditions. `answers` are the records' answers
    to formulas, if they were computed before.
    """
    check_style(style)
    labels = None if y is None else tree.target.read(y, panel)
    everyone = None if labels is None else labels.summary()
    tree = tree.worded_for(panel)
    answers = Answers(tree.aligned(panel)) if answers is None else answers
    clusters = tree.apply_truth(answers.truth([node.formula.expression for node in tree.nodes]))
    may_miss = missing_columns(tree, panel) if missing is None else missing
    occurrence_of = occurrences_in(tree, clusters, answers, may_miss, panel.step)
    plain, nothing = style == "plain", [None] * len(tree.leaves)
    headlines = _headlines(tree, panel, clusters, may_miss, answers, occurrence_of=occurrence_of) if plain else nothing
    shorts = _short_descriptions(tree, panel, clusters, may_miss, answers) if plain else nothing
    unknowns = leaf_unknowns(tree, answers, may_miss)
    # cached, as siblings share all branches but one
    in_english = cache(partial(sentence, schema=tree.schema, missing=may_miss, style=style, step=panel.step))
    found = []
    for number, (leaf, branches) in enumerate(tree.leaves, 1):
        positions = np.flatnonzero(clusters == number)
        here = None if labels is None else labels[positions].summary()
        short = shorts[number - 1]
        conjunctions = (branches, branches[:-1], *((b,) for b in branches)) if plain else ()
        sentences = [(in_english(some), claims_of(some)) for some in conjunctions]
        if short is not None and leaf.short is not None:
            sentences.append((short, [leaf.short.expression]))
        found.append(
            Category(
                number=number,
                summary=leaf.summary,
                branches=branches,
                description=conjunction(claims_of(branches)),
                english=in_english(branches),
                short=short or in_english(branches),
                headline=headlines[number - 1],
                claim=None if headlines[number - 1] is None or leaf.headline is None else leaf.headline.formula,
                shared=in_english(branches[:-1]),
                apart=in_english(branches[-1:]),
                steps=tuple(in_english((branch,)) for branch in branches),
                open=unknowns[number - 1].branches,
                unknown=int(unknowns[number - 1].unknown.sum()),
                positions=positions,
                members=panel.ids[positions],
                among=len(panel),
                coverage=len(positions) / len(panel) if len(panel) else 0.0,
                certainty=leaf.summary.certainty(here, everyone, weighted=tree.weighted),
                occurs={
                    text: occurrence
                    for text, claims in sentences
                    if (occurrence := occurrence_of(claims, number)) is not None
                },
            )
        )
    return Categories(found)


def categories_text(categories: Iterable[Category]) -> str:
    """Return the categories as blocks of text: shared claims above several, and for each what sets it apart."""
    return groups_text(category.as_text for category in categories)


def missing_columns(tree: Tree, panel: Panel) -> frozenset[str]:
    """Return the columns of the tree that have missing or infinite values in the panel."""
    questions = [node.formula for node in tree.nodes]
    headlines = [leaf.headline.formula for leaf, _ in tree.leaves if leaf.headline is not None]
    return may_be_missing(
        panel.select(dict.fromkeys(name for f in (*questions, *headlines) for name in f.expression.attributes()))
    )


# ---- Headlines and short descriptions in words.


def _headlines(
    tree: Tree,
    panel: Panel,
    clusters: NDArray[np.int64],
    missing: Container[str],
    answers: Answers,
    *,
    occurrence_of: OccurrenceOf,
) -> list[str | None]:
    """Return the headline of each leaf, in order, with its reach among the records of a panel; None if there is none.

    A headline is left out if it is true of less than half of the leaf's records in this panel, or if its condition
    occurs in less than half of them.
    """
    candidates = [leaf.headline for leaf, _ in tree.leaves]
    formulas = [headline.formula.expression for headline in candidates if headline is not None]
    truth = iter(answers.truth(formulas))
    found: list[str | None] = []
    for number, headline in enumerate(candidates, 1):
        if headline is None:
            found.append(None)
            continue
        holds, here = next(truth), clusters == number
        inside, members, others, elsewhere = (
            int(np.count_nonzero(w)) for w in (holds & here, here, holds & ~here, ~here)
        )
        occurrence = occurrence_of([headline.formula.expression], number)
        if occurrence is None or min((inside, *occurrence.counts)) < APART * members:
            found.append(None)
            continue
        text = english(headline.formula, tree.schema, missing, step=panel.step)
        found.append(with_reach(text, Reach(inside, members, others, elsewhere), occurrence))
    return found


def _short_descriptions(
    tree: Tree, panel: Panel, clusters: NDArray[np.int64], missing: Container[str], answers: Answers
) -> list[str | None]:
    """Return the short description of each leaf, in order; None unless it is true of exactly its records here."""
    candidates = [leaf.short for leaf, _ in tree.leaves]
    formulas = [short.expression for short in candidates if short is not None]
    truth = iter(answers.truth(formulas))
    return [
        english(short, tree.schema, missing, step=panel.step)
        if short is not None and np.array_equal(next(truth), clusters == number)
        else None
        for number, short in enumerate(candidates, 1)
    ]
