"""Terms over time: how F, G and counts are built, and how lists of them are joined.

Some terms are the same at many steps. If an `eventual` term is true at a step, it is true at all earlier steps; F of it
is itself. If an `enduring` term is true at a step, it is true at all later steps; G of it is itself. A term that is
both is constant: counts are, and statements about the last step. F of an enduring term and G of an eventual one speak
of the last step, where "later" and "from then on" just mean "then". Both are written F(G(...)) here.
"""

from collections.abc import Callable, Iterable
from functools import partial

from telltree.speech.lists import Kind, joined
from telltree.speech.possible import Possible
from telltree.speech.terms import FALSE, TRUE, All, Always, Compares, HowOften, Own, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Reals

_NEVER, _EVER = Reals((Interval(0.0, 0.0),), False), Reals((Interval(1.0),), False)


class Moments:
    """Builds terms over time from parts that were built in the same way."""

    def __init__(self, possible: Possible) -> None:
        self.possible = possible

    def settled(self, term: Term) -> Term:
        """The same term, rebuilt from the literals up."""
        match term:
            case All(parts) | Some(parts):
                return self.joined(type(term), map(self.settled, parts))
            case Sometime(part):
                return self.sometime(self.settled(part))
            case Always(part):
                return self.always(self.settled(part))
            case HowOften(part=part, times=times):
                return self.often(self.settled(part), times)
            case Says() | Compares() | Own():
                return term

    def lasting(self, term: Term) -> bool:
        """Whether a term is the same at every step of a record."""
        return self.possible.eventual(term) and self.possible.enduring(term)

    def sometime(self, part: Term) -> Term:
        """F of a term."""
        return self._over_time(Sometime, part)

    def always(self, part: Term) -> Term:
        """G of a term."""
        return self._over_time(Always, part)

    def often(self, part: Term, times: Reals) -> Term:
        """How often a term is true; a constant term is true at every step, or at none."""
        if part == FALSE:
            return TRUE if 0.0 in times else FALSE
        if self.lasting(part) and times in (_NEVER, _EVER):
            return part if times == _EVER else self.settled(self.possible.negated(part))
        return self.possible.literal(HowOften(part, times))

    def of_record(self, term: Term) -> Term:
        """The same at the first step, where a count of 0 becomes G, and a count of at least 1 becomes F."""
        match term:
            case All(parts) | Some(parts):
                return self.joined(type(term), map(self.of_record, parts))
            case HowOften(part=part, times=times) if times == _EVER:
                return self.sometime(part)
            case HowOften(part=part, times=times) if times == _NEVER:
                return self.always(self.settled(self.possible.negated(part)))
        return term

    def joined(self, kind: Kind, parts: Iterable[Term]) -> Term:
        """A list. G(a) ∧ G(b) becomes G(a ∧ b), F(a) ∨ F(b) becomes F(a ∨ b), and the last step is mentioned once."""
        term = joined(kind, parts, self.possible)
        if not isinstance(term, kind):
            return term
        over_time = Always if kind is All else Sometime
        alike = [part for part in term.parts if isinstance(part, over_time) and not _at_last(part)]
        last = [part for part in term.parts if _at_last(part)]
        if len(alike) > 1:
            one = self._over_time(over_time, self.joined(kind, (part.part for part in alike)))
            return self.joined(
                kind, (one if part == alike[0] else part for part in term.parts if part not in alike[1:])
            )
        if len(last) > 1:
            one = self._last(self.joined(kind, map(_bare, last)))
            return self.joined(kind, (one if part == last[0] else part for part in term.parts if part not in last[1:]))
        return term

    def _over_time(self, operator: type[Sometime] | type[Always], part: Term) -> Term:
        """F or G of a term. F passes through "or", G through "and"; both leave out constant terms."""
        eventual, enduring = self.possible.eventual, self.possible.enduring
        stays, ends, through = (eventual, enduring, Some) if operator is Sometime else (enduring, eventual, All)
        if stays(part):
            return part
        if ends(part):
            return self._last(_bare(part))
        if isinstance(part, through):
            if any(stays(p) or ends(p) for p in part.parts):
                return self.joined(through, [self._over_time(operator, p) for p in part.parts])
        elif isinstance(part, All | Some) and any(map(self.lasting, part.parts)):
            return self._round(part, partial(self._over_time, operator))
        return operator(part)

    def _last(self, part: Term) -> Term:
        """A term without F and G, at the last step."""
        part = self.settled(part)
        if self.lasting(part):
            return part
        if isinstance(part, All | Some) and any(map(self.lasting, part.parts)):
            return self._round(part, self._last)
        return Sometime(Always(part))

    def _round(self, term: All | Some, over_time: Callable[[Term], Term]) -> Term:
        """A list, taken over time except for its constant parts."""
        kind: Kind = type(term)
        rest = over_time(self.joined(kind, (part for part in term.parts if not self.lasting(part))))
        return self.joined(kind, (part if self.lasting(part) else rest for part in term.parts))


def _at_last(term: Term) -> bool:
    return isinstance(term, Sometime) and isinstance(term.part, Always)


def _bare(term: Term) -> Term:
    """A term without F and G, which means the same at the last step."""
    match term:
        case All(parts) | Some(parts):
            return type(term)(tuple(map(_bare, parts)))
        case Sometime(part) | Always(part):
            return _bare(part)
    return term
