"""What an answer costs once a tree is there: one record, all that is told of many, a report, the program as a whole.

Times are those of the processor. The peer is the naive judge of the tests, which shares no code with telltree.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results import Row
from timing import in_turn

sys.path.append(str(Path(__file__).resolve().parents[1]))

from tests.support.naive_evidence import Naive
from tests.support.oracle_form import judged

from telltree import Formula, GrammarTreeClassifier, Panel
from telltree.datasets import make_encounters
from telltree.explain import Robustness
from telltree.report import report_html

ONE, REPORT, PROGRAM = 0.001, 0.3, 0.7
RECORDS, JUDGED, PREDICTED = 600, 4, 100
FORMULA = "F((abs(relative_altitude_1) < 100) and (range_2 < 1500)) or count(vertical_rate_1 > 10) > 12"


def rows(quick: bool) -> list[Row]:
    panel, y, _ = make_encounters(RECORDS, RECORDS // 5, seed=0)
    formula = Formula.parse(FORMULA, panel.schema)
    model = GrammarTreeClassifier(random_state=0, max_depth=2 if quick else None).fit(panel, y)
    repeats = 3 if quick else 10
    return [
        _one_record(formula, panel, repeats),
        _evidence(formula, panel, repeats),
        _report(model, panel, y, repeats),
        _program(model, panel, repeats),
    ]


def processor(work: Callable[[], object], times: int = 1) -> float:
    """Seconds of the processor that one call takes, of so many."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) / times


def _one_record(formula: Formula, panel: Panel, repeats: int) -> Row:
    one, (plain, records) = panel[[0]], _plain(formula, panel, 1)
    formula(one)
    judge = Naive(records, {})
    jobs = [
        lambda _: processor(lambda: formula(one), 100),
        lambda _: processor(lambda: judge.over_time(plain, records[0])),
    ]
    ours, theirs = in_turn(repeats, jobs)
    return Row(
        "one formula, one record: true or false",
        f"≤ {1000 * ONE:g} ms",
        f"{1000 * ours:.2f} ms",
        f"`formula(panel)`, of {panel.steps // len(panel)} steps, warm; best of {repeats}",
        ratio=ours / theirs,
        peer=f"naive judge {1000 * theirs:.1f} ms",
        met=ours <= ONE,
    )


def _evidence(formula: Formula, panel: Panel, repeats: int) -> Row:
    margins, (plain, records) = Robustness(panel), _plain(formula, panel, JUDGED)
    margins.evidence(formula.expression)
    judge = Naive(records, {})

    def naively() -> None:
        for record in records:
            judge.decisive(plain, record)
            judge.distance(plain, record)

    ours, theirs = in_turn(
        repeats,
        [
            lambda _: processor(lambda: margins.evidence(formula.expression)) / len(panel),
            lambda _: processor(naively) / JUDGED,
        ],
    )
    return Row(
        "one formula, one record: truth, decisive step, robustness, distance",
        "",
        f"{1e6 * ours:.1f} µs a record",
        f"`Robustness.evidence` of {len(panel)} records in one walk; best of {repeats}",
        ratio=ours / theirs,
        peer=f"naive judge {1000 * theirs:.1f} ms a record",
    )


def _report(model: GrammarTreeClassifier, panel: Panel, y: Any, repeats: int) -> Row:
    report_html(model, panel, y)
    (seconds,) = in_turn(repeats, [lambda _: processor(lambda: report_html(model, panel, y))])
    return Row(
        f"report of {len(panel)} records of {len(panel.schema)} columns",
        f"≤ {REPORT:g} s",
        f"{seconds:.2f} s",
        f"`report_html` of a tree of {len(model.tree_.leaves)} categories, warm; best of {repeats}",
        met=seconds <= REPORT,
    )


def _program(model: GrammarTreeClassifier, panel: Panel, repeats: int) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        file, data = Path(folder) / "model.json", Path(folder) / "new.csv"
        model.save(file)
        panel[:PREDICTED].to_frame().to_csv(data, index=False)
        command = "from telltree.cli import main; main()"
        given = ["predict", str(file), str(data), "--id", "id", "--time", "time"]
        bytecode = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}  # as once installed
        costs = [_spent([sys.executable, "-c", command, *given], bytecode) for _ in range(repeats + 1)][1:]
    used, wall = min(cost[0] for cost in costs), min(cost[1] for cost in costs)
    return Row(
        f"`telltree predict` of {PREDICTED} records, the whole process",
        f"≤ {PROGRAM:g} s",
        f"{wall:.2f} s",
        f"processor {used:.2f} s; a CSV file of {len(panel.schema)} columns, caches of bytecode and kernels warm; best "
        f"of {repeats}",
        met=wall <= PROGRAM,
    )


def _spent(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """What a process takes: seconds of the processor, and of the clock."""
    before, begun = os.times(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, time.perf_counter() - begun


def _plain(formula: Formula, panel: Panel, records: int) -> tuple[Any, list[dict[str, list[Any]]]]:
    """The formula and some records as the naive judge reads them."""
    names = formula.expression.attributes()
    known = ({name: panel.record(i)[name].tolist() for name in names} for i in range(records))
    return judged(formula.expression), [
        {name: [None if isinstance(x, float) and math.isnan(x) else x for x in values] for name, values in one.items()}
        for one in known
    ]
