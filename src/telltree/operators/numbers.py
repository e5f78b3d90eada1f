"""Constants as text."""

from functools import lru_cache


@lru_cache(maxsize=10_000)
def number_text(value: float) -> str:
    """A constant as short as it can be and still read back as the same number."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
