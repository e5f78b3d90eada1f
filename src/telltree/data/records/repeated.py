"""Several rows for one time of a record -> one step."""

import numpy as np

from telltree.data.dates import Dates
from telltree.data.store import Array, Index, Real, Store, frozen, is_missing

WAYS = ("first", "last", "mean")
LATER = "later"  # times may repeat, since the records will be resampled


def merged(store: Store, again: Array, way: str) -> Store:
    """Return the store with one row for each time; `again` marks the rows with the same time as the row before.

    Column by column, the first or the last present value stays, or the mean of real ones; a column without a mean takes
    the last. Missing values are skipped.
    """
    firsts = np.flatnonzero(~again)
    slots = np.cumsum(~again) - 1
    lengths = np.add.reduceat((~again).astype(Index), store.starts())
    rows = {name: frozen(_one_each(array, slots, firsts, way)) for name, array in store.rows.items()}
    times = None if store.times is None else frozen(store.times[firsts])
    dates = store.dates
    if dates is not None and dates.offsets is not None:
        dates = Dates(dates.starts, dates.offsets[firsts], dates.zone, dates.daily)
    return Store(lengths, rows, store.static, times, dates)


def _one_each(values: Array, slots: Array, firsts: Array, way: str) -> Array:
    """Return one value per slot; a slot without any value stays missing."""
    result = values[firsts].copy()
    present = np.flatnonzero(~is_missing(values))
    if way == "mean" and values.dtype == Real:
        counts = np.bincount(slots[present], minlength=len(firsts))
        sums = np.bincount(slots[present], weights=values[present], minlength=len(firsts))
        several = counts > 1
        result[several] = sums[several] / counts[several]
        present = present[counts[slots[present]] == 1]
    order = present[::-1] if way == "first" else present
    result[slots[order]] = values[order]  # the last of several values for one slot wins
    return result
