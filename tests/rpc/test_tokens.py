"""Bearer tokens over the wire: who comes in, what each may do, and what nobody learns."""

from __future__ import annotations

import hashlib
import logging
import queue
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from groundwire.v1 import admin_pb2, evidence_pb2, ingest_pb2
from groundwire_server.errors import InvalidRequest
from groundwire_server.rpc.methods import contract_methods
from groundwire_server.security.callers import LOOK_SECONDS, grant_principal
from tests.rpc.doors import Doorway, Keys, ask, doorway
from tests.rpc.house import Documents, Facts, House, document_part, finish, start
from tests.rpc.serving import Failure, failure_of

_WATCHED = "groundwire_server.security.callers.watched_file.LOOK_SECONDS"


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    made = Keys(tmp_path / "keys")
    made.token("first")  # there has to be a file
    return made


@pytest.fixture
def here(tmp_path: Path, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> Iterator[Doorway]:
    monkeypatch.setattr(_WATCHED, 0.0)
    with doorway(tmp_path / "data", access__token_file=keys.tokens.path) as made:
        yield made


def call_anything(channel: grpc.Channel, path: str, request: Any = None) -> Failure:
    """Call any method, whatever its shape, with one message."""
    raw = b"" if request is None else request.SerializeToString()
    call: Any = channel.stream_stream(f"/{path}")
    return failure_of(lambda: call(iter([raw]), timeout=20))


METHODS = [*contract_methods(), "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "never.v1.Heard/Of"]


@pytest.mark.parametrize("path", METHODS)
def test_no_method_answers_without_a_token(here: Doorway, path: str) -> None:
    failure = call_anything(here.channel(), path)
    assert failure.code is grpc.StatusCode.UNAUTHENTICATED
    assert failure.reason == "UNAUTHENTICATED"
    assert failure.metadata.keys() == {"scheme", "request_id"}
    assert failure.metadata["scheme"] == "bearer"
    assert "authorization: Bearer TOKEN" in failure.message


def test_health_is_told_to_everybody(here: Doorway) -> None:
    health: Any = health_pb2_grpc.HealthStub(here.channel())
    answer = health.Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_whatever_is_wrong_with_a_token_is_told_alike(here: Doorway, keys: Keys) -> None:
    old, _ = keys.tokens.create(grant_principal({"name": "o", "clearance": "public"}), datetime.now(UTC) - timedelta(1))
    gone = keys.token("gone")
    keys.tokens.revoke("gone")
    good = keys.token("good")
    wrong = [
        [],
        [("authorization", "Bearer")],
        [("authorization", f"Bearer {old}")],
        [("authorization", f"Bearer {gone}")],
        [("authorization", f"Bearer {good[:-1]}")],
        [("authorization", f"Basic {good}")],
        [("authorization", good)],
        [("authorization", f"Bearer {good}"), ("authorization", f"Bearer {good}")],
        [("authorization-bin", f"Bearer {good}".encode())],
        [("x-authorization", f"Bearer {good}")],
        [("authorization", "Bearer " + "x" * 4000)],
    ]
    told = set()
    for metadata in wrong:
        info: Any = here.house().admin.GetServerInfo
        failure = failure_of(partial(info, admin_pb2.GetServerInfoRequest(), metadata=metadata))
        del failure.metadata["request_id"]
        told.add((failure.code, failure.message, failure.reason, tuple(failure.metadata.items()), failure.retry))
    assert len(told) == 1
    assert ask(here.channel(token=good))


def test_a_token_holds_from_its_making_to_its_end(here: Doorway, keys: Keys) -> None:
    token = keys.token("new")
    channel = here.channel(token=token)
    assert ask(channel)
    keys.tokens.revoke("new")
    assert failure_of(lambda: ask(channel)).reason == "UNAUTHENTICATED"


def test_a_change_is_seen_within_a_moment(tmp_path: Path, keys: Keys) -> None:
    assert LOOK_SECONDS <= 1
    with doorway(tmp_path / "data", access__token_file=keys.tokens.path) as here:
        channel = here.channel(token=keys.token("new"))
        until = datetime.now(UTC) + timedelta(seconds=30)
        while not _comes_in(channel):
            assert datetime.now(UTC) < until


def _comes_in(channel: grpc.Channel) -> bool:
    try:
        ask(channel)
    except grpc.RpcError:
        return False
    return True


def test_a_call_that_runs_goes_on_when_its_token_is_revoked(here: Doorway, keys: Keys) -> None:
    writer = here.house(token=keys.token("writer", rights="write"))
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    frames = writer.ingest.IngestDocuments(iter(messages.get, None))
    messages.put(start(Documents))
    assert next(frames).WhichOneof("message") == "accepted"
    keys.tokens.revoke("writer")
    assert failure_of(partial(writer.admin.GetServerInfo, admin_pb2.GetServerInfoRequest())).reason == "UNAUTHENTICATED"
    messages.put(Documents(part=document_part(1, "a.txt", b"alpha")))
    messages.put(finish(Documents, 1))
    messages.put(None)
    assert [frame.WhichOneof("message") for frame in frames][-1] == "summary"


# ---- rights

WRITES: dict[str, Callable[[], Any]] = {
    "IngestService/IngestDocuments": lambda: start(Documents),
    "IngestService/IngestFacts": lambda: start(Facts),
    "IngestService/WithdrawDocument": lambda: ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="a"),
    "AdminService/SaveLibrary": lambda: admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="other")),
    "AdminService/UpdateGlossary": lambda: admin_pb2.UpdateGlossaryRequest(library_id="default"),
    "AdminService/StartReindex": lambda: admin_pb2.StartReindexRequest(library_id="default"),
    "AdminService/PurgeRevisions": lambda: admin_pb2.PurgeRevisionsRequest(library_id="default", keep_last=1),
    "AdminService/DeleteLibrary": lambda: admin_pb2.DeleteLibraryRequest(library_id="default", validate_only=True),
    "AdminService/CancelJob": lambda: admin_pb2.CancelJobRequest(job_id="of a job"),
}
_ADMIN = {"AdminService/DeleteLibrary"}


