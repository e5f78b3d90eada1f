"""What shapes mean, in a form that is the same for all that mean the same.

A value is a number that stands for a node of a table, and its lowest bit for a negation. ∧, ∨, ⇒ and ¬ are written as
∧ and negations, F and G as F and negations, ∧ has any number of operands in a fixed order, and F(a ∨ b) is F a ∨ F b.
All of this holds at every step of a record, so values may stand for each other wherever they are.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from telltree.grammar.rules.microcode import code_of
from telltree.operators import Expression
from telltree.operators.meaning import MicroOp

LEAF, AND, EVER, OPAQUE = "leaf", "and", "ever", "opaque"


class Node(NamedTuple):
    """One entry of the table."""

    kind: str
    what: Hashable
    """Of a leaf, what it is; of what is opaque, its operator."""
    operands: tuple[int, ...]


class Valued(NamedTuple):
    """A value, and which slots its leaves are: the tree of its node, with slots in place of leaves."""

    value: int
    tree: Any
    """The slot of a leaf, or None if it has none; else the trees of the operands, in their order."""

    @property
    def negated(self) -> "Valued":
        """Its negation."""
        return Valued(self.value ^ 1, self.tree)


class Values:
    """The table of all values that were met, each once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._places: dict[Node, int] = {}

    def node(self, value: int) -> Node:
        """The node of a value."""
        return self.nodes[value >> 1]

    def leaf(self, what: Hashable, slot: int | None) -> Valued:
        """What is not looked into."""
        return Valued(self._entered(Node(LEAF, what, ())), slot)

    def of(self, e: Expression, part: Callable[[Expression], Valued | None]) -> Valued:  # noqa: PLR0911  one an operator
        """The value of a template; `part` gives those of its holes, and of what is not looked into."""
        given = part(e)
        if given is not None:
            return given
        operands = [self.of(arg, part) for arg in e.args]
        match code_of(e):
            case MicroOp.NOT:
                return operands[0].negated
            case MicroOp.AND:
                return self.both(operands)
            case MicroOp.OR:
                return self.both([operand.negated for operand in operands]).negated
            case MicroOp.IMPLIES:
                return self.both([operands[0], operands[1].negated]).negated
            case MicroOp.EVENTUALLY:
                return self.ever(operands[0])
            case MicroOp.GLOBALLY:
                return self.ever(operands[0].negated).negated
        node = Node(OPAQUE, e.head, tuple(operand.value for operand in operands))
        return Valued(self._entered(node), tuple(operand.tree for operand in operands))

    def both(self, operands: Sequence[Valued]) -> Valued:
        """The conjunction."""
        flat: list[Valued] = []
        for one in operands:
            node = self.node(one.value)
            inside = node.kind == AND and not one.value & 1
            flat += map(Valued, node.operands, one.tree) if inside else [one]
        flat.sort(key=lambda operand: operand.value)
        node = Node(AND, None, tuple(operand.value for operand in flat))
        return Valued(self._entered(node), tuple(operand.tree for operand in flat))

    def ever(self, operand: Valued) -> Valued:
        """F."""
        node = self.node(operand.value)
        if node.kind == AND and operand.value & 1:  # a disjunction
            parts = [
                self.ever(Valued(value ^ 1, tree)) for value, tree in zip(node.operands, operand.tree, strict=True)
            ]
            return self.both([part.negated for part in parts]).negated
        if node.kind == EVER and not operand.value & 1:
            return operand
        return Valued(self._entered(Node(EVER, None, (operand.value,))), (operand.tree,))

    def _entered(self, node: Node) -> int:
        place = self._places.setdefault(node, len(self.nodes))
        if place == len(self.nodes):
            self.nodes.append(node)
        return 2 * place
