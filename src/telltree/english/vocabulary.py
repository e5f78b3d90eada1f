"""The words for a schema's columns and for functions: their meanings, articles, verbs and negations."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeAlias

from telltree.english.tokens import Token, TokenKind, bare_or_quoted, quoted, stands_bare
from telltree.logic import Attribute, Expression, Type, UserFunction
from telltree.panel import Column, ColumnType, Schema

SHARED_VERBS = ("is", "are")
"""Verbs that several predicates may share: "the valve is never open or stuck"."""
STAYING = ("stays", "never stays")
"""Verbs for a state that lasts, or never lasts, for some steps in a row."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A column by its phrase or name: "pressure", to be followed by "is above 5 bar"."""

    column: Column


@dataclass(frozen=True, slots=True)
class Fact:
    """A clause for a Boolean column that is true, or that is false."""

    column: Column
    true: bool
    adverb: str = ""
    """"always" or "never", or one of `STAYING`, if the clause contains it."""
    verbless: bool = False
    """True if its verb is omitted, as in "the valve open"."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A clause with a real column's words for high or low, up to its constant: "less than" of "less than 2 s after"."""

    column: Column
    high: bool
    after: str
    """Words after the constant."""


@dataclass(frozen=True, slots=True)
class FunctionPhrase:
    """A function's phrase as words, operand, words …"""

    function: UserFunction
    before: str
    pieces: tuple[str, ...]
    """Words after each operand."""


Entry: TypeAlias = Noun | Fact | Scale | FunctionPhrase


