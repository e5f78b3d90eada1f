"""Random trees over the random panels of `strategies`, for whatever writes trees down."""

import json
import math

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.oracle import UNSEEN
from tests.support.strategies import STRANGER, Case, Column, RandomFormulas, draw_case, draw_columns

from telltree.engine import Formula
from telltree.tree import Node

CLASSES = ("a", "it's", 'say "hi"', "new\nline", "<b>&amp;</b>", "x; DROP TABLE records; --", "émigré", '"""', "a|b\\c")

HOSTILE = (
    '"; DROP TABLE records; --', "it's", "a;--b", '"""', "<script>alert(1)</script>", "new\nline", "tab\tand\rreturn",
    "größe", "select", "back\\slash", "{0}{name}", "%s %d", "$x$", "`tick`", "[x](y)", "&amp;", "*/ //", "# no comment",
    "\u202edrawkcab", "s", "G", "time of day", "category_1", "import", "record", "steps0",
)  # fmt: skip


class PlainFormulas(RandomFormulas):
    """Formulas without user functions, and on request without counts and operators that look back in the record."""

    counts = True

    def boolean_call(self, depth):
        return self.on(depth)

    def call(self, gives, depth):
        return self.attribute(gives)

    def comparison_of_counts(self, depth):
        return super().comparison_of_counts(depth) if self.counts else ("F", self.vector(depth - 1))


def draw_tree(rng, columns, schema, *, depth=3, counts=True):
    """A tree of random formulas; labels are hostile, and leaves hold any records, some classes weighted."""
    draw = PlainFormulas(rng, columns)
    draw.counts = counts
    draw.looks_back = counts
    classes = tuple(rng.sample(CLASSES, rng.randint(1, 4)))
    worth = [rng.choice((1, 1, 0.3, 8)) for _ in classes]

    def node(depth):
        if depth == 0 or rng.random() < 0.15:
            counts = tuple(rng.randint(0, 9) for _ in classes)
            return leaf(counts if any(counts) else (1,) * len(classes), worth)
        formula = Formula.parse(oracle.text(draw.boolean(rng.randint(1, 4)), rng), schema)
        true, false = node(depth - 1), node(depth - 1)
        return Node(formula, true, false)

    return class_tree(node(rng.randint(0, depth)), classes, schema)


def leaf(counts, worth=None):
    """A leaf of so many records of each class, each of which is worth so much."""
    worth = worth or [1] * len(counts)
    return class_leaf(tuple(counts), tuple(float(n * w) for n, w in zip(counts, worth, strict=True)))


def draw_tree_case(rng, *, finite=False, counts=True, columns=None):
    """A tree and a case that it can be asked about."""
    columns = columns or draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, 5) for _ in range(rng.randint(1, 6))])
    if finite:
        for record in case.records:
            for values in record.values():
                values[:] = [2.0 if isinstance(v, float) and abs(v) > 1e299 else v for v in values]
    return draw_tree(rng, columns, case.panel.schema, counts=counts), case


def plain_value(value):
    """A value as a table or a program holds it."""
    return STRANGER if value is UNSEEN else value


def expected(tree, case):
    clusters = tree.apply(case.panel).tolist()
    labels = tree.predict(case.panel).tolist()
    return clusters, labels


def steps(record):
    return len(next(iter(record.values())))


def tree_of(case, formulas, classes):
    """A tree whose branches ask the formulas one after the other."""
    node = leaf([1] + [0] * (len(classes) - 1))
    for i, text in enumerate(reversed(formulas), 1):
        counts = [int(k == i) for k in range(len(classes))]
        node = Node(Formula.parse(text, case.panel.schema), leaf(counts), node)
    return class_tree(node, classes, case.panel.schema)


def hostile_case(name):
    """Columns of every type with a name, and categories and labels like it, and a tree that asks about all of them."""
    columns = (Column(name, "real"), Column(f"{name}?", "Boolean"), Column(f"{name}!", "categorical", (name, "other")))
    values = [([1.0, 9.0], [True, False], [name, None]), ([1.0], [False], ["other"]), ([math.nan], [None], [name])]
    case = Case(columns, tuple(dict(zip((c.name for c in columns), value, strict=True)) for value in values))
    return tree_of(case, written(columns, name), ("none", name, f"{name} 2", f"'{name}\"")), case


def written(columns, level):
    """F(x > 2), F(b) and G(c = level) with the names of these columns."""
    x, b, c = ("`" + json.dumps(column.name)[1:-1].replace("`", "\\u0060") + "`" for column in columns)
    return [f"F({x} > 2)", f"F({b})", f"G({c} = {json.dumps(level)})"]
