"""Trees and categories as HTML for notebooks: it folds, needs no script, and all text from data is escaped."""

from collections.abc import Container, Iterable, Iterator

from telltree.explain.categories import Category, CategoryGroup, Telling, headline_text, names_of, nested
from telltree.explain.english import Style, check_style, english
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
    """A tree with the question, records and formula of each node, and what each leaf predicts, with its records.

    `missing` names the columns whose missing values English must mention; by default those that missed values in
    training. `style` is that of `english`; headlines are told in plain English alone.
    """
    check_style(style)
    missing = tree.missing if missing is None else missing
    body = _node(tree.root, tree, missing, iter(range(1, len(tree.leaves) + 1)), style=style)
    return f'<div class="telltree"><style>{_STYLE}</style>{body}</div>'


def categories_html(categories: Iterable[Category]) -> str:
    """Categories in groups: what they share, then each with what sets it apart; whole sentences are folded."""
    body = "".join(_alone(one) if isinstance(one, Telling) else _group(one, "share")
                   for one in nested([category.told for category in categories]))  # fmt: skip
    return f'<div class="telltree"><style>{_STYLE}</style>{body}</div>'


def _group(group: CategoryGroup, share: str) -> str:
    above = f"<div>{names_of(group)} {share}: {escaped(group.said.sentence)}</div>"
    sides = "".join(
        f'<div class="side">{_beside(one, other) if isinstance(one, Telling) else _group(one, "also share")}</div>'
        for one, other in (group.parts, reversed(group.parts))
    )
    return f'<div class="shared">{above}{sides}</div>'


def _alone(told: Telling) -> str:
    if told.short is not None:
        return _category(told, told.short, f"{told.among}: ")
    return _category(told, told.whole.english, "" if told.headline is None else "exactly: ", folded="")


def _beside(told: Telling, other: CategoryGroup | Telling) -> str:
    return _category(told, told.steps[-1].sentence, f"unlike {names_of(other)}: ")


def _category(told: Telling, said: str, before: str, folded: str = "whole sentence") -> str:
    """A category with what is said of it; its whole sentence is folded with the formula, unless it is shown."""
    told = told.without_repeats(said)
    headline = "" if told.headline is None else f"<b>{escaped(told.headline)}</b>"
    lines = (
        [f"{escaped(before)}{headline}"] if told.is_headline(said) else [headline, escaped(before + told.noted(said))]
    )
    shown = "".join(f"<div>{line}</div>" for line in lines if line)
    whole = f"<div>{escaped(told.noted(told.whole.english))}</div>" if folded else ""
    formula = f'<code class="formula">{escaped(told.whole.formula)}</code>'
    return (
        f'<div class="category"><div>{escaped(told.head)}</div>{shown}'
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
        weighed = escaped(f"; {remark}") if remark else ""
        number = next(numbers)
        headline = headline_text(tree, number) if style == "plain" else None
        told = f'<div class="counts">{escaped(headline)}</div>' if headline else ""
        return f'<div class="leaf">{answer}[{number}] <b>{escaped(label)}</b> {records}{weighed}{told}</div>'
    unsure = missing if node.unknown is None else tree.missed_by(node)
    said = escaped(english(node.shown, tree.schema, unsure, style=style, step=tree.step))
    doubt = "" if node.unknown_note is None else f'<div class="counts">{escaped(node.unknown_note)}</div>'
    sides = "".join(
        f'<div class="side">{_node(side, tree, missing, numbers, answer, style=style)}</div>'
        for answer, side in (("yes: ", node.true), ("no: ", node.false))
    )
    summary = f'{answer}{said}? {records}<code class="formula">{escaped(node.shown)}</code>{doubt}'
    return f"<details open><summary>{summary}</summary>{sides}</details>"


def _records(said: Summary) -> str:
    return f"{counted(said.support, 'record')} ({escaped(said.mixed)})"
