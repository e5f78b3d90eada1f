"""The option that hands work to a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from distributed import Client

Dask = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="Use the workers of the Dask scheduler at this address."),
]


@contextmanager
def client_of(address: str | None) -> "Iterator[Client | None]":
    """A client of the cluster at an address; None if no address was given."""
    if address is None:
        yield None
        return
    from telltree.tree.cluster import connected

    with connected(address) as client:
        yield client
