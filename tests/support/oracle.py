"""The judge: what formulas mean, record by record and step by step, in plain Python that shares nothing with telltree.

A formula is a nested tuple, its operator first: ("F", ("and", ("x", "on"), ("<", ("x", "alt"), ("number", 2.0)))).
Leaves are ("x", column), ("number", value), ("level", name) and ("shape", numbers); ("call", name, operand, ...) calls
a function.
A record is a dict from column to a list with one value a step: floats, Booleans or names, None where missing; under
TIMES it has the times of its steps, if these are known and differ in length.
Functions are a dict from name to a plain function on such lists.
"""

import json
import math
import operator
import re

TIMES = object()
UNSEEN = object()
"""A category that the schema does not know: it is not missing, and equals nothing."""


def truth(formula, record, functions):
    """Return the truth of the formula for a record: its value at the first step."""
    return over_time(formula, record, functions)[0]


def over_time(formula, record, functions):
    """Return the truth of the formula at each step of a record; a missing Boolean is false."""
    return [value is True for value in values(formula, record, functions)]


def values(formula, record, functions):
    """Return the value of an expression of any type at each step of a record; None where it is missing."""
    head, operands = formula[0], formula[1:]
    if head in ("x", "number", "level", "shape"):
        yielded = record[operands[0]] if head == "x" else [operands[0]] * length(record)
    elif head in CLOCKS:
        yielded = clock(head, record)
    elif head == "call":
        given = [values(operand, record, functions) for operand in operands[1:]]
        yielded = functions[operands[0]](*([known(value) for value in operand] for operand in given))
    else:
        yielded = MEANING[head](length(record), *(values(operand, record, functions) for operand in operands))
    return [None if is_nan(value) else value for value in yielded]


def clock(head, record):
    """Return the place of each step in the record; its number, if times are not known."""
    return CLOCKS[head](record.get(TIMES, range(length(record))))


def length(record):
    return len(next(iter(record.values())))


def known(value):
    return None if value is UNSEEN else value


def is_nan(value):
    """Also the answer to inf - inf, which is none."""
    return value != value  # noqa: PLR0124 - NaN alone differs from itself


def joined(join):
    """From the truth of the operands at every step to the value at every step; a missing Boolean is false."""
    return lambda n, *operands: join(*([value is True for value in operand] for operand in operands))


def stepwise(operate, lacking):
    """An operator that depends on one step alone, and its value where an operand is missing."""

    def at_a_step(*operands):
        return lacking if any(value is None or value is UNSEEN for value in operands) else operate(*operands)

    return lambda n, *operands: [at_a_step(*step) for step in zip(*operands, strict=True)]


def change(n, x, k):
    before = [x[max(0, t - int(k[t]))] for t in range(n)]
    return ARITHMETIC["-"](n, x, before)


def window(a, t, first, last):
    """Return the values from step t + first to step t + last; the bounds are the same at every step."""
    low, high = (int(bound[t] if isinstance(bound, list) else bound) for bound in (first, last))
    return a[t + low : t + high + 1]


def looked_back_at(made):
    """An aggregate of the numbers in a window of earlier steps, of those that are not missing."""

    def moving(n, x, first, last):
        seen = [[x[s] for s in range(t + 1) if first[t] <= t - s <= last[t] and x[s] is not None] for t in range(n)]
        return [made(numbers) if numbers else None for numbers in seen]

    return moving


def added(numbers):
    infinite = [x for x in numbers if math.isinf(x)]
    return sum(infinite) if infinite else math.fsum(numbers)


def mean(numbers):
    return added(numbers) / len(numbers)


def latest(n, x, a):
    steps = [[s for s in range(t + 1) if a[s] is True] for t in range(n)]
    return [x[held[-1]] if held else None for held in steps]


def of_record(made):
    """An aggregate of the numbers of the record that are not missing, with their steps; the same at every step."""

    def whole(n, x):
        there = [t for t in range(n) if x[t] is not None]
        return [made(there, [x[t] for t in there]) if there else None] * n

    return whole


