"""The server that a command speaks to: the one named, the one that has the data folder open, or one of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from groundwire import Client
from groundwire_server.errors import FailedPrecondition
from groundwire_server.settings import Settings, load_settings

__all__ = ["Session"]


@dataclass(frozen=True, slots=True)
class Session:
    """What the options before the subcommand say."""

    config: Path | None
    data: Path | None
    address: str | None

    def settings(self, **arguments: object) -> Settings:
        """All settings, the given ones before everything else; dots are written as two underscores."""
        named: dict[str, object] = {name.replace("__", "."): value for name, value in arguments.items()}
        return load_settings({"data": self.data, **named}, config=self.config)

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client of the server to use. Raises GroundwireError of client or server when there is none."""
        if self.address is not None:
            with Client(self.address) as client:
                yield client
            return
        from groundwire_server.rpc import running

        settings = self.settings(server__port=0, log__level="error")
        with ExitStack() as stack:
            try:
                server = stack.enter_context(running(settings))
                # Nobody else is served here: better wait a second than answer with words alone.
                server.engine.wait_for_embedder()
                address = server.address
            except FailedPrecondition as error:
                # The folder is open already: speak to the server that has it.
                address = error.details.get("address", "")
                if not address:
                    raise
            yield stack.enter_context(Client(address))
