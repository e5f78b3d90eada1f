"""The folders that are searched for data sets without a path."""

import os
from collections.abc import Iterator
from pathlib import Path

import platformdirs


def data_folders() -> Iterator[Path]:
    """Yield the folder named by TELLTREE_DATA, if it is set, then the user's data folder."""
    named = os.environ.get("TELLTREE_DATA")
    if named:
        yield Path(named)
    yield platformdirs.user_data_path("telltree", appauthor=False)
