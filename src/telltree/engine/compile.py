"""The compiler: from formulas, as derivations of a grammar, to programs for the machine.

It reads the nodes of a formula from left to right, in prefix order, and keeps a stack of those whose operands are not
complete. A formula without a grammar is the derivation by a rule that writes it whole (`CodeTables.of_formulas`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import at, borrowed, inline, kernel, lesser, small
from telltree.engine.instructions import (
    BACK,
    BEGINS,
    CONSTANT,
    FROM,
    MOST_STEPS,
    ON_NUMBERS,
    ONLY_FIRST,
    REDUCE,
    REDUCE_AND,
    SUFFIX_OR,
    UNTIL,
    VECTOR_AND,
    WEAK,
    WINDOW_OR,
    WORD_AND,
    membership,
)
from telltree.grammar.random_streams import FREE, mix, number_name, place_of, weave
from telltree.logic.meaning import (
    AHEAD,
    BEHIND,
    COUNTED,
    DUAL,
    EDGES,
    OF_NUMBERS,
    OPERAND_MODES,
    WINDOWED,
    MicroOp,
    Mode,
)

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

# Compiled code takes enum members as constants only through plain numbers.
_HOLE, _NAME, _ATOM = int(MicroOp.HOLE), int(MicroOp.NAME), int(MicroOp.ATOM)
_AND, _OR, _NOT, _IMPLIES = int(MicroOp.AND), int(MicroOp.OR), int(MicroOp.NOT), int(MicroOp.IMPLIES)
_EVENTUALLY, _GLOBALLY = int(MicroOp.EVENTUALLY), int(MicroOp.GLOBALLY)
_COUNT, _LONGEST, _COMPARE = int(MicroOp.COUNT), int(MicroOp.LONGEST), int(MicroOp.COMPARE)
_UNTIL, _UNLESS, _SINCE = int(MicroOp.UNTIL), int(MicroOp.UNLESS), int(MicroOp.SINCE)
_FALLS, _STARTS = int(MicroOp.FALLS), int(MicroOp.STARTS)
RECORD, STEPS, EVERY = int(Mode.RECORD), int(Mode.STEPS), int(Mode.EVERY)


_IS_DUAL, _IS_BEHIND, _IS_WINDOW, _IS_AHEAD = (membership(codes, MicroOp) for codes in (DUAL, BEHIND, WINDOWED, AHEAD))
_IS_TEMPORAL, _IS_EDGE = membership(AHEAD | WINDOWED | EDGES, MicroOp), membership(EDGES, MicroOp)
_TAKES_NUMBERS = membership(OF_NUMBERS - COUNTED, MicroOp)
_FIRST_MODE, _SECOND_MODE = OPERAND_MODES[:, :, 0].astype(np.int64), OPERAND_MODES[:, :, 1].astype(np.int64)

NOTHING = -1
"""Stands for an opcode where no instruction is needed."""
UNKNOWN, NOTED = -1, -2
"""Stand for the bitset of a numbered atom that has none; NOTED if that is in `Missing` already."""


class Missing(NamedTuple):
    """Atoms without a bitset, each noted once. If they are too many, the rest wait for the next compilation."""

    found: NDArray[np.int64]  # the number of atoms noted by number, and of those noted by name
    numbered: NDArray[np.int64]  # number, individual, node of the derivation
    name: NDArray[np.uint64]
    named: NDArray[np.int64]  # individual, node of the derivation, node among `CodeTables.codes`
    keys: NDArray[np.uint64]  # a hash set of the names, with open addressing

    @classmethod
    def empty(cls, atoms: int) -> "Missing":
        """Allocate memory for this many atoms (a power of two)."""
        return cls(
            np.zeros(2, np.int64),
            np.empty((atoms, 3), np.int64),
            np.zeros(atoms, np.uint64),
            np.zeros((atoms, 3), np.int64),
            np.zeros(2 * atoms, np.uint64),
        )

    def clear(self) -> None:
        """Remove all atoms."""
        if self.found[1]:
            self.keys[:] = 0
        self.found[:] = 0


# The fields of an open node: code, mode, negation, place in the template, operands to come, node of the derivation, and
# the operand of the machine for its first operand, with its negation.
_FRAME_CODE, _FRAME_MODE, _FLIP, _AT, _LEFT, _NODE, _REF, _NEGATED = range(8)
_MOST_NUMBERS = 4  # operands of an operator that are kept if they are numbers


class CompilerMemory(NamedTuple):
    """Memory for compiling one formula: stacks of open nodes and templates."""

    frames: NDArray[np.int64]  # see `_FRAME_CODE` … `_NEGATED`
    name: NDArray[np.uint64]  # of an open node, hashed so far
    numbers: NDArray[np.float64]  # the operands of an open node that are numbers
    templates: NDArray[np.int64]  # where to continue after a hole, where the template ends, its rule's node

    @classmethod
    def empty(cls, nodes: int) -> "CompilerMemory":
        """Allocate memory for formulas of this many nodes."""
        return cls(
            np.empty((nodes, 8), np.int64),
            np.empty(nodes, np.uint64),
            np.empty((nodes, _MOST_NUMBERS)),
            np.empty((nodes, 3), np.int64),
        )


@kernel
def compile_formulas(tables, rules, constants, lengths, wanted, mode, numbered, keys, slots, programs, memory, missing):
    """Write the programs of the `wanted` individuals, and note in `missing` the atoms without a bitset.

    If there are any, all formulas must be compiled again once these bitsets exist. `numbered`: for each numbered atom
    twice its bitset, plus one for the negation, or UNKNOWN; `keys` and `slots` are a hash table with the same of all
    other atoms. `mode`: RECORD for the truth of records, STEPS for that of every step; see `Mode`.
    """
    tables, programs, memory, missing = borrowed(tables), borrowed(programs), borrowed(memory), borrowed(missing)
    rules, constants, keys, slots = borrowed(rules), borrowed(constants), borrowed(keys), borrowed(slots)
    numbered, lengths, end, most = borrowed(numbered), borrowed(lengths), 0, 1
    for i in wanted:
        begin = end
        if not lengths[i]:  # an empty row, which is never true
            programs.bounds[i, 0], programs.bounds[i, 1] = begin, end
            programs.result[i, 0], programs.result[i, 1], programs.size[i] = 0, 0, 0
            continue
        end, ref, negated, fresh, size = _compile(
            tables, rules, constants, i, mode, numbered, keys, slots, programs, memory, missing, begin
        )
        programs.bounds[i, 0], programs.bounds[i, 1] = begin, end
        programs.result[i, 0], programs.result[i, 1] = ref, negated
        programs.size[i] = size
        most = fresh if fresh > most else most
    programs.registers[0] = most


@inline
def _compile(tables, rules, constants, i, mode, numbered, keys, slots, programs, memory, missing, end):
    """Compile one individual. Return the end of its instructions, the operand with the result, its negation, and the
    number of registers and of terminals.

    A negation is never executed: it is a flag of an operand. The nodes inside an atom only contribute to its name.
    """
    frames, names, steps = memory.frames, memory.name, programs.steps
    node, top, open_templates, fresh, size, inside = 0, 0, 0, 0, 0, 0
    here, flip, place, stop, owner, ref, negated, takes_rule = mode, 0, 0, 0, 0, 0, 0, True
    while True:
        name, value, is_number = np.uint64(0), np.nan, False
        if takes_rule:
            rule = tables.rule[at(rules[i, at(node)])]
            atom, takes_rule = rule.first_atom, False
            size += rule.size
            node += 1
            if atom < 0:
                if place != stop:
                    waiting = memory.templates[at(open_templates)]
                    waiting[0], waiting[1], waiting[2] = place, stop, owner
                    open_templates += 1
                owner = node - 1
                place, stop = rule.code_start, tables.rule[at(rules[i, at(owner)]) + at(1)].code_start
                continue
            if rule.takes:
                constant = tables.rule[at(rules[i, at(node)])]
                atom += constant.constant
                size += constant.size
                node += 1
            slot = np.int64(numbered[at(atom)])
            if slot < 0:
                _note_number(missing, numbered, atom, i, node - 1 - rule.takes)
                slot = np.int64(0)
            ref, negated = _read_bitset(slot, here)
            negated ^= flip
        else:
            if place == stop:
                open_templates -= 1
                waiting = memory.templates[at(open_templates)]
                place, stop, owner = waiting[0], waiting[1], waiting[2]
            own = tables.codes[at(place)]
            code, arity = np.int64(own.code), own.arity
            place += 1
            if code == _HOLE:
                takes_rule = True
                continue
            if arity:
                operand = _FIRST_MODE[at(code), at(here)]
                passes_on = code == _NOT or ((code == _EVENTUALLY or code == _GLOBALLY) and operand != STEPS)
                if passes_on and not inside:
                    flip ^= code == _NOT
                else:
                    frame = frames[at(top)]
                    frame[_FRAME_CODE], frame[_FRAME_MODE], frame[_FLIP], frame[_AT] = code, here, flip, place - 1
                    frame[_LEFT], frame[_NODE] = arity, owner
                    names[at(top)] = own.ident
                    top, flip = top + 1, 0
                    inside += code == _ATOM or code == _NAME
                here = operand
                continue
            name, ref, negated = own.ident, 0, flip
            if code == _NAME:
                value, is_number = own.value, True
                if constants.shape[1] and not np.isnan(constants[i, owner]):
                    value = constants[i, owner]
                    name = number_name(value)
            elif not inside:
                ref, negated = _atom(name, i, owner, place - 1, here, keys, slots, missing)
                negated ^= flip
        while top:  # an operand is complete, and perhaps its parents are
            frame = frames[at(top - 1)]
            code, now, own = frame[_FRAME_CODE], frame[_FRAME_MODE], tables.codes[at(frame[_AT])]
            which = own.arity - frame[_LEFT]
            frame[_LEFT] -= 1
            if inside:
                names[at(top - 1)] = weave(names[at(top - 1)], 0 if code == _AND or code == _OR else which, name)
            elif is_number:
                if which < _MOST_NUMBERS:
                    memory.numbers[at(top - 1), at(which)] = value
                if _TAKES_NUMBERS[at(code)]:
                    programs.values[at(end)], ref = value, -1 - fresh
                    end, fresh = _write(steps, end, CONSTANT, ref, 0, 0, 0), fresh + 1
            if which == 0:
                frame[_REF], frame[_NEGATED] = ref, negated
            if frame[_LEFT]:
                here, flip = _SECOND_MODE[at(code), at(now)], 0
                break
            top -= 1
            first, not_first, flipped = frame[_REF], frame[_NEGATED], frame[_FLIP]
            value, is_number = np.nan, False
            name = mix(names[at(top)])
            if code == _ATOM or code == _NAME:
                inside -= 1
                ref, negated, is_number = 0, 0, code == _NAME
                if code == _ATOM and not inside:
                    ref, negated = _atom(name, i, frame[_NODE], frame[_AT], now, keys, slots, missing)
                negated ^= flipped
                continue
            if inside:
                continue
            end, fresh, ref, negated = _write_operator(
                code, now, own, first, not_first, ref, negated, memory.numbers[at(top)], programs, end, fresh
            )
            negated ^= flipped
        if not top:
            return end, ref, negated, fresh, size


@inline
def _write_operator(code, mode, own, first, not_first, last, not_last, numbers, programs, end, fresh):
    """Write the instructions of an operator, given its first and last operand, which are the same if there is one, and
    the operands that are numbers. Return the end of the instructions, the registers in use, and the result with its
    negation."""
    steps, step, flags, register, negated = programs.steps, NOTHING, 0, last, not_last
    if code == _AND or code == _OR or code == _IMPLIES:
        step, register, first, flags, negated = _connect(code, mode, first, not_first, last, not_last, fresh)
    elif code == _UNTIL or code == _UNLESS or code == _SINCE:
        scan, step, register, flags, negated = _binary_temporal(code, mode, not_first, not_last, fresh)
        end = _write(steps, end, UNTIL, register, first, last, scan)
        first = last = register
    elif _IS_TEMPORAL[at(code)]:
        near = numbers[at(-1 - own.first)] if own.first < 0 else np.float64(own.first)
        far = numbers[at(-1 - own.last)] if own.last < 0 else np.float64(own.last)
        operand, last = first, 0
        scan, step, register, first, flags, negated = _unary_temporal(code, mode, operand, not_first, near, fresh)
        if scan != NOTHING:
            programs.values[at(end)] = _window_value(near, far)
            opcode = SUFFIX_OR if _IS_AHEAD[at(code)] else BEGINS if _IS_EDGE[at(code)] else WINDOW_OR
            end = _write(steps, end, opcode, register, operand, 0, scan)
    else:
        step, register, negated = ON_NUMBERS[at(code)], -1 - fresh, 0
        if code == _COMPARE:
            flags = int(own.outcomes)
        elif code == _COUNT or code == _LONGEST:
            flags = not_last
    if step != NOTHING:
        end = _write(steps, end, step, register, first, last, flags)
    return end, fresh + (register == -1 - fresh), register, negated


@small
def _note_number(missing, numbered, atom, individual, node):
    """Note a numbered atom without a bitset."""
    n = missing.found[0]
    if numbered[at(atom)] == UNKNOWN and n < len(missing.numbered):
        missing.numbered[n, 0], missing.numbered[n, 1], missing.numbered[n, 2] = atom, individual, node
        missing.found[0] = n + 1
        numbered[at(atom)] = NOTED


@small
def _atom(name, individual, node, place, mode, keys, slots, missing):
    """Return the operand for a named atom and its negation flag; note the atom if it has no bitset."""
    found = place_of(keys, name)
    if keys[found] != FREE:
        return _read_bitset(np.int64(slots[found]), mode)
    noted, n = place_of(missing.keys, name), missing.found[1]
    if missing.keys[noted] == FREE and n < len(missing.name):
        missing.keys[noted] = name
        missing.name[n] = name
        missing.named[n, 0], missing.named[n, 1], missing.named[n, 2] = individual, node, place
        missing.found[1] = n + 1
    return np.int64(0), np.int64(0)


@small
def _read_bitset(slot, mode):
    """Return the operand for a bitset or its negation in a mode, and its negation flag.

    Operand 0 is never true, in any mode.
    """
    every = 1 if mode == EVERY else 0
    whole = mode == STEPS or slot <= 1
    return slot >> 1 if whole else slot ^ every, slot & 1 if whole else every


@small
def _connect(code, mode, first, not_first, second, not_second, fresh):
    """Return the instruction for ∧, ∨ or ⇒: opcode, destination, first operand, flags, and negation of the result.

    a ∨ b = ¬(¬a ∧ ¬b), a ⇒ b = ¬(a ∧ ¬b). Operand 0 is never true.
    """
    every, negated = 1 if mode == EVERY else 0, 0 if code == _AND else 1
    not_first, not_second = not_first ^ (code == _OR), not_second ^ negated
    reduces = mode != STEPS and _FIRST_MODE[at(code), at(mode)] == STEPS
    if (first == 0 and not not_first) or (second == 0 and not not_second):  # false ∧ x is false
        return NOTHING, 0, 0, 0, negated
    if first == 0 or second == 0:  # true ∧ x is x
        kept = second if first == 0 else first
        negated ^= not_second if first == 0 else not_first
        if reduces and kept > 0:
            return NOTHING, 2 * kept + (negated ^ every), 0, 0, every
        if reduces and kept < 0:
            return REDUCE, kept, kept, negated ^ every, every
        return NOTHING, kept, 0, 0, negated
    register = first if first < 0 else (second if second < 0 else -1 - fresh)
    if mode == STEPS:  # writing is much faster to a vector that is not also read
        register = -1 - fresh
    flags = not_first | not_second << 1
    if reduces:
        return REDUCE_AND, register, first, flags, every  # the negations of the result and of G cancel
    return VECTOR_AND if mode == STEPS else WORD_AND, register, first, flags, negated


@small
def _unary_temporal(code, mode, ref, negated, first, fresh):
    """Return the instructions for a temporal operator with one operand: the flags of the scan, or NOTHING; the opcode
    of the instruction after it, or NOTHING, with its destination, operand and flags; and the negation of the result.

    `first` is the first step of the window. G a = ¬F ¬a, and a ends where ¬a begins.
    """
    edge = _IS_EDGE[at(code)]
    if _FIRST_MODE[at(code), at(mode)] != STEPS or (ref == 0 and first == 0 and not edge):
        return NOTHING, NOTHING, ref, ref, 0, negated
    dual, every = 1 if _IS_DUAL[at(code)] else 0, 1 if mode == EVERY else 0
    flags = negated ^ (1 if dual or code == _FALLS else 0)
    if _IS_BEHIND[at(code)]:
        flags |= BACK
    elif code == _STARTS:
        flags |= WEAK
    elif mode == RECORD and _IS_WINDOW[at(code)]:
        flags |= ONLY_FIRST
    register = (
        ref if ref < 0 and _IS_AHEAD[at(code)] else -1 - fresh
    )  # other scans read words that they would overwrite
    if mode == STEPS or mode == RECORD:
        return flags, NOTHING, register, ref, 0, dual
    return flags, REDUCE, register, register, dual ^ every, every


@small
def _binary_temporal(code, mode, not_first, not_second, fresh):
    """Return the instructions for until, unless or since: the flags of UNTIL; the opcode of the instruction after it,
    or NOTHING; the destination of both, the flags of the second, and the negation of the result."""
    flags, every = not_first | not_second << 1, 1 if mode == EVERY else 0
    if code == _UNLESS:
        flags |= WEAK
    elif code == _SINCE:
        flags |= BACK
    if mode == RECORD and code != _SINCE:
        flags |= ONLY_FIRST
    if mode == STEPS or mode == RECORD:
        return flags, NOTHING, -1 - fresh, 0, 0
    return flags, REDUCE, -1 - fresh, every, every


@small
def _window_value(first, last):
    """Return the value of WINDOW_OR."""
    near, far = lesser(first, np.float64(MOST_STEPS)), lesser(last, np.float64(MOST_STEPS))
    return near * FROM + (far - near)


@small
def _write(steps, end, step, register, first, second, flags):
    """Write an instruction, and return where the next one goes."""
    written = steps[at(end)]
    written[0], written[1], written[2], written[3], written[4] = step, register, first, second, flags
    return end + 1
