"""Calls that a process passes on to the one that writes: to a client they are calls like others."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message_factory import GetMessageClass

from groundwire.v1 import admin_pb2, ingest_pb2, narrative_pb2
from groundwire_server.rpc.methods import contract_methods
from groundwire_server.rpc.services import build_methods
from groundwire_server.rpc.workers.reader import FORWARDED, NEWEST
from tests.rpc.endings import REQUESTS
from tests.rpc.house import Documents, House, document_part, finish, furnish, house, start
from tests.rpc.serving import Failure, failure_of
from tests.support.canonical import canonical, canonical_message
from tests.support.eventually import eventually
from tests.workers.team import Team, team, writer_of

READS = ["NarrativeService", "MetricService", "GraphService", "RouterService", "ToolService"]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team(tmp_path_factory.mktemp("pair") / "data", 2) as made:
        furnish(made.readers[0])
        yield made


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Team]:
    with team(tmp_path / "data", 2) as made:
        yield made


def lines(written: Any, **fields: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in written.getvalue().splitlines()]
    return [line for line in found if all(line.get(name) == value for name, value in fields.items())]


def test_each_method_has_its_place() -> None:
    """A new method is answered where it is built; one that writes has to be named."""

    class Nothing:
        """In place of an engine: no handler is made here."""

    built = set(build_methods(Nothing(), Nothing(), Nothing()))  # type: ignore[arg-type]
    assert built >= FORWARDED | NEWEST
    assert not FORWARDED & NEWEST
    answered = {name.removeprefix("groundwire.v1.") for name in built - FORWARDED - NEWEST}
    assert {name for name in answered if name.partition("/")[0] not in READS} == {"AdminService/GetServerInfo"}
    assert not {name for name in FORWARDED if name.partition("/")[0].removeprefix("groundwire.v1.") in READS}


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_all_processes_answer_alike(pair: Team, name: str) -> None:
    """Byte for byte, good calls and refused ones; the process that writes is asked through both."""
    if name in ("AdminService/GetServerInfo", "AdminService/ListJobs") or name.startswith("IngestService/Ingest"):
        pytest.skip("tells of the process, or of what others do meanwhile")
    one, other = (outcome(here, name) for here in pair.readers)
    assert one == other


def outcome(here: House, name: str, metadata: Any = ()) -> Any:
    """What a client sees of one call of a method, but for what is drawn anew each time."""
    method = contract_methods()[f"groundwire.v1.{name}"]
    requests = iter([message.SerializeToString() for message in REQUESTS[name]()])
    call = here.channel.stream_stream(f"/groundwire.v1.{name}")(requests, timeout=30, metadata=metadata)
    response: Any = GetMessageClass(method.output_type)
    try:
        messages = [response.FromString(raw) for raw in call]
    except grpc.RpcError as error:
        failure = Failure.of(error)
        return failure.code, failure.message, failure.reason, failure.violations, failure.retry
    streamed = messages and hasattr(messages[0], "WhichOneof") and "frame" in messages[0].DESCRIPTOR.oneofs_by_name
    return canonical(messages) if streamed else [canonical_message(each) for each in messages]


def test_an_answer_is_that_of_one_process(tmp_path: Path) -> None:
    """The same folder, served by one process and by several: the same bytes."""
    names = [name for name in sorted(REQUESTS) if not name.startswith(("IngestService/Ingest", "AdminService/GetSer"))]
    with house(tmp_path / "data") as alone:
        furnish(alone)
        wanted = {name: outcome(alone, name) for name in names}
    with team(tmp_path / "data") as made:
        (reader,) = made.readers
        assert {name: outcome(reader, name) for name in names} == wanted


def test_a_refusal_is_passed_on_as_it_was_made(pair: Team) -> None:
    (one, _) = pair.readers
    request = admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="Ä!"), validate_only=True)
    failure = failure_of(
        lambda: one.admin.SaveLibrary.with_call(request, metadata=[("x-request-id", "asked-by-a-test")])
    )
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [field for field, _, _ in failure.violations] == ["library.library_id"]
    assert failure.metadata["request_id"] == "asked-by-a-test"
    (passed,) = lines(one.written, event="call", request_id="asked-by-a-test")
    (made,) = lines(pair.written, event="call", request_id="asked-by-a-test")
    assert (
        (passed["code"], passed["reason"]) == (made["code"], made["reason"]) == ("INVALID_ARGUMENT", "INVALID_REQUEST")
    )


def test_a_request_that_is_none_is_refused_as_by_one_process(pair: Team) -> None:
    for here in pair.readers:
        for raw in (b"\xff\xff", b""):
            call = here.channel.unary_unary("/groundwire.v1.AdminService/SaveLibrary")
            failure = failure_of(lambda call=call, raw=raw: call(raw))  # type: ignore[misc]
            assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    (one, _) = pair.readers
    over = failure_of(
        lambda: one.channel.unary_unary("/groundwire.v1.AdminService/UpdateGlossary")(bytes((1 << 20) + 1))
    )
    assert (over.code, over.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    unknown = (
        ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="x").SerializeToString() + b"\xa2\x06\x01x"
    )
    failure = failure_of(lambda: one.channel.unary_unary("/groundwire.v1.IngestService/WithdrawDocument")(unknown))
    assert "has no field 100" in str(failure.violations)


def test_what_a_client_wrote_is_seen_by_it_at_once_and_soon_by_all(own: Team) -> None:
    one, other = own.readers
    for number in range(5):
        word = f"wombat{number}"
        one.store({f"{number}.md": f"A {word} digs. ウォンバット"})
        assert documents(one, word) == [f"{number}.md"]
        assert eventually(lambda number=number, word=word: documents(other, word) == [f"{number}.md"])  # type: ignore[misc]
        asked = admin_pb2.GetDocumentRequest(library_id="default", doc_id=f"{number}.md")
        assert list(one.admin.GetDocument(asked)) == list(other.admin.GetDocument(asked))


def test_what_looks_after_the_store_sees_all_of_it(own: Team) -> None:
    one, other = own.readers
    for number in range(20):
        one.store({f"{number}.md": "text"})
        listed = other.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default")).documents
        assert len(listed) == number + 1


def documents(here: House, query: str) -> list[str]:
    frames = here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query=query))
    return [each.lineage.doc_id for frame in frames if frame.HasField("batch") for each in frame.batch.snippets]


class Talk:
    """An ingest, message by message."""

    def __init__(self, here: House, **options: Any) -> None:
        self._said: list[Any] = []
        self._more = threading.Condition()
        self._over = False
        self.call = here.ingest.IngestDocuments(self._messages(), **options)

    def _messages(self) -> Iterator[Any]:
        while True:
            with self._more:
                self._more.wait_for(lambda: self._said or self._over)
                if not self._said:
                    return
                message = self._said.pop(0)
            yield message

    def say(self, *messages: Any) -> None:
        with self._more:
            self._said += messages
            self._more.notify_all()

    def end(self) -> None:
        with self._more:
            self._over = True
            self._more.notify_all()

    def hear(self, kind: str) -> Any:
        return next(getattr(frame, kind) for frame in self.call if frame.WhichOneof("message") == kind)


def begun(here: House, doc_id: str = "a.md", **options: Any) -> Talk:
    """An ingest with one durable part."""
    talk = Talk(here, **options)
    talk.say(start(Documents), Documents(part=document_part(1, doc_id, b"a walrus")))
    assert talk.hear("ack").durable_seq == 1
    return talk


def leftovers_of(made: Team) -> list[dict[str, int]]:
    return [here.server.leftovers for here in made.readers] + [made.writer.leftovers]


def nothing_left(made: Team) -> bool:
    return eventually(lambda: not any(count for each in leftovers_of(made) for count in each.values()))


def test_messages_go_to_and_fro_while_the_call_lasts(own: Team) -> None:
    (one, _) = own.readers
    talk = begun(one)
    talk.say(Documents(part=document_part(2, "b.md", b"an otter")))
    assert talk.hear("ack").durable_seq == 2
    talk.say(finish(Documents, 2))
    assert talk.hear("summary").stored == 2
    talk.end()
    assert documents(one, "otter") == ["b.md"]
    assert nothing_left(own)


@pytest.mark.parametrize("ending", ["cancel", "deadline", "gone"])
def test_a_call_ends_in_both_processes(own: Team, ending: str) -> None:
    (one, _) = own.readers
    channel = grpc.insecure_channel(one.server.address, [("grpc.use_local_subchannel_pool", 1)])
    mine = House(one.server, channel, one.written)
    talk = begun(mine, timeout=1.5 if ending == "deadline" else 60)
    if ending == "cancel":
        talk.call.cancel()
    elif ending == "gone":
        channel.close()
    with pytest.raises(grpc.RpcError) as failed:
        list(talk.call)
    talk.end()
    call: Any = failed.value
    wanted = grpc.StatusCode.DEADLINE_EXCEEDED if ending == "deadline" else grpc.StatusCode.CANCELLED
    assert call.code() is wanted
    assert nothing_left(own)
    channel.close()
    assert one.store({"b.md": "still there"})[-1].summary.stored == 1


def test_a_process_that_stops_says_up_to_where_an_ingest_is_durable(tmp_path: Path) -> None:
    ingest_id = str(uuid.uuid4())
    with team(tmp_path / "data") as made:
        (one,) = made.readers
        talk = Talk(one)
        talk.say(start(Documents, ingest_id=ingest_id), Documents(part=document_part(1, "a.md", b"a walrus")))
        assert talk.hear("ack").durable_seq == 1
        heard: list[Any] = []

        def listen() -> None:
            try:
                heard.extend(talk.call)
            except grpc.RpcError as error:
                heard.append(Failure.of(error))

        listener = threading.Thread(target=listen)
        listener.start()
    listener.join(30)
    talk.end()
    *_, said, failure = heard
    assert said.shutting_down.durable_seq == 1
    assert (failure.code, failure.reason, failure.retry) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING", True)
    with team(tmp_path / "data") as made:
        (one,) = made.readers
        again = [start(Documents, ingest_id=ingest_id), Documents(part=document_part(2, "b.md", b"b"))]
        frames = list(one.ingest.IngestDocuments(iter([*again, finish(Documents, 2)])))
        assert frames[0].accepted.durable_seq == 1
        assert frames[-1].summary.stored == 2


def test_reads_go_on_while_the_process_that_writes_is_away(own: Team) -> None:
    one, other = own.readers
    one.store({"a.md": "a walrus"})
    assert eventually(lambda: documents(other, "walrus") == ["a.md"])
    own.stop_writer()
    for here in own.readers:
        assert documents(here, "walrus") == ["a.md"]
        assert [each.doc_id for each in listed(here)] == ["a.md"]
        failure = failure_of(lambda here=here: here.store({"b.md": "an otter"}))  # type: ignore[misc]
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING")
        assert failure.retry
        assert failure.metadata["phase"] == "writer"
        assert eventually(lambda here=here: not writer_of(here).active)  # type: ignore[misc]
        assert "another one is on its way" in writer_of(here).inactive_reason
    own.start_writer()
    assert eventually(lambda: writer_of(one).active)
    assert one.store({"b.md": "an otter"})[-1].summary.stored == 1
    assert eventually(lambda: documents(other, "otter") == ["b.md"])
    assert nothing_left(own)


def listed(here: House) -> Any:
    return here.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default")).documents


def test_an_ingest_that_is_cut_off_goes_on(own: Team) -> None:
    (one, _) = own.readers
    ingest_id = str(uuid.uuid4())
    talk = Talk(one)
    talk.say(start(Documents, ingest_id=ingest_id), Documents(part=document_part(1, "a.md", b"a walrus")))
    assert talk.hear("ack").durable_seq == 1
    own.stop_writer()
    with pytest.raises(grpc.RpcError):
        list(talk.call)
    talk.end()
    own.start_writer()
    again = [start(Documents, ingest_id=ingest_id), Documents(part=document_part(2, "b.md", b"b"))]
    frames: list[Any] = []

    def goes_on() -> bool:
        try:
            frames[:] = one.ingest.IngestDocuments(iter([*again, finish(Documents, 2)]))
        except grpc.RpcError:
            return False
        return True

    assert eventually(goes_on)
    assert frames[0].accepted.durable_seq == 1
    assert frames[-1].summary.stored == 2


def test_a_cursor_of_one_process_is_one_of_all(pair: Team) -> None:
    one, other = pair.readers
    request = narrative_pb2.NarrativeRetrieveRequest(query="Report bridges", top_k=5)
    first = list(one.narrative.NarrativeRetrieve(request))
    following = narrative_pb2.NarrativeRetrieveRequest(query="Report bridges", top_k=5)
    following.options.resume.CopyFrom(first[-1].summary.next)
    pages = [list(here.narrative.NarrativeRetrieve(following)) for here in (one, other)]
    assert canonical(pages[0]) == canonical(pages[1])
    assert first[-1].summary.returned == pages[0][-1].summary.returned == 5


def test_a_job_is_watched_to_its_end(own: Team) -> None:
    one, other = own.readers
    one.store({"a.md": "a walrus"})
    job = one.admin.StartReindex(admin_pb2.StartReindexRequest(library_id="default")).job
    events = list(other.admin.WatchJob(admin_pb2.WatchJobRequest(job_id=job.job_id)))
    assert events[-1].job.state == admin_pb2.JOB_STATE_SUCCEEDED
    assert documents(other, "walrus") == ["a.md"]


def test_a_library_that_is_deleted_is_gone_everywhere(own: Team) -> None:
    one, other = own.readers
    one.store({"a.md": "a walrus"})
    assert eventually(lambda: documents(other, "walrus") == ["a.md"])
    tried = one.admin.DeleteLibrary(admin_pb2.DeleteLibraryRequest(library_id="default", validate_only=True))
    one.admin.DeleteLibrary(admin_pb2.DeleteLibraryRequest(library_id="default", confirmation=tried.confirmation))
    assert failure_of(lambda: listed(one)).reason == "UNKNOWN_LIBRARY"
    assert failure_of(lambda: listed(other)).reason == "UNKNOWN_LIBRARY"
    other.store({"b.md": "another walrus"})
    assert documents(other, "walrus") == ["b.md"]
    assert eventually(lambda: documents(one, "walrus") == ["b.md"])


def test_vectors_of_the_process_that_writes_are_searched_by_all(tmp_path: Path) -> None:
    with team(tmp_path / "data", 2, embedding__backend="deterministic") as made:
        one, other = made.readers
        for here in made.readers:
            here.server.engine.wait_for_embedder()
        one.store({f"{number}.md": f"fox {number} 狐" for number in range(5)})
        for here in (one, other):
            assert eventually(lambda here=here: coverage(here) == 1.0)  # type: ignore[misc]
        request = narrative_pb2.NarrativeRetrieveRequest(query="fox 3", mode=narrative_pb2.RETRIEVAL_MODE_VECTOR)
        answers = {canonical(here.narrative.NarrativeRetrieve(request)) for here in made.readers}
        assert len(answers) == 1


def coverage(here: House) -> float:
    (library,) = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
    return float(library.embedding_coverage)
