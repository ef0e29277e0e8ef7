"""The file of tokens: changed whole, read again, never trusted when others may write it."""

from __future__ import annotations

import logging
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import Label, Principal
from groundwire_server.security.callers import LOOK_SECONDS, TokenFile, WatchedFile, parse_tokens, watch_tokens

NOW = datetime(2026, 5, 4, tzinfo=UTC)


def reader(name: str) -> Principal:
    return Principal(name, Label.INTERNAL, may_write=False, may_administer=False)


def test_tokens_come_and_go(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "new" / "tokens.toml")
    assert file.tokens() == ()
    text, made = file.create(reader("b"))
    file.create(reader("営業"), NOW)
    file.create(reader("a"))
    assert [each.principal.name for each in file.tokens()] == ["a", "b", "営業"]
    assert parse_tokens(file.path.read_bytes()).find(text, NOW) == reader("b")
    assert file.revoke("b") == made
    assert [each.principal.name for each in file.tokens()] == ["a", "営業"]
    assert parse_tokens(file.path.read_bytes()).find(text, NOW) is None
    assert text.encode() not in file.path.read_bytes()


def test_a_name_stands_once(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.toml")
    file.create(reader("a"))
    before = file.path.read_bytes()
    with pytest.raises(InvalidRequest, match="there is a token 'a'"):
        file.create(reader("a"))
    with pytest.raises(InvalidRequest, match="there is no token 'b'; there are: a"):
        file.revoke("b")
    assert file.path.read_bytes() == before


def test_the_file_is_for_its_owner(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.toml")
    file.create(reader("a"))
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.path.chmod(0o640)  # its group may read it, and keeps that
    file.create(reader("b"))
    assert file.path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == [".tokens.toml.lock", "tokens.toml"]


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o604, 0o666, 0o644])
def test_a_file_that_others_may_get_at_is_not_read(tmp_path: Path, mode: int) -> None:
    file = TokenFile(tmp_path / "tokens.toml")
    file.create(reader("a"))
    file.path.chmod(mode)
    with pytest.raises(InvalidRequest, match=rf"has mode 0{mode:o}, .* `chmod 06[04]0`"):
        watch_tokens(file.path)
    with pytest.raises(InvalidRequest):
        file.create(reader("b"))


def test_a_link_is_followed(tmp_path: Path) -> None:
    real = TokenFile(tmp_path / "real" / "tokens.toml")
    real.create(reader("a"))
    link = tmp_path / "link.toml"
    link.symlink_to(real.path)
    TokenFile(link).create(reader("b"))
    assert link.is_symlink()
    assert [each.principal.name for each in real.tokens()] == ["a", "b"]


def test_nothing_is_lost_among_many(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.toml")
    threads = [threading.Thread(target=lambda n=n: file.create(reader(f"t{n}"))) for n in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(file.tokens()) == 16


def test_what_cannot_be_written_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = TokenFile(tmp_path / "tokens.toml")
    file.create(reader("a"))
    before = file.path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        file.create(reader("b"))
    assert file.path.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == [".tokens.toml.lock", "tokens.toml"]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def _watch(path: Path, clock: Clock) -> WatchedFile[bytes]:
    return WatchedFile(path, _letters, setting="access.token_file", clock=clock)


def _letters(raw: bytes) -> bytes:
    if not raw.isalpha():
        raise InvalidRequest([])
    return raw


def test_a_change_holds_after_a_moment(tmp_path: Path) -> None:
    path, clock = tmp_path / "file", Clock()
    path.write_bytes(b"one")
    file = _watch(path, clock)
    path.write_bytes(b"other")
    clock.now += LOOK_SECONDS / 2
    assert file.current() == b"one"
    clock.now += LOOK_SECONDS
    assert file.current() == b"other"


@pytest.mark.parametrize("harm", ["broken", "gone", "mode", "folder"])
def test_what_does_not_hold_changes_nothing_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, harm: str
) -> None:
    path, clock = tmp_path / "file", Clock()
    path.write_bytes(b"one")
    file = _watch(path, clock)
    if harm == "broken":
        path.write_bytes(b"1")
    elif harm == "mode":
        path.chmod(0o666)
    else:
        path.unlink()
        if harm == "folder":
            path.mkdir()
    with caplog.at_level(logging.INFO, "groundwire_server"):
        for _ in range(3):
            clock.now += 1
            assert file.current() == b"one"
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "stays in force" in record.getMessage()
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_bytes(b"two")
    clock.now += 1
    assert file.current() == b"two"


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidRequest, match="is no file"):
        _watch(tmp_path / "pipe", Clock())
