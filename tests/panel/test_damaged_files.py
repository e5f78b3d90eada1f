"""Damaged files of every format: read, or refused with a DataError, and nothing else."""

import io
import random
import warnings

import pytest

from tests.support.input_forms import csv_bytes, parquet_bytes

from telltree.errors import DataError, DataWarning
from telltree.panel import Schema, read

TABLE = {
    "id": ["a", "a", "b"],
    "t": [0, 1, 0],
    "x": [1.5, None, 2.5],
    "on": [True, None, False],
    "mode": ["u", 'v\n"', None],
    "y": [1, 1, 2],
}
TS = b"@timeStamps true\n@classLabel true 1 2\n@data\n(0,1),(1,?):(0,4),(1,5):1\n(2,1):(2,NaN):2\n"
TOML = b'[columns."a b"]\ntype = "real"\nthresholds = [1, 2.5]\n[columns.c]\ntype = "categorical"\nlevels = ["u"]\n'
PIECES = [b'"', b",", b";", b"\n", b"\r", b"\0", b"NA", b"true", b"1e999", b"-", b"\xff\xfe", b"(", b":", b"@", b"?"]


def mutant(content, rng):
    """One to three bytes changed, added or cut."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(changed))
        added = rng.choice(PIECES) if rng.random() < 0.5 else bytes([rng.randrange(256)])
        changed[place : place + rng.choice((0, 1, 1, 4))] = added if rng.random() < 0.8 else b""
    return bytes(changed)


def read_long(content, place):
    return read(io.BytesIO(content), id="id", time="t", label="y", every=0.5)


def read_ts(content, place):
    (place / "x.ts").write_bytes(content)
    return read(place / "x.ts")


FORMATS = {
    "csv": (csv_bytes(TABLE), read_long, 400),
    "parquet": (parquet_bytes(TABLE), read_long, 150),
    "ts": (TS, read_ts, 300),
    "toml": (TOML, lambda content, place: Schema.from_toml(content.decode(errors="replace")), 400),
}


@pytest.mark.parametrize(("content", "act", "number"), FORMATS.values(), ids=FORMATS)
def test_damage_is_a_data_error_or_none(content, act, number, tmp_path):
    act(content, tmp_path)
    rng = random.Random(0)
    refused = 0
    for _ in range(number):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            try:
                act(mutant(content, rng), tmp_path)
            except DataError:
                refused += 1
    assert 0 < refused < number
