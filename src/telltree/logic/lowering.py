"""From derivations to programs: compiled, for whole populations.

Nearly all formulas are connectives over numbered atoms whose planes are there, and F or G around them: these are
lowered in one pass from left to right. For all others a first pass, from left to right, settles how each part of a
formula is read (see `grammar.microcode.Mode`), and a second, from right to left, finds operands on a stack when their
operator comes.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, small
from telltree.grammar.microcode import OPERAND_MODES, Code, Mode
from telltree.grammar.naming import FREE, place_of
from telltree.grammar.streams import mix, number_name, weave
from telltree.logic.instructions import (
    COMPARE,
    CONSTANT,
    COUNT,
    EQUAL,
    GREATER,
    LESS,
    REDUCE,
    REDUCE_AND,
    SUBTRACT,
    SUFFIX_OR,
    VECTOR_AND,
    WORD_AND,
)

# Compiled code takes enum members as constants only through plain numbers.
_HOLE, _NAME, _ATOM = int(Code.HOLE), int(Code.NAME), int(Code.ATOM)
_AND, _OR, _NOT, _IMPLIES = int(Code.AND), int(Code.OR), int(Code.NOT), int(Code.IMPLIES)
_EVENTUALLY, _GLOBALLY, _COUNT = int(Code.EVENTUALLY), int(Code.GLOBALLY), int(Code.COUNT)
_SUBTRACT, _LESS = int(Code.SUBTRACT), int(Code.LESS)
_OUTCOMES = (LESS, LESS | EQUAL, GREATER, GREATER | EQUAL, EQUAL)
_NOTHING = -1
_OPERAND, _SECOND_OPERAND = OPERAND_MODES[:, :, 0].astype(np.int64), OPERAND_MODES[:, :, 1].astype(np.int64)
_EMPTY = np.iinfo(np.int64).max
"""In place of an operand that is still to come."""

RECORD, STEPS, EVERY = int(Mode.RECORD), int(Mode.STEPS), int(Mode.EVERY)


class Absent(NamedTuple):
    """The atoms that lowering found without a plane, each once; when it is full, further ones wait for next time."""

    found: NDArray[np.int64]  # how many
    name: NDArray[np.uint64]
    where: NDArray[np.int64]  # individual, node, and the microcode of the atom's root
    keys: NDArray[np.uint64]  # an open-addressed set of the names
    at: NDArray[np.int64]  # where lowering is now

    @classmethod
    def room(cls, atoms: int) -> "Absent":
        """Room for so many atoms (a power of two)."""
        return cls(
            np.zeros(1, np.int64),
            np.zeros(atoms, np.uint64),
            np.zeros((atoms, 3), np.int64),
            np.zeros(2 * atoms, np.uint64),
            np.zeros(2, np.int64),
        )


class Desk(NamedTuple):
    """Scratch for lowering one individual: a stack of items, each what a part of the formula has become."""

    items: NDArray[np.int64]  # operand, whether negated, first instruction, whether it is only a name, constant
    name: NDArray[np.uint64]
    value: NDArray[np.float64]  # of a number
    mode: NDArray[np.int64]  # how each rule's part of the formula is read
    waiting: NDArray[np.int64]
    open: NDArray[np.int64]  # connectives that wait for operands: code, mode, negated, first operand, it is negated

    @classmethod
    def room(cls, nodes: int) -> "Desk":
        """A desk for formulas of so many nodes."""
        n = 2 * nodes + 64
        items, waiting = np.empty((2, n, 5), np.int64)
        return cls(items, np.empty(n, np.uint64), np.empty(n), *np.empty((2, n), np.int64), waiting)


NEVER, ALWAYS = 1, 2
"""What a plane can be that is the same for all records and steps."""
_REF, _NEGATED, _BEGIN, _NAMED, _CONSTANT = 0, 1, 2, 3, 4


@small
def _note(found, names, where, keys, at, name, micro):
    """Note an atom without a plane, once."""
    place = place_of(keys, name)
    n = found[0]
    if keys[place] == FREE and n < len(names):
        keys[place] = name
        names[n] = name
        where[n, 0], where[n, 1], where[n, 2] = at[0], at[1], micro
        found[0] = n + 1


@inline
def _read_modes(tables, rules, length, mode, desk):
    """Settle how each rule's part of the formula is read."""
    waiting = desk.waiting
    waiting[0] = mode
    top, node = 1, 0
    while node < length:
        top -= 1
        here, rule = waiting[top], rules[node]
        desk.mode[node] = here
        node += 1
        for hole in range(tables.rule[rule + 1].first_hole - 1, tables.rule[rule].first_hole - 1, -1):
            waiting[top] = tables.hole_mode[hole, here]
            top += 1


