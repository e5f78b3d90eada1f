"""Whole numbers that somebody gave as a setting."""

from numbers import Integral

from telltree.errors import SettingsError


def is_whole(value: object, least: int | None = None, most: int | None = None) -> bool:
    """Whether this is a whole number, which true and false are not, and within the bounds that are given."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return (least is None or int(value) >= least) and (most is None or int(value) <= most)


def require_whole(name: str, value: object, least: int | None = None, most: int | None = None) -> None:
    """SettingsError unless the setting is a whole number within the bounds that are given."""
    if is_whole(value, least, most):
        return
    too_much = most is not None and is_whole(value, most)
    bounds = f" of at most {most:,}" if too_much else "" if least is None else f" of at least {least}"
    raise SettingsError(f"{name} must be a whole number{bounds}, got {_shown(value)}")


def _shown(value: object) -> str:
    """The value as Python has it, which refuses to write whole numbers of thousands of digits."""
    return "one of very many digits" if isinstance(value, int) and value.bit_length() > 1_000 else repr(value)
