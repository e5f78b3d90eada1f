"""A naive judge of evidence: the decisive step of a formula and its robustness, in plain Python without telltree.

Formulas and records are those of `oracle`. A margin is a pair, signed size and truth, so that what lies on its
constant, at distance 0, still has a side: pairs are compared by size, then by truth.
"""

import math

import numpy as np

from tests.support import oracle

CONNECTIVES = ("not", "and", "or", "implies")
PAIRED = ("until", "unless", "since")
FOREVER = 10**6
"""More steps than any record has."""
WINDOWS = {
    "F": (1, 0, FOREVER),
    "G": (-1, 0, FOREVER),
    "next": (1, 1, 1),
    "previous": (1, -1, -1),
    "once": (1, -FOREVER, 0),
    "historically": (-1, -FOREVER, 0),
}
"""Temporal operators: 1 if one step proves them, −1 if one refutes them, and the window they look through."""
COUNTED = ("count", "longest", "episodes")


def simpler(plain):
    """The same in fewer operators, as the table "Meaning" has it."""
    match plain:
        case ("rise", a):
            return ("and", a, ("previous", ("not", a)))
        case ("fall", a):
            return ("and", ("not", a), ("previous", a))
        case ("before", a, b):
            return ("F", ("and", a, ("F[]", b, ("number", 1), ("number", FOREVER))))
        case ("before[]", a, b, i, j):
            return ("F", ("and", a, ("F[]", b, i, j)))
    return plain


def looks(plain):
    """Return the direction and window of a temporal operator; None for others."""
    head = plain[0]
    if head in ("F[]", "G[]", "once[]", "historically[]"):
        i, j = (int(operand[1]) for operand in plain[2:])
        sign = 1 if head in ("F[]", "once[]") else -1
        return (sign, i, j) if head in ("F[]", "G[]") else (sign, -j, -i)
    return WINDOWS.get(head)


def is_number(plain):
    """Return True if the expression is one number a record: a count, or made of counts."""
    return plain[0] in COUNTED or (plain[0] in oracle.ARITHMETIC and any(map(is_number, plain[1:])))


def compares_counts(plain):
    return plain[0] in oracle.COMPARE and any(map(is_number, plain[1:]))


def is_timeless(plain):
    """Return True if counts alone decide the expression, so that no step is a witness."""
    return compares_counts(plain) or (plain[0] in (*CONNECTIVES, "F", "G") and all(map(is_timeless, plain[1:])))


def opposite(margin):
    size, truth = margin
    return -size, not truth


