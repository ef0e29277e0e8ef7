"""The server that a command speaks to: the one named, the one that has the data folder open, or one of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundwire_server.cli.holder import read_holder
from groundwire_server.errors import FailedPrecondition
from groundwire_server.settings import Settings, load_settings

if TYPE_CHECKING:
    from groundwire import Client

__all__ = ["Session", "answers"]

_PATIENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Session:
    """What --config, --data and --address say."""

    config: str | None = None
    data: str | None = None
    address: str | None = None

    def settings(self, **arguments: object) -> Settings:
        """All settings, the given ones before everything else; dots are written as two underscores."""
        named: dict[str, object] = {name.replace("__", "."): value for name, value in arguments.items()}
        return load_settings({"data": self.data, **named}, config=self.config)

    @contextmanager
    def client(self, *, embedder: bool) -> Iterator[Client]:
        """A client of the server to use.

        Args:
            embedder: whether the command has use for an embedding model; without, one's own server loads none.

        Raises:
            GroundwireError: of client or server, when there is no server and none can be started.
        """
        from groundwire import Client, ErrorReason, GroundwireError  # here: `groundwire serve` starts without them

        with ExitStack() as stack:
            named = self.address or os.environ.get("GROUNDWIRE_ADDRESS")
            address = named or self._find_or_start(stack, embedder)
            client = stack.enter_context(Client(address))
            try:
                yield client
            except GroundwireError as error:
                if error.status != "UNAVAILABLE" or error.reason is not ErrorReason.UNSPECIFIED:
                    raise
                raise click.ClickException(
                    f"no server answers at {address}; `groundwire serve` starts one, --address names another"
                ) from None

    def _find_or_start(self, stack: ExitStack, embedder: bool) -> str:
        """The address of who has the data folder, else of a server of our own, which the stack stops."""
        data = self.settings().data  # whatever is wrong in them is said, also where a value has no bearing here
        if (holder := _holder_address(data)) and answers(holder):
            return holder  # and nothing of a server is loaded
        from groundwire_server.rpc import running

        backend = {} if embedder else {"embedding__backend": "none"}
        settings = self.settings(server__host="127.0.0.1", server__port=0, log__level="error", **backend)
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                server = stack.enter_context(running(settings))
            except FailedPrecondition as error:
                # Open already: speak to the server that has it. One that is just starting has no address yet, one that
                # is just stopping answers no more; either is over in a moment.
                address = error.details.get("address")
                if address and answers(address):
                    return address
                if address is None or time.monotonic() > give_up:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                # Nobody else is served here: better wait a second than answer with words alone.
                server.engine.wait_for_embedder()
                return server.address


def _holder_address(data: Path) -> str:
    """Where the one that has the data folder open answers, as it says; empty: nobody, or it cannot be read."""
    try:
        holder = read_holder(data)
    except OSError:
        return ""
    return holder.address if holder else ""


def answers(address: str) -> bool:
    """Whether a server of ours takes calls there."""
    from groundwire import Client, GroundwireError, HealthStatus

    try:
        with Client(address, timeout=2) as client:
            return client.health() is HealthStatus.SERVING
    except GroundwireError:
        return False
