"""The normal form of formulas: the simplest equivalent term, and the formula to show for it."""

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import product

from telltree.english.conversion import direct_term, expression_of, is_boolean
from telltree.english.implication import StepClaims, WorkBudget
from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    CountIn,
    Domains,
    Eventually,
    Globally,
    Kind,
    Literal,
    Opaque,
    Or,
    OrderIn,
    Term,
    ValueIn,
    allowed_counts,
    joined,
    subject,
    subjects,
    values_of,
    with_values,
)
from telltree.english.value_sets import Interval, Names, Orders, Reals, Truths, Values
from telltree.logic import Attribute, Expression, Number, Type, operator_named
from telltree.logic.operators import (
    MIRRORED,
    NOT,
    Operator,
)


def term_of(expression: Expression, missing: Container[str] | None = None, *, static: Container[str] = ()) -> Term:
    """Return the simplest normal form that is found for a formula or a Boolean vector.

    It is equivalent on every possible record: only columns of `missing` have missing values (None: any may), and
    columns of `static` have one value. The term of a formula is evaluated at the first step of a record, that of a
    Boolean vector at every step.
    """
    domains = Domains(missing, static)
    return simplified(direct_term(expression, domains), domains, first=expression.type is Type.BOOLEAN)


def plain(formula: Expression, missing: Container[str] | None = None, *, static: Container[str] = ()) -> Expression:
    """Return the simplest equivalent formula that is found, by `cost`.

    It is equivalent on every possible record: only columns of `missing` have missing values (None: any may), and
    columns of `static` have one value. A formula that is always or never true becomes a tautology or a contradiction
    about one of its columns.
    """
    return _written(term_of(formula, missing, static=static), formula, missing)


def simpler_side(
    formula: Expression, missing: Container[str] | None = None, *, static: Container[str] = ()
) -> tuple[Expression, bool]:
    """Return the formula or its complement, whichever is cheaper, as `plain` has it; and True if it is the complement.

    Of equal costs, the one with fewer "always" is chosen, and then the formula itself.
    """
    sides = [term_of(side, missing, static=static) for side in (formula, Expression(NOT, (formula,)))]
    best = min(sides, key=lambda term: (cost(term), _always(term)))
    return _written(best, formula, missing), best is sides[1]


def _written(term: Term, formula: Expression, missing: Container[str] | None) -> Expression:
    leaves = [e for e in formula.walk() if isinstance(e.head, Attribute | Operator) and not e.args]  # x, or left()
    witness = min(leaves, key=lambda e: not isinstance(e.head, Attribute), default=formula)
    return expression_of(term, missing, witness)


def _always(term: Term) -> int:
    """Count the sentences of a term that say "always"."""
    if isinstance(term, And | Or):
        return sum(map(_always, term.parts))
    return isinstance(term, Globally)


# ---- Equality of terms, apart from the order of lists and how they were built.


def same(first: Term, second: Term, domains: Domains) -> bool:
    """Return True if two terms are alike, and so equivalent; other terms may still be equivalent."""
    return _key(first, domains) == _key(second, domains)


def restricted(term: Term, domains: Domains) -> Term:
    """Restrict literals to possible values, so that those that allow all or none become true or false."""
    match term:
        case And(parts) | Or(parts):
            return joined(type(term), [restricted(part, domains) for part in parts], domains)
        case Eventually(part) | Globally(part):
            return type(term)(restricted(part, domains))
        case CountIn(part=part, times=times):
            return domains.literal(CountIn(restricted(part, domains), times.whole))
    return domains.literal(term)


def _key(term: Term, domains: Domains) -> Hashable:
    """Return a key that is equal for terms that are alike, by way of a formula and back."""
    witness = Expression(Attribute("", Type.BOOLEAN_VECTOR))
    formula = expression_of(restricted(term, domains), domains.missing, witness)
    return _unordered(TemporalTerms(domains).rebuilt(direct_term(formula, domains)), domains)


def _unordered(term: Term, domains: Domains) -> Hashable:  # noqa: PLR0911  one return a kind of term
    match term:
        case And(parts) | Or(parts):
            return type(term), frozenset(_unordered(part, domains) for part in parts)
        case Eventually(part) | Globally(part):
            return type(term), _unordered(part, domains)
        case CountIn(part=part, times=times):
            return CountIn, _unordered(part, domains), times
        case Opaque() if (counted := allowed_counts(term)) is not None:
            return counted[0].head, _operand(counted[0].args[0], domains), counted[1]
        case Opaque(expression=Expression(head=Operator() as head, args=(Expression(head=Number()), other))):
            turned = Expression(operator_named(MIRRORED[head.name]), (other, term.expression.args[0]))
            return _unordered(Opaque(turned, term.holds), domains)
        case Opaque(expression=e, holds=holds):
            return Opaque, e.head, *(_operand(arg, domains) for arg in e.args), e.english, holds
        case ValueIn(signal=Expression(head=Attribute() as column), values=values):
            return ValueIn, column, values
        case ValueIn(signal=signal, values=values):
            return ValueIn, _operand(signal, domains), values
        case OrderIn(first=first, second=second, orders=orders):
            return OrderIn, _operand(first, domains), _operand(second, domains), orders


