"""Where data sets are looked for that a user has not given the path of."""

import os
from collections.abc import Iterator
from pathlib import Path

import platformdirs


def homes() -> Iterator[Path]:
    """The folder that TELLTREE_DATA names, if it does, then the user's data folder."""
    named = os.environ.get("TELLTREE_DATA")
    if named:
        yield Path(named)
    yield platformdirs.user_data_path("telltree", appauthor=False)
