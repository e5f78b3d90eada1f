"""From derivations to programs: compiled, for whole populations.

A first pass, from left to right, determines how each part of a formula is read (see `grammar.microcode.Mode`). A second
pass, from right to left, finds the operands of each operator on a stack. This works for every formula; `logic.plain` is
faster for most.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.compiled import borrowed, greater, inline, kernel, small
from telltree.engine.instructions import (
    BACK,
    BEGINS,
    CONSTANT,
    FROM,
    MOST_STEPS,
    ON_NUMBERS,
    ONLY_FIRST,
    REDUCE,
    SUFFIX_OR,
    UNTIL,
    WEAK,
    WINDOW_OR,
)
from telltree.engine.operands import EVERY, NOTHING, RECORD, STEPS, connect, read_bitset, write
from telltree.grammar.random_streams import FREE, mix, number_name, place_of, weave
from telltree.logic.meaning import AHEAD, BEHIND, DUAL, EDGES, OPERAND_MODES, WINDOWED, MicroOp

# mypy: disable-error-code="no-untyped-def, no-untyped-call"


# Compiled code takes enum members as constants only through plain numbers.
_HOLE, _NAME, _ATOM = int(MicroOp.HOLE), int(MicroOp.NAME), int(MicroOp.ATOM)
_AND, _OR, _NOT, _IMPLIES = int(MicroOp.AND), int(MicroOp.OR), int(MicroOp.NOT), int(MicroOp.IMPLIES)
_COUNT = int(MicroOp.COUNT)
_COMPARE, _UNTIL, _UNLESS = int(MicroOp.COMPARE), int(MicroOp.UNTIL), int(MicroOp.UNLESS)
_SINCE, _FALLS, _STARTS = int(MicroOp.SINCE), int(MicroOp.FALLS), int(MicroOp.STARTS)
_LONGEST = int(MicroOp.LONGEST)


def _marked(codes):
    """For each code whether it is one of these."""
    marks = np.zeros(max(MicroOp) + 1, np.bool_)
    marks[list(codes)] = True
    return marks


_IS_DUAL, _IS_BEHIND, _IS_WINDOW, _IS_AHEAD = map(_marked, (DUAL, BEHIND, WINDOWED, AHEAD))
_LOOKS, _IS_EDGE = _marked(AHEAD | WINDOWED | EDGES), _marked(EDGES)


class Absent(NamedTuple):
    """The atoms that lowering found without a plane, each once; if it is full, the rest wait for the next attempt."""

    found: NDArray[np.int64]  # how many
    name: NDArray[np.uint64]
    where: NDArray[np.int64]  # individual, node, and the microcode of the atom's root
    keys: NDArray[np.uint64]  # a hash set of the names, with open addressing
    at: NDArray[np.int64]  # the current individual and node

    @classmethod
    def empty(cls, atoms: int) -> "Absent":
        """Memory for this many atoms (a power of two)."""
        return cls(
            np.zeros(1, np.int64),
            np.zeros(atoms, np.uint64),
            np.zeros((atoms, 3), np.int64),
            np.zeros(2 * atoms, np.uint64),
            np.zeros(2, np.int64),
        )


class LoweringScratch(NamedTuple):
    """Scratch memory for lowering one individual: a stack of items, one for each part of the formula lowered so far."""

    items: NDArray[np.int64]  # operand, whether negated, first instruction, whether it is only a name
    name: NDArray[np.uint64]
    value: NDArray[np.float64]  # of a number
    mode: NDArray[np.int64]  # how each rule's part of the formula is read
    waiting: NDArray[np.int64]

    @classmethod
    def empty(cls, nodes: int) -> "LoweringScratch":
        """Scratch memory for formulas of this many nodes."""
        n = 2 * nodes + 64
        return cls(np.empty((n, 4), np.int64), np.empty(n, np.uint64), np.empty(n), *np.empty((2, n), np.int64))


_REF, _NEGATED, _BEGIN, _NAMED = 0, 1, 2, 3


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
def _read_modes(tables, rules, length, mode, scratch):
    """Determine how each rule's part of the formula is read."""
    waiting = scratch.waiting
    waiting[0] = mode
    top, node = 1, 0
    while node < length:
        top -= 1
        here, rule = waiting[top], rules[node]
        scratch.mode[node] = here
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
def _load_constants(items, values, first, last, steps, step_values, end, fresh):
    """Load constants that are used with counts."""
    for k in range(first, last + 1):
        if items[k, _NAMED]:
            step_values[end] = values[k]
            items[k, _REF] = -1 - fresh
            end, fresh = write(steps, end, CONSTANT, -1 - fresh, 0, 0, 0), fresh + 1
    return end, fresh


