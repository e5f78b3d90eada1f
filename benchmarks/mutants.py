"""Do the tests notice when the program is wrong? Small changes are made to it one at a time, and its tests are run.

    python benchmarks/mutants.py --number 120 --seed 2026 --folder mutants

Changes are drawn by chance from all places of `grammar`, `logic`, `search` and `tree` where one can be made:
comparisons, arithmetic, and/or, constants, conditions, returned values, and statements that are left out. A change is
killed if a test fails, or takes too long. Those that survive are printed, to be read: either nobody could notice the
change, or a test is missing.

First all tests but slow ones are run once, file by file, to note what each of them runs (`covering.py`). Of a change
only those are asked that may notice it: tests that were seen to run its line, then those that run its function, then
the others of their files, in case that something was made once for all of them; of each, first those that noticed
another change to the same file, then the quickest. The first that fails ends it. What survives so many seconds of tests
has survived: more tests could only raise the share that is killed.

The work is done in a folder, with a copy of the sources as they were when it was begun. A run that was ended goes on
there: lines, compiled kernels and verdicts are kept. Tests are copied anew each time, so that `--again` tells what new
ones make of those that survived. Only kernels that a change may be part of are compiled anew, in this process and its
forks; programs that tests start have a cache of their own, which goes by all sources.
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
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
PACKAGES = ("grammar", "engine", "search", "tree")
TESTS = [
    "grammar/test_parse", "grammar/test_errors", "grammar/test_sizes", "grammar/test_derivations",
    "engine/test_meaning", "engine/test_user_functions", "engine/test_trace", "engine/test_subset",
    "search/test_contract", "search/test_exhaustive", "search/test_state", "tree/test_mdl", "tree/test_optimal",
    "tree/test_induction", "tree/test_pruning_path", "tree/test_midpoint_thresholds",
    "explain/test_short_descriptions", "tree/test_min_recall", "models/test_files",
]  # fmt: skip
"""The files of tests that notice most."""
WIDER = [
    "grammar/test_generated_grammars", "grammar/test_text", "grammar/test_default_language",
    "grammar/test_parser", "logic/test_windows", "logic/test_elapsed", "logic/test_aggregates",
    "engine/test_alignment", "engine/test_byte_coding", "engine/test_oracle", "search/test_draws",
    "search/test_by_size", "search/test_seed_formulas", "search/test_auto", "project/test_large_texts",
    "search/test_budgets", "scale/test_checkpoint", "estimators/test_weights", "explain/test_proportions",
    "explain/test_candidates", "tree/test_golden", "models/test_golden", "models/test_hostile_files",
    "explain/test_rules", "explain/test_evidence", "explain/test_counts", "explain/test_categories",
    "explain/test_paper_english", "panel/test_panel", "panel/test_scan", "scale/test_shards", "scale/test_dask",
    "estimators/test_folds", "tree/test_numeric_target", "explain/test_true_descriptions", "models/test_export_size",
    "cli/test_failures", "estimators/test_classifier_settings", "experiments/test_acasx",
]  # fmt: skip
"""Files that may notice what those did not."""
MOST = 60  # seconds of processor time that the tests of one change took when nothing was changed
FIRST_ROUND = 12  # and those of the first tests that are asked: most changes are noticed by these
COMPILED = ("kernel", "small", "inline")  # what compiled functions are decorated with
AT_REST = 1800  # seconds by the clock for one round: tests that wait for ever use no processor
MOST_MEMORY = 12 << 30  # bytes of addresses


@dataclass(frozen=True)
class Change:
    """A change to a file of the package: some characters of it become others."""

    file: str
    start: int
    end: int
    text: str
    what: str
    before: bytes
    """The whole file, as it was when the change was drawn."""

    def after(self) -> bytes:
        return self.before[: self.start] + self.text.encode() + self.before[self.end :]

    def name(self) -> str:
        """By which it is known again: what the file becomes."""
        return hashlib.sha256(self.after()).hexdigest()[:16]

    def lines(self) -> range:
        """The first to the last line that change."""
        return range(self.before.count(b"\n", 0, self.start) + 1, self.before.count(b"\n", 0, self.end) + 2)

    def told(self) -> str:
        old = " ".join(self.before[self.start : self.end].decode().split())
        return f"{self.file}:{self.lines()[0]}: {self.what}: {_short(old)}  →  {_short(self.text)}"


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


def changes(file: str, source: bytes) -> list[Change]:
    """All changes that can be made to a file."""
    starts = [0, *(found.end() for found in re.finditer(rb"\n", source))]

    def place(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    nodes = [node for node in _code(ast.parse(source)) if isinstance(node, ast.expr | ast.stmt)]
    found = [Change(file, *place(node), text, what, source) for node in nodes for what, text in _variants(node)]
    tests = [node.test for node in nodes if isinstance(node, ast.If | ast.While)]
    turned = [(test, _bracketed(ast.UnaryOp(ast.Not(), test))) for test in tests if not isinstance(test, ast.Compare)]
    return found + [Change(file, *place(test), text, "condition", source) for test, text in turned]


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


# ---- which tests to ask


class Covering:
    """Which tests may run which lines, and how long they take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.running: dict[str, dict[int, set[str]]] = {}
        """By file and line, the tests that were seen to run it."""
        self.reaching: dict[str, dict[int, set[str]]] = {}
        """By file and first line of a function, the tests that run it."""

    def add(self, notes: Path) -> None:
        """Take in what was noted of a file of tests, but for tests that do not pass as things are."""
        for note in map(json.loads, notes.read_text(encoding="utf-8").splitlines()):
            if note["passed"]:
                self.seconds[note["test"]] = note["seconds"]
                for kind, found in (("lines", self.running), ("functions", self.reaching)):
                    for file, lines in note[kind].items():
                        for line in lines:
                            found.setdefault(file, {}).setdefault(line, set()).add(note["test"])

    def asked(self, change: Change, known: Sequence[str], importers: set[str]) -> dict[str, float]:
        """The tests to ask of a change, in this order, with their seconds."""
        running, reaching = self.running.get(change.file, {}), self.reaching.get(change.file, {})
        around = _around(change)
        inner = [reaching.get(line, set()) for node in reversed(around) for line in _first_lines(node)]
        likely = {test for line in change.lines() for test in running.get(line, ())}
        may = set().union(*inner)
        if not around:  # a constant of the module
            may = {test for file in importers for tests in self.reaching.get(file, {}).values() for test in tests}
            likely = {test for tests in reaching.values() for test in tests}
        files = {test.partition("::")[0] for test in likely | may}
        beside = {test for test in self.seconds if test.partition("::")[0] in files}

        def order(test: str) -> tuple[bool, float, str]:
            return _function(test) not in known, self.seconds[test], test

        ordered = [test for tests in (likely, may, beside) for test in sorted(tests, key=order)]
        tests, total = {}, 0.0
        for test in dict.fromkeys(ordered):
            total += self.seconds[test]
            if total <= MOST:
                tests[test] = self.seconds[test]
        return tests


