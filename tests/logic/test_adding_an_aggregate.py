"""An aggregate is added as CONTRIBUTING.md says: rows, one computation, one text per language; the rest follows."""

from contextlib import ExitStack

import numpy as np
import polars as pl
import pytest

from tests.engine.test_three_valued import answers, has_absolute_count
from tests.logic.test_adding_an_operator import Toy
from tests.support import oracle, three_valued
from tests.support.effort import share
from tests.support.operator_checks import Asked, formulas_with, lacking, records

from telltree import Formula, Grammar, scan
from telltree.engine.signals import AGGREGATES as COMPUTED
from telltree.engine.trace import signals_of
from telltree.errors import OperatorError, SettingsError
from telltree.explain import english
from telltree.logic.meaning import Aggregate, Infinities
from telltree.logic.operators import over_record, over_window
from telltree.models.export import export_model
from telltree.models.export_common import Refused
from telltree.models.export_python_runtime import AGGREGATES as IN_PYTHON
from telltree.models.export_sql import AGGREGATES as IN_SQL
from telltree.panel import disk_arrays
from telltree.panel import panel as panels
from telltree.scale.out_of_core import OutOfCoreShards
from telltree.scale.shards import ShardedBackend


def lower_medians(values, numbers, window):
    """The lower median of the values in the window of each step."""
    found = np.full_like(values, np.nan)
    for t, number in enumerate(numbers):
        piece = values[t - min(number, window.far) : max(t - window.near + 1, 0)]
        known = np.sort(piece[~np.isnan(piece)])
        if len(known):
            found[t] = known[(len(known) - 1) // 2]
    return found


def lower_median(numbers):
    return sorted(numbers)[(len(numbers) - 1) // 2]


LOWER = Aggregate("lower", "lower median", Infinities.KEPT)
TABLES = (
    ("engine/signals.py", COMPUTED, lower_medians),
    ("models/export_sql.py", IN_SQL, Refused("which has no moving median")),
    ("models/export_python.py", IN_PYTHON, "(lambda values: sorted(values)[(len(values) - 1) // 2])"),
)
"""What is filled in for an aggregate beside its rows, by the place that an error names."""
WINDOW, RECORD = TOYS = (
    Toy(over_window(LOWER), (), oracle.looked_back_at(lower_median)),
    Toy(over_record(LOWER), (), oracle.of_record(lambda steps, numbers: lower_median(numbers))),
)


@pytest.fixture
def added():
    """Add the toy, but not in one of the places if given."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        def add(but=None):
            for place, table, entry in TABLES:
                if place != but:
                    patch.setitem(table, LOWER.name, entry)
            for toy in TOYS:
                stack.enter_context(toy.added())

        yield add


@pytest.fixture(scope="module")
def case():
    return records()


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy.row.name)
def test_everyone_knows_it(added, toy, case, tmp_path):
    added()
    assert not lacking()
    for plain in formulas_with(toy.row, share(6, 2)):
        asked = Asked(plain, case)
        asked.check_text()
        asked.check_engine()
        asked.check_robustness()
        asked.check_decisive_steps()
        asked.check_english()
        asked.check_implication()
        asked.check_sql()
        asked.check_python(tmp_path)
        asked.check_stl()
        if not has_absolute_count(plain):
            wanted = [three_valued.truth(plain, record, {}) for record in case.records]
            assert answers([asked.formula.expression], case.panel)[0].tolist() == wanted, asked.text


@pytest.mark.parametrize("place", [place for place, *_ in TABLES])
def test_a_place_that_was_left_out_is_named(added, place, case):
    added(but=place)
    told = lacking()
    assert len(told) == len(TOYS)
    assert all(line.endswith(f"add it in {place}") for line in told), told
    asked = Asked(("F", (">", ("lower[]", ("x", "speed"), ("number", 0.0), ("number", 2.0)), ("number", 1.0))), case)
    uses = {
        "engine/signals.py": lambda: asked.formula(case.panel),
        "models/export_sql.py": lambda: export_model(asked.tree, "sql"),
        "models/export_python.py": lambda: export_model(asked.tree, "python"),
    }
    with pytest.raises(OperatorError, match=rf"'lower\[\]' has no meaning in {place}"):
        uses[place]()


def test_its_sentences_follow_from_its_noun(added, case):
    added()
    schema = case.panel.schema
    texts = ("F(lower[0, 4](speed) > 1)", "F(lower(speed) > 1)")
    said = [english(Formula.parse(text, schema).expression, schema) for text in texts]
    assert said == [
        "at some point the lower median of speed at that step and up to 4 steps earlier is above 1",
        "the lower median of speed over the whole record is above 1",
    ]
    e = Formula.parse(texts[0], schema).expression
    assert "[lower median of [speed] from 4 to 0 steps before]" in english(e, schema, style="paper")
    assert e.latex() == r"\mathrm{F}(\mathrm{lower}_{[0, 4]}(\text{speed}) > 1)"


@pytest.mark.parametrize(("target", "why"), [("sql", "which has no moving median"), ("stl", "at several steps")])
def test_languages_that_lack_it_refuse_it(added, case, target, why):
    added()
    asked = Asked(("F", (">", ("lower", ("x", "speed")), ("number", 1.0))), case)
    with pytest.raises(SettingsError, match=f"cannot be exported to {target.upper()}, .*{why}"):
        export_model(asked.tree, target)


def test_it_is_evaluated_out_of_core(added, tmp_path, monkeypatch):
    added()
    rng = np.random.default_rng(0)
    speeds = [
        [None if v > 1.5 else round(v, 1) for v in rng.normal(size=n).tolist()] for n in rng.integers(1, 9, size=70)
    ]
    rows = [(i, speed) for i, record in enumerate(speeds) for speed in record]
    pl.DataFrame(rows, schema=["id", "speed"], orient="row").write_parquet(tmp_path / "data.parquet", row_group_size=50)
    monkeypatch.setattr(panels, "PART", 60)
    monkeypatch.setattr(disk_arrays, "PIECE", 37)
    panel = scan(tmp_path / "data.parquet", id="id").panel
    assert panel.on_disk
    texts = ("F(lower[1, 3](speed) > 0)", "F(lower(speed) > 0)")
    number = ("number", 0.0)
    plains = (
        ("F", (">", ("lower[]", ("x", "speed"), ("number", 1.0), ("number", 3.0)), number)),
        ("F", (">", ("lower", ("x", "speed")), number)),
    )
    wanted = [[oracle.truth(plain, {"speed": record}, {}) for record in speeds] for plain in plains]
    assert [Formula.parse(text, panel.schema)(panel).tolist() for text in texts] == wanted
    grammar = Grammar.parse("Start ::= " + " | ".join(texts), panel)
    places = OutOfCoreShards(panel, grammar, [0, 64, 70], threads=1, memory=1)
    backend = ShardedBackend(places, panel.schema, grammar, signals_of(panel).spread)
    expressions = [Formula.parse(text, panel.schema).expression for text in texts]
    assert backend.formulas(np.arange(len(panel))).truth(expressions).tolist() == wanted
