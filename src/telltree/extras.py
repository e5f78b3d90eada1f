"""What `pip install telltree` leaves out, and the one error that says how to add it."""

from collections.abc import Iterator
from contextlib import contextmanager

from telltree.errors import MissingLibraryError

_NEEDS = {  # by library: what it is needed for, and the extra that installs it
    "typer": ("the command line needs", "cli"),
    "rich": ("progress on a terminal needs", "cli"),
    "jinja2": ("reports need", "report"),
    "matplotlib": ("figures need", "plot"),
    "pyarrow": ("Parquet files need", "parquet"),
    "distributed": ("clusters need", "dask"),
}


@contextmanager
def extras(where: str = "") -> Iterator[None]:
    """For imports from optional libraries: if one is not installed, the error names its extra.

    where: what the library is needed for, such as the name of a file. Any other module that is not there is a fault of
    the installation, or ours, and its own error stands.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _NEEDS:
            raise
        needs, extra = _NEEDS[library]
        place = f"{where}: " if where else ""
        raise MissingLibraryError(f'{place}{needs} {library}: pip install "telltree[{extra}]"') from error
