"""Text from data with its control characters made visible, wherever people may read it: terminals, pages, tables."""

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def visible(text: object) -> str:
    """The text with control characters as escapes such as \\x00, except line ends and tabs.

    Halves of surrogate pairs, and characters that turn the direction of all that follows, count as such.
    """
    return _CONTROLS.sub(_escape, str(text))


def visible_json(text: str) -> str:
    """JSON, or a string as JSON writes it, with those characters as JSON's own escapes: it still says the same."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
