"""Export to signal temporal logic, in the dialect of rtamt (discrete time, offline)."""

import json
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from telltree.logic import Attribute, Expression, Level, Number, Type, UserFunction
from telltree.logic import operators as op
from telltree.logic.expression import spelt_out
from telltree.logic.meaning import SEVERAL
from telltree.logic.operators import Cells, Operator
from telltree.logic.types import number_text
from telltree.models.export_common import Exported, Refused, common_levels, is_never_missing, unsayable
from telltree.panel import ColumnType, Schema
from telltree.panel.dates import StepLength
from telltree.text import counted

_WORDS = frozenset({
    "abs", "sqrt", "exp", "pow", "s", "ms", "us", "ns", "ps", "topic", "import", "input", "output", "internal", "const",
    "real", "float", "long", "complex", "int", "bool", "assertion", "specification", "from", "not", "or", "and", "iff",
    "implies", "xor", "rise", "fall", "always", "eventually", "until", "unless", "historically", "once", "since",
    "next", "prev", "previous", "true", "false", "time",
})  # fmt: skip
_INFINITY, _LARGE = "1e300", "1e299"  # a number stands for infinity, since infinity minus infinity is undefined
FARTHEST = 2**31 - 1  # steps that a window can look ahead
_MOST_SIGNS = 4  # in one comparison
_INPUTS = (
    op.GONE,
    op.ELAPSED,
    op.LEFT,
    op.LENGTH,
    op.CHANGE,
)  # STL cannot make these numbers, and takes them as input signals
_HEAD = """\
// A model of telltree as signal temporal logic, for rtamt's discrete-time monitors. A record is of a category if the
// robustness at its first step is above 0, and is not if it is below; 0 says that it lies on a threshold.
"""


def stl(exported: Exported) -> str:
    """Write declarations of the signals, explained in comments, and one assertion per category."""
    writer = _StlWriter(exported.tree.schema, exported.missing, exported.tree.step)
    assertions = []
    for chosen in exported.categories:
        parts = [writer.truth(e) for e in chosen.formulas]
        label = json.dumps(chosen.label, default=str)
        assertions.append(f"// {label}\ncategory_{chosen.number} = {_joined('and', parts) or '1 > 0'}\n")
    signals = [*writer.signals(), *(f"output float category_{one.number}" for one in exported.categories)]
    head = _HEAD + (f"// {exported.requirement}\n" if exported.requirement else "")
    return head + "".join(f"{line}\n" for line in signals) + "".join(assertions)


def _joined(word: str, parts: Iterable[str]) -> str:
    """Join in pairs, because rtamt reads `a and b and c` from the right."""
    joined = ""
    for part in parts:
        joined = f"({joined} {word} {part})" if joined else part
    return joined


Source: TypeAlias = str | Expression
"""The content of an input signal: a column, or an expression that STL lacks and that users must compute."""


