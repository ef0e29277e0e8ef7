"""The data folder: its lock, its libraries, and what the file system may refuse."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire_server.errors import (
    ErrorReason,
    FailedPrecondition,
    GroundwireError,
    InvalidRequest,
    Unavailable,
    UnknownResource,
)
from groundwire_server.evidence import Label, Principal
from groundwire_server.library import DataFolder, Library, LibraryConfig
from groundwire_server.store.conformance import make_document

READER = Principal("reader", Label.INTERNAL)

HOLD = """
import sys
from pathlib import Path
from groundwire_server.library import DataFolder
folder = DataFolder(Path(sys.argv[1]))
folder.announce("127.0.0.1:50051")
print("held", flush=True)
sys.stdin.read()
"""


def _holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def _end(process: subprocess.Popen[str], *, kill: bool) -> None:
    if kill:
        process.send_signal(signal.SIGKILL)
    process.communicate("")
    assert process.returncode == (-signal.SIGKILL if kill else 0)


@pytest.mark.parametrize("kill", [False, True])
def test_a_second_process_is_told_who_holds_the_folder(tmp_path: Path, kill: bool) -> None:
    path = tmp_path / "data ü 資料"
    process = _holder(path)
    try:
        with pytest.raises(FailedPrecondition) as refused:
            DataFolder(path)
    finally:
        _end(process, kill=kill)
    assert refused.value.reason is ErrorReason.NOT_SERVING
    assert refused.value.details == {"pid": str(process.pid), "address": "127.0.0.1:50051"}
    assert str(process.pid) in refused.value.message
    assert "127.0.0.1:50051" in refused.value.message
    with DataFolder(path) as folder:  # its holder has ended, and be it by kill -9
        assert folder.list() == []


def test_a_second_part_of_one_process_is_refused_too(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        folder.announce("[::1]:1")
        with pytest.raises(FailedPrecondition) as refused:
            DataFolder(tmp_path)
        assert refused.value.details == {"pid": str(os.getpid()), "address": "[::1]:1"}
        folder.create("still-works")
    DataFolder(tmp_path).close()


def test_a_lock_file_with_nonsense_in_it(tmp_path: Path) -> None:
    (tmp_path / "lock").write_bytes(b"\xff not json")
    with DataFolder(tmp_path) as folder:
        assert folder.list() == []


def test_libraries_come_and_stay(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        assert folder.list() == []
        library = folder.create("finance_2", LibraryConfig(description="Reports"))
        folder.create("default")
        assert folder.create("finance_2", LibraryConfig(description="ignored")) is library
        assert folder.library("finance_2") is library
        with library.writing() as writer:
            writer.replace_document(make_document("a"))
        snapshot_id = library.snapshot().snapshot_id(READER)
    with DataFolder(tmp_path) as folder:
        assert folder.list() == ["default", "finance_2"]
        library = folder.library("finance_2")
        assert library.config.description == "Reports"
        assert library.snapshot().snapshot_id(READER) == snapshot_id
        assert folder.library("default").snapshot().rows == 0


def test_a_folder_may_be_moved_and_copied(tmp_path: Path) -> None:
    with DataFolder(tmp_path / "old") as folder, folder.create("x").writing() as writer:
        writer.replace_document(make_document("a"))
    shutil.move(tmp_path / "old", tmp_path / "new")
    shutil.copytree(tmp_path / "new/libraries/x", tmp_path / "new/libraries/y")
    shutil.rmtree(tmp_path / "new/libraries/x")
    with DataFolder(tmp_path / "new") as folder:
        assert folder.list() == ["y"]
        assert folder.library("y").snapshot().rows == 2


@pytest.mark.parametrize("library_id", ["", "A", "-a", "_a", "a b", "a/b", "..", "ü", "a" * 64, "a\n", "a\x00"])
def test_an_id_that_no_library_can_have(tmp_path: Path, library_id: str) -> None:
    with DataFolder(tmp_path) as folder:
        with pytest.raises(InvalidRequest) as refused:
            folder.create(library_id)
        assert refused.value.violations[0].field == "library_id"
        assert refused.value.violations[0].reason is ErrorReason.VALUE_MALFORMED
        with pytest.raises(UnknownResource):
            folder.library(library_id)
        assert folder.list() == []


def test_ids_that_a_library_can_have(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        for library_id in ("0", "a", "a-b_c", "9" * 63):
            folder.create(library_id)
        assert folder.list() == sorted(["0", "a", "a-b_c", "9" * 63])


def test_a_library_with_wrong_settings_is_not_made(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        with pytest.raises(InvalidRequest):
            folder.create("x", LibraryConfig(chunk_chars=0))
        assert folder.list() == []
        assert list((tmp_path / "libraries").iterdir()) == []


def test_an_unknown_library(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder, pytest.raises(UnknownResource) as refused:
        folder.library("finanse")
    assert refused.value.reason is ErrorReason.UNKNOWN_LIBRARY
    assert refused.value.details == {"library_id": "finanse"}


def test_a_hidden_library_is_gone_at_once_and_its_files_when_they_are_freed(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        library = folder.create("x")
        with library.writing() as writer:
            writer.replace_document(make_document("a"))
        name = folder.hide("x")
        assert folder.list() == []
        with pytest.raises(Unavailable), library.writing():
            pass
        with pytest.raises(UnknownResource):
            folder.hide("x")
        assert folder.create("x").snapshot().rows == 0
        other = folder.hide("x")
        assert folder.hidden() == {name: "x", other: "x"}
        folder.free(name)
        folder.free(name)
        folder.free(other)
        assert list((tmp_path / "libraries").iterdir()) == []
        with pytest.raises(ValueError, match="no hidden library"):
            folder.free("../lock")


def test_a_damaged_library_can_be_hidden(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        folder.create("x")
    (tmp_path / "libraries/x/store.sqlite").write_bytes(b"not a database" * 1000)
    with DataFolder(tmp_path) as folder:
        with pytest.raises(GroundwireError):
            folder.library("x")
        name = folder.hide("x")
        assert folder.hidden() == {name: "x"}
        assert folder.list() == []


def test_what_was_hidden_stays_so_over_a_restart(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        folder.create("x")
        name = folder.hide("x")
    with DataFolder(tmp_path) as folder:
        assert folder.list() == []
        assert folder.hidden() == {name: "x"}


def test_a_library_made_anew_is_told_from_the_one_before(tmp_path: Path) -> None:
    with DataFolder(tmp_path) as folder:
        made = []
        for _ in range(2):
            folder.create("x")
            made.append(folder.server_file.created_at("x"))
            folder.hide("x")
        assert "" not in made
        assert len(set(made)) == 2
        assert folder.server_file.created_at("x") == ""


def test_each_library_is_shown_when_it_opens(tmp_path: Path) -> None:
    seen: list[Library] = []
    with DataFolder(tmp_path, opened=seen.append) as folder:
        library = folder.create("x")
        folder.library("x")
        assert seen == [library]

    def refuse(library: Library) -> None:
        raise FailedPrecondition(ErrorReason.NO_EMBEDDER, "no")

    with DataFolder(tmp_path, opened=refuse) as folder:
        with pytest.raises(FailedPrecondition):
            folder.library("x")
        with pytest.raises(FailedPrecondition):
            folder.create("y")
        assert folder.list() == ["x"]
        assert not (tmp_path / "libraries/y").exists()
    DataFolder(tmp_path).close()


def test_the_secret_stays_or_is_given(tmp_path: Path) -> None:
    def snapshot_id(path: Path, secret: bytes | None) -> str:
        with DataFolder(path, secret=secret) as folder:
            return folder.create("x").snapshot().snapshot_id(READER)

    assert snapshot_id(tmp_path / "a", None) == snapshot_id(tmp_path / "a", None)
    assert snapshot_id(tmp_path / "a", None) != snapshot_id(tmp_path / "b", None)
    assert snapshot_id(tmp_path / "a", b"shared") == snapshot_id(tmp_path / "b", b"shared")


def test_a_closed_folder_says_so(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    library = folder.create("x")
    folder.close()
    folder.close()
    reader = library.snapshot().reader
    for use in (lambda: folder.library("x"), lambda: folder.create("y"), lambda: reader.counts(Label.INTERNAL)):
        with pytest.raises(Unavailable):
            use()


def _refusal(path: Path) -> GroundwireError:
    with pytest.raises(FailedPrecondition) as refused:
        DataFolder(path)
    assert refused.value.reason is ErrorReason.NOT_SERVING
    assert str(path) in refused.value.message
    return refused.value


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    assert re.search("no folder|a file of that name", _refusal(tmp_path / "data").message)


def test_a_path_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    assert "no folder" in _refusal(tmp_path / "file" / "data").message


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    path = tmp_path / "data"
    DataFolder(path).close()
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom groundwire_server.library import DataFolder\n"
        "from groundwire_server.errors import FailedPrecondition\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try: DataFolder(Path(sys.argv[1]))\n"
        "except FailedPrecondition as error: print(error.reason.name, error.message)\n"
    )
    for part in (path, *path.rglob("*")):
        part.chmod(0o555 if part.is_dir() else 0o444)
    for part in (tmp_path, *tmp_path.parents):
        if part.stat().st_uid == os.getuid() and part.name.startswith(("pytest-", "test_")):
            part.chmod(part.stat().st_mode | 0o055)
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    for part in (path, *path.rglob("*")):
        part.chmod(0o755 if part.is_dir() else 0o644)
    assert done.stdout.startswith("NOT_SERVING"), done.stderr
    assert "permission denied" in done.stdout or "permissions" in done.stdout
