"""Several rows for one time of a record -> one step."""

import numpy as np

from telltree.data.dates import Dates
from telltree.data.store import Array, Index, Real, Store, frozen, is_missing

WAYS = ("first", "last", "mean")
LATER = "later"  # times may repeat, since the records will be resampled


def merged(store: Store, again: Array, way: str) -> Store:
    """Give the store with one row for each time; `again` marks the rows whose time is that of the row before.

    Column by column, the first or the last value that is there stays, or the mean of the real ones; a column that has
    no mean takes the last. Missing values are passed over.
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
    """Give one value for each slot; a slot without any keeps its missing one."""
    result = values[firsts].copy()
    present = np.flatnonzero(~is_missing(values))
    if way == "mean" and values.dtype == Real:
        counts = np.bincount(slots[present], minlength=len(firsts))
        sums = np.bincount(slots[present], weights=values[present], minlength=len(firsts))
        several = counts > 1
        result[several] = sums[several] / counts[several]
        present = present[counts[slots[present]] == 1]
    order = present[::-1] if way == "first" else present
    result[slots[order]] = values[order]  # of several values for one slot the last stays
    return result