class _Branch(dict[str, "_Branch"]):
    """A node of a trie of words; `entries` are the meanings of the words on the path to it."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []


class Vocabulary:
    """All words of a schema and of functions; `vocabulary` caches one for each.

    `called` are a grammar's own phrases for columns, with the columns' names. The last one for a column replaces its
    phrase; the parser still accepts the column's own.
    """

    def __init__(self, schema: Schema, functions: Sequence[UserFunction], called: Sequence[tuple[str, str]]) -> None:
        phrases = {name: words for words, name in called if schema[name].type is ColumnType.BOOLEAN}
        self.schema = _rephrased(schema, phrases)
        self.called = {name: words for words, name in called if name not in phrases}
        self._root = _Branch()
        given = {(column.words, name): column for name, column in schema.items()}
        named = dict.fromkeys([*given, *called])
        self._times = Counter(words for words, _ in named)
        self.by_words: dict[str, list[Column]] = {}
        self.by_negated = self._negated()
        self._clauses: dict[tuple[str, bool], Clause] = {}
        for words, name in named:
            column = self.schema[name]
            self.by_words.setdefault(words, []).append(column)
            if stands_bare(words):  # columns with the same words are distinguished by their names
                base = Fact(column, True) if is_clause(given.get((words, name), column)) else Noun(column)
                self._branch(words).entries.append(base)
        self._definite = {words for words in self._times if self._takes_article(words)}
        self._calls = {function: call for function in functions if (call := self._call(function))}
        for column in self.schema.values():
            if is_clause(column):
                self._add_clauses(column)
            for scale, words in scales(column):
                branch = self._branch(words)
                if all(isinstance(entry, Scale) for entry in branch.entries):
                    branch.entries.append(scale)

    def match(self, tokens: Sequence[Token], at: int, article: bool = False) -> tuple[int, list[Entry]]:
        """Return the largest number of tokens from `at` on that are words of the vocabulary, or 0; and their meanings.

        With `article`, match words that have "the" before them.
        """
        branch: _Branch | None = self._root.get("the", _Branch()) if article else self._root
        found: tuple[int, list[Entry]] = (0, [])
        for length, token in enumerate(tokens[at : at + 200], 1):
            assert branch is not None
            branch = branch.get(token.text) if token.kind is TokenKind.WORD else None
            if branch is None:
                break
            if branch.entries:
                found = length, branch.entries
        return found

    def meant(self, tokens: Sequence[Token], at: int) -> tuple[int, str | Token] | None:
        """Match words of the vocabulary in other capitals, or the name of a column, from `at` on.

        Return the number of tokens and the right words, or None if there is no match or several.
        """
        for length in range(min(self._longest, len(tokens) - at), 0, -1):
            part = tokens[at : at + length]
            if all(token.kind is TokenKind.WORD for token in part):
                right = self._by_fold.get(" ".join(token.text for token in part).casefold())
                if right is not None:
                    return length, right if stands_bare(right) else Token(right, TokenKind.QUOTED, part[0].place)
        return None

    @cached_property
    def _by_fold(self) -> dict[str, str]:
        """Case-folded words of the vocabulary and names of columns, with their right spelling."""
        found: dict[str, set[str]] = {}
        for words in _words_of(self._root):
            found.setdefault(words.casefold(), set()).add(words)
        for name, column in self.schema.items():
            words = column.words if self._times[column.words] == 1 and stands_bare(column.words) else name
            named = () if is_clause(column) else (name, name.replace("_", " "))
            for alias in (column.words, *named):
                found.setdefault(alias.casefold(), set()).add(words)
        sure = {fold: next(iter(words)) for fold, words in found.items() if len(words) == 1}
        return {fold: words for fold, words in sure.items() if stands_bare(fold) and fold not in ("a", "i")}

    @cached_property
    def _longest(self) -> int:
        return max((fold.count(" ") + 1 for fold in self._by_fold), default=0)

    def subject(self, tokens: Sequence[Token], at: int) -> int:
        """Return the number of tokens from `at` on that can be the subject of a sentence, or 0."""
        texts = [token.text if token.kind is TokenKind.WORD else "" for token in tokens[at : at + 50]]
        return max((len(s) for s in self._subjects if texts[: len(s)] == s), default=0)

    @cached_property
    def _subjects(self) -> list[list[str]]:
        nouns = [words for words, columns in self.by_words.items() if not is_clause(columns[0])]
        return [words.split(" ") for words in (*nouns, *(c.subject for c in self._clauses.values())) if words]

    def numbered(self, plural: str) -> list[str]:
        """Return the subjects that a plural stands for: pilot 1 and pilot 2 for "pilots"."""
        singular = f"{plural[:-3]}y" if plural.endswith("ies") else plural.removesuffix("s")
        first = {plural.casefold(), singular.casefold()}
        found = (words for words in self._subjects if len(words) == 2 and words[0].casefold() in first)
        return sorted({" ".join(words) for words in found})

    def noun(self, column: Column, quote_all: bool = False) -> str:
        """Write a column; its name is added if other columns have the same words."""
        called = self.called.get(column.name, column.words)
        words = f"the {called}" if called in self._definite and not quote_all else bare_or_quoted(called, quote_all)
        return words if self._times[called] == 1 else f"{words} {quoted(column.name)}"

    def clause(self, column: Column, true: bool, quote_all: bool = False) -> "Clause | None":
        """Return the sentence for a Boolean column that is true, or false; None if there is none for false."""
        if not is_clause(column):
            return Clause(self.noun(column, quote_all), "is", "true" if true else "false")
        if not quote_all and (column.name, true) in self._clauses:
            return self._clauses[column.name, true]
        if not true and column.negated in self.by_negated:
            return Clause("", "", quoted(column.negated))
        return Clause("", "", self.noun(column, quote_all)) if true else None

    def like(self, column: Column, true: bool) -> dict[str, Fact]:
        """Return all sentences with the subject and verb of a Boolean column's sentence, by their predicates."""
        own = self._clauses.get((column.name, true))
        if own is None or own.verb not in SHARED_VERBS:
            return {}
        alike = {key: clause for key, clause in self._clauses.items() if clause.opening == own.opening}
        return {clause.predicate: Fact(self.schema[name], truth) for (name, truth), clause in alike.items()}

    def _takes_article(self, words: str) -> bool:
        """Return True if all columns with these words take "the", and no other words begin like that."""
        columns, definite = self.by_words[words], f"the {words}"
        wanted = all(takes_article(column) and column.phrase == words for column in columns)
        return wanted and stands_bare(words) and stands_bare(definite) and definite not in self._times

    def _negated(self) -> dict[str, Column]:
        """Return the columns whose negated phrase is unambiguous, by that phrase."""
        times = Counter(column.negated for column in self.schema.values())
        return {
            column.negated: column
            for column in self.schema.values()
            if column.negated and times[column.negated] == 1 and not self._times[column.negated]
            and column.negated not in self.schema and is_clause(column)
        }  # fmt: skip

    def call(self, function: UserFunction) -> FunctionPhrase | None:
        """Return the phrase of a function if it can be read back, else None."""
        return self._calls.get(function)

    def _branch(self, words: str) -> _Branch:
        branch = self._root
        for word in words.split(" "):
            branch = branch.setdefault(word, _Branch())
        return branch

    def _add(self, words: str, entry: Entry) -> bool:
        """Add words derived from a column's own, unless they have a meaning already; return True if added."""
        if not stands_bare(words) or (branch := self._branch(words)).entries:
            return False
        branch.entries.append(entry)
        return True

    def _add_clauses(self, column: Column) -> None:
        """Add the other clauses of a Boolean column: that it is not true, always true, never true."""
        if not stands_bare(column.words) or self._times[column.words] > 1:
            return
        positive = split(column.words, column.negated)
        self._clauses[column.name, True] = self._with_adverbs(column, True, positive)
        negated = split(column.negated, column.words) if column.negated else None
        for negative in (negated, positive.denied):
            if negative is not None and self._add(str(negative), Fact(column, False)):
                self._clauses[column.name, False] = self._with_adverbs(column, False, negative)
                break

    def _with_adverbs(self, column: Column, true: bool, clause: "Clause") -> "Clause":
        """Add the clause with adverbs; return it whole, not split, if one of these has a meaning already."""
        whole = Clause("", "", str(clause))
        if not clause.verb:
            return whole
        for adverb in ("always", "never"):
            if not self._add(clause.with_adverb(adverb), Fact(column, true, adverb)):
                return whole
        for adverb in STAYING if clause.verb == "is" else ():
            self._add(f"{clause.subject} {adverb} {clause.predicate}", Fact(column, true, adverb))
        verbless = clause.verbless
        return clause if verbless is None or self._add(verbless, Fact(column, true, "", True)) else whole

    def _call(self, function: UserFunction) -> FunctionPhrase | None:
        """Return the phrase of a function if it begins with a word and has the operands in order, else None."""
        first, *pieces = _pieces(function)
        fits = len(pieces) == function.arity and all(not p or p.strip() for p in pieces)
        plain = all(_harmless(piece.strip()) for piece in (first, *pieces) if piece)
        if not (fits and plain and first.strip() and all(pieces[:-1])):
            return None
        call = FunctionPhrase(function, first.strip(), tuple(piece.strip() for piece in pieces))
        branch = self._branch(first.strip())
        if branch.entries:
            return None
        branch.entries.append(call)
        return call


