"""Sentences, and how they are joined by "and" or "or" to a text.

What several of them share is said once: a subject, "whenever", "at some point".
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from telltree.speech.terms import Term
from telltree.speech.verbs import Clause
from telltree.speech.vocabulary import SHARED_VERBS
from telltree.speech.wording import Wording
from telltree.speech.words import OR_AT_THE_START, QUOTED, joins_items

_POINT, _FEWEST_GATHERED = "at some point ", 3


@dataclass(frozen=True, slots=True)
class Said:
    """Words, and how hard they are to follow: 1 for each word, 3 for a negation, 2 for a nested list."""

    text: str
    cost: int
    about: Wording | None = None
    """if the sentence says when one literal holds: that literal"""
    given: str = ""
    """of "whenever A, B", the A"""
    adverb: str = ""
    """"never" or "always", if the sentence says so of a Boolean column"""
    conditions: tuple[Term, ...] = ()
    """what must hold at some step for it to say anything: of "whenever A, B", the A"""

    def __add__(self, other: "Said | str") -> "Said":
        more = other if isinstance(other, Said) else said(other)
        text = f"{self.text} {more.text}" if self.text else more.text
        return Said(text, self.cost + more.cost, conditions=(*self.conditions, *more.conditions))

    def mark(self, mark: str) -> "Said":
        """The same, followed by a comma or semicolon."""
        return replace(self, text=self.text + mark)


def said(text: str, more: int = 0) -> Said:
    """Words, and their cost beyond their number."""
    return Said(text, len(text.split()) + more)


def with_shared_subjects(sentences: list[Said]) -> list[Said]:
    """Sentences about one subject, merged."""
    return _with_shared_rules(_with_shared_adverbs(sentences))


def _with_shared_adverbs(sentences: list[Said]) -> list[Said]:
    """Sentences with "never" or "always" about one subject, merged: "the valve is never open or stuck"."""
    found: dict[Hashable, list[tuple[Said, Clause]]] = {}
    for i, sentence in enumerate(sentences):
        about = sentence.about if sentence.adverb else None
        clause = Clause("", "", "") if about is None or about.joined else about.clause
        shared = (clause.opening, sentence.adverb) if clause.verb in SHARED_VERBS else i
        found.setdefault(shared, []).append((sentence, clause))
    return [alike[0][0] if len(alike) == 1 else _one_adverb(alike) for alike in found.values()]


def _one_adverb(alike: list[tuple[Said, Clause]]) -> Said:
    sentence, clause = alike[0]
    predicates = [said(clause.predicate) for _, clause in alike]
    joint = "or" if sentence.adverb == "never" else "and"
    return said(f"{clause.opening} {sentence.adverb}") + listed(predicates, joint)


def _with_shared_rules(sentences: list[Said]) -> list[Said]:
    """Sentences with "whenever" about one signal, merged: "x is low whenever A, and up whenever B"."""
    found: dict[str | int, list[tuple[Said, Clause]]] = {}
    for i, sentence in enumerate(sentences):
        about = sentence.about if sentence.given else None
        clause = Clause("", "", "") if about is None or about.joined else about.clause
        shared = clause.verb == "is" and clause.subject != "it"
        found.setdefault(clause.subject if shared else i, []).append((sentence, clause))
    return [rules[0][0] if len(rules) == 1 else _one_rule(rules) for rules in found.values()]


def _one_rule(rules: list[tuple[Said, Clause]]) -> Said:
    parts = [f"{clause.predicate} whenever {sentence.given}" for sentence, clause in rules]
    given = tuple(condition for sentence, _ in rules for condition in sentence.conditions)
    return replace(said(f"{rules[0][1].subject} is {', and '.join(parts)}"), conditions=given)


def gathered(sentences: list[Said]) -> list[Said]:
    """Sentences that each hold at some point, merged into one that says so once; it goes to the end of the text."""
    points = [sentence for sentence in sentences if sentence.text.startswith(_POINT)]
    if len(points) < _FEWEST_GATHERED:
        return sentences
    verbless = [point.about.verbless if point.about is not None else None for point in points]
    if all(verbless):
        bare = [said(text) for text in verbless if text]
    else:
        bare = [
            replace(point, text=point.text.removeprefix(_POINT), cost=point.cost - len(_POINT.split()), about=None)
            for point in points
        ]
    rest = [sentence for sentence in sentences if sentence not in points]
    return [*rest, said("each at some point:") + bare[0], *bare[1:]]


def all_true(sentences: list[Said]) -> Said:
    """Sentences joined by "and", with semicolons where commas would be misread."""
    if len(sentences) == 2 and not any("," in sentence.text or " while " in sentence.text for sentence in sentences):
        return sentences[0].mark(",") + "and" + sentences[1]
    *first, last = sentences
    text = Said("", 0)
    for sentence in first:
        text = text + sentence.mark(";")
    return text + "and" + last if first else last


def one_true(sentences: list[Said]) -> Said:
    """Sentences joined by "or"."""
    text = sentences[0]
    for sentence in sentences[1:]:
        text = text.mark(";") + "or" + sentence
    return text


def listed(parts: Sequence[Said], joint: str) -> Said:
    """A list; if its items are lists too, there is a comma before the last."""
    *first, last = parts
    if not first:
        return last
    text = reduce(lambda one, other: one.mark(",") + other, first)
    closed, bare = last.text.startswith(("either ", "both ", "all of ", "it is ")), QUOTED.sub("", last.text)
    if joint == "and":  # a comma might seem to end the sentence, and nothing else could be meant
        bare = bare.replace(OR_AT_THE_START, "")
    apart = any(map(is_list, first)) or " while " in bare or (" or " in bare and not closed)
    later = last.text.startswith(("then or later", "from then on"))
    return (text.mark(",") if apart and not later else text) + joint + last


def is_list(part: Said) -> bool:
    """Whether words outside quotes join items."""
    return joins_items(part.text)
