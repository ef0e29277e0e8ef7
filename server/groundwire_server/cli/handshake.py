"""Why a server that is there cannot be spoken to, where the reason lies in how the connection is encrypted.

gRPC tells of all of it as UNAVAILABLE, like a server that is not there.
"""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass

__all__ = ["Caller", "handshake_fault"]

_PATIENCE_SECONDS = 2.0
_WANTS_ANOTHER = "ends the connection: it may want a certificate of its clients, --cert FILE and --key FILE"


@dataclass(frozen=True, slots=True)
class Caller:
    """What a client shows and trusts. Files are PEM; no authority: those that the system knows."""

    is_encrypted: bool
    ca: str | None = None
    cert: str | None = None
    key: str | None = None


def handshake_fault(address: str, caller: Caller) -> str:
    """What is wrong, as a sentence on the server at `address`, HOST:PORT; empty: nobody listens, or it is not this."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if not host or not (port.isascii() and port.isdigit()):
        return ""
    try:
        connection = socket.create_connection((host, int(port)), timeout=_PATIENCE_SECONDS)
    except (OSError, OverflowError, UnicodeError):
        return ""
    with connection:
        try:
            context = _context(caller)
            with context.wrap_socket(connection, server_hostname=host) as encrypted:
                if not caller.is_encrypted:
                    return "encrypts: --tls, or --ca FILE"
                # A server that wants another certificate ends it behind the handshake; others speak first in HTTP/2.
                return "" if encrypted.recv(1) else _WANTS_ANOTHER
        except ssl.SSLCertVerificationError as error:
            return f"has a certificate that does not hold here: {error.verify_message.rstrip('.')}"
        except ssl.SSLError as error:
            return _refused(error, caller)
        except ConnectionResetError:
            return _WANTS_ANOTHER if caller.is_encrypted else ""
        except (OSError, ValueError):
            return ""


def _context(caller: Caller) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["h2"])
    if not caller.is_encrypted:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if caller.ca is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(caller.ca)
    if caller.cert is not None:
        context.load_cert_chain(caller.cert, caller.key)
    return context


def _refused(error: ssl.SSLError, caller: Caller) -> str:
    if not caller.is_encrypted:
        return ""  # it is plain, and something else is the matter
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return "does not encrypt: leave --ca, --cert and --tls out, or their names out of the environment"
    if error.reason and "ALERT" in error.reason:  # the other side speaks; what it takes is certificates of its own
        return _WANTS_ANOTHER
    return ""
