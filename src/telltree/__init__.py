"""Decision trees whose branches are temporal-logic sentences, learned from labelled time series.

Every public name is an attribute of this package and is loaded when first used, so `import telltree` alone
loads neither numba nor scikit-learn.
"""

from typing import TYPE_CHECKING

from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.engine import Formula as Formula
    from telltree.errors import TelltreeError as TelltreeError
    from telltree.estimators import GrammarForestClassifier as GrammarForestClassifier
    from telltree.estimators import GrammarTreeClassifier as GrammarTreeClassifier
    from telltree.estimators import PanelMaker as PanelMaker
    from telltree.estimators import TemporalFeatures as TemporalFeatures
    from telltree.estimators import load as load
    from telltree.explain import ask as ask
    from telltree.grammar import Grammar as Grammar
    from telltree.logic import user_function as user_function
    from telltree.models.export import export_model as export_model
    from telltree.panel import Column as Column
    from telltree.panel import Panel as Panel
    from telltree.panel import Schema as Schema
    from telltree.panel import read as read
    from telltree.panel import scan as scan

__version__ = "0.1.0"

_HOMES = {
    "Column": "panel",
    "Panel": "panel",
    "Schema": "panel",
    "read": "panel",
    "scan": "panel",
    "TelltreeError": "errors",
    "GrammarForestClassifier": "estimators",
    "GrammarTreeClassifier": "estimators",
    "PanelMaker": "estimators",
    "TemporalFeatures": "estimators",
    "load": "estimators",
    "ask": "explain",
    "export_model": "models.export",
    "Grammar": "grammar",
    "Formula": "engine",
    "user_function": "logic",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the keys of the table are strings

__getattr__, __dir__ = lazily(__name__, _HOMES)
