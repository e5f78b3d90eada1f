"""Parser of English: reads every sentence that `say` writes, and a little more."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from telltree.english.conversion import expression_of
from telltree.english.cursor import Cursor
from telltree.english.normal_form import restricted
from telltree.english.read_clause import ClauseReader, ReadClause
from telltree.english.read_signal import SignalReader
from telltree.english.read_times_and_positions import CountReader, PositionReader
from telltree.english.synonyms import paraphrased, respelled, with_suggestion
from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    CountIn,
    Domains,
    Eventually,
    Globally,
    Opaque,
    Or,
    OrderIn,
    Term,
    ValueIn,
    all_of,
    one_of,
)
from telltree.english.tokens import TokenKind, tokens_of
from telltree.english.vocabulary import Vocabulary, attribute, static_columns, vocabulary
from telltree.english.write_times_and_positions import Steps
from telltree.errors import SpeechError
from telltree.logic import Attribute, Expression, Type, UserFunction
from telltree.panel import Schema
from telltree.panel.dates import StepLength

_EXACT = Domains()
_SO = ("it is so that", "it is not so that", "it is always so", "it is never so")
_ALWAYS = (
    "always", "at each step", "it is always so that", "it is always the case that", "never", "it is never so that",
    "it is never the case that", "at no point", "whenever",
)  # fmt: skip
_MOST_PARAPHRASED = 400
"""Words of the longest text that is paraphrased, which takes time quadratic in their number."""


def read(
    text: str,
    schema: Schema,
    *,
    functions: Sequence[UserFunction] = (),
    step: StepLength | None = None,
    sentences: Iterable[tuple[str, Expression]] = (),
    missing: Container[str] | None = None,
) -> Expression:
    """Read a text as a formula; raise SpeechError with the position and what was expected if that is not possible.

    The text may call `functions`. `step` is the length of a step and its unit, if steps have one. `sentences` are a
    grammar's or function's phrases that the text may contain, with their meanings: sentences and signals in quotes,
    and names of columns; see `quotations`. The formula is right for records in which only columns of `missing` have
    missing values (None: any may).
    """
    how = _Reading(schema, tuple(functions), step, tuple(sentences), missing)
    return _suggesting(how.formula, text, how.vocabulary)


def read_sentence(
    text: str,
    schema: Schema,
    *,
    functions: Sequence[UserFunction] = (),
    step: StepLength | None = None,
    sentences: Iterable[tuple[str, Expression]] = (),
    missing: Container[str] | None = None,
    suggest: bool = True,
) -> Expression:
    """Read a text as a formula of a whole record; raise SpeechError if it does not say when it is true.

    With `suggest`, the error has a suggestion.
    """
    how = _Reading(schema, tuple(functions), step, tuple(sentences), missing)

    def sentence(given: str) -> Expression:
        found = how.formula(given)
        if found.type is not Type.BOOLEAN:
            raise SpeechError("it is not said when this is so; begin with 'at some point', 'always' or 'never'", 1)
        return found

    return _suggesting(sentence, text, how.vocabulary) if suggest else sentence(text)


def _suggesting(reading: Callable[[str], Expression], text: str, words: Vocabulary) -> Expression:
    try:
        return reading(text)
    except SpeechError as error:
        raise with_suggestion(error, text, reading, words) from None


@dataclass(frozen=True)
class _Reading:
    """The arguments of `read`."""

    schema: Schema
    functions: tuple[UserFunction, ...]
    step: StepLength | None
    sentences: tuple[tuple[str, Expression], ...]
    missing: Container[str] | None

    @property
    def vocabulary(self) -> Vocabulary:
        return _vocabulary(self.schema, self.functions, dict(self.sentences))

    def formula(self, text: str) -> Expression:
        """Read a text as a formula."""
        witness = next(map(attribute, self.schema.values()), None)
        return expression_of(restricted(self._term(text), Domains(self.missing)), self.missing, witness)

    def _strict(self, text: str) -> Term:
        own, missing = self.sentences, self.missing
        return read_term(text, self.schema, functions=self.functions, step=self.step, sentences=own, missing=missing)

    def _term(self, text: str) -> Term:
        """Read a text as a term, paraphrased if necessary."""
        try:
            return self._strict(text)
        except SpeechError as error:
            furthest = error
        tokens = tokens_of(text)
        if len(tokens) > _MOST_PARAPHRASED:
            raise furthest
        own = _rules(dict(self.sentences))
        for rewritten in (respelled, paraphrased):
            try:
                cursor = Cursor(rewritten(tokens, self.vocabulary), self.vocabulary, own)
                return _Reader(cursor, own, Steps.of(self.step), self.missing).text()
            except SpeechError as error:
                furthest = error if (error.place or 0) > (furthest.place or 0) else furthest
        raise furthest


def read_term(
    text: str,
    schema: Schema,
    *,
    functions: Sequence[UserFunction] = (),
    step: StepLength | None = None,
    sentences: Iterable[tuple[str, Expression]] = (),
    missing: Container[str] | None = None,
) -> Term:
    """Read a text as a term, neither simplified nor reordered; without paraphrases."""
    own = dict(sentences)
    if text.strip() in own:
        return Opaque(own[text.strip()], True)
    words, own = _vocabulary(schema, functions, own), _rules(own)
    try:
        return _Reader(Cursor(tokens_of(text), words, own), own, Steps.of(step), missing).text()
    except SpeechError:
        if not text.rstrip().endswith("."):
            raise
        return _Reader(Cursor(tokens_of(text.rstrip()[:-1]), words, own), own, Steps.of(step), missing).text()


def _vocabulary(schema: Schema, functions: Sequence[UserFunction], own: Mapping[str, Expression]) -> Vocabulary:
    columns = ((words, e.head.name) for words, e in own.items() if isinstance(e.head, Attribute))
    return vocabulary(schema, tuple(functions), tuple(pair for pair in columns if pair[1] in schema))


def _rules(own: Mapping[str, Expression]) -> dict[str, Expression]:
    """Select the phrases that are not those of a column, and so not in the vocabulary."""
    return {words: e for words, e in own.items() if not isinstance(e.head, Attribute)}


class _Reader:
    """Reads terms at a cursor. `nested` parts may be about a later step than the first; `lone` parts are in no choice.

    See `SentenceWriter` for open and closed parts.
    """

    def __init__(
        self, cursor: Cursor, sentences: dict[str, Expression], steps: Steps, missing: Container[str] | None
    ) -> None:
        self._cursor, self._missing = cursor, missing
        self._terse = False  # verbs may be left out
        self._counts = CountReader(cursor, steps)
        self._domains = Domains(static=static_columns(cursor.vocabulary.schema))
        self._witness = next(map(attribute, cursor.vocabulary.schema.values()), None)
        self._positions = PositionReader(cursor, steps)
        signals = SignalReader(cursor, sentences, self._operand, steps)
        self._clauses = ClauseReader(cursor, signals, self._positions, self._counts)

    def text(self) -> Term:
        """Read the whole text: sentences joined by "and" or by "or"."""
        cursor, each, joint = self._cursor, False, None
        parts: list[Term] = []
        while not parts or cursor.next.kind is not TokenKind.END:
            if parts:
                joint = self._between_sentences(joint)
            if cursor.take("each at some point:", "each at some point"):
                each = self._terse = True
            if each and joint == "or":
                cursor.fail("'and' between what is so at some point each")
            parts.append(Eventually(self._moment()) if each else self._sentence())
        return one_of(parts) if joint == "or" else all_of(parts)

    def _between_sentences(self, joint: str | None) -> str | None:
        """Skip the separator of two sentences, and return its "and" or "or"; `joint` is that of earlier ones."""
        cursor = self._cursor
        if not cursor.take(";") and not cursor.sees(", and"):
            cursor.fail("the end, ';' or ', and'")
        cursor.take(",")
        found = cursor.take("and", "or")
        if joint is not None and found is not None and found != joint:
            cursor.fail(f"{joint!r} between all sentences or none")
        return found or joint

    def _sentence(self) -> Term:  # noqa: PLR0911  one return a keyword
        """Read a sentence outside lists, which may be an open part."""
        cursor = self._cursor
        scope = None if cursor.entries()[0] else self._positions.take_scope()
        if scope is not None:
            return self._scoped(scope)
        if cursor.take("at some point"):
            cursor.take(",")
            return Eventually(self._moment())
        if self._takes_last_step():
            cursor.take(",")
            return Eventually(Globally(self._moment()))
        times = self._counts.take()
        if times is not None:
            return CountIn(self._moment(), times)
        if cursor.sees(*_ALWAYS):
            return self._always(True)
        part = self._part(False, True)
        plain = isinstance(part, ReadClause) and not part.adverb and not part.verbless
        if isinstance(part, ReadClause) and plain and cursor.sees("whenever"):
            return self._rules(part.literal)
        if isinstance(part, ReadClause) and part.adverb == "never" and cursor.sees("while", ", while"):
            return self._never_while(part)
        times = self._counts.take_behind() if isinstance(part, ReadClause) and plain else None
        if isinstance(part, ReadClause) and times is not None:
            return CountIn(part.literal, times)
        further = self._clauses.same_subject(part) if isinstance(part, ReadClause) else []
        return all_of([self._finished(one, False) for one in (part, *further)])

    def _rules(self, then: Term) -> Term:
        """Read "whenever" after a conclusion, and further rules about the same signal."""
        cursor, rules = self._cursor, []
        while cursor.take("whenever"):
            rules.append(Globally(Or((_EXACT.negated(self._item(True, True)), then))))
            start, further = cursor.at, None
            if isinstance(then, ValueIn) and cursor.take(", and", "and"):
                further = self._clauses.further(then.signal)
            if further is None:
                cursor.at = start
                break
            then = further
            if not cursor.sees("whenever"):
                cursor.expect("whenever")
        return all_of(list(rules))

    def _scoped(self, scope: ValueIn) -> Term:
        """Read a sentence after its position in the record."""
        cursor = self._cursor
        if cursor.take("at some point"):
            cursor.take(",")
            return Eventually(all_of([scope, self._moment()]))
        times = self._counts.take()
        if times is not None:
            return CountIn(all_of([scope, self._moment()]), times)
        if cursor.sees(*_ALWAYS):
            found = self._always(True)
        else:
            part = self._part(True, True)
            if not isinstance(part, ReadClause) or not part.adverb:
                cursor.fail("'at some point', 'always' or 'never' in a sentence about a part of the record")
            found = self._never_while(part)
        if isinstance(found, Eventually):
            return Eventually(all_of([scope, found.part]))
        assert isinstance(found, Globally)
        return Globally(Or((_EXACT.negated(scope), found.part)))

    def _moment(self) -> Term:
        """Read what is true at one step: items, and at the end what is true from then on, or later."""
        cursor = self._cursor
        with cursor.deeper():
            if cursor.take("then or later"):
                cursor.take(",")
                return Eventually(self._moment())
            if cursor.take("from then on"):
                return self._always(True)
            parts = self._while()
            if self._sees_other_steps():
                cursor.expect(", and")
                parts.append(self._item(True, True))
            elif cursor.take(", and from then on"):
                parts.append(self._always(True))
            elif cursor.take(", and then or later"):
                cursor.take(",")
                parts.append(Eventually(self._moment()))
            return all_of(parts)

    def _sees_other_steps(self) -> bool:
        """Return True if ", and" comes next, and then parts about other steps."""
        cursor, start = self._cursor, self._cursor.at
        found = cursor.take(", and") is not None
        several = found and cursor.take("both", "all of these:") is not None
        later = several and cursor.sees("from then on", "then or later")
        found = found and (later or self._clauses.sees_other_steps())
        cursor.at = start
        return found

    def _while(self, first: Term | None = None) -> list[Term]:
        """Read an item, and what is true at the same time ("while")."""
        parts = [self._item(True, True) if first is None else first]
        if self._cursor.take("while", ", while"):
            parts.append(self._item(True, True))
            ended = self._cursor.sees(", and from then on", ", and then or later") or self._sees_other_steps()
            if self._cursor.sees("and", ",") and not ended:
                parts += self._rest_of_list("and", True, True)
        return parts

    def _rest_of_list(self, joint: str, nested: bool, lone: bool) -> list[Term]:
        """Read the other items of a list, up to the one after `joint`."""
        cursor, parts = self._cursor, []
        while cursor.take(",") and not cursor.sees(joint):
            parts.append(self._item(nested, lone))
        cursor.expect(joint)
        return [*parts, self._item(nested, lone)]

    def _item(self, nested: bool, lone: bool) -> Term:
        """Read a closed part."""
        return self._finished(self._part(nested, lone), nested)

    def _finished(self, part: Term | ReadClause, nested: bool) -> Term:
        if not isinstance(part, ReadClause):
            return part
        if part.verbless and not self._terse:
            self._cursor.fail("'is' before what something is")
        timeless = isinstance(part.literal, ValueIn | OrderIn) and self._domains.is_static(part.literal)
        if timeless and not nested and not part.adverb:
            return Eventually(part.literal)
        if part.adverb and nested:
            self._cursor.fail(f"no {part.adverb!r} inside a sentence unless 'from then on' goes before it")
        return _with_adverb(part)

    def _part(self, nested: bool, lone: bool) -> Term | ReadClause:
        """Read a closed part; a clause may still have an adverb, or no verb."""
        cursor = self._cursor
        cursor.count_part()
        if cursor.sees("the record lasts"):
            return self._length(nested)
        steps = self._positions.take_steps()
        if steps is not None:
            return ReadClause(steps)
        with cursor.deeper():
            if not cursor.entries()[0]:
                found = self._list(nested, lone) or self._in_time(nested, lone) or self._so(nested, lone)
                found = found or self._positions.take_passed() or (None if nested else self._clauses.of_record())
                if found is not None:
                    return found
            return self._clauses.clause(lone)

    def _list(self, nested: bool, lone: bool) -> Term | None:
        cursor = self._cursor
        match cursor.take("either", "both", "all of"):
            case "either":
                merged = self._clauses.several_columns("or", "is")
                return Or(tuple([self._finished(m, nested) for m in merged] or self._choices(nested)))
            case "both" | "all of":
                merged = self._clauses.several_columns("and", "are")
                if merged:
                    return And(tuple(self._finished(part, nested) for part in merged))
                cursor.take("these:")
                return And((self._item(nested, lone), *self._rest_of_list("and", nested, lone)))
        return None

    def _choices(self, nested: bool) -> list[Term]:
        """Read the items of a choice. "A while B" may be an item; the last one only if a comma precedes the "or"."""
        cursor, parts, last, comma = self._cursor, [], False, True
        while True:
            part = self._item(nested, False)
            parts.append(self._at_the_same_time(part, nested) if comma or not last else part)
            if last:
                return parts
            comma = cursor.take(",") is not None
            last = cursor.take("or") is not None
            if not comma and not last:
                cursor.expect("or")

    def _at_the_same_time(self, first: Term, nested: bool) -> Term:
        """Read what is true at the same time ("while") as an item of a choice."""
        if not self._cursor.take("while"):
            return first
        over_time = isinstance(first, Eventually) and not isinstance(first.part, Globally)
        parts = [self._item(nested or over_time, False)]
        if self._cursor.take("and"):
            parts.append(self._item(nested or over_time, False))
        if isinstance(first, Eventually) and over_time:
            return Eventually(And((first.part, *parts)))
        return And((first, *parts))

    def _in_time(self, nested: bool, lone: bool) -> Term | None:  # noqa: PLR0911  one return a keyword
        cursor = self._cursor
        if self._takes_last_step():
            cursor.take(",")
            return Eventually(Globally(self._item(True, lone)))
        times = self._counts.take()
        if times is not None:
            return CountIn(self._item(True, lone), times)
        if nested:
            if cursor.take("then or later"):
                cursor.take(",")
                return Eventually(self._item(True, lone))
            if cursor.take("from then on"):
                return self._always(False, lone)
            if cursor.sees("at some point", *_ALWAYS):
                cursor.fail("'then or later' or 'from then on' inside a sentence")
            return None
        if cursor.take("at some point"):
            cursor.take(",")
            return Eventually(self._item(True, lone))
        if cursor.sees(*_ALWAYS):
            return self._always(False, lone)
        return None

    def _takes_last_step(self) -> bool:
        cursor = self._cursor
        return not cursor.sees("at the last step so far") and cursor.take("at the last step", "at the end") is not None

    def _length(self, nested: bool) -> Term:
        if nested:
            self._cursor.fail("how long the record lasts not inside a sentence, but in one of its own")
        found = self._positions.take_length()
        assert found is not None
        return found

    def _so(self, nested: bool, lone: bool) -> Term | None:
        """Read "it is so that …", "it is not so that …", and plain true or false."""
        cursor = self._cursor
        if cursor.sees("it is never so for"):
            return None
        match cursor.take(*_SO):
            case "it is so that":
                return self._item(nested, lone)
            case "it is not so that":
                return _EXACT.negated(self._item(nested, lone))
            case "it is always so":
                return TRUE
            case "it is never so":
                return FALSE
        return None

    def _always(self, is_open: bool, lone: bool = True) -> Term:
        """Read what is always true, never true, or true whenever something else is."""
        cursor = self._cursor
        match cursor.take(*_ALWAYS):
            case "always" | "it is always so that" | "it is always the case that" | "at each step":
                cursor.take(",")
                return Globally(self._item(True, lone))
            case "never" | "it is never so that" | "it is never the case that" | "at no point":
                return Globally(_EXACT.negated(self._never(is_open, lone)))
            case "whenever":
                given = [self._given(lone) if is_open else self._item(True, lone)]
                if cursor.take("while", ", while"):
                    given.append(self._item(True, lone))
                cursor.take(",")
                later = is_open and cursor.sees("then or later", "from then on")
                then = self._moment() if later else self._item(True, lone)
                if is_open and not later and (cursor.sees("and") or (cursor.sees(",") and not cursor.sees(", and"))):
                    then = And((then, *self._rest_of_list("and", True, lone)))
                return Globally(Or((*map(_EXACT.negated, given), then)))
        part = self._part(True, lone)
        if isinstance(part, ReadClause) and part.adverb:
            return self._never_while(part) if is_open else _with_adverb(part)
        return Globally(part.literal if isinstance(part, ReadClause) else part)

    def _never_while(self, part: ReadClause) -> Term:
        """Read what a clause with "never" excludes: "x is never above 3 while A"."""
        if part.adverb != "never" or part.verbless:
            return _with_adverb(part)
        return Globally(_EXACT.negated(all_of(self._while(part.literal))))

    def _given(self, lone: bool) -> Term:
        """Read the condition of "whenever": an item, or a choice, which needs no "either" because a comma ends it."""
        start = self._cursor.place
        try:
            found = [self._item(True, False)]
            while self._cursor.take("or"):
                found.append(self._item(True, False))
        except SpeechError:  # not a choice: let the error be about the item
            found = []
        if len(found) > 1 and self._cursor.sees(","):
            return Or(tuple(found))
        self._cursor.place = start
        return self._item(True, lone)

    def _never(self, is_open: bool, lone: bool) -> Term:
        """Read what is never true: items, or clauses without verbs that are never true at once."""
        first = self._part(True, lone)
        if isinstance(first, ReadClause) and first.verbless:
            return self._at_once(first)
        if isinstance(first, ReadClause):
            first = _with_adverb(first)
        return all_of(self._while(first) if is_open else [first])

    def _at_once(self, first: ReadClause) -> Term:
        cursor, clauses = self._cursor, [first]
        while cursor.take(",") and not cursor.sees("and"):
            cursor.count_part()
            clauses.append(self._clauses.clause(False))
        cursor.expect("and")
        clauses.append(self._clauses.clause(False))
        cursor.expect("at once")
        return And(tuple(clause.literal for clause in clauses))

    def _operand(self) -> Expression:
        """Read a Boolean operand of a function or a count."""
        return expression_of(restricted(self._item(True, False), Domains(self._missing)), self._missing, self._witness)


def _with_adverb(clause: ReadClause) -> Term:
    match clause.adverb:
        case "always":
            return Globally(clause.literal)
        case "never":
            return Globally(_EXACT.negated(clause.literal))
        case "ever":
            return Eventually(clause.literal)
    return clause.literal
