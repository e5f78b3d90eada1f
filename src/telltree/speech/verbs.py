"""Sentences split at their verb, where the verb is certain.

The verb is the first auxiliary ("is", "has", "can"), or else the first word that is the third person of a verb and not
a noun ("responds", "complies"; not "turns" or "runs"). A column's negated phrase reveals any other verb: "pump 2 runs"
and "pump 2 does not run". A sentence is not split if a word before its verb makes it doubtful what an adverb or "not"
would refer to: a word for how many ("both", "no"), one that begins another clause ("the aircraft that is near …"), or
an adverb.
"""

from dataclasses import dataclass

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
"""What always does not happen never happens."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence in three parts, so that an adverb can be placed; without a verb all of it is predicate."""

    subject: str
    verb: str
    predicate: str

    def __str__(self) -> str:
        return _words(self.subject, self.verb, self.predicate)

    @property
    def opening(self) -> str:
        """Its subject and verb."""
        return _words(self.subject, self.verb)

    def with_adverb(self, adverb: str) -> str:
        """The sentence with "always" or "never": after an auxiliary, before another verb, or before the whole."""
        if self.verb == _DOES_NOT:
            return str(Clause(self.subject, f"{_TURNED[adverb]} {self._third}", self._rest))
        behind = self.verb in _AUXILIARIES and not self._owns
        verb = f"{self.verb} {adverb}" if behind else f"{adverb} {self.verb}"
        return _words(self.subject, verb.rstrip(), self.predicate)

    @property
    def denied(self) -> "Clause | None":
        """The negated sentence, if the grammar of English is clear."""
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
        """Of "does not respond at once", the "responds"."""
        return third_person(self.predicate.split(" ")[0])

    @property
    def _rest(self) -> str:
        return self.predicate.partition(" ")[2]

    @property
    def _owns(self) -> bool:
        """Whether "has" means possession, as in "has a traffic alert", and not a tense, as in "has risen"."""
        return self.verb in ("has", "have", "had") and self.predicate.startswith(("a ", "an "))

    @property
    def verbless(self) -> str | None:
        """The sentence without "is", for lists: "the valve open"; None where that is not possible."""
        return f"{self.subject} {self.predicate}" if self.verb in ("is", "are") else None


def split(words: str, negated: str | None = None) -> Clause:
    """A sentence split at its verb; whole if the verb is doubtful. `negated` is the column's negated phrase."""
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
    """Whether these words negate a sentence, with "does not", whose verb is the word at `i`."""
    subject, predicate = " ".join(parts[:i]), " ".join(parts[i + 1 :])
    verb = (negated or "").removeprefix(f"{subject} does not ").removesuffix(f" {predicate}" if predicate else "")
    return verb.isalpha() and third_person(verb) == parts[i]


def third_person(verb: str) -> str:
    """The third person of a verb."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeou":
        return f"{verb[:-1]}ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


_THIRD = {third_person(verb): verb for verb in _VERBS}


def _words(*parts: str) -> str:
    return " ".join(part for part in parts if part)
