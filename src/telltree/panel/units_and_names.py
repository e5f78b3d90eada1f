"""Column names: units in brackets, and steps of wide tables."""

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
    """Split a name into words and the unit in brackets behind them; None without a known unit.

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
    """Return True if text is a unit, or a product or quotient of units, and not some other remark such as (left)."""
    factors = [part.strip() for part in re.split(r"\s+per\s+|[/·⋅]|(?<!\*)\*(?!\*)|\s+", text)]
    rest = factors[1:] if factors[:1] == ["1"] and len(factors) > 1 else factors
    return all(_is_factor(factor) for factor in rest)


def _is_factor(text: str) -> bool:
    match = FACTOR.fullmatch(text)
    return match is not None and match["unit"] in UNITS


def phrases_and_units(names: Iterable[str]) -> Mapping[str, dict[str, str]]:
    """Return phrase and unit by column, for names with a unit.

    Columns that would share a phrase get none: their brackets distinguish them, and may be no units at all, as in
    "voltage (A)" beside "voltage (B)".
    """
    phrases = {name: match["words"] if (match := HEADER.fullmatch(name)) else name for name in names}
    times = Counter(phrases.values())
    found = {name: split for name in phrases if (split := split_name(name)) is not None}
    return {
        name: {"phrase": words, **({"unit": unit} if unit else {})}
        for name, (words, unit) in found.items()
        if times[words] == 1
    }


# ---- Steps as column names: headers of wide tables, one row per record and one column per step.

STEP = re.compile(r"(?P<stem>(?:[^\W\d]\w*?)?)[ _.-]?(?P<number>\d+(?:\.\d+)?)")  # 0, t0, temp_12, v 0.5
USUAL = ("", "t", "ts", "time", "step", "timestep", "v", "val", "value", "att")  # stems of steps; others may be names
DOZENS = 24  # columns of one stem: this many are hardly attributes
WIDE_REMEDY = "if each row is a record and each column a step, say wide (--wide)"


def stem_of(name: str) -> tuple[str, float] | None:
    """Split the name of a step into stem and number; None if it is not named like a step."""
    match = STEP.fullmatch(name.strip())
    return None if match is None else (match["stem"], float(match["number"]))


def likely_wide(names: Sequence[str]) -> bool:
    """Return True if dozens of columns are named like consecutive steps of a series."""
    stems: dict[str, list[float]] = {}
    for stem, number in filter(None, map(stem_of, names)):
        stems.setdefault(stem.lower(), []).append(number)
    return any(len(stems.get(stem, ())) >= DOZENS and _is_even(stems[stem]) for stem in USUAL)


def has_no_names(row: Sequence[str]) -> bool:
    """Return True if a first row holds values: numbers, not evenly spaced as steps are, perhaps after a label."""
    numbers = [_number(cell) for cell in row[1:]]
    known = [number for number in numbers if number is not None]
    return len(numbers) > 1 and len(known) == len(numbers) and not _is_even(known)


def placeholder_names(count: int) -> list[str]:
    """Return names for the columns of a file without a header."""
    return [f"column {number}" for number in range(1, count + 1)]


def _is_even(numbers: Sequence[float]) -> bool:
    gaps = [after - before for before, after in pairwise(numbers)]
    return all(gap > 0 and math.isclose(gap, gaps[0], rel_tol=1e-6) for gap in gaps)


def _number(cell: str) -> float | None:
    try:
        return float(cell.strip() or "nan")
    except ValueError:
        return math.nan if cell.strip() == "?" or says_missing(cell) else None