def _words_of(branch: _Branch, before: str = "") -> Iterable[str]:
    """Yield all words below a branch that have a meaning."""
    if branch.entries:
        yield before[1:]
    for word, below in branch.items():
        yield from _words_of(below, f"{before} {word}")


@lru_cache(maxsize=16)
def vocabulary(
    schema: Schema, functions: tuple[UserFunction, ...] = (), called: tuple[tuple[str, str], ...] = ()
) -> Vocabulary:
    """Return the vocabulary of a schema, of functions, and of a grammar's own phrases for columns."""
    return Vocabulary(schema, functions, called)


def _rephrased(schema: Schema, phrases: Mapping[str, str]) -> Schema:
    """Replace the phrases of some Boolean columns of a schema."""
    if not phrases:
        return schema
    return Schema(replace(c, phrase=phrases[c.name], negated=None) if c.name in phrases else c for c in schema.values())


def attribute(column: Column) -> Expression:
    """Return a column as an expression."""
    return Expression(Attribute(column.name, _TYPES[column.type]))


_TYPES = {
    ColumnType.REAL: Type.REAL_VECTOR,
    ColumnType.BOOLEAN: Type.BOOLEAN_VECTOR,
    ColumnType.CATEGORICAL: Type.CATEGORICAL_VECTOR,
}


def static_columns(schema: Schema) -> frozenset[str]:
    """Return the columns with one value per record: statements about them need no "at some point"."""
    return frozenset(name for name, column in schema.items() if column.static)


def is_clause(column: Column) -> bool:
    """Return True if the words of a column are a whole sentence: "the valve is open", but not a bare name."""
    if column.type is not ColumnType.BOOLEAN:
        return False
    return bool(column.phrase) or bool(split(column.name).verb)


def scales(column: Column) -> Iterable[tuple[Scale, str]]:
    """Yield the clauses that a column's words for high and low form with a constant, each with its first words."""
    for high, words in ((True, column.high), (False, column.low)):
        before, place, after = (words or "").partition("{0}")
        apart = place and before.endswith(" ") and (not after or after.startswith(" "))
        if apart and _harmless(before.strip()) and _harmless(after.strip()):
            yield Scale(column, high, after.strip()), before.strip()


