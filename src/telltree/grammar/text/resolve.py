"""Source tree to draft: names looked up, groups written out, English checked."""

import re
from collections.abc import Sequence
from typing import NoReturn

from telltree.amounts import counted
from telltree.data import Panel, Schema
from telltree.data.clock import UNITS
from telltree.data.how_read import StepLength
from telltree.errors import GrammarError
from telltree.grammar.text.draft import Draft, Option, Pick, Symbol, Term, open_places, pick
from telltree.grammar.text.durations import steps_in
from telltree.grammar.text.groups import Groups, constant, needs_attribute
from telltree.grammar.text.names import Names, is_reserved
from telltree.grammar.text.source import (
    Alternative,
    Apply,
    Call,
    Choice,
    Comparison,
    Constant,
    Definition,
    Each,
    English,
    Name,
    Place,
    Source,
    Supply,
)
from telltree.operators import Attribute, Number, Operator, Shape, UserFunction
from telltree.operators.expression import RandomNumber
from telltree.operators.parameters import Quantity


def resolve(
    definitions: Sequence[Definition], data: Panel | Schema, functions: Sequence[UserFunction]
) -> tuple[dict[str, tuple[Option, ...]], dict[str, str]]:
    """The draft of each symbol, and the columns that selectors left out with the reasons."""
    places: dict[str, Place] = {}
    for definition in definitions:
        symbol, place = definition.symbol, definition.place
        if symbol in places:
            raise GrammarError(
                f"{symbol} is defined twice, first in line {places[symbol].line}; join the two with |", *place
            )
        if is_reserved(symbol):
            raise GrammarError(f"{symbol} is a word of the language; a symbol needs another name", *place)
        places[symbol] = place
    step = None if isinstance(data, Schema) else data.step
    resolver = Resolver(data, functions, frozenset(places), step)
    drafts = {d.symbol: tuple(map(resolver.option, d.alternatives)) for d in definitions}
    return drafts, resolver.groups.left_out


class Resolver:
    """Looks names up; without symbols it reads formulas."""

    def __init__(
        self,
        data: Panel | Schema,
        functions: Sequence[UserFunction],
        symbols: frozenset[str],
        step: StepLength | None = None,
    ) -> None:
        self._step = step
        schema = data if isinstance(data, Schema) else data.schema
        self.names = Names(schema, functions, symbols)
        self.groups = Groups(schema, None if isinstance(data, Schema) else data)

    def option(self, alternative: Alternative) -> Option:
        """One alternative."""
        body = self.draft(alternative.body)
        english = None if alternative.english is None else _indexed(alternative.english, body)
        return Option(body, alternative.weight, english)

    def draft(self, source: Source) -> Draft:  # noqa: PLR0911 - one for each case
        """Any part of an alternative."""
        match source:
            case Name():
                return Term(self._named(source), (), source.place)
            case Constant(value, place):
                if source.unit:
                    raise _no_unit(source)
                return Term(constant(value), (), place)
            case Supply():
                if needs_attribute(source):
                    _refuse(source)
                return self.groups.constants(source, [])
            case Each():
                return self.groups.attributes(source)
            case Choice():
                return Pick(tuple(map(self.option, source.alternatives)), source.place)
            case Comparison():
                return self._comparison(source)
            case Call():
                return self._call(source)
            case Apply(operator, args, place):
                return Term(operator, tuple(map(self.draft, args)), place)

    def _named(self, name: Name) -> Attribute | Symbol:
        if not name.quoted and name.text in self.names.symbols:
            return Symbol(name.text)
        return self.names.attribute(name.text, name.place)

    def _call(self, call: Call) -> Term:
        head = self.names.called(call.name, call.place)
        if isinstance(head, Operator) and any(row.quantity is Quantity.SHAPE for row in head.parameters):
            return self._like_a_shape(head, call)
        if len(call.args) != head.arity:
            raise GrammarError(
                f"{call.name} takes {counted(head.arity, 'operand')}, found {len(call.args)}", *call.place
            )
        takes = head.takes if isinstance(head, Operator) else head.arity
        parameters = map(self._parameter, call.args[takes:])
        return Term(head, (*map(self.draft, call.args[:takes]), *parameters), call.place)

    def _like_a_shape(self, head: Operator, call: Call) -> Term:
        """An operator whose brackets hold the numbers of a shape."""
        operands, given = call.args[: -call.bounds], call.args[-call.bounds :]
        if len(operands) != head.takes:
            raise GrammarError(
                f"{call.name} takes {counted(head.takes, 'operand')}, found {len(operands)}", *call.place
            )
        numbers = [one.value for one in given if isinstance(one, Constant) and not one.unit]
        values = tuple(value + 0.0 for value in numbers if not isinstance(value, str))
        if len(values) < len(given):
            raise GrammarError(f"a shape is made of numbers alone; write {head.example}", *call.place)
        return Term(head, (*map(self.draft, operands), Term(Shape(values), (), call.place)), call.place)

    def _parameter(self, source: Source) -> Draft:
        """A parameter of an operator; an amount of time is turned into steps."""
        match source:
            case Constant(unit=unit) if unit:
                return Term(Number(steps_in(source, self._step)), (), source.place)
            case Choice(alternatives, place):
                return Pick(tuple(Option(self._parameter(one.body), one.weight) for one in alternatives), place)
        return self.draft(source)

    def _comparison(self, comparison: Comparison) -> Draft:
        left, right, place = comparison.left, comparison.right, comparison.place
        if isinstance(right, Supply):
            if isinstance(left, Each):
                return self.groups.comparisons(left, comparison.operators, right, place)
            if needs_attribute(right):
                head = self._named(left) if isinstance(left, Name) else None
                if not isinstance(head, Attribute):
                    _refuse(right)
                column = self.names.schema[head.name]
                return self.groups.comparisons(column, comparison.operators, right, place)
        args = (self.draft(left), self.draft(right))
        return pick([Term(operator, args, place) for operator in comparison.operators], place)


