"""The proof of a search: the formulas that it covers, none of which is fitter than the best that was found."""

from dataclasses import dataclass

from telltree.text import counted

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Proof:
    """The proof that no formula of a grammar within bounds is fitter, on these records, than the best that was found.

    atoms: the most atoms of the formulas that are covered; 0 if nothing is proved.
    depth: the most operators that they nest.
    size: the most terminals that they have; None if that is not bounded.
    formulas: the number of formulas of the grammar within these bounds.
    tried: the number that was evaluated to cover them. All others mean the same as one of these, or its negation, and
        are no shorter; or they are known not to be good enough, whichever records they are true of.
    wanted: the number of atoms up to which the search should cover formulas; more than `atoms` if it was cut short, or
        its budget was small.
    fitness: the fitness of the best formula found, whatever its size.
    sampled: the number of formulas that were tried beside them, without covering anything.
    is_all: True if these are all formulas of the grammar that nest no deeper.
    goes_deeper: True if the grammar has formulas that nest deeper.
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
        """True if everything is covered that should be."""
        return self.atoms == self.wanted

    def __str__(self) -> str:
        if not self.atoms:
            return f"nothing is proved; {counted(self.tried + self.sampled, 'formula')} tried"
        beyond = self.beyond and f"; {self.beyond}"
        if not self.complete:
            beyond += f", and the search ended before it had covered {in_words(self.wanted)}"
        return f"{self.claim()}: {counted(self.formulas, 'formula')}, covered by {self.tried:,}{beyond}"

    def claim(self, atom: str = "atom") -> str:
        """Return the claim: `no formula of the grammar of up to two atoms is fitter than the best that was found`."""
        bounds = [] if self.is_all else [in_words(self.atoms, atom)]
        if self.size is not None and not self.is_all:
            bounds.append(counted(self.size, "terminal"))
        if self.goes_deeper:
            bounds.append(counted(self.depth, "nested operator"))
        which = " of up to " + " and ".join([*filter(None, [", ".join(bounds[:-1])]), *bounds[-1:]]) if bounds else ""
        return f"no formula of the grammar{which} is fitter than the best that was found"

    @property
    def beyond(self) -> str:
        """A remark on larger formulas; empty if there are none of this depth."""
        if self.is_all:
            return ""
        return "larger ones were sampled" if self.sampled else "larger ones were not tried"


def in_words(number: int, what: str = "atom") -> str:
    """Return a number of atoms as words: `two atoms`."""
    word = _WORDS[number] if number < len(_WORDS) else f"{number:,}"
    return f"{word} {what}" if number == 1 else f"{word} {what}s"
