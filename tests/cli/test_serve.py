"""`groundwire serve`, and Ctrl-C in it and in other commands."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest

from groundwire import Client
from tests.cli.commands import finish, furnish, run, server, spawn, write


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_server_answers_until_it_is_told_to_stop(number: signal.Signals, code: int) -> None:
    furnish()
    process = spawn("serve", "--port", "0")
    assert process.stdout is not None
    said = process.stdout.readline()
    assert said.endswith("data in groundwire-data\n")
    address = said.removeprefix("groundwire answers on ").partition(",")[0]
    with Client(address) as client:
        assert [library.library_id for library in client.list_libraries()] == ["default"]
    taken = run("serve", "--port", "0")
    assert taken.code == 1
    assert f"is in use by process {process.pid}, which answers at {address}" in taken.complaint
    process.send_signal(number)
    ran = finish(process)
    assert ran.code == code
    assert '"event": "stopped"' in ran.err


def test_a_taken_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ran = run("serve", "--port", port)
    assert ran.code == 1
    assert f"Cannot listen on 127.0.0.1:{port}: the port is taken" in ran.complaint
    with server():
        pass  # the folder was let go


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--host", "nowhere.invalid"), "'nowhere.invalid' has no address"),
        (("--host", "0.0.0.0"), "which other machines reach, without encryption or credentials"),
    ],
)
def test_an_address_that_cannot_be_served(words: tuple[str, ...], why: str) -> None:
    ran = run("serve", "--port", "0", *words)
    assert ran.code == 1
    assert why in ran.complaint


@pytest.mark.parametrize("words", [("serve", "--address", "0.0.0.0:1"), ("--address", "0.0.0.0:1", "serve")])
def test_an_address_to_speak_to_is_none_to_listen_on(words: tuple[str, ...]) -> None:
    ran = run(*words)
    assert ran.code == 2
    assert "listens on --host and --port" in ran.complaint
    assert "--address" not in run("serve", "--help").out


def test_a_model_that_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", "onnx")
    monkeypatch.setenv("XDG_CACHE_HOME", "no-cache")
    ran = run("serve", "--port", "0", "--models", "no-models")
    assert ran.code == 1
    assert "is not prepared. Run `groundwire models prepare`" in ran.complaint


def test_an_ingest_that_is_broken_off_keeps_what_it_said() -> None:
    folder = write("mine", {f"{number:04}.txt": f"Report {number} on bridges." for number in range(3000)})
    process = spawn("ingest", folder, "--verbose")
    assert process.stdout is not None
    first = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    ran = finish(process)
    assert ran.code == 130
    assert ran.err.splitlines()[-1] == "stopped"
    said = [*first, *ran.out.splitlines()]
    assert len(said) < 3000
    rest = run("ingest", folder)
    stored, unchanged = (int(part.split()[0]) for part in rest.out.splitlines()[-1].split(", ")[:2])
    assert stored + unchanged == 3000
    assert unchanged >= len(said)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_evaluation_that_is_broken_off_leaves_nothing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    line = '{"doc_id": "%d", "title": "", "text": "Report %d on bridges."}\n'
    query = '{"query_id": "q", "text": "bridges"}\n'
    write("set", {"queries.jsonl": query, "qrels.tsv": "query_id\tdoc_id\trelevance\nq\t1\t1\n"})
    write("set", {"corpus.jsonl": "".join(line % (number, number) for number in range(20_000))})
    (tmp_path / "tmp").mkdir()
    process = spawn("eval", "retrieval", "set", "--run", "run.tsv", TMPDIR=str(tmp_path / "tmp"))
    assert process.stderr is not None
    assert process.stderr.readline().startswith("loading ")
    process.send_signal(number)
    assert finish(process).code == code
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not Path("run.tsv").exists()
