"""Bearer tokens: random, 256 bits, known to the server by their SHA-256 alone.

A slow salted hash is for passwords, which can be guessed. A token cannot, and a hash that takes long would be work that
anybody can order with a wrong token. The file is TOML, one `[[token]]` each; `groundwire tokens` writes it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import Principal
from groundwire_server.security.callers.rights import TOKEN_PREFIX, grant_faults, grant_principal, rights_of
from groundwire_server.security.callers.tables import read_tables

__all__ = ["Token", "TokenTable", "format_tokens", "make_token", "parse_tokens", "token_of"]

_TOKEN_BYTES = 32
_LONGEST_TOKEN = 256
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HEAD = "# Kept by `groundwire tokens`. A token itself stands nowhere; sha256 is of the text that its holder sends.\n"


@dataclass(frozen=True, slots=True)
class Token:
    """One line of the file.

    Attributes:
        principal: who its holder is.
        sha256: lower-case hex of the hash of its text.
        created: when it was made.
        expires: from when on it does not hold; None: it does not run out.
    """

    principal: Principal
    sha256: str
    created: datetime
    expires: datetime | None = None

    def holds(self, now: datetime) -> bool:
        """Whether it has not run out."""
        return self.expires is None or now < self.expires


class TokenTable:
    """The tokens of a file, to look one up.

    Args:
        tokens: with unlike names and hashes.
    """

    def __init__(self, tokens: Iterable[Token] = ()) -> None:
        self.tokens = tuple(tokens)
        self._by_digest = {bytes.fromhex(each.sha256): each for each in self.tokens}

    def find(self, text: str, now: datetime) -> Principal | None:
        """Who holds a token, or None: it is not known, or has run out; nothing tells the two apart."""
        if len(text) > _LONGEST_TOKEN:
            return None
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        # The lookup's time depends on the hash of what came and on nothing else; whoever measures it learns no token.
        found = self._by_digest.get(digest)
        if found is None or not hmac.compare_digest(digest, bytes.fromhex(found.sha256)) or not found.holds(now):
            return None
        return found.principal


def make_token(principal: Principal, created: datetime, expires: datetime | None = None) -> tuple[str, Token]:
    """A new token: its text, which is kept nowhere, and its line of the file. Times are cut to seconds."""
    text = TOKEN_PREFIX + secrets.token_urlsafe(_TOKEN_BYTES)
    return text, token_of(text, principal, created, expires)


def token_of(text: str, principal: Principal, created: datetime, expires: datetime | None = None) -> Token:
    """What a file says of the token with a text, which must be as hard to guess as those of `make_token`."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Token(principal, digest, _whole(created), None if expires is None else _whole(expires))


def parse_tokens(raw: bytes) -> TokenTable:
    """The tokens of a file. Raises InvalidRequest with every fault, by its place in the file."""
    tables, faults = read_tables(raw, "token")
    tokens: list[Token] = []
    for place, table in tables:
        found = grant_faults(table, place, ("sha256", "created", "expires")) + _own_faults(table, place)
        faults.extend(found)
        if not found:
            expires = table.get("expires")
            tokens.append(Token(grant_principal(table), table["sha256"], table["created"], expires))
    unlike = {"name": [each.principal.name for each in tokens], "sha256": [each.sha256 for each in tokens]}
    for key, values in unlike.items():
        if len(set(values)) < len(values):
            faults.append(Violation(f"token.{key}", ErrorReason.CONTRADICTION, f"one {key} stands there twice"))
    faults.settle()
    return TokenTable(tokens)


def format_tokens(tokens: Iterable[Token]) -> str:
    """A file of tokens, sorted by name; what `parse_tokens` reads."""
    return _HEAD + "".join(_format(each) for each in sorted(tokens, key=lambda each: each.principal.name))


def _own_faults(table: Mapping[str, Any], place: str) -> list[Violation]:
    faults = []
    if not _DIGEST.fullmatch(str(table.get("sha256"))):
        faults.append(Violation(f"{place}.sha256", ErrorReason.VALUE_MALFORMED, "is not 64 digits of lower-case hex"))
    for key in ("created", "expires"):
        moment = table.get(key)
        if (key == "created" or moment is not None) and not (isinstance(moment, datetime) and moment.tzinfo):
            why = "is no moment with an offset, e.g. 2027-01-31T00:00:00Z"
            faults.append(Violation(f"{place}.{key}", ErrorReason.VALUE_MALFORMED, why))
    return faults


def _format(token: Token) -> str:
    principal = token.principal
    rows: list[tuple[str, str]] = [
        ("name", _text(principal.name)),
        ("sha256", _text(token.sha256)),
        ("clearance", _text(principal.clearance.name.lower())),
        ("rights", _text(rights_of(principal))),
    ]
    if principal.groups:
        rows.append(("groups", f"[{', '.join(map(_text, sorted(principal.groups)))}]"))
    if principal.tenant:
        rows.append(("tenant", _text(principal.tenant)))
    rows.append(("created", _moment(token.created)))
    if token.expires is not None:
        rows.append(("expires", _moment(token.expires)))
    return "\n[[token]]\n" + "".join(f"{name} = {value}\n" for name, value in rows)


def _text(value: str) -> str:
    """A basic string of TOML: for printable text JSON writes the same."""
    return json.dumps(value, ensure_ascii=False)


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _whole(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(microsecond=0)
