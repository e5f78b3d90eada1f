"""The nearest sentence that is understood, for a text that is not."""

from collections.abc import Callable, Iterator
from itertools import islice

from telltree.data import Column, ColumnType
from telltree.errors import SpeechError
from telltree.likeness import alike
from telltree.speech.numerals import numeral
from telltree.speech.tokens import Kind, Token, tokens_of
from telltree.speech.vocabulary import Vocabulary, is_clause
from telltree.speech.words import bare_or_quoted, number_words

Reach = Callable[[str], float]
"""At which character reading a text fails; infinity if it is understood."""
_LONGEST = 400  # characters of a text that is mended
_EDITS = 4  # at most
_TRIED = 40  # ways to mend one place
_WORDS = (
    "is",
    "is above",
    "is below",
    "above",
    "below",
    "at least",
    "at most",
    "always",
    "never",
    "at some point",
    "while",
)
_BELOW = {"below", "under", "beneath", "less", "lower", "smaller", "fewer", "drop", "drops", "falls", "<"}
_NEVER, _ALWAYS = {"never", "no", "not"}, {"always", "all", "every", "stays", "stay", "remains", "throughout"}


def with_suggestion(
    error: SpeechError, text: str, read: Callable[[str], object], vocabulary: Vocabulary
) -> SpeechError:
    """The error that a text cannot be read, with the nearest text that can, if there is one."""

    def reach(other: str) -> float:
        try:
            read(other)
        except SpeechError as stopped:
            return stopped.place or 1
        return float("inf")

    if len(text) > _LONGEST or not vocabulary.schema:
        return error
    found = _mended(text, reach, vocabulary) or _made(text, vocabulary)
    understood = found is not None and reach(found) == float("inf")
    return SpeechError(error.message, error.place, found) if understood else error


def _mended(text: str, reach: Reach, vocabulary: Vocabulary) -> str | None:
    """The text with a few words replaced, left out or put in where reading fails."""
    far = reach(text)
    for _ in range(_EDITS):
        tried = [(reach(other), other) for other in islice(_edits(text, far, vocabulary), _TRIED)]
        done = next((other for at, other in tried if at == float("inf")), None)
        if done is not None or not tried:
            return done
        left, at, other = min((len(other) - at, at, other) for at, other in tried)
        if left >= len(text) - far:
            return None
        text, far = other, at
    return None


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
    if tokens[at].text.lower() == "for":
        yield f"{text[:begin]}at{text[begin + 3 :]}"
    levels = [level for column in vocabulary.schema.values() for level in column.levels]
    for length in range(1, 5):
        span = tokens[at : at + length]
        if len(span) < length or any(token.kind is not Kind.WORD for token in span):
            break
        end = span[-1].place - 1 + len(span[-1].text)
        said = text[begin:end]
        for near in alike(said, [*vocabulary.by_words, *vocabulary.by_negated, *levels, *_WORDS], 3, 0.5):
            right = near if near in _WORDS else bare_or_quoted(near, numbers=near in levels)
            yield f"{text[:begin]}{right}{text[end:]}"
        if length == 1 and said.lower() not in _NEVER | _ALWAYS:  # without these it would say the opposite
            yield f"{text[:begin]}{text[end:].lstrip()}".rstrip()
    yield f"{text[:begin]}is {text[begin:]}"


def _made(text: str, vocabulary: Vocabulary) -> str | None:
    """A sentence about the column that the text seems to be about, with its numbers and words for when."""
    tokens = tokens_of(text)
    words = {token.text.lower() for token in tokens}
    adverb = "never" if words & _NEVER else "always" if words & _ALWAYS else ""
    column = _column(tokens, vocabulary)
    noun = vocabulary.noun(column)
    if column.type is ColumnType.BOOLEAN:
        clause = vocabulary.clause(column, True)
        if clause is None:
            return None
        return clause.with_adverb(adverb) if adverb and clause.verb else f"{adverb or 'at some point'} {clause}"
    if column.type is ColumnType.CATEGORICAL:
        if not column.levels:
            return None
        near = next((level for token in tokens for level in alike(token.text, column.levels)), column.levels[0])
        said = bare_or_quoted(near, numbers=True)
    else:
        numbers = [found.value for i in range(len(tokens) - 1) if (found := numeral(tokens, i)) is not None]
        said = f"{'below' if words & _BELOW else 'above'} {number_words(numbers[0] if numbers else 1)}"
    return f"{noun} is {adverb} {said}" if adverb else f"at some point {noun} is {said}"


def _column(tokens: tuple[Token, ...], vocabulary: Vocabulary) -> Column:
    """The column whose words are most like some of the text's, or the first."""
    for length in (4, 3, 2, 1):
        for at in range(len(tokens) - length):
            said = " ".join(token.text for token in tokens[at : at + length])
            for near in alike(said, vocabulary.by_words, likeness=0.75):
                return vocabulary.by_words[near][0]
    plain = [column for column in vocabulary.schema.values() if not is_clause(column)]
    return (plain or list(vocabulary.schema.values()))[0]
