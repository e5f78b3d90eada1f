"""Decision trees whose branches are temporal-logic sentences, learned from labelled time series.

Every public name is an attribute of this package and is loaded when first used, so `import telltree` alone
loads neither numba nor scikit-learn.
"""

from typing import TYPE_CHECKING

from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.engine import Formula as Formula
    from telltree.errors import CheckpointError as CheckpointError
    from telltree.errors import ClusterError as ClusterError
    from telltree.errors import DataError as DataError
    from telltree.errors import DataWarning as DataWarning
    from telltree.errors import FunctionError as FunctionError
    from telltree.errors import GrammarError as GrammarError
    from telltree.errors import MissingLibraryError as MissingLibraryError
    from telltree.errors import ModelFormatError as ModelFormatError
    from telltree.errors import ModelVersionError as ModelVersionError
    from telltree.errors import SettingsError as SettingsError
    from telltree.errors import SpeechError as SpeechError
    from telltree.errors import TelltreeError as TelltreeError
    from telltree.errors import TelltreeWarning as TelltreeWarning
    from telltree.estimators import GrammarForestClassifier as GrammarForestClassifier
    from telltree.estimators import GrammarTreeClassifier as GrammarTreeClassifier
    from telltree.estimators import PanelMaker as PanelMaker
    from telltree.estimators import TemporalFeatures as TemporalFeatures
    from telltree.estimators import load as load
    from telltree.explain import ask as ask
    from telltree.grammar import Derivation as Derivation
    from telltree.grammar import Grammar as Grammar
    from telltree.logic import user_function as user_function
    from telltree.models.export import export_model as export_model
    from telltree.panel import Column as Column
    from telltree.panel import ColumnType as ColumnType
    from telltree.panel import Panel as Panel
    from telltree.panel import Read as Read
    from telltree.panel import Schema as Schema
    from telltree.panel import read as read
    from telltree.panel import scan as scan
    from telltree.search import Auto as Auto
    from telltree.search import CrossEntropy as CrossEntropy
    from telltree.search import Exhaustive as Exhaustive
    from telltree.search import GeneticProgramming as GeneticProgramming
    from telltree.search import GrammaticalEvolution as GrammaticalEvolution
    from telltree.search import MonteCarlo as MonteCarlo
    from telltree.search import Pipe as Pipe
    from telltree.tree import MDL as MDL
    from telltree.tree import GiniSize as GiniSize
    from telltree.tree import LookAhead as LookAhead
    from telltree.tree import Optimal as Optimal

__version__ = "0.1.0"

_HOMES = {
    "Column": "panel",
    "ColumnType": "panel",
    "Panel": "panel",
    "Read": "panel",
    "Schema": "panel",
    "read": "panel",
    "scan": "panel",
    "CheckpointError": "errors",
    "ClusterError": "errors",
    "DataError": "errors",
    "DataWarning": "errors",
    "FunctionError": "errors",
    "GrammarError": "errors",
    "MissingLibraryError": "errors",
    "ModelFormatError": "errors",
    "ModelVersionError": "errors",
    "SettingsError": "errors",
    "SpeechError": "errors",
    "TelltreeError": "errors",
    "TelltreeWarning": "errors",
    "GrammarForestClassifier": "estimators",
    "GrammarTreeClassifier": "estimators",
    "PanelMaker": "estimators",
    "TemporalFeatures": "estimators",
    "load": "estimators",
    "ask": "explain",
    "export_model": "models.export",
    "Derivation": "grammar",
    "Grammar": "grammar",
    "Formula": "engine",
    "user_function": "logic",
    "Auto": "search",
    "CrossEntropy": "search",
    "Exhaustive": "search",
    "GeneticProgramming": "search",
    "GrammaticalEvolution": "search",
    "MonteCarlo": "search",
    "Pipe": "search",
    "MDL": "tree",
    "GiniSize": "tree",
    "LookAhead": "tree",
    "Optimal": "tree",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the keys of the table are strings

__getattr__, __dir__ = lazily(__name__, _HOMES)
