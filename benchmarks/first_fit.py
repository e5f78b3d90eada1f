"""What a new user waits for: compiling at the first fit, and loading what was compiled at the next."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import Row

COMPILING, WARM = 12.0, 1.0


def rows(quick: bool) -> list[Row]:
    runs = [_cold_and_warm() for _ in range(1 if quick else 3)]
    cold = min((first for first, _ in runs), key=lambda run: float(run["compiling"]))
    warm = min((second for _, second in runs), key=lambda run: float(run["fit"]))
    said = f"says “{cold['said']}”" if cold["said"] else "**says nothing**"
    return [
        Row(
            "compiling at the first fit in a fresh environment",
            f"< {COMPILING:g} s, and says so",
            f"{cold['compiling']:.1f} s; {'says so' if cold['said'] else '**says nothing**'}",
            f"{said}; empty kernel cache, default settings, Auslan, fit and predict ({cold['fit']:.1f} s in all), "
            f"imports {cold['imports']:.1f} s; best of {len(runs)}; {cold['kernels']} kernels",
            met=cold["compiling"] < COMPILING and bool(cold["said"]),
        ),
        Row(
            "fit and predict in the next process, from the cache",
            f"< {WARM:g} s beyond imports",
            f"{warm['fit']:.2f} s",
            f"imports {warm['imports']:.1f} s; compiling {warm['compiling']:.2f} s; best of {len(runs)}",
            met=warm["fit"] < WARM,
        ),
    ]


def _cold_and_warm() -> tuple[dict[str, Any], dict[str, Any]]:
    """Two processes one after the other that share a cache of their own, empty at first."""
    with tempfile.TemporaryDirectory() as cache:
        return _fit_once(cache), _fit_once(cache)


def _fit_once(cache: str) -> dict[str, Any]:
    script = Path(__file__).with_name("fit_once.py")
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, env=environment
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{script.name} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    found["said"] = next((line for line in done.stderr.splitlines() if "compiling" in line), "")
    return found