def test_every_method_that_writes_is_tried() -> None:
    reads = {name for name, method in contract_methods().items() if method.GetOptions().idempotency_level == 1}
    assert {f"groundwire.v1.{name}" for name in WRITES} == contract_methods().keys() - reads


@pytest.mark.parametrize("name", WRITES)
def test_who_may_only_read_writes_nothing(here: Doorway, keys: Keys, name: str) -> None:
    writer = here.house(token=keys.token("writer", rights="write"))
    writer.store({"a": "alpha"})
    request = WRITES[name]()
    if name.endswith("CancelJob"):
        request = admin_pb2.CancelJobRequest(
            job_id=writer.admin.StartReindex(admin_pb2.StartReindexRequest(library_id="default")).job.job_id
        )
    before = _state(writer)
    failure = call_anything(here.channel(token=keys.token("reader")), f"groundwire.v1.{name}", request)
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")
    assert failure.metadata["method"] == name.rpartition("/")[2]
    if name in _ADMIN:
        failure = call_anything(here.channel(token=keys.token("w", rights="write")), f"groundwire.v1.{name}", request)
        assert failure.reason == "NOT_PERMITTED"
    assert _state(writer) == before


def _state(house: House) -> bytes:
    listed = house.admin.ListLibraries(admin_pb2.ListLibrariesRequest())
    return bytes(listed.SerializeToString(deterministic=True))


def test_a_validation_is_a_write_as_well(here: Doorway, keys: Keys) -> None:
    here.house(token=keys.token("writer", rights="write")).store({"a": "alpha"})
    reader = here.house(token=keys.token("reader"))
    saved = admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="b"), validate_only=True)
    for call in (
        partial(reader.admin.SaveLibrary, saved),
        partial(reader.admin.UpdateGlossary, admin_pb2.UpdateGlossaryRequest(library_id="default", validate_only=True)),
        partial(reader.ingest.IngestDocuments, iter([start(Documents, validate_only=True)])),
    ):
        assert failure_of(call).reason == "NOT_PERMITTED"


def test_a_writer_writes_and_an_administrator_deletes(here: Doorway, keys: Keys) -> None:
    writer = here.house(token=keys.token("writer", rights="write"))
    assert writer.store({"a": "alpha"})[-1].WhichOneof("message") == "summary"
    assert not ask(writer.channel).settings
    admin = here.house(token=keys.token("admin", rights="admin"))
    assert ask(admin.channel).settings
    gone = admin_pb2.DeleteLibraryRequest(library_id="default", validate_only=True)
    assert admin.admin.DeleteLibrary(gone).confirmation


def test_figures_that_wait_are_for_those_who_write(here: Doorway, keys: Keys) -> None:
    here.house(token=keys.token("writer", rights="write")).store({"a": "alpha"})
    reader = here.house(token=keys.token("reader"))
    waiting = admin_pb2.ListFactsRequest(library_id="default", review_status=evidence_pb2.REVIEW_STATUS_PENDING)
    assert failure_of(partial(reader.admin.ListFacts, waiting)).reason == "NOT_PERMITTED"


