"""Why, in words: English, questions, categories, the rule table, and the steps that decided."""

from telltree.explain.ask import Answer, ClassAnswer, ask
from telltree.explain.categories import Categories, Category, categories_text, categorize, sentence
from telltree.explain.english import Style, english, plain
from telltree.explain.evidence import Margins, decisive_step, decisive_steps
from telltree.explain.implication import redundant, shown
from telltree.explain.moments import Moments
from telltree.explain.rules import RuleRow, as_records, rules_table, rules_text
from telltree.explain.verdict import Verdict
from telltree.explain.way import Turn, turn_of, way_of

__all__ = [
    "Answer",
    "Categories",
    "Category",
    "ClassAnswer",
    "Margins",
    "Moments",
    "RuleRow",
    "Style",
    "Turn",
    "Verdict",
    "as_records",
    "ask",
    "categories_text",
    "categorize",
    "decisive_step",
    "decisive_steps",
    "english",
    "plain",
    "redundant",
    "rules_table",
    "rules_text",
    "sentence",
    "shown",
    "turn_of",
    "way_of",
]
