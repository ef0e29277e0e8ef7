"""Settings and glossary of a library: in the store, in the files that people edit, and as they were read last."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from groundwire_server.errors import GlossaryConflict, InvalidRequest
from groundwire_server.glossary import Glossary, check_derivations
from groundwire_server.library.config import LibraryConfig
from groundwire_server.library.derived import Deriver, follow_settings
from groundwire_server.library.kept_file import KeptFile
from groundwire_server.library.recut import Recut
from groundwire_server.store import Store, StoreReader, StoreWriter

if TYPE_CHECKING:
    from groundwire_server.library.snapshot import Snapshot

__all__ = ["KeptSettings", "Look"]

Look = tuple[int, ...] | None
"""A file as `KeptFile.look` saw it."""


class KeptSettings:
    """Settings and glossary of one library, as `KeptFile` keeps each. For whoever changes the library, one at a time.

    Args:
        folder: of the library, with library.toml and glossary.toml.

    Attributes:
        glossary_fault: why glossary.toml, which a person has changed, is not in force; empty where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.glossary_fault = ""
        self._config = KeptFile("config", folder / "library.toml")
        self._glossary = KeptFile("glossary", folder / "glossary.toml")
        self._texts = ("", "")
        self._read = (LibraryConfig(), Glossary())
        self._seen: Look = None
        self._unsettled: Look = None

    def adopt(self, store: Store, config: LibraryConfig, deriver: Deriver | None) -> None:
        """Bring store and files together when the library opens.

        Args:
            config: of a library that has none yet.

        Raises:
            InvalidRequest: a file was edited and does not hold.
        """
        reader = store.reader()
        new_config, new_glossary = self._config.edited(reader), self._glossary.edited(reader)
        kept = self._config.read(reader)
        recut = Recut.read(reader)
        if new_config is not None:
            config = LibraryConfig.from_toml(new_config)
            recut = recut if kept is None else recut.after(LibraryConfig.from_toml(kept), config)
        elif kept is not None:
            config = LibraryConfig.from_toml(kept)
        else:
            config.check()
            new_config = config.to_toml()
        text = self._glossary.read(reader) if new_glossary is None else new_glossary
        glossary = Glossary.from_toml(text or "", ambiguous=config.ambiguous)
        if new_glossary is not None:
            check_derivations(glossary)
        with store.writer() as writer:
            if new_config is not None:
                self._config.put(writer, new_config)
                recut.write(writer)
            if new_glossary is not None:
                self._glossary.put(writer, new_glossary)
            follow_settings(deriver, writer, reader, config, glossary)
        # Read once: a glossary of thousands of terms takes its time.
        self._texts, self._read = (new_config or kept or "", text or ""), (config, glossary)
        self.write_files(store.reader())

    def are_there(self, reader: StoreReader) -> bool:
        """Whether the library has been set up."""
        return self._config.read(reader) is not None

    def write_files(self, reader: StoreReader) -> None:
        """Bring the files up to the store."""
        self._config.follow(reader)
        self._glossary.follow(reader)

    def in_force(self, reader: StoreReader) -> tuple[LibraryConfig, Glossary]:
        """Settings and glossary at the newest state; read again only when their texts are others."""
        texts = (self._config.read(reader) or "", self._glossary.read(reader) or "")
        if texts != self._texts:
            config = LibraryConfig.from_toml(texts[0])
            self._read = (config, Glossary.from_toml(texts[1], ambiguous=config.ambiguous))
            self._texts = texts
        return self._read

    def at(self, reader: StoreReader, newest: Snapshot) -> tuple[LibraryConfig, Glossary]:
        """Settings and glossary at an earlier state; what is as it is now is not read again. Any thread."""
        config = LibraryConfig.from_toml(self._config.read(reader) or "")
        text = self._glossary.read(reader) or ""
        unchanged = config.ambiguous == newest.config.ambiguous
        if unchanged and text == (self._glossary.read(newest.stored) or ""):
            return config, newest.glossary
        return config, Glossary.from_toml(text, ambiguous=config.ambiguous)

    def put_config(self, writer: StoreWriter, config: LibraryConfig) -> None:
        """Set other settings in a transaction."""
        self._config.put(writer, config.to_toml())

    def put_glossary(self, writer: StoreWriter, text: str) -> None:
        """Set another glossary in a transaction."""
        self._glossary.put(writer, text)

    def note(self, reader: StoreReader, text: str, config: LibraryConfig, glossary: Glossary) -> None:
        """Spare the reading of a glossary that was committed, and of which it is known what its text says."""
        self._texts, self._read = (self._config.read(reader) or "", text), (config, glossary)

    def look(self) -> Look:
        """At glossary.toml."""
        return self._glossary.look()

    def is_new(self, seen: Look, *, settled: bool) -> bool:
        """Whether glossary.toml is not as it was when it was read last.

        Args:
            settled: False: only where it stood there the last time too, since who writes a file may not be done.
        """
        if seen == self._seen:
            return False
        if not settled and seen != self._unsettled:
            self._unsettled = seen
            return False
        return True

    def edited_glossary(self, reader: StoreReader, config: LibraryConfig, seen: Look) -> tuple[str, Glossary] | None:
        """What a person has written into glossary.toml, as the settings read it; None: nothing that holds."""
        fault, text, glossary = "", None, Glossary()
        try:
            text = self._glossary.edited(reader)
            if text is not None:
                glossary = Glossary.from_toml(text, ambiguous=config.ambiguous)
                check_derivations(glossary)
        except (InvalidRequest, GlossaryConflict) as error:
            fault = str(error)
        if fault or text is None:
            self.took(seen, fault)
            return None
        return text, glossary

    def took(self, seen: Look, fault: str = "") -> None:
        """Glossary.toml has been dealt with as it was seen."""
        self._seen, self.glossary_fault = seen, fault
