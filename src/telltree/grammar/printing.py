"""From draft to text that parses to the same draft."""

import json
from collections.abc import Container

from telltree.grammar.syntax_tree import Definitions, Draft, Option, Pick, Symbol, Term
from telltree.logic import Attribute, Level, Number, Shape
from telltree.logic.expression import RandomNumber, level_text, name_text
from telltree.logic.operators import COMPARISONS, Form, Operator, constant_text
from telltree.logic.types import number_text

WIDTH = 100
_CONSTANTS = (Number, Level)


def grammar_text(definitions: Definitions) -> str:
    """Return the text of a grammar, one rule after the other; long ones have a line for each alternative."""
    width = min(WIDTH, max(map(len, definitions)))  # blanks before each alternative on a line of its own
    rules = []
    for symbol, options in definitions.items():
        texts = [_option(option, definitions) for option in options]
        head = f"{symbol:{width}} ::= "
        line = head + " | ".join(texts)
        rules.append(line if len(line) <= WIDTH else head + f"\n{'|':>{width + 4}} ".join(texts))
    return "\n".join(rules) + "\n"


def _option(option: Option, symbols: Container[str]) -> str:
    text = _text(option.body, symbols)
    if option.weight != 1:
        text += f" @{number_text(option.weight)}"
    if option.english is not None:
        text += " " + json.dumps(option.english, ensure_ascii=False)
    return text


def _text(body: Draft, symbols: Container[str]) -> str:  # noqa: PLR0911 - one for each case
    if isinstance(body, Pick):
        return _choice(body, symbols)
    match body.head:
        case Symbol(name):
            return name
        case Attribute(name):
            return f"`{name}`" if name in symbols else name_text(name)
        case Number(value):
            return number_text(value)
        case Shape():
            return constant_text(body.head)
        case Level(name):
            return level_text(name)
        case RandomNumber(low, high):
            return f"random({number_text(low)}, {number_text(high)})"
        case Operator(form=Form.INFIX):
            left, right = (_operand(arg, symbols) for arg in body.args)
            return f"{left} {body.head.name} {right}"
        case Operator(form=Form.PREFIX):
            return f"{body.head.name} {_operand(body.args[0], symbols)}"
        case Operator(form=Form.WINDOW, takes=takes):
            written = [_argument(arg, symbols) for arg in body.args]
            return f"{body.head.symbol}[{', '.join(written[takes:])}]({', '.join(written[:takes])})"
    return f"{body.head.symbol}({', '.join(_argument(arg, symbols) for arg in body.args)})"


def _operand(body: Draft, symbols: Container[str]) -> str:
    """Write an operand; infix expressions inside others have brackets, so nobody needs to know the precedence."""
    if isinstance(body, Pick):
        infix = _is_operator_set(body)
    else:
        infix = isinstance(body.head, Operator) and body.head.form is Form.INFIX
    return f"({_text(body, symbols)})" if infix else _text(body, symbols)


def _argument(body: Draft, symbols: Container[str]) -> str:
    """Write an argument; the parentheses of a call also serve as those of an inline choice."""
    if isinstance(body, Pick) and not _is_list(body) and not _is_operator_set(body):
        return _alternatives(body, symbols)
    return _text(body, symbols)


def _choice(choice: Pick, symbols: Container[str]) -> str:
    """Write a choice: `[1, 2, 5]` for constants, `left {<, >} right` for operators, `(a | b)` for anything else."""
    if _is_list(choice):
        return f"[{', '.join(_text(option.body, symbols) for option in choice.options)}]"
    if _is_operator_set(choice):
        terms = _terms(choice)
        names = ", ".join(term.head.name for term in terms if isinstance(term.head, Operator))
        left, right = (_operand(arg, symbols) for arg in terms[0].args)
        return f"{left} {{{names}}} {right}"
    return f"({_alternatives(choice, symbols)})"


def _alternatives(choice: Pick, symbols: Container[str]) -> str:
    return " | ".join(_option(option, symbols) for option in choice.options)


def _is_list(choice: Pick) -> bool:
    terms = _terms(choice)
    return all(isinstance(term.head, _CONSTANTS) for term in terms) and _plain(choice, terms)


def _is_operator_set(choice: Pick) -> bool:
    """Return True if its options are comparisons that differ only in the operator."""
    terms = _terms(choice)
    if not terms or not all(term.head in COMPARISONS for term in terms):
        return False
    return all(term.args == terms[0].args for term in terms) and _plain(choice, terms)


def _terms(choice: Pick) -> list[Term]:
    return [option.body for option in choice.options if isinstance(option.body, Term)]


def _plain(choice: Pick, terms: list[Term]) -> bool:
    """Return True if its options are these terms, without weight or English, and no two have the same head."""
    if any(option.weight != 1 or option.english is not None for option in choice.options):
        return False
    return 1 < len({term.head for term in terms}) == len(choice.options)
