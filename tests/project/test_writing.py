"""Files are written whole or not at all; devices and pipes are written to."""

import os
import threading

import pytest

from telltree.files import is_device, require_writable, write_whole


def test_files_and_what_links_point_to_are_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("new")
    for name, place in (("link", "real"), ("dangling", "new"), ("plain", "plain")):
        require_writable(tmp_path / name)
        write_whole(tmp_path / name, b"content")
        assert (tmp_path / place).read_bytes() == b"content"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "dangling").is_symlink()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dangling", "link", "new", "plain", "real"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_pipes_are_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    require_writable(pipe)  # which must not wait for a reader
    writer = threading.Thread(target=write_whole, args=(pipe, b"content"))
    writer.start()
    assert pipe.read_bytes() == b"content"
    writer.join()
    assert is_device(pipe)


def test_what_cannot_be_written_is_said_without_a_trace(tmp_path):
    with pytest.raises(IsADirectoryError):
        require_writable(tmp_path)
    with pytest.raises(FileNotFoundError):
        require_writable(tmp_path / "none" / "file")
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(NotADirectoryError):
        require_writable(tmp_path / "file" / "below")
    require_writable(tmp_path / "file")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"
