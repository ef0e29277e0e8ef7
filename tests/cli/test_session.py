"""Which server a command speaks to."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

import pytest

from groundwire_server.cli import session
from tests.cli.commands import FIGURES, furnish, run, server, write


def test_a_command_starts_a_server_of_its_own_and_leaves_none_behind(tmp_path: Path) -> None:
    furnish()
    assert run("metric", "sales", "Acme", "FY2024").code == 0
    assert (tmp_path / "groundwire-data" / "lock").read_bytes() == b""
    with server():
        pass  # nobody holds the folder any more


def test_a_command_speaks_to_the_server_that_has_the_folder() -> None:
    furnish()
    with server() as address:
        assert run("metric", "sales", "Acme", "FY2024").code == 0
        assert run("ingest", "mine").code == 0
        holder = json.loads(Path("groundwire-data/lock").read_text(encoding="utf-8"))
    assert holder == {"pid": os.getpid(), "address": address}


@pytest.mark.parametrize(
    "words",
    [
        ("--address", "{}", "retrieve", "revenue"),
        ("retrieve", "revenue", "--address", "{}"),
        ("metric", "sales", "Acme", "FY2024", "--address", "{}"),
        ("ask", "What was the revenue of Acme in FY2024?", "--address", "{}"),
        ("facts", "load", "figures.csv", "--address", "{}"),
        ("glossary", "load", "glossary.toml", "--address", "{}"),
        ("ingest", "mine", "--address", "{}"),
    ],
    ids=lambda words: next(word for word in words if word[0] not in "-{"),
)
def test_a_named_server_that_is_there_and_one_that_is_not(words: tuple[str, ...]) -> None:
    furnish("elsewhere")
    with server("elsewhere") as address:
        assert run(*(word.format(address) for word in words)).code == 0
    assert not Path("groundwire-data").exists()
    gone = run(*(word.format(address) for word in words))
    assert gone.code == 1
    assert f"no server answers at {address}" in gone.complaint


def test_the_environment_may_name_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    furnish("elsewhere")
    with server("elsewhere") as address:
        monkeypatch.setenv("GROUNDWIRE_ADDRESS", address)
        assert "1234.50" in run("metric", "sales", "Acme", "FY2024").out
        monkeypatch.setenv("GROUNDWIRE_ADDRESS", "127.0.0.1:1")
        assert "1234.50" in run("metric", "sales", "Acme", "FY2024", "--address", address).out
    assert "at 127.0.0.1:1;" in run("metric", "sales", "Acme", "FY2024").complaint


def test_what_listens_there_is_no_server_of_ours() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            caller, _ = listener.accept()
            with caller:
                caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answering = threading.Thread(target=answer)
        answering.start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        ran = run("retrieve", "x", "--address", address)
        answering.join()
    assert ran.code == 1
    assert address in ran.complaint


def test_a_folder_that_somebody_holds_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    from groundwire_server.library import DataFolder

    monkeypatch.setattr(session, "_PATIENCE_SECONDS", 0.3)
    with DataFolder(Path("groundwire-data")):
        ran = run("retrieve", "x")
    assert ran.code == 1
    assert f"is in use by process {os.getpid()}" in ran.complaint


def test_a_holder_that_is_just_stopping_is_waited_for() -> None:
    from groundwire_server.library import DataFolder

    furnish()
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        stale = f"127.0.0.1:{nobody.getsockname()[1]}"
    holder = DataFolder(Path("groundwire-data"))
    holder.announce(stale)
    leaving = threading.Timer(0.5, holder.close)
    leaving.start()
    ran = run("metric", "sales", "Acme", "FY2024")
    leaving.join()
    assert "1234.50" in ran.out


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("/proc/nowhere", "The folder /proc/nowhere cannot be used"),
        ("figures.csv", "'figures.csv' is a file"),
        ("", "data: '' is not the path of a folder"),
        ("figures.csv/below", "The folder figures.csv/below cannot be used"),
        ("x" * 300, "the path is too long"),
    ],
)
def test_a_data_folder_that_cannot_be(data: str, why: str) -> None:
    write(".", {"figures.csv": FIGURES})
    ran = run("--data", data, "retrieve", "x")
    assert ran.code in (1, 2)
    assert why in ran.complaint


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ("[server\n", "groundwire.toml is no TOML (line 1, column 8)"),
        (b"\xff", "groundwire.toml is no UTF-8 text"),
        ("nonsense = 1\n", "groundwire.toml: nonsense: is no setting"),
        ('[server]\nport = "many"\n', "groundwire.toml: server.port: 'many' is not a whole number"),
        ('[retrieval]\nmode = "fuzzy"\n', "'fuzzy' is none of auto, hybrid, lexical, vector"),
        ("[limits]\nmax_top_k = 0\n", "0 must be at least 1"),
        ('[embedding]\nbackend = "qwen3"\n', "'qwen3' is not available yet"),
    ],
)
def test_settings_that_do_not_hold(toml: str | bytes, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDWIRE_EMBEDDING_BACKEND")
    write(".", {"groundwire.toml": toml})
    for words in (("retrieve", "x"), ("serve",), ("models", "list")):
        ran = run(*words)
        assert ran.code == 1
        assert why in ran.complaint


def test_settings_of_the_environment_that_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_PORT", "1")
    monkeypatch.setenv("GROUNDWIRE_LOG_LEVEL", "loud")
    complaint = run("retrieve", "x").complaint
    assert "GROUNDWIRE_PORT: is no setting; did you mean" in complaint
    assert "GROUNDWIRE_LOG_LEVEL: 'loud' is none of debug, error, info, warning" in complaint
