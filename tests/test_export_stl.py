"""STL is judged by rtamt: robustness above 0 at the first step means that a record is of the category."""

import json
import math
import random
import re
import warnings

import pytest
from class_trees import class_tree
from hypothesis import given, settings
from hypothesis import strategies as st
from random_trees import HOSTILE, draw_tree_case, expected, hostile_case, leaf, plain_value, steps, tree_of
from strategies import Case, Column

from telltree import SettingsError
from telltree.export import export_model

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of what rtamt itself uses
    rtamt = pytest.importorskip("rtamt", exc_type=ImportError)

WINDOW = re.compile(r"\[\d+:\d+\]")
SIGNAL = re.compile(r"// (\w+): (1 where )?(\".*)")


def signals(text, columns, record):
    """The signals that the comments of an STL text ask for, made of a record."""
    kinds = {column.name: column.type for column in columns}
    found = {"time": list(range(steps(record)))}
    for line in text.splitlines():
        match = SIGNAL.fullmatch(line)
        if match:
            column, end = json.JSONDecoder().raw_decode(match[3])
            values = [None if v is None or v != v else v for v in map(plain_value, record[column])]  # noqa: PLR0124
            if match[2]:
                found[match[1]] = [float(value is None) for value in values]
            elif kinds[column] == "categorical":
                codes = coded(match[3][end + len(", as numbers: ") :])
                found[match[1]] = [float(codes.get(value, 0)) for value in values]
            else:
                found[match[1]] = [
                    99.0 if value is None and kinds[column] == "real" else float(value or 0) for value in values
                ]
    return found


def coded(text):
    """`1 "up", 2 "down"; ...` as a dict from name to number."""
    codes, place = {}, 0
    while (number := re.compile(r"(\d+) ").match(text, place)) is not None:
        name, end = json.JSONDecoder().raw_decode(text, number.end())
        codes[name], place = int(number[1]), end + 2
        if text[end] != ",":
            break
    return codes


def robustness(text, columns, record):
    specification = rtamt.StlDiscreteTimeOfflineSpecification()
    specification.spec = text
    specification.parse()
    if steps(record) == 1:  # rtamt needs two; to repeat the last step changes nothing, but for windows
        record = {name: values * 2 for name, values in record.items()}
    return specification.evaluate(signals(text, columns, record))[0][1]


def assert_robust(text, case, members):
    """Robustness is above 0 for members of a category and below for others; 0 says nothing."""
    for record, member in zip(case.records, members, strict=True):
        if steps(record) > 1 or WINDOW.search(text) is None:
            found = robustness(text, case.columns, record)
            assert found == 0 or (found > 0) == member, text


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_stl_is_robust_where_a_record_is_of_the_category(rng):
    tree, case = draw_tree_case(rng, finite=True, counts=False)
    clusters, _ = expected(tree, case)
    for number in range(1, len(tree.leaves) + 1):
        text = export_model(tree, "stl", category=number)
        assert_robust(text, case, [cluster == number for cluster in clusters])


def test_most_robustness_is_not_zero():
    """The test above would pass if it excluded everything."""
    rng, found = random.Random(5), []
    for _ in range(25):
        tree, case = draw_tree_case(rng, finite=True, counts=False)
        text = export_model(tree, "stl", category=1)
        found += [robustness(text, case.columns, record) for record in case.records]
    assert sum(value != 0 for value in found) > 0.6 * len(found)
    assert any(value > 0 for value in found)
    assert any(value < 0 for value in found)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_get_safe_identifiers(name):
    tree, case = hostile_case(name)
    clusters, _ = expected(tree, case)
    for number in (1, 2, 3):
        text = export_model(tree, "stl", category=number)
        for record, cluster in zip(case.records, clusters, strict=True):
            assert (robustness(text, case.columns, record) > 0) == (cluster == number)


def test_names_that_look_made_up_do_not_clash():
    names = ["signal_1", "a b", "signal_2", "a c", "x_missing_1", "x"]
    case = Case(tuple(Column(name, "real") for name in names), ({name: [float(i)] for i, name in enumerate(names)},))
    parts = [f"`{name}` > {i - 0.5}" for i, name in enumerate(names)]
    tree = tree_of(case, [f"F({' and '.join(parts)})"], ("a", "b"))
    assert robustness(export_model(tree, "stl", category=1), case.columns, case.records[0]) == 0.5


def test_columns_that_never_miss_values_need_no_second_signal():
    case = Case((Column("height", "real"),), ({"height": [1.0]},))
    tree = tree_of(case, ["F(height > 0)"], ("a", "b"))
    assert "missing" in export_model(tree, "stl")
    assert "missing" not in export_model(tree, "stl", missing=())


def test_a_single_leaf_is_true():
    case = Case((Column("x", "real"),), ({"x": [1.0, 3.0]}, {"x": [0.0]}))
    text = export_model(class_tree(leaf([2]), ("only",), case.panel.schema), "stl")
    assert robustness(text, case.columns, case.records[0]) > 0


def test_stl_cannot_count():
    case = Case((Column("b", "Boolean"),), ({"b": [True]},))
    with pytest.raises(SettingsError, match="count"):
        export_model(tree_of(case, ["count(b) > 1"], ("a", "b")), "stl")


@pytest.mark.parametrize(
    "text",
    ["F(x - y < 2)", "F(not x - y < 2)", "F(sign(x - y) = 0)", "F(abs(x - y) - x > 0)", "F((x - sign(y)) - y < 4)"],
)
def test_infinity_less_infinity_is_missing(text):
    values = (math.inf, -math.inf, 0.0, 5.0, None)
    case = Case((Column("x", "real"), Column("y", "real")), tuple({"x": [a], "y": [b]} for a in values for b in values))
    clusters, _ = expected(tree_of(case, [text], ("a", "b")), case)
    exported = export_model(tree_of(case, [text], ("a", "b")), "stl", category=1)
    assert "1e300 for infinity, as is all beyond 1e299" in exported
    for record, cluster in zip(case.records, clusters, strict=True):
        told = {
            k: [v if v is None or math.isfinite(v) else math.copysign(1e300, v) for v in vs] for k, vs in record.items()
        }
        found = robustness(exported, case.columns, told)
        assert found == 0 or (found > 0) == (cluster == 1)
        assert found != 0 or record["x"] != record["y"] or math.isfinite(record["x"][0])
