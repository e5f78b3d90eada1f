"""What is known of one step of a record, and whether there can be such a step.

Claims are taken apart until two of them clash: claims about this step, and with them those that hold from here on.
Whatever is found impossible this way is so; what would take too long to find, or takes more than this (arithmetic,
say), is left unfound.
"""

from collections.abc import Hashable, Iterable

from telltree.speech.literals import subject, subjects, values_of
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Always, HowOften, Literal, Says, Some, Sometime, Term
from telltree.speech.values import Values

DEEPEST = 30  # choices and steps into the future, one after the other


class Work:
    """How much may still be done; it counts claims looked at, not time, so that the same formula ends up the same."""

    def __init__(self, most: int) -> None:
        self.left = most

    @property
    def over(self) -> bool:
        """Whether nothing more is to be begun."""
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
        self._subjects: set[Hashable] | None = None  # until asked for, when all is learned
        self._examined: dict[Sometime, int] = {}
        """Hopes looked at, here or on the way here, and how many claims held from there on: no need to ask again."""

    def knowing(self, claims: Iterable[Term]) -> "Situation":
        """This one, with more known."""
        more = Situation(self.possible, self.work, self.first)
        more.impossible = self.impossible
        more.values, more.choices = dict(self.values), list(self.choices)
        more.later, more.hopes, more._examined = dict(self.later), dict(self.hopes), dict(self._examined)
        more._learn(list(claims))
        return more

    @property
    def subjects(self) -> set[Hashable]:
        """What anything is known about."""
        if self._subjects is None:
            self._subjects = set(self.values).union(*map(subjects, (*self.choices, *self.later, *self.hopes)))
        return self._subjects

    def blank(self) -> "Situation":
        """The same step, with nothing known of it."""
        return Situation(self.possible, self.work, self.first)

    def after(self) -> "Situation":
        """What is known of this step and every later one alike."""
        then = Situation(self.possible, self.work)
        then._examined = self._examined
        return then.knowing(self.later)

    def everywhere(self) -> "Situation":
        """What is known of every step of the record alike."""
        held = self.later if self.first else [claim for claim in self.later if self.possible.eventual(claim)]
        return Situation(self.possible, self.work).knowing(held)

    def excludes(self, claim: Term) -> bool:
        """Whether the claim cannot be true here, as far as can be seen."""
        return self.knowing([claim]).contradictory()

    def says(self, claim: Term) -> bool:
        """Whether the claim is true here, as far as can be seen."""
        return self.excludes(self.possible.negated(claim))

    def contradictory(self, depth: int = 0) -> bool:
        """Whether there is no such step in any record, as far as can be seen."""
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
        for claim in claims:  # grows while it is walked
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
        """Leave out of choices what cannot be, and choices that are made."""
        choices, self.choices = self.choices, []
        for i, choice in enumerate(choices):
            parts = tuple(part for part in choice.parts if not self._clashes(part))
            if len(parts) < 2:
                self.impossible = not parts
                if parts:
                    self.choices += choices[i + 1 :]
                    self._learn(list(parts))  # and look at all of them again
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
