"""A server that encrypts or asks who calls, and callers with certificates and tokens."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from groundwire.v1 import admin_pb2, admin_pb2_grpc
from groundwire_server.rpc import Running, running
from groundwire_server.rpc.log import make_log
from groundwire_server.security.callers import TokenFile, grant_principal
from groundwire_server.settings import load_settings
from tests.rpc.house import House
from tests.support.certificates import Authority, Pair, put


@dataclass
class Keys:
    """Files of a server that encrypts: its certificate, who may come, tokens."""

    folder: Path
    authority: Authority = field(default_factory=Authority)
    clients: Authority = field(default_factory=lambda: Authority("clients"))

    def __post_init__(self) -> None:
        self.cert, self.key = self.authority.server().write(self.folder, "server")
        self.client_ca = put(self.folder / "clients.pem", self.clients.pem)
        self.tokens = TokenFile(self.folder / "tokens.toml")

    @property
    def tls(self) -> dict[str, object]:
        """Settings of a port that encrypts."""
        return {"tls__cert": self.cert, "tls__key": self.key}

    def token(self, name: str, clearance: str = "internal", rights: str = "read", **more: Any) -> str:
        """The text of a new token."""
        table = {"name": name, "clearance": clearance, "rights": rights, **more}
        return self.tokens.create(grant_principal(table))[0]

    def rules(self, text: str) -> Path:
        """The file that says whose a certificate is."""
        return put(self.folder / "certificates.toml", text.encode())


@dataclass
class Doorway:
    """A running server, and channels to it."""

    server: Running
    written: io.StringIO
    _after: ExitStack

    def channel(
        self, roots: bytes | None = None, *, shows: Pair | None = None, token: str = "", address: str = ""
    ) -> grpc.Channel:
        """A connection of its own; without roots it is plain."""
        address = address or self.server.address
        options = [("grpc.use_local_subchannel_pool", 1)]
        if roots is None:
            made = grpc.insecure_channel(address, options)
        else:
            pair = (shows.key, shows.cert) if shows else (None, None)
            made = grpc.secure_channel(address, grpc.ssl_channel_credentials(roots, *pair), options)
        self._after.callback(made.close)
        return _with_token(made, token) if token else made

    def house(self, roots: bytes | None = None, *, shows: Pair | None = None, token: str = "") -> House:
        """Stubs for all services, as one caller has them."""
        return House(self.server, self.channel(roots, shows=shows, token=token), self.written)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]


class _Token(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Adds the token to every call."""

    def __init__(self, token: str) -> None:
        self._said = ("authorization", f"Bearer {token}")

    def _go(self, continuation: Any, details: Any, request: Any) -> Any:
        return continuation(details._replace(metadata=[*(details.metadata or ()), self._said]), request)

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return self._go(continuation, client_call_details, request)

    def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return self._go(continuation, client_call_details, request)

    def intercept_stream_unary(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return self._go(continuation, client_call_details, request_iterator)

    def intercept_stream_stream(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return self._go(continuation, client_call_details, request_iterator)


def _with_token(channel: grpc.Channel, token: str) -> grpc.Channel:
    return grpc.intercept_channel(channel, _Token(token))


@contextmanager
def doorway(data: Path, **settings: object) -> Iterator[Doorway]:
    """Serve a data folder until the block ends. Settings by dotted name, dots written as two underscores."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    chosen = load_settings(
        {"data": data, "server.port": 0, "embedding.backend": "none", "server.drain_seconds": 1, **named}, environ={}
    )
    written = io.StringIO()
    log = make_log(chosen.log.model_copy(update={"format": "json", "level": "debug"}), written)
    with ExitStack() as after, running(chosen, log) as server:
        yield Doorway(server, written, after)


def ask(channel: grpc.Channel) -> admin_pb2.GetServerInfoResponse:
    """A call that everybody may make who may come in."""
    stub = admin_pb2_grpc.AdminServiceStub(channel)
    answer: admin_pb2.GetServerInfoResponse = stub.GetServerInfo(admin_pb2.GetServerInfoRequest(), timeout=20)
    return answer