def _refuse(supply: Supply) -> NoReturn:
    instead = {
        "grid": ", or give it a range: grid(low, high, points)",
        "random": ", or give it a range: random(low, high)",
    }
    raise GrammarError(
        f"{supply.word} belongs to an attribute: write it right of a comparison with `each ...` or an attribute on the "
        f"left{instead.get(supply.word, '')}",
        *supply.place,
    )


_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def _no_unit(source: Constant) -> GrammarError:
    """What is wrong with a unit behind a number that nothing looks along time by."""
    if source.unit not in UNITS:
        return GrammarError(f"found {source.unit!r} behind a number; write the number alone", *source.unit_place)
    return GrammarError(
        f"{source.value:g} {source.unit} is an amount of time, which only says how many steps an operator looks at, as "
        "in F[0 s, 5 s](x); write a number",
        *source.place,
    )


def _indexed(english: English, body: Draft) -> str:
    """The sentence with numbers for the names of its placeholders."""
    if isinstance(body, Term) and isinstance(body.head, RandomNumber):
        raise GrammarError("a random constant speaks for itself; it takes no English", *english.place)
    holes = [
        hole.head.name if isinstance(hole, Term) and isinstance(hole.head, Symbol) else "" for hole in open_places(body)
    ]
    used: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        name = found[1]
        if found[0] in ("{{", "}}"):
            return found[0]
        if name is None:
            raise GrammarError(
                f"a lone {found[0]} in the English; write {found[0] * 2} for the character", *english.place
            )
        if re.fullmatch("[0-9]{1,9}", name) and int(name) < len(holes):
            return f"{{{int(name)}}}"
        numbers = [i for i, hole in enumerate(holes) if hole and hole == name]
        if not numbers:
            allowed = (
                ", ".join(f"{{{hole or i}}}" for i, hole in enumerate(holes)) or "none: nothing in it is left open"
            )
            raise GrammarError(f"{found[0]} in the English stands for nothing; it may use {allowed}", *english.place)
        turn = used[name] = used.get(name, -1) + 1
        return f"{{{numbers[min(turn, len(numbers) - 1)]}}}"

    return _PLACEHOLDER.sub(numbered, english.text)
