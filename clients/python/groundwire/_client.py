"""The synchronous client."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

import grpc
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from groundwire._call import channel_options, resolve_address, typed_error
from groundwire._errors import GroundwireError
from groundwire._fold import Fold, answer_fold, figures_fold, retrieval_fold, trace_fold
from groundwire._ingest.machine import IngestMachine
from groundwire._ingest.parts import document_parts, fact_parts
from groundwire._ingest_stream import IngestStream
from groundwire._model.answer import AnswerWriter
from groundwire._model.glossary import GlossaryUpdate, Term, TermRef
from groundwire._model.ingest import Withdrawal
from groundwire._model.library import Library
from groundwire._model.lineage import Lineage
from groundwire._model.metric import Calculation, MetricProduct, MetricQuery, VersionPolicy
from groundwire._model.options import CallOptions, RetrievalMode, RetrievalTuning
from groundwire._model.relation import Direction
from groundwire._model.result import Answer, Figures, Retrieval, Trace
from groundwire._model.route import Route, RouteDecision, Turn
from groundwire._model.server import HealthStatus, ServerInfo
from groundwire._model.snippet import Snippet
from groundwire._model.upload import DocumentUpload, FactFile, FactRecord, RelationRecord
from groundwire._model.verification import Verification
from groundwire._stream import Stream
from groundwire._wire import request as build
from groundwire._wire.mirror import decode_as
from groundwire.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    graph_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    metric_pb2_grpc,
    narrative_pb2_grpc,
    router_pb2_grpc,
    tools_pb2_grpc,
)

__all__ = ["Client"]


class Client:
    """A connection to a Groundwire server; safe to share between threads.

    >>> from groundwire import Client
    >>> with Client("127.0.0.1:50051") as client:  # doctest: +SKIP
    ...     print(client.ask("How many people live in Japan?").collect().text)

    Every method raises GroundwireError when the call fails as a whole; streams raise it while they are read. Reading
    methods take the keyword arguments of CallOptions.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        metadata: Sequence[tuple[str, str]] = (),
        timeout: float | None = None,
    ) -> None:
        """Connects when the first call is made.

        address: "host:port" or "unix:/path"; else GROUNDWIRE_ADDRESS, else 127.0.0.1:50051.
        credentials: TLS; without them the connection is plain text.
        metadata: goes with every call, e.g. [("authorization", "Bearer ...")].
        timeout: seconds for each call that does not say its own; ingests have none.
        """
        self.address = resolve_address(address)
        options = channel_options(self.address)
        if credentials is None:
            self._channel = grpc.insecure_channel(self.address, options)
        else:
            self._channel = grpc.secure_channel(self.address, credentials, options)
        self._metadata = tuple(metadata)
        self._timeout = timeout
        self._narrative = narrative_pb2_grpc.NarrativeServiceStub(self._channel)
        self._metric = metric_pb2_grpc.MetricServiceStub(self._channel)
        self._router = router_pb2_grpc.RouterServiceStub(self._channel)
        self._graph = graph_pb2_grpc.GraphServiceStub(self._channel)
        self._tools = tools_pb2_grpc.ToolServiceStub(self._channel)
        self._ingest = ingest_pb2_grpc.IngestServiceStub(self._channel)
        self._admin = admin_pb2_grpc.AdminServiceStub(self._channel)
        # The standard health service speaks one string and one enum: on the wire these are the well-known wrappers.
        self._health = self._channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=StringValue.SerializeToString,
            response_deserializer=Int32Value.FromString,
        )

    def close(self) -> None:
        """Close the connection; calls that still run are cancelled."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def retrieve(
        self,
        query: str,
        *,
        top_k: int = 0,
        mode: RetrievalMode | str = RetrievalMode.AUTO,
        tuning: RetrievalTuning | None = None,
        **options: Unpack[CallOptions],
    ) -> Stream[Retrieval]:
        """Passages for a query, best first. top_k 0: the server's default (10)."""
        request = build.retrieve_request(query, top_k, mode, tuning, options)
        return self._stream(self._narrative.NarrativeRetrieve, request, retrieval_fold(), options)

    def query_metric(
        self,
        queries: MetricQuery | Iterable[MetricQuery] = (),
        *,
        product: MetricProduct | None = None,
        calculations: Iterable[Calculation] = (),
        versions: VersionPolicy | str = VersionPolicy.LATEST,
        **options: Unpack[CallOptions],
    ) -> Stream[Figures]:
        """Stored figures, and figures computed from them; exactly one outcome a query."""
        request = build.metric_request(queries, product, calculations, versions, options)
        return self._stream(self._metric.QueryMetric, request, figures_fold(), options)

    def route(self, question: str, *, history: Sequence[Turn] = (), **options: Unpack[CallOptions]) -> RouteDecision:
        """Decide what kind of evidence a question needs; retrieves nothing."""
        request = build.route_request(question, history, options)
        return decode_as(RouteDecision, self._unary(self._router.Route, request, options.get("timeout")))

    def ask(
        self,
        question: str,
        *,
        route: Route | str = Route.UNSPECIFIED,
        top_k: int = 0,
        history: Sequence[Turn] = (),
        mode: RetrievalMode | str = RetrievalMode.AUTO,
        tuning: RetrievalTuning | None = None,
        writer: AnswerWriter | str = AnswerWriter.UNSPECIFIED,
        **options: Unpack[CallOptions],
    ) -> Stream[Answer]:
        """An answer that stands on what it cites. Without a route the server decides."""
        request = build.ask_request(question, route, top_k, history, mode, tuning, writer, options)
        return self._stream(self._router.Ask, request, answer_fold(), options)

    def neighborhood(
        self,
        nodes: Sequence[str],
        *,
        relations: Sequence[str] = (),
        direction: Direction | str = Direction.BOTH,
        max_hops: int = 0,
        valid_in: str = "",
        include_unverified: bool = False,
        **options: Unpack[CallOptions],
    ) -> Stream[Trace]:
        """Relations around nodes, nearest first. Nodes by id ("entity:ACME_JP") or by a name of the glossary."""
        request = build.neighborhood_request(
            nodes, relations, direction, max_hops, valid_in, include_unverified, options
        )
        return self._stream(self._graph.GraphTrace, request, trace_fold(), options)

    def verify(self, cited: Snippet | Lineage, quote: str = "", *, timeout: float | None = None) -> Verification:
        """Whether a citation holds: a snippet as it was given out, or a lineage and what it is said to hold.

        With a snippet, `quote` checks a part of its text only.
        """
        request = build.verify_request(cited, quote)
        return decode_as(Verification, self._unary(self._tools.VerifyCitation, request, timeout))

    def ingest_documents(
        self,
        documents: Iterable[DocumentUpload],
        *,
        library: str = "default",
        ingest_id: str | None = None,
        validate_only: bool = False,
    ) -> IngestStream:
        """Store documents; each is visible whole or not at all.

        ingest_id: a UUID of the caller's own makes the very same ingest resumable after a crash of the caller.
        """
        machine, ingest_id = _machine(ingest_pb2.IngestDocumentsRequest, ingest_id, library, validate_only)
        return IngestStream(
            ingest_id, machine, document_parts(documents), self._opener(self._ingest.IngestDocuments), self._failure
        )

    def ingest_facts(
        self,
        items: Iterable[FactRecord | RelationRecord | FactFile],
        *,
        library: str = "default",
        ingest_id: str | None = None,
        validate_only: bool = False,
    ) -> IngestStream:
        """Store figures and relations, as records or as files that the server reads. Bad rows are refused one by one.

        ingest_id: a UUID of the caller's own makes the very same ingest resumable after a crash of the caller.
        """
        machine, ingest_id = _machine(ingest_pb2.IngestFactsRequest, ingest_id, library, validate_only)
        return IngestStream(
            ingest_id, machine, fact_parts(items), self._opener(self._ingest.IngestFacts), self._failure
        )

    def withdraw(self, doc_id: str, *, library: str = "default", timeout: float | None = None) -> Withdrawal:
        """Take a document out of every answer, with its figures and relations."""
        request = ingest_pb2.WithdrawDocumentRequest(library_id=library, doc_id=doc_id)
        return decode_as(Withdrawal, self._unary(self._ingest.WithdrawDocument, request, timeout))

    def list_libraries(self, *, timeout: float | None = None) -> list[Library]:
        """All libraries that the caller may read, sorted by id."""
        libraries: list[Library] = []
        token = ""
        while True:
            page = self._unary(self._admin.ListLibraries, admin_pb2.ListLibrariesRequest(page_token=token), timeout)
            libraries += [decode_as(Library, library) for library in page.libraries]
            token = page.next_page_token
            if not token:
                return libraries

    def save_library(self, library: Library, *, validate_only: bool = False, timeout: float | None = None) -> Library:
        """Create a library or change its settings; gives it as it is now, with all defaults filled in."""
        request = build.save_library_request(library, validate_only)
        return decode_as(Library, self._unary(self._admin.SaveLibrary, request, timeout).library)

    def update_glossary(
        self,
        put: Iterable[Term] = (),
        remove: Iterable[TermRef] = (),
        *,
        library: str = "default",
        replace_all: bool = False,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> GlossaryUpdate:
        """Change and check the glossary of a library, all or nothing. replace_all: only the terms of `put` stay."""
        request = build.glossary_request(library, put, remove, replace_all, validate_only)
        return decode_as(GlossaryUpdate, self._unary(self._admin.UpdateGlossary, request, timeout))

    def server_info(self, *, timeout: float | None = None) -> ServerInfo:
        """What the server is, can do and allows, and what is really active."""
        return decode_as(ServerInfo, self._unary(self._admin.GetServerInfo, admin_pb2.GetServerInfoRequest(), timeout))

    def health(self, service: str = "", *, timeout: float | None = None) -> HealthStatus:
        """Whether the server, or one service ("groundwire.v1.MetricService"), takes calls now."""
        answer: Int32Value = self._unary(self._health, StringValue(value=service), timeout)
        return HealthStatus(answer.value)

    def _stream(self, method: Any, request: Any, fold: Fold[Any], options: CallOptions) -> Stream[Any]:
        call = method(request, timeout=options.get("timeout", self._timeout), metadata=self._metadata)
        return Stream(call, fold, self._failure)

    def _unary(self, method: Any, request: Any, timeout: float | None) -> Any:
        try:
            return method(request, timeout=self._timeout if timeout is None else timeout, metadata=self._metadata)
        except grpc.RpcError as error:
            raise self._failure(error) from None

    def _opener(self, method: Any) -> Callable[[Iterator[Any]], Any]:
        return lambda messages: method(messages, metadata=self._metadata)

    def _failure(self, error: grpc.RpcError) -> GroundwireError:
        return typed_error(error, self.address)


def _machine(request: Any, ingest_id: str | None, library: str, validate_only: bool) -> tuple[IngestMachine, str]:
    ingest_id = ingest_id or str(uuid.uuid4())
    return IngestMachine(request, ingest_id, library, validate_only=validate_only), ingest_id
