"""One example of each reason, over the wire. docs/errors.md shows what comes back."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import (
    admin_pb2,
    errors_pb2,
    filter_pb2,
    glossary_pb2,
    graph_pb2,
    ingest_pb2,
    ingest_pb2_grpc,
    narrative_pb2,
    router_pb2,
    stream_pb2,
    value_pb2,
)
from groundwire_server.dense import HashEmbedder
from tests.durability.server import ServerProcess
from tests.llm.model_server import Act, model_server
from tests.rpc.doors import Keys, doorway
from tests.rpc.endings import NARROW, begin, fill, gate
from tests.rpc.house import Documents, House, document_part, fact, finish, furnish, house, start, term
from tests.rpc.serving import Failure, failure_of
from tests.support.eventually import eventually

__all__ = ["EXAMPLES", "Scene", "Seen"]

Retrieve = narrative_pb2.NarrativeRetrieveRequest
_NAMES = {each.number: each.name.removeprefix("ERROR_REASON_") for each in errors_pb2.ErrorReason.DESCRIPTOR.values}
_RETRIEVE = "NarrativeService/NarrativeRetrieve"
_METRIC = glossary_pb2.TERM_KIND_METRIC
_PDF_WITH_PASSWORD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le")


@dataclass(frozen=True)
class Seen:
    """What came back: the status, or where in an answer it stands; the message; the facts or the column."""

    where: str
    reason: str
    message: str
    facts: str = ""
    retry: bool = False


@dataclass
class Scene:
    """What an example has: a furnished house that is only read, a folder of its own, patches that are undone."""

    furnished: House
    folder: Path
    patch: pytest.MonkeyPatch

    @contextmanager
    def own(self, **settings: object) -> Iterator[House]:
        """A furnished house of its own."""
        with house(self.folder / "data", **settings) as here:
            furnish(here)
            yield here


@dataclass(frozen=True)
class Example:
    """How a reason is brought about: through what, by what, and the call that does it."""

    through: str
    by: str
    make: Callable[[Scene], Seen] = field(repr=False)


EXAMPLES: dict[str, Example] = {}
"""The example of each reason, by its name."""


def _example(reason: str, through: str, by: str) -> Callable[[Callable[[Scene], Seen]], Callable[[Scene], Seen]]:
    def put(make: Callable[[Scene], Seen]) -> Callable[[Scene], Seen]:
        EXAMPLES[reason] = Example(through, by, make)
        return make

    return put


# ---- what was seen -------------------------------------------------------------------------------------------------


def _whole(failure: Failure, **names: object) -> Seen:
    """A call that failed; what differs from run to run stands by its name."""
    facts = ", ".join(f"{name}={value}" for name, value in sorted(failure.metadata.items()) if name != "request_id")
    message = failure.message
    for name, value in {"request_id": failure.metadata["request_id"], **names}.items():
        message, facts = message.replace(str(value), name.upper()), facts.replace(str(value), name.upper())
    return Seen(failure.code.name, failure.reason, message, facts, failure.retry)


def _retrieval(scene: Scene, **more: Any) -> Seen:
    return _whole(failure_of(lambda: scene.furnished.narrative.NarrativeRetrieve(Retrieve(**{"query": "fox", **more}))))


def _field(reason: str, invoke: Callable[[], Any]) -> Seen:
    """The first violation with a reason."""
    failure = failure_of(invoke)
    path, _, description = next(each for each in failure.violations if each[1] == reason)
    return Seen(f"{failure.code.name}, a field", reason, description, path)


def _cause(where: str, cause: Any) -> Seen:
    facts = ", ".join(f"{each.name}={each.value}" for each in cause.details)
    return Seen(where, _NAMES[cause.reason], cause.message, facts)


def _document(here: House, doc_id: str, raw: bytes, **head: Any) -> Seen:
    part = Documents(part=document_part(1, doc_id, raw, **head))
    frames = list(here.ingest.IngestDocuments(iter([start(Documents), part, finish(Documents, 1)])))
    (error,) = (frame.outcome.error for frame in frames if frame.HasField("outcome"))
    return _cause("OK, a document", error)


def _row(scene: Scene, relation: dict[str, str] | None = None, **fields: Any) -> Seen:
    """A row that is refused; the furnished house keeps what it has."""
    given = {"metric": "population", "entity": "ROW", "period": "2020", "value": "5", "unit": "persons", **fields}
    records = ingest_pb2.FactRecords(facts=[] if relation is not None else [fact(**given)])
    if relation is not None:
        records.relations.add(source_doc="owners.jsonl", locator="line=1", **relation)
    frames = scene.furnished.store_facts(records)
    (row,) = (each for frame in frames if frame.HasField("rejected") for each in frame.rejected.rows)
    return Seen("OK, a row", _NAMES[row.reason], row.message, row.column)


# ---- whole calls ---------------------------------------------------------------------------------------------------


@_example("INVALID_REQUEST", "NarrativeRetrieve", "`top_k` -1 and a blank query")
def _(scene: Scene) -> Seen:
    return _retrieval(scene, query=" ", top_k=-1)


@_example("UNAUTHENTICATED", "NarrativeRetrieve", "no token, and the server asks for one")
def _(scene: Scene) -> Seen:
    keys = Keys(scene.folder / "keys")
    keys.token("somebody")
    with doorway(scene.folder / "data", access__token_file=keys.tokens.path) as here:
        return _whole(failure_of(lambda: here.house().narrative.NarrativeRetrieve(Retrieve(query="fox"))))


@_example("NOT_PERMITTED", "SaveLibrary", "a token that may read")
def _(scene: Scene) -> Seen:
    keys = Keys(scene.folder / "keys")
    token = keys.token("reader", rights="read")
    request = admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="default"))
    with doorway(scene.folder / "data", access__token_file=keys.tokens.path) as here:
        return _whole(failure_of(lambda: here.house(token=token).admin.SaveLibrary(request)))


@_example("UNKNOWN_LIBRARY", "NarrativeRetrieve", "`options.library_ids` = `finanse`")
def _(scene: Scene) -> Seen:
    return _retrieval(scene, options={"library_ids": ["finanse"]})


@_example("UNKNOWN_DOCUMENT", "GetDocument", "a name that is not there, or of a document that the caller may not read")
def _(scene: Scene) -> Seen:
    request = admin_pb2.GetDocumentRequest(library_id="default", doc_id="reports/2019.pdf")
    return _whole(failure_of(lambda: scene.furnished.admin.GetDocument(request)))


@_example("UNKNOWN_JOB", "GetJob", "a job that is not there")
def _(scene: Scene) -> Seen:
    return _whole(failure_of(lambda: scene.furnished.admin.GetJob(admin_pb2.GetJobRequest(job_id="j-7f3a"))))


@_example("NO_EMBEDDER", "NarrativeRetrieve", "mode HYBRID on a server without an embedder")
def _(scene: Scene) -> Seen:
    return _retrieval(scene, mode="RETRIEVAL_MODE_HYBRID")


@_example("NO_MODEL", "Ask", "writer MODEL on a server without a language model")
def _(scene: Scene) -> Seen:
    request = router_pb2.AskRequest(question="Why a fox?", writer=router_pb2.ANSWER_WRITER_MODEL)
    return _whole(failure_of(lambda: scene.furnished.router.Ask(request)))


@_example("INDEX_MISMATCH", "NarrativeRetrieve", "mode VECTOR, after the model's file was exchanged")
def _(scene: Scene) -> Seen:
    def embedded(here: House) -> bool:
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        return library.embedding_coverage == 1

    with house(scene.folder / "data", embedding__backend="deterministic") as here:
        here.server.engine.wait_for_embedder()
        here.store({"a.md": "a fox"})
        assert eventually(lambda: embedded(here))
    other = HashEmbedder()
    stored, other.version = other.version, "f" * 64
    scene.patch.setattr("groundwire_server.engine.embedding.make_embedder", lambda *_, **__: other)
    with house(scene.folder / "data", embedding__backend="deterministic") as here:
        here.server.engine.wait_for_embedder()
        request = Retrieve(query="fox", mode=narrative_pb2.RETRIEVAL_MODE_VECTOR)
        failure = failure_of(lambda: here.narrative.NarrativeRetrieve(request))
    return _whole(failure, new=other.version, old=stored)


@_example("DEGRADATION_FORBIDDEN", "NarrativeRetrieve", "strictness FAIL_ON_DEGRADED on a server without an embedder")
def _(scene: Scene) -> Seen:
    return _retrieval(scene, options={"strictness": "STRICTNESS_POLICY_FAIL_ON_DEGRADED"})


def _cut(here: House, query: str = "rivers") -> bytes:
    """A token of a stream."""
    frames = here.narrative.NarrativeRetrieve(Retrieve(query=query, top_k=50))
    return next(frame.batch.after.token for frame in frames if frame.HasField("batch"))


def _resumed(here: House, token: bytes) -> Seen:
    options = stream_pb2.CallOptions(resume=stream_pb2.ResumeCursor(token=token))
    request = Retrieve(query="rivers", top_k=50, options=options)
    return _whole(failure_of(lambda: here.narrative.NarrativeRetrieve(request)))


@_example("RESUME_MISMATCH", "NarrativeRetrieve", "a cursor of another request, or a forged one")
def _(scene: Scene) -> Seen:
    return _resumed(scene.furnished, _cut(scene.furnished, "bread"))


@_example("RESUME_SNAPSHOT_GONE", "NarrativeRetrieve", "a cursor of a library that was deleted meanwhile")
def _(scene: Scene) -> Seen:
    with scene.own() as here:
        token = _cut(here)
        asked = admin_pb2.DeleteLibraryRequest(library_id="default", validate_only=True)
        confirmed = here.admin.DeleteLibrary(asked).confirmation
        here.admin.DeleteLibrary(admin_pb2.DeleteLibraryRequest(library_id="default", confirmation=confirmed))
        return _resumed(here, token)


@_example("OVERLOADED", "NarrativeRetrieve", "one call more than `limits.max_narrative_calls`")
def _(scene: Scene) -> Seen:
    with scene.own(limits__max_narrative_calls=1) as here, gate(scene.patch) as held:
        held.shut()
        first = begin(here.channel, _RETRIEVE)
        assert held.reached.wait(20)
        failure = failure_of(lambda: here.narrative.NarrativeRetrieve(Retrieve(query="fox")))
        first.cancel()
        return _whole(failure)


@_example("NOT_SERVING", "NarrativeRetrieve", "a call that runs when the server is stopped")
def _(scene: Scene) -> Seen:
    with gate(scene.patch) as held:
        with scene.own(server__drain_seconds=0.1) as here:
            held.shut()
            call = begin(here.channel, _RETRIEVE)
            assert held.reached.wait(20)
            ended = threading.Event()
            call.add_callback(ended.set)

            def open_when_told() -> None:
                ended.wait(20)
                held.open()

            opener = threading.Thread(target=open_when_told)
            opener.start()
        opener.join(20)
    return _whole(Failure.of(call))


@_example("LIBRARIES_UNREACHABLE", "NarrativeRetrieve", "no library that can be opened")
def _(scene: Scene) -> Seen:
    with scene.own():
        pass
    (scene.folder / "data" / "libraries" / "default" / "store.sqlite").write_bytes(b"no database " * 500)
    with house(scene.folder / "data") as here:
        return _whole(failure_of(lambda: here.narrative.NarrativeRetrieve(Retrieve(query="fox"))))


@_example("DEADLINE", "NarrativeRetrieve", "a call that takes longer than `limits.max_call_seconds`")
def _(scene: Scene) -> Seen:
    with scene.own(limits__max_call_seconds=0.2) as here, gate(scene.patch) as held:
        held.shut()
        failure = failure_of(lambda: begin(here.channel, _RETRIEVE))
        held.open()
        return _whole(failure)


@_example("READER_IDLE", "NarrativeRetrieve", "a client that takes nothing for `limits.reader_idle_seconds`")
def _(scene: Scene) -> Seen:
    with house(scene.folder / "data", limits__reader_idle_seconds=1) as here:
        fill(here)
        with grpc.insecure_channel(here.server.address, options=NARROW) as channel:
            call = begin(channel, _RETRIEVE)
            assert eventually(lambda: "READER_IDLE" in here.written.getvalue())
            return _whole(failure_of(lambda: call))


@_example("STORAGE_FULL", "IngestDocuments", "a disk that takes nothing more")
def _(scene: Scene) -> Seen:
    with scene.own():
        pass
    with ServerProcess(scene.folder / "data") as server:
        address = server.address()
        assert address is not None, server.log()
        server.limit_files(90_000)
        large = [document_part(seq, f"{seq}.txt", f"{seq} walrus on the ice. ".encode() * 9000) for seq in (1, 2, 3)]
        sent = [start(Documents), *(Documents(part=part) for part in large), finish(Documents, 3)]
        with grpc.insecure_channel(address) as channel:
            stub = ingest_pb2_grpc.IngestServiceStub(channel)
            failure = failure_of(lambda: stub.IngestDocuments(iter(sent)))
        server.limit_files(-1)
        server.stop()
    return _whole(failure)


@_example("STORE_VERSION", "ListLibraries", "a library that a newer server has written to")
def _(scene: Scene) -> Seen:
    with scene.own():
        pass
    connection = sqlite3.connect(scene.folder / "data" / "libraries" / "default" / "store.sqlite")
    with connection:
        connection.execute("INSERT INTO migration (name, applied_at) VALUES ('9999_beyond', '')")
    connection.close()
    with house(scene.folder / "data") as here:
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    return _cause("OK, a library", library.fault)


@_example("CONFLICTING_CHANGE", "SaveLibrary", "`if_snapshot_id` of a state that somebody has changed since")
def _(scene: Scene) -> Seen:
    def save(here: House, words: str) -> Any:
        library = admin_pb2.Library(library_id="default", description=words)
        return here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library, if_snapshot_id=read))

    with scene.own() as here:
        (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        read = library.snapshot_id
        save(here, "first")
        return _whole(failure_of(lambda: save(here, "second")), snapshot_id=read)


@_example("GLOSSARY_CONFLICT", "UpdateGlossary", "a synonym that another metric has")
def _(scene: Scene) -> Seen:
    put = [term(_METRIC, "TURNOVER", "sales", metric=glossary_pb2.MetricDetail(unit="USD"))]
    request = admin_pb2.UpdateGlossaryRequest(library_id="default", put=put)
    return _whole(failure_of(lambda: scene.furnished.admin.UpdateGlossary(request)))


@_example("INGEST_SEQUENCE_GAP", "IngestDocuments", "part 3 behind part 1")
def _(scene: Scene) -> Seen:
    parts = [Documents(part=document_part(seq, f"{seq}.md", b"text")) for seq in (1, 3)]
    with scene.own() as here:
        return _whole(failure_of(lambda: here.ingest.IngestDocuments(iter([start(Documents), *parts]))))


@_example("INGEST_ORDER", "IngestDocuments", "a part before the start")
def _(scene: Scene) -> Seen:
    part = Documents(part=document_part(1, "a.md", b"text"))
    return _whole(failure_of(lambda: scene.furnished.ingest.IngestDocuments(iter([part]))))


@_example("INGEST_ID_IN_USE", "IngestDocuments", "the id of an ingest that is open on another connection")
def _(scene: Scene) -> Seen:
    done, name = threading.Event(), "00000000-0000-4000-8000-000000000001"
    here = scene.furnished

    def slowly() -> Iterator[Any]:
        yield start(Documents, ingest_id=name)
        done.wait(20)

    first = here.ingest.IngestDocuments(slowly())
    next(first)
    try:
        return _whole(
            failure_of(lambda: here.ingest.IngestDocuments(iter([start(Documents, ingest_id=name)]))), ingest_id=name
        )
    finally:
        done.set()
        first.cancel()


@_example("NOT_IMPLEMENTED", "a method of a newer contract", "a name that the server does not know")
def _(scene: Scene) -> Seen:
    method: Any = scene.furnished.channel.unary_unary("/groundwire.v1.NarrativeService/Foresee")
    return _whole(failure_of(lambda: method(b"")))


@_example("INTERNAL", "NarrativeRetrieve", "a fault of the server, which its log has under the request id")
def _(scene: Scene) -> Seen:
    with scene.own() as here, gate(scene.patch) as held:
        held.break_at(0)
        return _whole(failure_of(lambda: begin(here.channel, _RETRIEVE)))


@_example("MODEL_FAILED", "Ask", "a language model that answers 503")
def _(scene: Scene) -> Seen:
    with model_server(script=lambda _body: Act(status=503)) as model:
        reached = {"base_url": f"{model.url}/v1", "provider": "openai", "model": "small", "retries": 0}
        with scene.own(**{f"llm__{name}": value for name, value in reached.items()}) as here:
            frames = list(here.router.Ask(router_pb2.AskRequest(question="Where does a fox sleep?")))
    fallback = stream_pb2.DEGRADATION_KIND_ANSWER_FALLBACK
    (cause,) = (each.cause for each in frames[-1].summary.degradations if each.kind == fallback)
    return _cause("OK, a degradation", cause)


# ---- fields --------------------------------------------------------------------------------------------------------


def _field_of(reason: str, by: str, **request: Any) -> None:
    """A retrieval with one wrong field."""

    def make(scene: Scene) -> Seen:
        asked = Retrieve(**{"query": "fox", **request})
        return _field(reason, lambda: scene.furnished.narrative.NarrativeRetrieve(asked))

    EXAMPLES[reason] = Example("NarrativeRetrieve", by, make)


def _test(name: str, **test: Any) -> filter_pb2.Filter:
    return filter_pb2.Filter(predicate=filter_pb2.Predicate(field=name, **test))


def _bound(what: filter_pb2.Filter) -> stream_pb2.CallOptions:
    return stream_pb2.CallOptions(filter=what)


_TEXT = [value_pb2.Value(string_value=text) for text in ("a", "b")]
_REVERSED = filter_pb2.Between(low=_TEXT[1], high=_TEXT[0])
_MANY = filter_pb2.FilterList(filters=[_test("title", present=True)] * 257)

_field_of("VALUE_REQUIRED", "a blank query", query=" ")
_field_of("VALUE_OUT_OF_RANGE", "`top_k` over `Limits.max_top_k`", top_k=500)
_field_of("VALUE_MALFORMED", "a day in another form", options=stream_pb2.CallOptions(reference_date="30.6.2025"))
_field_of("UNKNOWN_NAME", "a fusion that is not there", tuning=narrative_pb2.RetrievalTuning(fusion="magic"))
_field_of("FILTER_UNKNOWN_FIELD", "an attribute that is not there", options=_bound(_test("colour", eq=_TEXT[0])))
_field_of(
    "FILTER_TYPE_MISMATCH", "a number for a text", options=_bound(_test("title", eq=value_pb2.Value(int_value=1)))
)
_field_of("FILTER_EMPTY", "an empty `any_of`", options=_bound(filter_pb2.Filter(any_of=filter_pb2.FilterList())))
_field_of("FILTER_RANGE_REVERSED", "a range from b to a", options=_bound(_test("title", between=_REVERSED)))
_field_of("FILTER_TOO_LARGE", "258 nodes", options=_bound(filter_pb2.Filter(all_of=_MANY)))


@_example("CONTRADICTION", "GraphTrace", "a pattern beside relations")
def _(scene: Scene) -> Seen:
    paths = graph_pb2.Paths(from_id="entity:ASIA", to_id="entity:JPN", pattern=["parent_of"], relations=["parent_of"])
    request = graph_pb2.GraphTraceRequest(paths=paths)
    return _field("CONTRADICTION", lambda: scene.furnished.graph.GraphTrace(request))


@_example("UNKNOWN_NODE", "GraphTrace", "a node that is not there, with those that are near")
def _(scene: Scene) -> Seen:
    request = graph_pb2.GraphTraceRequest(neighborhood=graph_pb2.Neighborhood(node_ids=["entity:JPM"]))
    return _field("UNKNOWN_NODE", lambda: scene.furnished.graph.GraphTrace(request))


# ---- documents and rows --------------------------------------------------------------------------------------------


def _document_of(reason: str, by: str, doc_id: str, raw: bytes, **more: Any) -> None:
    settings, head = more.pop("settings", None), more

    def make(scene: Scene) -> Seen:
        if settings is None:
            return _document(scene.furnished, doc_id, raw, **head)
        with scene.own(**settings) as here:
            return _document(here, doc_id, raw, **head)

    EXAMPLES[reason] = Example("IngestDocuments", by, make)


_document_of("DOCUMENT_UNSUPPORTED", "a kind of file that no reader takes", "movie.mp4", b"text")
_document_of(
    "DOCUMENT_BROKEN", "bytes that are not in the charset", "jp.txt", "日本".encode("shift_jis"), charset="utf-8"
)
_document_of("DOCUMENT_ENCRYPTED", "a workbook that asks for a password", "board.xlsx", _PDF_WITH_PASSWORD)
_document_of(
    "DOCUMENT_TOO_LARGE",
    "more than `limits.max_document_bytes`",
    "long.md",
    b"word " * 500,
    settings={"limits__max_document_bytes": 2000},
)
_document_of("DOCUMENT_NO_TEXT", "blanks", "blank.md", b" \n\t\n")
_document_of(
    "DOCUMENT_HASH_MISMATCH", "another SHA-256 than in its head", "report.md", b"text", content_sha256=b"0" * 32
)


@_example("ATTRIBUTE_TYPE_MISMATCH", "IngestDocuments", "a text for an attribute that holds integers")
def _(scene: Scene) -> Seen:
    with scene.own() as here:
        year = value_pb2.Attribute(name="year", value=value_pb2.Value(int_value=2024))
        first = Documents(part=document_part(1, "a.md", b"text", attributes=[year]))
        list(here.ingest.IngestDocuments(iter([start(Documents), first, finish(Documents, 1)])))
        return _document(here, "b.md", b"text", attributes=[value_pb2.Attribute(name="year", value=_TEXT[0])])


def _row_of(reason: str, by: str, relation: dict[str, str] | None = None, **fields: Any) -> None:
    EXAMPLES[reason] = Example("IngestFacts", by, lambda scene: _row(scene, relation, **fields))


_row_of("FACT_VALUE_MISSING", "an empty value", value="")
_row_of("FACT_VALUE_MALFORMED", "`3/4`", value="3/4")
_row_of("FACT_PERIOD_MALFORMED", "`soon`", period="soon")
_row_of("FACT_UNIT_MISMATCH", "`EUR` for a metric that counts persons", unit="EUR")
_row_of("FACT_FIELD_MISSING", "no entity", entity="")
_row_of(
    "RELATION_UNKNOWN_END",
    "a metric that the glossary does not have",
    {"subject": "ASIA", "relation": "measures", "object": "SALEZ", "object_kind": "metric"},
)
