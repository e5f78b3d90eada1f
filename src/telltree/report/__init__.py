"""Presentation: what was learned, as figures and as a page.

Names are loaded when first used, so that only drawing needs matplotlib, and only pages need jinja2.
"""

from typing import TYPE_CHECKING

from telltree.extras import extras
from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.report.figures.category import plot_category as plot_category
    from telltree.report.figures.collage import plot_collage as plot_collage
    from telltree.report.figures.confusion import plot_confusion as plot_confusion
    from telltree.report.figures.encounters import draw_encounter as draw_encounter
    from telltree.report.figures.encounters import plot_encounter as plot_encounter
    from telltree.report.figures.front import plot_front as plot_front
    from telltree.report.figures.record import plot_record as plot_record
    from telltree.report.figures.search import plot_search as plot_search
    from telltree.report.figures.tree import plot_tree as plot_tree
    from telltree.report.page.page import report_html as report_html
    from telltree.report.page.page import write_report as write_report

_HOMES = {
    "draw_encounter": "figures.encounters",
    "plot_category": "figures.category",
    "plot_collage": "figures.collage",
    "plot_confusion": "figures.confusion",
    "plot_encounter": "figures.encounters",
    "plot_front": "figures.front",
    "plot_record": "figures.record",
    "plot_search": "figures.search",
    "plot_tree": "figures.tree",
    "report_html": "page.page",
    "write_report": "page.page",
}

__all__ = list(_HOMES)

_load, __dir__ = lazily(__name__, _HOMES)


def __getattr__(name: str) -> object:
    """Load a public name; a clear error if the library it needs is not installed."""
    with extras():
        return _load(name)