def _first_lines(node: ast.FunctionDef) -> list[int]:
    """Where a function begins, with its decorators or without."""
    return [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]


def _around(change: Change) -> list[ast.FunctionDef]:
    """The functions that a change is in, the outermost first."""
    line = change.lines()[0]
    nodes = ast.walk(ast.parse(change.before))
    return [
        node for node in nodes if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]


def _function(test: str) -> str:
    """A test without its parameters."""
    return test.partition("[")[0]


# ---- running the tests


class Copy:
    """A copy of the sources as they were when its folder was begun, and of the tests as they are."""

    def __init__(self, folder: Path) -> None:
        self.home, self.package, self.cache = folder, folder / "src" / "telltree", folder / "cache"
        self.original = folder / "original"
        for name in ("covering", "cache"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        apart = shutil.ignore_patterns("__pycache__")
        if not self.original.exists():
            shutil.copytree(HOME / "src", self.original, ignore=apart)
        for source, name in ((self.original, "src"), (HOME / "tests", "tests"), (HOME / "docs", "docs")):
            shutil.rmtree(folder / name, ignore_errors=True)  # a run that was ended may have left a change behind
            shutil.copytree(source, folder / name, ignore=apart)
        shutil.copy(HOME / "pyproject.toml", folder)
        self.importers = _importers(self.package)
        self.noticed: dict[str, list[str]] = {}
        """For each file that was changed, the tests that noticed it."""

    def changes(self, packages: Sequence[str]) -> list[Change]:
        """All that can be made."""
        files = [path for package in packages for path in sorted((self.package / package).rglob("*.py"))]
        return [change for path in files for change in changes(str(path.relative_to(self.package)), path.read_bytes())]

    def covering(self, tests: Sequence[str], tell: Callable[[str], None]) -> Covering:
        """The lines of these files of tests; files that were not noted before are run, one by one."""
        found = Covering()
        for name in tests:
            path = self.home / "tests" / f"{name}.py"
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
            notes = self.home / "covering" / f"{name.replace('/', '-')}-{digest}.jsonl"
            if not notes.exists():
                begun = notes.with_suffix(".begun")
                begun.unlink(missing_ok=True)
                verdict, test = self._run([f"tests/{name}.py"], ["--note-lines", str(begun)], self.cache)
                if verdict == "hung":
                    raise SystemExit(f"{path.name} hung before anything was changed")
                begun.rename(notes)
                tell(f"{path.name} {verdict} {test}")
            found.add(notes)
        return found

    def verdict_on(self, change: Change, covering: Covering) -> tuple[str, str]:
        """How the tests end with a change, "passed", "failed" or "hung", and the test that noticed it."""
        path = self.package / change.file
        asked = covering.asked(change, self.noticed.get(change.file, []), self.importers[change.file])
        stat, verdict, test = path.stat(), "passed", ""  # of a change that no test comes near
        with tempfile.TemporaryDirectory(dir=self.home) as kernels:
            self._lend_kernels(change, Path(kernels))
            path.write_bytes(change.after())
            try:
                for tests in _rounds(asked):
                    verdict, test = self._ask(tests, Path(kernels))
                    if verdict != "passed":
                        break
            finally:
                path.write_bytes(change.before)
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # the cache knows sources by their times
            self._take_kernels(change, Path(kernels))
        self.remember(change, test)
        return verdict, test

    def remember(self, change: Change, test: str) -> None:
        if test:
            self.noticed.setdefault(change.file, []).append(_function(test))

    def _unchanged(self, change: Change, folder: Path) -> list[Path]:
        """The compiled kernels in a folder that a change is no part of."""
        around = _around(change)
        words = {ast.unparse(word) for node in around for word in node.decorator_list}
        plain = around and words.isdisjoint(COMPILED) and change.file != "engine/trace.py"  # which is compiled as it is
        changed = {Path(file).stem for file in ({change.file} if plain else self.importers[change.file])}
        return [entry for entry in folder.rglob("*.nb[ic]") if entry.name.split(".")[0] not in changed]

    def _lend_kernels(self, change: Change, kernels: Path) -> None:
        for entry in self._unchanged(change, self.cache):
            link = kernels / entry.relative_to(self.cache)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.hardlink_to(entry)

    def _take_kernels(self, change: Change, kernels: Path) -> None:
        for entry in self._unchanged(change, kernels):
            place = self.cache / entry.relative_to(kernels)
            place.parent.mkdir(parents=True, exist_ok=True)
            entry.replace(place)

    def _ask(self, tests: dict[str, float], kernels: Path) -> tuple[str, str]:
        listed = self.home / "asked.json"
        listed.write_text(json.dumps(tests), encoding="utf-8")
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        return self._run(list(files), ["-x", "--in-order", str(listed)], kernels)

    def _run(self, files: list[str], options: list[str], kernels: Path) -> tuple[str, str]:
        """Run tests in a process that is forked from this one, which has loaded what takes long to load."""
        _load()
        arguments = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-p",
            "covering",
            "-m",
            "not slow",
            "-W",
            "ignore::pytest.PytestAssertRewriteWarning",
            *options,
            *files,
        ]
        output = self.home / "output.txt"
        child = os.fork()
        if not child:
            self._become(output, kernels)
            os._exit(_pytest(arguments))
        code = _ended(child)
        if code is None or code in (-signal.SIGPROF, -signal.SIGKILL):
            return "hung", ""
        text = output.read_text(encoding="utf-8", errors="replace")
        if not code:
            return "passed", ""
        if code > 2:  # of pytest: its own errors, those of its options, and no tests
            raise SystemExit(f"the tests could not be run:\n{text[-3000:]}")
        failed = re.search(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::\w+)*)", text, re.MULTILINE)
        return "failed", failed[1] if failed else ""

    def _become(self, output: Path, kernels: Path) -> None:
        """What a process that runs tests must be."""
        import numba

        os.chdir(self.home)
        numba.config.CACHE_DIR = str(kernels)  # type: ignore[attr-defined]
        programs = self.home / "kernels-of-programs"
        os.environ |= {"PYTHONPATH": str(self.package.parent), "NUMBA_CACHE_DIR": str(programs)}
        sys.path.insert(0, str(self.package.parent))
        from telltree import kernel_cache

        kernel_cache.sources_digest = lambda: "as lent"  # else each change would compile all kernels anew
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.setpgid(0, 0)
        with output.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)


