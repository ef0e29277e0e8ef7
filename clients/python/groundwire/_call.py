"""From a gRPC call to typed errors; the only thing that the sync and the async client need to know of grpc's own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import grpc

from groundwire._errors import GroundwireError
from groundwire._wire.status import DETAILS_KEY, decode_error

__all__ = ["DEFAULT_ADDRESS", "channel_options", "resolve_address", "typed_error"]

DEFAULT_ADDRESS = "127.0.0.1:50051"
_LOOPBACK = ("127.", "localhost", "[::1]", "unix:")


def resolve_address(given: str | None, environment: Mapping[str, str] | None = None) -> str:
    """The address given, else GROUNDWIRE_ADDRESS, else 127.0.0.1:50051.

    >>> resolve_address(None, {"GROUNDWIRE_ADDRESS": "evidence:443"}), resolve_address("unix:/run/gw.sock", {})
    ('evidence:443', 'unix:/run/gw.sock')
    """
    environment = os.environ if environment is None else environment
    return given or environment.get("GROUNDWIRE_ADDRESS", "") or DEFAULT_ADDRESS


def channel_options(address: str) -> list[tuple[str, int]]:
    """Options of a channel: a proxy of the environment is for others, never for this machine."""
    return [("grpc.enable_http_proxy", 0)] if address.startswith(_LOOPBACK) else []


def typed_error(error: grpc.RpcError, address: str) -> GroundwireError:
    """The error that a failed call gives."""
    call: Any = error  # every error of a call is also the call
    code = call.code()
    status = code.name if code is not None else "UNKNOWN"
    details = next((value for key, value in call.trailing_metadata() or () if key == DETAILS_KEY), None)
    typed = decode_error(status, call.details() or "", details)
    if status == "UNAVAILABLE" and details is None:
        typed = GroundwireError(
            f"no server answers at {address} ({typed.message}); `groundwire serve` starts one, GROUNDWIRE_ADDRESS or "
            "Client(address) names another",
            status=status,
        )
    return typed
