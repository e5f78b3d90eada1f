"""Terms to English, by the shortest of several wordings that is read back alike."""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from telltree.english.conversion import direct_term, expression_of, is_boolean, literal_of
from telltree.english.normal_form import restricted, same
from telltree.english.read_sentence import read_term
from telltree.english.simplify_clocks import in_lengths
from telltree.english.terms import (
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
    has_own_phrase,
    is_about_position,
    one_of,
)
from telltree.english.tokens import OR_AT_THE_START, QUOTED, stands_bare
from telltree.english.value_sets import Truths
from telltree.english.vocabulary import attribute, is_clause, static_columns, vocabulary
from telltree.english.write_clause import (
    ClauseWriter,
    WeighedText,
    all_true,
    gathered,
    is_list,
    listed,
    one_true,
    weighed,
    with_shared_subjects,
)
from telltree.english.write_signal import SignalWriter
from telltree.english.write_times_and_positions import Steps
from telltree.errors import SpeechError
from telltree.logic import Attribute, Expression, UserFunction
from telltree.logic.operators import CHANGE, FALL, LATEST, RISE, Operator
from telltree.panel import Schema
from telltree.panel.dates import StepLength


def say(term: Term, schema: Schema, *, step: StepLength | None = None, missing: Container[str] | None = None) -> str:
    """Write a term in plain English: "at some point pressure is at least 4.22 bar while the valve is open".

    `step` is the length of a step and its unit, if steps have one: (1.0, "s"). `missing` names the columns that may
    have missing values (None: any may). A user's words that could be confused with others are in quotes. `read`
    returns an equivalent expression. The text is not escaped for pages or terminals.
    """
    return text_with_quotations(term, schema, step=step, missing=missing)[0]


def word_count(
    term: Term, schema: Schema, *, step: StepLength | None = None, missing: Container[str] | None = None
) -> int:
    """Count the words that `say` needs for a term, without trying to read them back, which may add quotes."""
    parts = list(_expressions(term))
    functions = _functions(parts)
    called = SentenceWriter(schema, functions, step, missing).signals.own_words(parts)
    writer = SentenceWriter(schema, functions, step, missing, called=called)
    return len(writer.text(_with_lengths(term, step, missing)).text.split())


def signal_name(signal: Expression, schema: Schema, *, step: StepLength | None = None) -> str:
    """Write a signal with its unit: "the mean of x over the whole record (ft)"."""
    functions = _functions(signal.walk())
    signals = SentenceWriter(schema, functions, step).signals
    unit, noun = signals.unit(signal), signals.noun(signal)
    name = noun.removeprefix("the ") if isinstance(signal.head, Attribute) else noun  # no article outside sentences
    return f"{name} ({unit})" if unit else name


def conditions(
    term: Term, schema: Schema, *, step: StepLength | None = None, missing: Container[str] | None = None
) -> tuple[Expression, ...]:
    """Return the formulas without which the text of `say` is vacuous: for "whenever A, B", that A at some point.

    "After 300 s, x is always above 3" is vacuous for a shorter record.
    """
    if not _may_be_vacuous(term):
        return ()
    found = _text(term, schema, step=step, missing=missing)[0].conditions
    witness = next(map(attribute, schema.values()), None)
    return tuple(dict.fromkeys(expression_of(Eventually(one), missing, witness) for one in found))


def quotations(
    term: Term, schema: Schema, *, step: StepLength | None = None, missing: Container[str] | None = None
) -> tuple[tuple[str, Expression], ...]:
    """Return the phrases in the text of `say` that are a grammar's or a function's, with their meanings, for `read`."""
    return text_with_quotations(term, schema, step=step, missing=missing)[1]


def text_with_quotations(
    term: Term, schema: Schema, *, step: StepLength | None = None, missing: Container[str] | None = None
) -> tuple[str, tuple[tuple[str, Expression], ...]]:
    """Return the text of `say` and its `quotations`.

    A text that would be misread is made longer, or gets more quotes.
    """
    found, sentences = _text(term, schema, step=step, missing=missing)
    return found.text, sentences


