"""What is known of one step of a record, and whether such a step can exist.

Claims are taken apart until two of them contradict each other: claims about this step, and those that hold from here
on. A contradiction that is found is real. Not all are found: some would take too long, or need more than this method,
such as arithmetic.
"""

from collections.abc import Hashable, Iterable

from telltree.speech.literals import subject, subjects, values_of
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Always, HowOften, Literal, Says, Some, Sometime, Term
from telltree.speech.values import Values

DEEPEST = 30  # choices and steps into the future, nested


class Work:
    """How much work is left. It counts claims, not time, so that the same formula always ends up the same."""

    def __init__(self, most: int) -> None:
        self.left = most

    @property
    def over(self) -> bool:
        """Whether no more work may be started."""
        return self.left < 0


class Situation:
    """Claims that are all true at one step."""

    def __init__(self, possible: Possible, work: Work, first: bool = False) -> None:
        self.possible = possible
        self.work = work
        self.first = first
        """Whether this is the first step of a record."""
        self.impossible = False
        self.values: dict[Hashable, Values] = {}
        self.choices: list[Some] = []
        self.later: dict[Term, None] = {}
        """What holds from here on."""
        self.hopes: dict[Sometime, None] = {}
        """What must happen, here or later."""
        self._subjects: set[Hashable] | None = None  # computed when needed, after all claims are known
        self._examined: dict[Sometime, int] = {}
        """Hopes already examined, here or on the way here, with how many claims held from there on: to do it once."""

    def knowing(self, claims: Iterable[Term]) -> "Situation":
        """A copy in which more is known."""
        more = Situation(self.possible, self.work, self.first)
        more.impossible = self.impossible
        more.values, more.choices = dict(self.values), list(self.choices)
        more.later, more.hopes, more._examined = dict(self.later), dict(self.hopes), dict(self._examined)
        more._learn(list(claims))
        return more

    @property
    def subjects(self) -> set[Hashable]:
        """The subjects about which something is known."""
        if self._subjects is None:
            self._subjects = set(self.values).union(*map(subjects, (*self.choices, *self.later, *self.hopes)))
        return self._subjects

    def blank(self) -> "Situation":
        """The same step, with nothing known of it."""
        return Situation(self.possible, self.work, self.first)

    def after(self) -> "Situation":
        """What is known of this step and all later ones."""
        then = Situation(self.possible, self.work)
        then._examined = self._examined
        return then.knowing(self.later)

    def everywhere(self) -> "Situation":
        """What is known of every step of the record."""
        held = self.later if self.first else [claim for claim in self.later if self.possible.eventual(claim)]
        return Situation(self.possible, self.work).knowing(held)

    def excludes(self, claim: Term) -> bool:
        """Whether the claim cannot be true here, as far as can be found."""
        return self.knowing([claim]).contradictory()

    def says(self, claim: Term) -> bool:
        """Whether the claim must be true here, as far as can be found."""
        return self.excludes(self.possible.negated(claim))

    def contradictory(self, depth: int = 0) -> bool:
        """Whether no record can have such a step, as far as can be found."""
        if self.impossible:
            return True
        if self.work.over or depth > DEEPEST:
            return False
        for hope in self.hopes:
            if self._examined.get(hope, -1) < len(self.later):
                self._examined[hope] = len(self.later)
                if self.after().knowing([hope.part]).contradictory(depth + 1):
                    return True
        if not self.choices:
            return False
        choice = min(self.choices, key=lambda choice: len(choice.parts))
        rest = self.knowing(())
        rest.choices.remove(choice)
        return all(rest.knowing([part]).contradictory(depth + 1) for part in choice.parts)

    def _learn(self, claims: list[Term]) -> None:
        for claim in claims:  # grows during the loop
            self.work.left -= 1
            if self.possible.enduring(claim) and not isinstance(claim, All):
                self.later[claim] = None
            match claim:
                case All(parts):
                    claims.extend(parts)
                case Some():
                    self.choices.append(claim)
                case Always(part):
                    claims.append(part)
                case Sometime():
                    self.hopes[claim] = None
                case _:
                    self._learn_values(claim, claims)
            if self.impossible:
                return
        self._narrow_choices()

    def _learn_values(self, claim: Literal, claims: list[Term]) -> None:
        about = subject(claim)
        self.values[about] = self.values[about] & values_of(claim) if about in self.values else values_of(claim)
        self.impossible = self.values[about].empty
        if self.first and isinstance(claim, HowOften) and 0.0 not in claim.times:
            claims.append(Sometime(claim.part))

    def _narrow_choices(self) -> None:
        """Drop impossible parts of choices, and choices that are already decided."""
        choices, self.choices = self.choices, []
        for i, choice in enumerate(choices):
            parts = tuple(part for part in choice.parts if not self._clashes(part))
            if len(parts) < 2:
                self.impossible = not parts
                if parts:
                    self.choices += choices[i + 1 :]
                    self._learn(list(parts))  # and examine all of them again
                return
            if not any(map(self._given, parts)):
                self.choices.append(Some(parts))

    def _clashes(self, claim: Term) -> bool:
        """Whether a claim is refuted by the values known here alone."""
        if isinstance(claim, Says):  # most are
            self.work.left -= 1
            values = self.values.get(claim.signal)
            return values is not None and not values.meets(claim.values)
        match claim:
            case All(parts):
                return any(map(self._clashes, parts))
            case Some(parts):
                return all(map(self._clashes, parts))
            case Always(part):
                return self._clashes(part)
            case Sometime():
                return False
        self.work.left -= 1
        known = self.values.get(subject(claim))
        return known is not None and not known.meets(values_of(claim))

    def _given(self, claim: Term) -> bool:
        """Whether a claim follows from the values known here alone, or is known itself."""
        if isinstance(claim, Says):
            self.work.left -= 1
            values = self.values.get(claim.signal)
            return values is not None and values.within(claim.values)
        match claim:
            case All(parts):
                return all(map(self._given, parts))
            case Some(parts):
                return any(map(self._given, parts))
            case Sometime(part):
                return claim in self.hopes or self._given(part)
            case Always():
                return claim in self.later
        self.work.left -= 1
        known = self.values.get(subject(claim))
        return known is not None and known.within(values_of(claim))
