"""Implication by refutation: a claim follows from others if these and its negation cannot all be true.

Claims are terms. They are taken apart until two contradict each other: claims about one step, and claims that hold from
that step on. Every contradiction found is real, but not all are found: some would take too long, or need arithmetic.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from telltree.english.conversion import comparison_literal, direct_term, opposite
from telltree.english.terms import (
    And,
    CountIn,
    Domains,
    Eventually,
    Globally,
    Literal,
    Opaque,
    Or,
    Term,
    ValueIn,
    subject,
    subjects,
    values_of,
    with_values,
)
from telltree.english.value_sets import Values
from telltree.logic import Expression, Type
from telltree.logic.expression import SPELT_OUT, spelt_out
from telltree.logic.operators import (
    COMPARISONS,
    EVENTUALLY_WITHIN,
    GLOBALLY_WITHIN,
    HISTORICALLY,
    HISTORICALLY_WITHIN,
    ONCE,
    ONCE_WITHIN,
)

MOST_WORK = 5_000  # claims examined per formula
DEEPEST = 30  # choices and steps into the future, nested


def redundant(conjuncts: Sequence[Expression]) -> list[bool]:
    """Select conjuncts to omit: together they follow from those that stay, for every possible record.

    Earlier conjuncts, which say less about a category, are omitted first.
    """
    claims = [_claim(conjunct) for conjunct in conjuncts]
    omitted = [False] * len(claims)
    for i, conjunct in enumerate(conjuncts):
        others = [claim for j, claim in enumerate(claims) if j != i and not omitted[j]]
        omitted[i] = _contradict([*others, _claim(conjunct, False)])
    return omitted


def follows(conclusion: Expression, premises: Iterable[Expression]) -> bool:
    """Return True if a formula is found to follow from others for every possible record."""
    return _contradict([*map(_claim, premises), _claim(conclusion, False)])


def _contradict(claims: Iterable[Term]) -> bool:
    return StepClaims(_ANY, WorkBudget()).with_claims(claims).contradictory()


# ---- Formulas as claims: terms with the consequences of operators that the normal form keeps whole.

_ANY = Domains()


def _claim(e: Expression, truth: bool = True) -> Term:
    return _with_consequences(direct_term(_without_phrases(e), _ANY, truth))


def _without_phrases(e: Expression) -> Expression:
    """Remove a grammar's own phrases, which would make their expressions opaque."""
    return replace(e, english=None, parts=(), args=tuple(map(_without_phrases, e.args)))


def _with_consequences(term: Term) -> Term:
    match term:
        case And(parts) | Or(parts):
            return type(term)(tuple(map(_with_consequences, parts)))
        case Eventually(part) | Globally(part):
            return type(term)(_with_consequences(part))
        case Opaque(expression=e, holds=holds):
            return _opened(e, holds)
    return term


def _opened(e: Expression, holds: bool) -> Term:
    """Express an opaque literal by a simpler one, and by what it implies about this step and later ones."""
    if e.head in SPELT_OUT:
        return _claim(spelt_out(e), holds)
    if e.type is Type.BOOLEAN and e.head in COMPARISONS:
        compared = comparison_literal(e)
        return compared if holds else with_values(compared, replace(~values_of(compared), missing=False))
    if e.head in _DUALS:  # G[a, b] p is ¬F[a, b] ¬p
        return _opened(Expression(_DUALS[e.head], (opposite(e.args[0]), *e.args[1:])), not holds)
    if e.head is EVENTUALLY_WITHIN and holds:
        return And((Opaque(e, True), Eventually(_claim(e.args[0]))))
    if e.head is EVENTUALLY_WITHIN and e.window[0] == 0:
        return And((Opaque(e, False), _claim(e.args[0], False)))
    return Opaque(e, holds)


_DUALS = {GLOBALLY_WITHIN: EVENTUALLY_WITHIN, HISTORICALLY: ONCE, HISTORICALLY_WITHIN: ONCE_WITHIN}


# ---- Refutation: claims that cannot all be true at one step of a record.


class WorkBudget:
    """A budget of claims to examine. It does not measure time, so results do not depend on the machine."""

    def __init__(self) -> None:
        self.left = MOST_WORK

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
