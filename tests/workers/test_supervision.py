"""The parts of the supervisor, without the processes."""

from __future__ import annotations

import io
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundwire_server.errors import ErrorReason, FailedPrecondition, GroundwireError, InvalidRequest, Unavailable
from groundwire_server.settings import LogSettings, ServerSettings, Settings, load_settings
from groundwire_server.store import FolderLock
from groundwire_server.supervision import Report, pack_failure, pack_ready, receive_settings
from groundwire_server.supervision.lines import Lines
from groundwire_server.supervision.place import Place
from groundwire_server.supervision.port import SharedPort
from groundwire_server.supervision.start import start_process
from tests.support.eventually import eventually


@contextmanager
def held(host: str = "127.0.0.1", port: int = 0) -> Iterator[SharedPort]:
    made = SharedPort(ServerSettings(host=host, port=port))
    try:
        yield made
    finally:
        made.close()


def listen(port: int, *, shared: bool) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        made.bind(("127.0.0.1", port))
        made.listen()
    except OSError:
        made.close()
        raise
    return made


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_port_is_for_those_who_are_asked_to_share_it(host: str) -> None:
    with held(host) as port:
        assert port.number
        with pytest.raises(Unavailable, match="the port is taken"), held(host, port.number):
            pass  # another server of several processes, before anybody listens
        with listen(port.number, shared=True), listen(port.number, shared=True):
            with pytest.raises(OSError, match="in use"):
                listen(port.number, shared=False)
            with pytest.raises(Unavailable, match="the port is taken"), held(host, port.number):
                pass
    with held(host, port.number) as again:
        assert again.number == port.number


def test_a_port_of_somebody_else() -> None:
    with listen(0, shared=True) as other:
        number = other.getsockname()[1]
        with pytest.raises(Unavailable) as refused, held(port=number):
            pass
    assert refused.value.details == {"port": str(number)}
    with pytest.raises(InvalidRequest, match="has no address"), held("nowhere.invalid"):
        pass
    with pytest.raises(Unavailable, match="not of this machine"), held("192.0.2.1"):
        pass


@pytest.mark.parametrize(
    "error",
    [
        FailedPrecondition(ErrorReason.NO_MODEL, "Es fehlt \u2028 ein 模型.", hint="Do it.", details={"model": "é"}),
        InvalidRequest.one("server.host", ErrorReason.UNKNOWN_NAME, "has no address"),
    ],
)
def test_why_a_process_does_not_start_is_told_in_its_words(error: GroundwireError) -> None:
    told = Report.of(pack_failure(error)).failure
    assert told is not None
    assert (told.reason, told.message, told.hint, told.details) == (
        error.reason,
        error.message,
        error.hint,
        error.details,
    )
    assert Report.of(pack_ready("127.0.0.1:1", ["a note"])) == Report("127.0.0.1:1", ("a note",))


def test_lines_of_the_log() -> None:
    stream = io.StringIO()
    lines = Lines(LogSettings(format="json"), stream)
    lines.info("serving", pid=7)
    lines.warning("process ended", ended="writer")
    Lines(LogSettings(level="error"), stream).warning("nobody wants to know")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert {**first, "timestamp": ""} == {
        "process": "supervisor", "pid": 7, "event": "serving", "level": "info", "timestamp": "",
    }  # fmt: skip
    assert second["level"] == "warning"
    stream = io.StringIO()
    Lines(LogSettings(format="console"), stream).info("serving", pid=7)
    assert "serving" in stream.getvalue()
    assert "pid=7" in stream.getvalue()


def test_settings_go_through_a_pipe_whole(tmp_path: Path) -> None:
    import pickle

    settings = load_settings({"data": tmp_path, "secret": "秘密"}, environ={})
    reads, writes = os.pipe()
    packed = pickle.dumps(settings)
    os.write(writes, len(packed).to_bytes(8, "little") + packed[:10])
    os.write(writes, packed[10:])
    told = receive_settings(reads)
    assert told == settings
    assert told.in_force() == settings.in_force()
    assert told.secret.get_secret_value() == "秘密"
    os.write(writes, b"\0" * 4)
    os.close(writes)
    with pytest.raises(EOFError):
        receive_settings(reads)
    os.close(reads)


@pytest.fixture
def lock(tmp_path: Path) -> Iterator[FolderLock]:
    made = FolderLock(tmp_path / "lock")
    yield made
    made.release()


def test_a_lock_that_was_handed_on(tmp_path: Path, lock: FolderLock) -> None:
    lock.announce("127.0.0.1:50051")
    other = FolderLock(tmp_path / "lock", os.dup(lock.descriptor))
    other.announce("elsewhere")
    assert json.loads((tmp_path / "lock").read_text())["address"] == "127.0.0.1:50051"
    other.release()
    with pytest.raises(FailedPrecondition, match="is in use by process"):
        FolderLock(tmp_path / "lock")
    (tmp_path / "other").touch()
    with pytest.raises(ValueError, match="is not of"):
        FolderLock(tmp_path / "other", lock.descriptor)


def test_a_process_that_cannot_be_what_it_is_told_to(tmp_path: Path, lock: FolderLock) -> None:
    """It ends, and its place is filled again after a pause that grows."""
    settings: Settings = load_settings({"data": tmp_path / "data"}, environ={})
    place = Place("nobody", ("nobody",), settings, lock.descriptor)
    pauses = []
    for _ in range(2):
        place.start()
        assert place.pid is not None
        codes: list[int | None] = []
        assert eventually(lambda codes=codes: ended(place, codes), 60)  # type: ignore[misc]
        assert codes == [1]
        assert not place.answers
        assert place.due is not None
        pauses.append(place.due)
    place.end(0)
    assert place.pid is None


def ended(place: Place, codes: list[int | None]) -> bool:
    place.listen()
    code = place.ended()
    codes += [] if code is None else [code]
    return bool(codes)


def test_a_process_ends_with_the_one_that_started_it(tmp_path: Path, lock: FolderLock) -> None:
    settings = load_settings({"data": tmp_path / "data", "embedding.backend": "none", "log.level": "error"}, environ={})
    (tmp_path / "data").mkdir()
    own = FolderLock(tmp_path / "data" / "lock")
    started = start_process(("writer",), settings, own.descriptor)
    try:
        os.set_blocking(started.report, True)
        assert Report.of(os.read(started.report, 1 << 16)).address
        assert started.process.stdin is not None
        started.process.stdin.close()
        assert started.process.wait(60) == 0
    finally:
        started.process.kill()
        started.process.wait()
        started.close()
        own.release()
