"""Suggestions: the nearest readable sentence for a text that cannot be read."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from telltree.english.vocabulary import Vocabulary, is_clause
from telltree.english.words import Token, TokenKind, bare_or_quoted, number_words, numeral, tokens_of
from telltree.errors import SpeechError
from telltree.panel import Column, ColumnType
from telltree.text import alike

Reach = Callable[[str], float]
"""Returns the position in a text at which reading it fails; infinity if it can be read."""
_DENIES = re.compile(r"\b(?:never|no|not|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_THEN = re.compile(r",? then\b", re.IGNORECASE)
_LONGEST = 400  # characters of a text that is repaired
_EDITS = 4  # at most
_TRIED = 40  # repairs at one place
_WORDS = (
    "is",
    "is above",
    "is below",
    "above",
    "below",
    "at least",
    "at most",
    "while",
)
_WHEN = ("always", "never", "at some point")
"""Words that change the meaning most, and so are suggested only for very similar ones."""
_DOWNWARD = {"below", "under", "beneath", "less", "lower", "smaller", "fewer", "drop", "drops", "falls", "<"}
_DENYING, _LASTING = {"never", "no", "not"}, {"always", "all", "every", "stays", "stay", "remains", "throughout"}


def with_suggestion(
    error: SpeechError, text: str, read: Callable[[str], object], vocabulary: Vocabulary
) -> SpeechError:
    """Add to an error the nearest text that can be read, if there is one."""

    def reach(other: str) -> float:
        try:
            read(other)
        except SpeechError as stopped:
            return stopped.place or 1
        return float("inf")

    if len(text) > _LONGEST or not vocabulary.schema:
        return error
    found = _mended(text, reach, vocabulary) or _made(text, vocabulary)
    readable = found is not None and reach(found) == float("inf")
    return SpeechError(error.message, error.place, found) if readable else error


def _mended(text: str, reach: Reach, vocabulary: Vocabulary) -> str | None:
    """Repair a text by replacing, omitting or inserting a few words where reading fails; None if that does not help."""
    far = reach(text)
    for _ in range(_EDITS):
        edits = (other for other in _edits(text, far, vocabulary) if _denies(other) or not _denies(text))
        tried = [(reach(other), other) for other in islice(edits, _TRIED)]
        done = next((other for at, other in tried if at == float("inf")), None)
        if done is not None or not tried:
            return done
        left, at, other = min((len(other) - at, at, other) for at, other in tried)
        if left >= len(text) - far:
            return None
        text, far = other, at
    return None


def _denies(text: str) -> bool:
    """Return True if a text contains a negation; a repair must not lose it."""
    return _DENIES.search(text) is not None


def _edits(text: str, far: float, vocabulary: Vocabulary) -> Iterator[str]:
    tokens = tokens_of(text)
    at = next((i for i, token in enumerate(tokens) if token.place >= far), len(tokens) - 1)
    begin = tokens[at].place - 1
    if far <= 1:
        yield f"at some point {text}"
    if tokens[at].text.lower() == "and":
        yield f"{text[:begin]}while{text[begin + 3 :]}"
        yield f"{text[:begin].rstrip()}, and{text[begin + 3 :]}"
        yield f"{text[:begin].rstrip()}, and at some point{text[begin + 3 :]}"
    if tokens[at].text.lower() == "but":
        yield f"{text[:begin]}and{text[begin + 3 :]}"
    if tokens[at].text.lower() in ("if", "when"):
        yield f"{text[:begin]}whenever{_THEN.sub(',', text[begin + len(tokens[at].text) :], 1)}"
    if tokens[at].text.lower() == "for":
        yield f"{text[begin:]}, {text[:begin].rstrip()}"
        yield f"{text[:begin]}at{text[begin + 3 :]}"
    levels = [level for column in vocabulary.schema.values() for level in column.levels]
    for length in range(1, 5):
        span = tokens[at : at + length]
        if len(span) < length or any(token.kind is not TokenKind.WORD for token in span):
            break
        end = span[-1].place - 1 + len(span[-1].text)
        part = text[begin:end]
        names = [*vocabulary.by_words, *vocabulary.by_negated, *levels, *_WORDS]
        for near in (*alike(part, _WHEN, likeness=0.75), *alike(part, names, 3, 0.5)):
            right = near if near in _WORDS or near in _WHEN else bare_or_quoted(near, numbers=near in levels)
            yield f"{text[:begin]}{right}{text[end:]}"
        if length == 1 and part.lower() not in _DENYING | _LASTING:  # omitting these would reverse the meaning
            yield f"{text[:begin]}{text[end:].lstrip(' ,' if not begin else ' ')}".rstrip()
    yield f"{text[:begin]}is {text[begin:]}"


def _made(text: str, vocabulary: Vocabulary) -> str | None:
    """Compose a sentence about the column that the text seems to be about, with its numbers and adverbs."""
    tokens = tokens_of(text)
    words = {token.text.lower() for token in tokens}
    denied, always = _denies(text), bool(words & _LASTING)
    not_always = denied and always and "never" not in words
    adverb = "" if not_always else "never" if denied else "always" if always else ""
    negation = "not " * not_always  # not always is at some point not
    column, behind = _column(tokens, vocabulary)
    noun = vocabulary.noun(column)
    if column.type is ColumnType.BOOLEAN:
        clause = vocabulary.clause(column, not negation)
        if clause is None:
            return None
        return clause.with_adverb(adverb) if adverb and clause.verb else f"{adverb or 'at some point'} {clause}"
    if column.type is ColumnType.CATEGORICAL:
        if not column.levels:
            return None
        level = next((level for token in tokens for level in alike(token.text, column.levels)), column.levels[0])
        predicate = bare_or_quoted(level, numbers=True)
    else:
        numbers = [(i, found.value) for i in range(len(tokens) - 1) if (found := numeral(tokens, i)) is not None]
        at, number = next((one for one in numbers if one[0] >= behind), numbers[0] if numbers else (len(tokens), 1.0))
        near = {token.text.lower() for token in tokens[behind if behind <= at else 0 : at]}
        predicate = f"{'below' if near & _DOWNWARD else 'above'} {number_words(number)}"
    return f"{noun} is {adverb} {predicate}" if adverb else f"at some point {noun} is {negation}{predicate}"


def _column(tokens: tuple[Token, ...], vocabulary: Vocabulary) -> tuple[Column, int]:
    """Find the column whose words are most like some of the text's, or the first, and the position after them."""
    for length in (4, 3, 2, 1):
        for at in range(len(tokens) - length):
            part = " ".join(token.text for token in tokens[at : at + length])
            for near in alike(part, vocabulary.by_words, likeness=0.75):
                return vocabulary.by_words[near][0], at + min(length, len(near.split(" ")))
    plain = [column for column in vocabulary.schema.values() if not is_clause(column)]
    return (plain or list(vocabulary.schema.values()))[0], 0
