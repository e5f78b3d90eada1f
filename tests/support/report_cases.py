"""Trees and panels for reports: small ones written by hand, and data that hurts."""

import warnings
from dataclasses import replace

import numpy as np
import polars as pl

from tests.support.class_trees import class_leaf, class_tree

from telltree import Formula, Panel
from telltree.errors import DataWarning
from telltree.report import report_html
from telltree.tree.tree import Leaf, Node, RunnerUp

HOSTILE = "</script><script>boom()</script><img src=x onerror=boom()>\"'&`\u2028\u202e\x07\ud800{{7*7}}{% raw %}\n=1+1"


def leaf(labels, classes):
    """A leaf with these labels."""
    counts = tuple(int(np.sum(labels == name)) for name in classes)
    return class_leaf(counts, tuple(float(count) for count in counts))


def grown(panel, y, texts, *, classes=None):
    """A tree that asks the same questions, one a level, wherever they tell records apart."""
    y = np.asarray(y, dtype=object)
    classes = tuple(sorted(set(y.tolist()))) if classes is None else classes
    formulas = [Formula.parse(text, panel.schema) for text in texts]
    truth = [formula(panel) for formula in formulas]

    def grow(here, level):
        if level == len(formulas):
            return leaf(y[here], classes)
        holds, fails = here & truth[level], here & ~truth[level]
        if not (holds.any() and fails.any()):
            return grow(here, level + 1)
        others = tuple(RunnerUp(other, 40.0 + k) for k, other in enumerate(formulas))
        sides = grow(holds, level + 1), grow(fails, level + 1)
        return Node(formulas[level], *sides, 30.0, 12.5, 0.25, others)

    return class_tree(grow(np.ones(len(panel), bool), 0), classes, panel.schema)


def small(records=40, *, names=("speed", "on", "mode", "age"), phrase=None, unit="m/s", levels=("up", "down"),
          classes=("calm", "wild"), ids=None, time_unit="s", seed=0):  # fmt: skip
    """A tree of two questions over columns of every type, with labels that it nearly always gets right."""
    rng = np.random.default_rng(seed)
    speed, on, mode, age = names
    lengths = rng.integers(5, 12, records)
    starts = np.cumsum(lengths) - lengths
    whose = np.repeat(np.arange(records), lengths)
    steps = np.arange(lengths.sum()) - starts[whose]
    ids = list(range(100, 100 + records)) if ids is None else ids
    table = pl.DataFrame(
        {
            "_id": [ids[i] for i in whose],
            "_t": steps * 0.5,
            speed: np.round(rng.normal(0, 2, len(whose)), 2),
            on: rng.random(len(whose)) < 0.1,
            mode: np.array(levels)[rng.integers(0, len(levels), len(whose))].tolist(),
            age: rng.integers(20, 80, records).astype(float)[whose],
        }
    )
    said = {"phrase": phrase} if phrase else {}
    overrides = {speed: {"unit": unit, **said}, mode: {"levels": levels}}
    panel = Panel.from_frame(
        table, id="_id", time="_t", static=[age], schema=overrides, period=0.5, time_unit=time_unit
    )  # fmt: skip
    fast = np.array([panel.values(speed, i).max() > 2.5 for i in range(records)])
    y = np.where(fast, classes[1], classes[0]).astype(object)
    y[::9] = classes[0]
    name, flag, level = (f"`{_escaped(n)}`" for n in (speed, on, mode))
    texts = [f"F({name} > 2.5)", f"F({flag} and {name} < 1)", f"G({level} = {_quoted(levels[0])}) or count({flag}) > 1"]
    return grown(panel, y, texts), panel, y


def _escaped(name):
    return _quoted(name)[1:-1].replace("`", "\\u0060")


def _quoted(text):
    import json

    return json.dumps(text)


def bisected(panel, y, column, cuts):
    """A tree that finds the place of a record's value among the cuts, as deep as need be."""
    y = np.asarray(y, dtype=object)
    classes = tuple(sorted(set(y.tolist())))
    values = np.array([panel.values(column, i)[0] for i in range(len(panel))])

    def grow(here, low, high):
        if low == high:
            return leaf(y[here], classes)
        middle = (low + high) // 2
        formula = Formula.parse(f"F({column} < {cuts[middle]})", panel.schema)
        holds = here & (values < cuts[middle])
        sides = grow(holds, low, middle), grow(here & ~holds, middle + 1, high)
        return Node(formula, *sides, 30.0, 1.0, 0.1)

    return class_tree(grow(np.ones(len(panel), bool), 0, len(cuts)), classes, panel.schema)


def single_leaf():
    """One category: nothing was worth asking."""
    panel = Panel.from_arrays([np.zeros((3, 1)), np.ones((2, 1))], columns=["x"])
    return class_tree(class_leaf((2,), (2.0,)), ("only",), panel.schema), panel, ["only", "only"]


