"""A user's own wording: paraphrases in the parser's words, and suggestions for texts that it cannot read.

"Does pressure ever exceed 2?" becomes "at some point pressure is above 2". Every rule keeps the meaning, and changes
neither quotations nor a user's own words. Unknown words stay, so that the parser rejects them. New tokens have the
positions of those that they replace.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from telltree.english.tokens import Token, TokenKind, bare_or_quoted, number_words, numeral, tokens_of
from telltree.english.vocabulary import Vocabulary, is_clause, third_person
from telltree.errors import SpeechError
from telltree.panel import Column, ColumnType
from telltree.text import alike

SOMETIME = (
    "at some point", "at some time", "at some moment", "at some step", "at one point", "at least once", "sometimes",
    "sometime", "eventually", "ever",
)  # fmt: skip
_ALWAYS = ("at all times", "at every step", "at each step", "at every point", "at every moment", "for all time",
           "the whole time", "all the time", "throughout", "always")  # fmt: skip
_NEVER = ("at no time", "at no step", "not once", "never")
_TIMES = {"at some point": SOMETIME, "always": _ALWAYS, "never": _NEVER}
_POINT = tuple(
    f"{there} {article} {point} {when}"
    for there in ("is there", "was there", "there is", "there was", "is there ever", "was there ever")
    for article in ("a", "any", "some")
    for point in ("time", "point", "moment", "step")
    for when in ("when", "where", "at which", "in which")
)
_LEADS = (
    "please", "tell me whether", "tell me if", "is it true that", "in how many records", "for how many records",
    "in which records", "for which records",
)  # fmt: skip
_ABOVE = ("above", "over", "greater than", "more than", "higher than", "larger than", "bigger than")
_BELOW = ("below", "under", "beneath", "less than", "fewer than", "lower than", "smaller than")
_AT_LEAST = ("at least", "greater than or equal to", "more than or equal to", "equal to or greater than",
             "equal to or more than", "above or equal to", "at or above", "no less than", "not less than",
             "no lower than", "no smaller than")  # fmt: skip
_AT_MOST = ("at most", "less than or equal to", "smaller than or equal to", "equal to or less than",
            "equal to or smaller than", "below or equal to", "at or below", "no more than", "not more than",
            "no higher than", "no greater than", "no larger than", "up to")  # fmt: skip
_PREDICATES = (
    dict.fromkeys(_ABOVE, "above") | dict.fromkeys(_BELOW, "below") | dict.fromkeys(_AT_LEAST, "at least")
    | dict.fromkeys(_AT_MOST, "at most") | {f"not {words}": "at most" for words in _ABOVE}
    | {f"not {words}": "at least" for words in _BELOW} | {"not at least": "below", "not at most": "above"}
    | {"equal to": "exactly", "not equal to": "other than", "unequal to": "other than", "not exactly": "other than"}
)  # fmt: skip
"""Predicates of numbers. A negated one, like every bound, is false where the value is missing."""
_RISES = ("go", "get", "rise", "climb", "jump", "increase", "grow")
_FALLS = ("go", "get", "drop", "fall", "sink", "dip", "decrease")
_MOVES = (
    {f"{verb} {side}": "above" for verb in _RISES for side in ("above", "over", "past")}
    | {f"{verb} {side}": "below" for verb in _FALLS for side in ("below", "under", "beneath")}
    | {"exceed": "above", "surpass": "above", "reach": "at least", "equal": "exactly"}
)
"""Verbs, as they follow "does", and their predicates: to go above is to be above, at some point."""
_MOVES_OF_ONE = {
    " ".join([third_person(verb), *side]): predicate
    for (verb, *side), predicate in ((words.split(), predicate) for words, predicate in _MOVES.items())
}
_STAYS = ("stay", "remain")
_OPPOSITE = {"above": "at most", "below": "at least", "at least": "below", "exactly": "other than"}
_SIGNS = {
    "<": "below", "≤": "at most", "<=": "at most", ">": "above", "≥": "at least", ">=": "at least", "=": "exactly",
    "==": "exactly", "≠": "other than", "!=": "other than", "<>": "other than",
}  # fmt: skip
_SIGN = "<>=≤≥≠!"
_BEEN = {"been": "is", "exceeded": "exceeds", "gone": "goes", "got": "gets", "risen": "rises", "fallen": "falls",
         "dropped": "drops", "stayed": "stays", "remained": "remains", "reached": "reaches"}  # fmt: skip
_CONTRACTED = {
    f"{verb}n{mark}t": f"{verb} not" for verb in ("is", "are", "was", "were", "does", "do", "did") for mark in "'’"
}
_NEGATIONS = {"not", "no", "never", "neither", "nor"}
_ADVERBS = ("always", "never", "ever")
_ELSEWHERE = ("over", "under", "beneath", "up")
"""First words of predicates that are also used elsewhere: "or up to 3 steps later"."""
_MEASURES = ("by", "for", "at", "in")
"""Words before an amount that is not a predicate: "falls by more than 3"."""
_ENDS = ("while", "and", "or", "whenever")


def respelled(tokens: tuple[Token, ...], vocabulary: Vocabulary) -> tuple[Token, ...]:
    """Correct only the capitals of a user's words, and drop the final punctuation.

    So telltree's own sentences, as questions or in other capitals, keep all their words.
    """
    return _Text(tokens, vocabulary).respelled()


def paraphrased(tokens: tuple[Token, ...], vocabulary: Vocabulary) -> tuple[Token, ...]:
    """Apply all paraphrases to the tokens of a text."""
    return _Text(tokens, vocabulary).rewritten()


@dataclass(slots=True)
class _Word:
    """A token; `kept` if it is a user's own."""

    token: Token
    kept: bool

    @property
    def lower(self) -> str:
        """The text in lower case, to be compared with keywords; empty if it is a user's."""
        return self.token.text.lower() if self.token.kind is not TokenKind.QUOTED and not self.kept else ""