@inline
def _set_aside(tables, rule, scratch, top):
    """Move the items of holes to the far end of the stack, because other nodes of the template come between them. Holes
    at the end of the template are in place already. Returns how many were moved, and how many holes there are.
    """
    holes = tables.rule[rule + 1].first_hole - tables.rule[rule].first_hole
    tail = 0
    while tail < holes and tables.micro[tables.rule[rule + 1].code_start - 1 - tail].code == _HOLE:
        tail += 1
    for k in range(holes - tail):
        _move(scratch.items, scratch.name, scratch.value, top - 1 - k, len(scratch.items) - holes + k)
    return holes - tail, holes


@inline
def _gather(ident, code, arity, scratch, a, end):
    """For a node with its first operand at `a`: where its instructions begin, and its name."""
    begin, name = end, ident
    for k in range(arity):
        begin = scratch.items[a - k, _BEGIN] if scratch.items[a - k, _BEGIN] < begin else begin
        name = weave(name, 0 if code == _AND or code == _OR else k, scratch.name[a - k])
    return begin, mix(name) if arity else name


@small
def over_time(code, mode, ref, negated, first, fresh):
    """What looks along time at one operand: the flags of the instruction that looks, into the destination, if that is
    needed; the instruction after it, if there is one; destination, operand and flags of that, and whether the whole is
    negated. `first` is the first step of its window. G a = ¬F ¬a, and a ends where ¬a begins.
    """
    edge = _IS_EDGE[code]
    if OPERAND_MODES[code, mode, 0] != STEPS or (ref == 0 and first == 0 and not edge):
        return NOTHING, NOTHING, ref, ref, 0, negated
    dual, every = 1 if _IS_DUAL[code] else 0, 1 if mode == EVERY else 0
    flags = negated ^ (1 if dual or code == _FALLS else 0)
    if _IS_BEHIND[code]:
        flags |= BACK
    elif code == _STARTS:
        flags |= WEAK
    elif mode == RECORD and _IS_WINDOW[code]:
        flags |= ONLY_FIRST
    register = ref if ref < 0 and _IS_AHEAD[code] else -1 - fresh  # others read what they would overwrite
    if mode == STEPS or mode == RECORD:
        return flags, NOTHING, register, ref, 0, dual
    return flags, REDUCE, register, register, dual ^ every, every


@small
def until_of(code, mode, not_a, not_b, fresh):
    """What looks along time at two operands: the flags of UNTIL, the instruction after it, if there is one; the
    destination of both, the flags of the second, and whether the whole is negated."""
    flags, every = not_a | not_b << 1, 1 if mode == EVERY else 0
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
def look_at(code):
    """The instruction that looks along time at one operand."""
    return SUFFIX_OR if _IS_AHEAD[code] else BEGINS if _IS_EDGE[code] else WINDOW_OR


@small
def window_value(first, last):
    """The value of WINDOW_OR."""
    near, far = min(first, np.float64(MOST_STEPS)), min(last, np.float64(MOST_STEPS))
    return near * FROM + (far - near)


@small
def on_numbers(code, negated, outcomes):
    """The instruction, and its flags, for a count or what is done with counts."""
    if code == _COUNT or code == _LONGEST:
        return ON_NUMBERS[code], negated
    return ON_NUMBERS[code], np.int64(outcomes if code == _COMPARE else 0)


@small
def _bound(given, values, a):
    """A bound of a window: a number of steps, or the value of an argument, of which the first is at `a`."""
    return values[a + 1 + given] if given < 0 else np.float64(given)


