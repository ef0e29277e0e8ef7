"""The one place where parts are put together: settings, libraries, embedder, gate, and the services over them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from groundwire_server.engine.administration import LibraryAdministration
from groundwire_server.engine.components import list_components
from groundwire_server.engine.describe import describe_library
from groundwire_server.engine.documents import DocumentReads
from groundwire_server.engine.embedding import ServerEmbedder
from groundwire_server.engine.evidence_graph import EvidenceGraph
from groundwire_server.engine.filters import Filtered, filter_faults
from groundwire_server.engine.glossary_watch import GlossaryWatch
from groundwire_server.engine.info import LibraryInfo, LibraryPage, ServerInfo
from groundwire_server.engine.jobs import Jobs
from groundwire_server.engine.libraries import Libraries
from groundwire_server.engine.model import model_config
from groundwire_server.engine.reading import chosen_libraries, refuse_unreachable
from groundwire_server.engine.records import RecordReads
from groundwire_server.engine.reindex import Reindexing
from groundwire_server.engine.relating import Relating, RelatingCalls
from groundwire_server.engine.rights import may_write
from groundwire_server.engine.terms import TermDescription, TermPlace, TermWish, describe_terms
from groundwire_server.engine.tool_names import ToolNames, tool_names
from groundwire_server.errors import (
    ErrorReason,
    GroundwireError,
    UnknownResource,
    Violation,
)
from groundwire_server.evidence import Call, Filter, Label, Principal
from groundwire_server.ingest import (
    DocumentIngest,
    DocumentRules,
    FactIngest,
    FactIngestRules,
    IngestDesk,
    IngestLimits,
    IngestOpening,
)
from groundwire_server.jobs import audience_of
from groundwire_server.llm import make_provider
from groundwire_server.narrative import (
    EvidenceFrame,
    RetrievalLimits,
    RetrievalMode,
    RetrievalParts,
    RetrieveRequest,
    RouterChoice,
    Unreachable,
    make_library_router,
    retrieve,
    within_budgets,
)
from groundwire_server.readers import ReadOptions
from groundwire_server.relations import DerivedEdges
from groundwire_server.relations.extractors import ModelAccess
from groundwire_server.security import SecurityGate, local_principal
from groundwire_server.settings import LimitSettings, Settings
from groundwire_server.store import Withdrawn

if TYPE_CHECKING:
    from groundwire_server.citation import CitationCheck, VerifyRequest
    from groundwire_server.graph import TraceLimits, TraceRequest
    from groundwire_server.metric import MetricRequest
    from groundwire_server.router import AskFrame, AskRequest, RouteDecision, RouterLimits, Turn

__all__ = ["Engine"]

_log = logging.getLogger(__name__)


class Engine:
    """Everything that a server can do, without the wire. Any thread may call it.

    Rooms that answer other questions than those for passages are loaded by the first of theirs: a start does not wait.

    Attributes:
        settings: those it was made with.
        local_principal: the caller that exists without credentials.
        default_mode: legs to search where a call does not say.
        limits: bounds of a retrieval.
        jobs: the work behind the calls.
        administration: what changes libraries and glossaries.
        documents, records: what is stored, one by one.
        page_key: key of the tokens of lists; it stays with the data folder.

    Args:
        settings: of the server.
        lock: descriptor of the lock of the data folder, where another process holds it and has handed it on.

    Raises:
        FailedPrecondition: another process has the data folder; the settings insist on a model that is not prepared.
        InvalidRequest: the settings name a library router that is not there, or a model that cannot be asked.
    """

    def __init__(self, settings: Settings, *, lock: int | None = None) -> None:
        self.settings = settings
        self.local_principal: Principal = local_principal(settings.access.local_clearance, settings.access.local_rights)
        self.default_mode = RetrievalMode[settings.retrieval.mode.upper()]
        self.limits = RetrievalLimits(
            settings.limits.max_top_k, settings.limits.max_query_chars, settings.retrieval.library_router_seconds
        )
        self._library_router = _library_router(settings)
        self._gate = SecurityGate(settings.gate.outside_names)
        self._model = make_provider(model_config(settings.llm))
        self._libraries = self._open_libraries(settings, lock)
        self.page_key = self._libraries.folder.secret
        self.documents = DocumentReads(self._libraries)
        self.records = RecordReads(self._libraries)
        try:
            self._embedder = ServerEmbedder(settings, self._libraries.use_embedder, self._libraries.go_without)
        except BaseException:
            self._libraries.close()
            raise
        self._begin(settings)

    def _open_libraries(self, settings: Settings, lock: int | None) -> Libraries:
        return Libraries(settings, lock=lock)

    def _begin(self, settings: Settings) -> None:
        """Put together what writes, and begin with what was left to do."""
        bounds = IngestLimits(
            max_document_bytes=settings.limits.max_document_bytes, read=_reading_bounds(settings.limits)
        )
        self._desk = IngestDesk(self._libraries.opened, bounds)
        # Opening catches up indexes and embeds what a crash left without vectors; nobody has to wait for it.
        self._opener = threading.Thread(target=self._open_all, name="groundwire-open", daemon=True)
        clearance = Label[settings.llm.clearance.upper()]
        self._relating = Relating(ModelAccess(self._model, self._gate, clearance, settings.llm.parallel))
        self.jobs = Jobs(self._libraries, Reindexing(self._libraries, self._embedder, self._relating), self._relating)
        self._relating_calls = RelatingCalls(self._relate)
        self.administration = LibraryAdministration(self._libraries, self._embedder, self._relating, self.jobs)
        self._glossary_watch = GlossaryWatch(
            self._libraries.held,
            lambda library: self.administration.follow_glossary(library, self.local_principal),
        )
        self._opener.start()

    def announce(self, address: str) -> None:
        """Say where this server answers; a second one that wants the folder is told."""
        self._libraries.folder.announce(address)

    def wait_for_embedder(self, seconds: float | None = None) -> None:
        """Until the embedder is loaded or has failed; for those who need it at once."""
        self._embedder.wait(seconds)

    def close(self) -> None:
        """Stop the background work and let go of the data folder."""
        self._glossary_watch.close()
        self._relating_calls.close()
        self.jobs.close()  # nothing is begun after this
        if self._model is not None:
            self._model.close()
        self._opener.join()
        self._embedder.wait()
        self._libraries.close()

    @cached_property
    def router_limits(self) -> RouterLimits:
        """Bounds of a question."""
        from groundwire_server.router import RouterLimits, learned_classifier

        limits = self.settings.limits
        retrieval = self.settings.retrieval
        return RouterLimits(
            self.limits,
            limits.max_history_turns,
            limits.max_metric_queries,
            classifier=None if retrieval.route_classifier == "rules" else learned_classifier(),
            model=self._model,
            route_by_model=retrieval.route_classifier == "llm",
            steps_by_model=retrieval.adaptive == "llm",
        )

    @property
    def earlier_states(self) -> int:
        """How many states of libraries are held beside the newest of each: by streams, and by work behind the calls."""
        return self._libraries.earlier_states

    # ---- reads

    def retrieve(self, request: RetrieveRequest, call: Call) -> Iterator[EvidenceFrame]:
        """Passages for a query; raises as `narrative.retrieve` does."""
        snapshots, unreachable = self._libraries.reading(call)
        parts = self._parts()
        return within_budgets(lambda bounded: retrieve(request, bounded, snapshots, parts, unreachable), call)

    def query_metric(self, request: MetricRequest, call: Call) -> Iterator[EvidenceFrame]:
        """Exact figures or typed refusals; raises as `metric.query_metric` does."""
        from groundwire_server.metric import query_metric

        reading = chosen_libraries(call, *self._libraries.reading(call))

        def run(bounded: Call) -> Iterator[EvidenceFrame]:
            return query_metric(
                request,
                bounded,
                reading.snapshots,
                gate=self._gate,
                degradations=reading.degradations,
                most=self.settings.limits.max_metric_queries,
            )

        return within_budgets(run, call)

    def describe_terms(
        self, wish: TermWish, call: Call, after: TermPlace | None, limit: int
    ) -> tuple[list[TermDescription], bool]:
        """Up to `limit` terms behind a place with the figures that there are, and whether there are more.

        Raises:
            InvalidRequest: no library knows the metric or entity by which facts are bounded.
            UnknownResource: the call names a library that is not there.
        """
        reading = chosen_libraries(call, *self._libraries.snapshots())
        found: list[TermDescription] = []
        for each in describe_terms(reading.snapshots, call.principal, wish, after):
            call.cancel.check("describe")
            if len(found) == limit:
                return found, True
            found.append(each)
        return found, False

    @property
    def trace_limits(self) -> TraceLimits:
        """What one walk may ask for."""
        from groundwire_server.graph import TraceLimits

        limits = self.settings.limits
        return TraceLimits(limits.max_hops, limits.max_trace_nodes, limits.max_trace_edges)

    def trace(self, request: TraceRequest, call: Call) -> Iterator[EvidenceFrame]:
        """A walk in the relation graph; raises as `graph.trace` does."""
        from groundwire_server.graph import trace

        reading = chosen_libraries(call, *self._libraries.reading(call))

        def run(bounded: Call) -> Iterator[EvidenceFrame]:
            return trace(
                request,
                bounded,
                reading.snapshots,
                gate=self._gate,
                limits=self.trace_limits,
                degradations=reading.degradations,
            )

        return within_budgets(run, call)

    def route(self, question: str, call: Call, history: Sequence[Turn]) -> RouteDecision:
        """Which kind of evidence a question needs; raises as `router.route` does."""
        from groundwire_server.router import route

        reading = chosen_libraries(call, *self._libraries.snapshots())
        return route(question, call, reading.snapshots, history, gate=self._gate, limits=self.router_limits)

    def ask(self, request: AskRequest, call: Call) -> Iterator[AskFrame]:
        """An answer that stands on what it cites; raises as `router.ask` does."""
        from groundwire_server.router import AnswerModel, ask

        snapshots, unreachable = self._libraries.reading(call)
        clearance = Label[self.settings.llm.clearance.upper()]
        model = None if self._model is None else AnswerModel(self._model, clearance)
        return ask(request, call, snapshots, self._parts(), unreachable, limits=self.router_limits, model=model)

    def filter_faults(self, what: Filtered, parts: Sequence[tuple[str, Filter]], call: Call) -> list[Violation]:
        """What no library can test in the filters of a request that has other faults, as far as libraries are known."""
        if not parts:
            return []
        try:
            reading = chosen_libraries(call, *self._libraries.snapshots())
        except GroundwireError:
            return []
        return filter_faults(what, parts, call, reading.snapshots)

    def verify(self, request: VerifyRequest, principal: Principal) -> CitationCheck:
        """Whether a citation still holds; raises as `citation.verify_citation` does.

        Raises:
            Unavailable: LIBRARIES_UNREACHABLE, its library does not answer now; that is no verdict.
        """
        from groundwire_server.citation import verify_citation

        snapshots, unreachable = self._libraries.snapshots()
        refuse_unreachable(request.lineage.library_id, unreachable)
        return verify_citation(request, principal, snapshots)

    def tool_names(self, call: Call) -> ToolNames:
        """Names of the libraries that the call names, else of all, for a model to choose from.

        Raises:
            UnknownResource: the call names a library that is not there.
        """
        return tool_names(chosen_libraries(call, *self._libraries.snapshots()).snapshots, call.principal)

    # ---- writes

    def open_documents(self, library_id: str, opening: IngestOpening, principal: Principal) -> DocumentIngest:
        """Open a stream of documents; raises as `IngestDesk.open_documents` does, and UnknownResource."""
        library = self._libraries.to_write(
            library_id, principal, "IngestDocuments", validate_only=opening.validate_only
        )
        self._libraries.forget_old_ingests(library)
        model = self._embedder.cutting_model

        def rules() -> DocumentRules:
            snapshot = library.snapshot()
            return DocumentRules.of(snapshot.config, model, self._relating.immediate(snapshot))

        return self._desk.open_documents(library, opening, rules)

    def open_facts(self, library_id: str, opening: IngestOpening, principal: Principal) -> FactIngest:
        """Open a stream of figures and relations; raises as `IngestDesk.open_facts` does, and UnknownResource."""
        library = self._libraries.to_write(library_id, principal, "IngestFacts", validate_only=opening.validate_only)
        self._libraries.forget_old_ingests(library)
        return self._desk.open_facts(library, opening, lambda: FactIngestRules.of(library.snapshot()))

    def wake_embedding(self, library_id: str) -> None:
        """Have what is new embedded, where the library has an embedder. Never waits."""
        self._libraries.wake_embedding(library_id)

    def wake_relating(self, library_id: str) -> None:
        """Have relations found in what is new, where a model is asked for them. Never waits."""
        if self._model is not None:
            self._relating_calls.call(library_id)

    def embedding_job(self, library_id: str, principal: Principal, since: datetime) -> str:
        """Id of the job that embeds what the caller may read, or has done so since a moment; "": nothing to embed."""
        return self._libraries.embedding_job(library_id, audience_of(principal), since)

    def snapshot_id(self, library_id: str, principal: Principal) -> str:
        """Id of the newest state of a library, as the caller sees it."""
        return self._libraries.for_reading(library_id).snapshot().snapshot_id(principal)

    def withdraw(self, library_id: str, doc_id: str, principal: Principal) -> Withdrawn:
        """Take a document out of every answer.

        Raises:
            UnknownResource: UNKNOWN_LIBRARY, or UNKNOWN_DOCUMENT: never there, or not readable by the caller.
        """
        may_write(principal, "WithdrawDocument", library_id)
        library = self._libraries.for_reading(library_id)
        missing = UnknownResource(
            ErrorReason.UNKNOWN_DOCUMENT,
            f"There is no document {doc_id[:200]!r} in the library {library_id}.",
            details={"library_id": library_id, "doc_id": doc_id[:200]},
        )
        with library.writing() as writer:
            try:
                withdrawn = writer.withdraw_document(doc_id, clearance=principal.clearance)
            except UnknownResource:
                raise missing from None
            snapshot = library.snapshot()
            DerivedEdges.of(snapshot.config, snapshot.glossary).follow_source(writer, doc_id)
            return withdrawn

    # ---- libraries and glossaries

    def server_info(self, principal: Principal) -> ServerInfo:
        """What is really active, and the settings for who may administer."""
        settings = tuple(self.settings.in_force()) if principal.may_administer else ()
        return ServerInfo(
            list_components(self._embedder.component(), self._embedder.cutting_fault, self._model), settings
        )

    def list_libraries(self, principal: Principal, *, after: str, limit: int) -> LibraryPage:
        """Up to `limit` libraries behind the id `after`, by id; one that cannot be opened says why."""
        ids = [library_id for library_id in self._libraries.folder.list() if library_id > after]
        snapshots, unreachable = self._libraries.snapshots(ids[:limit])
        name, loading = self._embedder.name, self._embedder.loading
        listed: list[LibraryInfo | Unreachable] = [*unreachable]
        listed += (describe_library(each, principal, name, embedder_loading=loading) for each in snapshots)
        return LibraryPage(tuple(sorted(listed, key=lambda each: each.library_id)), len(ids) > limit)

    # ---- inner

    def _relate(self, library_id: str) -> None:
        self.jobs.relate(self._libraries.for_reading(library_id), self.local_principal)

    def _open_all(self) -> None:
        """Open what there is, and order what a change of settings left to do: one whose process died, or of a file."""
        self.jobs.start()
        self._libraries.give_up_lost()
        for library in self._libraries.opened():
            try:
                self.jobs.recut(library, self.local_principal)
                self.jobs.relate(library, self.local_principal)
            except GroundwireError as error:
                _log.warning("library %s is not cut anew yet: %s", library.library_id, error.reason.name)

    def _parts(self) -> RetrievalParts:
        """To be taken after the snapshots: an embedder that one of them has is among the parts then."""
        absence = self._embedder.absence  # before the embedder, which may come in between
        return RetrievalParts(
            embedder=self._embedder.embedder,
            no_embedder=absence,
            vector_faults=self._libraries.vector_faults(),
            gate=self._gate,
            limits=self.limits,
            library_router=self._library_router,
            graph=EvidenceGraph(),
            model=self._model,
            model_clearance=Label[self.settings.llm.clearance.upper()],
        )


def _library_router(settings: Settings) -> RouterChoice | None:
    name = settings.retrieval.library_router
    router = make_library_router(name, "retrieval.library_router")
    return None if router is None else RouterChoice(name, router, settings.retrieval.library_router_seconds)


def _reading_bounds(limits: LimitSettings) -> ReadOptions:
    return ReadOptions(
        max_unpacked_bytes=limits.max_unpacked_bytes,
        max_pages=limits.max_document_pages,
        max_text_chars=limits.max_text_chars,
        max_seconds=limits.max_read_seconds,
        max_memory_bytes=limits.max_read_memory_bytes,
    )
