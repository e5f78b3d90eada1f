"""Columns named by words of the English itself: every sentence about them, or about others, still reads back."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.english.test_read import built, types_of
from tests.support import oracle
from tests.support.effort import examples
from tests.support.oracle_form import judged
from tests.support.strategies import Column, RandomFormulas, draw_case

from telltree import Formula
from telltree.english import term_of
from telltree.english.operator_phrases import PHRASES
from telltree.english.read_sentence import read
from telltree.english.tokens import BOUNDS, OPENERS, WORDS
from telltree.english.write_sentence import text_with_quotations
from telltree.explain import english
from telltree.panel import Column as Named
from telltree.panel import Schema

SINGLE = """
    after all always and are at becomes before below beyond between both by change each earlier either end ever every
    exactly excess false fewer first for from has have in is it known last later least left less looks minus missing
    more most neither never next no nor not of on once or other over passed record rises share since so some
    start step steps that the then thousand time times to true unknown unless until up value when whenever whether
    while within without a an row point half k percent s
""".split()  # noqa: SIM905
OTHERS = re.compile("“(speed|gear|mode)”")
PLACES = re.compile(r"\{[^}]*\}|[,;:–]")


def keywords():
    """The words of the English, one by one, and the longer phrases that parts of sentences begin with."""
    phrases = [words for phrase in PHRASES.values() for words, _ in phrase.templates()]
    phrases += [words for p in PHRASES.values() if p.of_record for words, _ in p.of_record.templates()]
    words = {word for text in (*phrases, *OPENERS, *BOUNDS) for word in PLACES.sub(" ", text).split()}
    openings = {" ".join(PLACES.split(text)[0].split()) for text in (*phrases, *OPENERS, *BOUNDS)}
    halves = {" ".join(text.split()[: len(text.split()) // 2 + 1]) for text in openings}
    return sorted({*words, *openings, *halves, *SINGLE, *sorted(WORDS)[::6]} - {""})


def said(formula, columns, step):
    schema = Schema(Named(c.name, c.type, levels=c.levels) for c in columns)
    sentence, meant = text_with_quotations(term_of(built(formula, types_of(columns))), schema, step=step)
    return sentence, read(sentence, schema, step=step, sentences=meant)


@pytest.mark.parametrize("kind", ["real", "Boolean", "categorical"])
def test_a_column_named_by_a_keyword_breaks_no_sentence(kind):
    rng = random.Random(kind)
    for word in keywords():
        columns = (
            Column(word, kind, ("up", "and") if kind == "categorical" else ()),
            Column("speed", "real"),
            Column("gear", "Boolean"),
            Column("mode", "categorical", ("run", "purge")),
        )
        case, draw = draw_case(rng, columns, [1, 3, 5]), RandomFormulas(rng, columns)
        for _ in range(6):
            formula = draw.boolean(rng.randint(1, 3))
            if "'call'" in repr(formula):
                continue
            sentence, found = said(formula, columns, rng.choice((None, (1.0, "s"))))
            for record in case.records:
                assert oracle.truth(judged(found), record, {}) == oracle.truth(formula, record, {}), (word, sentence)
            assert not OTHERS.search(sentence), (word, sentence)


@pytest.mark.parametrize("word", ["first", "until", "some", "number", "excess", "before", "all the time"])
@pytest.mark.parametrize(
    "text",
    [
        "F(speed > 1 and gear)", "before(speed > 1, gear)", "until(gear, speed > 1)", "F[0, 3](speed > 1)",
        "G[1, 3](gear)", "next(gear)", "F(abs(speed) > 1)", "count(gear) > 3", "F(elapsed() < 3 and gear)",
        "F(mode = \"run\" and once(gear))", "count(gear) - count(speed > 1) > 2",
    ],
)  # fmt: skip
def test_sentences_about_other_columns_need_no_quotes(word, text):
    columns = [Named("speed", "real"), Named("gear", "Boolean"), Named("mode", "categorical", levels=("run", "purge"))]
    plain, schema = Schema(columns), Schema([*columns, Named(word, "real")])
    formula = Formula.parse(text, plain)
    sentence = english(formula, schema)
    assert sentence == english(formula, plain)
    assert "“" not in sentence
    assert Formula.from_english(sentence, schema) == Formula.from_english(sentence, plain)


@examples(150)
@given(st.lists(st.sampled_from(keywords()), min_size=3, max_size=6, unique=True), st.randoms(use_true_random=False))
def test_all_columns_may_be_named_by_keywords(words, rng):
    kinds = ["real", "Boolean", "categorical", *(rng.choice(("real", "Boolean")) for _ in words[3:])]
    columns = tuple(
        Column(word, kind, tuple(rng.sample(words, 2)) if kind == "categorical" else ())
        for word, kind in zip(words, kinds, strict=True)
    )
    case, formula = draw_case(rng, columns, [1, 3, 5]), RandomFormulas(rng, columns).boolean(rng.randint(1, 3))
    if "'call'" in repr(formula):  # functions that have no words
        return
    sentence, found = said(formula, columns, rng.choice((None, (1.0, "s"))))
    for record in case.records:
        assert oracle.truth(judged(found), record, {}) == oracle.truth(formula, record, {}), sentence
