"""All formulas of small grammars, one by one, and their fitness: the judge of searches that claim to cover them.

A grammar is a dict from symbol to templates in the form of `oracle`, with ("hole", symbol) where a symbol stands; the
first symbol is the start. Nothing here is shared with telltree.
"""

import itertools

from oracle import truth

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
    """How many smallest conditions a formula has."""
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
