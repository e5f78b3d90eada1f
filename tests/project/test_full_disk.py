"""Disks that are full, cannot be written, or fail: what was there before stays, and the error says why."""

import errno
import os
import shutil
import subprocess

import numpy as np
import pytest

from tests.support.programs import telltree

from telltree import GrammarTreeClassifier, Panel, load
from telltree.errors import SettingsError, TelltreeWarning
from telltree.files import write_whole
from telltree.scale import checkpoint as keeping
from telltree.search import MonteCarlo


@pytest.fixture
def disk(tmp_path):
    """A file system of 256 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount here")
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "telltree-test", place]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"nothing may be mounted here: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def fill(disk):
    """Leave no room."""
    room = os.statvfs(disk)
    (disk / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize))


def make_read_only(disk):
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 6, 2)).cumsum(axis=1)
    return Panel.from_arrays(list(values), columns=["a", "b"]), np.where(values[:, :, 0].max(axis=1) > 1, "high", "low")


def classifier():
    return GrammarTreeClassifier(search=MonteCarlo(evaluations=3_000), max_depth=2, random_state=0)


@pytest.fixture(scope="module")
def model(records):
    return classifier().fit(*records)


WRITERS = {
    "model": lambda model, records, path: model.save(path, overwrite=True),
    "report": lambda model, records, path: model.report(*records, path, overwrite=True),
    "file": lambda model, records, path: write_whole(path, b"new " * 20_000),
}


SPOILT = {"No space left": fill, "Read-only file system": make_read_only}


@pytest.mark.parametrize("what", WRITERS)
@pytest.mark.parametrize("reason", SPOILT)
def test_the_old_file_stays(what, reason, disk, model, records):
    path = disk / "result"
    path.write_bytes(b"old")
    SPOILT[reason](disk)
    with pytest.raises(OSError, match=reason) as caught:
        WRITERS[what](model, records, path)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert {file.name for file in disk.iterdir()} <= {"result", "filler"}


@pytest.mark.parametrize("what", WRITERS)
def test_the_old_file_stays_where_a_disk_fails(what, tmp_path, model, records, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = tmp_path / "result"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="Input/output error"):
        WRITERS[what](model, records, path)
    assert [file.name for file in tmp_path.iterdir()] == ["result"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("reason", SPOILT)
def test_the_program_says_why(reason, disk, model, tmp_path):
    model.save(tmp_path / "model.json")
    path = disk / "rules.sql"
    path.write_bytes(b"old")
    SPOILT[reason](disk)
    ended = telltree("export", tmp_path / "model.json", "--to", "markdown", "-o", path, "--force")
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert str(path) in ended.stderr
    assert reason in ended.stderr
    assert path.read_bytes() == b"old"


def test_learning_goes_on_where_no_checkpoint_can_be_written(disk, model, records, monkeypatch, tmp_path):
    monkeypatch.setattr(keeping, "EVERY", 0.0)
    monkeypatch.setattr(keeping, "SHARE", 1e9)
    path, before = disk / "checkpoint", []
    write = keeping.write_whole

    def filling(*written):
        if len(before) == 1 and not (disk / "filler").exists():
            fill(disk)
        write(*written)
        before.append(path.read_bytes())

    monkeypatch.setattr(keeping, "write_whole", filling)
    with pytest.warns(TelltreeWarning, match=r"cannot be written: No space left on device; learning goes on") as said:
        found = classifier().fit(*records, checkpoint=path)
    assert len(said) == 1
    assert path.read_bytes() == before[0]  # the last that was written whole
    (disk / "filler").unlink()
    monkeypatch.setattr(keeping, "write_whole", write)
    for number, one in enumerate((model, found, classifier().fit(*records, checkpoint=path))):
        one.save(tmp_path / f"{number}.json")
    assert len({(tmp_path / f"{number}.json").read_bytes() for number in range(3)}) == 1
    assert load(tmp_path / "2.json").outline() == model.outline()


def test_a_checkpoint_on_a_disk_that_is_read_only_is_refused_before_the_work(disk, records):
    make_read_only(disk)
    with pytest.raises(SettingsError, match=r"the checkpoint '.*' cannot be written: Read-only file system"):
        classifier().fit(*records, checkpoint=disk / "checkpoint")
