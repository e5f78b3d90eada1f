"""What the names of columns tell: units in brackets, and the steps of wide tables."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from telltree.panel.names_and_missing import says_missing

# ---- Units in the names of columns: "speed (km/h)" is the speed, in km/h.


HEADER = re.compile(r"\s*(?P<words>.*?\S)\s*(?:\[(?P<square>[^\[\]()]+)\]|\((?P<round>[^\[\]()]+)\))\s*")
PREFIXES = ("", "Y", "Z", "E", "P", "T", "G", "M", "k", "h", "da", "d", "c", "m", "µ", "μ", "u", "n", "p", "f")
METRIC = (
    "m g t s A K mol cd Hz N Pa bar J W V C F S Ω ohm Ohm T Wb H lm lx rad sr Bq Gy Sv L l eV Wh Ah VA var B bit byte"
)
OTHER = (
    "% ‰ ° °C °F C F degC degF deg degree degrees celsius fahrenheit kelvin min h hr hrs d day days week weeks month "
    "months year years sec secs second seconds minute minutes hour hours ft foot feet in inch inches mi mile miles yd "
    "nmi NM kn kt kts knot knots mph fpm fps kph kmh lb lbs oz psi psia psig atm mmHg inHg Torr torr rpm RPM bpm BPM "
    "ppm ppb dB dBA dBm pH cal kcal hp PS gal USD EUR GBP CHF JPY $ € £ ¥ px Nm kNm count counts percent pct "
    "meter meters metre metres gram grams kilogram kilograms liter liters litre litres volt volts watt watts amp amps "
    "ampere amperes pascal pascals newton newtons hertz radian radians"
)
UNITS = frozenset(prefix + unit for prefix in PREFIXES for unit in METRIC.split()) | frozenset(OTHER.split())
FACTOR = re.compile(r"(?P<unit>.*?[^\d\s^*²³⁻¹.-])(?:(?:\^|\*\*)?-?\d|[⁻]?[¹²³])?")
NO_UNIT = ("-", "–")


def split_name(name: str) -> tuple[str, str] | None:
    """Return the words of a name and the unit in brackets behind them; None if there is none, or it is not a known
    unit.

    "load [-]" has the unit "", which marks a dimensionless number.
    """
    match = HEADER.fullmatch(name)
    if match is None:
        return None
    unit = (match["square"] or match["round"]).strip()
    if unit in NO_UNIT and match["square"]:
        return match["words"], ""
    return (match["words"], unit) if is_unit(unit) else None


def is_unit(text: str) -> bool:
    """Whether this is a unit, or a product or quotient of units, and not some other remark such as (left)."""
    factors = [part.strip() for part in re.split(r"\s+per\s+|[/·⋅]|(?<!\*)\*(?!\*)|\s+", text)]
    rest = factors[1:] if factors[:1] == ["1"] and len(factors) > 1 else factors
    return all(_is_factor(factor) for factor in rest)


def _is_factor(text: str) -> bool:
    match = FACTOR.fullmatch(text)
    return match is not None and match["unit"] in UNITS


def proposals(names: Iterable[str]) -> Mapping[str, dict[str, str]]:
    """Return phrase and unit by column, for the names that hold a unit.

    Nothing is proposed where two columns would get the same phrase: their brackets tell them apart, and may not be
    units at all: "voltage (A)" beside "voltage (B)".
    """
    spoken = {name: match["words"] if (match := HEADER.fullmatch(name)) else name for name in names}
    times = Counter(spoken.values())
    found = {name: split for name in spoken if (split := split_name(name)) is not None}
    return {
        name: {"phrase": words, **({"unit": unit} if unit else {})}
        for name, (words, unit) in found.items()
        if times[words] == 1
    }


# ---- Column names that are steps: headers of wide tables, one row per record and one column per step.

STEP = re.compile(r"(?P<stem>(?:[^\W\d]\w*?)?)[ _.-]?(?P<number>\d+(?:\.\d+)?)")  # 0, t0, temp_12, v 0.5
USUAL = ("", "t", "ts", "time", "step", "timestep", "v", "val", "value", "att")  # stems of steps; others may be names
DOZENS = 24  # columns of one stem: this many are hardly attributes
WIDE_REMEDY = "if each row is a record and each column a step, say wide (--wide)"


def stem_of(name: str) -> tuple[str, float] | None:
    """The stem of a step's name and its number; None if it is not named like a step."""
    match = STEP.fullmatch(name.strip())
    return None if match is None else (match["stem"], float(match["number"]))


def likely_wide(names: Sequence[str]) -> bool:
    """Whether dozens of columns are named like consecutive steps of a series."""
    stems: dict[str, list[float]] = {}
    for stem, number in filter(None, map(stem_of, names)):
        stems.setdefault(stem.lower(), []).append(number)
    return any(len(stems.get(stem, ())) >= DOZENS and _is_even(stems[stem]) for stem in USUAL)


def has_no_names(row: Sequence[str]) -> bool:
    """Whether the first row of a file holds values: numbers, not evenly spaced like steps, perhaps after a label."""
    numbers = [_number(cell) for cell in row[1:]]
    return (
        len(numbers) > 1 and None not in numbers and not _is_even([number for number in numbers if number is not None])
    )


def unnamed(count: int) -> list[str]:
    """Names for the columns of a file without a header."""
    return [f"column {number}" for number in range(1, count + 1)]


def _is_even(numbers: Sequence[float]) -> bool:
    gaps = [after - before for before, after in pairwise(numbers)]
    return all(gap > 0 and math.isclose(gap, gaps[0], rel_tol=1e-6) for gap in gaps)


def _number(cell: str) -> float | None:
    try:
        return float(cell.strip() or "nan")
    except ValueError:
        return math.nan if cell.strip() == "?" or says_missing(cell) else None
