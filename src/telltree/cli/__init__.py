"""The command line: parse arguments, call the library, print. Results on stdout, everything else on stderr."""

import sys

from telltree.errors import MissingLibraryError
from telltree.extras import extras


def main() -> None:
    """Run the program `telltree`; it ends with the exit codes that `telltree.cli.output` lists."""
    try:
        with extras():
            from telltree.cli.app import app
    except MissingLibraryError as error:  # pip installed the program without its libraries
        sys.exit(f"telltree: error: {error}")

    app()
