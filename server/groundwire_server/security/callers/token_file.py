"""The file of tokens as `groundwire tokens` changes it: one change at a time, all or nothing."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Principal
from groundwire_server.security.callers.tokens import Token, TokenTable, format_tokens, make_token, parse_tokens
from groundwire_server.security.callers.watched_file import WatchedFile, read_guarded

__all__ = ["TokenFile", "watch_tokens"]

_SETTING = "access.token_file"
# A group may read it, e.g. that of the server; nobody but the owner may write it, and others may not even read.
_FORBIDDEN = 0o026


def watch_tokens(path: Path) -> WatchedFile[TokenTable]:
    """The tokens of a file, as they are. Raises InvalidRequest when it cannot be read or does not hold."""
    return WatchedFile(path, parse_tokens, setting=_SETTING, forbidden=_FORBIDDEN)


class TokenFile:
    """A file of tokens, to be changed. One that is not there holds none; the first token makes it.

    Args:
        path: where a link leads, that is changed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def tokens(self) -> tuple[Token, ...]:
        """All of them, by name. Raises InvalidRequest as `watch_tokens` does."""
        if not self.path.exists():
            return ()
        raw, _ = read_guarded(self.path, _SETTING, _FORBIDDEN)
        return tuple(sorted(parse_tokens(raw).tokens, key=lambda each: each.principal.name))

    def create(self, principal: Principal, expires: datetime | None = None) -> tuple[str, Token]:
        """Add a token. Returns its text, which stands nowhere, and what the file says of it.

        Raises:
            InvalidRequest: there is one with this name, or the file does not hold.
            OSError: it cannot be written.
        """
        with self._changing() as tokens:
            if any(each.principal.name == principal.name for each in tokens):
                why = f"there is a token {principal.name!r}; revoke it first, or take another name"
                raise InvalidRequest.one("name", ErrorReason.CONTRADICTION, why)
            text, token = make_token(principal, datetime.now(UTC), expires)
            self._write((*tokens, token))
        return text, token

    def revoke(self, name: str) -> Token:
        """Take a token out; servers let nobody in with it from `LOOK_SECONDS` later on.

        Raises:
            InvalidRequest: there is none with this name, or the file does not hold.
            OSError: it cannot be written.
        """
        with self._changing() as tokens:
            found = next((each for each in tokens if each.principal.name == name), None)
            if found is None:
                names = ", ".join(each.principal.name for each in tokens) or "none"
                why = f"there is no token {name[:128]!r}; there are: {names}"
                raise InvalidRequest.one("name", ErrorReason.UNKNOWN_NAME, why)
            self._write(each for each in tokens if each is not found)
        return found

    @contextmanager
    def _changing(self) -> Iterator[tuple[Token, ...]]:
        """The tokens, while nobody else changes them."""
        target = self._target()
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(target.with_name(f".{target.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.tokens()
        finally:
            os.close(lock)

    def _write(self, tokens: Iterable[Token]) -> None:
        """Put a whole file in the place of the old one; it keeps mode and owner where there was one."""
        target = self._target()
        number, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)  # for its owner alone
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(format_tokens(tokens))
                if target.exists():
                    told = target.stat()
                    os.fchmod(number, told.st_mode & 0o777)
                    if (told.st_uid, told.st_gid) != (os.geteuid(), os.getegid()):
                        os.fchown(number, told.st_uid, told.st_gid)
                file.flush()
                os.fsync(number)
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _target(self) -> Path:
        return self.path.resolve()
