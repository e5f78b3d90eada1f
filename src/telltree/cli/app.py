"""The program and its verbs, each of which has a file of its own."""

from typing import Annotated

import typer

from telltree.cli.options import ConfigurableCommand, expanded
from telltree.cli.output import put, with_exit_codes
from telltree.cli.verbs.ask import ask
from telltree.cli.verbs.categorize import categorize
from telltree.cli.verbs.demo import demo
from telltree.cli.verbs.evaluate import evaluate
from telltree.cli.verbs.experiment import experiment
from telltree.cli.verbs.explain import explain
from telltree.cli.verbs.export import export
from telltree.cli.verbs.fit import fit
from telltree.cli.verbs.grammar import grammar
from telltree.cli.verbs.inspect import inspect
from telltree.cli.verbs.predict import predict
from telltree.cli.verbs.report import report
from telltree.cli.verbs.show import show

app = typer.Typer(
    name="telltree",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def _print_version(requested: bool) -> None:
    if requested:
        from telltree import __version__

        put(f"telltree {__version__}")
        raise typer.Exit


@app.callback()
def telltree(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version, and end.")
    ] = False,
) -> None:
    """Learn what kinds of records there are among labelled time series, in sentences you can check.

    Results go to standard output, progress and remarks to standard error. Exit codes: 0 fine, 1 failure, 2 wrong
    usage, 3 bad data, 4 bad model file, 130 interrupted.
    """


for _verb in (
    inspect, ask, grammar, fit, show, evaluate, predict, categorize, explain, report, export, demo, experiment
):  # fmt: skip
    _first_line = (_verb.__doc__ or "").split("\n")[0]
    app.command(_verb.__name__, cls=ConfigurableCommand, short_help=_first_line)(with_exit_codes(expanded(_verb)))
