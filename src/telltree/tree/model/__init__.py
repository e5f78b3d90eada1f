"""Models as files: one JSON document without code. docs/model-format.md describes it."""

from telltree.tree.model.decode import decode
from telltree.tree.model.encode import encode
from telltree.tree.model.loading import load_model
from telltree.tree.model.model import Model

__all__ = ["Model", "decode", "encode", "load_model"]
