"""Models as files: one JSON document that holds no code. docs/model-format.md says what is in it."""

from telltree.tree.model.decode import decode
from telltree.tree.model.encode import encode
from telltree.tree.model.model import Model
from telltree.tree.model.reading import read_file

__all__ = ["Model", "decode", "encode", "read_file"]
