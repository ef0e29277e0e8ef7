"""The synchronous client."""

from __future__ import annotations

from groundwire._sync.ingesting import IngestingClient
from groundwire._sync.reading import ReadingClient
from groundwire._sync.running import RunningClient

__all__ = ["Client"]


class Client(ReadingClient, IngestingClient, RunningClient):
    """A connection to a Groundwire server; safe to share between threads.

    >>> from groundwire import Client
    >>> with Client("127.0.0.1:50051") as client:  # doctest: +SKIP
    ...     print(client.ask("How many people live in Japan?").collect().text)

    Every method raises GroundwireError when the call fails as a whole; streams raise it while they are read. Reading
    methods take the keyword arguments of CallOptions.
    """
