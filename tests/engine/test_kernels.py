"""Compiling: announced, kept for later runs, and possible where nothing can be kept. What is compiled is safe."""

import itertools
import os
import pickle
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.programs import beside_tests, started

from telltree import GrammarTreeClassifier, compiled, kernel_cache
from telltree.search import GeneticProgramming, GrammaticalEvolution, genetic_programming, grammatical_evolution
from telltree.tree import GiniSize, criterion

PROGRAM = """
import gc
import numpy as np
from telltree import Grammar, Panel

panel = Panel.from_arrays([np.array([[1.0], [2.0]])], columns=["x"])
print(Grammar.parse("Start ::= F(x > 1.5)", panel).draw(0), gc.isenabled(), sep="|")
"""


def run(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "F(x > 1.5)|True"
    return done.stderr


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory):
    """A cache, and what was said when it was filled."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, run(cache)


def test_compiling_is_announced_once_and_later_runs_are_silent(compiled_once):
    cache, said = compiled_once
    assert said.count("compiling its kernels") == 1
    assert run(cache) == ""


DRAWS = """
from telltree import Grammar, Panel
import numpy as np

panel = Panel.from_arrays([np.array([[1.0], [2.0]])], columns=["x"])
grammar = Grammar.parse("Start ::= F(x > grid(0, 99, 100))", panel)
print([str(grammar.draw(seed)) for seed in range(5)])
"""


@pytest.mark.slow
def test_a_change_to_a_helper_is_seen_by_the_kernels_it_is_compiled_into(tmp_path):
    """Also one that leaves the size and the times of the file as they were, in a file other than the kernel's."""
    package = tmp_path / "telltree"
    shutil.copytree(Path(kernel_cache.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    # -B: Python's own bytecode cache goes by size and time, and would hide the change
    command = [sys.executable, "-B", "-W", "error", "-c", DRAWS]

    def run_it():
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr.count("compiling its kernels")

    drawn, compilations = run_it()
    assert (compilations, run_it()) == (1, (drawn, 0))
    helper = package / "grammar" / "random_streams.py"
    source, times = helper.read_text(encoding="utf-8"), helper.stat()
    assert "30)" in source, "the shift of the hash that random numbers are made by"
    helper.write_text(source.replace("30)", "29)", 1), encoding="utf-8")
    os.utime(helper, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed, compilations = run_it()
    assert compilations == 1
    assert changed != drawn
    helper.write_text(source, encoding="utf-8")
    assert run_it()[0] == drawn


def test_a_change_to_a_helper_changes_the_stamp_of_all_kernels(tmp_path, monkeypatch):
    package = tmp_path / "telltree"
    shutil.copytree(Path(kernel_cache.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kernel_cache, "__file__", str(package / "kernel_cache.py"))
    digest_now = kernel_cache.sources_digest.__wrapped__  # without its own cache
    before = digest_now()
    assert before == kernel_cache.sources_digest()
    helper = package / "grammar" / "random_streams.py"
    helper.write_text(helper.read_text(encoding="utf-8").replace("30)", "29)", 1), encoding="utf-8")
    assert digest_now() != before


def test_packages_left_out_of_the_digest_have_no_part_in_any_kernel():
    package = Path(kernel_cache.__file__).parent
    sources = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    defining = {path for path, text in sources.items() if re.search(r"from telltree\.compiled import|\bnjit\b", text)}
    assert len(defining) > 10
    left_out = "|".join(sorted(kernel_cache.WITHOUT_KERNELS))
    for path in defining:
        assert path.relative_to(package).parts[0] not in kernel_cache.WITHOUT_KERNELS, path
        imports = re.findall(r"^(?:from|import) .*", sources[path], re.MULTILINE)
        assert not [line for line in imports if re.match(rf"from telltree\.({left_out})\b", line)], path


def test_kernels_of_another_version_of_numba_are_not_used(own_cache, monkeypatch):
    first = compiled.kernel(_added)
    assert (first(1, 2), len(first._cache.signatures)) == (3, 1)
    monkeypatch.setattr(
        kernel_cache.IndexDataCacheFile, "__init__", _of_another_numba(kernel_cache.IndexDataCacheFile.__init__)
    )
    assert compiled.kernel(_added)._cache.signatures == []


def _of_another_numba(made):
    def make(self, *args, **named):
        made(self, *args, **named)
        self._version = "0.0.1"

    return make


ANSWERS = """
import sys
import numba  # without it, so little is worked out uncompiled
import numpy as np
from telltree import Formula, Panel

panel = Panel.from_arrays([np.arange(9.0)[:, None]] * 500, columns=["x"])
print(Formula.parse(sys.argv[1], panel.schema)(panel).sum())
"""


@pytest.mark.slow
def test_what_one_process_compiled_for_formulas_that_count_serves_another_for_any(tmp_path):
    """A fit compiles for all that its grammar may say, and predicting is asked of few formulas, in another process."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for formula, said in (("count(x > 1.5) > 3", 1), ("F(x > 1.5)", 0)):
        command = [sys.executable, "-c", ANSWERS, formula]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout.strip()) == (0, "500"), done.stderr
        assert done.stderr.count("compiling its kernels") == said


def test_functions_that_others_make_of_text_still_compile():
    made = {}
    exec("def one_more(x):\n    return x + 1", made)  # noqa: S102  # what this test wrote
    assert made["one_more"].__module__ is None
    assert compiled.numba.njit(made["one_more"])(2) == 3


def test_it_works_where_no_cache_can_be_written(monkeypatch):
    compile_function = compiled.numba.njit

    def refusing(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_function(*args, **options)

    monkeypatch.setattr(compiled.numba, "njit", refusing)
    assert compiled.kernel(lambda x: x + 1)(2) == 3


def damaged(cache, change):
    """The cache after every file of it was changed."""
    files = [path for path in cache.rglob("*.nb[ic]") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    for path in files:
        path.write_bytes(change(path, path.read_bytes()))


def flipped(content):
    return content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]


@pytest.mark.slow
def test_a_damaged_cache_is_compiled_anew_and_said_to_be(compiled_once, tmp_path):
    shutil.copytree(compiled_once[0], tmp_path, dirs_exist_ok=True)
    changes = (
        lambda path, content: content[:10],
        lambda path, content: b"",
        lambda path, content: content[: len(content) // 2] if path.suffix == ".nbc" else content,
        lambda path, content: flipped(content) if path.suffix == ".nbc" else content,
    )
    turn = itertools.cycle(changes)

    def each_differently(path, content):
        return next(turn)(path, content)

    damaged(tmp_path, each_differently)
    assert run(tmp_path).count("are damaged; it compiles them anew") == 1
    assert run(tmp_path) == ""


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize(("suffix", "change"), [("nbi", lambda content: content[:10]), ("nbc", flipped)])
def test_a_damaged_file_is_compiled_anew_and_said_to_be(tmp_path, monkeypatch, caplog, suffix, change):
    monkeypatch.setattr(kernel_cache, "_said", set())
    assert compiled.kernel(_added)(1, 2) == 3
    for path in tmp_path.rglob(f"*.{suffix}"):
        path.write_bytes(change(path.read_bytes()))
    assert compiled.kernel(_added)(1, 2) == 3
    assert caplog.text.count("are damaged; it compiles them anew") == 1
    caplog.clear()
    assert compiled.kernel(_added)(1, 2) == 3
    assert not caplog.text


@pytest.mark.usefixtures("own_cache")
def test_an_index_that_names_classes_of_another_version_is_not_called_damaged(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(kernel_cache, "_said", set())
    assert compiled.kernel(_added)(1, 2) == 3
    for path in tmp_path.rglob("*.nbi"):
        version = pickle.dumps(pickle.loads(path.read_bytes()))  # noqa: S301  it was written here
        path.write_bytes(version + b"ctelltree.engine.gone\nSomething\n.")
    assert compiled.kernel(_added)(1, 2) == 3
    assert "damaged" not in caplog.text


def test_a_full_disk_is_done_without(monkeypatch, tmp_path, caplog):
    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_cache, "_said", set())
    monkeypatch.setattr(kernel_cache._Entries, "_open_for_write", full)
    monkeypatch.setattr(compiled.numba.config, "CACHE_DIR", str(tmp_path))
    function = compiled.kernel(_added)
    assert (function(1, 2), function(1.5, 2.0)) == (3, 3.5)
    assert caplog.text.count("cannot be kept in") == 1
    assert caplog.text.count("No space left on device") == 1


def _added(a, b):
    return a + b


WAITING = """
import sys
from numba.core import event
from telltree import compiled, kernel_cache
from tests.engine import test_kernels

def wait(seconds):
    print("waits", flush=True)
    sys.stdin.readline()

kernel_cache.time.sleep = wait
with event.install_recorder("numba:compile") as compilations:
    print(compiled.kernel(test_kernels._added)(1, 2), len(compilations.buffer))
"""


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    """A folder for kernels of this test, and of programs that it starts."""
    monkeypatch.setattr(compiled.numba.config, "CACHE_DIR", str(tmp_path))
    return os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": beside_tests()}


@pytest.mark.skipif(kernel_cache.fcntl is None, reason="there are no locks")
def test_of_processes_that_need_a_kernel_at_once_one_compiles_it(own_cache):
    function = compiled.kernel(_added)
    function._cache._turn.take()
    with started([sys.executable, "-c", WAITING], env=own_cache, stdin=subprocess.PIPE) as other:
        assert other.stdout.readline() == "waits\n"
        assert function(1, 2) == 3  # it was our turn, and now it is the other's
        assert other.communicate("go on\n") == ("3 0\n", "")


@pytest.mark.usefixtures("own_cache")
@pytest.mark.skipif(kernel_cache.fcntl is None, reason="there are no locks")
def test_nobody_waits_for_a_kernel_without_an_end(monkeypatch):
    first, second = compiled.kernel(_added), compiled.kernel(_added)
    first._cache._turn.take()
    monkeypatch.setattr(kernel_cache._Turn, "patience", 3)
    monkeypatch.setattr(kernel_cache._Turn, "pause", 0.0)
    assert second(1, 2) == 3
    first._cache._turn.end()


@pytest.mark.parametrize(
    ("search", "kernels"),
    [
        (GeneticProgramming(evaluations=60, population=20, crossover=1.0, mutation=0.0), (genetic_programming.breed,)),
        (
            GrammaticalEvolution(evaluations=60, population=20, crossover=1.0, mutation=0.0, rate=1.0),
            (grammatical_evolution._breed,),
        ),
    ],
    ids=["GP", "GE"],
)
def test_settings_that_are_whole_numbers_need_no_kernels_of_their_own(search, kernels, panel, labels):
    """They would be compiled anew for a 1 in place of 1.0."""
    kernels = (*kernels, criterion._gini_size)

    def learned(number):
        shares = {
            name: number(value)
            for name, value in vars(search).items()
            if value in (0.0, 1.0) and isinstance(value, float)
        }
        fitted = GrammarTreeClassifier(
            search=replace(search, **shares), criterion=GiniSize(number(100), number(1)), max_depth=1, random_state=0
        ).fit(panel, labels)
        return [set(one.signatures) for one in kernels], fitted.outline()

    assert learned(float) == learned(int)


@pytest.mark.slow
def test_kernels_stay_inside_their_arrays():
    """Compiled code does not look where it reads and writes, unless it is told to: then the same tests must pass.

    All in one process, and kept beside the cache that tests use: compiling costs more than they do, so there is little
    of what only makes kernels fast.
    """
    tests = Path(__file__).parents[1]
    engine = ("engine/test_meaning.py", "engine/test_user_functions.py", "engine/test_alignment.py")
    files = ("search/test_contract.py", "search/test_draws.py", *engine, "tree/test_induction.py")
    cache = os.environ["NUMBA_CACHE_DIR"] + "-with-bounds"
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1", "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-k", "not another_process and not budget_of_seconds"]
    command += [str(tests / name) for name in files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3_000:]
