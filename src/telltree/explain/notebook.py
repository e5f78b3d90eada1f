"""Trees and categories as HTML for notebooks, foldable without a script; all text from data is escaped."""

from collections.abc import Container, Iterable, Iterator

from telltree.english.styles import Style, check_style, english
from telltree.explain.category_text import CategoryGroup, CategoryText, names_of, nested
from telltree.explain.occurrence import headline_text
from telltree.text import counted, escaped
from telltree.tree.target import Summary
from telltree.tree.tree import Leaf, Node, Tree

# Only the page's own colours, so that it is readable in light and dark themes.
_STYLE = """
.telltree details, .telltree .leaf {margin: .2em 0}
.telltree .side {margin-left: 1em; padding-left: .6em; border-left: 1px solid currentColor}
.telltree summary {cursor: pointer}
.telltree .formula, .telltree .counts {opacity: .75}
.telltree .formula {display: block; margin-left: 1em}
.telltree .category, .telltree .shared {margin: .6em 0}
"""


def tree_html(tree: Tree, *, missing: Container[str] | None = None, style: Style = "plain") -> str:
    """Return a tree as HTML: the question, records and formula of each node, the prediction and records of each leaf.

    `missing` names the columns whose missing values English must mention; by default those that missed values in
    training. `style` is that of `english`; only plain English has headlines.
    """
    check_style(style)
    missing = tree.missing if missing is None else missing
    body = _node(tree.root, tree, missing, iter(range(1, len(tree.leaves) + 1)), style=style)
    return f'<div class="telltree"><style>{_STYLE}</style>{body}</div>'


def categories_html(categories: Iterable[CategoryText]) -> str:
    """Return categories as HTML: shared claims above each group, then each category; whole sentences are folded."""
    body = "".join(_alone(one) if isinstance(one, CategoryText) else _group(one, "share")
                   for one in nested(list(categories)))  # fmt: skip
    return f'<div class="telltree"><style>{_STYLE}</style>{body}</div>'


def _group(group: CategoryGroup, verb: str) -> str:
    above = f"<div>{names_of(group)} {verb}: {escaped(group.shared.sentence)}</div>"
    sides = "".join(
        f'<div class="side">{_unlike(one, other) if isinstance(one, CategoryText) else _group(one, "also share")}</div>'
        for one, other in (group.parts, reversed(group.parts))
    )
    return f'<div class="shared">{above}{sides}</div>'


def _alone(category: CategoryText) -> str:
    if category.short is not None:
        return _category(category, category.short, f"{category.among}: ")
    return _category(category, category.whole.english, "" if category.headline is None else "exactly: ", folded="")


def _unlike(category: CategoryText, other: CategoryGroup | CategoryText) -> str:
    return _category(category, category.steps[-1].sentence, f"unlike {names_of(other)}: ")


def _category(category: CategoryText, sentence: str, before: str, folded: str = "whole sentence") -> str:
    """Return a category with a sentence; the whole sentence is folded with the formula, unless it is that sentence."""
    category = category.without_repeated_headline(sentence)
    headline = "" if category.headline is None else f"<b>{escaped(category.headline)}</b>"
    lines = (
        [f"{escaped(before)}{headline}"]
        if category.is_headline(sentence)
        else [headline, escaped(before + category.with_note(sentence))]
    )
    shown = "".join(f"<div>{line}</div>" for line in lines if line)
    whole = f"<div>{escaped(category.with_note(category.whole.english))}</div>" if folded else ""
    formula = f'<code class="formula">{escaped(category.whole.formula)}</code>'
    return (
        f'<div class="category"><div>{escaped(category.head)}</div>{shown}'
        f"<details><summary>{folded or 'formula'}</summary>{whole}{formula}</details></div>"
    )


def _node(
    node: Node | Leaf,
    tree: Tree,
    missing: Container[str] | None,
    numbers: Iterator[int],
    answer: str = "",
    *,
    style: Style,
) -> str:
    records = f'<span class="counts">{_records(node.summary)}</span>'
    if isinstance(node, Leaf):
        label, remark = node.summary.title, node.summary.remark
        note = escaped(f"; {remark}") if remark else ""
        number = next(numbers)
        headline = headline_text(tree, number) if style == "plain" else None
        below = f'<div class="counts">{escaped(headline)}</div>' if headline else ""
        return f'<div class="leaf">{answer}[{number}] <b>{escaped(label)}</b> {records}{note}{below}</div>'
    may_miss = missing if node.unknown is None else tree.missed_by(node)
    question = escaped(english(node.shown, tree.schema, may_miss, style=style, step=tree.step))
    doubt = "" if node.unknown_note is None else f'<div class="counts">{escaped(node.unknown_note)}</div>'
    sides = "".join(
        f'<div class="side">{_node(side, tree, missing, numbers, answer, style=style)}</div>'
        for answer, side in (("yes: ", node.true), ("no: ", node.false))
    )
    summary = f'{answer}{question}? {records}<code class="formula">{escaped(node.shown)}</code>{doubt}'
    return f"<details open><summary>{summary}</summary>{sides}</details>"


def _records(summary: Summary) -> str:
    return f"{counted(summary.support, 'record')} ({escaped(summary.mixed)})"
