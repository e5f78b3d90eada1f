"""What a search has proved: which formulas it covers, none of which is fitter than the best it found."""

from dataclasses import dataclass

from telltree.amounts import counted

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Proof:
    """That no formula of a grammar within these bounds is fitter than the best that was found, at the records at hand.

    atoms: all formulas of up to so many atoms are covered; 0 if nothing is proved.
    depth: how many operators they nest at most.
    size: how many terminals they write at most; None if that is not bounded.
    formulas: how many formulas of the grammar that are.
    tried: how many were evaluated to cover them. All others mean the same as one of these, or its negation, and are no
        shorter; or they are known not to be good enough, whichever records they are true of.
    wanted: up to how many atoms the search was to cover; more than `atoms` if it was cut short, or its budget small.
    fitness: that of the best formula found, whatever its size.
    sampled: how many formulas were tried beside them, without covering anything.
    is_all: whether all formulas of the grammar are covered.
    """

    atoms: int
    depth: int
    size: int | None
    formulas: int
    tried: int
    wanted: int
    fitness: float
    sampled: int = 0
    is_all: bool = False

    @property
    def complete(self) -> bool:
        """Whether all is covered that was to be."""
        return self.atoms == self.wanted

    def __str__(self) -> str:
        if not self.atoms and self.sampled:
            return f"nothing is proved; {counted(self.tried + self.sampled, 'formula')} tried"
        if not self.atoms:
            return f"nothing is proved: the search was cut short after {counted(self.tried, 'formula')}"
        if self.is_all:
            return f"no formula of the grammar is fitter: {self.formulas:,} formulas, covered by {self.tried:,}"
        limit = f", {self.size} terminals" if self.size is not None else ""
        return (
            f"no formula of up to {in_words(self.atoms)}{limit} and {self.depth} nested operators is fitter: "
            f"{self.formulas:,} formulas, covered by {self.tried:,}; {self.beyond}{self._why_no_more}"
        )

    @property
    def _why_no_more(self) -> str:
        """Why less is covered than was to be, if so."""
        if self.complete:
            return ""
        if self.sampled:  # the rest of the budget went there
            return f", since the budget was too small to cover {in_words(self.wanted)}"
        return f", and the search was cut short before it had covered {in_words(self.wanted)}"

    @property
    def beyond(self) -> str:
        """What was done about larger formulas, if there are any."""
        if self.is_all:
            return "there are no larger ones"
        return "larger ones were sampled" if self.sampled else "larger ones were not tried"


def in_words(number: int, what: str = "atom") -> str:
    """A number of atoms: `two atoms`."""
    word = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{word} {what}" if number == 1 else f"{word} {what}s"
