"""What both clients know of a call: where it goes, what goes with it, and the typed error that it may end with."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import grpc

from groundwire._credentials import Pem, is_of_this_machine, show
from groundwire._errors import GroundwireError
from groundwire._wire.status import DETAILS_KEY, decode_error

__all__ = ["DEFAULT_ADDRESS", "Target", "resolve_address"]

DEFAULT_ADDRESS = "127.0.0.1:50051"

# A connection that calls run on and that shows no sign of life for so long is asked for one, and given up without an
# answer: a call without a timeout would wait on it for ever. The server is made for pings each 10 s; an answer may come
# behind much else on a slow line.
_KEEPALIVE_MS, _ANSWER_MS = 10_000, 20_000
# A server that was away is found soon after it is back, before a stream that broke has made its tries.
_FIRST_BACKOFF_MS, _MOST_BACKOFF_MS = 100, 1_000


def _lasting() -> list[tuple[str, int]]:
    return [
        ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", _ANSWER_MS),
        ("grpc.http2.ping_timeout_ms", _ANSWER_MS),  # else an answer is waited for a minute, whatever the other says
        ("grpc.http2.max_pings_without_data", 0),  # else the third ping in a row is never sent
        ("grpc.initial_reconnect_backoff_ms", _FIRST_BACKOFF_MS),
        ("grpc.max_reconnect_backoff_ms", _MOST_BACKOFF_MS),
    ]


def resolve_address(given: str | None, environment: Mapping[str, str] | None = None) -> str:
    """The address given, else GROUNDWIRE_ADDRESS, else 127.0.0.1:50051.

    >>> resolve_address(None, {"GROUNDWIRE_ADDRESS": "evidence:443"}), resolve_address("unix:/run/gw.sock", {})
    ('evidence:443', 'unix:/run/gw.sock')
    """
    environment = os.environ if environment is None else environment
    return given or environment.get("GROUNDWIRE_ADDRESS", "") or DEFAULT_ADDRESS


class Target:
    """A server, and what goes with each call to it."""

    def __init__(
        self,
        address: str | None = None,
        *,
        token: str | None = None,
        ca: Pem | None = None,
        cert: Pem | None = None,
        key: Pem | None = None,
        tls: bool | None = None,
        credentials: grpc.ChannelCredentials | None = None,
        metadata: Sequence[tuple[str, str]] = (),
        timeout: float | None = None,
        reconnect: bool = True,
    ) -> None:
        """Connects when the first call is made.

        address: "host:port" or "unix:/path"; else GROUNDWIRE_ADDRESS, else 127.0.0.1:50051.
        token: says who calls; else GROUNDWIRE_TOKEN; "" for none. To another machine it goes encrypted alone, unless
            tls is False.
        ca: PEM of the authority that the server's certificate must be of, a file or its bytes; else GROUNDWIRE_CA, else
            those that gRPC trusts. cert, key: PEM of a certificate of one's own; else GROUNDWIRE_CERT, GROUNDWIRE_KEY.
        tls: whether the connection is encrypted; else GROUNDWIRE_TLS, else where there are ca or cert, or a token goes
            to another machine.
        credentials: of a channel of grpc, in place of all these but the token.
        metadata: goes with every call.
        timeout: seconds for each call that does not say its own; ingests and watched jobs have none.
        reconnect: go on with an answer whose connection broke, where it had come to; else that is an error.
        """
        self.address = resolve_address(address)
        shown = show(
            self.address,
            token=token,
            ca=ca,
            cert=cert,
            key=key,
            tls=tls,
            credentials=credentials,
            metadata=metadata,
        )
        self._credentials = shown.channel
        self._metadata = shown.metadata
        self._timeout = timeout
        self._reconnect = reconnect
        self._opening = threading.Lock()
        self._channel: Any = None
        self._closed = False

    @property
    def is_encrypted(self) -> bool:
        """Whether the connection is encrypted."""
        return self._credentials is not None

    def _open(self, kind: Any, own: Sequence[tuple[str, int]] = ()) -> Any:
        """The channel of grpc or grpc.aio, one for all calls, with its own options. Raises ValueError after `close`."""
        with self._opening:
            if self._closed:
                raise ValueError("the client is closed")
            if self._channel is None:
                # A proxy of the environment is for others, never for this machine.
                local = [("grpc.enable_http_proxy", 0)] if is_of_this_machine(self.address) else []
                # A connection of its own: otherwise a client that found nobody at an address makes all others of the
                # process, also those made later, wait and fail there; and all would share one process of a server.
                options = [*own, *local, *_lasting(), ("grpc.use_local_subchannel_pool", 1)]
                if self._credentials is None:
                    self._channel = kind.insecure_channel(self.address, options)
                else:
                    self._channel = kind.secure_channel(self.address, self._credentials, options)
            return self._channel

    def _leave(self) -> Any:
        """The channel, to be closed, if there ever was one; there will be no other."""
        with self._opening:
            self._closed = True
            channel, self._channel = self._channel, None
            return channel

    def _seconds(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is None else timeout

    def _failure(self, error: grpc.RpcError) -> GroundwireError:
        """The typed error of a failed call."""
        call: Any = error  # every error of a call tells what the call was told
        code = call.code()
        status = code.name if code is not None else "UNKNOWN"
        details = next((value for key, value in call.trailing_metadata() or () if key == DETAILS_KEY), None)
        typed = decode_error(status, call.details() or "", details)
        if status == "UNAVAILABLE" and details is None:
            return GroundwireError(
                f"no server answers at {self.address} ({typed.message}); `groundwire serve` starts one, "
                "GROUNDWIRE_ADDRESS or Client(address) names another"
                + (
                    ""
                    if self._credentials is not None
                    else ", GROUNDWIRE_CA or Client(ca=) speaks to one that encrypts"
                ),
                status=status,
            )
        return typed
