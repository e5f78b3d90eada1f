"""Speed of evaluation alone, on data too large for the caches, against NumPy on float columns."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from peers.numpy_monte_carlo import Block, TwoAtoms, evaluate_prepared, prepare
from results import Row
from timing import in_turn, seconds
from two_atoms import Setting, engine_for, for_peer, setting, two_classes
from walks import STEPS

from telltree.engine.population_evaluator import PopulationEvaluator

TARGET = 60
MEMORY_TARGET = 2.0
FEW = 1_024  # a generation's worth of formulas


class Best(NamedTuple):
    """Least seconds a formula."""

    blocked: float
    whole: float
    telltree: float
    joint: float
    few: float
    first: float


def rows(quick: bool) -> list[Row]:
    if quick:
        return [*_compare(2_000, 20, 2_000, 20, 2), *_compare(20_000, 5, 2_000, 20, 2), _memory(20_000, 20, 2_000)]
    # The memory is measured before this process holds anything large.
    memory = _memory(200_000, 20, 20_000)
    return [*_compare(10_000, 77, 20_000, 200, 5), *_compare(200_000, 20, 20_000, 40, 3), memory]


def _compare(records: int, columns: int, formulas: int, sample: int, repeats: int) -> list[Row]:
    """The speed with bitsets made beforehand, and made on the way."""
    where = setting(records, columns, formulas)
    steps = where.cube.reshape(-1, columns).T
    starts = np.arange(0, records * STEPS, STEPS)
    blocked, whole = prepare(steps, starts), prepare(steps, starts, records)
    chosen = range(sample)
    asked = for_peer(where, chosen)
    evaluator = engine_for(where)
    _same_answers(where, evaluator, blocked, asked)
    _same_answers(where, evaluator, whole, asked)
    best = _measure(where, evaluator, (blocked, whole), asked, repeats)
    what = f"{records:,} records × {STEPS} steps × {columns} attributes"
    ratio = best.blocked / best.telltree
    peer = f"NumPy {1 / best.blocked:,.0f}/s"
    how = (
        f"Engine.evaluate, {formulas:,} formulas a call, best of {repeats}; {FEW:,} a call: {1 / best.few:,.0f}/s; "
        f"F(a and b) alone: {1 / best.joint:,.0f}/s. The peer evaluates {sample} of them by blocks of 1,000 records, "
        f"with equal answers and counts; all at once {1 / best.whole:,.0f}/s ({best.whole / best.telltree:.3g} ×)"
    )
    met = ratio >= TARGET
    first = (
        f"a new engine, {formulas:,} formulas in its only call, bitsets included: {best.first * formulas:.2f} s in all"
    )
    return [
        Row(f"{what}, bitsets at hand", f"≥ {TARGET} ×", f"{1 / best.telltree:,.0f}/s", how, ratio, peer, met),
        Row(f"{what}, bitsets made on the way", "", f"{1 / best.first:,.0f}/s", first,
            best.blocked / best.first, f"NumPy {1 / best.blocked:,.0f}/s"),
    ]  # fmt: skip


def _measure(
    where: Setting,
    evaluator: PopulationEvaluator,
    peers: tuple[Sequence[Block], Sequence[Block]],
    asked: list[TwoAtoms],
    repeats: int,
) -> Best:
    masks, population = two_classes(evaluator), where.population
    everything, few = np.arange(len(population.lengths)), np.arange(min(FEW, len(population.lengths)))
    # The other kinds may be put together from what is known of each atom, record by record; this one never.
    kinds = for_peer(where, everything.tolist())
    alone = np.array([i for i, kind in enumerate(kinds) if kind[:2] == ("F", "and")])
    evaluator.evaluate(population, everything, masks)  # makes the bitsets

    def peer(blocks: Sequence[Block]) -> Callable[[int], float]:
        return lambda _: seconds(lambda: evaluate_prepared(blocks, asked)) / len(asked)

    def telltree(_: int) -> float:
        return seconds(lambda: evaluator.evaluate(population, everything, masks)) / len(everything)

    def joint(_: int) -> float:
        return seconds(lambda: evaluator.evaluate(population, alone, masks)) / len(alone)

    def generation(_: int) -> float:
        return seconds(lambda: evaluator.evaluate(population, few, masks)) / len(few)

    def first(_: int) -> float:
        return seconds(lambda: engine_for(where).evaluate(population, everything, masks)) / len(everything)

    return Best(*in_turn(repeats, [peer(peers[0]), peer(peers[1]), telltree, joint, generation, first]))


def _same_answers(
    where: Setting, evaluator: PopulationEvaluator, blocks: Sequence[Block], asked: list[TwoAtoms]
) -> None:
    """Speed means nothing unless both say the same: each answer, and the counts of the very call that is timed."""
    theirs = evaluate_prepared(blocks, asked)
    wrong = (evaluator.truth(where.population.take(np.arange(len(asked)))) != theirs).any(axis=1)
    masks = two_classes(evaluator)
    counts = evaluator.evaluate(where.population, np.arange(len(where.population.lengths)), masks).counts[: len(asked)]
    wrong |= (counts != np.stack([theirs[:, 0::2].sum(axis=1), theirs[:, 1::2].sum(axis=1)], axis=1)).any(axis=1)
    if wrong.any():
        first = asked[int(np.flatnonzero(wrong)[0])]
        raise RuntimeError(f"telltree and NumPy differ on {wrong.sum()} of {len(asked)} formulas: {first}")


def _memory(records: int, columns: int, formulas: int) -> Row:
    """Peak memory of a fresh process that does nothing but this."""
    script = Path(__file__).with_name("peak_memory.py")
    command = [sys.executable, str(script), *map(str, (records, columns, formulas))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{script.name} failed:\n{done.stderr}")
    found = json.loads(done.stdout)
    share = found["peak"] / found["input"]
    return Row(
        f"{records:,} records × {STEPS} steps × {columns} attributes, peak memory",
        f"≤ {MEMORY_TARGET:.0f} × the float64 input",
        f"{share:.2f} × ({found['peak'] / 1e9:.2f} GB of {found['input'] / 1e9:.2f} GB)",
        f"peak resident memory of a fresh process, interpreter and data included; {formulas:,} formulas",
        met=share <= MEMORY_TARGET,
    )
