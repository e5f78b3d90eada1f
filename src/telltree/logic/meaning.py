"""The meaning of operators for the engine: instruction codes, how operands are read, and traits of signals.

The members of these enumerations are numbers because compiled code has no other names. Their order means nothing: code
that concerns several of them uses one of the sets below, or a table.
"""

import enum
import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray


class MicroOp(enum.IntEnum):
    """The instruction codes of the engine."""

    HOLE = 0
    NAME = 1  # part of an atom: numbers, real and categorical vectors
    ATOM = 2
    AND = 3
    OR = 4
    NOT = 5
    IMPLIES = 6
    EVENTUALLY = 7  # at this step or a later one
    GLOBALLY = 8
    SOME_WITHIN = 9  # at one of the steps of a window that begins here or later
    ALL_WITHIN = 10
    COUNT = 11
    SUBTRACT = 12
    ABS = 13
    SIGN = 14
    COMPARE = 15  # of counts
    SOME_BEFORE = 16  # at one of the steps of a window that ends here or earlier
    ALL_BEFORE = 17
    UNTIL = 18  # the second comes, here or later, and the first holds up to then
    UNLESS = 19  # the same, or the first holds to the end
    SINCE = 20  # the second came, here or earlier, and the first has held since
    RISES = 21  # it holds, and did not at the step before
    FALLS = 22
    STARTS = 23  # the same as RISES, or it holds at the first step
    PRECEDES = 24  # the first holds, here or later, and then the second
    EPISODES = 25  # how often it starts
    LONGEST = 26  # at how many steps in a row it holds, at most


CONNECTIVES = frozenset({MicroOp.AND, MicroOp.OR, MicroOp.IMPLIES})
"""Two operands, step by step."""
AHEAD = frozenset({MicroOp.EVENTUALLY, MicroOp.GLOBALLY})
"""From a step to the end of the record."""
BEHIND = frozenset({MicroOp.SOME_BEFORE, MicroOp.ALL_BEFORE})
"""Windows that extend towards the start of the record."""
WINDOWED = BEHIND | {MicroOp.SOME_WITHIN, MicroOp.ALL_WITHIN}
PAIRED = frozenset({MicroOp.UNTIL, MicroOp.UNLESS, MicroOp.SINCE})
"""Two operands, along time."""
EDGES = frozenset({MicroOp.RISES, MicroOp.FALLS, MicroOp.STARTS})
COUNTED = frozenset({MicroOp.COUNT, MicroOp.EPISODES, MicroOp.LONGEST})
"""From truth at every step to one number a record."""
DUAL = frozenset({MicroOp.GLOBALLY, MicroOp.ALL_WITHIN, MicroOp.ALL_BEFORE})
"""Operators that hold where the operand never fails: G a = ¬F ¬a."""
PLAIN = CONNECTIVES | AHEAD | {MicroOp.NOT}
"""The codes, besides atoms, of formulas that are lowered the short way."""
_JOINING_LATER = WINDOWED | PAIRED | EDGES | {MicroOp.PRECEDES}
LOOKING = _JOINING_LATER | {MicroOp.EPISODES, MicroOp.LONGEST}
"""Codes for which the machine is compiled only if some formula has them."""
JOINING = PLAIN | _JOINING_LATER
"""From truth to truth."""
OF_NUMBERS = COUNTED | {MicroOp.SUBTRACT, MicroOp.ABS, MicroOp.SIGN, MicroOp.COMPARE}
"""Codes that work with one number a record."""


TO_THE_END = (0, math.inf)
"""The window of an operator that looks from a step to the end of the record."""


class Mode(enum.IntEnum):
    """The mode in which a part of a formula is read.

    F needs its operand at some step, and F(a ∨ b) is F a ∨ F b, so ∨ passes this mode on to its operands; likewise G
    and ∧.
    """

    RECORD = 0  # the truth of the record
    STEPS = 1  # the truth of every step
    SOME = 2  # True if it holds at some step
    EVERY = 3  # True if it holds at all steps


