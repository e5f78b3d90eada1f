"""Programs for which folders without the permission to write are read-only, also if the tests are run by root."""

import os
import shutil
import subprocess
import sys

import pytest

BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
"""Takes from root what lets it write everywhere."""


def bound(arguments, **options):
    """Run Python with these arguments, as one whom permissions bind; skips the test where that cannot be."""
    python = [sys.executable, *map(str, arguments)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv to take that from it")
        python = [*BOUND, *python]
    return subprocess.run(python, capture_output=True, text=True, check=False, **options)


def require_bound(folder):
    """Skip the test if permissions do not bind."""
    ended = bound(["-c", f"open({str(folder / 'x')!r}, 'w')"])
    if "PermissionError" not in ended.stderr:
        pytest.skip(f"permissions do not bind here: {ended.stderr[-200:]}")
