"""Every operator, asked of a scanned panel that is cut into shards which take turns, with next to no memory."""

import math
import random
import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from tests.support import oracle
from tests.support.effort import few_fast, share
from tests.support.operator_checks import COLUMNS, formulas_with
from tests.support.strategies import DTYPES, STRANGER, draw_case

from telltree import Formula, Grammar, scan
from telltree.engine import trace
from telltree.engine.trace import signals_of
from telltree.errors import DataWarning
from telltree.explain import Robustness
from telltree.grammar.derivation import Population
from telltree.logic import OPERATORS
from telltree.panel import disk_arrays
from telltree.panel import panel as panels
from telltree.scale.out_of_core import OutOfCoreShards
from telltree.scale.shards import ShardedBackend

FORMULAS = share(3, 1)  # for each operator
RECORDS = 140
LENGTHS = (4, 5, 8, 63, 64, 65, 70)
BOUNDS = ([0, 1, 64, 65, 130, RECORDS], [0, 63, 128, RECORDS])


@pytest.fixture(scope="module")
def case():
    rng = random.Random(7)
    return draw_case(rng, COLUMNS, [rng.choice((1, 2, 3)) if k % 7 else rng.choice(LENGTHS) for k in range(RECORDS)])


def written(case, folder, form):
    """The records in several files, of which one may begin in the midst of a record."""
    lengths = [len(record["speed"]) for record in case.records]
    table = {"id": [k for k, length in enumerate(lengths) for _ in range(length)]}
    for column in case.columns:
        steps = [STRANGER if v is oracle.UNSEEN else v for record in case.records for v in record[column.name]]
        if column.type == "real":
            steps = [None if v is None or math.isnan(v) else float(v) for v in steps]
        table[column.name] = pl.Series(steps, dtype=DTYPES[column.type])
    whole = pl.DataFrame(table)
    folder.mkdir()
    cuts = [0, len(whole) // 3, len(whole) // 3 + 5, len(whole)]
    for number, (low, high) in enumerate(pairwise(cuts)):
        part = whole[low:high]
        if form == "csv":
            part.write_csv(folder / f"{number}.csv")
        else:
            part.write_parquet(folder / f"{number}.parquet", row_group_size=50)
    return folder


@pytest.fixture(scope="module", params=few_fast(["parquet", "csv"]))
def panel(request, case, tmp_path_factory):
    folder = written(case, tmp_path_factory.mktemp("scanned") / "data", request.param)
    overrides = {c.name: {"type": c.type} | ({"levels": list(c.levels)} if c.levels else {}) for c in case.columns}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # infinite values and categories that no schema has are meant
        patch.setattr(panels, "PART", 300)
        patch.setattr(disk_arrays, "PIECE", 37)
        patch.setattr(trace, "SIGNALS", 1000)
        found = scan(folder, id="id", schema=overrides).panel
        assert found.on_disk
        assert len(found.parts()) > 3
        yield found


@pytest.fixture(scope="module")
def formulas(case):
    """Each formula as the oracle reads it, as text, and what the oracle answers."""
    plains = [plain for row in OPERATORS for plain in formulas_with(row, FORMULAS)]
    texts = [oracle.text(plain, random.Random(0)) for plain in plains]
    answers = [[oracle.truth(plain, record, {}) for record in case.records] for plain in plains]
    return texts, np.array(answers)


def bench_in_turns(panel, grammar, bounds):
    places = OutOfCoreShards(panel, grammar, bounds, threads=1, memory=1)
    return ShardedBackend(places, panel.schema, grammar, signals_of(panel).deviation)


def differing(texts, found, wanted):
    return [text for text, one, other in zip(texts, found, wanted, strict=True) if list(one) != list(other)]


def test_a_formula_answers_part_by_part_as_the_oracle(panel, formulas):
    texts, wanted = formulas
    found = [Formula.parse(text, panel.schema)(panel) for text in texts]
    assert not differing(texts, found, wanted)


@pytest.mark.parametrize("bounds", BOUNDS, ids=len)
def test_formulas_as_they_stand_answer_in_turns_as_the_oracle(panel, formulas, bounds):
    texts, wanted = formulas
    backend = bench_in_turns(panel, Grammar.parse("Start ::= F(on)", panel), bounds)
    expressions = [Formula.parse(text, panel.schema).expression for text in texts]
    everyone = np.arange(len(panel))
    assert not differing(texts, backend.formulas(everyone).truth(expressions), wanted)
    some = np.arange(3, len(panel), 4)  # the records of a node
    assert not differing(texts, backend.formulas(some).truth(expressions), wanted[:, some])


@pytest.mark.parametrize("bounds", BOUNDS, ids=len)
def test_a_search_counts_in_turns_what_the_oracle_counts(panel, formulas, bounds):
    texts, wanted = formulas
    grammar = Grammar.parse("Start ::= " + "\n | ".join(texts), panel)
    whole = [rule.template for rule in grammar.rules]
    population = Population.empty(len(whole), 1, False)
    population.rules[:, 0], population.lengths[:] = np.arange(len(whole)), 1
    known = {Formula.parse(text, panel.schema).expression: answer for text, answer in zip(texts, wanted, strict=True)}
    answers = np.array([known[template] for template in whole])
    for some in (np.arange(len(panel)), np.arange(1, len(panel), 3)):
        evaluator = bench_in_turns(panel, grammar, bounds).evaluator(some)
        assert not differing(map(str, whole), evaluator.truth(population), answers[:, some])
        groups = [some % 2 == 0, some % 5 == 0]
        counted = evaluator.evaluate(population, np.arange(len(whole)), evaluator.masks(groups))
        expected = [[int(answer[some][group].sum()) for group in groups] for answer in answers]
        assert counted.counts.tolist() == expected


def test_margins_part_by_part_are_those_of_a_panel_in_memory(panel, case, formulas):
    texts, _ = formulas
    memory = case.panel
    for text in texts[::3]:
        expression = Formula.parse(text, panel.schema).expression
        found, wanted = Robustness(panel).of_records(expression), Robustness(memory).of_records(expression)
        assert found.tolist() == pytest.approx(wanted.tolist(), rel=1e-9, abs=1e-300), text
