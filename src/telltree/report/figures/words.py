"""Text in figures: which characters can be drawn, how wide they are, and where lines break."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from matplotlib.font_manager import findfont, fontManager, get_font
from matplotlib.ft2font import FT2Font

from telltree.operators.shape import LEVELS

FONT = "DejaVu Sans"  # comes with matplotlib, and has the signs of logic
_OTHERS = (
    "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Symbols", "Noto Emoji", "Arial Unicode MS",
    "Segoe UI Symbol", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans",
)  # fmt: skip
_NO_GLYPH = "□"
_PICTURE = 16  # the most characters that a picture of a shape has
_LONG_PICTURE = re.compile(f"[{LEVELS}]{{{_PICTURE + 1},}}")
_MORE = "…"
BOLD = 1.15  # how much wider bold letters are
_WIDER = 1.065  # on a screen, letters are moved to whole pixels
POINTS = 72  # an inch


@cache
def families() -> list[str]:
    """The font of all text, then installed fonts that may have what it lacks."""
    installed = {font.name for font in fontManager.ttflist}
    return [FONT, *(name for name in _OTHERS if name in installed)]


@cache
def _fonts() -> tuple[FT2Font, ...]:
    return tuple(get_font(findfont(name)) for name in families())


@cache
def _advance(character: str) -> float | None:
    """How far a character moves the pen, in ems; None if no font has it."""
    for font in _fonts():
        if font.get_char_index(ord(character)):
            font.set_size(POINTS, POINTS)
            return float(font.load_char(ord(character)).linearHoriAdvance) / 65536 / POINTS
    return None


def with_small_pictures(text: str) -> str:
    """The text with pictures of shapes no wider than they must be: of long ones, some of their steps."""

    def small(found: re.Match[str]) -> str:
        picture, steps = found[0], len(found[0])
        return "".join(picture[round(i * (steps - 1) / (_PICTURE - 1))] for i in range(_PICTURE))

    return _LONG_PICTURE.sub(small, text)


def drawable(text: object) -> str:
    """The text on one line, with a box for every character that no font can draw."""
    return "".join(_drawable(character) for character in str(text))


def _drawable(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character).startswith("C"):  # controls, surrogates, unassigned
        return _NO_GLYPH
    return character if _advance(character) is not None else _NO_GLYPH


def width(text: str, size: float) -> float:
    """How wide drawable text is at most, in inches, at a size in points."""
    return _WIDER * sum(_advance(character) or 0.0 for character in text) * size / POINTS


def wrapped(text: object, inches: float, size: float, lines: int = 100) -> list[str]:
    """The text in lines no wider than `inches`; if it needs too many lines, it ends in an ellipsis."""
    found: list[str] = []
    for line in _lines(drawable(text), inches, size):
        if len(found) == lines:
            found[-1] = _shortened(found[-1] + " " + line, inches, size)
            break
        found.append(line)
    return found or [""]


def clipped(text: object, inches: float, size: float) -> str:
    """The text on one line no wider than `inches`, with an ellipsis for what does not fit."""
    return wrapped(text, inches, size, lines=1)[0]


def _lines(text: str, inches: float, size: float) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width(longer, size) <= inches:
            line = longer
            continue
        if line:
            yield line
        *full, line = _pieces(word, inches, size)
        yield from full
    if line:
        yield line


def _pieces(word: str, inches: float, size: float) -> list[str]:
    """A word, cut if it must be."""
    pieces, piece = [], ""
    for character in word:
        if piece and width(piece + character, size) > inches:
            pieces.append(piece)
            piece = ""
        piece += character
    return [*pieces, piece]


def _shortened(text: str, inches: float, size: float) -> str:
    while text and width(text + _MORE, size) > inches:
        text = text[:-1]
    return text.rstrip() + _MORE
