"""Fits that are killed, and fits that are interrupted, at random moments; and what checkpoints cost.

    python benchmarks/kills.py                  all of it, 50 times each: an hour
    python benchmarks/kills.py --only kills --times 10

kills: SIGKILL, then the same fit goes on from its checkpoint. The model file must have the bytes of the undisturbed.
interrupts: SIGINT. The fit must return with a tree; told is the processor time between signal and return.
workers: SIGINT to an experiment with two processes. None of them may be left.
cost: fits with a checkpoint beside fits without, in turn.
deaths: SIGKILL to one of the two workers of a Dask cluster, at a random moment of a fit on them. The model file must
have the bytes of the fit without a cluster. 20 times at most.

Moments are of processor time, so that a busy machine changes nothing. Fits are forked from this process, which has
compiled all kernels before.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from telltree import GrammarTreeClassifier
from telltree.datasets import make_encounters
from telltree.experiments import run_experiment
from telltree.scale import checkpoint
from telltree.search import GeneticProgramming

TICKS = os.sysconf("SC_CLK_TCK")
PANEL, LABELS = tuple(make_encounters(400, 150, 3))[:2]


def fitted(path: Path | None = None, evaluations: int = 20_000, client: Any = None) -> GrammarTreeClassifier:
    """A fit of some seconds: a tree, two folds of it, and headlines."""
    search = GeneticProgramming(evaluations=evaluations)
    model = GrammarTreeClassifier(search=search, cv=2, random_state=1)
    return model.fit(PANEL, LABELS, checkpoint=path, client=client)


def forked(work: Callable[[], Any]) -> int:
    """The number of a process of a session of its own that does some work."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        work()
        os._exit(0)
    except BaseException:  # noqa: BLE001 - this process has nothing above it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def spent(process: int) -> float:
    """The processor time of a process, in seconds; infinite once it has ended."""
    state, *rest = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return float("inf") if state == "Z" else (int(rest[10]) + int(rest[11])) / TICKS


def at(process: int, moment: float, number: signal.Signals, *, to_all: bool = False) -> float | None:
    """Send a signal when a process has spent so much; what it had spent then, None if it ended before.

    With `to_all` its workers get it as well, as they do from a terminal.
    """
    while (now := spent(process)) < moment:
        time.sleep(0.002)
    if now == float("inf"):
        return None
    (os.killpg if to_all else os.kill)(process, number)
    return now


def kills(times: int, folder: Path) -> Iterator[str]:
    """Kill fits and go on."""
    expected, path, saved = folder / "expected.json", folder / "checkpoint", folder / "model.json"
    began = time.process_time()
    fitted().save(expected)
    whole = time.process_time() - began

    def work() -> None:
        begun = time.process_time()
        fitted(path).save(saved, overwrite=True)
        (folder / "spent").write_text(str(time.process_time() - begun))

    killed, same, again, left = 0, 0, list[float](), 0
    for _ in range(times):
        path.unlink(missing_ok=True)
        saved.unlink(missing_ok=True)
        child = forked(work)
        killed += at(child, random.uniform(0.0, 1.0) * whole, signal.SIGKILL) is not None
        os.waitpid(child, 0)
        left += any(file.name.endswith(".part") for file in folder.iterdir())
        _, status = os.waitpid(forked(work), 0)
        same += status == 0 and saved.read_bytes() == expected.read_bytes()
        again.append(float((folder / "spent").read_text()) / whole)
        assert not [file for file in folder.iterdir() if file.name.endswith(".part")], "something is left"
    yield f"killed {killed} of {times} fits of {whole:.1f} s; the same bytes {same} times"
    yield f"going on took {sum(again) / times:.2f} of a whole fit on average; {left} were killed while they wrote"


def interrupts(times: int, folder: Path) -> Iterator[str]:
    """Press Ctrl-C while a fit is under way."""
    began = time.process_time()
    fitted()
    whole = time.process_time() - began

    def work() -> None:
        said: dict[str, Any] = {"nothing": True}
        with suppress(KeyboardInterrupt):
            model = fitted()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            returned = time.process_time()
            said = {"interrupted": model.interrupted_, "right": model.score(PANEL, LABELS)}
        ended = time.process_time() if "nothing" in said else returned
        (folder / "said").write_text(json.dumps({**said, "spent": ended}))

    waits, kept, nothing, late = list[float](), 0, 0, 0
    for _ in range(times):
        (folder / "said").unlink(missing_ok=True)
        child = forked(work)
        sent = at(child, random.uniform(0.0, 1.0) * whole, signal.SIGINT)
        _, status = os.waitpid(child, 0)
        assert status == 0, "the fit failed"
        said = json.loads((folder / "said").read_text())
        nothing += "nothing" in said
        late += sent is None or not said.get("interrupted", True)
        kept += bool(said.get("interrupted"))
        if sent is not None:
            waits.append(said["spent"] - sent)
    yield f"{times} fits: {kept} returned with the best tree so far, {nothing} had not begun to learn, {late} had ended"
    yield f"back after {max(waits):.2f} s of processor time at most, {sum(waits) / len(waits):.2f} on average"