@dataclass
class _StlWriter:
    schema: Schema
    missing: Container[str] | None
    step: StepLength | None
    _names: dict[tuple[Source, bool], str] = field(default_factory=dict)
    """The names of the signals, by their source and by whether they mark where it is missing."""

    def signals(self) -> list[str]:
        """Return the declarations, each after a comment."""
        lines = []
        for (source, marks_missing), name in self._names.items():
            lines += [f"// {name}: {self._meaning(source, marks_missing)}", f"input float {name}"]
        return lines

    def _meaning(self, source: Source, marks_missing: bool) -> str:
        called = json.dumps(source) if isinstance(source, str) else _in_one_line(source)
        if marks_missing:
            return f"1 where {called} is missing, else 0"
        gaps = f"; any number where it is missing, {_INFINITY} for infinity, as is all beyond {_LARGE}"
        if isinstance(source, Expression):
            return f"{called}, {self._how_to_make(source)}" + (gaps if self._may_miss(source) else "")
        match self.schema[source].type:
            case ColumnType.BOOLEAN:
                return f"{called}, 1 where it is true, else 0"
            case ColumnType.CATEGORICAL:
                codes = ", ".join(f"{self._code(level)} {json.dumps(level)}" for level in self.schema[source].levels)
                return f"{called}, as numbers: {codes}; 0 for any other or missing category"
        return called + (gaps if self._may_miss(source) else "")

    def _how_to_make(self, signal: Expression) -> str:
        """Describe how to compute an expression that STL lacks."""
        even = self.step is None or self.step[0] is not None
        unit = None if self.step is None else self.step[1]
        time = (
            "number of steps"
            if self.step is None
            else f"time in {json.dumps(unit) if unit else 'the unit of the data'}"
        )
        if signal.head is op.CHANGE:
            back, operand = counted(int(signal.parameter("k")), "step"), signal.args[0]
            of = json.dumps(operand.head.name) if isinstance(operand.head, Attribute) else _in_one_line(operand)
            return f"the value of {of} minus that {back} earlier, or at the first step where there are fewer"
        if signal.head is op.GONE:
            whole = "steps after the first" if even else "time"
            return f"the share of the record's {whole} that has passed, 1 at its last step"
        if signal.head is op.LENGTH:
            return "the number of steps of the record"
        return (
            f"the {time} {'since the first step' if signal.head is op.ELAPSED else 'until the last step'} of the record"
        )

    def _may_miss(self, source: Source) -> bool:
        if isinstance(source, Expression):
            return any(map(self._may_miss, source.attributes()))
        return self.missing is None or source in self.missing

    def _code(self, level: str) -> int:
        """Return the number of a category, which is the same in all columns."""
        every = (name for column in self.schema.values() for name in column.levels)
        return list(dict.fromkeys(every)).index(level) + 1

    def _signal(self, source: Source, marks_missing: bool = False) -> str:
        key = (source, marks_missing)
        if key not in self._names:
            column = source if isinstance(source, str) else ""
            plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]+", column) and column.lower() not in _WORDS
            head = (
                source.head.name if isinstance(source, Expression) and isinstance(source.head, Operator) else "signal"
            )
            wish = (column if plain else head) + ("_missing" if marks_missing else "")
            taken = {*self._names.values(), *self.schema}  # a later column may have that name
            free = (f"{wish}_{n}" for n in count(1))
            keeps = (
                plain and not marks_missing and wish not in self._names.values() and not wish.startswith("category_")
            )
            self._names[key] = wish if keeps else next(name for name in free if name not in taken)
        return self._names[key]

    def truth(self, e: Expression) -> str:
        """Write a Boolean expression."""
        if isinstance(e.head, Attribute):
            return f"({self._signal(e.head.name)} > 0.5)"
        if e.head in op.COMPARISONS and e.type is Type.BOOLEAN:
            raise Refused(_NO_COUNTS).error(e, "STL")
        signals = () if e.head is op.MISSING and is_never_missing(e.args[0]) else _signals(e)
        for signal in signals:  # also below `missing`
            if isinstance(signal.head, UserFunction):
                raise unsayable(signal, "STL")
            if isinstance(signal.head, Operator) and signal.head is not op.SIGN:
                _cell(signal)
        return _cell(e)(self, e)

    def is_missing(self, e: Expression) -> str:
        """Write the condition that a source of an expression has no value."""
        sources = [source for source in _sources(e) if isinstance(source, str) or source.attributes()]
        if is_never_missing(e) or not sources:
            return "(0 > 1)"
        return _joined("or", [f"({self._signal(source, marks_missing=True)} > 0.5)" for source in sources])

    def compared(self, e: Expression) -> str:
        """Write a comparison of categories, or of numbers."""
        return self._category(e) if e.args[0].type is Type.CATEGORICAL_VECTOR else self._comparison(e)

    def _category(self, e: Expression) -> str:
        """Write an equality of categories as two inequalities: unlike that of `==`, their robustness is never 0."""
        left, right = (arg.head for arg in e.args)
        assert isinstance(left, Attribute)
        if not common_levels(e, self.schema):
            return "(0 > 1)"
        name = self._signal(left.name)
        if isinstance(right, Level):
            code = self._code(right.name)
            return f"(({name} > {code - 0.5}) and ({name} < {code + 0.5}))"
        assert isinstance(right, Attribute)
        return f"((abs({name} - {self._signal(right.name)}) < 0.5) and ({name} > 0.5))"

    def _comparison(self, e: Expression) -> str:
        """Write a comparison of real vectors; false where an operand is missing, or infinity minus infinity."""
        if len({part for part in _parts(e) if part.head is op.SIGN}) > _MOST_SIGNS:
            raise unsayable(e, f"STL, where each sign takes four times the text; it has more than {_MOST_SIGNS}")
        parts = [
            f"({self._signal(source, marks_missing=True)} < 0.5)" for source in _sources(e) if self._may_miss(source)
        ]
        return _joined("and", [*parts, *self._guards(e), self._cases(e)])

    def _guards(self, e: Expression) -> list[str]:
        """Return conditions that no difference is one of equal infinities, which is missing."""
        found: dict[str, None] = {}
        for part in _parts(e):
            operands = [_without_signs(arg) for arg in part.args]
            if part.head is op.DIFFERENCE and all(any(map(self._may_miss, _sources(arg))) for arg in operands):
                left, right = map(self.number, operands)
                found[f"not(({left} > {_LARGE}) and ({right} > {_LARGE}))"] = None
                found[f"not(({left} < -{_LARGE}) and ({right} < -{_LARGE}))"] = None
        return list(found)

    def _cases(self, e: Expression) -> str:
        """Write a comparison; as STL has no sign function, its cases 1, −1 and 0 are written out."""
        inner = next((part for part in _parts(e) if part.head is op.SIGN), None)
        if inner is None:
            left, right = (self.number(arg) for arg in e.args)
            assert isinstance(e.head, Operator)
            return f"({left} {'==' if e.head is op.EQUAL else e.head.name} {right})"
        zero = Expression(Number(0.0))
        above, below = (Expression(head, (inner.args[0], zero)) for head in (op.GREATER, op.LESS))
        neither = [Expression(op.NOT, (side,)) for side in (above, below)]
        cases = [
            _joined("and", [*(self._side(side) for side in sides), self._cases(_replaced(e, inner, value))])
            for sides, value in (([above], 1.0), ([below], -1.0), (neither, 0.0))
        ]
        return _joined("or", cases)

    def _side(self, e: Expression) -> str:
        return f"not({self._cases(e.args[0])})" if e.head is op.NOT else self._cases(e)

    def input_signal(self, e: Expression) -> str:
        """Write an input signal."""
        return self._signal(e)

    def number(self, e: Expression) -> str:
        """Write an expression that yields numbers."""
        match e.head:
            case Attribute(name=name):
                return self._signal(name)
            case Number(value=value):
                return f"({number_text(value)})" if value < 0 else number_text(value)
        return _cell(e)(self, e)


