"""The data folder: `server.sqlite`, a lock, and one folder a library (formats.md, Places)."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from groundwire_server.errors import ErrorReason, InvalidRequest, Unavailable, UnknownResource
from groundwire_server.library.config import LibraryConfig
from groundwire_server.library.derived import Deriver
from groundwire_server.library.library import Library
from groundwire_server.library.snapshot import Snapshot
from groundwire_server.store import FolderLock, ServerFile, disk_errors

__all__ = ["DEFAULT_LIBRARY", "LIBRARIES", "DataFolder", "check_library_id"]

DEFAULT_LIBRARY = "default"
_LIBRARY_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
LIBRARIES = "libraries"
_REMOVED = ".removed-"


def check_library_id(library_id: str, field: str = "library_id") -> str:
    """The id itself. Raises InvalidRequest (VALUE_MALFORMED) when no library can have it."""
    if not _LIBRARY_ID.fullmatch(library_id):
        raise InvalidRequest.one(
            field,
            ErrorReason.VALUE_MALFORMED,
            f"{library_id[:80]!a} is no library id: a letter or digit, then up to 62 of a-z, 0-9, hyphen, underscore",
        )
    return library_id


def _unknown(library_id: str) -> UnknownResource:
    return UnknownResource(
        ErrorReason.UNKNOWN_LIBRARY,
        f"There is no library {library_id[:80]!a}.",
        details={"library_id": library_id[:80]},
    )


def _utc_now() -> datetime:
    return datetime.now(UTC)


class DataFolder:
    """Everything that a server stores. One process a folder; any thread.

    Attributes:
        secret: key of snapshot ids and page tokens.

    Args:
        path: the folder; made when it is not there.
        secret: None: the folder's own, made once.
        opened: called with each library when it is opened, before anybody else has it.
        deriver: what each library is opened with.
        now: clock of commit times.
        lock: descriptor of the folder's lock that another process has handed on (`FolderLock`).

    Raises:
        FailedPrecondition: NOT_SERVING, another process holds the folder (details name pid and address), or it may not
            be written; STORE_VERSION, a newer version wrote it.
        ResourceExhausted: STORAGE_FULL.
    """

    def __init__(
        self,
        path: Path,
        *,
        secret: bytes | None = None,
        opened: Callable[[Library], None] | None = None,
        deriver: Deriver | None = None,
        now: Callable[[], datetime] = _utc_now,
        lock: int | None = None,
    ) -> None:
        self.path = path
        self._opened = opened
        self._deriver = deriver
        self._now = now
        self._guard = threading.Lock()
        self._open: dict[str, Library] = {}
        self._closed = False
        with disk_errors(path):
            (path / LIBRARIES).mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(path / "lock", lock)
            try:
                self._file = ServerFile(path / "server.sqlite")
                self.secret = secret or self._file.secret()
                self._adopt()
            except BaseException:
                self._lock.release()
                raise

    def announce(self, address: str) -> None:
        """Say where this server answers; a second one that comes is told."""
        self._lock.announce(address)

    def list(self) -> list[str]:
        """Ids of the libraries, sorted."""
        return self._file.library_ids()

    def library(self, library_id: str) -> Library:
        """A library, opened by its first use.

        Raises:
            UnknownResource: UNKNOWN_LIBRARY.
            InvalidRequest: library.toml or glossary.toml was edited and does not hold.
            FailedPrecondition: STORE_VERSION, or NOT_SERVING where its files may not be written.
        """
        if (library := self._open.get(library_id)) is not None:
            return library  # nobody who reads one waits for another that is being opened
        with self._guard:
            self._check_open()
            if library_id not in self._open:
                if not _LIBRARY_ID.fullmatch(library_id) or library_id not in self._file.library_ids():
                    raise _unknown(library_id)
                self._open[library_id] = self._make(library_id, None)
            return self._open[library_id]

    def create(self, library_id: str, config: LibraryConfig | None = None) -> Library:
        """Make a library, or give the one that is there.

        Raises:
            InvalidRequest: the id or a setting does not hold.
            ResourceExhausted: STORAGE_FULL.
        """
        check_library_id(library_id)
        (config or LibraryConfig()).check()
        with self._guard:
            self._check_open()
            if library_id not in self._open:
                self._open[library_id] = self._make(library_id, config)
                self._file.set_libraries({*self._file.library_ids(), library_id})
            return self._open[library_id]

    @property
    def server_file(self) -> ServerFile:
        """What is kept of the server itself."""
        return self._file

    def hide(self, library_id: str, check: Callable[[Snapshot], None] | None = None) -> str:
        """Take a library away from everybody at once, also one that cannot be opened; its name is free again.

        Args:
            check: given the last state of one that is open; what it raises leaves everything as it was.

        Returns:
            The name under which its files wait for `free`.

        Raises:
            UnknownResource: UNKNOWN_LIBRARY.
        """
        with self._guard, disk_errors(self.path):
            self._check_open()
            if library_id not in self._file.library_ids():
                raise _unknown(library_id)
            if (library := self._open.get(library_id)) is not None:
                library.close(check)
                del self._open[library_id]
            # No library id holds a dot, so that one end of the name does not run into the other.
            name = f"{_REMOVED}{library_id}.{secrets.token_hex(4)}"
            os.replace(self.path / LIBRARIES / library_id, self.path / LIBRARIES / name)
            self._file.set_libraries(set(self._file.library_ids()) - {library_id})
        return name

    def hidden(self) -> dict[str, str]:
        """Names of what was hidden and is not free yet, each with the id of the library that it was."""
        names = sorted(each.name for each in (self.path / LIBRARIES).glob(f"{_REMOVED}*"))
        return {name: name.removeprefix(_REMOVED).partition(".")[0] for name in names}

    def free(self, name: str) -> None:
        """Give the disk space of a hidden library back. One that is gone already is no error."""
        if not name.startswith(_REMOVED) or "/" in name:
            raise ValueError(f"{name} is no hidden library")
        with disk_errors(self.path), suppress(FileNotFoundError):
            shutil.rmtree(self.path / LIBRARIES / name)

    def close(self) -> None:
        """Close every library and let go of the folder."""
        with self._guard:
            if self._close_libraries():
                self._file.close()
                self._lock.release()

    def __enter__(self) -> DataFolder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable(ErrorReason.NOT_SERVING, "The data folder is closed.")

    def _make(self, library_id: str, config: LibraryConfig | None) -> Library:
        folder = self.path / LIBRARIES / library_id
        is_new = not folder.exists()
        try:
            with disk_errors(folder):
                return self._introduced(
                    Library(folder, library_id, secret=self.secret, config=config, deriver=self._deriver, now=self._now)
                )
        except BaseException:
            if is_new:
                shutil.rmtree(folder, ignore_errors=True)
            raise

    def _introduced(self, library: Library) -> Library:
        """A library that was opened, when whoever wants to know of it does."""
        try:
            if self._opened is not None:
                self._opened(library)
        except BaseException:
            library.close()
            raise
        return library

    def _close_libraries(self) -> bool:
        """Whether there were any to close: the folder was open until now. The caller holds the guard."""
        if self._closed:
            return False
        self._closed = True
        for library in self._open.values():
            library.close()
        self._open.clear()
        return True

    def _adopt(self) -> None:
        """The folders are what counts: one that was copied in is listed, one that was taken away is not."""
        found = {
            folder.name
            for folder in (self.path / LIBRARIES).iterdir()
            if _LIBRARY_ID.fullmatch(folder.name) and (folder / "store.sqlite").is_file()
        }
        if found != set(self._file.library_ids()):
            self._file.set_libraries(found)
