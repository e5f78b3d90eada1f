"""One core to measure on, and a line that says what kind of machine it belongs to."""

import os
import platform
from importlib import metadata
from pathlib import Path

THREADS = ("NUMBA", "OMP", "OPENBLAS", "MKL")


def take_one_core() -> int | None:
    """Keep this process and its children to one core and one thread; call it before NumPy is imported.

    Returns the number of the core, or None where the system has no way to choose one.
    """
    os.environ.update({f"{library}_NUM_THREADS": "1" for library in THREADS})
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))  # the first is where the system likes to do its own work
    os.sched_setaffinity(0, {core})
    return core


def core_in_use() -> int:
    """The core that `take_one_core` took, for children that choose one for themselves."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


def describe(core: int | None, load: float) -> str:
    """Processor, memory and versions, without anything that names the machine."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("telltree", "numpy", "numba", "scikit-learn"))
    pinned = "kept to one core" if core is not None else "one thread, free to move between cores"
    return (
        f"{_processor()}, {os.cpu_count()} cores, {_memory()}{platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}; {pinned}; load {load:.1f} at the start"
    )


def load() -> float:
    """How many processes wanted to run in the last minute: a busy machine explains odd figures."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def _memory() -> str:
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return ""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB, "