def _harmless(words: str) -> bool:
    """Return True if words may follow an operand."""
    return words.isprintable() and words == " ".join(words.split()) and not set(words) & set(',;“”"[]{}')


def _pieces(function: UserFunction) -> list[str]:
    """Return a function's words before, between and after its operands; [""] if the operands are not in order."""
    rest, pieces = function.phrase, []
    for i in range(function.arity):
        before, place, rest = rest.partition(f"{{{i}}}")
        if not place:
            return [""]
        pieces.append(before)
    return [*pieces, rest]


# ---- Definite articles: "the vertical rate of aircraft 1", but "advisory 1".

_DETERMINED = {
    "the", "a", "an", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "whose",
    "each", "every", "all", "both", "either", "neither", "some", "any", "no", "many", "most", "few", "several", "how",
    "one", "two", "three", "what", "which", "when", "whether",
}  # fmt: skip
_PREPOSITIONS = {
    "of", "to", "from", "between", "since", "until", "at", "in", "on", "over", "with", "per", "above", "below", "for",
    "by", "before", "after", "towards", "under",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z][A-Za-z’'-]*", re.ASCII)


def takes_article(column: Column) -> bool:
    """Return True if a column's phrase takes "the", judging by its words.

    Names of columns take none, nor do single words, phrases with a determiner of their own, phrases that end in a
    label ("advisory 1", "pump B"), plurals, and phrases that begin with a capital letter, which may be names.
    """
    words = (column.phrase or "").split(" ")
    named = column.phrase in (None, column.name) or column.type is ColumnType.BOOLEAN  # Boolean phrases are sentences
    if named or len(words) < 2 or not _WORD.fullmatch(words[0]):
        return False
    if words[0].lower() in _DETERMINED or words[0].istitle() or words[0].endswith(("'s", "’s", "s'", "s’")):
        return False
    head = next((words[:i] for i, word in enumerate(words) if i and word in _PREPOSITIONS), words)
    last = head[-1]
    is_plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    return len(last) > 1 and bool(_WORD.fullmatch(last)) and not is_plural


# ---- Clauses: a user's sentence split at its verb, so that it can be negated or take an adverb.
#
# The verb is the first auxiliary ("is", "has", "can"), or else the first word that is the third person of a verb and
# cannot be a noun ("responds", "complies"; not "turns" or "runs"). A column's negated phrase reveals other verbs:
# "pump 2 runs" and "pump 2 does not run". A sentence stays whole if a word before its verb makes the reference of an
# adverb or "not" ambiguous: a quantifier ("both", "no"), the beginning of another clause ("the aircraft that is near
# …"), or an adverb.

_AUXILIARIES = {
    "is", "are", "was", "were", "has", "have", "had", "can", "could", "will", "would", "does", "do", "did", "must",
    "may", "might", "should",
}  # fmt: skip
_VERBS = (
    "accelerate", "accept", "acknowledge", "activate", "agree", "allow", "appear", "apply", "ascend", "become", "begin",
    "belong", "breathe", "collide", "comply", "confirm", "contain", "continue", "converge", "cooperate", "decelerate",
    "deny", "depart", "depend", "descend", "deteriorate", "deviate", "differ", "disagree", "disappear", "diverge",
    "emerge", "emit", "enter", "exceed", "exist", "expand", "expect", "expire", "explode", "fluctuate", "follow",
    "happen", "hesitate", "ignore", "indicate", "intervene", "listen", "maintain", "obey", "occur", "operate", "oppose",
    "oscillate", "overheat", "participate", "persist", "precede", "prevail", "proceed", "react", "receive", "recover",
    "refuse", "remain", "remember", "remove", "require", "resist", "respond", "seem", "send", "succeed", "suffer",
    "tend", "vanish", "vary", "vibrate", "violate", "warn", "weaken",
)  # fmt: skip
_IRREGULAR = {"are": "is", "be": "is", "have": "has"}
_FIRST_DOUBTS = {"all", "any", "each", "every", "few", "many", "most", "one", "only", "several", "some", "three", "two"}
_DOUBTS = {
    "always", "because", "both", "either", "ever", "hardly", "if", "neither", "never", "no", "nobody", "none", "not",
    "nothing", "often", "rarely", "seldom", "sometimes", "that", "unless", "until", "when", "where", "which", "who",
    "whose",
}  # fmt: skip


_DOES_NOT = "does not"
_TURNED = {"always": "never", "never": "always"}
"""Adverbs by which "does not" is replaced: what always does not happen never happens."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence as subject, verb and predicate; one that could not be split is all predicate."""

    subject: str
    verb: str
    predicate: str

    def __str__(self) -> str:
        return _words(self.subject, self.verb, self.predicate)

    @property
    def opening(self) -> str:
        """Subject and verb."""
        return _words(self.subject, self.verb)

    def with_adverb(self, adverb: str) -> str:
        """Add "always" or "never": after an auxiliary, before another verb, or before the whole sentence."""
        if self.verb == _DOES_NOT:
            return str(Clause(self.subject, f"{_TURNED[adverb]} {self._third}", self._rest))
        behind = self.verb in _AUXILIARIES and not self._owns
        verb = f"{self.verb} {adverb}" if behind else f"{adverb} {self.verb}"
        return _words(self.subject, verb.rstrip(), self.predicate)

    @property
    def denied(self) -> "Clause | None":
        """The negated sentence, or None if its negation is not clear."""
        first = self.predicate.split(" ")[0]
        if not self.verb or first in _DOUBTS or first == "to":  # "is not to open" forbids what "is to open" orders
            return None
        if self.verb == _DOES_NOT:
            return Clause(self.subject, self._third, self._rest)
        if self._owns:
            return Clause(self.subject, self.verb, f"no {self.predicate.partition(' ')[2]}")
        if self.verb in _AUXILIARIES:
            return Clause(self.subject, self.verb, f"not {self.predicate}")
        known = _THIRD.get(self.verb)
        return None if known is None else Clause("", "", _words(self.subject, "does not", known, self.predicate))

    @property
    def _third(self) -> str:
        """The verb after "does not" in the third person."""
        return third_person(self.predicate.split(" ")[0])

    @property
    def _rest(self) -> str:
        return self.predicate.partition(" ")[2]

    @property
    def _owns(self) -> bool:
        """True if "has" means possession, as in "has a traffic alert", rather than a tense, as in "has risen"."""
        return self.verb in ("has", "have", "had") and self.predicate.startswith(("a ", "an "))

    @property
    def verbless(self) -> str | None:
        """The sentence without "is", for lists: "the valve open"; None if it has another verb."""
        return f"{self.subject} {self.predicate}" if self.verb in ("is", "are") else None


def split(words: str, negated: str | None = None) -> Clause:
    """Split a sentence at its verb, or leave it whole if the verb is ambiguous.

    `negated` is the column's negated phrase.
    """
    parts = words.split(" ")
    verbs = [i for i, part in enumerate(parts) if part in _AUXILIARIES and i < len(parts) - 1]
    verbs = verbs or [i for i, part in enumerate(parts) if part in _THIRD or _denies(negated, parts, i)]
    before = [part.lower() for part in parts[: verbs[0]]] if verbs else []
    if not before or before[0] in _FIRST_DOUBTS or not _DOUBTS.isdisjoint(before):
        return Clause("", "", words)
    subject, verb, predicate = " ".join(parts[: verbs[0]]), parts[verbs[0]], " ".join(parts[verbs[0] + 1 :])
    denied = predicate.removeprefix("not ")
    if verb in ("do", "does", "did") and denied != predicate:  # no adverb goes between them
        clear = verb == "does" and denied.split(" ")[0].isalpha() and denied.split(" ")[0] not in _DOUBTS
        return Clause(subject, _DOES_NOT, denied) if clear else Clause("", "", words)
    return Clause(subject, verb, predicate)


def _denies(negated: str | None, parts: list[str], i: int) -> bool:
    """Return True if `negated` is the sentence with "does not" before the word at `i`, its verb."""
    subject, predicate = " ".join(parts[:i]), " ".join(parts[i + 1 :])
    verb = (negated or "").removeprefix(f"{subject} does not ").removesuffix(f" {predicate}" if predicate else "")
    return verb.isalpha() and third_person(verb) == parts[i]


def third_person(verb: str) -> str:
    """Inflect a verb: "responds" from "respond"."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_THIRD = {third_person(verb): verb for verb in _VERBS}


def _words(*parts: str) -> str:
    return " ".join(part for part in parts if part)
