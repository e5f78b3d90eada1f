"""Model files, read without the libraries that only learning needs."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from telltree.errors import ModelFormatError
from telltree.logic import UserFunction
from telltree.models.decode import decode, decode_any
from telltree.models.document import read_file
from telltree.models.model import ForestModel, Model


def load_model(path: str | os.PathLike[str], functions: Sequence[UserFunction] = ()) -> Model:
    """The content of a model file; errors name the file."""
    content = read_file(path)
    with _naming(path):
        return decode(content, functions)


def load_any(path: str | os.PathLike[str], functions: Sequence[UserFunction] = ()) -> Model | ForestModel:
    """The same of a file that may hold a forest."""
    content = read_file(path)
    with _naming(path):
        return decode_any(content, functions)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except ModelFormatError as error:
        raise type(error)(f"{os.fspath(path)!r}: {error}") from error
