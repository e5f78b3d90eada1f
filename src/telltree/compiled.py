"""Compiled functions: Numba, a cache that never gets in the way, and a message to the user during compilation."""

import gc
import logging
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, event, types
from numba.extending import intrinsic

from telltree.kernel_cache import KernelCache

logger = logging.getLogger("telltree")
ir: Any = cgutils.ir  # type: ignore[attr-defined]  # llvmlite's settings; Numba brings it


class _Compilation(event.Listener):
    """Listener for Numba's events that announces the first compilation and makes all faster.

    Loading kernels from the cache fires no event. The garbage collector is paused: the compiler makes millions of small
    objects, which it would scan again and again.
    """

    announced = False
    depth = 0  # kernels compile the functions they call
    collecting = False

    def on_start(self, event: Any) -> None:
        if self.depth or _is_ours(event):
            self.depth += 1
        if self.depth == 1:
            self.collecting = gc.isenabled()
            gc.disable()
            if not self.announced:
                self.announced = True
                logger.warning("telltree: compiling its kernels, 10 to 20 s; later runs load them from a cache")

    def on_end(self, event: Any) -> None:
        if not self.depth:
            return
        self.depth -= 1
        if not self.depth and self.collecting:
            gc.enable()


def _is_ours(event: Any) -> bool:
    module = getattr(event.data["dispatcher"].py_func, "__module__", None) or ""  # None if it was made of text
    return bool(module.startswith("telltree."))