class _Text:
    """Tokens during rewriting."""

    def __init__(self, tokens: tuple[Token, ...], vocabulary: Vocabulary) -> None:
        self.vocabulary, self.end = vocabulary, tokens[-1]
        self.words = [_Word(token, token.kind is TokenKind.QUOTED) for token in _without_stop(tokens)]

    def respelled(self) -> tuple[Token, ...]:
        """Correct a user's words only."""
        self._keep_own_words()
        return self._tokens()

    def rewritten(self) -> tuple[Token, ...]:
        """Apply all rules, one after the other."""
        self.respelled()
        self._split_signs()
        for short, long in _CONTRACTED.items():
            self._replace_all((short,), long)
        self._begin()
        self._times_at_the_end()
        self._of_two()
        self._verbs()
        self._predicates()
        return self._tokens()

    def _tokens(self) -> tuple[Token, ...]:
        return (*(word.token for word in self.words), self.end)

    def _keep_own_words(self) -> None:
        """Mark a user's words as kept; correct their capitals, and replace names of columns by their words."""
        at = 0
        while at < len(self.words):
            tokens = [word.token for word in self.words]
            length, _ = self.vocabulary.match(tokens, at)
            if not length and not self.words[at].kept and (found := self.vocabulary.meant(tokens, at)) is not None:
                before = len(self.words)
                self._put(at, *found)
                length = found[0] + len(self.words) - before
            for word in self.words[at : at + length]:
                word.kept = True
            at += max(length, 1)

    def _split_signs(self) -> None:
        """Make tokens of signs of comparison: "pressure<2.8"."""
        at = 0
        while at < len(self.words):
            word, text = self.words[at], self.words[at].token.text
            signs = [i for i, c in enumerate(text) if c in _SIGN]
            if not word.kept and word.token.kind is TokenKind.WORD and signs and len(text) > len(signs):
                first, last = signs[0], signs[-1] + 1
                parts = [(text[:first], 0), (text[first:last], first), (text[last:], last)]
                self.words[at : at + 1] = [
                    _Word(Token(part, TokenKind.WORD, word.token.place + far), False) for part, far in parts if part
                ]
                self._keep_own_words()
            at += 1

    def _begin(self) -> None:
        """Rewrite the beginnings of sentences: questions, and adverbs of time."""
        for at in reversed([0, *(i + 1 for i, word in enumerate(self.words) if word.token.text == ";")]):
            while self._drop(at, (*_LEADS, ",")):
                pass
            if length := self._longest(at, _POINT):
                self._put(at, length, "at some point")
            self._question(at)
            if length := self._longest(at, ("at no point", *_NEVER)):
                self._question(at + length)  # "at no point does pressure exceed 3"
            for adverb, ways in _TIMES.items():
                length = self._longest(at, ways)
                if length and (length > 1 or adverb == "at some point" or self._sees(at + 1, ",")):
                    self._put(at, length, adverb)
                    self._drop(at + len(adverb.split()), (",",))
                    break

    def _question(self, at: int) -> None:
        """Rewrite a question as a statement: "is the valve ever open" is "at some point the valve is open"."""
        verb = self._lower(at)
        if verb not in ("is", "are", "was", "were", "does", "do", "did", "has", "have"):
            return
        subject = self._subject(at + 1)
        if not subject:
            return
        adverb = self._lower(at + 1 + subject)
        behind = at + 1 + subject + (adverb in _ADVERBS)
        if verb in ("is", "are", "was", "were"):
            copula = "are" if verb in ("are", "were") else "is"
            self._insert(behind, copula if adverb not in ("always", "never") else f"{copula} {adverb}")
        elif behind >= len(self.words):
            return
        elif verb in ("has", "have"):
            if self._lower(behind) not in _BEEN:
                return
            self._put(behind, 1, _BEEN[self._lower(behind)])
        elif self._lower(at + 1) != "both":  # "both" keeps the plural
            self._put(behind, 1, third_person(self.words[behind].token.text))
        if adverb == "ever" or (verb in ("is", "are", "was", "were") and adverb in _ADVERBS):
            self._put(at + 1 + subject, 1, "")
        self._put(at, 1, "at some point" if adverb == "ever" else "")

    def _subject(self, at: int) -> int:
        """Return the number of words of the subject that begins here, which may be "both" and a plural; 0 if none."""
        if self._lower(at) == "both":
            return 2
        length = self.vocabulary.subject([word.token for word in self.words], at)
        if length or not self._sees(at, "the"):
            return length
        length = self.vocabulary.subject([word.token for word in self.words], at + 1)
        return length and length + 1

    def _of_two(self) -> None:
        """Expand a plural: "both pilots respond" is "both pilot 1 responds and pilot 2 responds"."""
        for at in range(len(self.words)):
            joint = {"both": "and", "either": "or"}.get(self._lower(at))
            subjects = self.vocabulary.numbered(self._text(at + 1)) if joint else []
            if len(subjects) != 2:
                continue
            stops = (i for i in range(at + 2, len(self.words)) if self._lower(i) in (*_ENDS, ",", ";"))
            stop = next(stops, len(self.words))
            predicate = [word.token for word in self.words[at + 2 : stop]]
            adverb = int(bool(predicate) and predicate[0].text.lower() in _ADVERBS)
            if len(predicate) <= adverb or (joint == "or" and self._text(at + 1) == predicate[0].text):
                continue
            if joint == "and":
                predicate[adverb] = Token(third_person(predicate[adverb].text), TokenKind.WORD, predicate[adverb].place)
            first, second = (
                [Token(word, TokenKind.WORD, predicate[0].place) for word in one.split()] for one in subjects
            )
            whole = [*first, *predicate, Token(str(joint), TokenKind.WORD, predicate[0].place), *second, *predicate]
            self.words[at + 1 : stop] = [_Word(token, False) for token in whole]
            return

    def _verbs(self) -> None:
        """Replace verbs by "is" and a predicate, with the adverb after "is"."""
        for at in reversed(range(len(self.words))):
            adverb = self._lower(at - 1) if at and self._lower(at - 1) in _ADVERBS else ""
            begin = at - bool(adverb)
            if self._sees(at, "does not ever") and (found := self._move(at + 3)):
                self._put(at, found[0] + 3, f"is never {found[1]}")
            elif self._sees(at, "does not") and (found := self._move(at + 2)) and adverb != "ever":
                self._put(begin, found[0] + 2 + bool(adverb), f"is {adverb} {_OPPOSITE[found[1]]}")
            elif found := self._move(at, third=True):
                self._put(begin, found[0] + bool(adverb), f"is {adverb} {found[1]}")
            elif not adverb and self._lower(at) in map(third_person, _STAYS) and not self._in_a_row:
                self._put(at, 1, "is always")
            elif self._lower(at) in ("was", "were"):
                self._put(at, 1, "is" if self._lower(at) == "was" else "are")
            elif length := self._longest(at, ("has been", "have been", "is not ever", "are not ever")):
                self._put(at, length, "is" if length == 2 else "is never")

    @property
    def _in_a_row(self) -> bool:
        """True if the text has "in a row", so that "stays" does not mean "is always"."""
        return any(self._sees(at, "in a row") for at in range(len(self.words)))

    def _move(self, at: int, third: bool = False) -> tuple[int, str] | None:
        """Return the number of words of the verb that begins here, and its predicate; None if none does."""
        moves = _MOVES_OF_ONE if third else _MOVES
        length = self._longest(at, moves)
        return (length, moves[" ".join(map(self._lower, range(at, at + length)))]) if length else None

    def _predicates(self) -> None:
        """Replace predicates of numbers, in words or signs; "is 3" becomes "is exactly 3"."""
        at = 0
        while at < len(self.words):
            predicate, length = self._predicate(at)
            if predicate is not None:
                self._put(at, length, predicate)
                length = len(predicate.split())
            elif self._is(at) or (self._is(at - 1) and self._lower(at) in _ADVERBS):
                if self._number(at + 1):
                    self._insert(at + 1, "exactly")
                elif self._lower(at + 1) == "not" and self._number(at + 2):
                    self._put(at + 1, 1, "other than")
            at += max(length, 1)

    def _predicate(self, at: int) -> tuple[str | None, int]:
        """Return the predicate that some words or a sign stand for, and the number of words to replace or skip."""
        if (predicate := _SIGNS.get(self._lower(at))) is not None:
            predicate = (
                predicate if self._number(at + 1) else {"exactly": "", "other than": "not"}.get(predicate, predicate)
            )
            return (predicate if self._is(at - 1) or self._is(at - 2) else f"is {predicate}"), 1
        length = self._longest(at, _PREDICATES)
        predicate = _PREDICATES[" ".join(map(self._lower, range(at, at + length)))] if length else ""
        if not predicate or (predicate in ("exactly", "other than") and not self._number(at + length)):
            return None, length
        place = self._is(at - 1) or self._lower(at - 1) in (*_ADVERBS, *map(third_person, _STAYS))
        if not place and (self._lower(at) in _ELSEWHERE or self._lower(at - 1) in _MEASURES):
            return None, length
        return predicate, length

    def _times_at_the_end(self) -> None:
        """Move an adverb of time to the front: "pressure is above 2 at some point"."""
        lowers = [self._lower(i) for i in range(len(self.words))]
        joints = [lower for lower in lowers if lower in ("and", "or", ";", ",")]
        of_both = lowers[:1] == ["both"] and joints == ["and"] and "are" in lowers[lowers.index("and") :]
        if not _NEGATIONS.isdisjoint(lowers) or (joints and not of_both):
            return  # the scope of the words would be ambiguous
        for adverb, ways in _TIMES.items():
            for way in sorted(ways, key=len, reverse=True):
                length = len(way.split())
                if len(lowers) - length > 0 and lowers[-length:] == way.split():
                    del self.words[-length:]
                    self._insert(0, adverb)
                    return

    def _is(self, at: int) -> bool:
        return self._lower(at) in ("is", "are")

    def _number(self, at: int) -> bool:
        return at < len(self.words) and numeral(self._tokens(), at) is not None

    def _lower(self, at: int) -> str:
        return self.words[at].lower if 0 <= at < len(self.words) else ""

    def _text(self, at: int) -> str:
        return self.words[at].token.text if at < len(self.words) else ""

    def _sees(self, at: int, *ways: str) -> bool:
        first = self._lower(at)  # rules most of them out
        near = [way.split(" ") for way in ways if way.startswith(first)] if first else []
        return any(all(self._lower(at + i) == word for i, word in enumerate(way)) for way in near)

    def _longest(self, at: int, ways: Iterable[str]) -> int:
        """Return the number of words of the longest of these that comes next, or 0."""
        first = self._lower(at)
        near = [way for way in ways if way.startswith(first)] if first else []
        return max((len(way.split()) for way in near if self._sees(at, way)), default=0)

    def _drop(self, at: int, ways: Iterable[str]) -> bool:
        length = self._longest(at, ways)
        self._put(at, length, "")
        return bool(length)

    def _replace_all(self, ways: tuple[str, ...], new: str) -> None:
        for at in reversed(range(len(self.words))):
            if length := self._longest(at, ways):
                self._put(at, length, new)

    def _insert(self, at: int, new: str) -> None:
        self._put(at, 0, new)

    def _put(self, at: int, length: int, new: str | Token) -> None:
        """Replace `length` words from `at` on."""
        near = self.words[at].token if at < len(self.words) else self.end
        tokens = [Token(word, TokenKind.WORD, near.place) for word in new.split()] if isinstance(new, str) else [new]
        self.words[at : at + length] = [_Word(token, False) for token in tokens]


def _without_stop(tokens: tuple[Token, ...]) -> list[Token]:
    """Drop the end token, and the punctuation that ends the sentence."""
    found = list(tokens[:-1])
    if found and found[-1].kind is TokenKind.WORD and (bare := found[-1].text.rstrip("?!.")) != found[-1].text:
        found[-1:] = [Token(bare, TokenKind.WORD, found[-1].place)] if bare else []
    return found


# ---- Suggestions: the nearest readable sentence for a text that cannot be read.

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
    found = _repaired(text, reach, vocabulary) or _composed(text, vocabulary)
    readable = found is not None and reach(found) == float("inf")
    return SpeechError(error.message, error.place, found) if readable else error


def _repaired(text: str, reach: Reach, vocabulary: Vocabulary) -> str | None:
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


def _composed(text: str, vocabulary: Vocabulary) -> str | None:
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
