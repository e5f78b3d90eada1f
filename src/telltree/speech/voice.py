"""Terms in sentences: the cheapest of several wordings.

A closed part can stand in any list, because its end is clear: it begins with an opening word and ends with its last
item, as in "either A or B". Only the outermost parts are open: "at some point A while B, C and D".
"""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace

from telltree.data import Schema
from telltree.operators import Attribute, Expression, Operator, UserFunction
from telltree.operators.table import CHANGE, FALL, LATEST, RISE
from telltree.speech.atoms import has_own_words
from telltree.speech.normal import taken_apart
from telltree.speech.nouns import Nouns
from telltree.speech.possible import Possible
from telltree.speech.sentences import (
    Said,
    all_true,
    gathered,
    is_list,
    listed,
    one_true,
    said,
    with_shared_subjects,
)
from telltree.speech.terms import TRUE, All, Always, Compares, HowOften, Own, Says, Some, Sometime, Term
from telltree.speech.times import Steps
from telltree.speech.values import Truths
from telltree.speech.vocabulary import is_clause, static_columns, vocabulary
from telltree.speech.when import of_clock
from telltree.speech.wording import Literals
from telltree.speech.words import OR_AT_THE_START, QUOTED

_NEGATION, _NESTED_LIST, _DENIED, _IN_LIST = 3, 2, 1, 3
_ALWAYS, _NEVER = "it is always the case that", "it is never the case that"
_APART = 5  # what one sentence must save to be preferred to several simpler ones
_AWAY_FIRST = 8  # "whenever at the next step A, B" begins at the wrong end
_MOST_WHILE = 2  # parts after "while" in a choice
_MARKED = re.compile(", | (?:and|or|while) ")
_MOST_TRIED = 6  # parts of a list to try after "whenever"


def _cheapest(candidates: Iterable[Said]) -> Said:
    return min(candidates, key=lambda candidate: candidate.cost)


