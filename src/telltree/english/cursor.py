"""A cursor in a text that is being parsed: matches keywords, a user's words, numbers and units."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import NoReturn

from telltree.english.tokens import (
    BOUNDS,
    FORMS,
    WORDS,
    Numeral,
    Token,
    TokenKind,
    numeral,
    openings,
    stands_bare,
    thousands,
    unit_named,
)
from telltree.english.vocabulary import Entry, Vocabulary
from telltree.errors import SpeechError
from telltree.logic import Expression
from telltree.text import alike

_IN_RANGES = (*BOUNDS, "fewer than", "exactly", "and", "or", "to", "up to", "other than")
MOST_NESTED = 120  # nested parts; readers give up at three
MOST_PARTS = 200  # in all; formulas that telltree learns have fewer


class Cursor:
    """A position among the tokens of a text."""

    def __init__(
        self, tokens: tuple[Token, ...], vocabulary: Vocabulary, own: Mapping[str, Expression] | None = None
    ) -> None:
        self.tokens = tokens
        words = [f"{token.text.lower() if token.kind is not TokenKind.QUOTED else '“'} " for token in self.tokens]
        self._lower = "".join(words)  # one string, to be compared with many keywords at once
        self._begins = list(accumulate(map(len, words), initial=0))
        self.vocabulary = vocabulary
        bare = ((words.split(" "), e) for words, e in (own or {}).items() if stands_bare(words))
        self._own = sorted(bare, key=lambda pair: len(pair[0]), reverse=True)
        self.at = 0
        self.unit = ""
        """Unit of the last number."""
        self._bare_number = -1  # position after the last number that had no unit attached
        self._nested = 0
        self._parts = 0

    @property
    def next(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def place(self) -> tuple[int, int, int]:
        """The position, to return to if an attempt fails."""
        return self.at, self._nested, self._parts

    @place.setter
    def place(self, place: tuple[int, int, int]) -> None:
        self.at, self._nested, self._parts = place

    def sees(self, *keywords: str) -> bool:
        """Return True if one of these comes next."""
        return self._lower.startswith(keywords, self._begins[self.at]) and any(map(self._length, keywords))

    def take(self, *keywords: str) -> str | None:
        """Skip the first of these that comes next, and return it; None if none does."""
        if not self._lower.startswith(keywords, self._begins[self.at]):
            return None
        for keyword in keywords:
            if length := self._length(keyword):
                self.at += length
                return keyword
        return None

    def expect(self, *keywords: str) -> str:
        """Skip one of these, or raise SpeechError if none comes next."""
        found = self.take(*keywords)
        return self.fail(" or ".join(map(repr, keywords))) if found is None else found

    def _length(self, keyword: str) -> int:
        begin = self._begins[self.at]
        there = self._lower.startswith(keyword, begin) and self._lower[begin + len(keyword)] == " "
        return keyword.count(" ") + 1 if there else 0

    def take_words(self, words: str) -> bool:
        """Skip a user's words, bare or in quotes, if they come next; return True if so."""
        if self.next.kind is TokenKind.QUOTED:
            found = int(self.next.text == words)
        else:
            parts = words.split(" ")
            there = self.tokens[self.at : self.at + len(parts)]
            found = len(parts) * (
                [token.text for token in there] == parts and all(token.kind is TokenKind.WORD for token in there)
            )
        self.at += found
        return bool(found)

    def take_longest(self, choices: Iterable[str], numbers: bool = False, fold: bool = False) -> str | None:
        """Skip the longest of these texts that comes next, in quotes unless it may stand bare, and return it.

        With `fold`, accept one in other capitals if it is the only one.
        """
        is_quoted = self.next.kind is TokenKind.QUOTED
        ordered = sorted(
            (words for words in choices if is_quoted or stands_bare(words, numbers)), key=len, reverse=True
        )
        found = next(filter(self.take_words, ordered), None)
        return self._take_folded(ordered) if found is None and fold else found

    def _take_folded(self, choices: Sequence[str]) -> str | None:
        """Skip the only one of these texts that comes next in other capitals, and return it."""
        for length in range(1 if self.sees_quotation() else 8, 0, -1):
            there = self.tokens[self.at : self.at + length]
            text = " ".join(token.text for token in there).casefold()
            found = [words for words in choices if words.casefold() == text] if text else []
            if len(found) == 1:
                self.at += length
                return found[0]
        return None

    def sees_quotation(self) -> bool:
        """Return True if a quotation comes next."""
        return self.next.kind is TokenKind.QUOTED

    def take_quoted(self) -> str | None:
        """Skip a quotation and return its text; None if none comes next."""
        if not self.sees_quotation():
            return None
        self.at += 1
        return self.tokens[self.at - 1].text

    def entries(self) -> tuple[int, list[Entry | Expression]]:
        """Return the number of next tokens that are a user's words, as many as possible, and their meanings."""
        length, found = self._entries()
        for words, e in self._own:
            if len(words) > max(length, self._opening()) and self._has(words):
                return len(words), [e]
        return length, [*found]

    def _has(self, words: list[str]) -> bool:
        """Return True if these words come next; the first of a text may have a capital letter."""
        there = self.tokens[self.at : self.at + len(words)]
        texts = [token.text for token in there if token.kind is TokenKind.WORD]
        return texts == words or (self.at == 0 and texts == [words[0][0].upper() + words[0][1:], *words[1:]])

    def _entries(self) -> tuple[int, list[Entry]]:
        """Match the words of the vocabulary."""
        tokens: Sequence[Token] = self.tokens
        length, found = self.vocabulary.match(tokens, self.at)
        if not length and self.at == 0 and tokens[0].text:
            first = tokens[0]  # a sentence may begin with a capital letter
            turned = Token(first.text[0].swapcase() + first.text[1:], first.kind, first.place)
            length, found = self.vocabulary.match((turned, *tokens[1:]), 0)
        if not length and self._length("the"):
            length, found = self.vocabulary.match(tokens, self.at + 1)
            if length:  # "the difference" is a keyword, whatever a column is called
                return (length + 1, found) if length >= self._opening() else (0, [])
        elif not length:
            length, found = self.vocabulary.match(tokens, self.at, article=True)
        return (0, []) if length and length < self._opening() else (length, found)

    def _opening(self) -> int:
        """Return the number of next tokens that are keywords for a part; they precede columns with fewer words."""
        return max(map(self._length, openings()))

    def take_number(self, units: Collection[str], sign: str = "") -> float | None:
        """Skip a number with its sign, and the unit after it, which is optional; None if no number comes next."""
        found = self.numeral(units, sign)
        if found is None:
            return None
        self.at += found.length
        self.unit = found.rest
        if not found.rest:
            self._bare_number = self.at
            self.unit = self.take_unit(units) or ""
        return found.value

    def numeral(self, units: Container[str], sign: str = "") -> Numeral | None:
        """Return the number that comes next, without skipping it; one of these units may be attached to it."""
        token = self.next
        if token.kind is not TokenKind.WORD or not token.text.startswith(sign):
            return None
        unsigned = Token(token.text.removeprefix(sign), TokenKind.WORD, token.place + len(sign))
        found = numeral((*self.tokens[: self.at], unsigned, *self.tokens[self.at + 1 :]), self.at)
        if found is not None and found.rest == "k" and "k" not in units:
            return thousands(found)
        return None if found is None or (found.rest and found.rest not in units) else found

    def take_unit(self, units: Iterable[str]) -> str | None:
        """Skip one of these units, as written or by another name, and return it."""
        known = [unit for unit in units if unit]
        found = self.take_longest(known)
        if (
            found is None
            and self.next.kind is TokenKind.WORD
            and (meant := unit_named(self.next.text, known)) is not None
        ):
            self.at += 1
            return meant
        return found

    def unit_ahead(self, units: Collection[str]) -> str:
        """Return the unit of a range, which stands after its last number: "between 3 and 5 min"."""
        start, unit, found = self.at, self.unit, ""
        while not found and (self.take(*_IN_RANGES) is not None or self.take_number(units) is not None):
            found = self.unit if self.unit else ""
            self.unit = ""
        self.at, self.unit = start, unit
        return found

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Raise SpeechError if parts are nested too deeply."""
        self._nested += 1
        if self._nested > MOST_NESTED:
            raise SpeechError(
                f"more than {MOST_NESTED} parts in one another; say it in shorter sentences", self.next.place
            )
        yield
        self._nested -= 1

    def count_part(self) -> None:
        """Raise SpeechError if there are too many parts."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise SpeechError(f"more than {MOST_PARTS} parts; say it in several texts", self.next.place)

    def fail(self, expected: str, choices: Iterable[str] = (), remedy: str = "") -> NoReturn:
        """Raise SpeechError with what was expected and found, the nearest of some choices, and a remedy."""
        words: list[str] = []
        for token in self.tokens[self.at : self.at + 8]:
            if token.kind in (TokenKind.MARK, TokenKind.END) or (words and token.text in ("is", "are")):
                break
            words.append(token.text[:100])
        near = alike(" ".join(words), choices, likeness=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        hint += f"; {remedy}" if remedy and (not near or self.sees_quotation()) else ""
        hint += self._about_numbers() if not hint else ""
        raise SpeechError(f"expected {expected}, found {str(self.next)[:100]}{hint}", self.next.place)

    def _about_numbers(self) -> str:
        """Return a hint about numbers where one cannot be read, or has unknown words after it."""
        text = self.next.text
        if self.next.kind is TokenKind.WORD and (text[:1].isdigit() or text.lower() in WORDS):
            return f"; {FORMS}"
        if (
            self.next.kind is TokenKind.MARK
            and self.tokens[self.at + 1].text[:1].isdigit()
            and self.at == self._bare_number
        ):
            return f"; {FORMS}"
        if self.next.kind is TokenKind.WORD and self.at == self._bare_number and stands_bare(text):
            return f"; {text[:50]!r} is neither a unit that is known here nor part of the number"
        return ""
