"""Compiled functions: Numba, with a cache that never gets in the way, and a message to the user while it compiles."""

import gc
import logging
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, event, types
from numba.extending import intrinsic

from telltree.kept import KernelCache

logger = logging.getLogger("telltree")
ir: Any = cgutils.ir  # type: ignore[attr-defined]  # llvmlite's, which Numba brings with it


class _Compilation(event.Listener):
    """Says once that kernels are being compiled, and speeds it up; loading them from the cache fires no event.

    The compiler makes millions of small objects, which the garbage collector would scan again and again.
    """

    said = False
    depth = 0  # kernels compile the functions they call
    collecting = False

    def on_start(self, event: Any) -> None:
        if self.depth or _is_ours(event):
            self.depth += 1
        if self.depth == 1:
            self.collecting = gc.isenabled()
            gc.disable()
            if not self.said:
                self.said = True
                logger.warning("telltree: compiling its kernels, 10 to 20 s; later runs load them from a cache")

    def on_end(self, event: Any) -> None:
        if not self.depth:
            return
        self.depth -= 1
        if not self.depth and self.collecting:
            gc.enable()


def _is_ours(event: Any) -> bool:
    return bool(getattr(event.data["dispatcher"].py_func, "__module__", "").startswith("telltree."))


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


_INNER: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Functions called only by kernels need no Python wrapper, which takes long to compile."""


def small(function: Callable[..., Any]) -> Any:
    """A compiled function for kernels to call; it is cached as part of them."""
    return numba.njit(**_INNER)(function)


def inline(function: Callable[..., Any]) -> Any:
    """Like `small`, but inlined where it is called: for functions that take named tuples, which are costly to pass."""
    return numba.njit(inline="always", **_INNER)(function)


def _intrinsic(function: Callable[..., Any]) -> Any:
    """Like Numba's, which the type checker believes to be called with the typing context."""
    return intrinsic(function)


at = np.uint64
"""An unsigned index, which is used as it is. For a signed one, compiled code checks whether it counts from the end."""


@_intrinsic
def borrowed(typing_context: Any, value: Any) -> Any:
    """The same array, or named tuple of arrays, without its reference count.

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
    """A pointer to floats from an address: lets a kernel read one of many arrays, chosen at run time."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    pointer_type: Any = types.CPointer
    return pointer_type(types.float64)(types.int64), generate


def _compare_lanes(predicate: str) -> Any:
    """Compare the 64 numbers in a row of an array with one number (SIMD); bit k of the word is that of number k."""

    @_intrinsic
    def compare(typing_context: Any, rows: Any, row: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            lanes = ir.VectorType(ir.DoubleType(), 64)
            first = builder.gep(array.data, [builder.mul(args[1], args[1].type(64))])
            numbers = builder.load(builder.bitcast(first, lanes.as_pointer()), align=8)
            one = builder.insert_element(ir.Constant(lanes, ir.Undefined), args[2], ir.IntType(32)(0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), 64), [0] * 64)
            all_alike = builder.shuffle_vector(one, ir.Constant(lanes, ir.Undefined), zeros)
            return builder.bitcast(builder.fcmp_ordered(predicate, numbers, all_alike), ir.IntType(64))

        return types.uint64(rows, types.int64, types.float64), generate

    return compare


lanes_below, lanes_equal, lanes_above = (_compare_lanes(predicate) for predicate in ("<", "==", ">"))


@_intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of a word are set: one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate
