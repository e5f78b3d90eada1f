"""Optional libraries, and the error that says how to install a missing one."""

from collections.abc import Iterator
from contextlib import contextmanager

from telltree.errors import MissingLibraryError

_NEEDS = {  # for each library its purpose, and the extra that installs it
    "typer": ("the command line needs", "cli"),
    "rich": ("progress on a terminal needs", "cli"),
    "jinja2": ("reports need", "report"),
    "matplotlib": ("figures need", "plot"),
    "pyarrow": ("Parquet files need", "parquet"),
    "distributed": ("clusters need", "dask"),
}


@contextmanager
def extras(where: str = "") -> Iterator[None]:
    """Context for imports from optional libraries: if one is not installed, the error names its extra.

    `where` is what the library is needed for, such as the name of a file. Errors about other modules pass through: they
    are faults of the installation, or ours.
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
