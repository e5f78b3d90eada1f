"""Simpler terms that are true of the same records.

One idea does most of the work: a part of a term matters only where the rest leaves it open. In a ∧ b, b matters only
where a is true; in a ∨ b, only where a is false; under F and G, only where everything is true that is known from there
on. A part that must be true there, or cannot be, is dropped, and a literal may allow any values that make it shorter.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product

from telltree.operators import Type
from telltree.speech.cost import cost, values_cost
from telltree.speech.lists import Kind, joined
from telltree.speech.literals import subject, subjects, values_of
from telltree.speech.moments import Moments
from telltree.speech.possible import Possible
from telltree.speech.situation import Situation, Work
from telltree.speech.terms import FALSE, TRUE, All, Always, Compares, HowOften, Literal, Own, Says, Some, Sometime, Term
from telltree.speech.values import Names, Reals, Truths, Values

MOST_WORK = 5_000  # claims examined per formula
ROUNDS = 4


def simplified(term: Term, possible: Possible, known: Iterable[Term], first: bool) -> Term:
    """The cheapest equivalent term that is found, for records of which everything `known` is true.

    `first`: the term is evaluated only at the first step of records, not at every step.
    """
    moments, work = Moments(possible), Work(MOST_WORK)
    record = Situation(possible, work, first=True).knowing(known)
    here = record if first else record.everywhere()
    found = [term]
    for _ in range(ROUNDS):
        term = moments.settled(term)
        term = moments.of_record(term) if first else term
        term = _Simplifier(moments).within(term, here)
        term = _factored(moments.settled(term), moments)
        found.append(term)
        if term == found[-2]:
            break
    if first:
        found[1:] = [_of_record(term, possible) for term in found[1:]]
    found += [_split(term) for term in found[1:]]
    return min(reversed(found), key=cost)


def _of_record(term: Term, possible: Possible) -> Term:
    """The same, as a term about a record: statements about static columns are put under F, to make a formula."""
    if not isinstance(term, All | Some):
        return Sometime(term) if _of_steps(term) else term
    bare = [part for part in term.parts if _of_steps(part)]
    rest = [_of_record(part, possible) for part in term.parts if part not in bare]
    return joined(type(term), [Sometime(joined(type(term), bare, possible)), *rest] if bare else rest, possible)


def _of_steps(term: Term) -> bool:
    return isinstance(term, Says | Compares) or (isinstance(term, Own) and term.expression.type is not Type.BOOLEAN)


class _Simplifier:
    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.possible = moments.possible

    def within(self, term: Term, here: Situation) -> Term:  # noqa: PLR0911  one return a kind of term
        """A term that is equivalent at steps where everything known `here` is true."""
        if here.work.over:
            return term
        if here.subjects.isdisjoint(subjects(term)):
            here = here.blank()  # nothing known here is relevant to it
        elif here.excludes(term):
            return FALSE
        elif here.says(term):
            return TRUE
        match term:
            case All() | Some():
                return self._list(type(term), list(term.parts), here)
            case Sometime(part):
                return self.moments.sometime(self.within(part, here.after()))
            case Always(part):
                return self.moments.always(self.within(part, here.after()))
            case HowOften(part=part, times=times):
                inside = self.within(part, here.everywhere())
                counted = self.moments.often(part if inside == TRUE else inside, times)  # "how many steps" says less
                return self._literal(counted, here) if isinstance(counted, HowOften) else counted
            case Says() | Compares() | Own():
                return self._literal(term, here)

    def _list(self, kind: Kind, parts: list[Term], here: Situation) -> Term:
        """Simplify each part where the others leave it open; start with the hardest to read, as the first to drop."""
        decisive = FALSE if kind is All else TRUE
        about, known = [subjects(part) for part in parts], here.subjects
        for i in sorted(range(len(parts)), key=lambda i: (-cost(parts[i]), -i)):
            there = here
            if here.work.over:
                break
            if not about[i].isdisjoint(known.union(*about[:i], *about[i + 1 :])):
                others = parts[:i] + parts[i + 1 :]
                there = here.knowing(others if kind is All else map(self.possible.negated, others))
            if there.impossible:
                return decisive
            parts[i] = self.within(parts[i], there)
            if parts[i] == decisive:
                return decisive
        return self.moments.joined(kind, parts)

    def _literal(self, literal: Literal, here: Situation) -> Term:
        everything, values = self.possible.values(literal), values_of(literal)
        known = here.values.get(subject(literal), everything) & everything
        if known == everything:
            return literal
        ways = _between(values & known, values | (~known & everything))
        best = min([values, *ways], key=values_cost)
        return self.possible.literal(literal, best)


def _between(least: Values, most: Values) -> Iterator[Values]:
    """Some sets that include `least` and lie within `most`."""
    yield least
    yield most
    match least, most:
        case Reals(), Reals():
            wide = tuple(i for i in most.intervals if any(i.meets(j) for j in least.intervals))
            yield from (Reals(wide, missing) for missing in {least.missing, most.missing})
        case Names(), Names():
            yield from (
                Names(s.names, s.others, missing) for s in (least, most) for missing in {least.missing, most.missing}
            )
        case Truths(), Truths():
            choices = ({a, b} for a, b in zip(_fields(least), _fields(most), strict=True))
            yield from (Truths(*fields) for fields in product(*choices))


def _fields(truths: Truths) -> tuple[bool, bool, bool]:
    return truths.true, truths.false, truths.missing


def _factored(term: Term, moments: Moments) -> Term:
    """Say once what several parts of a list share, if that is cheaper: (a ∧ b) ∨ (a ∧ c) is a ∧ (b ∨ c)."""
    match term:
        case Sometime(part):
            return moments.sometime(_factored(part, moments))
        case Always(part):
            return moments.always(_factored(part, moments))
        case HowOften(part=part, times=times):
            return moments.often(_factored(part, moments), times)
        case All(parts) | Some(parts):
            kind: Kind = type(term)
            now = moments.joined(kind, (_factored(part, moments) for part in parts))
            while isinstance(now, kind) and (shared := _shared(now)) is not None:
                better = _taken_out(shared, now, moments)
                if cost(better) >= cost(now):
                    break
                now = better
            return now
    return term


def _shared(term: All | Some) -> Term | None:
    """What most of the parts have in common."""
    inner = Some if isinstance(term, All) else All
    times = Counter(p for part in term.parts if isinstance(part, inner) for p in part.parts)
    found, often = max(times.items(), key=lambda item: item[1], default=(TRUE, 0))
    return found if often > 1 else None


def _taken_out(shared: Term, term: All | Some, moments: Moments) -> Term:
    """A list that says once what some of its parts share."""
    kind: Kind = type(term)
    inner = Some if kind is All else All
    having = [part for part in term.parts if isinstance(part, inner) and shared in part.parts]
    rests = [moments.joined(inner, (p for p in part.parts if p != shared)) for part in having]
    once = moments.joined(inner, [shared, moments.joined(kind, rests)])
    return moments.joined(kind, [once if part == having[0] else part for part in term.parts if part not in having[1:]])


def _split(term: Term) -> Term:
    """G(a ∧ (b ∨ c)) as G(a) ∧ G(b ∨ c), and F(a ∨ (b ∧ c)) as F(a) ∨ F(b ∧ c)."""
    for kind, over_time in ((All, Always), (Some, Sometime)):
        parts = term.parts if isinstance(term, kind) else (term,)
        pieces: list[Term] = []
        for part in parts:
            if isinstance(part, over_time) and isinstance(part.part, kind):
                inside = part.part.parts
                lists = [p for p in inside if isinstance(p, All | Some | Sometime | Always)]
                bare = tuple(p for p in inside if p not in lists)
                pieces += [over_time(bare[0] if len(bare) == 1 else kind(bare))] if bare else []
                pieces += [over_time(p) for p in lists]
            else:
                pieces.append(part)
        if len(pieces) > len(parts):
            return kind(tuple(pieces))
    return term
