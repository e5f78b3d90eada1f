"""Which columns a grammar leaves out, reported on stderr."""

from collections.abc import Mapping

from telltree.cli.outcome import say

_SHOWN = 10  # columns that are named


def say_left_out(left_out: Mapping[str, str]) -> None:
    """Say which columns are left out, why, and how to bring them back; nothing if none is."""
    from telltree.data.usable import remedies

    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:_SHOWN]]
    more = f" and {len(left_out) - _SHOWN} more; `telltree inspect` lists them all" if len(left_out) > _SHOWN else ""
    if left_out:
        say("\n".join([f"columns left out: {', '.join(shown)}{more}", *remedies(left_out)]))
