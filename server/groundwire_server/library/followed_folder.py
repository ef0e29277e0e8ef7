"""The data folder of another process: its libraries, followed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from groundwire_server.errors import ErrorReason, GroundwireError, Unavailable
from groundwire_server.library.config import LibraryConfig
from groundwire_server.library.folder import LIBRARIES, DataFolder
from groundwire_server.library.followed import FollowedLibrary
from groundwire_server.library.library import Library
from groundwire_server.library.snapshot import Snapshot
from groundwire_server.store import FollowedServerFile

__all__ = ["FollowedFolder"]

_log = logging.getLogger(__name__)
# A write is to be seen everywhere within a second: this, and what it takes to index it.
_EVERY_SECONDS = 0.1


class FollowedFolder(DataFolder):
    """Reads what another process, which holds the folder, writes. It makes nothing and locks nothing. Any thread.

    A thread follows the libraries that are open ten times a second; who must know the newest state at once calls
    `follow`.

    Args:
        path: the folder.
        secret: None: the folder's own, which the other process has made.
        opened: called with each library when it is opened, before anybody else has it.
        gone: called with the id of each library that is not there any more.
        moved: called with each library that was followed to another state.

    Raises:
        FailedPrecondition: NOT_SERVING, there is no such folder.
    """

    def __init__(
        self,
        path: Path,
        *,
        secret: bytes | None = None,
        opened: Callable[[Library], None] | None = None,
        gone: Callable[[str], None] = lambda library_id: None,
        moved: Callable[[Library], None] = lambda library: None,
    ) -> None:
        self.path = path
        self._opened = opened
        self._gone = gone
        self._moved = moved
        self._guard = threading.Lock()
        self._following = threading.Lock()
        self._open: dict[str, Library] = {}
        self._made_at: dict[str, str] = {}
        self._closed = False
        self._watched = FollowedServerFile(path / "server.sqlite")
        self._file = self._watched
        try:
            self.secret = secret or self._file.secret()
            self._listed = self._watched.libraries()
        except BaseException:
            self._file.close()
            raise
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep_following, name="groundwire-follow", daemon=True)
        self._thread.start()

    def announce(self, address: str) -> None:
        """Nothing: who holds the folder says where it answers."""

    def list(self) -> list[str]:
        """Ids of the libraries, sorted, as of the last look."""
        return list(self._listed)

    def follow(self, *, patient: bool = False) -> None:
        """Take up what was written: libraries that came or went, the newest state of those that are open.

        Args:
            patient: as `FollowedLibrary.follow` has it; else at once, and all of it.
        """
        with self._following:
            if self._closed:
                return
            if self._watched.changed():
                self._listed = self._watched.libraries()
                self._let_go()
            for library in list(self._open.values()):
                self._follow(library, patient=patient)

    def create(self, library_id: str, config: LibraryConfig | None = None) -> Library:
        """Raises Unavailable (NOT_SERVING): the other process makes libraries."""
        raise _only_reads()

    def hide(self, library_id: str, check: Callable[[Snapshot], None] | None = None) -> str:
        """Raises Unavailable (NOT_SERVING)."""
        raise _only_reads()

    def free(self, name: str) -> None:
        """Raises Unavailable (NOT_SERVING)."""
        raise _only_reads()

    def close(self) -> None:
        """Stop following, and close every library."""
        self._end.set()
        self._thread.join()
        with self._following, self._guard:
            if self._close_libraries():
                self._file.close()

    def _keep_following(self) -> None:
        while not self._end.wait(_EVERY_SECONDS):
            try:
                self.follow(patient=True)
            except Exception as error:  # noqa: BLE001 - whatever it is, the next look may be better
                _log.warning("the data folder cannot be followed now: %s", _why(error))

    def _follow(self, library: Library, *, patient: bool) -> None:
        assert isinstance(library, FollowedLibrary)
        try:
            if library.follow(patient=True) if patient else library.catch_up():
                self._moved(library)
        except Exception as error:  # noqa: BLE001 - one library that is damaged must not keep the others back
            _log.warning("library %s cannot be followed now: %s", library.library_id, _why(error))

    def _let_go(self) -> None:
        """Close those that are not there any more, and those in whose place there are others of the same id."""
        with self._guard:
            lost = [key for key in self._open if self._listed.get(key) != self._made_at[key]]
            libraries = [self._open.pop(key) for key in lost]
        for library in libraries:
            self._gone(library.library_id)
            library.close()

    def _make(self, library_id: str, config: LibraryConfig | None) -> Library:
        self._made_at[library_id] = self._watched.created_at(library_id)
        return self._introduced(FollowedLibrary(self.path / LIBRARIES / library_id, library_id, secret=self.secret))


def _why(error: Exception) -> str:
    """The reason, or the type: no text of an exception goes into the log."""
    return error.reason.name if isinstance(error, GroundwireError) else type(error).__name__


def _only_reads() -> Unavailable:
    return Unavailable(ErrorReason.NOT_SERVING, "This process only reads; another one writes.")