def workers(times: int, folder: Path) -> Iterator[str]:
    """Press Ctrl-C while an experiment has two processes at work."""
    known = {"gp": GeneticProgramming(evaluations=3_000)}

    def work() -> None:
        found = run_experiment("encounters", trials=20, searches=known, baselines=("tree",), jobs=2, records=300)
        said = {"interrupted": found.interrupted, "spent": time.process_time()}
        (folder / "said").write_text(json.dumps(said))

    waits, ended, left = list[float](), 0, 0
    for turn in range(times):
        (folder / "said").unlink(missing_ok=True)
        child = forked(work)
        sent = at(child, random.uniform(0.1, 2.0), signal.SIGINT, to_all=turn % 2 == 1)
        _, status = os.waitpid(child, 0)
        if status == 0 and sent is not None and (folder / "said").exists():
            said = json.loads((folder / "said").read_text())
            waits.append(said["spent"] - sent)
            ended += said["interrupted"]
        left += _left(child)
    yield f"{times} experiments: {ended} returned with what was finished; processes left of {left}"
    yield f"back after {max(waits, default=0):.2f} s of processor time at most" if waits else "none returned"


def _left(session: int, patience: float = 20.0) -> bool:
    """Whether a process of a session is still there after a while."""
    end = time.monotonic() + patience
    while _members(session):
        if time.monotonic() > end:
            return True
        time.sleep(0.05)
    return False


def _members(session: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, _, _, own, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(own) == session and state != "Z":
                found.append(int(entry.name))
    return found


def cost(times: int, folder: Path) -> Iterator[str]:
    """Fits with and without a checkpoint."""
    evaluations, without, beside = 100_000, list[float](), list[float]()
    for number in range(times):
        for path, costs in ((None, without), (folder / f"cost {number}", beside)):
            began = time.process_time()
            fitted(path, evaluations)
            costs.append(time.process_time() - began)
    size = (folder / "cost 0").stat().st_size
    yield f"{min(without):.2f} s without, {min(beside):.2f} s with a checkpoint (of {size:,} bytes in the end): "
    yield f"{100 * (min(beside) / min(without) - 1):+.1f} % (least of {times} each, processor time)"


def deaths(times: int, folder: Path) -> Iterator[str]:
    """Kill one of two workers, each time of a new cluster: one that is slow to start again may be given up by Dask."""
    expected, saved, same, killed = folder / "expected.json", folder / "model.json", 0, 0
    fitted(evaluations=1_000).save(expected)
    whole = min(_fit_on_two(None)[1] for _ in range(2))  # at first, workers compile
    while killed < min(times, 20):
        moment = random.uniform(0.0, whole)
        model, took, dead = _fit_on_two(moment)
        model.save(saved, overwrite=True)
        if not dead:
            whole = took  # it had ended before
        else:
            killed, same = killed + 1, same + (saved.read_bytes() == expected.read_bytes())
            yield f"killed after {moment:.1f} of {whole:.1f} s; it took {took:.1f} s; the same bytes {same} of {killed}"


def _fit_on_two(moment: float | None) -> tuple[GrammarTreeClassifier, float, bool]:
    """A model, how long it took, and whether a worker was killed at that moment.

    Its process is known to the cluster, so that nobody has to ask a dying worker.
    """
    from distributed import Client, LocalCluster

    quiet = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, **quiet)
    try:
        with Client(cluster) as client:
            client.wait_for_workers(2)
            victim = random.choice(list(cluster.workers.values())).pid
            timer = threading.Timer(moment or 0.0, os.kill, (victim, signal.SIGKILL))
            if moment is not None:
                timer.start()
            began = time.monotonic()
            model = fitted(evaluations=1_000, client=client)
            took, dead = time.monotonic() - began, moment is not None and not timer.is_alive()
            timer.cancel()
            return model, took, dead
    finally:
        cluster.close(timeout=120)  # a worker that was started again may take long to end on a busy machine


PARTS: dict[str, Callable[[int, Path], Iterator[str]]] = {
    "kills": kills,
    "interrupts": interrupts,
    "workers": workers,
    "cost": cost,
    "deaths": deaths,  # the last: it starts threads, and the others fork
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=float, default=0.2, help="seconds between two checkpoints (not for cost)")
    given = parser.parse_args()
    random.seed(given.seed)
    fitted()  # compile
    for name in [given.only] if given.only else PARTS:
        checkpoint.EVERY, checkpoint.SHARE = (1.0, 0.01) if name == "cost" else (given.every, 1.0)
        with tempfile.TemporaryDirectory() as folder:
            for line in PARTS[name](min(given.times, 5) if name == "cost" else given.times, Path(folder)):
                print(f"{name:10} {line}", flush=True)


if __name__ == "__main__":
    main()
