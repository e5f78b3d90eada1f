"""Models as files: one JSON document without code. docs/model-format.md describes it."""

from typing import TYPE_CHECKING

from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.models.model import ForestModel as ForestModel
    from telltree.models.model import Model as Model
    from telltree.models.predictor import Predictor as Predictor
    from telltree.models.predictor import load_predictor as load_predictor
    from telltree.models.read_model import load_any as load_any
    from telltree.models.read_model import load_model as load_model

_HOMES = {
    "ForestModel": "model",
    "Model": "model",
    "Predictor": "predictor",
    "load_any": "read_model",
    "load_model": "read_model",
    "load_predictor": "predictor",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys of the table are strings

__getattr__, __dir__ = lazily(__name__, _HOMES)
