"""What a grammar leaves out, reported on stderr."""

from typing import TYPE_CHECKING

from telltree.cli.options import say

if TYPE_CHECKING:
    from telltree.grammar import Grammar

_SHOWN = 10  # columns that are named


def say_left_out(grammar: "Grammar | None") -> None:
    """Say which columns are left out, why, and how to bring them back, and what else; nothing if nothing is."""
    from telltree.panel.column_checks import remedies

    left_out = {} if grammar is None else grammar.left_out
    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:_SHOWN]]
    more = f" and {len(left_out) - _SHOWN} more; `telltree inspect` lists them all" if len(left_out) > _SHOWN else ""
    if left_out:
        say("\n".join([f"columns left out: {', '.join(shown)}{more}", *remedies(left_out)]))
    if grammar is not None and grammar.unsaid:
        say(f"not asked: {grammar.unsaid}")
