"""The NumPy peer of the benchmarks judged by a naive loop, and the reading of the benchmark data."""

import operator
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")


@pytest.fixture
def peer(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from peers import numpy_monte_carlo

    return numpy_monte_carlo


@pytest.fixture
def auslan(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import auslan

    return auslan


COMPARE = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
CONNECT = {0: lambda a, b: a and b, 1: lambda a, b: a or b, 3: lambda a, b: not a or b}


def holds(formula, step, atoms):
    if isinstance(formula, int):
        return COMPARE[atoms[formula].operator](step[atoms[formula].column], atoms[formula].constant)
    parts = [holds(part, step, atoms) for part in formula[1:]]
    return not parts[0] if formula[0] == 2 else CONNECT[formula[0]](*parts)


def naive_truth(expression, records, atoms):
    over_time = (any, all)[expression[0]]
    return [over_time(holds(expression[1], step, atoms) for step in record) for record in records]


def naive_loss(truth, labels):
    impurity = 0.0
    for side in (True, False):
        inside = [label for label, value in zip(labels, truth, strict=True) if value is side]
        if inside:
            impurity += len(inside) * (1 - sum((inside.count(c) / len(inside)) ** 2 for c in set(labels)))
    return 100 * impurity / len(labels)


def random_records(seed, lengths):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 5, size=(length, 3)).astype(float) for length in lengths]


LENGTHS = {"ragged": [1, 7, 2, 5, 3, 1], "equal": [4] * 7, "single step": [1] * 5, "one record": [6]}


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_expressions_agree_with_the_naive_loop(peer, lengths, cache):
    records = random_records(1, lengths)
    labels = [k % 3 for k in range(len(records))]
    table = peer.concatenate(records)
    atoms = peer.grid_atoms(table.columns, points=5)
    draw = peer.sampler(random.Random(2), len(atoms), (1, 1, 1, 1, 1), depth=5)
    truth = peer.Evaluator(table, atoms, depth=5, cache=cache)
    loss = peer.gini_loss(np.array(labels))
    for _ in range(200):
        expression = draw()
        expected = naive_truth(expression, records, atoms)
        answer = truth(expression)
        assert answer.tolist() == expected
        assert loss(answer) == pytest.approx(naive_loss(expected, labels))


@pytest.mark.parametrize("block", [2, 1000])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_two_atom_formulas_agree_with_the_naive_loop(peer, lengths, block):
    records = random_records(3, lengths)
    table = peer.concatenate(records)
    atoms = peer.grid_atoms(table.columns, points=5)
    rng = random.Random(4)
    pairs = [(rng.randrange(2), rng.randrange(2), rng.randrange(75), rng.randrange(75)) for _ in range(100)]
    formulas = [("FG"[t], ("and", "or")[c], tuple(atoms[a]), tuple(atoms[b])) for t, c, a, b in pairs]
    expected = [naive_truth((t, (c, a, b)), records, atoms) for t, c, a, b in pairs]
    prepared = peer.prepare(table.columns, table.starts, block=block)
    assert peer.evaluate_prepared(prepared, formulas).tolist() == expected
    assert peer.evaluate_two_atoms(table.columns, table.starts, formulas).tolist() == expected


def depth_of(formula):
    return 1 if isinstance(formula, int) else 1 + max(depth_of(part) for part in formula[1:])


@pytest.mark.parametrize("depth", [2, 3, 5])
def test_expressions_keep_the_depth_and_reach_it(peer, depth):
    draw = peer.sampler(random.Random(5), 10, (1, 1, 1, 1, 1), depth)
    assert max(1 + depth_of(draw()[1]) for _ in range(500)) == depth


def test_weights_choose_the_alternatives(peer):
    draw = peer.sampler(random.Random(6), 10, (0, 1, 0, 0, 1), depth=4)
    heads = {f[0] for _, f in (draw() for _ in range(300)) if not isinstance(f, int)}
    assert heads == {peer.OR}
    with pytest.raises(ValueError, match="weights"):
        peer.sampler(random.Random(6), 10, (1, 1, 1, 1, 0), depth=4)
    with pytest.raises(ValueError, match="depth"):
        peer.sampler(random.Random(6), 10, (1, 1, 1, 1, 1), depth=1)


