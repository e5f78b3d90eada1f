"""The numbers of codes, instructions and modes are names for compiled code: nothing may hang on their order."""

import ast
from pathlib import Path

import pytest

from telltree.engine.instructions import Opcode
from telltree.logic.meaning import MicroOp, Mode

SOURCE = Path(__file__).parents[2] / "src" / "telltree"
ENUMERATIONS = {kind.__name__: kind for kind in (MicroOp, Mode, Opcode)}
ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
HOME = {
    "telltree.engine.instructions": {code.name for code in Opcode},
    "telltree.engine.compile": set(Mode.__members__),
}
"""Where plain numbers for members are imported from, and which names are such."""

SETS = {"ON_NUMBERS", "ON_LANES", "READS_BITSETS", "OPERAND_MODES", "CONNECTIVES", "AHEAD", "WINDOWED", "DUAL", "PLAIN"}
SETS |= {"JOINING", "OF_NUMBERS"}
"""Tables and sets made of members."""


def is_member(node):
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ENUMERATIONS


def names_of_members(tree):
    """The names that stand for numbers of members in a module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {name.asname or name.name for name in node.names if name.name in HOME.get(node.module, ())}
        if isinstance(node, ast.Assign) and any(map(is_member, ast.walk(node.value))):
            found |= {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return {name for name in found if name.strip("_").isupper() and name not in SETS}


def by_order(source):
    """The lines that compare members, calculate with them, or cut their list."""
    tree = ast.parse(source)
    names = names_of_members(tree)

    def numbered(node):
        return is_member(node) or (isinstance(node, ast.Name) and node.id in names)

    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others) if any(isinstance(op, ORDER) for op in ops):
                wrong = any(map(numbered, (left, *others)))
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                wrong = numbered(left) or numbered(right)
            case ast.Call(func=ast.Name(id="range" | "list" | "tuple" | "enumerate"), args=args):
                wrong = any(numbered(arg) or (isinstance(arg, ast.Name) and arg.id in ENUMERATIONS) for arg in args)
            case _:
                wrong = False
        if wrong:
            yield node.lineno, ast.unparse(node)


@pytest.mark.parametrize(
    "source",
    [
        "code >= MicroOp.COUNT",
        "MicroOp.AND <= code <= MicroOp.GLOBALLY",
        "_LESS = int(MicroOp.COMPARE)\nx = table[code - _LESS]",
        "from telltree.engine.instructions import COUNT\nstep > COUNT",
        "list(Opcode)[:5]",
        "tuple(Mode)",
    ],
)
def test_what_hangs_on_order_is_found(source):
    assert list(by_order(source))


def test_nothing_hangs_on_the_order_of_codes():
    found = {
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, text in by_order(path.read_text(encoding="utf-8"))
    }
    assert not found, "\n".join(sorted(found))
