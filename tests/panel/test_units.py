"""Units in the names of columns."""

import pandas as pd
import pytest

from telltree import Column, Formula, Panel, Schema
from telltree.explain import english
from telltree.panel.units_and_names import phrases_and_units, split_name


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
    assert phrases_and_units(["u (A)", "u (B)", "t (min)", "t (max)", "v", "v [m/s]", "w [m/s]"]) == {
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


def times_called(name, values=(0.0, 0.02, 0.04), **how):
    frame = pd.DataFrame({"id": [1] * len(values), name: values, "x": [1.0, 5.0, 2.0]})
    return Panel.from_frame(frame, id="id", time=name, **how)


@pytest.mark.parametrize(
    ("name", "how", "unit"),
    [
        ("t [s]", {}, "s"),
        ("t (ms)", {}, "ms"),
        ("t [s]", {"time_unit": "min"}, "min"),
        ("t [m]", {}, None),  # no unit of time
        ("t (left)", {}, None),
        ("t", {}, None),
    ],
)
def test_the_name_of_the_times_gives_their_unit(name, how, unit):
    assert times_called(name, **how).time_unit == unit


def test_times_with_a_unit_in_their_name_are_told_in_it():
    panel = times_called("t [s]")
    formula = Formula.parse("F(elapsed() >= 0.02 and change(x, 1) < -2)", panel.schema)
    assert english(formula, panel.schema, (), step=panel.step) == (
        "after at least 20 ms, at some point x is more than 2 below its value 20 ms earlier or at the start, whichever "
        "is later"
    )


def test_dates_are_in_seconds_whatever_their_column_is_called():
    dates = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"])
    assert times_called("day (h)", dates).time_unit == "s"


def test_the_schema_file_has_them():
    panel = Panel.from_frame(frame(), id="id")
    assert Schema.from_toml(panel.schema.to_toml()) == panel.schema
    assert panel.aligned(panel.schema) == panel
