"""The command line: parse arguments, call the library, print. Results on stdout, everything else on stderr."""


def main() -> None:
    """Run the program `telltree`; it ends with the exit codes that `telltree.cli.outcome` lists."""
    from telltree.cli.app import app

    app()
