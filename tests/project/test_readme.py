"""The commands of the README work as they are written, in the environment that `make demo` leaves behind."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def commands():
    """The lines of the first block of commands, and of all others, in the order in which they are read."""
    blocks = re.findall(r"```(sh|console)\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    first, *others = (block.splitlines() for _, block in blocks)
    return first, [line.removeprefix("$ ") for block in others for line in block if line.startswith("$ ")]


def test_the_environment_is_activated_before_the_program_is_called():
    first, others = commands()
    words = [line.split("#")[0].strip() for line in first]
    assert words.index("make demo") < words.index(". .venv/bin/activate") < words.index("telltree demo")
    assert any(line.startswith("telltree ") for line in others)


@pytest.mark.skipif(os.name == "nt", reason="activates an environment in a POSIX shell")
def test_the_program_is_found_after_that(tmp_path):
    """With the environment that these tests run in, in place of the one that `make demo` would make."""
    first, _ = commands()
    activate = next(line.split("#")[0].strip() for line in first if "activate" in line)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    if not (tmp_path / ".venv" / "bin" / "activate").exists():
        pytest.skip("these tests do not run in a virtual environment")
    ask, shell = "command -v telltree && telltree --version", shutil.which("sh")
    assert shell is not None
    given = {"cwd": tmp_path, "env": {"PATH": os.defpath, "HOME": str(tmp_path)}, "capture_output": True, "text": True}
    before = subprocess.run([shell, "-c", ask], check=False, **given)
    after = subprocess.run([shell, "-c", f"{activate}; {ask}"], check=False, **given)
    assert before.returncode != 0
    assert after.returncode == 0, after.stderr
    assert "telltree " in after.stdout
