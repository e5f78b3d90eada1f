"""Model files, read without the libraries that only learning needs."""

import os
from collections.abc import Sequence

from telltree.errors import ModelFormatError
from telltree.operators import UserFunction
from telltree.tree.model.decode import decode
from telltree.tree.model.model import Model
from telltree.tree.model.reading import read_file


def load_model(path: str | os.PathLike[str], functions: Sequence[UserFunction] = ()) -> Model:
    """The content of a model file; errors name the file."""
    content = read_file(path)
    try:
        return decode(content, functions)
    except ModelFormatError as error:
        raise type(error)(f"{os.fspath(path)!r}: {error}") from error
