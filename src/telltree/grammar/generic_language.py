"""The paper's generic grammar, written for a panel as anybody could write it by hand:

Start ::= F(VB) | G(VB)
VB    ::= VB implies VB | not VB | VB or VB | VB and VB | (x1 | x2 {<, <=, >, >=} grid(10) | x3 = levels) @4
"""

from collections.abc import Sequence
from numbers import Real

from telltree.checks import require_whole
from telltree.errors import SettingsError
from telltree.grammar.resolve import MOST_POINTS, left_out_text
from telltree.grammar.syntax_tree import (
    LEAST_WEIGHT,
    MOST_WEIGHT,
    Alternative,
    Apply,
    Call,
    Comparison,
    Definition,
    Name,
    Source,
    Supply,
    any_of,
)
from telltree.logic import operator_named
from telltree.logic.operators import AND, COMPARISONS, EQUAL, EVENTUALLY, GLOBALLY, IMPLIES, NOT, OR, Operator
from telltree.panel import Column, ColumnType, Panel, unusable

OPERATORS = ("F", "G", "implies", "not", "or", "and", "=", "<", "<=", ">", ">=")
PAPER = "paper"
"""The name of this grammar, with alternatives of equal weight, for estimators."""
_TEMPORAL = (EVENTUALLY, GLOBALLY)
_CONNECTIVES = (IMPLIES, NOT, OR, AND)
_VB = Name("VB", quoted=False)


def stock_definitions(
    panel: Panel, operators: Sequence[str], points: int, atoms_weight: float, columns: Sequence[str] | None
) -> tuple[list[Definition], dict[str, str]]:
    """Return the grammar, and the columns it leaves out with the reasons."""
    known = _known(operators)
    if not isinstance(atoms_weight, Real) or not LEAST_WEIGHT <= atoms_weight <= MOST_WEIGHT:
        raise SettingsError(
            f"atoms_weight must be a number greater than 0, from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}, got "
            f"{atoms_weight!r}"
        )
    require_whole("points", points, 1)
    if isinstance(columns, str):
        raise SettingsError(f"columns must be a list of names, got the text {columns!r}; write [{columns!r}]")
    temporal = [Call(operator.name, (_VB,)) for operator in known if operator in _TEMPORAL]
    if not temporal:
        raise SettingsError("operators must include F or G, which make a truth value of a vector")
    comparisons = [operator for operator in known if operator in COMPARISONS]
    left_out = {} if columns is not None else dict(unusable(panel))
    atoms = []
    for name in panel.schema if columns is None else columns:
        if name not in panel.schema:
            raise SettingsError(f"columns: the panel has no column {name!r}")
        if name not in left_out:
            atom = _atom(panel.schema[name], comparisons, points)
            if atom is None:
                left_out[name] = "none of the operators compares it"
            else:
                atoms.append(atom)
    if not atoms:
        raise SettingsError(f"no column is left to make atoms of; left out: {left_out_text(left_out)}")
    connected = [Apply(operator, (_VB,) * operator.arity) for operator in known if operator in _CONNECTIVES]
    start = Definition("Start", tuple(map(Alternative, temporal)))
    vectors = (*map(Alternative, connected), Alternative(any_of(atoms), float(atoms_weight)))
    return [start, Definition(_VB.text, vectors)], left_out


def _known(operators: Sequence[str]) -> list[Operator]:
    known = []
    for spelling in [operators] if isinstance(operators, str) else operators:
        try:
            operator = operator_named(spelling)
        except KeyError:
            operator = None
        if operator not in (*_TEMPORAL, *_CONNECTIVES, *COMPARISONS):
            raise SettingsError(f"operators: {spelling!r} is none of {', '.join(OPERATORS)}")
        known.append(operator)
    return list(dict.fromkeys(known))


def _atom(column: Column, comparisons: list[Operator], points: int) -> Source | None:
    name = Name(column.name, quoted=True)
    if column.type is ColumnType.BOOLEAN:
        return name
    if column.type is ColumnType.CATEGORICAL:
        return Comparison((EQUAL,), name, Supply("levels", ())) if EQUAL in comparisons else None
    if not comparisons:
        return None
    if not column.thresholds:
        require_whole("points", points, 2, MOST_POINTS)
    constants = Supply("thresholds", ()) if column.thresholds else Supply("grid", (float(points),))
    return Comparison(tuple(comparisons), name, constants)
