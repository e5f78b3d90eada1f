"""The eight-word Auslan data that the benchmarks are measured on, read from a folder outside the project."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FILES = ("data.csv", "starts.txt", "labels.txt")


class Auslan(NamedTuple):
    """One array (steps x 22) and one label per record, and the names of the 22 columns."""

    records: list[NDArray[np.float64]]
    columns: list[str]
    labels: list[str]


def default_folder() -> Path:
    """The data folder: $TELLTREE_DATA, or `shared/data` beside the project."""
    named = os.environ.get("TELLTREE_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def load(folder: str | Path | None = None) -> Auslan:
    """Read auslan8 from `folder`, which holds either its three files or a folder `auslan8` with them."""
    base = Path(folder) if folder is not None else default_folder()
    home = base / "auslan8" if (base / "auslan8").is_dir() else base
    missing = [name for name in FILES if not (home / name).is_file()]
    if missing:
        raise FileNotFoundError(
            f"{home}: no {', '.join(missing)}; set TELLTREE_DATA to the folder that holds auslan8, or name it"
        )
    with open(home / "data.csv", encoding="utf-8") as file:
        columns = [name.strip().strip('"') for name in file.readline().split(",")]
        rows = np.loadtxt(file, delimiter=",", dtype=np.float64, ndmin=2)
    # The file counts rows from 1.
    starts = [int(start) - 1 for start in (home / "starts.txt").read_text(encoding="utf-8").split(",")]
    labels = (home / "labels.txt").read_text(encoding="utf-8").splitlines()[1].strip().split(",")
    if len(starts) != len(labels):
        raise ValueError(f"{home}: {len(starts)} starts but {len(labels)} labels; the files do not belong together")
    return Auslan(np.split(rows, starts[1:]), columns, labels)


def hard2_labels(labels: list[str]) -> list[int]:
    """Two labels that are hard to tell apart: the classes in alphabetical order, taken alternately."""
    side = {name: place % 2 for place, name in enumerate(sorted(set(labels)))}
    return [side[label] for label in labels]
