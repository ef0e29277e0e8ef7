"""Cursors: where a stream goes on, as bytes that mean nothing to anybody else (stream.proto, ResumeCursor).

The server keeps nothing of a stream. A cursor names the states that it read, and how much of it lies before; the call
that brings one runs the request again there. It is encrypted, since generations count writes that its holder may not
see, and every token of so many libraries with the same ids is as long as any other. It is bound to its request
(request_id, soft_budget, explain and resume aside) and to its caller: with another one it does not open.

Keys are made of the secret of the data folder, so that every process of a server and every later start opens what
another has sealed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

from groundwire_server import __version__
from groundwire_server.errors import Aborted, ErrorReason, GroundwireError
from groundwire_server.evidence import Pin, Position, Principal, Resume

__all__ = ["MAX_TOKEN_BYTES", "Cursor", "CursorKey", "CursorMismatch", "cursor_gone"]

MAX_TOKEN_BYTES = 4096
_NONCE, _TAG, _BUILD = 16, 16, 4
_HEAD = struct.Struct(f">BBQIH6I24s{_BUILD}sH")
_PIN = struct.Struct(">Q16s16s")
_LAYOUT = 1
_BY_MEANING = 1
_NOBODY = 2**64 - 1  # instead of a generation: the library did not answer
# What of the options may be another when a stream goes on.
_FREE = ("request_id", "soft_budget", "explain", "resume")


class CursorMismatch(GroundwireError):
    """A cursor of another request or another caller, or none of this server: the three look alike."""

    status = "INVALID_ARGUMENT"

    def __init__(self) -> None:
        super().__init__(
            ErrorReason.RESUME_MISMATCH,
            "The cursor belongs to another request, or to none of this server.",
            hint="Send it with the very request that it came from.",
            details={"field": "options.resume"},
        )


def cursor_gone(library_id: str = "") -> Aborted:
    """The error of a stream that cannot go on as it began."""
    return Aborted(
        ErrorReason.RESUME_SNAPSHOT_GONE,
        "The stream cannot go on as it began.",
        hint="Ask anew.",
        details={"library_id": library_id} if library_id else None,
    )


@dataclass(frozen=True, slots=True)
class Cursor:
    """What a cursor says.

    Attributes:
        resume: where the stream goes on.
        reference_date: the day from which its relative periods are counted.
        digest: of all pieces before `resume.position`, 8 bytes for each kind.
        issued: when it was sealed, seconds since 1970.
    """

    resume: Resume
    reference_date: date
    digest: bytes
    issued: int = 0


class CursorKey:
    """Seals and opens cursors of one server.

    Args:
        secret: of the data folder.
        lifetime: seconds for which a cursor can be used.
        now: seconds since 1970.
    """

    def __init__(self, secret: bytes, lifetime: float, now: Callable[[], float] = time.time) -> None:
        self._stream_key = hmac.digest(secret, b"cursors 1: stream", "sha256")
        self._tag_key = hmac.digest(secret, b"cursors 1: tag", "sha256")
        self._lifetime = lifetime
        self._now = now

    def bound_to(self, method: str, request: Any, principal: Principal) -> BoundKey:
        """The key for cursors of one request of one caller."""
        return BoundKey(self, _scope(method, request, principal))

    def seal(self, cursor: Cursor, scope: bytes) -> bytes:
        """The token of a cursor; longer than `MAX_TOKEN_BYTES` where too many libraries were read."""
        plain = _pack(cursor, int(self._now()))
        nonce = os.urandom(_NONCE)
        hidden = self._crypt(nonce, plain)
        return nonce + hidden + self._tag(scope, nonce + hidden)

    def open(self, token: bytes, scope: bytes) -> Cursor:
        """What a token says.

        Raises:
            CursorMismatch: it is no token of this server, of another request or of another caller.
            Aborted: RESUME_SNAPSHOT_GONE, it is too old, or of another version of this server.
        """
        sealed, tag = token[:-_TAG], token[-_TAG:]
        if len(token) > MAX_TOKEN_BYTES or not hmac.compare_digest(tag, self._tag(scope, sealed)):
            raise CursorMismatch
        cursor = _unpack(self._crypt(sealed[:_NONCE], sealed[_NONCE:]))
        if cursor is None or self._now() - cursor.issued > self._lifetime:
            raise cursor_gone()
        return cursor

    def _crypt(self, nonce: bytes, data: bytes) -> bytes:
        """Itself undoes it: the bytes beside those of a sponge that key and nonce were put into."""
        if not data:
            return b""
        pad = hashlib.shake_256(self._stream_key + nonce).digest(len(data))
        return (int.from_bytes(data, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(data), "big")

    def _tag(self, scope: bytes, sealed: bytes) -> bytes:
        return hmac.digest(self._tag_key, scope + sealed, "sha256")[:_TAG]


@dataclass(frozen=True, slots=True)
class BoundKey:
    """Seals and opens the cursors of one request of one caller."""

    _key: CursorKey
    _scope: bytes

    def seal(self, cursor: Cursor) -> bytes:
        """The token; empty where it would be too long."""
        token = self._key.seal(cursor, self._scope)
        return token if len(token) <= MAX_TOKEN_BYTES else b""

    def open(self, token: bytes) -> Cursor:
        """What a token says; raises as `CursorKey.open` does."""
        return self._key.open(token, self._scope)


def _scope(method: str, request: Any, principal: Principal) -> bytes:
    """Hash of the caller and of all that a request asks for; 32 bytes."""
    asked: Any = type(request)()
    asked.CopyFrom(request)
    for name in _FREE:
        asked.options.ClearField(name)
    if not asked.options.ListFields():
        asked.ClearField("options")
    caller = json.dumps([principal.name, principal.clearance.name, principal.tenant, sorted(principal.groups)])
    digest = hashlib.sha256()
    for part in (method.encode(), caller.encode(), asked.SerializeToString(deterministic=True)):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


@cache
def _build(version: str) -> bytes:
    """Of the version of the server: another one may rank otherwise."""
    return hashlib.sha256(version.encode()).digest()[:_BUILD]


def _pack(cursor: Cursor, issued: int) -> bytes:
    resume = cursor.resume
    parts = [
        _HEAD.pack(
            _LAYOUT,
            _BY_MEANING if resume.by_meaning else 0,
            issued,
            cursor.reference_date.toordinal(),
            resume.pages,
            *_counts(resume.position),
            *_counts(resume.paid),
            cursor.digest,
            _build(__version__),
            len(resume.pins),
        )
    ]
    for pin in resume.pins:
        name = pin.library_id.encode()
        generation = pin.generation if pin.answered else _NOBODY
        ids = bytes.fromhex(pin.snapshot_id).ljust(16, b"\0"), bytes.fromhex(pin.content_id).ljust(16, b"\0")
        parts += [bytes([len(name)]), name, _PIN.pack(generation, *ids)]
    return b"".join(parts)


def _unpack(plain: bytes) -> Cursor | None:
    """The cursor; None for a layout of another version. The tag has told that we have packed it."""
    if len(plain) < _HEAD.size or plain[0] != _LAYOUT:
        return None
    _, flags, issued, day, pages, *numbers, digest, build, count = _HEAD.unpack_from(plain)
    if build != _build(__version__):
        return None
    pins, place = [], _HEAD.size
    for _ in range(count):
        end = place + 1 + plain[place]
        name = plain[place + 1 : end].decode()
        generation, snapshot_id, content_id = _PIN.unpack_from(plain, end)
        place = end + _PIN.size
        pins.append(Pin(name) if generation == _NOBODY else Pin(name, generation, snapshot_id.hex(), content_id.hex()))
    resume = Resume(
        tuple(pins), Position(*numbers[:3]), Position(*numbers[3:]), pages, by_meaning=bool(flags & _BY_MEANING)
    )
    return Cursor(resume, date.fromordinal(day), digest, issued)


def _counts(position: Position) -> tuple[int, int, int]:
    return position.outcomes, position.calculations, position.snippets
