"""All formulas of small grammars, one by one, and their fitness: the judge of searches that claim to cover them.

A grammar is a dict from symbol to templates in the form of `oracle`, with ("hole", symbol) where a symbol stands; the
first symbol is the start. Nothing here is shared with telltree.
"""

import itertools
import math

from tests.support.oracle import truth

WORDS = {"and": "and", "or": "or", "implies": "implies", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "=", "-": "-"}


def text_of(grammar):
    """The grammar as telltree reads it."""
    return "\n".join(f"{symbol} ::= {' | '.join(map(template_text, own))}" for symbol, own in grammar.items())


def template_text(e):
    head, *operands = e
    if head in ("hole", "x"):
        return operands[0]
    if head == "number":
        return repr(operands[0])
    if head == "not":
        return f"not ({template_text(operands[0])})"
    if head in WORDS:
        return f"({template_text(operands[0])} {WORDS[head]} {template_text(operands[1])})"
    name, given = (operands[0], operands[1:]) if head == "call" else (head, operands)
    return f"{name}({', '.join(map(template_text, given))})"


def derivations(grammar, symbol, depth, most):
    """All that a symbol can write that nests at most so many operators and has at most so many atoms."""
    for template in grammar[symbol]:
        yield from filled(grammar, template, depth, most)


def filled(grammar, e, depth, most):
    head, *operands = e
    if head == "hole":
        yield from derivations(grammar, operands[0], depth, most)
    elif head in ("x", "number"):
        if depth >= 0:
            yield e
    elif depth >= 1:
        named = operands[:1] if head == "call" else []
        options = [list(filled(grammar, operand, depth - 1, most)) for operand in operands[len(named) :]]
        for given in itertools.product(*options):
            whole = (head, *named, *given)
            if atoms(whole) <= most:
                yield whole


def size(e):
    head, *operands = e
    return (
        1 if head in ("x", "number") else 1 + sum(size(operand) for operand in operands if operand.__class__ is tuple)
    )


def counts_steps(e):
    return e[0] == "count" or (e[0] in ("-", "abs") and any(counts_steps(operand) for operand in e[1:]))


def atoms(e, truths=("on", "off")):
    """Return the number of smallest conditions of a formula."""
    head, *operands = e
    if head in ("x", "number"):
        return int(operands[0] in truths)
    if head in ("<", "<=", ">", ">=", "=") and not any(map(counts_steps, operands)):
        return 1
    if head == "call":
        return 1 + sum(atoms(operand) for operand in operands[1:])
    return sum(atoms(operand) for operand in operands)


def answers(formulas, records, functions):
    """For each formula its truth for each record; the same part is asked once for each record."""
    return [tuple(bool(truth(formula, record, functions)) for record in records) for formula in formulas]


def gini_size(answer, labels, length):
    """100 times the Gini impurity of both sides, by their size, and a tenth for each terminal; infinite if one is
    empty."""
    sides = [[label for true, label in zip(answer, labels, strict=True) if true is side] for side in (True, False)]
    if not all(sides):
        return float("inf")
    impurity = [1 - sum((side.count(label) / len(side)) ** 2 for label in set(side)) for side in sides]
    weighted = sum(len(side) * of_side for side, of_side in zip(sides, impurity, strict=True)) / len(labels)
    return 100 * weighted + 0.1 * length


def all_trees(questions, levels):
    """Every tree of up to so many levels: None is a leaf, else (question, tree for yes, tree for no)."""
    yield None
    if levels:
        for question in questions:
            for yes in all_trees(questions, levels - 1):
                for no in all_trees(questions, levels - 1):
                    yield question, yes, no


def tree_cost(tree, members, answers, *, leaf_cost, prices, least):
    """Return the cost of a tree, leaves and questions; infinite if a side has fewer than `least` members."""
    if tree is None:
        return leaf_cost(members)
    question, *sides = tree
    parts = [[one for one in members if bool(answers[question][one]) is side] for side in (True, False)]
    if min(map(len, parts)) < least:
        return math.inf
    costs = {"leaf_cost": leaf_cost, "prices": prices, "least": least}
    below = (tree_cost(side, part, answers, **costs) for side, part in zip(sides, parts, strict=True))
    return prices[question] + sum(below)


def told_bits(codes, weights, classes, unit):
    """The bits that tell labels one after another, each by what was told before, as if all classes had been met alike
    once in all. Weights are whole; a label of weight w is told w times, for whole units."""
    met, bits = [1 / classes] * classes, 0.0
    for code, weight in zip(codes, weights, strict=True):
        for _ in range(weight * unit):
            bits -= math.log2(met[code] / sum(met))
            met[code] += 1
    return bits


def impurity(codes, weights):
    """The weight of labels times their Gini impurity."""
    whole = sum(weights)
    shares = [sum(w for c, w in zip(codes, weights, strict=True) if c == code) / whole for code in set(codes)]
    return whole * (1 - sum(share**2 for share in shares))
