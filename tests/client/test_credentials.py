"""What a client shows a server: over the wire with both clients, and what it decides before."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire import AsyncClient, Client, ErrorReason, GroundwireError, HealthStatus
from groundwire._credentials import is_of_this_machine, show
from tests.client.both import Connect
from tests.rpc.doors import Doorway, Keys, doorway
from tests.support.certificates import Authority

NAMES = ("TOKEN", "CA", "CERT", "KEY", "TLS", "ADDRESS")


@pytest.fixture(autouse=True)
def _nothing_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(f"GROUNDWIRE_{name}", raising=False)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys(Path(tmp_path_factory.mktemp("keys")))


@pytest.fixture(scope="module")
def token(keys: Keys) -> str:
    return keys.token("agent", rights="write")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, keys: Keys, token: str) -> Iterator[Doorway]:
    """Encrypts, and asks for tokens."""
    data = Path(tmp_path_factory.mktemp("data")) / "data"
    with doorway(data, **keys.tls, access__token_file=keys.tokens.path) as made:
        yield made


@pytest.mark.parametrize("form", ["path", "text", "bytes"])
def test_a_token_over_tls(here: Doorway, keys: Keys, token: str, connect: Connect, form: str) -> None:
    file = keys.cert.with_name("authority.pem")
    file.write_bytes(keys.authority.pem)
    ca = {"path": file, "text": str(file), "bytes": keys.authority.pem}[form]
    with connect(here.server.address, token=token, ca=ca) as client:
        assert client.health() is HealthStatus.SERVING
        assert client.server_info().methods
        assert client.ingest_facts([]).collect() is not None
        assert client.list_libraries()[0].library_id == "default"


def test_what_the_environment_says(
    here: Doorway, keys: Keys, token: str, connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_bytes(keys.authority.pem)
    monkeypatch.setenv("GROUNDWIRE_ADDRESS", here.server.address)
    monkeypatch.setenv("GROUNDWIRE_CA", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("GROUNDWIRE_TOKEN", token)
    with connect() as client:
        assert client.server_info()
    for given_token in ("", "gw_another"):
        with connect(token=given_token) as client, pytest.raises(GroundwireError) as caught:
            client.server_info()
        assert caught.value.reason is ErrorReason.UNAUTHENTICATED
        assert caught.value.details["scheme"] == "bearer"
        assert token not in str(caught.value)
    with connect(token=token, metadata=[("x-trace", "1")]) as client:
        assert client.server_info()


def test_a_server_of_another_authority_is_not_spoken_to(here: Doorway, token: str, connect: Connect) -> None:
    other = connect(here.server.address, token=token, ca=Authority().pem)
    with other as client, pytest.raises(GroundwireError) as caught:
        client.server_info(timeout=10)
    assert caught.value.status == "UNAVAILABLE"
    assert "no server answers at" in str(caught.value)
    assert token not in str(caught.value)


def test_who_does_not_encrypt_is_told_how(here: Doorway, connect: Connect) -> None:
    with connect(here.server.address) as client, pytest.raises(GroundwireError, match=r"Client\(ca=\) speaks to one"):
        client.server_info(timeout=10)


def test_a_certificate_of_ones_own(tmp_path: Path, keys: Keys, connect: Connect) -> None:
    rules = keys.rules('[[certificate]]\ncommon_name = "me"\nname = "me"\nclearance = "public"\nrights = "admin"\n')
    cert, key = keys.clients.sign("me").write(tmp_path, "me")
    settings = {**keys.tls, "tls__client_ca": keys.client_ca, "access__certificate_file": rules}
    with doorway(tmp_path / "data", **settings) as made:
        with connect(made.server.address, ca=keys.authority.pem, cert=cert, key=key) as client:
            assert client.server_info().settings
        with connect(made.server.address, ca=keys.authority.pem) as client, pytest.raises(GroundwireError):
            client.server_info(timeout=10)


# ---- what is decided before


def test_a_token_goes_to_other_machines_encrypted_alone() -> None:
    assert show("evidence.example:443", token="gw_a", environment={}).channel is not None
    assert show("evidence.example:443", token="gw_a", tls=False, environment={}).channel is None
    assert show("evidence.example:443", environment={}).channel is None
    assert show("evidence.example:443", environment={"GROUNDWIRE_TOKEN": "gw_a"}).channel is not None
    assert show("127.0.0.1:50051", token="gw_a", environment={}).channel is None
    assert show("127.0.0.1:50051", token="gw_a", tls=True, environment={}).channel is not None


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("127.0.0.1:50051", True),
        ("127.9.9.9:1", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("unix:/run/groundwire.sock", True),
        ("unix-abstract:x", True),
        ("localhost.example:1", False),
        ("127.0.0.1.example:1", False),
        ("0.0.0.0:1", False),
        ("10.0.0.1:1", False),
        ("[::]:1", False),
        ("dns:///localhost:1", False),
        ("ipv4:127.0.0.1:1,10.0.0.1:2", False),
        ("evidence", False),
        ("", False),
    ],
)
def test_what_is_of_this_machine(address: str, here: bool) -> None:
    assert is_of_this_machine(address) is here


@given(st.text(max_size=30))
def test_any_address_is_judged(address: str) -> None:
    assert is_of_this_machine(address) in (True, False)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"cert": b"a"}, "belong together"),
        ({"key": b"a"}, "belong together"),
        ({"ca": b"a", "tls": False}, "encrypted connection alone"),
        ({"token": "gw_a", "metadata": [("Authorization", "x")]}, "stands in the metadata"),
        ({"token": " "}, "no token holds"),
        ({"token": "gw_a\nb"}, "no token holds"),
        ({"token": "gw_é"}, "no token holds"),
        ({"token": "a b"}, "no token holds"),
        ({"credentials": grpc.local_channel_credentials(), "ca": b"a"}, "credentials say it all"),
        ({"credentials": grpc.local_channel_credentials(), "tls": True}, "credentials say it all"),
        ({"environment": {"GROUNDWIRE_TLS": "perhaps"}}, "neither true nor false"),
        ({"environment": {"GROUNDWIRE_TLS": "false", "GROUNDWIRE_CA": "x"}}, "encrypted connection alone"),
        ({"environment": {"GROUNDWIRE_TOKEN": "gw_secret\x7f"}}, "no token holds"),
    ],
)
def test_what_does_not_fit_together(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why) as caught:
        show("evidence.example:1", **{"environment": {}, **given})
    assert "secret" not in str(caught.value)
    if "environment" not in given:
        for kind in (Client, AsyncClient):
            with pytest.raises(ValueError, match=why):
                kind("evidence.example:1", **given)


def test_what_is_given_goes_before_the_environment(tmp_path: Path) -> None:
    around = {"GROUNDWIRE_TOKEN": "gw_theirs", "GROUNDWIRE_TLS": "true", "GROUNDWIRE_CERT": "nowhere"}
    assert show("a:1", token="gw_ours", tls=False, environment=around).metadata == (
        ("authorization", "Bearer gw_ours"),
    )
    assert show("a:1", token="", tls=False, environment=around) == show("a:1", environment={})
    mine = [("authorization", "Bearer of-a-proxy")]
    assert show("a:1", metadata=mine, tls=False, environment=around).metadata == tuple(mine)
    with pytest.raises(FileNotFoundError):
        show("a:1", environment={"GROUNDWIRE_CA": str(tmp_path / "nowhere")})
    assert show("a:1", ca=Authority().pem, environment={"GROUNDWIRE_TLS": "false"}).channel is not None


def test_a_token_from_a_file_may_end_with_a_line() -> None:
    assert show("a:1", token="gw_a\n", environment={}).metadata == (("authorization", "Bearer gw_a"),)


def test_no_client_shows_its_token() -> None:
    async def of_async() -> str:
        async with AsyncClient("127.0.0.1:1", token="gw_hidden") as client:
            return repr(client) + str(client)

    with Client("127.0.0.1:1", token="gw_hidden") as client:
        shown = repr(client) + str(client)
    assert "gw_hidden" not in shown + asyncio.run(of_async())
    assert "GROUNDWIRE_TOKEN" not in os.environ
