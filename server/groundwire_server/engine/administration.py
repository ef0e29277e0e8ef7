"""What changes libraries and glossaries, and has the work done that follows from it."""

from __future__ import annotations

import logging
import threading

from groundwire_server.chunking import needs_model
from groundwire_server.engine.deletion import LibraryDeletion, check_confirmation, make_confirmation
from groundwire_server.engine.describe import describe_library, describe_new_library
from groundwire_server.engine.embedding import ServerEmbedder
from groundwire_server.engine.glossaries import GlossaryChange, changed_glossary, glossary_findings
from groundwire_server.engine.info import GlossaryUpdate, LibraryInfo
from groundwire_server.engine.jobs import Jobs
from groundwire_server.engine.libraries import Libraries
from groundwire_server.engine.library_settings import LibraryUpdate, check_unchanged, settled_config
from groundwire_server.engine.relating import Relating
from groundwire_server.engine.rights import may_administer, may_write
from groundwire_server.errors import FailedPrecondition, GroundwireError
from groundwire_server.evidence import Principal
from groundwire_server.glossary import Glossary
from groundwire_server.library import Library, LibraryConfig, Snapshot, check_library_id

__all__ = ["LibraryAdministration"]

_log = logging.getLogger(__name__)


class LibraryAdministration:
    """Makes, changes and deletes libraries, and changes their glossaries. Any thread."""

    def __init__(self, libraries: Libraries, embedder: ServerEmbedder, relating: Relating, jobs: Jobs) -> None:
        self._libraries = libraries
        self._embedder = embedder
        self._relating = relating
        self._jobs = jobs
        self._creating = threading.Lock()  # of two who make one library the second changes it

    def save_library(
        self, library_id: str, config: LibraryConfig, principal: Principal, *, validate_only: bool, if_snapshot_id: str
    ) -> LibraryUpdate:
        """Create a library or change its settings.

        Where these cut documents in another way, those that are there are cut anew by a job; what comes from now on is
        cut so at once.

        Raises:
            InvalidRequest: the id or a setting does not hold.
            Aborted: CONFLICTING_CHANGE, the library has changed since `if_snapshot_id`.
            GlossaryConflict: shared names that the new settings do not report.
            FailedPrecondition: NO_EMBEDDER, documents would be cut by a model, and there is none.
            ResourceExhausted: STORAGE_FULL; or OVERLOADED, too many jobs wait, and the same call again makes the job.
        """
        may_write(principal, "SaveLibrary", library_id)
        check_library_id(library_id, "library.library_id")
        config.check("library.")
        folder = self._libraries.folder
        no_model = self._fault_of_cut(config)
        if (no_extractor := self._relating.fault(config)) is not None:
            raise no_extractor

        def changed(snapshot: Snapshot) -> LibraryConfig:
            check_unchanged(snapshot, if_snapshot_id, principal)
            if no_model is not None and not config.cuts_like(snapshot.config):
                raise no_model
            return settled_config(config, snapshot, principal)

        with self._creating:
            if library_id not in folder.list():
                if if_snapshot_id:
                    self._libraries.for_reading(library_id)  # raises: there is none
                if no_model is not None:
                    raise no_model
                if validate_only:
                    return LibraryUpdate(describe_new_library(library_id, config))
                return LibraryUpdate(self._describe(folder.create(library_id, config).snapshot(), principal))
        library = self._libraries.for_reading(library_id)
        before, after = library.change_config(changed, dry_run=validate_only)
        if validate_only:
            planned = self._jobs.planned_recut(before, after, principal)
            planned = planned or self._jobs.planned_relate(before, after, principal)
            return LibraryUpdate(self._describe(before, principal, after), planned)
        if before.config.embedder != after.embedder:
            self._libraries.refresh(library)
        job = self._jobs.recut(library, principal)
        relating = self._jobs.relate(library, principal)
        return LibraryUpdate(self._describe(library.snapshot(), principal), job or relating)

    def delete_library(
        self, library_id: str, confirmation: str, principal: Principal, *, validate_only: bool
    ) -> LibraryDeletion:
        """Take a library away from everybody, and have its space freed; with `validate_only` give the confirmation.

        Raises:
            NotPermitted: the caller may not administer.
            UnknownResource: UNKNOWN_LIBRARY.
            InvalidRequest: VALUE_REQUIRED, there is no confirmation.
            Aborted: CONFLICTING_CHANGE, the confirmation is not of this state, or not of this caller.
        """
        may_administer(principal, "DeleteLibrary", library_id)
        folder = self._libraries.folder
        with self._creating:
            if library_id not in folder.list():
                self._libraries.for_reading(library_id)  # raises: there is none
            snapshots, unreachable = self._libraries.snapshots([library_id])
            made_at = folder.server_file.created_at(library_id)

            def expected(snapshot: Snapshot | None) -> str:
                state = "" if snapshot is None else snapshot.content_id(principal)
                return make_confirmation(folder.secret, principal, library_id, made_at, state)

            last = snapshots[0] if snapshots else None
            shown = unreachable[0] if last is None else self._describe(last, principal)
            if confirmation or not validate_only:
                check_confirmation(confirmation, expected(last), library_id)
            if validate_only:
                return LibraryDeletion(shown, confirmation=expected(last))

            def unchanged(snapshot: Snapshot) -> None:
                check_confirmation(confirmation, expected(snapshot), library_id)

            return LibraryDeletion(shown, job=self._jobs.free(library_id, principal, unchanged))

    def update_glossary(
        self,
        library_id: str,
        change: GlossaryChange,
        principal: Principal,
        *,
        validate_only: bool,
        if_snapshot_id: str,
    ) -> GlossaryUpdate:
        """Change the glossary of a library, all or nothing, and say what a person should look at.

        Raises:
            InvalidRequest: a term is malformed; every fault at once.
            GlossaryConflict: two terms share a name; nothing was changed.
            Aborted: CONFLICTING_CHANGE, the library has changed since `if_snapshot_id`.
        """
        library = self._libraries.to_write(library_id, principal, "UpdateGlossary", validate_only=validate_only)

        def changed(snapshot: Snapshot) -> Glossary:
            check_unchanged(snapshot, if_snapshot_id, principal)
            return changed_glossary(snapshot.glossary, change)

        snapshot = library.snapshot()
        if validate_only:
            glossary = changed(snapshot)
        else:
            library.change_glossary(changed)
            self.follow_glossary(library, principal)
            snapshot = library.snapshot()
            glossary = snapshot.glossary
        findings, omitted = glossary_findings(glossary, snapshot, principal, library.glossary_fault)
        return GlossaryUpdate(findings, "" if validate_only else snapshot.snapshot_id(principal), omitted)

    def follow_glossary(self, library: Library, principal: Principal) -> None:
        """Have relations found by the names that hold now. The glossary holds whatever becomes of that."""
        try:
            self._jobs.relate(library, principal)
        except GroundwireError as error:
            _log.warning("library %s has relations of earlier names: %s", library.library_id, error.reason.name)

    def _fault_of_cut(self, config: LibraryConfig) -> FailedPrecondition | None:
        """Why nothing can be cut by these settings: they ask for a model, and there is none."""
        if needs_model(config.chunker, config.budget_unit):
            try:
                self._embedder.cutting_model()
            except FailedPrecondition as error:
                return error
        return None

    def _describe(self, snapshot: Snapshot, principal: Principal, config: LibraryConfig | None = None) -> LibraryInfo:
        """A library as it is, or as it would be with other settings."""
        embedder = self._embedder
        return describe_library(snapshot, principal, embedder.name, embedder_loading=embedder.loading, config=config)
