"""User-defined functions, which a grammar's author adds to the language."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from telltree.errors import SettingsError
from telltree.operators.table import is_word
from telltree.operators.types import Type, fits

_TAKES = {"real": Type.REAL_VECTOR, "Boolean": Type.BOOLEAN_VECTOR, "categorical": Type.CATEGORICAL_VECTOR}
_GIVES = {"real": Type.REAL_VECTOR, "Boolean": Type.BOOLEAN_VECTOR, "truth": Type.BOOLEAN}


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A vectorised Python function that formulas may call by name.

    `implementation` gets one NumPy array for each operand: floats (NaN where missing), Booleans (False where
    missing) or category names (None where missing), and returns an array of the same length, or one truth value if it
    gives "truth". It is called once for each record with that record's steps, or, if `elementwise`, once with the steps
    of many records laid end to end, which is much faster and right for every function whose answer at a step depends on
    that step alone.
    """

    name: str
    implementation: Callable[..., Any]
    takes: tuple[str, ...]
    gives: str
    phrase: str
    """English with {0}, {1} … for the operands."""
    elementwise: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[^\W\d]\w*", self.name) or is_word(self.name):
            raise SettingsError(
                f"a user function cannot be called {self.name!r}: use letters, digits and underscores, and none of "
                f"the operators' names"
            )
        wrong = [kind for kind in self.takes if kind not in _TAKES]
        if wrong or not self.takes:
            raise SettingsError(f"{self.name}: takes must list one or more of {sorted(_TAKES)}, got {self.takes!r}")
        if self.gives not in _GIVES:
            raise SettingsError(f"{self.name}: gives must be one of {sorted(_GIVES)}, got {self.gives!r}")
        if self.gives == "truth" and self.elementwise:
            raise SettingsError(f"{self.name}: a truth is of a whole record, and elementwise looks at single steps")
        if not callable(self.implementation):
            raise SettingsError(f"{self.name}: the implementation must be callable, got {self.implementation!r}")

    def __call__(self, *arrays: Any) -> Any:
        return self.implementation(*arrays)

    @property
    def symbol(self) -> str:
        return self.name

    @property
    def english(self) -> str:
        return self.phrase

    @property
    def latex(self) -> str:
        return r"\mathrm{" + self.name.replace("_", r"\_") + "}"

    @property
    def arity(self) -> int:
        return len(self.takes)

    @property
    def operands(self) -> str:
        return ", ".join(f"a {_TAKES[kind]}" for kind in self.takes)

    def result(self, types: tuple[Type, ...]) -> Type | None:
        """The type of a call with operands of these types, or None where they do not fit."""
        wanted = [_TAKES[kind] for kind in self.takes]
        matches = len(types) == len(wanted) and all(map(fits, types, wanted))
        return _GIVES[self.gives] if matches else None


def user_function(
    *, takes: Sequence[str], gives: str, phrase: str | None = None, name: str | None = None, elementwise: bool = False
) -> Callable[[Callable[..., Any]], UserFunction]:
    """Decorate a vectorised function to make it a word for grammars: `Grammar.parse(text, schema, functions=[f])`.

    takes: the types of its operands, each "real", "Boolean" or "categorical".
    gives: the type of its answer: "real" or "Boolean", one value per step; or "truth", one truth value of the whole
        record, which is a formula by itself, such as a rule of the start symbol.
    phrase: English with {0}, {1} … for the operands; by default "name of {0} and {1}".
    name: what grammars call it; by default the function's own name.
    elementwise: the answer at a step depends on that step alone, so that it may get many records at once.

    The function gets one NumPy array per operand: floats (NaN where missing), Booleans (False where missing) or
    category names (None where missing).
    """

    def register(implementation: Callable[..., Any]) -> UserFunction:
        called = name or str(getattr(implementation, "__name__", ""))
        words = phrase or f"{called} of " + " and ".join(f"{{{i}}}" for i in range(len(takes)))
        return UserFunction(called, implementation, tuple(takes), gives, words, elementwise)

    return register
