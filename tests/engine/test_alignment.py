"""Alignment: rows and blocks of words begin where a vector load does not cross a cache line."""

import numpy as np
import pytest

from telltree import Panel
from telltree.engine.bitset_layout import VECTOR, Layout, aligned_words


@pytest.mark.parametrize(("rows", "words"), [(0, 8), (1, 1), (3, 20), (64, 244), (2, 0)])
def test_words_begin_at_a_cache_line(rows, words):
    made = aligned_words(rows, words)
    assert made.shape == (rows, words)
    assert made.dtype == np.uint64
    assert made.flags.c_contiguous
    assert made.ctypes.data % 64 == 0 or not made.size


@pytest.mark.parametrize("longest", [1, 3, 4, 5, 63, 64, 65, 1_000])
def test_blocks_are_whole_vectors_and_padding_is_no_step(longest):
    rng = np.random.default_rng(longest)
    lengths = rng.integers(1, longest + 1, 150)
    panel = Panel.from_arrays([np.zeros((length, 1)) for length in lengths], columns=["x"])
    layout = Layout.of(panel)
    assert not (layout.blocks % VECTOR).any()
    steps = np.unpackbits(layout.valid.view(np.uint8)).sum()
    assert steps == lengths.sum()
    assert np.unpackbits(layout.occupied.view(np.uint8)).sum() == len(lengths)
