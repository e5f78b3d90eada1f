"""Compare whole fits with those of an earlier commit, in one run: python against.py COMMIT.

The commit is checked out beside the project for as long as this lasts. Fits of both take turns, each in a process of
its own, and the processor's time is compared; the trees should be the same.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whole_fits import CASES

PROJECT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="what to compare with, such as HEAD~20")
    parser.add_argument("--repeats", type=int, default=3, help="how often to fit; the best counts (3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the records: does it run at all?")
    options = parser.parse_args()
    print("| whole fit | before | now | times as fast | same tree |\n| --- | --- | --- | --- | --- |")
    with _checked_out(options.commit) as earlier:
        for name in CASES:
            runs = [
                [_fit(source, name, 10 if options.quick else 1) for source in (earlier, PROJECT)]
                for _ in range(options.repeats)
            ]
            if runs[0][0] is None:
                continue  # its data are not at hand
            before, now = (min(pair[side]["seconds"] for pair in runs) for side in (0, 1))
            same = "yes" if len({run["tree"] for pair in runs for run in pair}) == 1 else "**no**"
            told = f"| {runs[0][1]['name']} | {before:.2f} s | {now:.2f} s | {before / now:.2f} | {same} |"
            print(told, flush=True)


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """The project as it was at a commit, in a folder that goes when this ends."""
    git = ["git", "-C", str(PROJECT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "earlier"
        subprocess.run([*git, "add", "--quiet", "--detach", str(place), commit], check=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def _fit(project: Path, name: str, few: int) -> Any:
    """What a fit with the source of that project comes to."""
    script = Path(__file__).with_name("fit_whole.py")
    environment = os.environ | {"PYTHONPATH": str(project / "src")}
    command = [sys.executable, str(script), name, str(few)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"{script.name} failed with the source in {project}:\n{done.stderr}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