def _rounds(asked: dict[str, float]) -> Iterator[dict[str, float]]:
    """The first tests, then all others: files of the others are not even read if the first notice."""
    first: dict[str, float] = {}
    for test, seconds in asked.items():
        if first and sum(first.values()) + seconds > FIRST_ROUND:
            break
        first[test] = seconds
    if first:
        yield first
    if rest := {test: seconds for test, seconds in asked.items() if test not in first}:
        yield rest


@cache
def _load() -> None:
    """What tests use and is not changed; Numba takes as long again when it first compiles."""
    import hypothesis
    import numba
    import pandas
    import pyarrow
    import pydantic
    import pytest
    import sklearn.tree

    numba.njit(lambda x: x + 1)(1)
    assert all((hypothesis, pandas, pyarrow, pydantic, pytest, sklearn)), "they are imported to be there"


def _pytest(arguments: list[str]) -> int:
    """Run it, in a process that must end with it whatever happens."""
    import pytest

    try:
        return int(pytest.main(arguments))
    except BaseException:  # noqa: BLE001 - a process that was forked must not go on as its parent
        traceback.print_exc()
        return int(pytest.ExitCode.INTERNAL_ERROR)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _ended(child: int) -> int | None:
    """How a process ended: its code, a signal as a negative number, or nothing if it had to be ended."""
    began = time.monotonic()
    while time.monotonic() - began < AT_REST:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _importers(package: Path) -> dict[str, set[str]]:
    """For each file of the package, itself and those that import it, directly or not."""
    paths = {str(path.relative_to(package)): path for path in package.rglob("*.py")}
    modules = {f"telltree.{file.removesuffix('.py').replace('/', '.')}": file for file in paths}
    direct: dict[str, set[str]] = {file: set() for file in paths}
    for file, path in paths.items():
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ImportFrom) and node.module in modules:
                direct[modules[node.module]].add(file)
    found = {}
    for file in direct:
        reached, waiting = {file}, [file]
        while waiting:
            new = direct[waiting.pop()] - reached
            reached |= new
            waiting += new
        found[file] = reached
    return found


