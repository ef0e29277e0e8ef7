"""The server that a command speaks to: the one named, the one that has the data folder open, or one of its own."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from groundwire_server.cli.holder import read_holder
from groundwire_server.errors import FailedPrecondition
from groundwire_server.settings import Settings, TelemetrySettings, load_settings

if TYPE_CHECKING:
    from groundwire import Client
    from groundwire_server.rpc import Running

__all__ = ["Session", "own_server"]

_PATIENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.1
_ENCRYPTED = "--ca FILE names the authority of its certificate, --address the host that this one is for"


@dataclass(frozen=True, slots=True)
class Session:
    """What --config, --data and --address say, and what is shown to the server there.

    Attributes:
        token_from: file that holds a token.
        ca, cert, key: files of certificates, as the client takes them.
        tls: whether the connection is encrypted; None: where there is a reason to.
    """

    config: str | None = None
    data: str | None = None
    address: str | None = None
    token_from: str | None = None
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    tls: bool | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """Keyword arguments of a client: who calls, and whether the connection is encrypted.

        Raises:
            OSError: a file cannot be read.
        """
        token = None if self.token_from is None else Path(self.token_from).read_text(encoding="utf-8")
        return {"token": token, "ca": self.ca, "cert": self.cert, "key": self.key, "tls": self.tls}

    @property
    def shows_something(self) -> bool:
        """Whether the command was told what to show a server."""
        return any(value is not None for value in (self.token_from, self.ca, self.cert, self.key, self.tls))

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
        from groundwire import ErrorReason, GroundwireError  # here: `groundwire serve` starts without them

        with ExitStack() as stack:
            named = self.address or os.environ.get("GROUNDWIRE_ADDRESS")
            client = stack.enter_context(self.connect(named)) if named else self._find_or_start(stack, embedder)
            try:
                yield client
            except GroundwireError as error:
                if error.status != "UNAVAILABLE" or error.reason is not ErrorReason.UNSPECIFIED:
                    raise
                if fault := self._handshake_fault(client):
                    raise click.ClickException(f"the server at {client.address} {fault}") from None
                address, words = client.address, "`groundwire serve` starts one, --address names another"
                more = "" if client.is_encrypted else "; one that encrypts wants --tls, or --ca FILE"
                raise click.ClickException(f"no server answers at {address}; {words}{more}") from None

    def _handshake_fault(self, client: Client) -> str:
        """Why the server cannot be spoken to by who trusts and shows what the client was told; empty: not known."""
        from groundwire_server.cli.handshake import Caller, handshake_fault  # ssl is loaded where something is wrong

        given = {"CA": self.ca, "CERT": self.cert, "KEY": self.key}
        ca, cert, key = (file or os.environ.get(f"GROUNDWIRE_{name}") or None for name, file in given.items())
        return handshake_fault(client.address, Caller(client.is_encrypted, ca, cert, key))

    def connect(self, address: str, **other: Any) -> Client:
        """A client of a server, which is shown what the command was told to, but for what is said otherwise.

        Raises:
            click.ClickException: that does not fit together.
            OSError: a file cannot be read.
        """
        from groundwire import Client

        try:
            return Client(address, **{**self.shown, **other})
        except ValueError as error:
            raise click.ClickException(str(error)) from None

    def answering(self, address: str) -> Client | None:
        """A client of the server of ours that takes calls there; None: there is none. It is of this machine."""
        from groundwire import GroundwireError, HealthStatus

        for tls in (False, True):  # what is on this machine may do without, whatever is meant for others
            plain: dict[str, Any] = {} if tls else {"ca": None, "cert": None, "key": None}
            client = self.connect(address, tls=tls, **plain)
            try:
                if client.health(timeout=2) is HealthStatus.SERVING:
                    return client
            except GroundwireError:
                pass
            client.close()
        return None

    def _find_or_start(self, stack: ExitStack, embedder: bool) -> Client:
        """A client of who has the data folder, else of a server of our own, which the stack stops."""
        data = self.settings().data  # whatever is wrong in them is said, also where a value has no bearing here
        if (holder := _holder_address(data)) and (found := self.answering(holder)):
            return stack.enter_context(found)  # and nothing of a server is loaded
        backend = {} if embedder else {"embedding__backend": "none"}
        settings = self.settings(server__host="127.0.0.1", server__port=0, log__level="error", **backend)
        give_up = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                server, client = stack.enter_context(own_server(settings))
            except FailedPrecondition as error:
                # Open already: speak to the server that has it. One that is just starting has no address yet, one that
                # is just stopping answers no more; either is over in a moment.
                address = error.details.get("address")
                if address and (found := self.answering(address)):
                    return stack.enter_context(found)
                if address and settings.tls.cert is not None:
                    raise click.ClickException(f"{error.message} It encrypts: {_ENCRYPTED}") from None
                if address is None or time.monotonic() > give_up:
                    raise
                time.sleep(_PAUSE_SECONDS)
            else:
                # Nobody else is served here: better wait a second than answer with words alone.
                server.engine.wait_for_embedder()
                return client


@contextmanager
def own_server(settings: Settings) -> Iterator[tuple[Running, Client]]:
    """A server for this command, and its client. Where callers have to show who they are, others need tokens here, too.

    Nobody watches it: metrics and traces are of `groundwire serve`.

    Raises:
        GroundwireError: as `rpc.running` does.
    """
    from groundwire import Client
    from groundwire_server.rpc import running

    token = secrets.token_urlsafe(32)
    settings = settings.model_copy(update={"telemetry": TelemetrySettings(traces="none")})
    with running(settings, own_token=token) as server, Client(server.address, token=token, tls=False) as client:
        yield server, client


def _holder_address(data: Path) -> str:
    """Where the one that has the data folder open answers, as it says; empty: nobody, or it cannot be read."""
    try:
        holder = read_holder(data)
    except OSError:
        return ""
    return holder.address if holder else ""
