"""Run the DEAP peer in a virtual environment of its own, made on first use, on one core."""

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE.parents[1] / ".venv-peers"

# The best settings found for each of two ways to choose the next generation.
GENERATIONAL = ("--survival", "children", "--population", "500", "--tournament", "7", "--cross", "0.5")
BEST_OF_BOTH = ("--survival", "both", "--population", "300", "--tournament", "5", "--cross", "0.8")


def environment() -> Path:
    """The interpreter of an environment with deap and numpy; made where there is none or half of one."""
    home = ENVIRONMENTS / "deap"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    probe = [str(python), "-c", "import deap, numpy"]
    if python.exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return python
    print("run_deap: making an environment for deap, once", file=sys.stderr)
    venv.create(home, with_pip=True, clear=True)
    # The folder keeps itself out of version control.
    (ENVIRONMENTS / ".gitignore").write_text("*\n", encoding="utf-8")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "deap", "numpy"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"run_deap: could not install deap and numpy into {home}:\n{done.stderr}")
    return python


def run_deap(
    data: str | Path,
    seeds: Sequence[int],
    evaluations: int = 10_000,
    core: int = 0,
    settings: Sequence[str] = GENERATIONAL,
) -> list[dict[str, Any]]:
    """One dictionary per seed: seed, best (fitness), evaluations (distinct trees), seconds, tree."""
    command = [str(environment()), str(HERE / "deap_hard2.py"), str(data), *map(str, seeds)]
    command += ["--evaluations", str(evaluations), "--core", str(core), *settings]
    single = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | single)
    if done.returncode:
        raise RuntimeError(f"run_deap: the DEAP peer failed:\n{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]
