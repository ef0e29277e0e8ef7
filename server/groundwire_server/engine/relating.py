"""Who finds relations in the documents of which library, and what there is left to do."""

from __future__ import annotations

from groundwire_server.errors import FailedPrecondition
from groundwire_server.evidence import Label
from groundwire_server.ingest import documents_to_relate, relate
from groundwire_server.jobs import AUDIENCES, JobControl
from groundwire_server.library import Library, LibraryConfig, Snapshot
from groundwire_server.relations.extractors import RelationExtractor, Worked, make_extractor

__all__ = ["RELATE", "Relating"]

RELATE = "relate"
"""The task that has the documents of a library worked on."""


class Relating:
    """Extractors of relations, by what a library's settings say."""

    def extractor(self, snapshot: Snapshot) -> RelationExtractor:
        """The extractor of a library, over its glossary. Raises FailedPrecondition: NO_MODEL."""
        return make_extractor(snapshot.config.relation_extractor, snapshot.glossary)

    def immediate(self, snapshot: Snapshot) -> RelationExtractor | None:
        """The same where relations are stored together with the documents that state them; else None."""
        extractor = None if self.fault(snapshot.config) is not None else self.extractor(snapshot)
        return extractor if extractor is not None and extractor.immediate else None

    def fault(self, config: LibraryConfig) -> FailedPrecondition | None:
        """Why nothing can be extracted by these settings: they ask for a model, and there is none."""
        return None

    def relate(self, library: Library, control: JobControl, *, anew: bool = False, final: bool = True) -> None:
        """The work of the task; raises as `ingest.relate` does."""
        relate(library, control, self.extractor, anew=anew, final=final)

    def waiting(self, snapshot: Snapshot, config: LibraryConfig | None = None) -> dict[Label, int]:
        """How many documents are to be worked on, by label; none where the extractor is not to be had.

        Args:
            config: as if the library had these settings.
        """
        config = config or snapshot.config
        if self.fault(config) is not None:
            return {}
        extractor = make_extractor(config.relation_extractor, snapshot.glossary)
        if Worked.read(snapshot.reader).version == extractor.version and extractor.immediate:
            rows = Worked.read(snapshot.reader).rows
            if rows == Worked().rows:
                return {}
        return documents_to_relate(snapshot, extractor)

    def audiences(self, waiting: dict[Label, int]) -> tuple[Label, ...]:
        """The classes of callers that may read something of what waits."""
        return tuple(audience for audience in AUDIENCES if any(label <= audience for label in waiting))