@inline
def _lower_rule(tables, rule, constant, read, keys, slots, programs, scratch, top, end, fresh, absent):
    """Lower one rule. The items of its holes are on the stack, that of the first hole on top.

    Each node pops its operands, writes an instruction or two, and pushes one item. A negation is never executed: it is
    a flag of the item, which the user of the item takes into account. `read` is how the whole is read.
    """
    first, last, items, steps = (
        tables.rule[rule].code_start,
        tables.rule[rule + 1].code_start,
        scratch.items,
        programs.steps,
    )
    hole, holes = _set_aside(tables, rule, scratch, top)
    top -= hole
    for m in range(last - 1 - (holes - hole), first - 1, -1):
        code, arity = np.int64(tables.micro[m].code), tables.micro[m].arity
        mode = np.int64(tables.code_mode[m, read])
        if code == _HOLE:
            hole -= 1
            _move(items, scratch.name, scratch.value, len(items) - holes + hole, top)
            top += 1
            continue
        a, b = top - 1, top - arity  # the first and the last operand; the same if there is one
        begin, name = _gather(tables.code_ident[m], code, arity, scratch, a, end)
        ref_a, ref_b = (items[a, _REF], items[b, _REF]) if arity else (0, 0)
        negated, value, named = 0, np.nan, 0
        step, flags = NOTHING, 0
        if code == _NAME:
            named, register, value = 1, 0, tables.code_value[m]
            if not np.isnan(constant):
                name, value = number_name(constant), constant
        elif code == _ATOM:
            place, register = place_of(keys, name), 0
            # the operands' instructions are part of the atom; with holes, other parts may lie between them
            end = end if holes else begin
            if keys[place] == FREE:
                _note(absent.found, absent.name, absent.where, absent.keys, absent.at, name, m)
            else:
                register, negated = read_bitset(np.int64(slots[place]), mode)
        elif code == _NOT:
            register, negated = ref_a, items[a, _NEGATED] ^ 1
        elif code == _AND or code == _OR or code == _IMPLIES:
            step, register, ref_a, flags, negated = connect(
                code, mode, ref_a, items[a, _NEGATED], ref_b, items[b, _NEGATED], fresh
            )
        elif code == _UNTIL or code == _UNLESS or code == _SINCE:
            scan, step, register, flags, negated = until_of(code, mode, items[a, _NEGATED], items[b, _NEGATED], fresh)
            end = write(steps, end, UNTIL, register, ref_a, ref_b, scan)
            ref_a = ref_b = register
        elif _LOOKS[code]:
            window = tables.code_window[m]
            near, far = _bound(window[0], scratch.value, a), _bound(window[1], scratch.value, a)
            seen = ref_a
            scan, step, register, ref_a, flags, negated = over_time(code, mode, seen, items[a, _NEGATED], near, fresh)
            if scan != NOTHING:
                programs.values[end] = window_value(near, far)
                end = write(steps, end, look_at(code), register, seen, 0, scan)
        else:
            end, fresh = _load_constants(items, scratch.value, b, a, steps, programs.values, end, fresh)
            ref_a, ref_b, register = items[a, _REF], items[b, _REF], -1 - fresh
            step, flags = on_numbers(code, items[a, _NEGATED], tables.code_outcomes[m])
        if step != NOTHING:
            end = write(steps, end, step, register, ref_a, ref_b, flags)
        if register == -1 - fresh:
            fresh += 1
        top = b if arity else top
        items[top, _REF], items[top, _NEGATED], items[top, _BEGIN], items[top, _NAMED] = register, negated, begin, named
        scratch.name[top], scratch.value[top] = name, value
        top += 1
    return top, end, fresh


@kernel
def lower(tables, rules, constants, lengths, wanted, mode, keys, slots, programs, begin, scratch, absent):
    """Lower the `wanted` individuals, with instructions from `begin` on; missing planes are noted in `absent`.

    `keys` and `slots` are a hash table from the names of atoms to their planes. An individual that lacks a plane must
    be lowered again once it exists. `mode` is how formulas are read: RECORD for the truth of the record, STEPS for the
    truth at every step.
    """
    tables, programs, scratch, absent = borrowed(tables), borrowed(programs), borrowed(scratch), borrowed(absent)
    rules, constants, keys, slots = borrowed(rules), borrowed(constants), borrowed(keys), borrowed(slots)
    end = begin
    for i in wanted:
        _read_modes(tables, rules[i], lengths[i], mode, scratch)
        begin, top, fresh, size = end, 0, 0, 0
        for node in range(lengths[i] - 1, -1, -1):
            constant = constants[i, node] if constants.shape[1] else np.nan
            absent.at[0], absent.at[1] = i, node
            size += tables.rule[rules[i, node]].size
            top, end, fresh = _lower_rule(
                tables,
                rules[i, node],
                constant,
                scratch.mode[node],
                keys,
                slots,
                programs,
                scratch,
                top,
                end,
                fresh,
                absent,
            )
        programs.bounds[i, 0], programs.bounds[i, 1] = begin, end
        programs.result[i, 0], programs.result[i, 1] = scratch.items[0, _REF], scratch.items[0, _NEGATED]
        programs.size[i] = size
        programs.registers[0] = greater(programs.registers[0], fresh)
