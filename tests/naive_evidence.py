"""What decides a formula, and how clearly, in plain Python that shares nothing with telltree: see the table "Meaning".

Formulas and records are those of `oracle`. A margin is a pair, signed size and truth, so that what lies on its
constant, at distance 0, still has a side: pairs are compared by size, then by truth.
"""

import math

import numpy as np
import oracle

JOINS = ("not", "and", "or", "implies", "F", "G")


def is_number(plain):
    """Whether it is one number a record: a count, or made of counts."""
    return plain[0] == "count" or (plain[0] in oracle.ARITHMETIC and any(map(is_number, plain[1:])))


def compares_counts(plain):
    return plain[0] in oracle.COMPARE and any(map(is_number, plain[1:]))


def is_timeless(plain):
    return compares_counts(plain) or (plain[0] in JOINS and all(map(is_timeless, plain[1:])))


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

    def over_time(self, plain, record):
        """The margin at every step."""
        head, *operands = plain
        if head not in JOINS:
            return self.atom(plain, record)
        given = [self.over_time(operand, record) for operand in operands]
        steps = range(len(given[0]))
        match head:
            case "not":
                return [opposite(a) for a in given[0]]
            case "and":
                return [min(pair) for pair in zip(*given, strict=True)]
            case "or":
                return [max(pair) for pair in zip(*given, strict=True)]
            case "implies":
                return [max(opposite(a), b) for a, b in zip(*given, strict=True)]
        return [(max if head == "F" else min)(given[0][t:]) for t in steps]

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

    def witness(self, head, inner, record, start=0):
        """The first step from `start` on that proves F or breaks G, else the first of those that come nearest."""
        margins = self.over_time(inner, record)
        toward = margins if head == "F" else [opposite(margin) for margin in margins]
        later = range(start, len(toward))
        proofs = [t for t in later if toward[t][1]]
        return proofs[0] if proofs else max(later, key=lambda t: (toward[t], -t))

    def weightier(self, plain, record, step=0):
        """The operand of ∧, ∨ or ⇒ that has the margin of the whole; the first of equals."""
        head, one, two = plain
        first, second = (self.over_time(operand, record)[step] for operand in (one, two))
        first = opposite(first) if head == "implies" else first
        return (one if first <= second else two) if head == "and" else (one if first >= second else two)

    def decisive(self, plain, record):
        """The decisive step."""
        match plain:
            case ("not", inner):
                return self.decisive(inner, record)
            case ("F" | "G" as head, inner):
                return self.decisive(inner, record) if is_timeless(inner) else self.witness(head, inner, record)
            case ("and" | "or" | "implies", _, _):
                return self.decisive(self.weightier(plain, record), record)
        return self.turned(plain, record)

    def deciding(self, plain, record, step=0):
        """The comparison, column or call that decides, and the step it looks at."""
        match plain:
            case ("not", inner):
                return self.deciding(inner, record, step)
            case ("F" | "G" as head, inner):
                return self.deciding(inner, record, self.witness(head, inner, record, step))
            case ("and" | "or" | "implies", _, _):
                return self.deciding(self.weightier(plain, record, step), record, step)
        return plain, step

    def distance(self, plain, record):
        """How far it is to the other answer, and in which unit."""
        size, truth = self.over_time(plain, record)[0]
        part, step = self.deciding(plain, record)
        if compares_counts(part):
            away = self.steps_away(part, record)
            return (away if truth else -away), "steps"
        return size, None if self.size(part, record, step) is None else "standard deviations"

    def counted(self, plain):
        """What a comparison counts, each once."""
        if plain[0] == "count":
            return {plain[1]: None}
        return {operand: None for arg in plain[1:] if isinstance(arg, tuple) for operand in self.counted(arg)}

    def number(self, plain, counts):
        """What a side of a comparison comes to, for given counts of what it counts."""
        match plain:
            case ("number", value):
                return value
            case ("count", inner):
                return counts[inner]
        return oracle.ARITHMETIC[plain[0]](1, *([self.number(operand, counts)] for operand in plain[1:]))[0]

    def answer(self, plain, counts):
        return oracle.COMPARE[plain[0]](1, *([self.number(side, counts)] for side in plain[1:]))[0]

    def held(self, plain, record):
        return {inner: oracle.over_time(inner, record, self.functions) for inner in self.counted(plain)}

    def turned(self, plain, record):
        """The step that brought the answer which counting on did not change; else the one that came nearest."""
        held, steps = self.held(plain, record), range(oracle.length(record))
        so_far = [{inner: float(sum(h[:t])) for inner, h in held.items()} for t in range(oracle.length(record) + 1)]
        last = self.answer(plain, so_far[-1])
        changes = [t for t in steps if self.answer(plain, so_far[t]) != last]
        if changes:
            return changes[-1]
        if not any(map(any, held.values())):
            margins = [self.over_time(inner, record) for inner in held]
            return max(steps, key=lambda t: (max(margin[t] for margin in margins), -t))
        return max(steps, key=lambda t: (self.nearness(plain, so_far[t + 1], last), -t))

    def nearness(self, plain, counts, holds):
        """How near a comparison is to another answer; larger is nearer."""
        left, right = (self.number(side, counts) for side in plain[1:])
        ahead = -abs(left - right) if plain[0] == "=" else left - right if plain[0][0] == ">" else right - left
        return -ahead if holds else ahead

    def steps_away(self, plain, record):
        """How many true steps more or fewer, of one of the counts, would change the answer."""
        totals = {inner: float(sum(h)) for inner, h in self.held(plain, record).items()}
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
        return 0 if plain[0] == "count" else sum(self.reach(arg) for arg in plain[1:])
