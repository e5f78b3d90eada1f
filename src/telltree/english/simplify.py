"""Simplification of terms: equivalent terms of lower cost."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from itertools import product

from telltree.english.cost import cost, values_cost
from telltree.english.domains import Domains, Kind, joined
from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    CountIn,
    Eventually,
    Globally,
    Interval,
    Literal,
    Names,
    Opaque,
    Or,
    OrderIn,
    Reals,
    Term,
    Truths,
    ValueIn,
    Values,
    subject,
    subjects,
    values_of,
)
from telltree.logic import Type

# ---- Temporal terms: F, G and counts of terms, and lists of them.
#
# An `eventual` term that is true at a step is true at all earlier steps, so F of it is itself. An `enduring` term that
# is true at a step is true at all later steps, so G of it is itself. A term that is both is constant, such as a count,
# or a statement about the last step. F of an enduring term and G of an eventual one are about the last step, at which
# F and G of a term are the term itself. Both are written F(G(...)) here.

_NEVER, _EVER = Reals((Interval(0.0, 0.0),), False), Reals((Interval(1.0),), False)


class TemporalTerms:
    """Constructors of temporal terms, for parts that are themselves in this form."""

    def __init__(self, domains: Domains) -> None:
        self.domains = domains

    def rebuilt(self, term: Term) -> Term:
        """Rebuild a term from its literals upwards."""
        match term:
            case And(parts) | Or(parts):
                return self.joined(type(term), map(self.rebuilt, parts))
            case Eventually(part):
                return self.sometime(self.rebuilt(part))
            case Globally(part):
                return self.always(self.rebuilt(part))
            case CountIn(part=part, times=times):
                return self.often(self.rebuilt(part), times)
            case ValueIn() | OrderIn() | Opaque():
                return term

    def lasting(self, term: Term) -> bool:
        """Return True if a term has the same truth at every step of a record."""
        return self.domains.eventual(term) and self.domains.enduring(term)

    def sometime(self, part: Term) -> Term:
        """Return F of a term."""
        return self._over_time(Eventually, part)

    def always(self, part: Term) -> Term:
        """Return G of a term."""
        return self._over_time(Globally, part)

    def often(self, part: Term, times: Reals) -> Term:
        """Return a count of a term; a constant term is true at every step, or at none."""
        if part == FALSE:
            return TRUE if 0.0 in times else FALSE
        if self.lasting(part) and times in (_NEVER, _EVER):
            return part if times == _EVER else self.rebuilt(self.domains.negated(part))
        return self.domains.literal(CountIn(part, times))

    def of_record(self, term: Term) -> Term:
        """Rewrite a term for the first step, where a count of 0 becomes G, and a count of at least 1 becomes F."""
        match term:
            case And(parts) | Or(parts):
                return self.joined(type(term), map(self.of_record, parts))
            case CountIn(part=part, times=times) if times == _EVER:
                return self.sometime(part)
            case CountIn(part=part, times=times) if times == _NEVER:
                return self.always(self.rebuilt(self.domains.negated(part)))
        return term

    def joined(self, kind: Kind, parts: Iterable[Term]) -> Term:
        """Join a list: G(a) ∧ G(b) becomes G(a ∧ b), F(a) ∨ F(b) becomes F(a ∨ b), F(G(a)) is merged either way."""
        term = joined(kind, parts, self.domains)
        if not isinstance(term, kind):
            return term
        over_time = Globally if kind is And else Eventually
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

    def _over_time(self, operator: type[Eventually] | type[Globally], part: Term) -> Term:
        """Return F or G of a term: F distributes over "or", G over "and", and constant terms stay outside."""
        eventual, enduring = self.domains.eventual, self.domains.enduring
        stays, ends, through = (eventual, enduring, Or) if operator is Eventually else (enduring, eventual, And)
        if stays(part):
            return part
        if ends(part):
            return self._last(_bare(part))
        if isinstance(part, through):
            if any(stays(p) or ends(p) for p in part.parts):
                return self.joined(through, [self._over_time(operator, p) for p in part.parts])
        elif isinstance(part, And | Or) and any(map(self.lasting, part.parts)):
            return self._round(part, partial(self._over_time, operator))
        return operator(part)

    def _last(self, part: Term) -> Term:
        """Return F(G(...)) of a term without F and G: its truth at the last step."""
        part = self.rebuilt(part)
        if self.lasting(part):
            return part
        if isinstance(part, And | Or) and any(map(self.lasting, part.parts)):
            return self._round(part, self._last)
        return Eventually(Globally(part))

    def _round(self, term: And | Or, over_time: Callable[[Term], Term]) -> Term:
        """Apply F or G to the parts of a list that are not constant."""
        kind: Kind = type(term)
        rest = over_time(self.joined(kind, (part for part in term.parts if not self.lasting(part))))
        return self.joined(kind, (part if self.lasting(part) else rest for part in term.parts))


def _at_last(term: Term) -> bool:
    return isinstance(term, Eventually) and isinstance(term.part, Globally)


def _bare(term: Term) -> Term:
    """Remove F and G from a term, which changes nothing at the last step."""
    match term:
        case And(parts) | Or(parts):
            return type(term)(tuple(map(_bare, parts)))
        case Eventually(part) | Globally(part):
            return _bare(part)
    return term


# ---- Refutation: terms that cannot all be true at one step of a record.
#
# Terms are taken apart until two contradict each other: terms about this step, and terms that hold from this step on.
# Every contradiction found is real, but not all are found: some would take too long, or need arithmetic.

DEEPEST = 30  # choices and steps into the future, nested


class WorkBudget:
    """A budget of terms to examine. It does not measure time, so results do not depend on the machine."""

    def __init__(self, most: int) -> None:
        self.left = most

    @property
    def exhausted(self) -> bool:
        """True if the budget is used up."""
        return self.left < 0


class StepClaims:
    """Terms that are all true at one step of a record."""

    def __init__(self, domains: Domains, work: WorkBudget, first: bool = False) -> None:
        self.domains = domains
        self.work = work
        self.first = first
        """True at the first step of a record."""
        self.impossible = False
        self.values: dict[Hashable, Values] = {}
        self.choices: list[Or] = []
        self.later: dict[Term, None] = {}
        """Terms that are true from this step on."""
        self.pending: dict[Eventually, None] = {}
        """Terms that must become true at this step or later."""
        self._subjects: set[Hashable] | None = None  # computed on demand, after all claims are known
        self._examined: dict[Eventually, int] = {}
        """Pending terms already examined on the way to this step, with the number of claims that held from there on."""

    def with_claims(self, claims: Iterable[Term]) -> "StepClaims":
        """Return a copy with further claims."""
        more = StepClaims(self.domains, self.work, self.first)
        more.impossible = self.impossible
        more.values, more.choices = dict(self.values), list(self.choices)
        more.later, more.pending, more._examined = dict(self.later), dict(self.pending), dict(self._examined)
        more._add(list(claims))
        return more

    @property
    def subjects(self) -> set[Hashable]:
        """Subjects of all claims."""
        if self._subjects is None:
            self._subjects = set(self.values).union(*map(subjects, (*self.choices, *self.later, *self.pending)))
        return self._subjects

    def blank(self) -> "StepClaims":
        """Return the same step without claims."""
        return StepClaims(self.domains, self.work, self.first)

    def after(self) -> "StepClaims":
        """Return the claims that hold at this step and all later ones."""
        then = StepClaims(self.domains, self.work)
        then._examined = self._examined
        return then.with_claims(self.later)

    def everywhere(self) -> "StepClaims":
        """Return the claims that hold at every step of the record."""
        held = self.later if self.first else [claim for claim in self.later if self.domains.eventual(claim)]
        return StepClaims(self.domains, self.work).with_claims(held)

    def excludes(self, claim: Term) -> bool:
        """Return True if the claim is found to be impossible at this step."""
        return self.with_claims([claim]).contradictory()

    def implies(self, claim: Term) -> bool:
        """Return True if the claim is found to follow at this step."""
        return self.excludes(self.domains.negated(claim))

    def contradictory(self, depth: int = 0) -> bool:
        """Return True if a contradiction is found, so that no record has such a step."""
        if self.impossible:
            return True
        if self.work.exhausted or depth > DEEPEST:
            return False
        for one in self.pending:
            if self._examined.get(one, -1) < len(self.later):
                self._examined[one] = len(self.later)
                if self.after().with_claims([one.part]).contradictory(depth + 1):
                    return True
        if not self.choices:
            return False
        choice = min(self.choices, key=lambda choice: len(choice.parts))
        rest = self.with_claims(())
        rest.choices.remove(choice)
        return all(rest.with_claims([part]).contradictory(depth + 1) for part in choice.parts)

    def _add(self, claims: list[Term]) -> None:
        for claim in claims:  # grows during the loop
            self.work.left -= 1
            if self.domains.enduring(claim) and not isinstance(claim, And):
                self.later[claim] = None
            match claim:
                case And(parts):
                    claims.extend(parts)
                case Or():
                    self.choices.append(claim)
                case Globally(part):
                    claims.append(part)
                case Eventually():
                    self.pending[claim] = None
                case _:
                    self._add_values(claim, claims)
            if self.impossible:
                return
        self._narrow_choices()

    def _add_values(self, claim: Literal, claims: list[Term]) -> None:
        about = subject(claim)
        self.values[about] = self.values[about] & values_of(claim) if about in self.values else values_of(claim)
        self.impossible = self.values[about].empty
        if self.first and isinstance(claim, CountIn) and 0.0 not in claim.times:
            claims.append(Eventually(claim.part))

    def _narrow_choices(self) -> None:
        """Drop impossible parts of disjunctions, and disjunctions that already hold."""
        choices, self.choices = self.choices, []
        for i, choice in enumerate(choices):
            parts = tuple(part for part in choice.parts if not self._clashes(part))
            if len(parts) < 2:
                self.impossible = not parts
                if parts:
                    self.choices += choices[i + 1 :]
                    self._add(list(parts))  # and examine all of them again
                return
            if not any(map(self._is_known, parts)):
                self.choices.append(Or(parts))

    def _clashes(self, claim: Term) -> bool:
        """Return True if the values known at this step refute a claim."""
        if isinstance(claim, ValueIn):  # most are
            self.work.left -= 1
            values = self.values.get(claim.signal)
            return values is not None and not values.meets(claim.values)
        match claim:
            case And(parts):
                return any(map(self._clashes, parts))
            case Or(parts):
                return all(map(self._clashes, parts))
            case Globally(part):
                return self._clashes(part)
            case Eventually():
                return False
        self.work.left -= 1
        known = self.values.get(subject(claim))
        return known is not None and not known.meets(values_of(claim))

    def _is_known(self, claim: Term) -> bool:
        """Return True if a claim is known, or follows from the values known at this step."""
        if isinstance(claim, ValueIn):
            self.work.left -= 1
            values = self.values.get(claim.signal)
            return values is not None and values.within(claim.values)
        match claim:
            case And(parts):
                return all(map(self._is_known, parts))
            case Or(parts):
                return any(map(self._is_known, parts))
            case Eventually(part):
                return claim in self.pending or self._is_known(part)
            case Globally():
                return claim in self.later
        self.work.left -= 1
        known = self.values.get(subject(claim))
        return known is not None and known.within(values_of(claim))


# ---- Simplification in context.
#
# A part of a term matters only where the rest of the term does not decide it. In a ∧ b, b matters only where a is
# true; in a ∨ b, only where a is false; under F and G, only where every claim about later steps is true. A part that
# is certainly true or false there is dropped, and a literal may allow any further values that make it shorter.

MOST_WORK = 5_000  # terms examined per formula
ROUNDS = 4


def simplified(term: Term, domains: Domains, first: bool) -> Term:
    """Return the cheapest equivalent term that is found.

    With `first`, the term is evaluated only at the first step of records, else at every step.
    """
    temporal, here = TemporalTerms(domains), StepClaims(domains, WorkBudget(MOST_WORK), first)
    found = [term]
    for _ in range(ROUNDS):
        term = temporal.rebuilt(term)
        term = temporal.of_record(term) if first else term
        term = _Simplifier(temporal).within(term, here)
        term = _factored(temporal.rebuilt(term), temporal)
        found.append(term)
        if term == found[-2]:
            break
    if first:
        found[1:] = [_of_record(term, domains) for term in found[1:]]
    found += [_split(term) for term in found[1:]]
    return min(reversed(found), key=cost)


def _of_record(term: Term, domains: Domains) -> Term:
    """Put statements about static columns under F, so that the term is that of a formula."""
    if not isinstance(term, And | Or):
        return Eventually(term) if _of_steps(term) else term
    bare = [part for part in term.parts if _of_steps(part)]
    rest = [_of_record(part, domains) for part in term.parts if part not in bare]
    return joined(type(term), [Eventually(joined(type(term), bare, domains)), *rest] if bare else rest, domains)


def _of_steps(term: Term) -> bool:
    return isinstance(term, ValueIn | OrderIn) or (
        isinstance(term, Opaque) and term.expression.type is not Type.BOOLEAN
    )


class _Simplifier:
    def __init__(self, temporal: TemporalTerms) -> None:
        self.temporal = temporal
        self.domains = temporal.domains

    def within(self, term: Term, here: StepClaims) -> Term:  # noqa: PLR0911  one return a kind of term
        """Return a term that is equivalent at steps where all claims of `here` are true."""
        if here.work.exhausted:
            return term
        if here.subjects.isdisjoint(subjects(term)):
            here = here.blank()  # no claim is relevant to the term
        elif here.excludes(term):
            return FALSE
        elif here.implies(term):
            return TRUE
        match term:
            case And() | Or():
                return self._list(type(term), list(term.parts), here)
            case Eventually(part):
                return self.temporal.sometime(self.within(part, here.after()))
            case Globally(part):
                return self.temporal.always(self.within(part, here.after()))
            case CountIn(part=part, times=times):
                inside = self.within(part, here.everywhere())
                counted = self.temporal.often(part if inside == TRUE else inside, times)  # "how many steps" says less
                return self._literal(counted, here) if isinstance(counted, CountIn) else counted
            case ValueIn() | OrderIn() | Opaque():
                return self._literal(term, here)

    def _list(self, kind: Kind, parts: list[Term], here: StepClaims) -> Term:
        """Simplify each part where the others do not decide it, the costliest first."""
        decisive = FALSE if kind is And else TRUE
        about, known = [subjects(part) for part in parts], here.subjects
        for i in sorted(range(len(parts)), key=lambda i: (-cost(parts[i]), -i)):
            there = here
            if here.work.exhausted:
                break
            if not about[i].isdisjoint(known.union(*about[:i], *about[i + 1 :])):
                others = parts[:i] + parts[i + 1 :]
                there = here.with_claims(others if kind is And else map(self.domains.negated, others))
            if there.impossible:
                return decisive
            parts[i] = self.within(parts[i], there)
            if parts[i] == decisive:
                return decisive
        return self.temporal.joined(kind, parts)

    def _literal(self, literal: Literal, here: StepClaims) -> Term:
        everything, values = self.domains.values(literal), values_of(literal)
        known = here.values.get(subject(literal), everything) & everything
        if known == everything:
            return literal
        ways = _between(values & known, values | (~known & everything))
        best = min([values, *ways], key=values_cost)
        return self.domains.literal(literal, best)


def _between(least: Values, most: Values) -> Iterator[Values]:
    """Yield some sets between `least` and `most`."""
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


def _factored(term: Term, temporal: TemporalTerms) -> Term:
    """Factor out terms that several parts of a list share, if that is cheaper: (a ∧ b) ∨ (a ∧ c) is a ∧ (b ∨ c)."""
    match term:
        case Eventually(part):
            return temporal.sometime(_factored(part, temporal))
        case Globally(part):
            return temporal.always(_factored(part, temporal))
        case CountIn(part=part, times=times):
            return temporal.often(_factored(part, temporal), times)
        case And(parts) | Or(parts):
            kind: Kind = type(term)
            now = temporal.joined(kind, (_factored(part, temporal) for part in parts))
            while isinstance(now, kind) and (shared := _shared(now)) is not None:
                better = _taken_out(shared, now, temporal)
                if cost(better) >= cost(now):
                    break
                now = better
            return now
    return term


def _shared(term: And | Or) -> Term | None:
    """Return the term that most parts have in common, or None."""
    inner = Or if isinstance(term, And) else And
    times = Counter(p for part in term.parts if isinstance(part, inner) for p in part.parts)
    found, often = max(times.items(), key=lambda item: item[1], default=(TRUE, 0))
    return found if often > 1 else None


def _taken_out(shared: Term, term: And | Or, temporal: TemporalTerms) -> Term:
    """Factor a shared term out of a list."""
    kind: Kind = type(term)
    inner = Or if kind is And else And
    having = [part for part in term.parts if isinstance(part, inner) and shared in part.parts]
    rests = [temporal.joined(inner, (p for p in part.parts if p != shared)) for part in having]
    once = temporal.joined(inner, [shared, temporal.joined(kind, rests)])
    return temporal.joined(kind, [once if part == having[0] else part for part in term.parts if part not in having[1:]])


def _split(term: Term) -> Term:
    """Distribute G(a ∧ (b ∨ c)) to G(a) ∧ G(b ∨ c), and F(a ∨ (b ∧ c)) to F(a) ∨ F(b ∧ c)."""
    for kind, over_time in ((And, Globally), (Or, Eventually)):
        parts = term.parts if isinstance(term, kind) else (term,)
        pieces: list[Term] = []
        for part in parts:
            if isinstance(part, over_time) and isinstance(part.part, kind):
                inside = part.part.parts
                lists = [p for p in inside if isinstance(p, And | Or | Eventually | Globally)]
                bare = tuple(p for p in inside if p not in lists)
                pieces += [over_time(bare[0] if len(bare) == 1 else kind(bare))] if bare else []
                pieces += [over_time(p) for p in lists]
            else:
                pieces.append(part)
        if len(pieces) > len(parts):
            return kind(tuple(pieces))
    return term
