"""Checks of integer settings."""

from numbers import Integral

from telltree.errors import SettingsError


def is_whole(value: object, least: int | None = None, most: int | None = None) -> bool:
    """Whether this is an integer, which True and False are not, and within the given bounds."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return (least is None or int(value) >= least) and (most is None or int(value) <= most)


def require_whole(name: str, value: object, least: int | None = None, most: int | None = None) -> None:
    """SettingsError unless the setting is an integer within the given bounds."""
    if is_whole(value, least, most):
        return
    too_much = most is not None and is_whole(value, most)
    bounds = f" of at most {most:,}" if too_much else "" if least is None else f" of at least {least}"
    raise SettingsError(f"{name} must be a whole number{bounds}, got {_shown(value)}")


def _shown(value: object) -> str:
    """The value as Python writes it; Python refuses to write integers of thousands of digits."""
    return "one of very many digits" if isinstance(value, int) and value.bit_length() > 1_000 else repr(value)