def _operand(e: Expression, domains: Domains) -> Hashable:
    if is_boolean(e):
        return _key(direct_term(e, domains), domains)
    return (e.head, *(_operand(arg, domains) for arg in e.args))


# ---- Cost: how hard a term is to read, measured on its structure, independent of the wording.

NEGATION, NESTED, FURTHER = 3, 2, 2


def cost(term: Term) -> int:
    """Return the effort of reading a term; of equivalent terms, the cheapest is shown.

    - A literal costs 1, and 2 for each bound or name beyond the first: "between 2 and 5" has two bounds, "within 5"
      one. A negation in the wording costs 3: "not open", "other than up", a value that may also be missing.
    - A list costs the sum of its parts, and 2 more as a part of another list.
    - F and G cost 1 more than their operand, and 2 more under another F or G or in a count. G of an "or" costs 1 more.
      At the top it may become "whenever", where all parts but one may be replaced by their negations, and "never"
      costs 3 more than F of the negation. F(G(...)), "at the last step", costs 2.
    - A count costs as much as a literal, plus its operand. A count of 0 is "never".
    """
    return _cost(term)


def _cost(term: Term, opposite: bool = False, listed: bool = False, under: bool = False) -> int:
    """Return the cost of a term, or of its negation (`opposite`), in a list, or under F, G or a count."""
    match term:
        case And(parts) | Or(parts):
            return NESTED * listed + sum(_cost(part, opposite, True, under) for part in parts)
        case Eventually(Globally(part)):
            return 2 + NESTED * under + _cost(part, opposite, under=True)
        case Eventually(part) | Globally(part):
            always = isinstance(term, Eventually) == opposite
            inside = (_always_cost if always and not under else _cost)(part, opposite, under=True)
            return 1 + NESTED * under + inside + (always and isinstance(part, And if opposite else Or))
        case CountIn(part=part, times=times):
            allowed = (~times).whole if opposite else times
            often = NEGATION if allowed == _NO_STEP else FURTHER * (_bounds(allowed, 0.0) - 1)
            return 1 + often + NESTED * under + _cost(part, under=True)
        case Opaque():
            literal = with_values(term, ~values_of(term)) if opposite else term
            return 1 + NEGATION * (isinstance(literal, Opaque) and not literal.holds)
    return min(map(values_cost, _opposites(term))) if opposite else values_cost(values_of(term))


def _always_cost(part: Term, opposite: bool, under: bool) -> int:
    """Return the cost of G of a term, worded by the cheapest of "always", "never" and "whenever"."""
    an_or = And if opposite else Or
    ways = [_cost(part, opposite, under=under), NEGATION + _cost(part, not opposite, under=under)]
    if isinstance(part, an_or):
        ways[1] -= 1  # "never" needs no "or"
        own, other = ([_cost(p, o, True, under) for p in part.parts] for o in (opposite, not opposite))
        one_straight = max(0, min((mine - yours for mine, yours in zip(own, other, strict=True)), default=0))
        ways.append(sum(map(min, own, other)) + one_straight)
    return min(ways)


def _opposites(literal: Literal) -> list[Values]:
    """Return the values for which a literal is false, including "missing" and without it."""
    found = ~values_of(literal)
    never_missing: Values
    match found:
        case Reals(intervals=intervals):
            never_missing = Reals(intervals, False)
        case Names(names=names, others=others):
            never_missing = Names(names, others, False)
        case Truths(true=true, false=false):
            never_missing = Truths(true, false, False)
        case Orders(less=less, equal=equal, greater=greater):
            never_missing = Orders(less, equal, greater, False)
    return [found] if never_missing.empty else [found, never_missing]


def values_cost(values: Values) -> int:
    """Return the cost of wording a set of values."""
    match values:
        case Reals():
            return _reals_cost(values)
        case Names(names=names, others=others, missing=missing):
            further = len(names) - 1 + (missing and not others)
            return 1 + FURTHER * max(0, further) + NEGATION * others
        case Truths(true=true, false=false, missing=missing):
            return 1 + NEGATION * (false or (true and missing))
        case Orders(less=less, greater=greater, missing=missing):
            return 1 + NEGATION * ((less and greater) or missing)


@lru_cache(maxsize=1 << 14)
def _reals_cost(values: Reals) -> int:
    if not values.intervals:
        return 1  # "missing"
    if values.missing:
        return NEGATION + _reals_cost(~values)
    gaps = (~values).intervals
    if all(gap.point for gap in gaps):  # "other than …", or "known" if there are no gaps
        return 1 + NEGATION + FURTHER * max(0, len(gaps) - 1)
    return 1 + FURTHER * (_bounds(values) - 1)


