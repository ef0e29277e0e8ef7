"""What a command says of a server that is there and cannot be spoken to."""

from __future__ import annotations

import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509

from groundwire_server.cli.handshake import Caller, handshake_fault
from tests.cli.commands import run, server
from tests.rpc.doors import Keys, doorway
from tests.support.certificates import LOCAL, Authority, Pair, put

_NEVER_AGAIN = datetime(2021, 1, 1, tzinfo=UTC)


def test_each_cause_has_its_words(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    ca = str(put(tmp_path / "ca.pem", keys.authority.pem))
    other = str(put(tmp_path / "other.pem", Authority("other").pem))
    with doorway(tmp_path / "data", **keys.tls) as here:
        address = here.server.address
        plain = run("info", "--address", address)
        assert plain.complaint == f"the server at {address} encrypts: --tls, or --ca FILE"
        stranger = run("info", "--address", address, "--ca", other)
        assert stranger.complaint.startswith(f"the server at {address} has a certificate that does not hold here: ")
        assert run("info", "--address", address, "--ca", ca).code == 0
        assert handshake_fault(address, Caller(True, ca)) == ""


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda authority: authority.sign("server", *LOCAL, ends=_NEVER_AGAIN), "certificate has expired"),
        (lambda authority: authority.sign("server", x509.DNSName("example.org")), "not valid for '127.0.0.1'"),
    ],
    ids=["ran_out", "another_name"],
)
def test_a_certificate_that_does_not_hold(made: object, why: str, tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    assert callable(made)
    pair: Pair = made(keys.authority)
    pair.write(tmp_path, "server")
    ca = put(tmp_path / "ca.pem", keys.authority.pem)
    with doorway(tmp_path / "data", **keys.tls) as here:
        ran = run("info", "--address", here.server.address, "--ca", ca)
    assert ran.code == 1
    assert why in ran.complaint


def test_a_server_that_wants_a_certificate(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    ca = put(tmp_path / "ca.pem", keys.authority.pem)
    with doorway(tmp_path / "data", **keys.tls, tls__client_ca=keys.client_ca) as here:
        ran = run("info", "--address", here.server.address, "--ca", ca)
        cert, key = keys.clients.sign("agent").write(tmp_path, "agent")
        shown = ("--address", here.server.address, "--ca", ca, "--cert", cert, "--key", key)
        assert run("info", *shown).code == 0
    assert "want a certificate of its clients, --cert FILE and --key FILE" in ran.complaint


def test_a_server_that_does_not_encrypt(tmp_path: Path) -> None:
    ca = put(tmp_path / "ca.pem", Authority().pem)
    with server() as address:
        ran = run("info", "--address", address, "--ca", ca)
    assert "does not encrypt: leave --ca" in ran.complaint


def test_nobody_and_no_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
    for silent in (address, "nonsense", "127.0.0.1:99999", "127.0.0.1:", "unix:/nowhere", ":1"):
        assert handshake_fault(silent, Caller(False)) == ""
