"""Reports: what was learned, as figures and as a page.

Names are loaded when first used, so that only drawing needs matplotlib, and only pages need jinja2.
"""

from typing import TYPE_CHECKING

from telltree.extras import extras
from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.report.category_figure import plot_category as plot_category
    from telltree.report.category_figure import plot_collage as plot_collage
    from telltree.report.encounter_figures import draw_encounter as draw_encounter
    from telltree.report.encounter_figures import plot_encounter as plot_encounter
    from telltree.report.page import report_html as report_html
    from telltree.report.page import write_report as write_report
    from telltree.report.record_figure import plot_record as plot_record
    from telltree.report.score_figures import plot_confusion as plot_confusion
    from telltree.report.score_figures import plot_pruning_path as plot_pruning_path
    from telltree.report.score_figures import plot_search as plot_search
    from telltree.report.tree_figure import plot_tree as plot_tree

_HOMES = {
    "draw_encounter": "encounter_figures",
    "plot_category": "category_figure",
    "plot_collage": "category_figure",
    "plot_confusion": "score_figures",
    "plot_encounter": "encounter_figures",
    "plot_pruning_path": "score_figures",
    "plot_record": "record_figure",
    "plot_search": "score_figures",
    "plot_tree": "tree_figure",
    "report_html": "page",
    "write_report": "page",
}

__all__ = list(_HOMES)

_load, __dir__ = lazily(__name__, _HOMES)


def __getattr__(name: str) -> object:
    """Load a public name; raise a clear error if the library it needs is not installed."""
    with extras():
        return _load(name)
