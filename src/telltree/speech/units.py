"""Units and their names: "seconds" are s, "percent" is %."""

from collections.abc import Iterable

_NAMES = {
    "s": "second seconds sec secs", "ms": "millisecond milliseconds", "min": "minute minutes mins",
    "h": "hour hours hr hrs", "d": "day days", "%": "percent pct", "m": "meter meters metre metres",
    "km": "kilometer kilometers kilometre kilometres", "ft": "foot feet", "in": "inch inches", "mi": "mile miles",
    "kn": "knot knots kt kts", "g": "gram grams", "kg": "kilogram kilograms", "l": "liter liters litre litres L",
    "V": "volt volts", "W": "watt watts", "A": "amp amps ampere amperes", "Pa": "pascal pascals",
    "N": "newton newtons", "Hz": "hertz", "K": "kelvin", "°C": "celsius degC", "°F": "fahrenheit degF",
    "°": "degree degrees deg", "bar": "bar bars", "rpm": "rpm", "bpm": "bpm",
}  # fmt: skip
_SYMBOLS = {name: symbol for symbol, names in _NAMES.items() for name in (symbol, *names.split())}


def named(word: str, units: Iterable[str]) -> str | None:
    """The unit, of some, that a word is another name of; None if it is none's. Only names may be in capitals."""
    spelled = word if word in _SYMBOLS else word.lower()
    symbol = _SYMBOLS.get(spelled) if word in _SYMBOLS or len(word) > 2 else None
    return None if symbol is None else next((unit for unit in units if _SYMBOLS.get(unit) == symbol), None)
