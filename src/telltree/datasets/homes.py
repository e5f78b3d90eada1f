"""Where to look for data sets if the user gives no path."""

import os
from collections.abc import Iterator
from pathlib import Path

import platformdirs


def homes() -> Iterator[Path]:
    """The folder named by TELLTREE_DATA, if it is set, then the user's data folder."""
    named = os.environ.get("TELLTREE_DATA")
    if named:
        yield Path(named)
    yield platformdirs.user_data_path("telltree", appauthor=False)
