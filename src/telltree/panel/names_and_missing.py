"""Category names and missing values: two rules for every input, export and model.

The name of a category is its value as text: strings unchanged, numbers as Python writes them, Booleans as True and
False. Integers have no decimal point, whatever their type was: 1 and 1.0 are both "1". Since text files have no types,
the text "1.0" is "1" too; other text is unchanged: "01", "1.10", "v1.0".

None, NaN and the like are missing. So is text that is blank, or NA, N/A, <NA>, NaN, nan, NAN, null or NULL, unless a
schema declares it as a level.

These functions are copied into exported modules, so they use only the standard library.
"""

from typing import Any


def level_name(value: Any) -> str:
    """Return the name of a category, given its value."""
    text = decimal_text(value) if hasattr(value, "is_nan") else str(value)
    digits = text.removesuffix(".0").removeprefix("-")
    if not text.endswith(".0") or not (digits.isascii() and digits.isdigit()):
        return text
    if digits == "0":  # 0 has no sign
        return digits
    return text if digits.startswith("0") else text.removesuffix(".0")


def decimal_text(value: Any) -> str:
    """Write a decimal without an exponent and without trailing zeros."""
    text = format(value, "f")
    text = text.rstrip("0").removesuffix(".") if "." in text else text
    return "0" if text == "-0" else text


def says_missing(text: str) -> bool:
    """Return True if text stands for a missing value."""
    return text.strip() in {"", "NA", "N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL"}


def is_nothing(value: Any) -> bool:
    """Return True if a value other than text is missing: None, NaN, pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if hasattr(value, "is_nan"):  # a decimal; comparing a decimal NaN may raise an error
        return bool(value.is_nan())
    is_float = isinstance(value, float) or type(value).__name__.startswith(("float", "longdouble"))  # NumPy's floats
    return is_float and bool(value != value)  # noqa: PLR0124 - NaN alone does


def known_names(levels: Any) -> dict[str, str]:
    """Return the level of each category name; a level declared as 1.0 has the name 1."""
    return {**{level_name(level): level for level in levels}, **{level: level for level in levels}}