# ---- telling


def interval(killed: int, number: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, share = 1.96, killed / number
    middle, half = share + z * z / (2 * number), z * math.sqrt(share * (1 - share) / number + z * z / (4 * number**2))
    return (middle - half) / (1 + z * z / number), (middle + half) / (1 + z * z / number)


class Verdicts:
    """What became of each change, kept in a file, so that a run that was ended can go on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.known: dict[str, dict[str, Any]] = {kept["name"]: kept for kept in map(json.loads, lines)}

    def add(self, change: Change, verdict: str, test: str) -> None:
        kept = {"name": change.name(), "verdict": verdict, "test": test, "change": change.told()}
        self.known[change.name()] = kept
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")

    def survived(self, change: Change) -> bool:
        return self.known[change.name()]["verdict"] == "passed"


def run(drawn: list[Change], copy: Copy, covering: Covering, verdicts: Verdicts, again: bool) -> list[Change]:
    """Try changes one after the other, but for those that were judged before; those that survived."""
    for change in drawn:
        copy.remember(change, verdicts.known.get(change.name(), {"test": ""})["test"])
    for number, change in enumerate(drawn, 1):
        if change.name() not in verdicts.known or (again and verdicts.survived(change)):
            began = time.monotonic()
            verdicts.add(change, *copy.verdict_on(change, covering))
            word = "SURVIVED" if verdicts.survived(change) else "killed"
            tell(f"{number:4} {word} ({time.monotonic() - began:.0f} s) {change.told()}")
    return [change for change in drawn if verdicts.survived(change)]


def tell(line: str) -> None:
    """At once, also into a file."""
    print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=120, help="changes to draw")
    parser.add_argument("--seed", type=int, default=0, help="that decides which")
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=PACKAGES)
    parser.add_argument("--only", nargs="+", type=int, help="of these the ones with such numbers, from 1")
    parser.add_argument("--folder", type=Path, help="work here, keep everything, and go on with what is here")
    parser.add_argument("--wider", action="store_true", help="ask tests, too, that rarely notice what others do not")
    parser.add_argument("--again", action="store_true", help="judge anew what survived")
    asked = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job, and its tests, would ignore it
    with tempfile.TemporaryDirectory() as passing:
        folder: Path = (asked.folder or Path(passing)).resolve()
        copy = Copy(folder)
        possible = copy.changes(asked.packages)
        drawn = random.Random(asked.seed).sample(possible, min(asked.number, len(possible)))
        drawn = [drawn[number - 1] for number in asked.only] if asked.only else drawn
        covering = copy.covering([*TESTS, *(WIDER if asked.wider else ())], tell)
        survivors = run(drawn, copy, covering, Verdicts(folder / "verdicts.jsonl"), asked.again)
    killed = len(drawn) - len(survivors)
    low, high = interval(killed, len(drawn))
    share = f"{killed / len(drawn):.1%} (95 %: {low:.1%} to {high:.1%})"
    tell(f"\n{killed} of {len(drawn)} killed, {share}; {len(possible):,} are possible")
    for change in survivors:
        tell(change.told())


if __name__ == "__main__":
    main()
