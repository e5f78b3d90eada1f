"""Do the tests notice when the program is wrong? Small changes are made to it one at a time, and its tests are run.

    python benchmarks/mutants.py --number 150 --seed 1 --verdicts mutants.jsonl

Changes are drawn by chance from all places of `grammar`, `logic`, `search` and `tree` where one can be made:
comparisons, arithmetic, and/or, constants, conditions, returned values, and statements that are left out. A change is
killed if a test that concerns its room fails, or takes too long. Those that survive are printed, to be read: either
nobody could notice the change, or a test is missing.

The work is done in a copy of the sources. Compiled kernels are kept between changes, but for those that a change may be
part of: Numba looks only at the file that a kernel stands in, so the files that import a changed one are forgotten too.

A run of a hundred changes takes an hour. With `--verdicts` each verdict is appended to a file as it is reached, and a
run that was ended goes on after the last of them, as long as the changed files stay as they were.
"""

import argparse
import ast
import hashlib
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HOME = Path(__file__).parents[1]
PACKAGE = HOME / "src" / "telltree"
TESTS = {
    "grammar": "grammar_parse grammar_errors grammar_sizes grammar_own grammar_derivations search_draws grammar_text "
    "grammar_fitting",
    "logic": "logic_meaning logic_layout logic_functions logic_subset tree_centring logic_oracle",
    "search": "search_draws search_by_size search_contract budgets",
    "tree": "tree_bits tree_observed tree_centring tree_shortening tree_front weights explain_rules model_files "
    "model_golden tree_induction",
}
"""The files of tests that concern a room, the quickest to notice first."""
WIDER = {
    "grammar": "grammar_quick language_windows bounds language_when search_exhaustive search_contract budgets "
    "model_hostile",
    "logic": "logic_walk language_windows language_when budgets explain_evidence explain_counts data_panel shards "
    "tree_induction",
    "search": "search_exhaustive search_seeds search_state search_auto checkpoint tree_induction tree_golden cli_edges "
    "estimator_settings",
    "tree": "budgets shards checkpoint scan explain_categories explain_english estimator_settings model_hostile "
    "speech_truth tree_golden numeric_target",
}
"""Files that may notice what those did not."""
MOST_KNOWN = 5
"""Tests that noticed other changes to the same file, and are asked before all others."""
LONGEST = 900  # seconds of processor time for the tests of one change; one that takes longer counts as killed
AT_REST = 4 * LONGEST  # seconds by the clock: tests that wait for ever use no processor


@dataclass(frozen=True)
class Change:
    """A change to a file: some characters of it become others."""

    path: Path
    start: int
    end: int
    text: str
    what: str
    before: bytes
    """The whole file, as it was when the change was drawn."""

    @property
    def room(self) -> str:
        return self.path.relative_to(PACKAGE).parts[0]

    def after(self) -> bytes:
        return self.before[: self.start] + self.text.encode() + self.before[self.end :]

    def name(self) -> str:
        """By which it is known again: what the file becomes."""
        return hashlib.sha256(self.after()).hexdigest()[:16]

    def told(self) -> str:
        line = self.before.count(b"\n", 0, self.start) + 1
        old = " ".join(self.before[self.start : self.end].decode().split())
        return f"{self.path.relative_to(HOME)}:{line}: {self.what}: {_short(old)}  →  {_short(self.text)}"


def _short(text: str) -> str:
    return text if len(text) <= 90 else text[:87] + "..."


# ---- where changes can be made

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
WORKED_OUT: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Add,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
    ast.Pow: ast.Mult,
}  # fmt: skip


def changes(path: Path) -> list[Change]:
    """All changes that can be made to a file."""
    source = path.read_bytes()
    starts = [0, *(found.end() for found in re.finditer(rb"\n", source))]

    def place(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    nodes = [node for node in _code(ast.parse(source)) if isinstance(node, ast.expr | ast.stmt)]
    found = [Change(path, *place(node), text, what, source) for node in nodes for what, text in _variants(node)]
    tests = [node.test for node in nodes if isinstance(node, ast.If | ast.While)]
    turned = [(test, _bracketed(ast.UnaryOp(ast.Not(), test))) for test in tests if not isinstance(test, ast.Compare)]
    return found + [Change(path, *place(test), text, "condition", source) for test, text in turned]


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run: no annotations, messages of errors, or what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.JoinedStr | ast.ImportFrom | ast.Import):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        if isinstance(node, ast.Raise | ast.Assert):
            continue
        for field in ("annotation", "returns", "decorator_list"):
            if getattr(node, field, None):
                setattr(node, field, [] if field == "decorator_list" else None)
        yield from _code(node)