def test_one_id_of_two_callers_is_two_ingests(here: Doorway, keys: Keys) -> None:
    one, other = (here.house(token=keys.token(name, rights="write")) for name in ("one", "other"))
    opened = start(Documents, ingest_id=str(uuid.uuid4()))
    parts = [Documents(part=document_part(seq, f"{seq}.txt", b"alpha")) for seq in (1, 2)]
    first, foreign, again = (
        list(house.ingest.IngestDocuments(iter(messages)))
        for house, messages in (
            (one, [opened, *parts, finish(Documents, 2)]),
            (other, [opened, finish(Documents, 0)]),  # as if nobody had used it
            (one, [opened, finish(Documents, 2)]),
        )
    )
    assert [each[0].accepted.durable_seq for each in (first, foreign, again)] == [0, 0, 2]
    assert [each[-1].summary.stored for each in (first, foreign, again)] == [2, 0, 2]
    held: queue.SimpleQueue[Any] = queue.SimpleQueue()
    held.put(start(Documents, ingest_id=(taken := str(uuid.uuid4()))))
    running = one.ingest.IngestDocuments(iter(held.get, None))
    next(running)
    busy = failure_of(partial(one.ingest.IngestDocuments, iter([start(Documents, ingest_id=taken)])))
    assert (busy.reason, busy.metadata["ingest_id"]) == ("INGEST_ID_IN_USE", taken)
    list(other.ingest.IngestDocuments(iter([start(Documents, ingest_id=taken), finish(Documents, 0)])))
    held.put(None)
    running.cancel()


# ---- nothing of it is written down


def test_a_token_stands_in_no_log(
    tmp_path: Path, keys: Keys, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_WATCHED, 0.0)
    caplog.set_level(logging.DEBUG)
    data, texts = tmp_path / "data", []
    with doorway(data, access__token_file=keys.tokens.path) as here:
        for rights in ("read", "write", "admin"):
            texts.append(keys.token(rights, rights=rights))
            house = here.house(token=texts[-1])
            ask(house.channel)
            call_anything(house.channel, "never.v1.Heard/Of")
            if rights != "read":
                house.store({"a": "alpha", "b": "beta"})
                house.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default", page_size=1))
        keys.tokens.revoke("read")
        for said in (texts[0], texts[1] + "x"):
            call_anything(here.channel(token=said), "groundwire.v1.AdminService/GetServerInfo")
        keys.tokens.path.write_text(f"[[token]]\nname = '{texts[0]}'\n{texts[1]} = '{texts[2]}'\n{texts[2]} = 1")
        ask(here.channel(token=texts[1]))
        logged = here.written.getvalue() + caplog.text
    assert "stays in force" in logged
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    stored = b"".join(path.read_bytes() for path in sorted(data.rglob("*")) if path.is_file())
    for secret in (*texts, *hashes):
        for part in (secret, secret[5:25]):
            assert part not in logged
            assert part.encode() not in stored


def test_the_log_names_the_caller(here: Doorway, keys: Keys) -> None:
    ask(here.channel(token=keys.token("営業")))
    call_anything(here.channel(), "groundwire.v1.AdminService/GetServerInfo")
    lines = [line for line in here.log() if line["event"] == "call"]
    assert [(line["code"], line.get("caller")) for line in lines] == [("OK", "営業"), ("UNAUTHENTICATED", None)]


@pytest.mark.parametrize("content", ["", "[[token]]\nname = 'x'\n"])
def test_a_file_that_lets_nobody_in_is_a_file_and_a_broken_one_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokens.toml"
    path.write_text(content)
    path.chmod(0o600)
    if content:
        with (
            pytest.raises(InvalidRequest, match=r"access\.token_file"),
            doorway(tmp_path / "data", access__token_file=path),
        ):
            pass
        return
    with doorway(tmp_path / "data", access__token_file=path) as here:
        assert failure_of(lambda: ask(here.channel())).reason == "UNAUTHENTICATED"


def test_a_server_that_knows_no_tokens_takes_none_of_ours(tmp_path: Path, keys: Keys) -> None:
    with doorway(tmp_path / "data") as here:
        assert ask(here.channel())
        assert ask(here.channel(token="of-a-proxy"))


def test_messages_of_any_kind_are_not_even_read(here: Doorway) -> None:
    channel = here.channel()
    for path in contract_methods():
        call: Any = channel.stream_stream(f"/{path}")
        assert failure_of(partial(call, iter([b"\xff" * 100]))).reason == "UNAUTHENTICATED"
