"""Export to a Python module that needs only the standard library."""

import ast
import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypeAlias

from telltree.logic import Attribute, Expression, Level, Number, Type
from telltree.logic import operators as op
from telltree.logic.expression import spelt_out
from telltree.logic.meaning import Scope
from telltree.logic.operators import Cells, Operator
from telltree.models.export_common import Exported, Refused, common_levels, is_never_missing, unsayable
from telltree.models.export_python_runtime import AGGREGATES
from telltree.panel import Schema
from telltree.panel.names_and_missing import level_name, says_missing
from telltree.tree.tree import Leaf, Node

_CLOCKS = {op.ELAPSED, op.LEFT, op.GONE, op.WHEN_MAX, op.WHEN_MIN}
"""Operators that read the times of records whose steps differ in length."""
_READS = {Type.REAL_VECTOR: "real", Type.BOOLEAN_VECTOR: "boolean", Type.CATEGORICAL_VECTOR: "categorical"}
_HEAD = '''"""A decision tree of temporal-logic formulas, made by telltree. It needs nothing but Python.

A record is a dict from column names to lists with one value a step (None or NaN where missing); a single value stands
for every step. {use}
"""
'''
_WHOLE = '''

BRANCHES = {branches}
"""Each with its formula, and where to go next if it is true, or false: a branch, or minus a category."""
LABELS = {labels}
"""Of the categories, from 1."""


def find_category(record):
    """The number of the category of a record."""
    place = {start}
    while place >= 0:
        formula, true, false = BRANCHES[place]
        place = true if formula(record) else false
    return -place


def predict(record):
    """The {noun} of a record."""
    return LABELS[find_category(record) - 1]
'''
_ALONE = '''
LABEL = {label}
"""Of the category."""


def belongs(record):
    """Whether a record is of category {number}."""
    return {truth}
'''


class Reads(NamedTuple):
    """The form of the records that the module takes."""

    schema: Schema
    step: tuple[float | None, str] | None
    time: str | None
    """The key of a record's times, if it has them."""

    @property
    def period(self) -> float | None:
        """The length of a step; None if steps differ."""
        return 1.0 if self.step is None else self.step[0]


def python_module(exported: Exported, time: str | None = None) -> str:
    """Write a module with `predict(record)` and `find_category(record)`; for one category, with `belongs(record)`.

    `time` is the name under which a record has its times, for trees that ask for them.
    """
    reads = Reads(exported.tree.schema, exported.tree.step, time)
    if exported.category is not None:
        (chosen,) = exported.categories
        signs = [("" if truth else "not ") + f"formula_{i}(record)" for i, (_, truth) in enumerate(chosen.branches)]
        formulas = [formula.expression for formula, _ in chosen.branches]
        end = _ALONE.format(number=chosen.number, label=ascii(chosen.label), truth=" and ".join(signs) or "True")
        use = "`belongs(record)` tells whether it is of the category."
    else:
        formulas = [node.formula.expression for node in exported.tree.nodes]
        branches: list[str] = []
        start = _append_branches(exported.tree.root, branches, iter(range(1, len(exported.tree.leaves) + 1)))
        labels, noun = ascii([chosen.label for chosen in exported.categories]), exported.tree.target.words.label
        end = _WHOLE.format(branches=f"[{', '.join(branches)}]", labels=labels, start=start, noun=noun)
        use = f"`predict(record)` gives its {noun}, and `find_category(record)` its category."
    head = _HEAD.format(use=f"{use}\n{exported.requirement}".rstrip()) + _times_comment(formulas, reads)
    return head + _runtime() + _functions(formulas, reads) + end


def _times_comment(formulas: Iterable[Expression], reads: Reads) -> str:
    """Return a comment on the times that records must have if formulas need them; "" if none does."""
    needed = reads.period is None and any(part.head in _CLOCKS for formula in formulas for part in formula.walk())
    return f"# The times of a record's steps are in record[{reads.time!a}], one a step.\n" if needed else ""