def _text(
    term: Term, schema: Schema, *, step: StepLength | None, missing: Container[str] | None
) -> tuple[WeighedText, tuple[tuple[str, Expression], ...]]:
    parts = list(_expressions(term))
    functions = _functions(parts)
    term = _with_lengths(term, step, missing)
    writer = SentenceWriter(schema, functions, step, missing)
    if isinstance(term, Opaque) and term.holds and has_own_phrase(term.expression):
        words = writer.signals.words(term.expression)
        return weighed(words), ((words, term.expression),)
    called = writer.signals.own_words(parts)
    meant = {words: attribute(schema[name]) for words, name in called}
    read = partial(_reads_as, schema=schema, functions=functions, step=step, domains=writer.domains)
    may_be_missing = {words for words, e in meant.items() if is_boolean(e) and read(words, literal_of(e), ()) is False}
    for explicit, quote_all in ((True, True),) if may_be_missing else ((False, False), (True, False), (True, True)):
        writer = SentenceWriter(schema, functions, step, missing, quote_all=quote_all, explicit=explicit, called=called)
        sentences = writer.signals.sentences
        sentences.update(meant)
        found = writer.text(term)
        if read(found.text, term, sentences.items()):
            break
    for words in dict.fromkeys(QUOTED.findall(found.text)):  # drop quotes that the parser does not need
        inside = words[1:-1]
        bare, others = found.text.replace(words, inside), [pair for pair in sentences.items() if pair[0] != inside]
        e = sentences.get(inside)
        if e is None or inside in meant:
            may = quote_all and inside not in may_be_missing
        else:  # a rule's own words, and not a formula or a function's
            may = has_own_phrase(e) and writer.signals.words(e) == inside and read(bare, term, others) is not False
        if may and stands_bare(inside) and read(bare, term, sentences.items()):
            found = replace(found, text=bare)
    return found, tuple(sentences.items())


def _may_be_vacuous(term: Term) -> bool:
    """Return True if the wording of a term may have conditions."""
    match term:
        case And(parts) | Or(parts):
            return any(map(_may_be_vacuous, parts))
        case Globally(part):
            return isinstance(part, Or) or _may_be_vacuous(part)
        case Eventually(part) | CountIn(part=part):
            return _may_be_vacuous(part)
    return False


def _with_lengths(term: Term, step: StepLength | None, missing: Container[str] | None) -> Term:
    """Restrict a term to possible values, and replace terms about clocks alone by lengths of records."""
    domains = Domains(missing)
    return in_lengths(restricted(term, domains), Steps.of(step), domains)


def _reads_as(
    text: str,
    term: Term,
    sentences: Iterable[tuple[str, Expression]],
    *,
    schema: Schema,
    functions: tuple[UserFunction, ...],
    step: StepLength | None,
    domains: Domains,
) -> bool | None:
    """Return True if a text is read as this term; None if it cannot be read."""
    try:
        found = read_term(text, schema, functions=functions, step=step, sentences=sentences)
    except SpeechError:
        return None
    return same(found, term, domains)


def _functions(parts: Iterable[Expression]) -> tuple[UserFunction, ...]:
    return tuple(dict.fromkeys(e.head for e in parts if isinstance(e.head, UserFunction)))


def _expressions(term: Term) -> Iterable[Expression]:
    """Yield all expressions in a term."""
    match term:
        case And(parts) | Or(parts):
            return chain.from_iterable(map(_expressions, parts))
        case Eventually(part) | Globally(part) | CountIn(part=part):
            return _expressions(part)
        case OrderIn(first=first, second=second):
            return [*first.walk(), *second.walk()]
        case ValueIn(signal=e) | Opaque(expression=e):
            return e.walk()


# ---- Sentences: the cheapest of several wordings.
#
# A closed part may stand in any list, because its end is clear: it begins with an opening word and ends with its last
# item, as in "either A or B". Only the outermost parts are open: "at some point A while B, C and D".

_NEGATION, _NESTED_LIST, _DENIED, _IN_LIST = 3, 2, 1, 3
_ALWAYS, _NEVER = "it is always the case that", "it is never the case that"
_APART = 5  # cost that one sentence must save to be preferred to several simpler ones
_AWAY_FIRST = 8  # "whenever at the next step A, B" puts the later step first
_MOST_WHILE = 2  # parts after "while" in a choice
_MARKED = re.compile(", | (?:and|or|while) ")
_MOST_TRIED = 6  # parts of a list to try after "whenever"


