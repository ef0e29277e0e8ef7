"""Who calls, from the process that asked for credentials to the one that writes; and nobody else says so."""

from __future__ import annotations

import dataclasses
import os
import stat
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import admin_pb2, ingest_pb2
from groundwire_server.errors import Unauthenticated
from groundwire_server.evidence import Label, Principal
from groundwire_server.rpc.workers.identity import PRINCIPAL_KEY, pack_principal, told_principal, unpack_principal
from groundwire_server.rpc.workers.socket_path import SOCKET, grpc_target, private_socket
from tests.rpc.doors import Keys, _with_token
from tests.rpc.house import House, start
from tests.rpc.serving import failure_of
from tests.support.eventually import eventually
from tests.workers.team import Team, team, writer_of

principals = st.builds(
    Principal,
    st.text(),
    st.sampled_from(Label),
    st.frozensets(st.text(), max_size=4),
    st.text(),
    st.booleans(),
    st.booleans(),
)


@given(principals)
def test_a_principal_travels_whole(principal: Principal) -> None:
    assert unpack_principal(pack_principal(principal)) == principal


def test_no_part_of_a_principal_is_left_behind() -> None:
    """A new field has to travel too."""
    told = unpack_principal(pack_principal(Principal("name", Label.PUBLIC, frozenset({"a"}), "tenant", False, False)))
    wanted = {"name", "clearance", "groups", "tenant", "may_write", "may_administer"}
    assert {field.name for field in dataclasses.fields(told)} == wanted


class Told:
    """grpc's context of a call, as far as it is looked at."""

    def __init__(self, *metadata: tuple[str, Any]) -> None:
        self._metadata = metadata

    def invocation_metadata(self) -> Any:
        return self._metadata


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        ((PRINCIPAL_KEY, b""),),
        ((PRINCIPAL_KEY, b"{}"),),
        ((PRINCIPAL_KEY, b"[]"),),
        ((PRINCIPAL_KEY, b"\xff"),),
        ((PRINCIPAL_KEY, b'{"name": "x", "clearance": "ALL", "groups": [], "tenant": ""}'),),
        ((PRINCIPAL_KEY, "text"),),
        ((PRINCIPAL_KEY, pack_principal(Principal("a", Label.PUBLIC))),) * 2,
    ],
)
def test_what_is_no_principal_comes_not_in(metadata: Any) -> None:
    with pytest.raises(Unauthenticated):
        told_principal(Told(*metadata))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_principal_or_none(raw: bytes) -> None:
    try:
        told = told_principal(Told((PRINCIPAL_KEY, raw)))
    except Unauthenticated:
        return
    assert isinstance(told, Principal)


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keys:
    monkeypatch.setattr("groundwire_server.security.callers.watched_file.LOOK_SECONDS", 0.0)
    return Keys(tmp_path / "keys")


@pytest.fixture
def here(tmp_path: Path, keys: Keys) -> Iterator[Team]:
    keys.token("first")
    with team(tmp_path / "data", access__token_file=keys.tokens.path) as made:
        yield made


def caller(here: Team, token: str) -> House:
    """The reader, as the bearer of a token has it."""
    (reader,) = here.readers
    return House(reader.server, _with_token(reader.channel, token), reader.written)


def test_rights_hold_in_the_process_that_writes(tmp_path: Path, keys: Keys) -> None:
    tokens = {rights: keys.token(rights, "confidential", rights) for rights in ("read", "write", "admin")}
    with team(tmp_path / "data", access__token_file=keys.tokens.path) as here:
        writes = caller(here, tokens["write"])
        writes.store({"a.md": "a walrus"}, label=3)
        reads = caller(here, tokens["read"])
        failure = failure_of(lambda: reads.store({"b.md": "an otter"}))
        assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")
        delete = admin_pb2.DeleteLibraryRequest(library_id="default", validate_only=True)
        assert failure_of(lambda: writes.admin.DeleteLibrary(delete)).reason == "NOT_PERMITTED"
        assert caller(here, tokens["admin"]).admin.DeleteLibrary(delete).confirmation
        low = caller(here, keys_low(keys))
        withdraw = ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="a.md")
        assert failure_of(lambda: low.ingest.WithdrawDocument(withdraw)).reason == "UNKNOWN_DOCUMENT"