def _append_branches(node: Node | Leaf, branches: list[str], clusters: Iterator[int]) -> int:
    """Append the branches of a subtree in preorder; return the index of its root."""
    if isinstance(node, Leaf):
        return -next(clusters)
    place = len(branches)
    branches.append("")
    true, false = _append_branches(node.true, branches, clusters), _append_branches(node.false, branches, clusters)
    branches[place] = f"(formula_{place}, {true}, {false})"
    return place


@cache
def _runtime() -> str:
    """Return the source of the runtime functions, without annotations."""
    sources = (files("telltree.panel") / "names_and_missing.py", files("telltree.models") / "export_python_runtime.py")
    parsed = [ast.parse(source.read_text(encoding="utf-8")) for source in sources]
    functions = [node for tree in parsed for node in tree.body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        function.returns = None
        for argument in function.args.args:
            argument.annotation = None
    return "".join(f"\n\n{ast.unparse(function)}\n" for function in functions)


def _functions(formulas: list[Expression], reads: Reads) -> str:
    return "".join(
        f"\n\ndef formula_{i}(record):\n    # {_comment(formula)}\n    return {code(formula, reads)}[0]\n"
        for i, formula in enumerate(formulas)
    )


def _comment(formula: Expression) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in str(formula))


def code(e: Expression, reads: Reads) -> str:
    """Return code for the values of an expression, one per step; for a constant, its value."""
    match e.head:
        case Attribute(name=name, type=kind):
            return f"{_READS[kind]}(record, {name!a}{_declared_levels_argument(name, reads)})"
        case Number(value=value):
            return ascii(value) if math.isfinite(value) else f"float({str(value)!r})"
        case Level(name=name):
            return ascii(name)
        case Operator():
            return _operation(e, e.head, reads)
    raise unsayable(e, "Python")


def _operation(e: Expression, operator: Operator, reads: Reads) -> str:
    cell = PYTHON[operator]
    if isinstance(cell, Refused):
        raise cell.error(e, "Python")
    return cell(e, reads)


def _missing_operand(e: Expression, reads: Reads) -> str:
    """Return code for an operand of `missing`; that for a Boolean column keeps None for missing values."""
    if isinstance(e.head, Attribute) and e.type is Type.BOOLEAN_VECTOR:
        return f"truths(record, {e.head.name!a})"
    return code(e, reads)


def _declared_levels_argument(name: str, reads: Reads) -> str:
    """Return an argument with the declared levels that no naming rule gives, such as NA, or 1.0 for 1."""
    levels = reads.schema[name].levels
    others = [level for level in levels if says_missing(level) or level_name(level) not in levels]
    return f", {others!a}" if others else ""


_Cell: TypeAlias = Callable[[Expression, Reads], str]


def _calls(function: str, turned: bool = False) -> _Cell:
    """Return a cell that calls a runtime function, with operands swapped if `turned`."""

    def cell(e: Expression, reads: Reads) -> str:
        args = [code(arg, reads) for arg in e.args]
        return f"{function}({', '.join(args[::-1] if turned else args)})"

    return cell


def _over_window(function: str) -> _Cell:
    """Return a cell that applies a runtime function to the values in a window."""

    def cell(e: Expression, reads: Reads) -> str:
        x, *bounds = (code(arg, reads) for arg in e.args)
        return f"moving({x}, {', '.join(bounds)}, {function})"

    return cell


def _of_record(function: str) -> _Cell:
    """Return a cell that applies a runtime function to all values of the record."""
    return lambda e, reads: f"whole({code(e.args[0], reads)}, {function})"


def _aggregated(operator: Operator) -> _Cell | None:
    """Derive the cell of an aggregate from its runtime function."""
    traits = operator.traits
    function = None if traits.aggregate is None else AGGREGATES.get(traits.aggregate.name)
    if function is None:
        return None
    return (_over_window if traits.scope is Scope.WINDOW else _of_record)(function)


def _equal(e: Expression, reads: Reads) -> str:
    left, right = (code(arg, reads) for arg in e.args)
    if e.args[0].type is Type.CATEGORICAL_VECTOR:
        return f"same({left}, {right}, {common_levels(e, reads.schema)!a})"
    return f"equal({left}, {right})"