event.register("numba:compile", _Compilation())  # type: ignore[no-untyped-call]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call, and keep the result for later runs.

    The cache is beside the source if that folder can be written, else in the user's cache folder, else there is none.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        dispatcher = numba.njit(cache=True, **options)(function)
        dispatcher._cache = KernelCache(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return numba.njit(**options)(function)
    return dispatcher


def given(function: Any, *names: str) -> set[tuple[bool, ...]]:
    """For each version of a kernel that was compiled, here or in a cache on disk, which of these arguments were not
    None.
    """
    cache = function._cache
    kept = cache.signatures if isinstance(cache, KernelCache) else []
    places = [function.py_func.__code__.co_varnames.index(name) for name in names]
    return {tuple(types.none != signature[place] for place in places) for signature in [*function.signatures, *kept]}


_INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Functions called only by kernels need no Python wrapper, which takes long to compile."""


def small(function: Callable[..., Any]) -> Any:
    """Compile a function for kernels to call; it is cached as part of them."""
    return numba.njit(**_INNER)(function)


def inline(function: Callable[..., Any]) -> Any:
    """Like `small`, but inlined where it is called: for functions that take named tuples, which are costly to pass."""
    return numba.njit(inline="always", **_INNER)(function)


def _intrinsic(function: Callable[..., Any]) -> Any:
    """Numba's `intrinsic`, typed as a function that is called without the typing context."""
    return intrinsic(function)


at = np.uint64
"""An unsigned index. For a signed one, compiled code first checks whether it counts from the end."""


@_intrinsic
def borrowed(typing_context: Any, value: Any) -> Any:
    """Return an array, or a named tuple of arrays, without its reference count.

    Every view of an array and every read of a tuple's field counts references, with atomic instructions that can cost
    more than the work itself. A kernel's arguments outlive its call, so it may do without.
    """

    def strip(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = array.meminfo.type(None)
        return array._getvalue()

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        if isinstance(kind, types.Array):
            return strip(context, builder, kind, args[0])
        unpack: Any = cgutils.unpack_tuple
        fields = unpack(builder, args[0], len(kind))
        stripped = [strip(context, builder, k, v) for k, v in zip(kind, fields, strict=True)]
        return context.make_tuple(builder, signature.return_type, stripped)

    return value(value), generate


@_intrinsic
def pointer(typing_context: Any, address: Any) -> Any:
    """A pointer to floats from an address, by which a kernel reads one of many arrays, chosen at run time."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    pointer_type: Any = types.CPointer
    return pointer_type(types.float64)(types.int64), generate


_LANES = ir.VectorType(ir.DoubleType(), 64)


def _lanes_at(context: Any, builder: Any, kind: Any, value: Any, row: Any = None) -> Any:
    """The address of 64 numbers: an array of them, or a row of an array with 64 in each."""
    first = context.make_array(kind)(context, builder, value).data
    if row is not None:
        first = builder.gep(first, [builder.mul(row, row.type(64))])
    return builder.bitcast(first, _LANES.as_pointer())


def _all_alike(builder: Any, number: Any) -> Any:
    """A vector with the same number 64 times."""
    nothing = ir.Constant(_LANES, ir.Undefined)
    one = builder.insert_element(nothing, number, ir.IntType(32)(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64))


def _compare_lanes(predicate: str) -> Any:
    """An intrinsic that compares the 64 numbers in a row with one number, or with 64 others one by one.

    Bit k of the resulting word belongs to number k.
    """

    @_intrinsic
    def compare(typing_context: Any, rows: Any, row: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            numbers = builder.load(_lanes_at(context, builder, signature.args[0], args[0], args[1]), align=8)
            if isinstance(number, types.Array):
                others = builder.load(_lanes_at(context, builder, signature.args[2], args[2]), align=8)
            else:
                others = _all_alike(builder, args[2])
            return builder.bitcast(builder.fcmp_ordered(predicate, numbers, others), ir.IntType(64))

        other = number if isinstance(number, types.Array) else types.float64
        return types.uint64(rows, types.int64, other), generate

    return compare


lanes_below, lanes_equal, lanes_above = (_compare_lanes(predicate) for predicate in ("<", "==", ">"))
lanes_at_least, lanes_at_most = _compare_lanes(">="), _compare_lanes("<=")


_BYTES = ir.VectorType(ir.IntType(8), 64)


def _bytes_at(context: Any, builder: Any, kind: Any, value: Any, row: Any) -> Any:
    """The address of a row of 64 bytes."""
    first = builder.gep(context.make_array(kind)(context, builder, value).data, [builder.mul(row, row.type(64))])
    return builder.bitcast(first, _BYTES.as_pointer())


@_intrinsic
def add_one_where(typing_context: Any, rows: Any, row: Any, word: Any) -> Any:
    """Add 1 to those of the 64 bytes in a row whose bit of the word is set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _bytes_at(context, builder, signature.args[0], args[0], args[1])
        ones = builder.zext(builder.bitcast(args[2], ir.VectorType(ir.IntType(1), 64)), _BYTES)
        builder.store(builder.add(builder.load(place, align=1), ones), place, align=1)
        return context.get_dummy_value()

    return types.none(rows, types.int64, types.uint64), generate


def _compare_bytes(predicate: str) -> Any:
    """An intrinsic that compares the 64 bytes in a row with one byte; bit k of the resulting word belongs to byte k."""

    @_intrinsic
    def compare(typing_context: Any, rows: Any, row: Any, byte: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            bytes_of_row = builder.load(_bytes_at(context, builder, signature.args[0], args[0], args[1]), align=1)
            nothing = ir.Constant(_BYTES, ir.Undefined)
            one = builder.insert_element(nothing, builder.trunc(args[2], ir.IntType(8)), ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            others = builder.shuffle_vector(one, nothing, zeros)
            return builder.bitcast(builder.icmp_unsigned(predicate, bytes_of_row, others), ir.IntType(64))

        return types.uint64(rows, types.int64, types.int64), generate

    return compare


bytes_below, bytes_equal, bytes_above = (_compare_bytes(predicate) for predicate in ("<", "==", ">"))


@_intrinsic
def add_where(typing_context: Any, lanes: Any, word: Any, number: Any) -> Any:
    """Add a number to those of 64 whose bit of the word is set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _lanes_at(context, builder, signature.args[0], args[0])
        before = builder.load(place, align=8)
        after = builder.fadd(before, _all_alike(builder, args[2]))
        set_bits = builder.bitcast(args[1], ir.VectorType(ir.IntType(1), 64))
        builder.store(builder.select(set_bits, after, before), place, align=8)
        return context.get_dummy_value()

    return types.none(lanes, types.uint64, types.float64), generate


_EIGHT = [0, 8, 2, 10, 4, 12, 6, 14], [0, 1, 8, 9, 4, 5, 12, 13], [0, 1, 2, 3, 8, 9, 10, 11]
"""Three rounds that transpose eight rows of eight numbers: in each, which numbers of two rows make the first of two new
ones.
"""


@_intrinsic
def turn_eight(  # noqa: PLR0917  as kernels call it
    typing_context: Any, column: Any, starts: Any, place: Any, t: Any, tile: Any, lane: Any
) -> Any:
    """Copy the numbers of eight records, from `place` on, at eight steps, from `t` on, into a tile of 64 lanes.

    `starts` are where records begin in the column. Numbers that are moved one by one take half as long again.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays = [context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 1, 4)]
        row, index = ir.VectorType(ir.DoubleType(), 8), args[3].type
        rows = []
        for k in range(8):
            start = builder.load(builder.gep(arrays[1], [builder.add(args[2], index(k))]))
            first = builder.gep(arrays[0], [builder.add(start, args[3])])
            rows.append(builder.load(builder.bitcast(first, row.as_pointer()), align=8))
        for number, taken in enumerate(_EIGHT):
            rows = _turned(builder, rows, 1 << number, taken)
        for k in range(8):
            first = builder.add(builder.mul(builder.add(args[3], index(k)), index(64)), args[5])
            into = builder.bitcast(builder.gep(arrays[2], [first]), row.as_pointer())
            builder.store(rows[k], into, align=8)
        return context.get_dummy_value()

    whole = types.int64
    return types.none(column, starts, whole, whole, tile, whole), generate


def _turned(builder: Any, rows: list[Any], apart: int, taken: list[int]) -> list[Any]:
    """Combine rows that are `apart`, two by two: the first new row takes the numbers `taken` of both, the second those
    that follow.
    """
    found = list(rows)
    for k in range(8):
        if not k & apart:
            for into, first in ((k, 0), (k + apart, apart)):
                mask = ir.Constant(ir.VectorType(ir.IntType(32), 8), [number + first for number in taken])
                found[into] = builder.shuffle_vector(rows[k], rows[k + apart], mask)
    return found


def _pick_one(predicate: str) -> Any:
    """An intrinsic for the smaller or greater of two numbers.

    Numba's own min and max are compiled for each pair of types, and take long to look up.
    """

    @_intrinsic
    def pick(typing_context: Any, a: Any, b: Any) -> Any:
        kind = typing_context.unify_types(a, b)

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            one, other = (context.cast(builder, args[k], signature.args[k], kind) for k in range(2))
            if isinstance(kind, types.Float):
                first = builder.fcmp_ordered(predicate, one, other)
            else:
                compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
                first = compare(predicate, one, other)
            return builder.select(first, one, other)

        return kind(a, b), generate

    return pick


lesser, greater = _pick_one("<"), _pick_one(">")


@_intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """The number of set bits in a word: one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate
