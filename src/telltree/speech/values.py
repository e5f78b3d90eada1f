"""What a signal may be at a step: sets of values, "missing" being a value like others.

Of these sets are the literals of the normal form made (`terms.Says`). Intersection is "and", union "or", complement
"not", and all three are exact: that is why a negation can always be pushed into a literal.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Interval:
    """Real numbers from `low` to `high`; infinities are values too, so [-inf, inf] is all there are."""

    low: float = -math.inf
    high: float = math.inf
    with_low: bool = True
    with_high: bool = True


@dataclass(frozen=True, slots=True)
class Reals:
    """A set of real numbers, as intervals in order that neither overlap nor touch, and maybe "missing"."""

    intervals: tuple[Interval, ...]
    missing: bool


@dataclass(frozen=True, slots=True)
class Truths:
    """Which of true, false and missing a Boolean column may be."""

    true: bool
    false: bool
    missing: bool


@dataclass(frozen=True, slots=True)
class Names:
    """These categories or, if `others`, all but these, those that no schema knows included; and maybe "missing"."""

    names: frozenset[str]
    others: bool
    missing: bool


@dataclass(frozen=True, slots=True)
class Orders:
    """How the first of two signals may stand to the second; `missing`: one or both are, so that no comparison holds.

    Categories are alike (`equal`) or not; "not" is then both `less` and `greater`, which always agree.
    """

    less: bool
    equal: bool
    greater: bool
    missing: bool


Values: TypeAlias = Reals | Truths | Names | Orders
