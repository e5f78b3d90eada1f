"""An array that grows at its end."""

import numpy as np

from telltree.data.on_disk import Empty
from telltree.data.store import Array


class Growing:
    """Values that come in chunks. They are not there twice, as they would be if the chunks were joined in the end."""

    def __init__(self, first: Array, room: int = 0, empty: Empty = np.empty) -> None:
        """Begin with some values, and room for as many as are expected; what is not used takes no memory."""
        self._empty = empty
        self._array = empty(max(room, len(first)), first.dtype)
        self._array[: len(first)] = first
        self._count = len(first)

    @property
    def kind(self) -> str:
        """The kind of the values, as NumPy calls it."""
        return self._array.dtype.kind

    def add(self, values: Array) -> None:
        """Put values at the end; the type of all widens where it must."""
        end = self._count + len(values)
        wider = np.result_type(self._array, values)
        if end > len(self._array) or wider != self._array.dtype:
            room = len(self._array) if end <= len(self._array) else 2 * end
            larger = self._empty(room, wider)
            larger[: self._count] = self._array[: self._count]
            self._array = larger
        self._array[self._count : end] = values
        self._count = end

    def finish(self) -> Array:
        """Give all values."""
        return self._array[: self._count]
