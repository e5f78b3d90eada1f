"""Why, in words: English, categories, the rule table, and the steps that decided."""

from telltree.explain.categories import Category, categories_text, categorize, sentence
from telltree.explain.english import english, plain
from telltree.explain.evidence import Margins, decisive_step, decisive_steps
from telltree.explain.implication import redundant, shown
from telltree.explain.rules import RuleRow, as_records, rules_table, rules_text
from telltree.explain.way import Turn, way_of

__all__ = [
    "Category",
    "Margins",
    "RuleRow",
    "Turn",
    "as_records",
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
    "way_of",
]
