"""Exports for readers: formulas, LaTeX, a Graphviz graph, and the table of rules as JSON, CSV and Markdown."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from telltree.explain import RuleRow, rules_table
from telltree.explain.category_text import grouped
from telltree.explain.occurrence import training_occurrences
from telltree.explain.rules import NOTHING, cells
from telltree.explain.sentence import claims_of, sentence
from telltree.logic import Expression, Level
from telltree.logic.expression import conjunction
from telltree.logic.operators import AND, Form, Operator
from telltree.models.export_common import Chosen, Exported
from telltree.text import counted, harmless, visible, visible_json
from telltree.tree.tree import Branch, Leaf, Node

# ---- The tree as a graph for Graphviz.


def dot(exported: Exported) -> str:
    """Write a directed graph; for one category, the path from the root to it."""
    lines = ["digraph tree {", '  node [shape=box, fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    numbers = iter(range(len(exported.tree.nodes) + len(exported.tree.leaves)))
    clusters = iter(range(1, len(exported.tree.leaves) + 1))
    lines += _subtree_lines(exported, exported.tree.root, "", numbers, clusters)
    return "\n".join([*lines, "}"]) + "\n"


def _subtree_lines(
    exported: Exported, node: Node | Leaf, edge: str, numbers: Iterator[int], clusters: Iterator[int]
) -> list[str]:
    """Return the lines of a subtree and of the edge that leads to it; none if the category is not in it."""
    name = f"n{next(numbers)}"
    above = [edge.format(name)] if edge else []
    if isinstance(node, Leaf):
        cluster = next(clusters)
        summary = node.summary
        remark = f"\n{summary.remark}" if summary.remark else ""
        label = _quoted(f"[{cluster}] {summary.title}\n{summary.mixed}{remark}")
        return [f"  {name} [label={label}, style=rounded];", *above] if exported.category in (None, cluster) else []
    below = [
        line
        for side, word in ((node.true, "yes"), (node.false, "no"))
        for line in _subtree_lines(exported, side, f'  {name} -> {{}} [label="{word}"];', numbers, clusters)
    ]
    label = _quoted("\n".join(filter(None, [str(node.shown), node.unknown_note])))
    return [f"  {name} [label={label}];", *above, *below] if below else []


def _quoted(text: str) -> str:
    """Write a string of the DOT language, in which Graphviz reads backslashes and HTML entities."""
    escaped = visible(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n") + '"'


# ---- Formulas, as telltree itself reads them.


def formula_text(exported: Exported) -> str:
    """Write one formula per category, each after a comment with its number and label."""
    blocks = []
    for chosen in exported.categories:
        label = visible_json(json.dumps(chosen.label, ensure_ascii=False, default=str))
        blocks.append(f"# category {chosen.number}: {label}\n{conjunction(chosen.formulas)}\n")
    return "\n".join(blocks)


# ---- LaTeX mathematics; `aligned` and `text` are amsmath's.


def latex(exported: Exported) -> str:
    """Write the formula of one category; or all formulas, one per line, after the labels that they imply."""
    if exported.category is not None:
        return "".join(map(_formula, exported.categories)) + "\n"
    lines = [f"{_latex(Expression(Level(str(one.label))))} &\\Leftarrow {_formula(one)}" for one in exported.categories]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


def _formula(chosen: Chosen) -> str:
    alone = len(chosen.formulas) == 1
    parts = [_latex(e) if alone or not _is_infix(e) else f"({_latex(e)})" for e in chosen.formulas]
    return f" {AND.latex} ".join(parts) or r"\top"


def _latex(e: Expression) -> str:
    return re.sub(r"\s", " ", e.latex())  # a name may have line breaks


def _is_infix(e: Expression) -> bool:
    return isinstance(e.head, Operator) and e.head.form is Form.INFIX


# ---- The list of rules as JSON.


def rule_rows(exported: Exported) -> list[RuleRow]:
    """Return the rows of the categories to export."""
    rows = rules_table(exported.tree, missing=exported.missing, style=exported.style)
    return [row for row in rows if exported.category in (None, row.cluster)]


def json_rules(exported: Exported) -> str:
    """Write an array with one object per category."""
    rules = [
        {
            "category": row.cluster,
            "label": row.label,
            "formula": row.formula,
            "english": row.english,
            "short": row.short,
            "headline": row.headline,
            **row.certainty.exported(),
            "title": row.title,
            "occurs": row.occurs,
        }
        for row in rule_rows(exported)
    ]
    return visible_json(json.dumps(rules, indent=1, ensure_ascii=False, allow_nan=False, default=str)) + "\n"


# ---- The table of rules as CSV.


def csv_table(exported: Exported) -> str:
    """Write a header and one line per category, as in RFC 4180; no cell is a spreadsheet formula."""
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    rows = [_cells(row) for row in rule_rows(exported)]
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(map(harmless, row.values()))
    return file.getvalue()


def _cells(row: RuleRow) -> dict[str, Any]:
    """Return the cells of a line by column; lists are left out."""
    values = {name: value for name, value in row.certainty.exported().items() if not isinstance(value, list)}
    sure = {name: str(value).lower() if isinstance(value, bool) else value for name, value in values.items()}
    texts = {"formula": row.formula, "english": row.english, "short": row.short, "headline": row.headline}
    return {"category": row.cluster, "label": row.label, **sure, **texts, "title": row.title, "occurs": row.occurs}


# ---- The table of rules as Markdown.

_SPECIAL = re.compile(r"\s+|[\\`*_{}]|[&<>|~$^]|\](?=[(\[])")


def markdown_table(exported: Exported) -> str:
    """Write a header and one line per category; two siblings follow a line with their common conditions."""
    rows = {row.cluster: row for row in rule_rows(exported)}
    columns = cells(next(iter(rows.values())))[1:]  # the first is called otherwise here
    lines: list[tuple[str, ...]] = [
        ("category", *(cell.name for cell in columns), "English", "headline"),
        ("---:", *("---:" if cell.number else "---" for cell in columns), "---", "---"),
    ]
    for group in grouped(exported.categories):
        if len(group) == 2:
            yes, no = group
            lines.append(_common_line(yes, no, exported, len(columns) - 2))
            apart = {
                one.number: _with_occurrence(_sentence(one.branches[-1:], exported), one.formulas[-1:], one, exported)
                for one in group
            }
            lines.append(_line(rows[yes.number], f"unlike {no.number}: {apart[yes.number]}"))
            lines.append(_line(rows[no.number], f"unlike {yes.number}: {apart[no.number]}"))
        else:
            lines.append(_line(rows[group[0].number], _description(rows[group[0].number], group[0], exported)))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _line(row: RuleRow, english: str) -> tuple[str, ...]:
    texts = [cell.text for cell in cells(row)]
    return tuple(_plain(text) for text in (*texts, english, row.headline or NOTHING))


def _description(row: RuleRow, one: Chosen, exported: Exported) -> str:
    """Return the short description of a category, if it has one, or the whole sentence."""
    if one.leaf.short is None or row.short == row.english or exported.category is not None:
        return _with_occurrence(row.english, one.formulas, one, exported)
    short = _with_occurrence(row.short, [one.leaf.short.expression], one, exported)
    return f"on the {counted(exported.tree.records, 'training record')}: {short}"


def _common_line(yes: Chosen, no: Chosen, exported: Exported, empty: int) -> tuple[str, ...]:
    """Return the line for the conditions of two siblings; `empty` cells precede the formula."""
    above = yes.branches[:-1]
    values = _plain(conjunction(claims_of(above))), _plain(_sentence(above, exported))
    return (f"{yes.number} and {no.number}", "both", *[""] * empty, *values, "")


def _with_occurrence(text: str, claims: Sequence[Expression], one: Chosen, exported: Exported) -> str:
    """Append to a sentence how often its conditions occur, unless they occur in every record."""
    occurrence = training_occurrences(exported.tree)(claims, one.number) if exported.style == "plain" else None
    return text if occurrence is None else text + occurrence.note()


def _sentence(branches: Sequence[Branch], exported: Exported) -> str:
    tree = exported.tree
    missing = tree.missing if exported.missing is None else exported.missing
    return sentence(branches, tree.schema, missing, style=exported.style, step=tree.step)


def _plain(text: str) -> str:
    """Escape text so that any dialect of Markdown shows it literally."""

    def shown(found: re.Match[str]) -> str:
        if found[0].isspace():
            return " "
        return "\\" + found[0] if found[0] in "\\`*_{}" else f"&#{ord(found[0])};"

    return _SPECIAL.sub(shown, visible(re.sub(r"\s", " ", text)))
