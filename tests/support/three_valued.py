"""The judge of three-valued truth, Kleene's strong logic: plain Python, step by step, and nothing of telltree.

Formulas and records are those of `oracle`, whose functions on numbers it calls. Truth is 0 (false), 1 (unknown) or
2 (true), so that ∧ is min, ∨ is max and ¬x is 2 − x. A number is unknown (None) where a value is missing, and NOTHING
where there is no step to take it from. A count is a pair: the fewest and the most that it may be.
"""

import math

from tests.support import oracle
from tests.support.oracle import is_nan, known, length

FALSE, UNKNOWN, TRUE = 0, 1, 2
NOTHING = object()
"""A number that does not exist: nobody could have recorded it."""
COUNTS = ("count", "episodes", "longest")


class NoBoundsError(Exception):
    """Between which numbers it lies is not known."""


def truth(formula, record, functions):
    """The answer for a record: its value at the first step."""
    return over_time(formula, record, functions)[0]


def over_time(formula, record, functions):
    """The answer at each step of a record."""
    head, operands = formula[0], formula[1:]
    if head == "x":
        return [UNKNOWN if value is None else TRUE if value is True else FALSE for value in record[operands[0]]]
    if head in oracle.COMPARE:
        if any(map(is_count, operands)):
            ranges = [count(operand, record, functions) for operand in operands]
            return [compared(head, *ranges)] * length(record)
        sides = [signal(operand, record, functions) for operand in operands]
        return [atom(head, *values) for values in zip(*sides, strict=True)]
    if head == "missing":
        return [TRUE if lacks else FALSE for lacks in missing(operands[0], record, functions)]
    if head == "call":
        return [TRUE if value is True else FALSE for value in called(formula, record, functions)]
    given = [
        int(operand[1]) if operand[0] == "number" else over_time(operand, record, functions) for operand in operands
    ]
    return JOINED[head](*given)


def atom(head, *values):
    """A comparison at one step."""
    if NOTHING in values:
        return FALSE
    if None in values:
        return UNKNOWN
    return TRUE if oracle.COMPARE[head](1, *([value] for value in values))[0] else FALSE


def missing(operand, record, functions):
    """The answer of `missing` is never unknown; conditions are not missing, but Boolean columns may be."""
    if operand[0] == "x":
        return [value is None or is_nan(value) for value in record[operand[1]]]
    if operand[0] in JOINED or operand[0] in oracle.COMPARE or operand[0] == "missing":
        return [False] * length(record)
    return [value is None or value is NOTHING for value in signal(operand, record, functions)]


def signal(formula, record, functions):
    """Return the value of a signal at each step, None where it is unknown, or NOTHING."""
    head, operands = formula[0], formula[1:]
    n = length(record)
    if head == "x":
        yielded = record[operands[0]]
    elif head in ("number", "level"):
        yielded = [operands[0]] * n
    elif head == "call":
        yielded = called(formula, record, functions)
    elif head in oracle.ARITHMETIC:
        given = zip(*(signal(operand, record, functions) for operand in operands), strict=True)
        yielded = [of_all(lambda *step: oracle.ARITHMETIC[head](1, *([x] for x in step))[0], step) for step in given]
    elif head == "latest":
        x, held = signal(operands[0], record, functions), over_time(operands[1], record, functions)
        steps = [[s for s in range(t + 1) if held[s] == TRUE] for t in range(n)]
        yielded = [x[last[-1]] if last else NOTHING for last in steps]
    elif head == "change":
        x, k = signal(operands[0], record, functions), int(operands[1][1])
        yielded = [of_all(lambda a, b: a - b, (x[t], x[max(0, t - k)])) for t in range(n)]
    elif head == "distance[]":
        x, steps = signal(operands[0], record, functions), len(operands[1][1])
        found = oracle.distance(n, [None if value is NOTHING else value for value in x], [operands[1][1]] * n)
        pieces = [x[t - steps + 1 : t + 1] if t >= steps - 1 else [NOTHING] for t in range(n)]
        yielded = [NOTHING if NOTHING in piece else found[t] for t, piece in enumerate(pieces)]
    elif head in oracle.CLOCKS:
        yielded = oracle.clock(head, record)
    else:
        yielded = made_of_several(head, operands, record, functions)
    return [None if is_nan(value) else value for value in yielded]


def of_all(operate, values):
    if NOTHING in values:
        return NOTHING
    return None if None in values else operate(*values)


def made_of_several(head, operands, record, functions):
    """An aggregate of the values at several steps: of those that are known, if any of them exists."""
    x, n = signal(operands[0], record, functions), length(record)
    if head.endswith("[]"):
        first, last = (operand[1] for operand in operands[1:])
        seen = [[s for s in range(t + 1) if first <= t - s <= last] for t in range(n)]
    else:
        seen = [list(range(t + 1 if head == "total" else n)) for t in range(n)]
    whole = head if not head.endswith("[]") else head[:-2]

    def made(steps):
        there = [s for s in steps if x[s] is not NOTHING]
        if not there:
            return NOTHING
        values = [x[s] if s in there else None for s in range(n)]
        values = [value if s in steps else None for s, value in enumerate(values)]
        return oracle.MEANING[whole](n, values)[-1]  # which leaves out what is None

    return [made(steps) for steps in seen]


