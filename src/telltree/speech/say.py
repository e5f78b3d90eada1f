"""From terms to English; `read` is the way back."""

from collections.abc import Container, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain

from telltree.data import Schema
from telltree.errors import SpeechError
from telltree.operators import Attribute, Expression, UserFunction
from telltree.speech.atoms import has_own_words, literal_of
from telltree.speech.lengths import in_lengths
from telltree.speech.possible import Possible
from telltree.speech.read import read_term
from telltree.speech.read_noun import attribute, is_truth
from telltree.speech.same import same, settled
from telltree.speech.sentences import Said, said
from telltree.speech.terms import All, Always, Compares, HowOften, Own, Says, Some, Sometime, Term
from telltree.speech.times import Steps
from telltree.speech.voice import Voice
from telltree.speech.words import QUOTED, stands_bare
from telltree.speech.write import expression_of


def say(
    term: Term, schema: Schema, *, step: tuple[float | None, str] | None = None, missing: Container[str] | None = None
) -> str:
    """What a term says, in plain English: "at some point pressure is at least 4.22 bar while the valve is open".

    `step` is the length of a step and its unit, if steps have one: (1.0, "s"). `missing` names the columns that may
    miss values (None: any may); other columns are never said to be missing. A user's words that could be taken for
    others are in quotes. `read` gives back an expression that is true where the term is. The text is plain: whoever
    writes it into a page or on a terminal must escape it.
    """
    return spoken(term, schema, step=step, missing=missing)[0]


def words_in(
    term: Term, schema: Schema, *, step: tuple[float | None, str] | None = None, missing: Container[str] | None = None
) -> int:
    """How many words `say` needs for a term, if they can be read back as they are, which is not tried."""
    parts = list(_expressions(term))
    functions = tuple(dict.fromkeys(e.head for e in parts if isinstance(e.head, UserFunction)))
    called = Voice(schema, functions, step, missing).nouns.own_words(parts)
    voice = Voice(schema, functions, step, missing, called=called)
    return len(voice.says(_as_said(term, step, missing)).text.split())


def name_of(signal: Expression, schema: Schema, *, step: tuple[float | None, str] | None = None) -> str:
    """What a signal is called, with its unit: "the mean of x over the whole record (ft)"."""
    functions = tuple(dict.fromkeys(e.head for e in signal.walk() if isinstance(e.head, UserFunction)))
    nouns = Voice(schema, functions, step).nouns
    unit, noun = nouns.unit(signal), nouns.noun(signal)
    name = noun.removeprefix("the ") if isinstance(signal.head, Attribute) else noun  # a name, not in a sentence
    return f"{name} ({unit})" if unit else name


def conditions(
    term: Term, schema: Schema, *, step: tuple[float | None, str] | None = None, missing: Container[str] | None = None
) -> tuple[Expression, ...]:
    """What must occur in a record for `say`'s text to say anything of it: of "whenever A, B", that A at some point.

    "After 300 s, x is always above 3" says nothing of a record that is shorter than that.
    """
    if not _may_be_empty(term):
        return ()
    found = _said(term, schema, step=step, missing=missing)[0].conditions
    witness = next(map(attribute, schema.values()), None)
    return tuple(dict.fromkeys(expression_of(Sometime(one), missing, witness) for one in found))


def quotations(
    term: Term, schema: Schema, *, step: tuple[float | None, str] | None = None, missing: Container[str] | None = None
) -> tuple[tuple[str, Expression], ...]:
    """The words in `say`'s text that are a grammar's or a function's own, with their meaning, for `read`."""
    return spoken(term, schema, step=step, missing=missing)[1]


def spoken(
    term: Term, schema: Schema, *, step: tuple[float | None, str] | None = None, missing: Container[str] | None = None
) -> tuple[str, tuple[tuple[str, Expression], ...]]:
    """What `say` says, and its `quotations`. If it would be misread, it is made longer, or gets more quotes."""
    found, sentences = _said(term, schema, step=step, missing=missing)
    return found.text, sentences


def _said(
    term: Term, schema: Schema, *, step: tuple[float | None, str] | None, missing: Container[str] | None
) -> tuple[Said, tuple[tuple[str, Expression], ...]]:
    parts = list(_expressions(term))
    functions = tuple(dict.fromkeys(e.head for e in parts if isinstance(e.head, UserFunction)))
    term = _as_said(term, step, missing)
    voice = Voice(schema, functions, step, missing)
    if isinstance(term, Own) and term.holds and has_own_words(term.expression):
        words = voice.nouns.words(term.expression)
        return said(words), ((words, term.expression),)
    called = voice.nouns.own_words(parts)
    meant = {words: attribute(schema[name]) for words, name in called}
    read = partial(_is_read_as, schema=schema, functions=functions, step=step, possible=voice.possible)
    doubtful = {words for words, e in meant.items() if is_truth(e) and read(words, literal_of(e), ()) is False}
    for wary, careful in ((True, True),) if doubtful else ((False, False), (True, False), (True, True)):
        voice = Voice(schema, functions, step, missing, careful=careful, wary=wary, called=called)
        sentences = voice.nouns.sentences
        sentences.update(meant)
        found = voice.says(term)
        if read(found.text, term, sentences.items()):
            break
    for words in dict.fromkeys(QUOTED.findall(found.text)):  # where no others are in doubt
        inside = words[1:-1]
        bare, others = found.text.replace(words, inside), [pair for pair in sentences.items() if pair[0] != inside]
        e = sentences.get(inside)
        if e is None or inside in meant:
            may = careful and inside not in doubtful
        else:  # a rule's own words, and not a formula or a function's
            may = has_own_words(e) and voice.nouns.words(e) == inside and read(bare, term, others) is not False
        if may and stands_bare(inside) and read(bare, term, sentences.items()):
            found = replace(found, text=bare)
    return found, tuple(sentences.items())


def _may_be_empty(term: Term) -> bool:
    """Whether a term may be said of records in which nothing has to occur."""
    match term:
        case All(parts) | Some(parts):
            return any(map(_may_be_empty, parts))
        case Always(part):
            return isinstance(part, Some) or _may_be_empty(part)
        case Sometime(part) | HowOften(part=part):
            return _may_be_empty(part)
    return False


def _as_said(term: Term, step: tuple[float | None, str] | None, missing: Container[str] | None) -> Term:
    """The term with possible values only, and with the length of the record where it says nothing else."""
    possible = Possible(missing)
    return in_lengths(settled(term, possible), Steps.of(step), possible)


def _is_read_as(
    text: str,
    term: Term,
    sentences: Iterable[tuple[str, Expression]],
    *,
    schema: Schema,
    functions: tuple[UserFunction, ...],
    step: tuple[float | None, str] | None,
    possible: Possible,
) -> bool | None:
    """Whether a text is read as this term; None if it cannot be read."""
    try:
        found = read_term(text, schema, functions=functions, step=step, sentences=sentences)
    except SpeechError:
        return None
    return same(found, term, possible)


def _expressions(term: Term) -> Iterable[Expression]:
    """All expressions in a term's signals and sentences."""
    match term:
        case All(parts) | Some(parts):
            return chain.from_iterable(map(_expressions, parts))
        case Sometime(part) | Always(part) | HowOften(part=part):
            return _expressions(part)
        case Compares(first=first, second=second):
            return [*first.walk(), *second.walk()]
        case Says(signal=e) | Own(expression=e):
            return e.walk()