def test_terminals_are_those_of_the_text(peer):
    assert 1 + peer.terminals((peer.AND, 0, 1)) == 8
    assert 1 + peer.terminals((peer.NOT, 0)) == 5
    atoms = [peer.Atom(0, "<", 0.5), peer.Atom(1, ">=", 2.0)]
    text = peer.describe((peer.G, (peer.IMPLIES, 0, (peer.NOT, 1))), atoms, ["x", "y"])
    assert text == "G((x < 0.5) implies (not (y >= 2)))"


def test_search_counts_distinct_expressions_and_returns_the_best(peer):
    records = random_records(7, [3, 5, 2, 4, 6, 1, 3, 3])
    labels = [0, 1] * 4
    table = peer.concatenate(records)
    first, second = (peer.search(table, labels, 500, seed=8) for _ in range(2))
    assert (first.fitness, first.expression) == (second.fitness, second.expression)
    assert first.evaluations == 500 <= first.draws
    assert sum(first.sizes.values()) == 500
    atoms = peer.grid_atoms(table.columns)
    size = 1 + peer.terminals(first.expression[1])
    expected = naive_loss(naive_truth(first.expression, records, atoms), labels) + 0.1 * size
    assert first.fitness == pytest.approx(expected)


def test_search_ends_when_a_small_grammar_is_exhausted(peer):
    table = peer.concatenate(random_records(9, [2, 3]))
    outcome = peer.search(table, [0, 1], 10_000, depth=2, points=2)
    assert outcome.evaluations == 2 * 3 * 5 * 2


def test_records_without_steps_are_refused(peer):
    with pytest.raises(ValueError, match="at least one step"):
        peer.concatenate([np.empty((0, 2))])
    with pytest.raises(ValueError, match="at least one step"):
        peer.prepare(np.zeros((1, 4)), np.array([0, 2, 2]))


def test_data_is_read_from_a_folder(auslan, tmp_path, monkeypatch):
    home = tmp_path / "auslan8"
    home.mkdir()
    (home / "data.csv").write_text('"x","y"\n1,2\n3,4\n5,6\n', encoding="utf-8")
    (home / "starts.txt").write_text("1,3\n", encoding="utf-8")
    (home / "labels.txt").write_text("Symbol\nyes,no\n", encoding="utf-8")
    monkeypatch.setenv("TELLTREE_DATA", str(tmp_path))
    for data in (auslan.load(), auslan.load(tmp_path), auslan.load(home)):
        assert [record.tolist() for record in data.records] == [[[1, 2], [3, 4]], [[5, 6]]]
        assert (data.columns, data.labels) == (["x", "y"], ["yes", "no"])


def test_absent_data_is_said_with_the_remedy(auslan, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no data\.csv.*TELLTREE_DATA"):
        auslan.load(tmp_path)


def test_hard2_takes_the_classes_alternately(auslan):
    words = ["hello", "please", "yes", "no", "right", "wrong", "same", "different"]
    assert auslan.hard2_labels(words) == [1, 1, 1, 0, 0, 0, 1, 0]


def test_every_benchmark_still_finds_what_it_measures():
    """They reach into telltree, and nobody runs them at every change."""
    tried = (
        "import importlib, run, two_atoms\n"
        "for name in run.BENCHMARKS: importlib.import_module(name)\n"
        "where = two_atoms.setting(records=20, columns=3, formulas=50)\n"
        "engine = two_atoms.engine_for(where)\n"
        "truth = engine.truth(where.population)\n"
        "print(truth.shape, len(two_atoms.for_peer(where, [0, 49])))"
    )
    done = subprocess.run([sys.executable, "-c", tried], cwd=BENCHMARKS, capture_output=True, text=True, check=False)
    assert done.stdout == "(50, 20) 2\n", done.stderr
