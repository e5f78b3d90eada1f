"""Which columns a grammar leaves out, told on stderr."""

from collections.abc import Mapping

from telltree.cli.outcome import say

_SHOWN = 10  # columns that are named


def say_left_out(left_out: Mapping[str, str]) -> None:
    """Say which columns are left out, and why; nothing if none is."""
    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:_SHOWN]]
    more = f" and {len(left_out) - _SHOWN} more; `telltree inspect` lists them all" if len(left_out) > _SHOWN else ""
    if left_out:
        say(f"columns left out: {', '.join(shown)}{more}")
