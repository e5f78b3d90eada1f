"""A plugin for pytest that notes what of the program each test runs, and one that runs chosen tests in order.

`benchmarks/mutants.py` asks by it only tests that can notice a change. Noted are all functions that a test runs, and
the lines of the first few calls of each: to look at all lines takes several times as long as the tests. Compiled code
runs unseen: a test that runs a function that names a kernel is taken to run the kernel, and the functions that it
calls. What is made once for several tests, by a fixture or a cache, is noted for the first of them.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from hypothesis import Phase, settings

CALLS = 5  # of a function, of which lines are noted
FIRST, MORE = 120, 10
"""A test hangs when it takes so many seconds of the processor, compilers included, and so many times its own."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--note-lines", metavar="FILE", help="note the lines of each test in this file")
    parser.addoption("--in-order", metavar="FILE", help="run the tests that this file lists with their seconds")


def pytest_configure(config: pytest.Config) -> None:
    for option, plugin in (("--note-lines", Noted), ("--in-order", Chosen)):
        if file := config.getoption(option):
            config.pluginmanager.register(plugin(Path(file)))


class Chosen:
    """Runs the tests of a list, in its order, each with a limit of processor time."""

    def __init__(self, file: Path) -> None:
        self.seconds: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))

    def pytest_sessionstart(self) -> None:
        """That a test fails is all that is asked: the smallest example of it is not looked for."""
        phases = (Phase.explicit, Phase.generate, Phase.target)
        settings.register_profile("judging", settings(), phases=phases, report_multiple_bugs=False)
        settings.load_profile("judging")
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # no handler: compiled code that loops would never come to it

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        order = {test: place for place, test in enumerate(self.seconds)}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_PROF, FIRST + MORE * self.seconds[item.nodeid])
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


class Noted:
    """Notes for each test whether it passes, its seconds of processor time, and functions and lines by file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.package = str(Path(os.environ["PYTHONPATH"].split(os.pathsep)[0]) / "telltree") + os.sep
        self.passed = True
        self._forget()

    def _forget(self) -> None:
        self.calls: dict[CodeType, int] = {}
        """Of functions, those of other packages have none."""
        self.names: dict[CodeType, dict[str, Any]] = {}
        """The global names of functions that ran."""
        self.lines: dict[str, set[int]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._forget()
        self.passed = True
        began = time.process_time()
        sys.settrace(self._called)
        threading.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            self._write(item.nodeid, time.process_time() - began)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed = self.passed and not report.failed

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        code = frame.f_code
        number = self.calls.get(code)
        if number is None:
            number = 0 if code.co_filename.startswith(self.package) else CALLS
            self.names[code] = frame.f_globals
        self.calls[code] = number + 1
        return self._ran if number < CALLS else None

    def _ran(self, frame: FrameType, event: str, arg: object) -> Any:
        self.lines.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
        return self._ran

    def _write(self, test: str, seconds: float) -> None:
        reached = {code: names for code, names in self.names.items() if code.co_filename.startswith(self.package)}
        functions: dict[str, set[int]] = {}
        for code in (*reached, *_compiled(reached)):
            functions.setdefault(code.co_filename, set()).add(code.co_firstlineno)
        note = {"test": test, "passed": self.passed, "seconds": round(seconds, 2)}
        for name, found in (("functions", functions), ("lines", self.lines)):
            note[name] = {file.removeprefix(self.package): sorted(lines) for file, lines in found.items()}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")


def _compiled(reached: dict[CodeType, dict[str, Any]]) -> set[CodeType]:
    """The compiled functions that functions name, and those that these do."""
    waiting = [named for code, names in reached.items() for named in _named(code, names) if _is_kernel(named)]
    found: set[CodeType] = set()
    while waiting:
        function = getattr(waiting.pop(), "py_func", None)
        if function and function.__code__ not in found:
            found.add(function.__code__)
            for named in _named(function.__code__, function.__globals__):
                if _is_kernel(named):
                    waiting.append(named)
                elif isinstance(named, FunctionType):
                    found.add(named.__code__)
    return found


def _named(code: CodeType, names: dict[str, Any]) -> list[Any]:
    """What a function's names stand for: global ones, and those of modules that it names."""
    known = [names[name] for name in code.co_names if name in names]
    modules = [vars(module) for module in known if type(module) is type(sys)]
    return known + [module[name] for module in modules for name in code.co_names if name in module]


def _is_kernel(named: Any) -> bool:
    return hasattr(type(named), "py_func") or "py_func" in getattr(named, "__dict__", {})
