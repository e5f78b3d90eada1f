"""Small data sets that travel in the wheel of aeon, of which nothing is installed: its files are read in place."""

import subprocess
import sys
import zipfile
from pathlib import Path

HOME = Path(__file__).resolve().parents[2] / ".venv-peers" / "aeon"


def aeon_file(name: str, part: str = "TRAIN") -> Path | None:
    """The training or the test part of a data set as a .ts file, fetched on first use; None where it cannot be had."""
    path = HOME / f"{name}_{part}.ts"
    if not path.is_file():
        wheel = next(HOME.glob("aeon-*.whl"), None) or _fetched()
        if wheel is None:
            return None
        with zipfile.ZipFile(wheel) as archive:
            path.write_bytes(archive.read(f"aeon/datasets/data/{name}/{path.name}"))
    return path


def _fetched() -> Path | None:
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME.parent / ".gitignore").write_text("*\n", encoding="utf-8")  # the folder keeps itself out of version control
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check", "aeon"]
    done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"aeon_data: could not fetch aeon, so its data sets are left out:\n{done.stderr}", file=sys.stderr)
    return next(HOME.glob("aeon-*.whl"), None)
