"""telltree demo: a first look at telltree."""

from pathlib import Path
from typing import Annotated

import typer

from telltree.cli.options import Force
from telltree.cli.output import check_output, put


def demo(
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a report here, to open in a browser.")
    ] = None,
    force: Force = False,
) -> None:
    """Learn from encounters of two aircraft what kinds of near mid-air collision there are, and say so.

    The 2,000 encounters come with telltree; they are from the stress tests of the collision avoidance system ACAS X.

    With -o, also write a report: one HTML page to open in a browser.

    \b
    Examples:
      telltree demo
      telltree demo -o report.html
    """
    check_output(output, force=force)
    from telltree.demo import demo as parts

    for part in parts(output):
        put(part + "\n\n", wrap=True)
