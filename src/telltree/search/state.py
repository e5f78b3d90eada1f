"""The state of a search as plain arrays: handed out after a generation, and taken to go on from there.

Whatever has a state gives it as `state()`, and takes it with `resume(given)`. What is taken may come from a file that
anyone can have changed, so each array is looked at before it is used.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.errors import CheckpointError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import unflat

State = dict[str, NDArray[Any]]
"""Arrays by name; those of a part are called `part.name`."""


def together(**parts: Mapping[str, NDArray[Any]]) -> State:
    """The states of several parts as one."""
    return {f"{name}.{inner}": array for name, state in parts.items() for inner, array in state.items()}


class Given:
    """A state that is taken: CheckpointError for what is not as it should be."""

    def __init__(self, state: Mapping[str, NDArray[Any]], grammar: Grammar, max_depth: int) -> None:
        self._state, self.grammar, self.max_depth = state, grammar, max_depth

    def part(self, name: str) -> "Given":
        """The state of a part."""
        start = f"{name}."
        inner = {key.removeprefix(start): array for key, array in self._state.items() if key.startswith(start)}
        return Given(inner, self.grammar, self.max_depth)

    def has(self, name: str) -> bool:
        """Whether there is an array of this name."""
        return name in self._state

    def array(self, name: str, kind: Any, *shape: int | None) -> NDArray[Any]:
        """The array of a name, copied; None stands for any length."""
        found = self._state.get(name)
        if found is None:
            raise CheckpointError(f"the array {name!r} is not there")
        fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
        if found.dtype != np.dtype(kind) or not fits:
            raise CheckpointError(f"the array {name!r} has type {found.dtype} and shape {found.shape}")
        return np.array(found)

    def number(self, name: str, kind: Any) -> Any:
        """The number of a name; whole numbers are not negative, others no NaN."""
        value = self.array(name, kind)[()].item()
        if not value >= (0 if isinstance(value, int) else -np.inf):
            raise CheckpointError(f"{name!r} cannot be {value!r}")
        return value

    def rows(self, name: str) -> Population:
        """The rows of a population, each of them a derivation of the grammar."""
        part = self.part(name)
        kinds = {"rules": "i4", "constants": "f8", "lengths": "i8", "names": "u8"}
        arrays = [part.array(name, kind, None) for name, kind in kinds.items()]
        try:
            return unflat(*arrays, grammar=self.grammar, max_depth=self.max_depth)
        except ValueError as error:
            raise CheckpointError(str(error)) from None