def _bounds(values: Reals, least: float | None = None) -> int:
    """Count the numbers in the wording, where `least` is the lowest possible value; a range from -c to c has one."""
    if least is None and values.symmetric and values.intervals != _NO_STEP.intervals:
        return _bounds(values.from_zero, 0.0)
    below = (i.bounded_below and not (i.low == least and i.with_low) for i in values.intervals)
    return sum(1 if i.point else low + i.bounded_above for i, low in zip(values.intervals, below, strict=True))


# ---- Temporal terms: F, G and counts of terms, and lists of them.
#
# An `eventual` term that is true at a step is true at all earlier steps, so F of it is itself. An `enduring` term that
# is true at a step is true at all later steps, so G of it is itself. A term that is both is constant, such as a count,
# or a statement about the last step. F of an enduring term and G of an eventual one are about the last step, at which
# F and G of a term are the term itself. Both are written F(G(...)) here.

_NO_STEP, _SOME_STEP = Reals((Interval(0.0, 0.0),), False), Reals((Interval(1.0),), False)


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
                return self.eventually(self.rebuilt(part))
            case Globally(part):
                return self.globally(self.rebuilt(part))
            case CountIn(part=part, times=times):
                return self.count(self.rebuilt(part), times)
            case ValueIn() | OrderIn() | Opaque():
                return term

    def constant(self, term: Term) -> bool:
        """Return True if a term has the same truth at every step of a record."""
        return self.domains.eventual(term) and self.domains.enduring(term)

    def eventually(self, part: Term) -> Term:
        """Return F of a term."""
        return self._over_time(Eventually, part)

    def globally(self, part: Term) -> Term:
        """Return G of a term."""
        return self._over_time(Globally, part)

    def count(self, part: Term, times: Reals) -> Term:
        """Return a count of a term; a constant term is true at every step, or at none."""
        if part == FALSE:
            return TRUE if 0.0 in times else FALSE
        if self.constant(part) and times in (_NO_STEP, _SOME_STEP):
            return part if times == _SOME_STEP else self.rebuilt(self.domains.negated(part))
        return self.domains.literal(CountIn(part, times))

    def at_first_step(self, term: Term) -> Term:
        """Rewrite a term for the first step, where a count of 0 becomes G, and a count of at least 1 becomes F."""
        match term:
            case And(parts) | Or(parts):
                return self.joined(type(term), map(self.at_first_step, parts))
            case CountIn(part=part, times=times) if times == _SOME_STEP:
                return self.eventually(part)
            case CountIn(part=part, times=times) if times == _NO_STEP:
                return self.globally(self.rebuilt(self.domains.negated(part)))
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
        elif isinstance(part, And | Or) and any(map(self.constant, part.parts)):
            return self._round(part, partial(self._over_time, operator))
        return operator(part)

    def _last(self, part: Term) -> Term:
        """Return F(G(...)) of a term without F and G: its truth at the last step."""
        part = self.rebuilt(part)
        if self.constant(part):
            return part
        if isinstance(part, And | Or) and any(map(self.constant, part.parts)):
            return self._round(part, self._last)
        return Eventually(Globally(part))

    def _round(self, term: And | Or, over_time: Callable[[Term], Term]) -> Term:
        """Apply F or G to the parts of a list that are not constant."""
        kind: Kind = type(term)
        rest = over_time(self.joined(kind, (part for part in term.parts if not self.constant(part))))
        return self.joined(kind, (part if self.constant(part) else rest for part in term.parts))


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


# ---- Simplification in context.
#
# A part of a term matters only where the rest of the term does not decide it. In a ∧ b, b matters only where a is
# true; in a ∨ b, only where a is false; under F and G, only where every claim about later steps is true. A part that
# is certainly true or false there is dropped, and a literal may allow any further values that make it shorter.

ROUNDS = 4


def simplified(term: Term, domains: Domains, first: bool) -> Term:
    """Return the cheapest equivalent term that is found.

    With `first`, the term is evaluated only at the first step of records, else at every step.
    """
    temporal, here = TemporalTerms(domains), StepClaims(domains, WorkBudget(), first)
    found = [term]
    for _ in range(ROUNDS):
        term = temporal.rebuilt(term)
        term = temporal.at_first_step(term) if first else term
        term = _Simplifier(temporal).simplify(term, here)
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

    def simplify(self, term: Term, here: StepClaims) -> Term:  # noqa: PLR0911  one return a kind of term
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
                return self.temporal.eventually(self.simplify(part, here.after()))
            case Globally(part):
                return self.temporal.globally(self.simplify(part, here.after()))
            case CountIn(part=part, times=times):
                inside = self.simplify(part, here.everywhere())
                counted = self.temporal.count(part if inside == TRUE else inside, times)  # "how many steps" is vague
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
            parts[i] = self.simplify(parts[i], there)
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
            return temporal.eventually(_factored(part, temporal))
        case Globally(part):
            return temporal.globally(_factored(part, temporal))
        case CountIn(part=part, times=times):
            return temporal.count(_factored(part, temporal), times)
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
