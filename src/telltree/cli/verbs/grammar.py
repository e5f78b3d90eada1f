"""telltree grammar: print the grammar that `telltree fit` would use, to edit and hand back."""

from pathlib import Path
from typing import Annotated

import typer

from telltree.cli.inputs import read_sources, say_left_out
from telltree.cli.options import DataOptions, Force, Source
from telltree.cli.output import check_output, put, say


def grammar(
    *,
    source: Source,
    data: DataOptions,
    generic: Annotated[
        bool, typer.Option("--generic", help="The paper's generic grammar instead: F and G over ten points of a range.")
    ] = False,
    shapes: Annotated[
        int,
        typer.Option(
            metavar="N", help="With about so many shapes, pieces of the records; 200 for fit --grammar shapes."
        ),
    ] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it here, not to standard output.")
    ] = None,
    force: Force = False,
) -> None:
    """Print the language that fit uses for these data: edit it, and hand it back by fit --grammar.

    Labels, if they are given, are looked at for columns with many levels: which of them go together; for shapes, which
    come from all classes alike; and of fewer than 100 records for durations: whether they earn their place.

    \b
    Examples:
      telltree grammar flights.csv --id flight --time t --label nmac
      telltree grammar flights.csv --id flight --time t --label nmac -o mine.bnf
    """
    from telltree.grammar import Grammar

    check_output(output, force=force)
    panel, labels = read_sources(source, data)
    written = Grammar.generic(panel) if generic else Grammar.for_panel(panel, labels, shapes=shapes)
    say_left_out(written)
    put(str(written).rstrip("\n"), output)
    if output is not None:
        say(f"wrote {output}")
