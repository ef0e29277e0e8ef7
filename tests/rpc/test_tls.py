"""A port that encrypts: who gets a connection, and what happens to those that stand when its files change."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from grpc_health.v1 import health_pb2, health_pb2_grpc

from groundwire.v1 import admin_pb2, admin_pb2_grpc
from groundwire_server.errors import ErrorReason, FailedPrecondition, GroundwireError, InvalidRequest, Unavailable
from groundwire_server.evidence import Label, Principal
from groundwire_server.rpc.door import Door, check_reach
from groundwire_server.settings import ServerSettings
from tests.rpc.doors import Doorway, Keys, ask, doorway
from tests.rpc.serving import failure_of
from tests.support.certificates import OPS, Authority, put

RULES = f"""{OPS}
[[certificate]]
dns = "agent.example"
name = "agent"
clearance = "public"
"""


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path / "keys")


@pytest.fixture
def here(tmp_path: Path, keys: Keys) -> Iterator[Doorway]:
    with doorway(tmp_path / "data", **keys.tls) as made:
        yield made


def refused(channel: grpc.Channel) -> grpc.StatusCode:
    """What becomes of a caller that gets no connection."""
    with pytest.raises(grpc.RpcError) as caught:
        ask(channel)
    error: Any = caught.value
    return error.code()  # type: ignore[no-any-return]


def test_a_client_that_trusts_the_authority_is_served(here: Doorway, keys: Keys) -> None:
    assert ask(here.channel(keys.authority.pem)).settings


def test_others_are_not(here: Doorway, keys: Keys) -> None:
    assert refused(here.channel(Authority("other").pem)) is grpc.StatusCode.UNAVAILABLE
    assert refused(here.channel()) is grpc.StatusCode.UNAVAILABLE
    assert ask(here.channel(keys.authority.pem))


def test_a_new_certificate_is_taken_up_and_old_connections_go_on(
    here: Doorway, keys: Keys, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "groundwire_server")
    stands = here.channel(keys.authority.pem)
    ask(stands)
    health: Any = health_pb2_grpc.HealthStub(stands)
    watch = health.Watch(health_pb2.HealthCheckRequest())
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    other = Authority("next")
    other.server().write(keys.folder, "server")
    assert ask(here.channel(other.pem))
    assert refused(here.channel(keys.authority.pem)) is grpc.StatusCode.UNAVAILABLE
    assert ask(stands)
    assert watch.is_active()
    watch.cancel()
    assert caplog.messages == ["the files of tls were read again"]


@pytest.mark.parametrize("harm", ["key of another", "no key", "no PEM", "open key", "gone"])
def test_files_that_do_not_fit_change_nothing(
    here: Doorway, keys: Keys, caplog: pytest.LogCaptureFixture, harm: str
) -> None:
    caplog.set_level(logging.INFO, "groundwire_server")
    good = keys.cert.read_bytes(), keys.key.read_bytes()
    if harm == "key of another":
        put(keys.key, keys.authority.server().key, 0o600)
    elif harm == "no key":
        put(keys.key, b"", 0o600)
    elif harm == "no PEM":
        put(keys.cert, b"\0\xff")
    elif harm == "open key":
        keys.key.chmod(0o644)
    else:
        keys.cert.unlink()
    for _ in range(2):
        assert ask(here.channel(keys.authority.pem))
    (said,) = caplog.messages
    assert "stays in force" in said
    assert "PRIVATE" not in said
    put(keys.cert, good[0])
    put(keys.key, good[1], 0o600)
    assert ask(here.channel(keys.authority.pem))
    assert caplog.messages[1:] == ["the files of tls were read again"]


def test_half_of_a_new_pair_is_waited_for(here: Doorway, keys: Keys) -> None:
    other = Authority("next")
    fresh = other.server()
    put(keys.cert, fresh.cert)
    assert ask(here.channel(keys.authority.pem))
    put(keys.key, fresh.key, 0o600)
    assert ask(here.channel(other.pem))


def test_connections_come_while_the_files_change(here: Doorway, keys: Keys) -> None:
    end = threading.Event()

    def renew() -> None:
        while not end.is_set():
            keys.authority.server().write(keys.folder, "server")

    renewing = threading.Thread(target=renew)
    renewing.start()
    try:
        for _ in range(30):
            assert ask(here.channel(keys.authority.pem))
    finally:
        end.set()
        renewing.join()


# ---- certificates of callers


@pytest.fixture
def mutual(tmp_path: Path, keys: Keys) -> Iterator[Doorway]:
    rules = keys.rules(RULES)
    with doorway(tmp_path / "data", **keys.tls, tls__client_ca=keys.client_ca, access__certificate_file=rules) as made:
        yield made


def test_who_brings_no_certificate_of_ours_gets_no_connection(mutual: Doorway, keys: Keys) -> None:
    roots = keys.authority.pem
    names = [x509.DNSName("agent.example")]
    assert refused(mutual.channel(roots)) is grpc.StatusCode.UNAVAILABLE
    stranger = Authority("clients").sign("", *names)  # of the same name, with another key
    assert refused(mutual.channel(roots, shows=stranger)) is grpc.StatusCode.UNAVAILABLE
    ended = keys.clients.sign("", *names, ends=datetime(2021, 1, 1, tzinfo=UTC))
    assert refused(mutual.channel(roots, shows=ended)) is grpc.StatusCode.UNAVAILABLE
    assert ask(mutual.channel(roots, shows=keys.clients.sign("", *names)))


def test_a_certificate_says_who_calls(mutual: Doorway, keys: Keys) -> None:
    roots, sign = keys.authority.pem, keys.clients.sign
    ops = mutual.channel(roots, shows=sign("", x509.UniformResourceIdentifier("spiffe://example/ops")))
    assert ask(ops).settings  # which only those see who may administer
    agent = mutual.channel(roots, shows=sign("", x509.DNSName("agent.example")))
    assert not ask(agent).settings
    failure = failure_of(lambda: _save(agent))
    assert (failure.code, failure.reason) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED")


@pytest.mark.parametrize(
    "names",
    [
        ["agent.example"],  # as a common name: another kind
        ["", x509.DNSName("other.example")],
        ["", x509.UniformResourceIdentifier("agent.example")],
        ["", x509.DNSName("AGENT.example")],
        [""],
    ],
)
def test_a_certificate_that_no_line_names_is_nobodys(mutual: Doorway, keys: Keys, names: list[Any]) -> None:
    channel = mutual.channel(keys.authority.pem, shows=keys.clients.sign(*names))
    failure = failure_of(lambda: ask(channel))
    assert (failure.code, failure.reason) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
    assert failure.metadata["scheme"] == "certificate"
    assert b"agent" not in failure.raw
    assert b"other" not in failure.raw


def test_rules_are_read_again(mutual: Doorway, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_server.security.callers.watched_file.LOOK_SECONDS", 0.0)
    channel = mutual.channel(keys.authority.pem, shows=keys.clients.sign("newcomer"))
    assert failure_of(lambda: ask(channel)).reason == "UNAUTHENTICATED"
    keys.rules(RULES + '[[certificate]]\ncommon_name = "newcomer"\nname = "n"\nclearance = "public"\n')
    assert ask(channel)
    keys.rules(RULES)
    assert failure_of(lambda: ask(channel)).reason == "UNAUTHENTICATED"


def test_a_token_goes_before_the_certificate(tmp_path: Path, keys: Keys) -> None:
    token = keys.token("tok", rights="read")
    asked = {"tls__client_ca": keys.client_ca, "access__certificate_file": keys.rules(RULES)}
    with doorway(tmp_path / "data", **keys.tls, **asked, access__token_file=keys.tokens.path) as both:
        ops = keys.clients.sign("", x509.UniformResourceIdentifier("spiffe://example/ops"))
        roots = keys.authority.pem
        assert ask(both.channel(roots, shows=ops)).settings
        assert not ask(both.channel(roots, shows=ops, token=token)).settings
        failure = failure_of(lambda: ask(both.channel(roots, shows=ops, token=token + "x")))
        assert failure.metadata["scheme"] == "bearer, certificate"
        unnamed = keys.clients.sign("x")
        assert ask(both.channel(roots, shows=unnamed, token=token))
        assert failure_of(lambda: ask(both.channel(roots, shows=unnamed))).reason == "UNAUTHENTICATED"


def test_a_certificate_alone_lets_in_as_the_settings_say(tmp_path: Path, keys: Keys) -> None:
    settings = {**keys.tls, "tls__client_ca": keys.client_ca, "access__local_rights": "read"}
    with doorway(tmp_path / "data", **settings) as made:
        channel = made.channel(keys.authority.pem, shows=keys.clients.sign("anybody"))
        assert not ask(channel).settings
        assert failure_of(lambda: _save(channel)).reason == "NOT_PERMITTED"


def _save(channel: grpc.Channel) -> None:
    stub = admin_pb2_grpc.AdminServiceStub(channel)
    stub.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="x")))


# ---- settings that do not fit


@pytest.mark.parametrize(
    ("named", "missing"),
    [
        (["cert"], ["tls.key"]),
        (["key"], ["tls.cert"]),
        (["client_ca"], ["tls.cert"]),
        (["client_ca", "key"], ["tls.cert"]),
        (["certificate_file"], ["tls.client_ca"]),
        (["cert", "key", "certificate_file"], ["tls.client_ca"]),
        (["cert", "certificate_file"], ["tls.key", "tls.client_ca"]),
    ],
)
def test_settings_that_do_not_fit_are_named(tmp_path: Path, keys: Keys, named: list[str], missing: list[str]) -> None:
    files = {"cert": keys.cert, "key": keys.key, "client_ca": keys.client_ca, "certificate_file": keys.rules(RULES)}
    sections = {name: "access" if name == "certificate_file" else "tls" for name in files}
    settings = {f"{sections[name]}__{name}": files[name] for name in named}
    with pytest.raises(InvalidRequest) as caught, doorway(tmp_path / "data", **settings):
        pass
    assert [each.field for each in caught.value.violations] == missing


@pytest.mark.parametrize("harm", ["key of another", "passphrase", "open key", "no client CA", "no file"])
def test_files_that_do_not_hold_are_named_at_the_start(tmp_path: Path, keys: Keys, harm: str) -> None:
    settings = {**keys.tls, "tls__client_ca": keys.client_ca}
    field = "tls.cert"
    if harm == "key of another":
        put(keys.key, keys.authority.server().key, 0o600)
    elif harm == "passphrase":
        keys.authority.sign("server", passphrase=b"secret").write(keys.folder, "server")
    elif harm == "open key":
        keys.key.chmod(0o604)
        field = "tls.key"
    elif harm == "no client CA":
        put(keys.client_ca, b"nothing")
        field = "tls.client_ca"
    else:
        settings["tls__key"] = keys.folder / "nowhere.key"
        field = "tls.key"
    with pytest.raises(InvalidRequest) as caught, doorway(tmp_path / "data", **settings):
        pass
    (fault,) = caught.value.violations
    assert fault.field == field
    assert "PRIVATE KEY" not in fault.description
    with doorway(tmp_path / "data"):  # nothing was left behind
        pass


def test_a_taken_port_is_said(here: Doorway, tmp_path: Path, keys: Keys) -> None:
    port = int(here.server.address.rpartition(":")[2])
    settings = {**keys.tls, "server__port": port}
    with pytest.raises(Unavailable, match="the port is taken"), doorway(tmp_path / "other", **settings):
        pass


SHOWS = Door(credentials=object())  # type: ignore[arg-type]
ASKS = Door(asks=True)
BOTH = Door(credentials=object(), asks=True)  # type: ignore[arg-type]
OPEN = Door(credentials=object(), anonymous_remote=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("door", "plain", "refusal"),
    [
        (Door(), False, "without encryption or credentials"),
        (ASKS, False, "without encryption"),
        (SHOWS, False, "nobody is asked who calls"),
        (SHOWS, True, "nobody is asked who calls"),
        (BOTH, False, ""),
        (OPEN, False, ""),
        (ASKS, True, ""),
        (Door(), True, ""),
        (Door(anonymous_remote=True), False, "without encryption or credentials"),
    ],
)
def test_other_machines_come_in_where_the_settings_say_so(door: Door, plain: bool, refusal: str) -> None:
    settings = ServerSettings(host="0.0.0.0", plaintext_remote=plain)
    if not refusal:
        check_reach(door, settings)
        return
    with pytest.raises(FailedPrecondition, match=refusal) as caught:
        check_reach(door, settings)
    assert caught.value.reason is ErrorReason.NOT_PERMITTED
    assert caught.value.hint


def test_a_door_on_all_addresses(tmp_path: Path, keys: Keys) -> None:
    token = keys.token("a")
    with doorway(tmp_path / "data", server__host="0.0.0.0", **keys.tls, access__token_file=keys.tokens.path) as made:
        address = made.server.address.replace("0.0.0.0", "127.0.0.1")
        assert ask(made.channel(keys.authority.pem, token=token, address=address))


def test_without_settings_nobody_is_asked() -> None:
    door = Door()
    assert not door.asks
    assert door.authenticate(None) == Principal("", Label.PUBLIC, may_write=False, may_administer=False)
    assert issubclass(FailedPrecondition, GroundwireError)
