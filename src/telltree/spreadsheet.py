"""CSV cells that spreadsheet programs open without harm."""

from typing import Any

from telltree.visible import visible


def harmless(value: Any) -> Any:
    """The value of a cell; text that a spreadsheet might take for a formula gets an apostrophe in front.

    Control characters, which many programs do not read, are escaped.
    """
    if not isinstance(value, str):
        return value
    suspect = value.startswith(("=", "@", "\t", "\r")) or (value.startswith(("+", "-")) and not _is_number(value))
    return f"'{visible(value)}" if suspect else visible(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
