"""Units in the names of columns."""

import pandas as pd
import pytest

from telltree import Column, Formula, Panel, Schema
from telltree.data.columns.header import proposals, split_name
from telltree.explain import english


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("temperature [°C]", ("temperature", "°C")),
        ("speed (km/h)", ("speed", "km/h")),
        ("speed(km/h)", ("speed", "km/h")),
        ("vertical acceleration  [ m/s² ]", ("vertical acceleration", "m/s²")),
        ("a (m/s^2)", ("a", "m/s^2")),
        ("a (m s-2)", ("a", "m s-2")),
        ("humidity (%)", ("humidity", "%")),
        ("torque [N·m]", ("torque", "N·m")),
        ("flow (miles per hour)", ("flow", "miles per hour")),
        ("rate (1/s)", ("rate", "1/s")),
        ("load [-]", ("load", "")),
        ("pump (1) [kPa]", ("pump (1)", "kPa")),
        ("pressure (left)", None),
        ("f(x)", None),
        ("x [0]", None),
        ("x [1]", None),
        ("[m]", None),
        ("(km/h)", None),
        ("", None),
        ("x ()", None),
        ("x (m/)", None),
        ("x (/)", None),
        ("valve (", None),
        ("<script> [x]", None),
    ],
)
def test_names(name, split):
    assert split_name(name) == split


def test_nothing_is_proposed_where_brackets_tell_columns_apart():
    assert proposals(["u (A)", "u (B)", "t (min)", "t (max)", "v", "v [m/s]", "w [m/s]"]) == {
        "w [m/s]": {"phrase": "w", "unit": "m/s"}
    }


def frame():
    return pd.DataFrame({"id": [1, 1], "speed (km/h)": [3.5, 4.5], "door (s)": [True, False], "gear [m]": ["u", "v"]})


def test_real_columns_get_phrase_and_unit_and_keep_their_names():
    panel = Panel.from_frame(frame(), id="id")
    assert panel.schema["speed (km/h)"] == Column("speed (km/h)", "real", unit="km/h", phrase="speed")
    assert (panel.schema["door (s)"].unit, panel.schema["gear [m]"].phrase) == (None, None)
    formula = Formula.parse("F(`speed (km/h)` > 4)", panel.schema)
    said = english(formula, panel.schema, missing=())
    assert said == "at some point speed is above 4 km/h"
    assert Formula.from_english(said, panel.schema)(panel).tolist() == [True]


def test_what_the_user_says_goes_first():
    name = "speed (km/h)"
    panel = Panel.from_frame(frame(), id="id", schema={name: {"unit": "kph"}})
    assert (panel.schema[name].unit, panel.schema[name].phrase) == ("kph", "speed")
    columns = [Column(name, "real"), Column("door (s)", "Boolean"), Column("gear [m]", "categorical")]
    assert Panel.from_frame(frame(), id="id", schema=Schema(columns)).schema[name].unit is None


def test_the_schema_file_has_them():
    panel = Panel.from_frame(frame(), id="id")
    assert Schema.from_toml(panel.schema.to_toml()) == panel.schema
    assert panel.aligned(panel.schema) == panel
