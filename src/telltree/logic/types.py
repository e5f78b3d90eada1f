"""The types of expressions, and constants as text."""

import enum
from functools import lru_cache

# ---- Constants as text.


@lru_cache(maxsize=10_000)
def number_text(value: float) -> str:
    """Return a constant as the shortest text that reads back as the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


# ---- The types of expressions, and which may stand where.


class Type(enum.Enum):
    """The type of an expression; the value is its name in messages."""

    BOOLEAN = "Boolean"  # one truth value per record; as a vector, its value at each step, as in temporal logic
    BOOLEAN_VECTOR = "Boolean vector"
    REAL_VECTOR = "real vector"
    CATEGORICAL_VECTOR = "categorical vector"
    REAL = "number"  # a constant; it broadcasts
    LEVEL = "category name"  # a constant
    COUNT = "count"  # one number per record
    SHAPE = "shape"  # a constant

    def __str__(self) -> str:
        return self.value

    __hash__ = object.__hash__  # an enum's own is slow, and types are hashed with every attribute of a grammar


# Other types as which each may be read.
_READS_AS: dict[Type, frozenset[Type]] = {
    Type.BOOLEAN: frozenset({Type.BOOLEAN_VECTOR}),
    Type.REAL: frozenset({Type.REAL_VECTOR, Type.COUNT}),
}


def fits(given: Type, wanted: Type) -> bool:
    """Return True if a value of type `given` may stand where `wanted` is expected."""
    return given is wanted or wanted in _READS_AS.get(given, frozenset())


def join(first: Type, second: Type) -> Type | None:
    """Return the narrowest type as which both may be read, or None: the type of `first | second` in a grammar."""
    if fits(first, second):
        return second
    return first if fits(second, first) else None