def sixty_categories():
    """Sixty categories and forty classes."""
    rng = np.random.default_rng(1)
    places = np.arange(600) % 60
    records = [np.column_stack([np.full(6, place + 0.5), rng.normal(size=6)]) for place in places]
    panel = Panel.from_arrays(records, columns=["x", "noise"])
    y = [f"class {place % 40}" for place in places]
    return bisected(panel, y, "x", list(range(1, 60))), panel, y


def many_columns():
    """Five hundred columns, of which the last is asked about."""
    rng = np.random.default_rng(2)
    panel = Panel.from_arrays(rng.normal(size=(20, 4, 500)), layout="records, steps, columns")
    y = np.where(panel.stacked("x500").reshape(20, 4).max(axis=1) > 1, "high", "low")
    return grown(panel, y, ["F(x500 > 1)"]), panel, y


def one_step():
    """A plain table: every record has one step."""
    rng = np.random.default_rng(3)
    panel = Panel.from_table(
        pl.DataFrame({"a": rng.normal(size=30), "b": rng.random(30) < 0.5, "c": ["u", "v", "w"] * 10})
    )
    y = np.where(panel.stacked("a") > 0, 1, 0)
    return grown(panel, y, ["F(a > 0)", 'F(c = "u")']), panel, y


def long_records():
    """Five thousand steps, with one peak of a single step, and no times."""
    rng = np.random.default_rng(4)
    records = [np.column_stack([rng.normal(size=5000), np.arange(5000) % 7 == 0]) for _ in range(4)]
    for record in records[:2]:
        record[3333, 0] = 50
    panel = Panel.from_arrays(records, columns=["x", "b"], schema={"b": {"type": "Boolean"}})
    y = ["peak", "peak", "flat", "flat"]
    return grown(panel, y, ["F(x > 40)", "G(x < 3.9 or b)"]), panel, y


def long_names():
    """Names, levels, classes and ids of two hundred characters."""
    long = ["".join(chr(97 + (k * 7 + i) % 26) for i in range(200)) for k in range(8)]
    return small(names=tuple(long[:4]), phrase=long[4], levels=(long[5], "x"), classes=(long[6], long[7]),
                 ids=[f"{k}-{long[0]}" for k in range(40)])  # fmt: skip


def holes():
    """Missing values everywhere: half of all, all of one record, all of one column."""
    rng = np.random.default_rng(5)
    records = []
    for k in range(24):
        record = np.array([[rng.normal(), rng.random() < 0.5, "uv"[rng.integers(2)], None] for _ in range(9)], object)
        record[rng.random(record.shape) < (1.0 if k == 3 else 0.5)] = None
        records.append(record)
    kinds = {"x": {"type": "real"}, "b": {"type": "Boolean"}, "c": {"type": "categorical"}, "e": {"type": "real"}}
    panel = Panel.from_arrays(records, columns=["x", "b", "c", "e"], schema=kinds)
    y = ["a" if k % 3 else "b" for k in range(24)]
    return grown(panel, y, ["F(x > 0.5)", "G(not b)", 'F(c = "u")']), panel, y


def infinities():
    """Infinite values, alone and among others, and numbers too large to subtract."""
    big = 1.7e308
    rows = [[np.inf] * 4, [-np.inf, 0, 1, 2], [0, np.inf, -np.inf, 1], [big, -big, big, 0], [np.nan, np.inf, 1, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # infinite values are meant
        panel = Panel.from_arrays([np.array(row)[:, None] for row in rows], columns=["x"])
    y = [0, 0, 1, 1, 1]
    return grown(panel, y, ["F(x > 1.5)", "G(x > -5)"]), panel, y


def uneven_times():
    """Times that are not evenly spread."""
    rng = np.random.default_rng(6)
    frame = pl.DataFrame(
        {"id": np.repeat(np.arange(6), 30), "t": np.tile(np.arange(30.0) ** 2, 6), "x": rng.normal(size=180)}
    )
    panel = Panel.from_frame(frame, id="id", time="t")
    y = ["a", "b"] * 3
    return grown(panel, y, ["F(x > 2)", "F(x < -2)"]), panel, y


def outvoted():
    """Weights decide the class of a category, and no record shown reaches another."""
    tree, panel, y = small(60)

    def reweighted(node):
        if isinstance(node, Leaf):
            calm, wild = node.summary.counts
            return replace(node, summary=replace(node.summary, weights=(50.0 * calm, 1.0 * wild)))
        return replace(node, true=reweighted(node.true), false=reweighted(node.false))

    reached = tree.apply(panel) != 1
    return replace(tree, root=reweighted(tree.root)), panel[reached], y[reached]


HARD = (
    single_leaf,
    sixty_categories,
    many_columns,
    one_step,
    long_records,
    long_names,
    holes,
    infinities,
    uneven_times,
    outvoted,
)


def titled(tree, panel, y):
    """The page of a tree, with a title and records held out."""
    return report_html(tree, panel, y, title="A title", held_out=(panel[:20], y[:20]))
