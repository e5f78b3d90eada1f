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
    is_all: whether these are all formulas of the grammar that nest no deeper.
    goes_deeper: whether the grammar has formulas that nest deeper.
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
    goes_deeper: bool = True

    @property
    def complete(self) -> bool:
        """Whether all is covered that was to be."""
        return self.atoms == self.wanted

    def __str__(self) -> str:
        if not self.atoms:
            return f"nothing is proved; {counted(self.tried + self.sampled, 'formula')} tried"
        beyond = self.beyond and f"; {self.beyond}"
        if not self.complete:
            beyond += f", and the search ended before it had covered {in_words(self.wanted)}"
        return f"{self.told()}: {counted(self.formulas, 'formula')}, covered by {self.tried:,}{beyond}"

    def told(self, atom: str = "atom") -> str:
        """What is proved: `no formula of the grammar of up to two atoms is fitter than the best that was found`."""
        bounds = [] if self.is_all else [in_words(self.atoms, atom)]
        if self.size is not None and not self.is_all:
            bounds.append(counted(self.size, "terminal"))
        if self.goes_deeper:
            bounds.append(counted(self.depth, "nested operator"))
        which = " of up to " + " and ".join([*filter(None, [", ".join(bounds[:-1])]), *bounds[-1:]]) if bounds else ""
        return f"no formula of the grammar{which} is fitter than the best that was found"

    @property
    def beyond(self) -> str:
        """What was done about larger formulas; nothing is said if there are none of this depth."""
        if self.is_all:
            return ""
        return "larger ones were sampled" if self.sampled else "larger ones were not tried"


def in_words(number: int, what: str = "atom") -> str:
    """A number of atoms: `two atoms`."""
    word = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{word} {what}" if number == 1 else f"{word} {what}s"