def _variants(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            for other in COMPARED[type(op)]:
                yield "comparison", _bracketed(ast.Compare(node.left, [other()], node.comparators))
        case ast.BinOp(op=op) if type(op) in WORKED_OUT and not _is_text(node):
            yield "arithmetic", _bracketed(ast.BinOp(node.left, WORKED_OUT[type(op)](), node.right))
        case ast.BoolOp(op=op, values=values):
            yield "and/or", _bracketed(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", _bracketed(operand)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "arithmetic", _bracketed(operand)
        case ast.Constant(value=bool() as value):
            yield "constant", str(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", repr(value + 1)
        case ast.IfExp(test=test):
            yield "condition", _bracketed(ast.IfExp(ast.UnaryOp(ast.Not(), test), node.body, node.orelse))
        case ast.Return(value=ast.expr() as value) if not _is_nothing(value):
            yield "return", "return None"
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.AugAssign() | ast.Raise():
            yield "left out", "pass"
        case ast.Continue() | ast.Break():
            yield "left out", "pass"


def _bracketed(node: ast.expr) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _is_text(node: ast.BinOp) -> bool:
    """Whether strings are joined, or filled in."""
    sides = (node.left, node.right)
    return any(isinstance(side, ast.JoinedStr) for side in sides) or any(
        isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides
    )


def _is_nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


# ---- running the tests


class Copy:
    """A copy of the package and its tests, so that both may be edited meanwhile, and the compiled kernels of it."""

    def __init__(self, folder: Path) -> None:
        self.home, self.package, self.cache = folder, folder / "src" / "telltree", folder / "cache"
        for name in ("src", "tests", "docs"):  # some tests read the docs
            shutil.copytree(HOME / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HOME / "pyproject.toml", folder)
        self.importers = _importers()
        self.noticed: dict[Path, list[str]] = {}
        """For each file that was changed, the tests that noticed it, the last first: they are asked first."""

    def verdict(self, room: str, first: Sequence[str] = ()) -> tuple[str, str]:
        """How the tests of a room end, "passed", "failed" or "hung", and the test that did not pass."""
        files = [[f"tests/test_{name}.py" for name in names[room].split()] for names in (TESTS, WIDER)]
        for asked in (first, *files):
            found = self._run(asked) if asked else ("passed", "")
            if found[0] != "passed":
                break
        return found

    def verdict_on(self, change: Change) -> tuple[str, str]:
        """How they end with a change, and the test that noticed it."""
        path = self.package / change.path.relative_to(PACKAGE)
        stat = path.stat()
        with tempfile.TemporaryDirectory() as kept:
            aside = self._set_aside(change.path, Path(kept))
            path.write_bytes(change.after())
            try:
                verdict, test = self.verdict(change.room, self.noticed.get(change.path, [])[:MOST_KNOWN])
            finally:
                path.write_bytes(change.before)
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # the cache knows sources by their times
                self._put_back(change.path, aside)
        self.remember(change, test)
        return verdict, test

    def remember(self, change: Change, test: str) -> None:
        if test:
            known = self.noticed.get(change.path, [])
            self.noticed[change.path] = [test, *(other for other in known if other != test)]

    def _entries(self, changed: Path) -> list[Path]:
        stems = {path.stem for path in self.importers[changed]}
        return [entry for entry in self.cache.rglob("*.nb[ic]") if entry.name.split(".")[0] in stems]

    def _set_aside(self, changed: Path, folder: Path) -> list[tuple[Path, Path]]:
        aside = [(entry, folder / str(number)) for number, entry in enumerate(self._entries(changed))]
        for entry, place in aside:
            shutil.move(entry, place)
        return aside

    def _put_back(self, changed: Path, aside: list[tuple[Path, Path]]) -> None:
        for entry in self._entries(changed):
            entry.unlink()
        for entry, place in aside:
            shutil.move(place, entry)

    def _run(self, tests: Sequence[str]) -> tuple[str, str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += ["-p", "no:randomly", *tests]
        environment = os.environ | {
            "PYTHONPATH": str(self.package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NUMBA_CACHE_DIR": str(self.cache),
        }
        try:
            done = subprocess.run(
                command, env=environment, cwd=self.home, capture_output=True, timeout=AT_REST, check=False,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST)),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "hung", ""
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return "hung", ""
        if not done.returncode:
            return "passed", ""
        failed = re.search(r"^FAILED (tests/\S+?\.py::\w+)", done.stdout.decode(errors="replace"), re.MULTILINE)
        return "failed", failed[1] if failed else ""


def _importers() -> dict[Path, set[Path]]:
    """For each file of the package, itself and those that import it, directly or not."""
    files = {
        f"telltree.{'.'.join(path.relative_to(PACKAGE).with_suffix('').parts)}": path for path in PACKAGE.rglob("*.py")
    }
    direct: dict[Path, set[Path]] = {path: set() for path in files.values()}
    for path in files.values():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module in files:
                direct[files[node.module]].add(path)
    found = {}
    for path in direct:
        reached, waiting = {path}, [path]
        while waiting:
            new = direct[waiting.pop()] - reached
            reached |= new
            waiting += new
        found[path] = reached
    return found


# ---- telling


def interval(killed: int, number: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, share = 1.96, killed / number
    middle, half = share + z * z / (2 * number), z * math.sqrt(share * (1 - share) / number + z * z / (4 * number**2))
    return (middle - half) / (1 + z * z / number), (middle + half) / (1 + z * z / number)


def sample(number: int, seed: int, rooms: list[str]) -> tuple[list[Change], int]:
    """So many changes drawn by chance, and how many there are in all."""
    everything = [
        change for room in rooms for path in sorted((PACKAGE / room).rglob("*.py")) for change in changes(path)
    ]
    return random.Random(seed).sample(everything, min(number, len(everything))), len(everything)


class Verdicts:
    """What became of each change, kept in a file if there is one, so that a run that was ended can go on."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        self.known: dict[str, tuple[str, str]] = {
            kept["name"]: (kept["verdict"], kept["test"]) for kept in map(json.loads, lines)
        }

    def add(self, change: Change, verdict: str, test: str) -> None:
        self.known[change.name()] = verdict, test
        if self.path:
            line = {"name": change.name(), "verdict": verdict, "test": test, "change": change.told()}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def run(
    drawn: list[Change], seconds: float, verdicts: Verdicts, tell: Callable[[str], None]
) -> tuple[int, list[Change]]:
    """Try changes one after the other while there is time; how many were judged, and those that survived."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        judged = [change for change in drawn if change.name() in verdicts.known]
        waiting = [change for change in drawn if change.name() not in verdicts.known]
        for change in judged:
            copy.remember(change, verdicts.known[change.name()][1])
        for room in sorted({change.room for change in waiting}):
            began = time.monotonic()
            verdict, test = copy.verdict(room)  # which compiles the kernels, too
            if verdict != "passed":
                raise SystemExit(f"the tests of {room} {verdict} before anything was changed: {test or 'see them run'}")
            tell(f"the tests of {room} pass in {time.monotonic() - began:.0f} s")
        began = time.monotonic()
        for change in waiting:
            if time.monotonic() - began > seconds:
                break
            start, found = time.monotonic(), copy.verdict_on(change)
            verdicts.add(change, *found)
            judged.append(change)
            word = "SURVIVED" if found[0] == "passed" else "killed"
            tell(f"{len(judged):4} {word} ({time.monotonic() - start:.0f} s) {change.told()}")
    return len(judged), [change for change in judged if verdicts.known[change.name()][0] == "passed"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=150, help="changes to draw")
    parser.add_argument("--seed", type=int, default=0, help="that decides which")
    parser.add_argument("--rooms", nargs="+", choices=list(TESTS), default=list(TESTS))
    parser.add_argument("--only", nargs="+", type=int, help="of these the ones with such numbers, from 1")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no change after so long")
    parser.add_argument("--verdicts", type=Path, help="keep each verdict in this file, and go on after those it has")
    asked = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, and its tests, would ignore it
    drawn, of_all = sample(asked.number, asked.seed, asked.rooms)
    drawn = [drawn[number - 1] for number in asked.only] if asked.only else drawn
    tried, survivors = run(drawn, asked.seconds, Verdicts(asked.verdicts), lambda line: print(line, flush=True))
    if not tried:
        raise SystemExit("there was no time to try any")
    killed = tried - len(survivors)
    low, high = interval(killed, tried)
    print(
        f"\n{killed} of {tried} killed, {killed / tried:.1%} (95 %: {low:.1%} to {high:.1%}); {of_all:,} are possible"
    )
    print(*(change.told() for change in survivors), sep="\n")


if __name__ == "__main__":
    main()
