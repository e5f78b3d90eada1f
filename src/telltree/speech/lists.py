"""Flat lists: terms joined by "and" or "or", with one literal for each subject."""

from collections.abc import Hashable, Iterable
from typing import TypeAlias

from telltree.speech.literals import subject, values_of
from telltree.speech.possible import Possible
from telltree.speech.terms import FALSE, TRUE, All, Always, Some, Sometime, Term

Kind: TypeAlias = type[All] | type[Some]


def joined(kind: Kind, parts: Iterable[Term], possible: Possible) -> Term:
    """One list of all the parts: flat, no duplicates, literals on one subject merged. A single part is not wrapped."""
    decisive = FALSE if kind is All else TRUE
    found: dict[Hashable, Term] = {}
    for part in _flat(kind, parts):
        place: Hashable = part if isinstance(part, All | Some | Sometime | Always) else subject(part)
        found[place] = _merged(kind, found[place], part, possible) if place in found else part
        if found[place] == decisive:
            return decisive
    return next(iter(found.values())) if len(found) == 1 else kind(tuple(found.values()))


def _merged(kind: Kind, first: Term, second: Term, possible: Possible) -> Term:
    """Two equal parts of a list, or two literals on one subject, merged into one."""
    if isinstance(first, All | Some | Sometime | Always) or isinstance(second, All | Some | Sometime | Always):
        return first
    mine, yours = values_of(first), values_of(second)
    return possible.literal(first, mine & yours if kind is All else mine | yours)


def _flat(kind: Kind, parts: Iterable[Term]) -> Iterable[Term]:
    for part in parts:
        if isinstance(part, kind):
            yield from _flat(kind, part.parts)
        else:
            yield part