def _cheapest(candidates: Iterable[WeighedText]) -> WeighedText:
    return min(candidates, key=lambda candidate: candidate.cost)


class SentenceWriter:
    """Writes terms about the columns of one schema."""

    def __init__(
        self,
        schema: Schema,
        functions: Sequence[UserFunction] = (),
        step: StepLength | None = None,
        missing: Container[str] | None = None,
        *,
        quote_all: bool = False,
        explicit: bool = False,
        called: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.domains = Domains(missing, static_columns(schema))
        self._steps = Steps.of(step)
        words = vocabulary(schema, tuple(functions), called)
        self.signals = SignalWriter(words, quote_all, self._operand, steps=self._steps, explicit=explicit)
        self._clauses = ClauseWriter(self.signals, explicit, self.domains)
        self._explicit = explicit
        self._known: dict[tuple[Term, bool, bool], WeighedText] = {}

    def text(self, term: Term) -> WeighedText:
        """Write a whole text about a record."""
        sentences = self._sentences(term)
        if len(sentences) > 1:
            return all_true(gathered(sentences if self._explicit else with_shared_subjects(sentences)))
        if isinstance(term, Or) and len(term.parts) > 1:
            apart = one_true([self._sentence(part) for part in term.parts])
            return min(self._sentence(term), apart, key=_simpler)
        return self._sentence(term)

    def _sentences(self, term: Term) -> list[WeighedText]:
        """Write a term as several sentences that are all true."""
        match term:
            case And((_, _, *_)):
                return [sentence for part in term.parts for sentence in self._sentences(part)]
            case Eventually(And((_, _, *_) as parts)) if self._is_timeless(term.part):
                return [self._sentence(Eventually(part)) for part in parts]
            case Globally(And((_, _, *_) as parts)):
                apart = [self._sentence(Globally(part)) for part in parts]
                whole = self._sentence(term)
                return [whole] if whole.cost + _APART < sum(part.cost for part in apart) else apart
        return [self._sentence(term)]

    def _sentence(self, term: Term) -> WeighedText:  # noqa: PLR0911  one return a kind of term
        """Write one sentence, which may be an open part."""
        apart = self._lasts(term) or self._scoped(term)
        if apart is not None:
            return apart
        match term:
            case Eventually(part) | Globally(part) if self._is_timeless(part):
                return self.item(part)
            case Eventually(Globally(part)):
                return weighed("at the last step,") + self._moment(part)
            case Eventually(part):
                about = (
                    self._clauses.wording(part) if isinstance(part, ValueIn | OrderIn) and not self._explicit else None
                )
                opening = weighed("at some point").mark("," * self._begins_elsewhere(part))
                return replace(opening + self._moment(part), about=about)
            case Globally(part):
                return self._always(part, True)
            case CountIn():
                return self._often(term)
            case Or((_, _, *_)):
                whole, at_once = self._whole(term), _merged_points(term)
                return whole if at_once is None else _cheapest([whole, self._sentence(at_once)])
        return self.item(term)

    def _often(self, term: CountIn) -> WeighedText:
        """Write a count, after its clause if that takes fewer words, else before it."""
        part, behind = term.part, self._steps.behind(term.times)
        if isinstance(part, ValueIn) and behind is not None and not self._explicit:
            wording = self._clauses.wording(part)
            if not wording.joined and not wording.negations and not self._begins_elsewhere(part):
                return self._literal(part, closed=False) + behind
        return weighed(self._times(term)) + self._moment(part)

    def _times(self, term: CountIn) -> str:
        """Write a count before its clause; events take no time, and are counted in steps."""
        events = isinstance(term.part, Opaque) and term.part.expression.head in (RISE, FALL)
        return (Steps() if events else self._steps).in_all(term.times, self.signals.quote_all)

    def _scoped(self, term: Term) -> WeighedText | None:
        """Write a sentence that begins with a position: "in the last 20 % of the record, x is always above 3"."""
        match term:
            case Eventually(And((_, _, *_) as parts)) | CountIn(part=And((_, _, *_) as parts)):
                found = self._scope(parts, parts)
            case Globally(Or((_, _, *_) as parts)):
                found = self._scope(parts, [self._opposite(part) for part in parts])
            case _:
                return None
        if found is None:
            return None
        opening, scope, rest = found
        match term:
            case CountIn(times=times):
                return opening + self._times(CountIn(all_of(rest), times)) + self._moment(all_of(rest))
            case Eventually():
                return opening + "at some point" + self._moment(all_of(rest))
        always = self._always(one_of(rest), True)
        given = tuple(all_of([scope, condition]) for condition in always.conditions) or (scope,)
        return replace(opening + always, conditions=given)

    def _scope(self, parts: Sequence[Term], candidates: Sequence[Term]) -> tuple[WeighedText, Term, list[Term]] | None:
        """Find the first term about a position; return its words before a sentence, the term, and the other parts."""
        if self.signals.quote_all:
            return None
        for i, term in enumerate(candidates):
            if not isinstance(term, ValueIn) or not is_about_position(term):
                continue
            words = self._clauses.positions.scope(term)
            if words is not None:
                return weighed(words).mark(","), term, [*parts[:i], *parts[i + 1 :]]
        return None

    def _lasts(self, term: Term) -> WeighedText | None:
        """Write a duration of the record; None if the term is something else."""
        words = None if self.signals.quote_all else self._clauses.positions.lasts(term)
        return None if words is None else weighed(words)

    def _event(self, term: Term, lone: bool = True) -> WeighedText:
        """Write a closed part after an adverb of time."""
        if not isinstance(term, ValueIn):
            return self.item(term, True, lone)
        wording = self._clauses.wording(term, closed=not lone)
        return weighed(wording.happening, _NEGATION * wording.negations)

    def item(self, term: Term, nested: bool = False, lone: bool = True) -> WeighedText:
        """Write a closed part; `nested` if its step may not be the first; `lone` if it is in no choice."""
        key = (term, nested, lone)
        if key not in self._known:
            self._known[key] = self._item(term, nested, lone)
        return self._known[key]

    def _item(self, term: Term, nested: bool, lone: bool) -> WeighedText:  # noqa: PLR0911  one return a kind of term
        lasts = None if nested else self._lasts(term)
        if lasts is not None:
            return lasts
        match term:
            case ValueIn() | OrderIn() | Opaque():
                return self._literal(term, closed=not lone, of_record=not nested)
            case CountIn(part=part):
                return weighed(self._times(term)) + self.item(part, True, lone)
            case And((_, _, *_)):
                merged = self._several_columns(term.parts, "and")
                if merged is not None:
                    return merged
                parts = [self.item(part, nested, lone) for part in self._in_order(term.parts)]
                opening = "both" if len(parts) == 2 else "all of these:"
                return weighed(opening, _NESTED_LIST) + listed(parts, "and")
            case Or((_, _, *_)):
                return self._either(term, nested, self.item)
            case And((part,)) | Or((part,)):
                return self.item(part, nested, lone)
            case And() | Or():
                return weighed("it is always so" if term == TRUE else "it is never so")
            case Eventually(part) | Globally(part) if not nested and self._is_timeless(part):
                return self.item(part, nested, lone)
            case Eventually(Globally(part)):
                return weighed("at the last step,") + self.item(part, True, lone)
            case Eventually(part):
                adverb = weighed("then or later" if nested else "at some point").mark(
                    "," * self._begins_elsewhere(part)
                )
                return adverb + self._event(part, lone)
            case Globally(part):
                always = self._always(part, False, lone)
                return weighed("from then on") + always if nested else always

    def _is_timeless(self, term: Term) -> bool:
        """Return True if a term is about whole records only, such as static columns, so that it needs no adverb."""
        if isinstance(term, And | Or) and term.parts:
            return all(map(self._is_timeless, term.parts))
        return isinstance(term, ValueIn | OrderIn) and self.domains.is_static(term)

    def _literal(self, term: ValueIn | OrderIn | Opaque, closed: bool, of_record: bool = False) -> WeighedText:
        wording = self._clauses.wording(term, closed, of_record=of_record)
        return weighed(str(wording), _NEGATION * wording.negations)

    def _either(self, term: Or, nested: bool, item: Callable[[Term, bool, bool], WeighedText]) -> WeighedText:
        """Write a choice. Values of one signal keep their own "or", which means the same."""
        merged = self._several_columns(term.parts, "or")
        if merged is not None:
            return merged
        parts = [
            self._literal(part, closed=self._explicit) if isinstance(part, ValueIn) else item(part, nested, False)
            for part in self._in_order(term.parts)
        ]
        return weighed("either", _NESTED_LIST) + listed(parts, "or")

    def _several_columns(self, parts: Sequence[Term], joint: str) -> WeighedText | None:
        """Write one clause about several columns: "both x and y are below 5"; None if more than the column differs."""
        if self._explicit or len(parts) < 2 or not all(isinstance(part, ValueIn) for part in parts):
            return None
        wordings = [self._clauses.wording(part) for part in parts if isinstance(part, ValueIn) and self._named(part)]
        predicates = {wording.clause.predicate for wording in wordings if wording.mergeable}
        if len(predicates) != 1 or not all(wording.mergeable for wording in wordings) or len(wordings) < len(parts):
            return None
        opening = "either" if joint == "or" else "both" if len(parts) == 2 else "all of"
        subjects = listed([weighed(wording.clause.subject) for wording in wordings], joint)
        return weighed(opening) + subjects + ("is" if joint == "or" else "are") + predicates.pop()

    def _named(self, literal: ValueIn) -> bool:
        """Return True if a literal is about a column that is named by a noun rather than a clause."""
        return isinstance(literal.signal.head, Attribute) and not is_clause(self.signals.column(literal.signal))

    def _items(self, parts: Sequence[Term]) -> WeighedText:
        """Write the parts after "while", joined by "and"."""
        merged = self._several_columns(parts, "and")
        return listed([self.item(part, True) for part in parts], "and") if merged is None else merged

    def _whole(self, term: Term, nested: bool = False, lone: bool = True) -> WeighedText:
        """Write a closed part that does not follow "while", so that a choice in it may contain "while"."""
        closed = self.item(term, nested, lone)
        if not isinstance(term, Or) or len(term.parts) < 2:
            return closed
        return _cheapest([closed, self._either(term, nested, self._joined_by_while)])

    def _joined_by_while(self, term: Term, nested: bool, lone: bool) -> WeighedText:
        """Write a part of a choice, with "A while B" for "both A and B" if that is cheaper."""
        closed = self.item(term, nested, lone)
        match term:
            case Eventually(And((_, _, *_) as parts)):
                opening = "then or later" if nested else "at some point"
            case And((_, _, *_) as parts):
                opening = ""
            case _:
                return closed
        here, *others = self._in_order(parts)
        first = self._event(here, lone) if opening else self.item(here, nested, lone)
        rest = [self.item(part, nested or bool(opening), lone) for part in others]
        clear = not isinstance(here, Or) and len(rest) <= _MOST_WHILE
        if not clear or any(map(self._at_other_steps, parts)) or any(is_list(part) for part in rest[:-1]):
            return closed
        first = first.mark("," * first.text.endswith(OR_AT_THE_START))  # any other comma would end this part
        text = weighed(opening) + first + "while" + rest[0]
        for part in rest[1:]:
            text = text + "and" + part
        return _cheapest([closed, text])

    def _moment(self, term: Term) -> WeighedText:
        """Write what is true at one step, as an open part."""
        if isinstance(term, Eventually) and not isinstance(term.part, Globally):
            return weighed("then or later") + self._moment(term.part)
        if isinstance(term, Globally):
            return weighed("from then on") + self._always(term.part, True)
        if not isinstance(term, And) or len(term.parts) < 2:
            return self._whole(term, True) if isinstance(term, Or) else self._event(term)
        here = self._in_order(term.parts)
        if all(map(self._at_other_steps, here)):
            return self.item(term, True)
        now: list[Term] = []
        away: list[Term] = []
        for part in here:
            (away if self._at_other_steps(part) else now).append(part)
        merged = self._several_columns(now, "and")
        text = self._event(now[0]) if merged is None else merged
        if len(now) > 1 and merged is None:
            text = _before_while(text) + "while" + self._items(now[1:])
        if not away:
            return text
        # several parts about other steps need a list: each would seem to start from the step of the one before
        return text.mark(",") + "and" + (self._moment(away[0]) if len(away) == 1 else self.item(And(tuple(away)), True))

    def _always(self, part: Term, is_open: bool, lone: bool = True) -> WeighedText:
        """Write that a part is always true, by the cheapest of "always", "never" and "whenever"."""
        opposite = self._opposite(part)
        found = []
        if self._begins_elsewhere(part):
            return weighed("at each step,") + self.item(part, True, lone)
        if isinstance(part, Opaque) and part.expression.head in (RISE, FALL) and not part.holds:
            found.append(self._adverb("never", opposite, lone))
            return _cheapest(candidate for candidate in found if candidate is not None)
        if isinstance(part, ValueIn | OrderIn | Opaque):
            found += [self._adverb("always", part, lone), self._adverb("never", opposite, lone)]
        item = self._whole if is_open else self.item
        found.append(weighed(_ALWAYS) + item(part, True, lone))
        found.append(
            weighed(_NEVER, _NEGATION) + (self._never_open(opposite) if is_open else self.item(opposite, True, lone))
        )
        if isinstance(part, Or) and len(part.parts) > 1:
            found.append(self._never_while(opposite) if is_open else None)
            found += self._whenever(part, is_open, lone)
        return _cheapest(candidate for candidate in found if candidate is not None)

    def _never_while(self, term: Term) -> WeighedText | None:
        """Write that parts are never true at once, with "never" in the first: "x is never above 3 while A"."""
        if self._explicit or not isinstance(term, And) or any(map(self._at_other_steps, term.parts)):
            return None
        here, *others = self._in_order(term.parts)
        adverb = self._adverb("never", here, lone=True) if isinstance(here, ValueIn | OrderIn | Opaque) else None
        if adverb is None or adverb.about is None or not adverb.about.clause.verb:
            return None
        verbs = len(term.parts) if len(others) > 1 else 0  # of three or more, this is the plainest way to say it
        text = _before_while(WeighedText(adverb.text, adverb.cost - verbs))
        return text + "while" + self._items(others)

    def _never_open(self, term: Term) -> WeighedText:
        """Write what is never true. Parts about later steps are closed, or they would seem to follow "never"."""
        later = not isinstance(term, And) or any(map(self._at_other_steps, term.parts))
        return self._whole(term, True) if later else self._moment(term)

    def _adverb(self, adverb: str, term: Term, lone: bool) -> WeighedText | None:
        if not isinstance(term, ValueIn | OrderIn | Opaque):
            return None
        wording = self._clauses.wording(term, closed=not lone)
        denied = adverb == "never" and wording.act is None  # "never" with an event is as plain as "always"
        cost = _NEGATION * wording.negations + _DENIED * denied
        text = wording.with_adverb(adverb)
        cost += text.endswith(" inclusive")  # rather "never beyond ±5" than "always within 5 inclusive"
        alone = replace(weighed(text, cost), about=wording)
        return replace(alone, adverb=adverb) if isinstance(term, ValueIn) and isinstance(term.values, Truths) else alone

    def _whenever(self, term: Or, is_open: bool, lone: bool) -> Iterable[WeighedText]:
        """Yield sentences with "whenever", with each part as the conclusion, and with each part as the condition."""
        parts = self._in_order(term.parts)
        for part in parts[:_MOST_TRIED]:
            others = [other for other in parts if other is not part]
            for given, then in ((others, [part]), ([part], others)):
                if len(parts) == 2 and given is not others:
                    continue
                first, *rest = [self._opposite(other) for other in self._in_order(given)]
                alone = self._given if is_open and not rest else self.item
                more = _IN_LIST * (not is_open) + _AWAY_FIRST * self._begins_elsewhere(first)
                merged = self._several_columns([first, *rest], "and")
                text = weighed("whenever", more) + (merged or alone(first, True, lone))
                if rest and merged is None:
                    text = _before_while(text) + weighed("while", _NESTED_LIST) + self.item(all_of(rest), True, lone)
                whole = text.mark(",") + self._then(one_of(then), is_open, lone)
                simple = is_open and not rest and not _MARKED.search(QUOTED.sub("", text.text))
                about = self._clauses.wording(then[0]) if simple and isinstance(then[0], ValueIn) else None
                conditions = (all_of([first, *rest]), *whole.conditions)
                yield replace(whole, about=about, given=text.text.removeprefix("whenever "), conditions=conditions)

    def _given(self, term: Term, nested: bool, lone: bool) -> WeighedText:
        """Write the condition of "whenever", where a choice of literals needs no "either"."""
        whole = self._whole(term, nested, lone)
        if self._explicit or not isinstance(term, Or) or not all(isinstance(p, ValueIn | OrderIn) for p in term.parts):
            return whole
        parts = [self.item(part, nested, False).text for part in self._in_order(term.parts)]
        marked = any(_MARKED.search(part) for part in parts)
        return whole if marked else _cheapest([weighed(" or ".join(parts), _NESTED_LIST), whole])

    def _then(self, term: Term, is_open: bool, lone: bool) -> WeighedText:
        if not is_open:
            return self.item(term, True, lone)
        if _at_later_steps(term):
            return self._moment(term)
        whole = self._whole(term, True, lone)
        if not isinstance(term, And) or len(term.parts) < 2 or any(map(_at_later_steps, term.parts)):
            return whole
        bare = listed([self.item(part, True, lone) for part in self._in_order(term.parts)], "and")
        clear = ", and " not in bare.text  # it might seem to begin another sentence
        return _cheapest([bare, whole]) if clear else whole

    def _at_other_steps(self, term: Term) -> bool:
        """Return True if the wording of a term begins by moving to other steps."""
        return _at_later_steps(term) or self._begins_elsewhere(term)

    def _begins_elsewhere(self, term: Term) -> bool:
        """Return True if the wording of a literal begins by moving to other steps: "at the next step …"."""
        match term:
            case Opaque(expression=Expression(head=Operator() as head) as e):
                return head.looks and head not in (RISE, FALL) and not has_own_phrase(e)
            case ValueIn(signal=signal):
                return signal.head is LATEST and not has_own_phrase(signal) and not self.signals.quote_all
        return False

    def _in_order(self, parts: Iterable[Term]) -> list[Term]:
        """Sort parts: literals, then those that end in a comma, lists, and parts about other, then later, steps."""
        weights = {ValueIn: 0, OrderIn: 0, Opaque: 2, CountIn: 2, And: 3, Or: 3, Eventually: 5, Globally: 6}

        def weight(part: Term) -> int:
            changes = isinstance(part, ValueIn) and part.signal.head is CHANGE and not has_own_phrase(part.signal)
            return 4 if self._begins_elsewhere(part) else 1 if changes else weights[type(part)]

        return sorted(parts, key=weight)

    def _opposite(self, term: Term) -> Term:
        return self.domains.negated(term)

    def _operand(self, e: Expression) -> str:
        """Write a Boolean operand of a function or a count."""
        return self.item(direct_term(e, self.domains), True, False).text


def _merged_points(term: Or) -> Term | None:
    """Merge the parts of a choice that are F of something into one; None if there are fewer than two."""
    points = [part for part in term.parts if isinstance(part, Eventually) and not isinstance(part.part, Globally)]
    if len(points) < 2:
        return None
    inside = [p for point in points for p in (point.part.parts if isinstance(point.part, Or) else (point.part,))]
    return one_of([Eventually(Or(tuple(inside))), *(part for part in term.parts if part not in points)])


def _simpler(candidate: WeighedText) -> tuple[int, bool]:
    return candidate.cost, "," in candidate.text


def _at_later_steps(term: Term) -> bool:
    """Return True if a term is about later steps, not only the last one."""
    return isinstance(term, Globally) or (isinstance(term, Eventually) and not isinstance(term.part, Globally))


def _before_while(text: WeighedText) -> WeighedText:
    """Add a comma if a following "while" might seem to belong to the last item."""
    return text.mark(",") if ", or " in text.text or text.text.endswith(OR_AT_THE_START) else text