def keys_low(keys: Keys) -> str:
    return keys.token("low", "public", "write")


def test_a_port_that_encrypts_passes_on_too(tmp_path: Path, keys: Keys) -> None:
    """Certificates are for the port; between the processes there is a socket of the machine."""
    token = keys.token("writes", "confidential", "write")
    with team(tmp_path / "data", access__token_file=keys.tokens.path, **keys.tls) as made:
        (reader,) = made.readers
        assert failure_of(lambda: reader.store({"a.md": "plain"})).code is grpc.StatusCode.UNAVAILABLE
        credentials = grpc.ssl_channel_credentials(keys.authority.pem)
        with grpc.secure_channel(reader.server.address, credentials) as channel:
            here = House(reader.server, _with_token(channel, token), reader.written)
            assert here.store({"a.md": "a walrus"})[-1].summary.stored == 1
            asked = admin_pb2.ListDocumentsRequest(library_id="default")
            assert [each.doc_id for each in here.admin.ListDocuments(asked).documents] == ["a.md"]


def test_nobody_names_himself(here: Team, keys: Keys) -> None:
    """Metadata of a client is looked at by nobody, whatever it says of who calls."""
    (reader,) = here.readers
    token = keys.token("reads")
    forged: tuple[tuple[str, str | bytes], ...] = (
        (PRINCIPAL_KEY, pack_principal(Principal("root", Label.CONFIDENTIAL))),
        ("authorization", f"Bearer {token}"),
    )
    request = iter([start(ingest_pb2.IngestDocumentsRequest)])
    failure = failure_of(lambda: reader.ingest.IngestDocuments(request, metadata=forged))
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")
    anonymous = failure_of(lambda: reader.admin.ListJobs(admin_pb2.ListJobsRequest(), metadata=forged[:1]))
    assert anonymous.code is grpc.StatusCode.UNAUTHENTICATED


def test_the_socket_is_for_its_owner_alone(here: Team) -> None:
    path = here.settings.data / SOCKET
    found = path.stat()
    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert found.st_uid == os.getuid()
    assert not [each.name for each in path.parent.iterdir() if each.name.startswith(".writer-")]


def test_who_reaches_the_socket_says_who_calls(here: Team) -> None:
    with (
        grpc_target(here.settings.data / SOCKET) as target,
        grpc.insecure_channel(target, [("grpc.default_authority", "localhost")]) as channel,
    ):
        ask: Any = channel.unary_unary("/groundwire.v1.AdminService/ListJobs")
        failure = failure_of(lambda: ask(b""))
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        known = [(PRINCIPAL_KEY, pack_principal(Principal("me", Label.PUBLIC)))]
        assert ask(b"", metadata=known) == b""


def test_a_folder_of_a_long_name(tmp_path: Path) -> None:
    """A socket's path has 107 bytes at most; a data folder may be anywhere."""
    folder = tmp_path / ("ö" * 60) / ("folder " * 12)
    assert len(os.fsencode(folder)) > 200
    with team(folder) as made:
        (reader,) = made.readers
        assert reader.store({"a.md": "a walrus"})[-1].summary.stored == 1
        made.stop_writer()
        assert failure_of(lambda: reader.store({"b.md": "b"})).reason == "NOT_SERVING"
        made.start_writer()
        assert eventually(lambda: writer_of(reader).active)
        assert reader.store({"b.md": "b"})[-1].summary.stored == 1


def test_a_socket_that_cannot_be_bound_leaves_nothing(tmp_path: Path) -> None:
    def bind() -> None:
        with private_socket(tmp_path / SOCKET):
            raise RuntimeError("the port is not bound")

    with pytest.raises(RuntimeError):
        bind()
    assert list(tmp_path.iterdir()) == []


def test_the_log_names_a_caller_as_such_and_holds_no_token(here: Team, keys: Keys) -> None:
    name = "".join(string.ascii_letters)
    token = keys.token(name, "confidential", "write")
    caller(here, token).store({"a.md": "a walrus"})
    written = here.written.getvalue() + here.readers[0].written.getvalue()
    assert f'"caller": "{name}"' in written
    assert name not in written.replace(f'"caller": "{name}"', "")
    assert token not in written
