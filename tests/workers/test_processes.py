"""A server of several processes as it is run: started, killed in part, stopped."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.eventually import eventually
from tests.workers.processes import Caller, Served, served, to_each

READERS = {"reader-1", "reader-2"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served") / "data") as each:
        yield each


def command(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def test_connections_are_spread_over_processes_that_see_the_same(here: Served) -> None:
    callers = to_each(here.address, READERS)
    callers["reader-1"].store({"fox.md": "A fox sleeps. 狐は眠る。"})
    assert callers["reader-1"].found("fox") == ["fox.md"]
    assert eventually(lambda: callers["reader-2"].found("狐") == ["fox.md"])
    for each in callers.values():
        each.close()


def test_the_supervisor_loads_neither_grpc_nor_numpy(here: Served) -> None:
    """Its memory has nothing of them, and it is small."""
    maps = Path(f"/proc/{here.process.pid}/maps").read_text()
    assert "cygrpc" not in maps
    assert "numpy" not in maps
    assert "pydantic_core" in maps  # it was looked at in the right place


@pytest.mark.parametrize("module", ["grpc", "numpy", "google.protobuf", "groundwire_server.rpc"])
def test_supervision_has_no_need_of(module: str) -> None:
    code = (
        f"import sys, groundwire_server.supervision, groundwire_server.cli.serve; assert {module!r} not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_arguments_and_environment_hold_no_settings(here: Served) -> None:
    for name, pid in here.pids.items():
        words = command(pid)
        assert words[1:4] == ["-P", "-m", "groundwire_server.rpc.workers"], name
        assert str(here.data) not in " ".join(words)


def test_another_server_of_the_folder_is_refused(here: Served, tmp_path: Path) -> None:
    for words in (["--workers", "2"], []):
        ran = serve("--data", str(here.data), "--port", "0", *words)
        assert ran.returncode == 1
        assert f"is in use by process {here.process.pid}, which answers at {here.address}" in ran.stderr


@pytest.mark.parametrize("words", [["--workers", "2"], []])
def test_another_server_of_the_port_is_refused(here: Served, tmp_path: Path, words: list[str]) -> None:
    port = here.address.rpartition(":")[2]
    ran = serve("--data", str(tmp_path / "other"), "--port", port, *words)
    assert ran.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{port}: the port is taken" in ran.stderr


def serve(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "groundwire_server.cli", "serve", "--lexical", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_folder_stays_taken_while_the_process_that_writes_is_replaced(here: Served) -> None:
    os.kill(here.pids["writer"], signal.SIGKILL)
    ran = serve("--data", str(here.data), "--port", "0")
    assert f"is in use by process {here.process.pid}" in ran.stderr
    assert eventually(lambda: here.answering("writer") > 1, 60)


def test_a_dead_process_is_replaced(here: Served) -> None:
    caller = Caller(here.address)
    assert eventually(lambda: stored(caller, {"before.md": "a wombat before"}), 60)  # others kill the writer, too
    for name in ("writer", "reader-1", "reader-2"):
        before = here.pids[name]
        here.kill(name)
        assert here.pids[name] != before
        assert here.log(process="supervisor", event="process ended", ended=name, how="by SIGKILL")
        assert eventually(lambda: found(caller, "wombat") == ["before.md"], 60)
    assert eventually(lambda: stored(caller, {"after.md": "a wombat after"}), 60)
    assert sorted(caller.found("wombat")) == ["after.md", "before.md"]
    caller.close()


def found(caller: Caller, query: str) -> list[str] | None:
    try:
        return caller.found(query)
    except grpc.RpcError:
        return None


def stored(caller: Caller, texts: dict[str, str]) -> bool:
    try:
        return bool(caller.store(texts)[-1].HasField("summary"))
    except grpc.RpcError:
        return False


def test_a_port_that_is_taken_starts_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ran = serve("--data", str(tmp_path / "data"), "--port", str(port), "--workers", "2")
    assert ran.returncode == 1
    assert ran.stderr.strip().startswith(f"Error: Cannot listen on 127.0.0.1:{port}: the port is taken")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.slow
def test_what_keeps_a_process_from_starting_is_told(tmp_path: Path) -> None:
    """By the one that is started, in the words of a server of one process."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "server.sqlite").write_text("no database")
    wanted = serve("--data", str(tmp_path / "data"), "--port", "0")
    ran = serve("--data", str(tmp_path / "data"), "--port", "0", "--workers", "2")
    assert ran.returncode == wanted.returncode == 1
    assert ran.stderr.splitlines()[-1] == wanted.stderr.splitlines()[-1]
    remote = serve("--data", str(tmp_path / "other"), "--host", "0.0.0.0", "--port", "0", "--workers", "2")
    assert "which other machines reach, without encryption or credentials" in remote.stderr
    nowhere = serve("--data", str(tmp_path / "other"), "--host", "nowhere.invalid", "--port", "0", "--workers", "2")
    assert "'nowhere.invalid' has no address" in nowhere.stderr


@pytest.mark.parametrize(
    ("number", "code"), [pytest.param(signal.SIGTERM, 0, marks=pytest.mark.slow), (signal.SIGINT, 130)]
)
def test_a_signal_stops_all(tmp_path: Path, number: signal.Signals, code: int) -> None:
    with served(tmp_path / "data") as each:
        caller = Caller(each.address)
        caller.store({"a.md": "a walrus"})
        watch = health_pb2_grpc.HealthStub(caller.channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        pids = each.pids
        assert each.stop(number) == code
        assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert not any(alive(pid) for pid in pids.values())
        order = [line["process"] for line in each.log(event="stopped")]
        assert set(order[:2]) == READERS
        assert order[2:] == ["writer", "supervisor"]
        assert not (each.data / "writer.sock").exists()
        caller.close()
    assert (each.data / "lock").read_text() == ""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_nobody_is_left_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    """The others notice, end their calls and let go of folder and port: whoever starts it again succeeds."""
    with served(tmp_path / "data") as each:
        caller = Caller(each.address)
        caller.store({"a.md": "a walrus"})
        caller.close()
        pids = each.pids
        each.process.kill()
        each.process.wait()
        assert eventually(lambda: not any(alive(pid) for pid in pids.values()), 60)
    with served(tmp_path / "data") as again:
        caller = Caller(again.address)
        assert caller.found("walrus") == ["a.md"]
        caller.close()