def _signals(e: Expression) -> Iterator[Expression]:
    """Yield the parts of an atom; none for an operator that joins conditions, whose operands have their own."""
    if isinstance(e.head, Operator) and not e.head.joins:
        yield from (part for arg in e.args for part in _parts(arg))


def _parts(e: Expression) -> Iterator[Expression]:
    """Yield the parts of a signal; of one that is an input only itself and the user functions in it."""
    yield e
    for arg in e.args:
        yield from (part for part in _parts(arg) if e.head not in _INPUTS or isinstance(part.head, UserFunction))


def _sources(e: Expression) -> list[Source]:
    """Return the input signals of an expression."""
    if isinstance(e.head, Attribute):
        return [e.head.name]
    if e.head in _INPUTS:
        return [e]
    return list(dict.fromkeys(source for arg in e.args for source in _sources(arg)))


def _in_one_line(e: Expression) -> str:
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in str(e))


def _without_signs(e: Expression) -> Expression:
    """Replace each sign by a number; the expression is infinite in the same cases."""
    if e.head is op.SIGN:
        return Expression(Number(0.0))
    return e if e.head in _INPUTS else Expression(e.head, tuple(_without_signs(arg) for arg in e.args))


def _replaced(e: Expression, part: Expression, value: float) -> Expression:
    """Replace a subexpression by a number."""
    if e == part:
        return Expression(Number(value))
    return e if e.head in _INPUTS else Expression(e.head, tuple(_replaced(arg, part, value) for arg in e.args))