class Naive:
    """Judges records, whose deviations are those of `reference`."""

    def __init__(self, reference, functions):
        self.reference, self.functions, self.deviations = reference, functions, {}

    def deviation(self, signal):
        if signal not in self.deviations:
            self.deviations[signal] = self._deviation(signal)
        return self.deviations[signal]

    def _deviation(self, signal):
        values = [x for record in self.reference for x in oracle.values(signal, record, self.functions)]
        finite = [float(x) for x in values if x is not None and math.isfinite(x)]
        with np.errstate(all="ignore"):
            found = float(np.std(finite)) if finite else 0.0
        return found if 0 < found < math.inf else 1.0

    def over_time(self, plain, record):  # noqa: PLR0911  one for each kind of operator
        """The margin at every step."""
        plain = simpler(plain)
        window = looks(plain)
        if window is None and plain[0] not in (*CONNECTIVES, *PAIRED):
            return self.atom(plain, record)
        operands = plain[1:2] if window else plain[1:]
        given = [self.over_time(operand, record) for operand in operands]
        steps = range(len(given[0]))
        if window:
            return [self.best(given[0], window, t) for t in steps]
        match plain[0]:
            case "not":
                return [opposite(a) for a in given[0]]
            case "and":
                return [min(pair) for pair in zip(*given, strict=True)]
            case "or":
                return [max(pair) for pair in zip(*given, strict=True)]
            case "implies":
                return [max(opposite(a), b) for a, b in zip(*given, strict=True)]
        return [max(self.ways(plain[0], given, t)) for t in steps]

    def best(self, margins, window, step):
        """The margin of what looks along time from a step; a certain "no" or "yes" where it sees nothing."""
        sign, near, far = window
        seen = [margins[t] for t in range(len(margins)) if near <= t - step <= far]
        if not seen:
            return (-1.0, False) if sign > 0 else (1.0, True)
        return (max if sign > 0 else min)(seen)

    def ways(self, head, given, step):
        """The margins of all ways in which until, unless or since may hold from a step: b at some step, and a at those
        before it, or after it; or a to the end."""
        a, b = [margins[step::-1] for margins in given] if head == "since" else [m[step:] for m in given]
        found = [min([b[t], *a[:t]]) for t in range(len(a))]
        return [*found, min(a)] if head == "unless" else found

    def atom(self, plain, record):
        truth = oracle.over_time(plain, record, self.functions)
        sizes = [self.size(plain, record, t) for t in range(len(truth))]
        return [(1.0 if s is None else s, True) if h else (-1.0 if s is None else -s, False)
                for s, h in zip(sizes, truth, strict=True)]  # fmt: skip

    def size(self, plain, record, step):
        """The distance of an atom from its constant at a step; None where that has no sense."""
        numbers = [operand[1] for operand in plain[1:] if operand[0] == "number"]
        signals = [operand for operand in plain[1:] if operand[0] != "number"]
        if plain[0] not in oracle.COMPARE or not numbers or not signals or is_number(signals[0]):
            return None
        value = oracle.values(signals[0], record, self.functions)[step]
        if value is None:
            return None
        return 0.0 if value == numbers[0] else abs(value - numbers[0]) / self.deviation(signals[0])

    def witness(self, plain, record, start):
        """The first step that it sees from `start` that proves or breaks it, else the first of those that come nearest;
        None if it sees none."""
        sign, near, far = looks(plain)
        margins = self.over_time(plain[1], record)
        toward = margins if sign > 0 else [opposite(margin) for margin in margins]
        seen = [t for t in range(len(toward)) if near <= t - start <= far]
        proofs = [t for t in seen if toward[t][1]]
        return proofs[0] if proofs else max(seen, key=lambda t: (toward[t], -t), default=None)

    def extreme(self, plain, record, start):
        """The first step that it sees from `start` whose margin is that of the whole; None if it sees none."""
        _, near, far = looks(plain)
        whole, margins = self.over_time(plain, record)[start], self.over_time(plain[1], record)
        return next((t for t in range(len(margins)) if near <= t - start <= far and margins[t] == whole), None)

    def settling(self, plain, record, start):
        """The operand of until, unless or since that decides it, and the step: b that holds after a on the way, or a
        that fails after no b on the way, where that has the margin of the whole; else the one on the way that does."""
        head, a, b = plain
        whole = self.over_time(plain, record)[start]
        steps = range(start, -1, -1) if head == "since" else range(start, oracle.length(record))
        one, two = ([self.over_time(operand, record)[t] for t in steps] for operand in (a, b))
        if whole[1]:
            ways = [min([two[k], *one[:k]]) for k in range(len(steps))]
            (last, ends), (way, passed) = (b, two), (a, one)
        else:
            ways = [max([one[k], *two[: k + 1]]) for k in range(len(steps))]
            (last, ends), (way, passed) = (a, one), (b, two)
        if whole in ways and ends[ways.index(whole)] == whole:
            return last, steps[ways.index(whole)]
        return way, steps[passed.index(whole)]

    def weightier(self, plain, record, step=0):
        """The operand of ∧, ∨ or ⇒ that has the margin of the whole; the first of equals."""
        head, one, two = plain
        first, second = (self.over_time(operand, record)[step] for operand in (one, two))
        first = opposite(first) if head == "implies" else first
        return (one if first <= second else two) if head == "and" else (one if first >= second else two)

    def decisive(self, plain, record, step=0):  # noqa: PLR0911  one for each kind of operator
        """The decisive step."""
        plain = simpler(plain)
        if plain[0] == "not":
            return self.decisive(plain[1], record, step)
        if plain[0] in CONNECTIVES:
            return self.decisive(self.weightier(plain, record, step), record, step)
        if plain[0] in PAIRED:
            return self.settling(plain, record, step)[1]
        if looks(plain):
            if plain[0] in "FG" and is_timeless(plain[1]):
                return self.decisive(plain[1], record, step)
            found = self.witness(plain, record, step)
            _, near, far = looks(plain)
            if found is None:
                return step
            return self.decisive(plain[1], record, found) if near == far else found
        return self.turned(plain, record) if compares_counts(plain) else step

    def deciding(self, plain, record, step=0):
        """The comparison, column or call that decides, and the step it looks at; what sees no step decides itself."""
        plain = simpler(plain)
        if plain[0] == "not":
            return self.deciding(plain[1], record, step)
        if plain[0] in CONNECTIVES:
            return self.deciding(self.weightier(plain, record, step), record, step)
        if plain[0] in PAIRED:
            operand, found = self.settling(plain, record, step)
            return self.deciding(operand, record, found)
        if looks(plain):
            found = self.extreme(plain, record, step)
            return (plain, step) if found is None else self.deciding(plain[1], record, found)
        return plain, step

    def distance(self, plain, record):
        """Return the distance to the other answer, and its unit."""
        size, truth = self.over_time(plain, record)[0]
        part, step = self.deciding(plain, record)
        if compares_counts(part):
            if any(counted[0] != "count" for counted in self.counted(part)):
                return size, None  # a true step more may join two stretches, or make one of its own
            away = self.steps_away(part, record)
            return (away if truth else -away), "steps"
        return size, None if self.size(part, record, step) is None else "standard deviations"

    def counted(self, plain):
        """Return the counts in a comparison, each once."""
        if plain[0] in COUNTED:
            return {plain: None}
        return {operand: None for arg in plain[1:] if isinstance(arg, tuple) for operand in self.counted(arg)}

    def number(self, plain, counts):
        """Return the value of a side of a comparison for given counts."""
        match plain:
            case ("number", value):
                return value
            case ("count" | "longest" | "episodes", _):
                return counts[plain]
        return oracle.ARITHMETIC[plain[0]](1, *([self.number(operand, counts)] for operand in plain[1:]))[0]

    def answer(self, plain, counts):
        return oracle.COMPARE[plain[0]](1, *([self.number(side, counts)] for side in plain[1:]))[0]

    def held(self, plain, record):
        """For each thing that a comparison counts: where it holds; of episodes, where they begin."""
        return {counted: oracle.over_time(self.condition(counted), record, self.functions)
                for counted in self.counted(plain)}  # fmt: skip

    def condition(self, counted):
        head, inner = counted
        return ("and", inner, ("not", ("previous", inner))) if head == "episodes" else inner

    def so_far(self, plain, record, steps):
        """The counts after so many steps."""
        each = {counted: held[:steps] for counted, held in self.held(plain, record).items()}
        return {counted: float(max(oracle.runs(held), default=0) if counted[0] == "longest" else sum(held))
                for counted, held in each.items()}  # fmt: skip

    def turned(self, plain, record):
        """The step that brought the answer which counting on did not change; else the one that came nearest."""
        steps = range(oracle.length(record))
        so_far = [self.so_far(plain, record, t) for t in range(oracle.length(record) + 1)]
        last = self.answer(plain, so_far[-1])
        changes = [t for t in steps if self.answer(plain, so_far[t]) != last]
        if changes:
            return changes[-1]
        held = self.held(plain, record)
        if not any(map(any, held.values())):
            margins = [self.over_time(self.condition(counted), record) for counted in held]
            return max(steps, key=lambda t: (max(margin[t] for margin in margins), -t))
        return max(steps, key=lambda t: (self.nearness(plain, so_far[t + 1], last), -t))

    def nearness(self, plain, counts, holds):
        """Return how near a comparison is to the other answer; larger is nearer."""
        left, right = (self.number(side, counts) for side in plain[1:])
        ahead = -abs(left - right) if plain[0] == "=" else left - right if plain[0][0] == ">" else right - left
        return -ahead if holds else ahead

    def steps_away(self, plain, record):
        """Return how many true steps more or fewer, in one of the counts, would change the answer."""
        totals = self.so_far(plain, record, oracle.length(record))
        holds = self.answer(plain, totals)
        for steps in range(1, int(self.reach(plain) + sum(totals.values())) + 3):
            for inner, total in totals.items():
                tried = [n for n in (total - steps, total + steps) if n >= 0]
                if any(self.answer(plain, {**totals, inner: n}) != holds for n in tried):
                    return float(steps)
        return math.inf

    def reach(self, plain):
        """The numbers of a comparison, added up: beyond them, and all counts, no answer changes."""
        if plain[0] == "number":
            return abs(plain[1])
        return 0 if plain[0] in COUNTED else sum(self.reach(arg) for arg in plain[1:])