def called(formula, record, functions):
    """Return the answer of a user function: it gets None where a value is unknown, and decides by itself."""

    def given(operand):
        conditions = operand[0] in JOINED or operand[0] in oracle.COMPARE or operand[0] == "missing"
        if conditions or (operand[0] == "x" and any(isinstance(v, bool) for v in record[operand[1]])):
            return [value == TRUE for value in over_time(operand, record, functions)]
        return [None if value is NOTHING else known(value) for value in signal(operand, record, functions)]

    return functions[formula[1]](*map(given, formula[2:]))


def is_count(formula):
    return formula[0] in COUNTS or (formula[0] in oracle.ARITHMETIC and any(map(is_count, formula[1:])))


def count(formula, record, functions):
    """The fewest and the most that it may be."""
    head, operands = formula[0], formula[1:]
    if head == "number":
        return operands[0], operands[0]
    if head in COUNTS:
        a = over_time(operands[0], record, functions)
        if head == "count":
            return tuple(sum(x >= least for x in a) for least in (TRUE, UNKNOWN))
        if head == "longest":
            return tuple(max(oracle.runs([x >= least for x in a]), default=0) for least in (TRUE, UNKNOWN))
        starts = [min(x, TRUE - a[t - 1]) if t else x for t, x in enumerate(a)]
        return tuple(sum(x >= least for x in starts) for least in (TRUE, UNKNOWN))
    ranges = [count(operand, record, functions) for operand in operands]
    if head == "-":
        return ranges[0][0] - ranges[1][1], ranges[0][1] - ranges[1][0]
    if head == "sign":
        return tuple(math.copysign(1.0, x) if x else 0.0 for x in ranges[0])
    raise NoBoundsError


def compared(head, first, second):
    """By the bounds: true or false if that is so of all numbers between them."""
    (a, b), (c, d) = first, second
    match head:
        case "<":
            return TRUE if b < c else FALSE if a >= d else UNKNOWN
        case "<=":
            return TRUE if b <= c else FALSE if a > d else UNKNOWN
        case ">" | ">=":
            return compared({">": "<", ">=": "<="}[head], second, first)
    return TRUE if a == b == c == d else FALSE if b < c or d < a else UNKNOWN


def window(a, t, first, last):
    return a[t + first : t + last + 1]


def backwards(look):
    return lambda a, *bounds: look(a[::-1], *bounds)[::-1]


def comes(a, b):
    return max(min([b[t], *a[:t]]) for t in range(len(b)))


def follows(a, b, first, last):
    return max(min(a[t], max(window(b, t, first, last), default=FALSE)) for t in range(len(a)))


def some(a, first, last):
    return [max(window(a, t, first, last), default=FALSE) for t in range(len(a))]


def every(a, first, last):
    return [min(window(a, t, first, last), default=TRUE) for t in range(len(a))]


JOINED = {
    "not": lambda a: [TRUE - x for x in a],
    "and": lambda a, b: list(map(min, a, b)),
    "or": lambda a, b: list(map(max, a, b)),
    "implies": lambda a, b: [max(TRUE - x, y) for x, y in zip(a, b, strict=True)],
    "F": lambda a: some(a, 0, len(a)),
    "G": lambda a: every(a, 0, len(a)),
    "F[]": some,
    "G[]": every,
    "once[]": backwards(some),
    "historically[]": backwards(every),
    "once": lambda a: backwards(some)(a, 0, len(a)),
    "historically": lambda a: backwards(every)(a, 0, len(a)),
    "next": lambda a: [*a[1:], FALSE],
    "previous": lambda a: [FALSE, *a[:-1]],
    "until": lambda a, b: [comes(a[t:], b[t:]) for t in range(len(a))],
    "unless": lambda a, b: [max(comes(a[t:], b[t:]), min(a[t:])) for t in range(len(a))],
    "since": lambda a, b: [comes(a[t::-1], b[t::-1]) for t in range(len(a))],
    "rise": lambda a: [min(a[t], TRUE - a[t - 1]) if t else FALSE for t in range(len(a))],
    "fall": lambda a: [min(TRUE - a[t], a[t - 1]) if t else FALSE for t in range(len(a))],
    "before": lambda a, b: [follows(a[t:], b[t:], 1, len(a)) for t in range(len(a))],
    "before[]": lambda a, b, i, j: [follows(a[t:], b[t:], i, j) for t in range(len(a))],
}
"""The answer of each operator that joins conditions, from those of its operands at every step and its parameters."""