def _operand_modes() -> NDArray[np.int32]:
    """Return, by code, mode of the whole and operand, the mode of the operand; the default is every step."""
    modes = np.full((max(MicroOp) + 1, max(Mode) + 1, 2), Mode.STEPS, np.int32)
    modes[[MicroOp.AND, MicroOp.OR, MicroOp.NOT, MicroOp.IMPLIES], Mode.RECORD] = Mode.RECORD
    modes[MicroOp.EVENTUALLY, [Mode.RECORD, Mode.SOME]] = Mode.SOME
    modes[MicroOp.GLOBALLY, [Mode.RECORD, Mode.EVERY]] = Mode.EVERY
    modes[MicroOp.AND, Mode.EVERY] = Mode.EVERY
    modes[MicroOp.OR, Mode.SOME] = Mode.SOME
    modes[MicroOp.NOT, Mode.SOME], modes[MicroOp.NOT, Mode.EVERY] = Mode.EVERY, Mode.SOME
    modes[MicroOp.IMPLIES, Mode.SOME] = Mode.EVERY, Mode.SOME
    return modes


OPERAND_MODES = _operand_modes()

LESS, EQUAL, GREATER = 1, 2, 4
"""The outcomes of a comparison, as bits: each comparison is true for one or two of them."""

Bound: TypeAlias = float | str
"""A number of steps, or the name of the parameter that gives it."""


@dataclass(frozen=True, slots=True)
class Joins:
    """An operator that the engine executes itself: a connective, a temporal operator, or a count."""

    code: MicroOp
    window: tuple[Bound, Bound] | None = None
    """The first and last step that it looks at, relative to the current step."""

    def __post_init__(self) -> None:
        if (self.window is not None) != (self.code in AHEAD | WINDOWED | {MicroOp.PRECEDES}):
            raise ValueError(f"{self.code.name}: a window is for what looks along time, and for that only")


class Infinities(enum.Enum):
    """The effect of infinite operands on a signal."""

    NONE = "it is finite all the same, or missing"
    KEPT = "it may be infinite, as is one of its operands"
    CANCEL = "it may be infinite, and is missing where infinities cancel; of finite operands, it may overflow"


class Scope(enum.Enum):
    """The steps of a record from which a signal gets its value at one step."""

    STEP = "this step, or the change since an earlier one: it changes only if an operand does"
    POSITION = "none: it is the position of the step"
    WINDOW = "a window of steps that ends here or earlier"
    SO_FAR = "all steps up to this one"
    RECORD = "all steps of the record: it is the same at each of them"


SEVERAL = frozenset({Scope.WINDOW, Scope.SO_FAR, Scope.RECORD})
"""Scopes of signals that take the values at several steps together."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A number made of several values of a signal, in the unit of these: of a window, or of a whole record."""

    name: str
    """The spelling, as in min[0, 5](x) and min(x)."""
    noun: str
    """The name in sentences: "minimum"."""
    infinities: Infinities


@dataclass(frozen=True, slots=True)
class Makes:
    """An operator that makes or compares signals: to the engine, a part of an atom."""

    on_counts: MicroOp | None = None
    """Its code for operands that are counts, if it takes any."""
    outcomes: int = 0
    """The outcomes for which a comparison is true."""
    keeps_unit: bool = False
    """True if the signal is measured in the unit of its operands."""
    infinities: Infinities | None = None
    """None if it makes no numbers."""
    scope: Scope = Scope.STEP
    aggregate: Aggregate | None = None
    """The aggregate that it is over its scope, if it is one; many cells follow from it."""
    window: tuple[Bound, Bound] | None = None
    """The first and last step that a look back covers, counted back from the current step."""
    gaps: bool = False
    """True if it may be missing where no operand is."""

    @property
    def moves(self) -> bool:
        """True if it may differ between steps at which its operands are the same, as at the start of a window."""
        return self.scope not in (Scope.STEP, Scope.RECORD)

    @property
    def lasts(self) -> bool:
        """True if it is the same at every step of a record, whatever its operands are."""
        return self.scope is Scope.RECORD


Meaning: TypeAlias = Joins | Makes