class Voice:
    """Speaks terms of one schema."""

    def __init__(
        self,
        schema: Schema,
        functions: Sequence[UserFunction] = (),
        step: tuple[float | None, str] | None = None,
        missing: Container[str] | None = None,
        *,
        careful: bool = False,
        wary: bool = False,
        called: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.possible = Possible(missing, static_columns(schema))
        self._steps = Steps.of(step)
        words = vocabulary(schema, tuple(functions), called)
        self.nouns = Nouns(words, careful, self._operand, steps=self._steps, wary=wary)
        self._literals = Literals(self.nouns, wary, self.possible)
        self._wary = wary
        self._known: dict[tuple[Term, bool, bool], Said] = {}

    def says(self, term: Term) -> Said:
        """A whole text: what is true of a record."""
        sentences = self._sentences(term)
        if len(sentences) > 1:
            return all_true(gathered(sentences if self._wary else with_shared_subjects(sentences)))
        if isinstance(term, Some) and len(term.parts) > 1:
            apart = one_true([self._sentence(part) for part in term.parts])
            return min(self._sentence(term), apart, key=_simpler)
        return self._sentence(term)

    def _sentences(self, term: Term) -> list[Said]:
        """The sentences that together say the term."""
        match term:
            case All((_, _, *_)):
                return [sentence for part in term.parts for sentence in self._sentences(part)]
            case Sometime(All((_, _, *_) as parts)) if self._is_timeless(term.part):
                return [self._sentence(Sometime(part)) for part in parts]
            case Always(All((_, _, *_) as parts)):
                apart = [self._sentence(Always(part)) for part in parts]
                whole = self._sentence(term)
                return [whole] if whole.cost + _APART < sum(part.cost for part in apart) else apart
        return [self._sentence(term)]

    def _sentence(self, term: Term) -> Said:  # noqa: PLR0911  one return a kind of term
        """One sentence, which may be an open part."""
        apart = self._lasts(term) or self._scoped(term)
        if apart is not None:
            return apart
        match term:
            case Sometime(part) | Always(part) if self._is_timeless(part):
                return self.item(part)
            case Sometime(Always(part)):
                return said("at the last step,") + self._moment(part)
            case Sometime(part):
                about = self._literals.wording(part) if isinstance(part, Says | Compares) and not self._wary else None
                opening = said("at some point").mark("," * self._elsewhere(part))
                return replace(opening + self._moment(part), about=about)
            case Always(part):
                return self._always(part, True)
            case HowOften():
                return self._often(term)
            case Some((_, _, *_)):
                whole, at_once = self._whole(term), _at_one_point(term)
                return whole if at_once is None else _cheapest([whole, self._sentence(at_once)])
        return self.item(term)

    def _often(self, term: HowOften) -> Said:
        """How often something holds; after the clause if that takes fewer words, else before it."""
        part, behind = term.part, self._steps.behind(term.times)
        if isinstance(part, Says) and behind is not None and not self._wary:
            wording = self._literals.wording(part)
            if not wording.joined and not wording.negations and not self._elsewhere(part):
                return self._literal(part, closed=False) + behind
        return said(self._times(term)) + self._moment(part)

    def _times(self, term: HowOften) -> str:
        """How often something holds, before it; what happens at a step takes no time, and is counted in steps."""
        events = isinstance(term.part, Own) and term.part.expression.head in (RISE, FALL)
        return (Steps() if events else self._steps).says(term.times, self.nouns.careful)

    def _scoped(self, term: Term) -> Said | None:
        """A sentence that begins with when it is true: "in the last 20 % of the record, x is always above 3"."""
        match term:
            case Sometime(All((_, _, *_) as parts)) | HowOften(part=All((_, _, *_) as parts)):
                found = self._scope(parts, parts)
            case Always(Some((_, _, *_) as parts)):
                found = self._scope(parts, [self._opposite(part) for part in parts])
            case _:
                return None
        if found is None:
            return None
        when, scope, rest = found
        match term:
            case HowOften(times=times):
                return when + self._times(HowOften(_all(rest), times)) + self._moment(_all(rest))
            case Sometime():
                return when + "at some point" + self._moment(_all(rest))
        always = self._always(_some(rest), True)
        given = tuple(_all([scope, condition]) for condition in always.conditions) or (scope,)
        return replace(when + always, conditions=given)

    def _scope(self, parts: Sequence[Term], said_of: Sequence[Term]) -> tuple[Said, Term, list[Term]] | None:
        """The first term that says when, as the words before a sentence; the term; and the other parts."""
        if self.nouns.careful:
            return None
        for i, term in enumerate(said_of):
            words = self._literals.when.scope(term) if isinstance(term, Says) and of_clock(term) else None
            if words is not None:
                return said(words).mark(","), term, [*parts[:i], *parts[i + 1 :]]
        return None

    def _lasts(self, term: Term) -> Said | None:
        """How long the record is, if that is what the term says."""
        words = None if self.nouns.careful else self._literals.when.lasts(term)
        return None if words is None else said(words)

    def _happens(self, term: Term, lone: bool = True) -> Said:
        """A closed part after words that say when it holds."""
        if not isinstance(term, Says):
            return self.item(term, True, lone)
        wording = self._literals.wording(term, closed=not lone)
        return said(wording.happening, _NEGATION * wording.negations)

    def item(self, term: Term, nested: bool = False, lone: bool = True) -> Said:
        """A closed part; `nested` if the step may not be the first; `lone` if it is not in a choice."""
        key = (term, nested, lone)
        if key not in self._known:
            self._known[key] = self._item(term, nested, lone)
        return self._known[key]

    def _item(self, term: Term, nested: bool, lone: bool) -> Said:  # noqa: PLR0911  one return a kind of term
        lasts = None if nested else self._lasts(term)
        if lasts is not None:
            return lasts
        match term:
            case Says() | Compares() | Own():
                return self._literal(term, closed=not lone, of_record=not nested)
            case HowOften(part=part):
                return said(self._times(term)) + self.item(part, True, lone)
            case All((_, _, *_)):
                merged = self._alike(term.parts, "and")
                if merged is not None:
                    return merged
                parts = [self.item(part, nested, lone) for part in self._in_order(term.parts)]
                opening = "both" if len(parts) == 2 else "all of these:"
                return said(opening, _NESTED_LIST) + listed(parts, "and")
            case Some((_, _, *_)):
                return self._either(term, nested, self.item)
            case All((part,)) | Some((part,)):
                return self.item(part, nested, lone)
            case All() | Some():
                return said("it is always so" if term == TRUE else "it is never so")
            case Sometime(part) | Always(part) if not nested and self._is_timeless(part):
                return self.item(part, nested, lone)
            case Sometime(Always(part)):
                return said("at the last step,") + self.item(part, True, lone)
            case Sometime(part):
                when = said("then or later" if nested else "at some point").mark("," * self._elsewhere(part))
                return when + self._happens(part, lone)
            case Always(part):
                always = self._always(part, False, lone)
                return said("from then on") + always if nested else always

    def _is_timeless(self, term: Term) -> bool:
        """Whether a term is about whole records only, such as static columns, so that it needs no time."""
        if isinstance(term, All | Some) and term.parts:
            return all(map(self._is_timeless, term.parts))
        return isinstance(term, Says | Compares) and self.possible.lasts(term)

    def _literal(self, term: Says | Compares | Own, closed: bool, of_record: bool = False) -> Said:
        wording = self._literals.wording(term, closed, of_record=of_record)
        return said(str(wording), _NEGATION * wording.negations)

    def _either(self, term: Some, nested: bool, item: Callable[[Term, bool, bool], Said]) -> Said:
        """A choice. A list of values of one signal stays as it is: its "or" means the same."""
        merged = self._alike(term.parts, "or")
        if merged is not None:
            return merged
        parts = [
            self._literal(part, closed=self._wary) if isinstance(part, Says) else item(part, nested, False)
            for part in self._in_order(term.parts)
        ]
        return said("either", _NESTED_LIST) + listed(parts, "or")

    def _alike(self, parts: Sequence[Term], joint: str) -> Said | None:
        """One clause about several columns, where all that differs is the column: "both x and y are below 5"."""
        if self._wary or len(parts) < 2 or not all(isinstance(part, Says) for part in parts):
            return None
        wordings = [self._literals.wording(part) for part in parts if isinstance(part, Says) and self._named(part)]
        predicates = {wording.clause.predicate for wording in wordings if wording.mergeable}
        if len(predicates) != 1 or not all(wording.mergeable for wording in wordings) or len(wordings) < len(parts):
            return None
        opening = "either" if joint == "or" else "both" if len(parts) == 2 else "all of"
        subjects = listed([said(wording.clause.subject) for wording in wordings], joint)
        return said(opening) + subjects + ("is" if joint == "or" else "are") + predicates.pop()

    def _named(self, literal: Says) -> bool:
        """Whether a literal is about a column that is called by a noun."""
        return isinstance(literal.signal.head, Attribute) and not is_clause(self.nouns.column(literal.signal))

    def _items(self, parts: Sequence[Term]) -> Said:
        """What holds at one step, joined by "and", after a "while"."""
        merged = self._alike(parts, "and")
        return listed([self.item(part, True) for part in parts], "and") if merged is None else merged

    def _whole(self, term: Term, nested: bool = False, lone: bool = True) -> Said:
        """A closed part that does not follow a "while", so that in a choice "while" may join what holds at once."""
        closed = self.item(term, nested, lone)
        if not isinstance(term, Some) or len(term.parts) < 2:
            return closed
        return _cheapest([closed, self._either(term, nested, self._joined_by_while)])

    def _joined_by_while(self, term: Term, nested: bool, lone: bool) -> Said:
        """A part of a choice, with "both A and B" as "A while B"."""
        closed = self.item(term, nested, lone)
        match term:
            case Sometime(All((_, _, *_) as parts)):
                opening = "then or later" if nested else "at some point"
            case All((_, _, *_) as parts):
                opening = ""
            case _:
                return closed
        here, *others = self._in_order(parts)
        first = self._happens(here, lone) if opening else self.item(here, nested, lone)
        rest = [self.item(part, nested or bool(opening), lone) for part in others]
        clear = not isinstance(here, Some) and len(rest) <= _MOST_WHILE
        if not clear or any(map(self._looks_away, parts)) or any(is_list(part) for part in rest[:-1]):
            return closed
        first = first.mark(
            "," * first.text.endswith(OR_AT_THE_START)
        )  # no other comma: it would end this part of the choice
        text = said(opening) + first + "while" + rest[0]
        for part in rest[1:]:
            text = text + "and" + part
        return _cheapest([closed, text])

    def _moment(self, term: Term) -> Said:
        """What holds at one step, as an open part."""
        if isinstance(term, Sometime) and not isinstance(term.part, Always):
            return said("then or later") + self._moment(term.part)
        if isinstance(term, Always):
            return said("from then on") + self._always(term.part, True)
        if not isinstance(term, All) or len(term.parts) < 2:
            return self._whole(term, True) if isinstance(term, Some) else self._happens(term)
        here = self._in_order(term.parts)
        if all(map(self._looks_away, here)):
            return self.item(term, True)
        now: list[Term] = []
        away: list[Term] = []
        for part in here:
            (away if self._looks_away(part) else now).append(part)
        merged = self._alike(now, "and")
        text = self._happens(now[0]) if merged is None else merged
        if len(now) > 1 and merged is None:
            text = _before_while(text) + "while" + self._items(now[1:])
        if not away:
            return text
        # of several that look away, each would seem to look from where the one before it does
        return text.mark(",") + "and" + (self._moment(away[0]) if len(away) == 1 else self.item(All(tuple(away)), True))

    def _always(self, part: Term, is_open: bool, lone: bool = True) -> Said:
        """Something always holds: the cheapest of "always", "never" and "whenever"."""
        opposite = self._opposite(part)
        found = []
        if self._elsewhere(part):
            return said("at each step,") + self.item(part, True, lone)
        if isinstance(part, Own) and part.expression.head in (RISE, FALL) and not part.holds:
            found.append(self._adverb("never", opposite, lone))
            return _cheapest(candidate for candidate in found if candidate is not None)
        if isinstance(part, Says | Compares | Own):
            found += [self._adverb("always", part, lone), self._adverb("never", opposite, lone)]
        item = self._whole if is_open else self.item
        found.append(said(_ALWAYS) + item(part, True, lone))
        found.append(
            said(_NEVER, _NEGATION) + (self._never_open(opposite) if is_open else self.item(opposite, True, lone))
        )
        if isinstance(part, Some) and len(part.parts) > 1:
            found.append(self._never_while(opposite) if is_open else None)
            found += self._whenever(part, is_open, lone)
        return _cheapest(candidate for candidate in found if candidate is not None)

    def _never_while(self, term: Term) -> Said | None:
        """Parts that never hold at once, with "never" at the verb of the first: "x is never above 3 while A"."""
        if self._wary or not isinstance(term, All) or any(map(self._looks_away, term.parts)):
            return None
        here, *others = self._in_order(term.parts)
        adverb = self._adverb("never", here, lone=True) if isinstance(here, Says | Compares | Own) else None
        if adverb is None or adverb.about is None or not adverb.about.clause.verb:
            return None
        verbs = len(term.parts) if len(others) > 1 else 0  # of three or more, this is the plainest way to say it
        text = _before_while(Said(adverb.text, adverb.cost - verbs))
        return text + "while" + self._items(others)

    def _never_open(self, term: Term) -> Said:
        """What never holds. Parts that look at later steps stay in a closed part, lest they seem to follow "never"."""
        later = not isinstance(term, All) or any(map(self._looks_away, term.parts))
        return self._whole(term, True) if later else self._moment(term)

    def _adverb(self, adverb: str, term: Term, lone: bool) -> Said | None:
        if not isinstance(term, Says | Compares | Own):
            return None
        wording = self._literals.wording(term, closed=not lone)
        denied = adverb == "never" and wording.act is None  # "never" with an event is as plain as "always"
        cost = _NEGATION * wording.negations + _DENIED * denied
        text = wording.with_adverb(adverb)
        cost += text.endswith(" inclusive")  # rather "never beyond ±5" than "always within 5 inclusive"
        alone = replace(said(text, cost), about=wording)
        return replace(alone, adverb=adverb) if isinstance(term, Says) and isinstance(term.values, Truths) else alone

    def _whenever(self, term: Some, is_open: bool, lone: bool) -> Iterable[Said]:
        """ "Whenever" with each part as the conclusion, and with each part as the condition."""
        parts = self._in_order(term.parts)
        for part in parts[:_MOST_TRIED]:
            others = [other for other in parts if other is not part]
            for given, then in ((others, [part]), ([part], others)):
                if len(parts) == 2 and given is not others:
                    continue
                first, *rest = [self._opposite(other) for other in self._in_order(given)]
                alone = self._given if is_open and not rest else self.item
                more = _IN_LIST * (not is_open) + _AWAY_FIRST * self._elsewhere(first)
                merged = self._alike([first, *rest], "and")
                text = said("whenever", more) + (merged or alone(first, True, lone))
                if rest and merged is None:
                    text = _before_while(text) + said("while", _NESTED_LIST) + self.item(_all(rest), True, lone)
                whole = text.mark(",") + self._then(_some(then), is_open, lone)
                simple = is_open and not rest and not _MARKED.search(QUOTED.sub("", text.text))
                about = self._literals.wording(then[0]) if simple and isinstance(then[0], Says) else None
                conditions = (_all([first, *rest]), *whole.conditions)
                yield replace(whole, about=about, given=text.text.removeprefix("whenever "), conditions=conditions)

    def _given(self, term: Term, nested: bool, lone: bool) -> Said:
        """What stands between "whenever" and its comma: a choice of literals needs no "either" there."""
        whole = self._whole(term, nested, lone)
        if self._wary or not isinstance(term, Some) or not all(isinstance(p, Says | Compares) for p in term.parts):
            return whole
        parts = [self.item(part, nested, False).text for part in self._in_order(term.parts)]
        marked = any(_MARKED.search(part) for part in parts)
        return whole if marked else _cheapest([said(" or ".join(parts), _NESTED_LIST), whole])

    def _then(self, term: Term, is_open: bool, lone: bool) -> Said:
        if not is_open:
            return self.item(term, True, lone)
        if _looks_on(term):
            return self._moment(term)
        whole = self._whole(term, True, lone)
        if not isinstance(term, All) or len(term.parts) < 2 or any(map(_looks_on, term.parts)):
            return whole
        bare = listed([self.item(part, True, lone) for part in self._in_order(term.parts)], "and")
        clear = ", and " not in bare.text  # it might seem to begin another sentence
        return _cheapest([bare, whole]) if clear else whole

    def _looks_away(self, term: Term) -> bool:
        """Whether a term speaks of other steps than the one at which it is asked, and begins by saying of which."""
        return _looks_on(term) or self._elsewhere(term)

    def _elsewhere(self, term: Term) -> bool:
        """Whether a literal begins by saying of which other steps it speaks: "at the next step the valve is open"."""
        match term:
            case Own(expression=Expression(head=Operator() as head) as e):
                return head.looks and head not in (RISE, FALL) and not has_own_words(e)
            case Says(signal=signal):
                return signal.head is LATEST and not has_own_words(signal) and not self.nouns.careful
        return False

    def _in_order(self, parts: Iterable[Term]) -> list[Term]:
        """Literals, those that end in a comma behind others, then lists, then parts that look at other steps, at later
        ones last.
        """
        weights = {Says: 0, Compares: 0, Own: 2, HowOften: 2, All: 3, Some: 3, Sometime: 5, Always: 6}

        def weight(part: Term) -> int:
            changes = isinstance(part, Says) and part.signal.head is CHANGE and not has_own_words(part.signal)
            return 4 if self._elsewhere(part) else 1 if changes else weights[type(part)]

        return sorted(parts, key=weight)

    def _opposite(self, term: Term) -> Term:
        return self.possible.negated(term)

    def _operand(self, e: Expression) -> str:
        """A Boolean operand of a function or a count."""
        return self.item(taken_apart(e, self.possible), True, False).text


def _at_one_point(term: Some) -> Term | None:
    """A choice with "at some point" said once for all parts that have it; None if that changes nothing."""
    points = [part for part in term.parts if isinstance(part, Sometime) and not isinstance(part.part, Always)]
    if len(points) < 2:
        return None
    inside = [p for point in points for p in (point.part.parts if isinstance(point.part, Some) else (point.part,))]
    return _some([Sometime(Some(tuple(inside))), *(part for part in term.parts if part not in points)])


def _simpler(candidate: Said) -> tuple[int, bool]:
    return candidate.cost, "," in candidate.text


def _looks_on(term: Term) -> bool:
    """Whether a term looks at later steps, not only at the end."""
    return isinstance(term, Always) or (isinstance(term, Sometime) and not isinstance(term.part, Always))


def _before_while(text: Said) -> Said:
    """Add a comma if a following "while" might seem to belong to the last item."""
    return text.mark(",") if ", or " in text.text or text.text.endswith(OR_AT_THE_START) else text


def _all(parts: Sequence[Term]) -> Term:
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _some(parts: Sequence[Term]) -> Term:
    return parts[0] if len(parts) == 1 else Some(tuple(parts))