def _missing(e: Expression, reads: Reads) -> str:
    operand = e.args[0]
    if is_never_missing(operand):
        return f"constant({code(operand, reads)}, False)"
    return f"missing({_missing_operand(operand, reads)})"


def _elapsed(e: Expression, reads: Reads) -> str:
    if reads.period is not None:
        return f"counted(record, {reads.period!a})"
    return f"timed(record, {_times(e, reads)!a})"


def _gone(e: Expression, reads: Reads) -> str:
    """Return code for the share of the record that has passed, by steps if all have the same length."""
    return f"gone({_elapsed(e, reads)})" if reads.period is None else "gone(counted(record, 1.0))"


def _left(e: Expression, reads: Reads) -> str:
    if reads.period is not None:
        return f"counted(record, {reads.period!a})[::-1]"
    return f"left(record, {_times(e, reads)!a})"


def _times(e: Expression, reads: Reads) -> str:
    if reads.time is None:
        raise unsayable(e, "Python without the name of the times, for steps differ in length; give time=...")
    return reads.time


PYTHON: Cells[_Cell | Refused] = Cells(
    "Python",
    "models/export_python.py",
    {
        op.NOT: _calls("negation"),
        op.AND: _calls("conjunction"),
        op.OR: _calls("disjunction"),
        op.IMPLIES: _calls("implication"),
        op.EVENTUALLY: _calls("eventually"),
        op.GLOBALLY: _calls("globally"),
        op.LESS: _calls("less"),
        op.LESS_EQUAL: _calls("less_equal"),
        op.GREATER: _calls("less", turned=True),
        op.GREATER_EQUAL: _calls("less_equal", turned=True),
        op.EQUAL: _equal,
        op.ABS: _calls("absolute"),
        op.DIFFERENCE: _calls("difference"),
        op.SIGN: _calls("sign"),
        op.COUNT: _calls("count"),
        op.MISSING: _missing,
        op.ELAPSED: _elapsed,
        op.GONE: _gone,
        op.LEFT: _left,
        op.LENGTH: lambda e, reads: "length(record)",
        op.EVENTUALLY_WITHIN: _calls("some_within"),
        op.GLOBALLY_WITHIN: _calls("all_within"),
        op.NEXT: lambda e, reads: f"some_within({code(e.args[0], reads)}, 1, 1)",
        op.PREVIOUS: lambda e, reads: f"some_before({code(e.args[0], reads)}, 1, 1)",
        op.ONCE: _calls("once"),
        op.HISTORICALLY: _calls("historically"),
        op.ONCE_WITHIN: _calls("some_before"),
        op.HISTORICALLY_WITHIN: _calls("all_before"),
        op.UNTIL: _calls("until"),
        op.UNLESS: lambda e, reads: f"until({code(e.args[0], reads)}, {code(e.args[1], reads)}, True)",
        op.SINCE: _calls("since"),
        **dict.fromkeys(
            (op.RISE, op.FALL, op.BEFORE, op.BEFORE_WITHIN, op.EPISODES), lambda e, reads: code(spelt_out(e), reads)
        ),
        op.LONGEST: _calls("longest"),
        op.CHANGE: _calls("change"),
        op.TOTAL: _calls("total"),
        op.LATEST: _calls("latest"),
        op.SLOPE: _calls("slope"),
        op.FIRST: _of_record("first"),
        op.LAST: _of_record("last"),
        op.WHEN_MIN: lambda e, reads: f"when({code(e.args[0], reads)}, {_elapsed(e, reads)}, min)",
        op.WHEN_MAX: lambda e, reads: f"when({code(e.args[0], reads)}, {_elapsed(e, reads)}, max)",
        op.DISTANCE: lambda e, reads: f"distance({code(e.args[0], reads)}, {list(e.shape.pattern)!a})",
    },
    derived=_aggregated,
)
"""Code for a list with one value per step; it calls functions of `models/export_python_runtime.py`."""
