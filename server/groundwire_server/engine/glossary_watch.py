"""A glossary that a person edits in the data folder holds without a restart."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from groundwire_server.errors import GroundwireError
from groundwire_server.library import Library

__all__ = ["GlossaryWatch"]

_log = logging.getLogger(__name__)
_EVERY_SECONDS = 1.0


class GlossaryWatch:
    """Looks at the files of open libraries once a second, and takes in what has stood there for a second.

    Args:
        libraries: those to look at.
        adopted: told of a library that has another glossary now.
    """

    def __init__(self, libraries: Callable[[], Iterable[Library]], adopted: Callable[[Library], None]) -> None:
        self._libraries = libraries
        self._adopted = adopted
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="groundwire-glossaries", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no more."""
        self._over.set()
        self._thread.join()

    def look(self) -> None:
        """Look once."""
        for library in self._libraries():
            before = library.glossary_fault
            try:
                if library.adopt_glossary(settled=False):
                    _log.info("library %s has the glossary that was written into its file", library.library_id)
                    self._adopted(library)
            except GroundwireError as error:  # it is being closed, or the disk is full: the next look tries again
                _log.warning("library %s keeps its glossary: %s", library.library_id, error.reason.name)
            if library.glossary_fault not in ("", before):
                # Why may name terms, which are content: whoever asks for it is told.
                _log.warning(
                    "library %s keeps its glossary; the file does not hold, as `groundwire glossary lint` says",
                    library.library_id,
                )

    def _run(self) -> None:
        while not self._over.wait(_EVERY_SECONDS):
            self.look()