_Cell: TypeAlias = Callable[[_StlWriter, Expression], str]
_NO_COUNTS = "which cannot count"
_SEVERAL = Refused("which makes no numbers of those at several steps")


def _joins(text: str) -> _Cell:
    return lambda writer, e: text.format(*map(writer.truth, e.operands))


def _within(word: str) -> _Cell:
    def cell(writer: _StlWriter, e: Expression) -> str:
        truth, (near, far) = writer.truth(e.args[0]), e.window
        first = int(min(near, FARTHEST))
        if math.isinf(far):  # monitors keep as many numbers as a window is long
            return f"{word}[{first}:{first}]({word}({truth}))" if first else f"{word}({truth})"
        return f"{word}[{first}:{int(min(far, FARTHEST))}]({truth})"

    return cell


def _compares(writer: _StlWriter, e: Expression) -> str:
    return writer.compared(e)


STL: Cells[_Cell | Refused] = Cells(
    "STL",
    "models/export_stl.py",
    {
        op.NOT: _joins("not({})"),
        op.AND: _joins("({} and {})"),
        op.OR: _joins("({} or {})"),
        op.IMPLIES: _joins("({} implies {})"),
        op.EVENTUALLY: _joins("eventually({})"),
        op.GLOBALLY: _joins("always({})"),
        op.LESS: _compares,
        op.LESS_EQUAL: _compares,
        op.GREATER: _compares,
        op.GREATER_EQUAL: _compares,
        op.EQUAL: _compares,
        op.MISSING: lambda writer, e: writer.is_missing(e.args[0]),
        op.ABS: lambda writer, e: f"abs({writer.number(e.args[0])})",
        op.DIFFERENCE: lambda writer, e: f"({writer.number(e.args[0])} - {writer.number(e.args[1])})",
        op.SIGN: Refused("where signs are told by cases, and of comparisons alone"),
        op.COUNT: Refused(_NO_COUNTS),
        **dict.fromkeys(_INPUTS, lambda writer, e: writer.input_signal(e)),
        op.EVENTUALLY_WITHIN: _within("eventually"),
        op.GLOBALLY_WITHIN: _within("always"),
        op.NEXT: _joins("eventually[1:1]({})"),
        op.PREVIOUS: _joins("once[1:1]({})"),
        op.ONCE: _joins("once({})"),
        op.HISTORICALLY: _joins("historically({})"),
        op.ONCE_WITHIN: _within("once"),
        op.HISTORICALLY_WITHIN: _within("historically"),
        op.UNTIL: _joins("({} until {})"),
        op.UNLESS: lambda writer, e: "(always({0}) or ({0} until {1}))".format(*map(writer.truth, e.operands)),
        op.SINCE: _joins("({} since {})"),
        **dict.fromkeys((op.RISE, op.FALL, op.BEFORE, op.BEFORE_WITHIN), lambda writer, e: writer.truth(spelt_out(e))),
        op.EPISODES: Refused(_NO_COUNTS),
        op.LONGEST: Refused(_NO_COUNTS),
    },
    derived=lambda operator: _SEVERAL if operator.traits.scope in SEVERAL else None,
)
"""Text of a formula, or of a number."""


def _cell(e: Expression) -> _Cell:
    """Return the cell for the operator of an expression."""
    if not isinstance(e.head, Operator):
        raise unsayable(e, "STL")
    cell = STL[e.head]
    if isinstance(cell, Refused):
        raise cell.error(e, "STL")
    return cell
