"""A naive count of the nodes of a derivation tree, from the text of a grammar and the text of a formula.

It shares no code with telltree. An alternative is a name, a call, or two of these with an operator between them; what
begins with a capital and has a rule is a symbol, and all else a terminal. Brackets and commas are no nodes.
"""

import re
from functools import cache

SAME = {"and": "∧", "or": "∨", "implies": "⇒", "not": "¬", "<=": "≤", ">=": "≥"}
TOKEN = re.compile(r"\s*([\w.]+|<=|>=|[^\s\w])")


def tree_of(text):
    """Nested tuples: a head and its operands, prefix."""
    tokens = [SAME.get(token, token) for token in TOKEN.findall(text)]

    def operand():
        token = tokens.pop(0)
        if token == "(":
            inner = whole()
            assert tokens.pop(0) == ")"
            return inner
        if token == "¬":
            return ("¬", operand())
        if tokens and tokens[0] == "(":
            tokens.pop(0)
            operands = [whole()]
            while tokens.pop(0) == ",":
                operands.append(whole())
            return (token, *operands)
        return (token,)

    def whole():
        first = operand()
        if tokens and tokens[0] not in (")", ","):
            return (tokens.pop(0), first, operand())
        return first

    found = whole()
    assert not tokens, text
    return found


def rules_of(text):
    """For each symbol its alternatives as trees."""
    lines = [line.split("::=") for line in text.strip().splitlines() if line.strip()]
    return {name.strip(): [tree_of(one) for one in bodies.split("|")] for name, bodies in lines}


def nodes(grammar, formula):
    """The nodes of the smallest derivation tree of a formula; None if the grammar cannot say it."""
    rules = rules_of(grammar)

    @cache
    def from_symbol(symbol, tree):
        found = [count for body in rules[symbol] if (count := match(body, tree)) is not None]
        return 1 + min(found) if found else None

    def match(body, tree):
        if len(body) == 1 and body[0] in rules:
            return from_symbol(body[0], tree)
        if body[0] != tree[0] or len(body) != len(tree):
            return None
        below = [match(*pair) for pair in zip(body[1:], tree[1:], strict=True)]
        return None if None in below else 1 + sum(below)

    return from_symbol(next(iter(rules)), tree_of(formula))