def slope(steps, numbers):
    if any(map(math.isinf, numbers)):
        return None
    n, width = len(steps), sum((s - t) ** 2 for s in steps for t in steps)  # twice n times the squares about the mean
    weights = [n * t - sum(steps) for t in steps]
    return math.fsum(w * x for w, x in zip(weights, numbers, strict=True)) / (width // 2) if width else 0.0


def distance(n, x, shape):
    """The distance of the last steps from a shape, both with mean 0 and standard deviation 1, to a millionth."""

    def normal(numbers):
        size = max(map(abs, numbers))
        numbers = [number / size for number in numbers] if size else numbers  # squares of huge numbers are too large
        centre = mean(numbers)
        deviation = math.sqrt(mean([(number - centre) ** 2 for number in numbers]))
        flat = max(numbers) == min(numbers)
        return [0.0 if flat else (number - centre) / deviation for number in numbers]

    def at(t):
        piece = x[t - len(shape[t]) + 1 : t + 1] if t >= len(shape[t]) - 1 else [None]
        if any(number is None or math.isinf(number) for number in piece):
            return None
        pairs = zip(normal(piece), normal(shape[t]), strict=True)
        return round(math.sqrt(mean([(a - b) ** 2 for a, b in pairs])), 6)

    return [at(t) for t in range(n)]


def comes(a, b):
    """True if b comes, and a holds at all steps before it."""
    return any(b[t] and all(a[:t]) for t in range(len(b)))


def follows(a, b, first, last):
    """True if a holds at some step, and b within a window of later steps."""
    return any(a[t] is True and any(x is True for x in window(b, t, first, last)) for t in range(len(a)))


def runs(a):
    """Return the length of each stretch of true steps."""
    return [len(stretch) for stretch in "".join("x" if x else " " for x in a).split()]


def nearest(a, b):
    """The margin of that."""
    return max(min(b[t], *a[:t]) if t else b[0] for t in range(len(b)))


CLOCKS = {
    "elapsed": lambda times: [float(time - times[0]) for time in times],
    "left": lambda times: [float(times[-1] - time) for time in times],
    "length": lambda times: [float(len(times))] * len(times),
    "gone": lambda times: [(time - times[0]) / (times[-1] - times[0]) for time in times[:-1]] + [1.0],
}
COMPARE = {
    "<": stepwise(operator.lt, False),
    "<=": stepwise(operator.le, False),
    ">": stepwise(operator.gt, False),
    ">=": stepwise(operator.ge, False),
    "=": stepwise(operator.eq, False),
}
ARITHMETIC = {
    "-": stepwise(operator.sub, None),
    "abs": stepwise(abs, None),
    "sign": stepwise(lambda x: float((x > 0) - (x < 0)), None),
}
MEANING = {
    **COMPARE,
    **ARITHMETIC,
    "not": joined(lambda a: [not x for x in a]),
    "and": joined(lambda a, b: [x and y for x, y in zip(a, b, strict=True)]),
    "or": joined(lambda a, b: [x or y for x, y in zip(a, b, strict=True)]),
    "implies": joined(lambda a, b: [not x or y for x, y in zip(a, b, strict=True)]),
    "F": joined(lambda a: [any(a[t:]) for t in range(len(a))]),
    "G": joined(lambda a: [all(a[t:]) for t in range(len(a))]),
    "F[]": lambda n, a, first, last: [any(x is True for x in window(a, t, first, last)) for t in range(n)],
    "G[]": lambda n, a, first, last: [all(x is True for x in window(a, t, first, last)) for t in range(n)],
    "once[]": lambda n, a, first, last: MEANING["F[]"](n, a[::-1], first, last)[::-1],
    "historically[]": lambda n, a, first, last: MEANING["G[]"](n, a[::-1], first, last)[::-1],
    "next": joined(lambda a: [*a[1:], False]),
    "previous": joined(lambda a: [False, *a[:-1]]),
    "once": joined(lambda a: [any(a[: t + 1]) for t in range(len(a))]),
    "historically": joined(lambda a: [all(a[: t + 1]) for t in range(len(a))]),
    "until": joined(lambda a, b: [comes(a[t:], b[t:]) for t in range(len(a))]),
    "unless": joined(lambda a, b: [comes(a[t:], b[t:]) or all(a[t:]) for t in range(len(a))]),
    "since": joined(lambda a, b: [comes(a[t::-1], b[t::-1]) for t in range(len(a))]),
    "rise": joined(lambda a: [t > 0 and a[t] and not a[t - 1] for t in range(len(a))]),
    "fall": joined(lambda a: [t > 0 and not a[t] and a[t - 1] for t in range(len(a))]),
    "before": joined(lambda a, b: [follows(a[t:], b[t:], 1, len(a)) for t in range(len(a))]),
    "before[]": lambda n, a, b, i, j: [follows(a[t:], b[t:], i[t], j[t]) for t in range(n)],
    "episodes": joined(lambda a: [float(len(runs(a)))] * len(a)),
    "longest": joined(lambda a: [float(max(runs(a), default=0))] * len(a)),
    "count": joined(lambda a: [float(sum(a))] * len(a)),  # of the whole record, at every step
    "missing": lambda n, a: [value is None for value in a],
    **{head: lambda n, at=at: at(range(n)) for head, at in CLOCKS.items()},
    "change": change,
    "mean[]": looked_back_at(mean),
    "min[]": looked_back_at(min),
    "max[]": looked_back_at(max),
    "spread[]": looked_back_at(lambda numbers: max(numbers) - min(numbers)),
    "total": lambda n, x: looked_back_at(added)(n, x, [0] * n, [n] * n),
    "latest": latest,
    "mean": of_record(lambda steps, numbers: mean(numbers)),
    "min": of_record(lambda steps, numbers: min(numbers)),
    "max": of_record(lambda steps, numbers: max(numbers)),
    "spread": of_record(lambda steps, numbers: max(numbers) - min(numbers)),
    "slope": of_record(slope),
    "first": of_record(lambda steps, numbers: numbers[0]),
    "last": of_record(lambda steps, numbers: numbers[-1]),
    "when_min": of_record(lambda steps, numbers: float(steps[numbers.index(min(numbers))])),
    "when_max": of_record(lambda steps, numbers: float(steps[numbers.index(max(numbers))])),
    "distance[]": distance,
}
"""The meaning of each operator, by name: from the number of steps, and the values of operands and parameters at every
step, to its values at every step."""

MARGIN = {
    "not": lambda a: [-x for x in a],
    "and": lambda a, b: list(map(min, a, b)),
    "or": lambda a, b: list(map(max, a, b)),
    "implies": lambda a, b: [max(-x, y) for x, y in zip(a, b, strict=True)],
    "F": lambda a: [max(a[t:]) for t in range(len(a))],
    "G": lambda a: [min(a[t:]) for t in range(len(a))],
    "F[]": lambda a, i, j: [max(window(a, t, i, j), default=-1.0) for t in range(len(a))],
    "once[]": lambda a, i, j: MARGIN["F[]"](a[::-1], i, j)[::-1],
    "historically[]": lambda a, i, j: MARGIN["G[]"](a[::-1], i, j)[::-1],
    "next": lambda a: [*a[1:], -1.0],
    "previous": lambda a: [-1.0, *a[:-1]],
    "once": lambda a: [max(a[: t + 1]) for t in range(len(a))],
    "historically": lambda a: [min(a[: t + 1]) for t in range(len(a))],
    "until": lambda a, b: [nearest(a[t:], b[t:]) for t in range(len(a))],
    "unless": lambda a, b: [max(nearest(a[t:], b[t:]), min(a[t:])) for t in range(len(a))],
    "since": lambda a, b: [nearest(a[t::-1], b[t::-1]) for t in range(len(a))],
    "rise": lambda a: [min(a[t], -a[t - 1] if t else -1.0) for t in range(len(a))],
    "fall": lambda a: [min(-a[t], a[t - 1] if t else -1.0) for t in range(len(a))],
    "before": lambda a, b: MARGIN["before[]"](a, b, 1, len(a)),
    "before[]": lambda a, b, i, j: [
        max(min(a[s], max(window(b, s, i, j), default=-1.0)) for s in range(t, len(a))) for t in range(len(a))
    ],
    "G[]": lambda a, i, j: [min(window(a, t, i, j), default=1.0) for t in range(len(a))],
}
"""The robustness of each operator that joins conditions, from that of its operands at every step and its parameters."""


SPELLINGS = {
    "and": ("and", "∧"),
    "or": ("or", "∨"),
    "not": ("not", "¬"),
    "implies": ("implies", "⇒", "=>"),
    "<=": ("<=", "≤"),
    ">=": (">=", "≥"),
    "=": ("=", "=="),
    "-": ("-", "−"),
}
WORDS = {
    "each", "other", "grid", "quantiles", "thresholds", "levels", "random", "real", "Boolean", "categorical", "kind",
}  # fmt: skip
"""Names that are quoted when columns have them, beside those of operators."""

# How tightly an operator binds, and how tightly its left and right operands must; what is not here is closed.
BINDS = {"implies": (1, 2, 1), "or": (2, 2, 3), "and": (3, 3, 4), "not": (4, 4, 4), "-": (6, 6, 7)}
BINDS |= dict.fromkeys(COMPARE, (5, 6, 6))


def text(formula, rng, least=0):
    """The formula as text, with the fewest brackets or more, in any spelling; `rng` chooses."""
    head = formula[0]
    binds, left, right = BINDS.get(head, (9, 0, 0))
    match formula:
        case ("x", name):
            written = name_text(name, rng)
        case ("number", value):
            written = number_text(value, rng)
        case ("level", name):
            written = json.dumps(name, ensure_ascii=rng.random() < 0.5)
        case ("call", name, *operands):
            written = name + bracketed(", ".join(text(operand, rng) for operand in operands), rng)
        case (_, operand, ("shape", numbers)):
            within = ", ".join(number_text(number, rng) for number in numbers)
            written = f"{head[:-2]}[{within}]" + bracketed(text(operand, rng), rng)
        case (_, *operands, first, last) if head.endswith("[]"):
            within = f"[{text(first, rng)}, {text(last, rng)}]"
            written = head[:-2] + within + bracketed(", ".join(text(operand, rng) for operand in operands), rng)
        case ("not", operand):
            sign = rng.choice(SPELLINGS["not"])
            written = sign + " " * (sign == "not" or rng.random() < 0.5) + text(operand, rng, left)
        case (_, *operands) if head not in BINDS:
            written = head + bracketed(", ".join(text(operand, rng) for operand in operands), rng)
        case (_, first, second):
            sign = rng.choice(SPELLINGS.get(head, (head,)))
            gap = " " if sign.isalpha() or rng.random() < 0.7 else ""
            written = text(first, rng, left) + gap + sign + gap + text(second, rng, right)
    return bracketed(written, rng) if binds < least or rng.random() < 0.1 else written


def bracketed(written, rng):
    return f"( {written}\n)" if rng.random() < 0.1 else f"({written})"


def name_text(name, rng):
    """Bare if that is possible, but sometimes in backticks all the same."""
    if re.fullmatch(r"[^\W\d]\w*", name) and name not in WORDS and name not in MEANING and rng.random() < 0.9:
        return name
    return "`" + json.dumps(name, ensure_ascii=rng.random() < 0.5)[1:-1].replace("`", "\\u0060") + "`"


def number_text(value, rng):
    """A number in any form that reads back as the same float."""
    forms = [repr(value), f"{value:.17e}"] + [str(int(value))] * (value == int(value) and abs(value) < 1e15)
    return rng.choice(forms)
