"""The sample of encounters that comes with telltree, and how it is packed.

Numbers are integer thousandths, stored as second differences, byte by byte: most bytes are 0, which compresses well.
Truth values are bits.
"""

import io
import lzma
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 50
_UNIT = 1000.0  # thousandths
_FILE = "sample.npz.xz"

Columns = dict[str, NDArray[Any]]


def read_sample() -> tuple[Columns, NDArray[np.int64], NDArray[np.bool_]]:
    """The columns over all steps, the numbers of the encounters, and which ended in a collision."""
    return unpacked((files("telltree.datasets.acasx") / _FILE).read_bytes())


def packed(columns: Columns, ids: NDArray[np.int64], nmac: NDArray[np.bool_]) -> bytes:
    """The file for these encounters of 50 steps; Booleans are columns of type bool or int8, all others numbers."""
    arrays: Columns = {"ids": ids.astype(np.int32), "nmac": nmac}
    for name, values in columns.items():
        if values.dtype in (np.bool_, np.int8):
            arrays[f"truth {name}"] = np.packbits(values.astype(np.bool_))
        else:
            whole = np.rint(values * _UNIT).astype(np.int64).reshape(-1, STEPS)
            change = np.diff(np.diff(whole, axis=1, prepend=0), axis=1, prepend=0).astype("<i4")
            arrays[f"number {name}"] = change.view(np.uint8).reshape(-1, 4).T
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return lzma.compress(file.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(content: bytes) -> tuple[Columns, NDArray[np.int64], NDArray[np.bool_]]:
    """What `packed` was given, numbers rounded to thousandths."""
    with np.load(io.BytesIO(lzma.decompress(content)), allow_pickle=False) as arrays:
        ids, nmac = arrays["ids"].astype(np.int64), arrays["nmac"]
        columns: Columns = {}
        for key in arrays.files:
            kind, _, name = key.partition(" ")
            if kind == "truth":
                columns[name] = np.unpackbits(arrays[key], count=len(ids) * STEPS)
            elif kind == "number":
                change = np.ascontiguousarray(arrays[key].T).view("<i4").reshape(-1, STEPS)
                columns[name] = (change.astype(np.int64).cumsum(axis=1).cumsum(axis=1) / _UNIT).reshape(-1)
    return columns, ids, nmac