@small
def _move(items, name, value, source, target):
    for k in range(items.shape[1]):
        items[target, k] = items[source, k]
    name[target] = name[source]
    value[target] = value[source]


@small
def _write(steps, end, step, register, a, b, flags):
    written = steps[at(end)]
    written[0], written[1], written[2], written[3], written[4] = step, register, a, b, flags
    return end + 1


@small
def _load_constants(items, values, first, last, steps, step_values, end, fresh):
    """Constants are loaded when counts meet them."""
    for k in range(first, last + 1):
        if items[k, _NAMED]:
            step_values[end] = values[k]
            items[k, _REF] = -1 - fresh
            end, fresh = _write(steps, end, CONSTANT, -1 - fresh, 0, 0, 0), fresh + 1
    return end, fresh


@small
def _simplest(slot, settled):
    """A plane or its negation, or the plane that is never true, or its negation, if that says the same."""
    fixed = settled[slot >> 1]
    return (slot & 1) ^ (fixed == ALWAYS) if fixed else slot


@small
def _read_plane(slot, mode):
    """The operand for a plane or its negation, read in a mode, and whether it is negated.

    Operand 0 is never true, read in whatever mode.
    """
    every = 1 if mode == EVERY else 0
    whole = mode == STEPS or slot <= 1
    return slot >> 1 if whole else slot ^ every, slot & 1 if whole else every


@small
def _connect(code, mode, ref_a, not_a, ref_b, not_b, fresh):
    """∧ ∨ ⇒ of two operands: the instruction, its destination, first operand and flags, and whether it is negated.

    a ∨ b = ¬(¬a ∧ ¬b), a ⇒ b = ¬(a ∧ ¬b). Operand 0 is never true.
    """
    every, negated = 1 if mode == EVERY else 0, 0 if code == _AND else 1
    not_a, not_b = not_a ^ (code == _OR), not_b ^ negated
    reduces = mode != STEPS and _OPERAND[at(code), at(mode)] == STEPS
    if (ref_a == 0 and not not_a) or (ref_b == 0 and not not_b):  # never ∧ x is never
        return _NOTHING, 0, 0, 0, negated
    if ref_a == 0 or ref_b == 0:  # always ∧ x is x
        kept = ref_b if ref_a == 0 else ref_a
        negated ^= not_b if ref_a == 0 else not_a
        if reduces and kept > 0:
            return _NOTHING, 2 * kept + (negated ^ every), 0, 0, every
        if reduces and kept < 0:
            return REDUCE, kept, kept, negated ^ every, every
        return _NOTHING, kept, 0, 0, negated
    register = ref_a if ref_a < 0 else (ref_b if ref_b < 0 else -1 - fresh)
    if mode == STEPS:
        register = -1 - fresh
    flags = not_a | not_b << 1
    if reduces:
        return REDUCE_AND, register, ref_a, flags, every  # the two negations, of the result and of G, cancel
    return VECTOR_AND if mode == STEPS else WORD_AND, register, ref_a, flags, negated


@inline
def _lower_plain(rule_table, rules, length, here, direct, steps, end, waiting):
    """Lower a formula of numbered atoms and connectives, and F and G that hand the question on; `here` is how it is
    read. Returns where its instructions end, or −1 if there is anything else in it; its operand, whether that is
    negated, its registers and its size.
    """
    node, top, fresh, size, flip, ref, negated = 0, 0, 0, 0, 0, 0, 0
    while node < length:
        rule = rule_table[at(rules[at(node)])]
        code, atom = np.int64(rule.simple), rule.first_atom
        size += rule.size
        node += 1
        if code:
            operand = _OPERAND[at(code), at(here)]
            if code >= _EVENTUALLY and operand == STEPS:
                return -1, 0, 0, 0, 0
            if code == _NOT or code >= _EVENTUALLY:
                flip ^= code == _NOT
            else:
                frame = waiting[at(top)]
                frame[0], frame[1], frame[2], frame[3] = code, here, flip, _EMPTY
                top, flip = top + 1, 0
            here = operand
            continue
        if rule.takes:
            constant = rule_table[at(rules[at(node)])]
            atom += constant.constant
            size += constant.size
            node += 1
        if atom < 0 or direct[at(atom)] < 0:
            return -1, 0, 0, 0, 0
        ref, negated = _read_plane(np.int64(direct[at(atom)]), here)
        negated ^= flip
        while top and waiting[at(top - 1), 3] != _EMPTY:  # both operands are there
            top -= 1
            frame = waiting[at(top)]
            step, register, first, flags, turned = _connect(frame[0], frame[1], frame[3], frame[4], ref, negated, fresh)
            if step != _NOTHING:
                end = _write(steps, end, step, register, first, ref, flags)
            fresh += register == -1 - fresh
            ref, negated = register, turned ^ frame[2]
        if top:
            frame = waiting[at(top - 1)]
            frame[3], frame[4] = ref, negated
            here, flip = _SECOND_OPERAND[at(frame[0]), at(frame[1])], 0
    return end, ref, negated, fresh, size


@inline
def _lower_rule(tables, rule, constant, read, keys, slots, direct, settled, programs, desk, top, end, fresh, absent):
    """Lower one rule whose holes' items lie on the stack, the first hole's on top.

    Each node pops its operands, writes an instruction or two, and pushes one item. A negation is never carried out: it
    is noted on the item, and whoever uses it takes that into account. `read` is how the whole is read.
    """
    first, last = tables.rule[rule].code_start, tables.rule[rule + 1].code_start
    holes = tables.rule[rule + 1].first_hole - tables.rule[rule].first_hole
    items, steps = desk.items, programs.steps
    tail = 0  # holes that end the template find their items in place
    while tail < holes and tables.micro[last - 1 - tail].code == _HOLE:
        tail += 1
    far = len(items) - holes  # the items of other holes wait here while the template's own nodes come between them
    for k in range(holes - tail):
        _move(items, desk.name, desk.value, top - 1 - k, far + k)
    top -= holes - tail
    hole = holes - tail
    for m in range(last - 1 - tail, first - 1, -1):
        code, arity = np.int64(tables.micro[m].code), tables.micro[m].arity
        mode = np.int64(tables.code_mode[m, read])
        if code == _HOLE:
            hole -= 1
            _move(items, desk.name, desk.value, far + hole, top)
            top += 1
            continue
        a, b, begin = top - 1, top - arity, end  # the first and the last operand; where there is one, the same
        name, value, named = tables.code_ident[m], np.nan, 0
        for k in range(arity):
            begin = items[a - k, _BEGIN] if items[a - k, _BEGIN] < begin else begin
            name = weave(name, 0 if code == _AND or code == _OR else k, desk.name[a - k])
        name = mix(name) if arity else name
        ref_a, ref_b = (items[a, _REF], items[b, _REF]) if arity else (0, 0)
        register = ref_a if ref_a < 0 else (ref_b if ref_b < 0 else -1 - fresh)
        every, negated = 1 if mode == EVERY else 0, 0
        step, flags = _NOTHING, 0
        if code == _NAME:
            named, register, value = 1, 0, tables.code_value[m]
            if not np.isnan(constant):
                name, value = number_name(constant), constant
        elif code == _ATOM:
            place, register = place_of(keys, name), 0
            # what operands emitted belongs to the atom now; where there are holes, other parts may lie between
            end = end if holes else begin
            if keys[place] == FREE:
                _note(absent.found, absent.name, absent.where, absent.keys, absent.at, name, m)
            else:
                slot = np.int64(slots[place])
                if len(settled):
                    slot = _simplest(slot, settled)
                    if tables.rule[rule].first_atom >= 0:
                        numbered = items[b, _CONSTANT] if tables.rule[rule].takes else 0
                        direct[tables.rule[rule].first_atom + numbered] = slot
                register, negated = _read_plane(slot, mode)
        elif code == _NOT:
            register, negated = ref_a, items[a, _NEGATED] ^ 1
        elif code <= _IMPLIES:
            step, register, ref_a, flags, negated = _connect(
                code, mode, ref_a, items[a, _NEGATED], ref_b, items[b, _NEGATED], fresh
            )
        elif code <= _GLOBALLY:
            register, negated = ref_a, items[a, _NEGATED]
            if OPERAND_MODES[code, mode, 0] == STEPS and ref_a != 0:  # G a = ¬F ¬a
                dual = 1 if code == _GLOBALLY else 0
                register = ref_a if ref_a < 0 else -1 - fresh
                end = _write(steps, end, SUFFIX_OR, register, ref_a, 0, negated ^ dual)
                negated = dual
                if mode != STEPS:
                    step, flags, ref_a, negated = REDUCE, dual ^ every, register, every
        else:
            end, fresh = _load_constants(items, desk.value, b, a, steps, programs.values, end, fresh)
            ref_a, ref_b, register = items[a, _REF], items[b, _REF], -1 - fresh
            if code == _COUNT:
                step, flags = COUNT, items[a, _NEGATED]
            elif code < _LESS:
                step = SUBTRACT + (code - _SUBTRACT)
            else:
                step, flags = COMPARE, _OUTCOMES[code - _LESS]
        if step != _NOTHING:
            end = _write(steps, end, step, register, ref_a, ref_b, flags)
        if register == -1 - fresh:
            fresh += 1
        top = b if arity else top
        items[top, _REF], items[top, _NEGATED], items[top, _BEGIN], items[top, _NAMED] = register, negated, begin, named
        items[top, _CONSTANT] = tables.rule[rule].constant
        desk.name[top], desk.value[top] = name, value
        top += 1
    return top, end, fresh


@inline
def _lower_any(tables, rules, constants, length, mode, keys, slots, direct, settled, programs, desk, end, absent):
    """Lower whatever formula; the same answer as of `_lower_plain`, which is quicker."""
    _read_modes(tables, rules, length, mode, desk)
    top, fresh, size = 0, 0, 0
    for node in range(length - 1, -1, -1):
        constant = constants[node] if len(constants) else np.nan
        absent.at[1] = node
        size += tables.rule[rules[node]].size
        top, end, fresh = _lower_rule(
            tables, rules[node], constant, desk.mode[node], keys, slots, direct, settled, programs, desk, top, end,
            fresh, absent,
        )  # fmt: skip
    return end, desk.items[0, _REF], desk.items[0, _NEGATED], fresh, size


@kernel
def lower(tables, rules, constants, lengths, wanted, mode, keys, slots, direct, settled, programs, desk, absent):
    """Lower the individuals `wanted`; what planes they lack is noted in `absent`.

    `keys` and `slots` are a table from the names of atoms to their planes, and `direct` a shorter way for those that
    the grammar numbers, filled here; `settled` says which planes are NEVER or ALWAYS true, and has no entries if nothing
    is to be simplified by that. An individual that lacks a plane must be lowered again when it is there. `mode` is how
    formulas are to be read: RECORD for the truth of the record, STEPS for the truth at every step.
    """
    tables, programs, desk, absent = borrowed(tables), borrowed(programs), borrowed(desk), borrowed(absent)
    rules, constants, direct, settled = borrowed(rules), borrowed(constants), borrowed(direct), borrowed(settled)
    keys, slots = borrowed(keys), borrowed(slots)
    begin = 0
    programs.registers[0] = 1
    for i in wanted:
        end, ref, negated, fresh, size = -1, 0, 0, 0, 0
        if len(settled):
            end, ref, negated, fresh, size = _lower_plain(
                tables.rule, rules[i], lengths[i], mode, direct, programs.steps, begin, desk.open
            )
        if end < 0:
            absent.at[0] = i
            end, ref, negated, fresh, size = _lower_any(
                tables, rules[i], constants[i], lengths[i], mode, keys, slots, direct, settled, programs, desk, begin,
                absent,
            )  # fmt: skip
        programs.bounds[i, 0], programs.bounds[i, 1] = begin, end
        programs.result[i, 0], programs.result[i, 1] = ref, negated
        programs.size[i] = size
        programs.registers[0] = fresh if fresh > programs.registers[0] else programs.registers[0]
        begin = end
