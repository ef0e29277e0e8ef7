"""Every test of this folder tells what came back, and that is what its row in docs/bad-input.md says."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from groundwire.v1 import admin_pb2
from tests.bad_input.table import DOCUMENT, Told, cell, rows
from tests.cli.commands import COMMAND, Ran, run_alone
from tests.rpc.house import Documents, House, document_part, finish, furnish, house, start

Tell = Callable[..., None]
# To root nothing is forbidden; without these it is as everybody.
_RIGHTS = "-dac_override,-dac_read_search"


def run_with_few_rights(*words: str) -> Ran:
    """Run a command as a process of its own that may do what the modes of files say."""
    few = ("setpriv", f"--bounding-set={_RIGHTS}", f"--inh-caps={_RIGHTS}") if os.getuid() == 0 else ()
    done = subprocess.run((*few, *COMMAND, *words), capture_output=True, text=True, check=False, timeout=100)
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def told(request: pytest.FixtureRequest) -> Iterator[Tell]:
    """Compare what came back with the row of this test. What differs from run to run stands there by its name.

    BAD_INPUT_LOG names a file that takes what came back instead, for whoever writes the table.
    """
    test = request.node.name
    seen: list[Told] = []

    def tell(what: Told, **names: object) -> None:
        message, field = what.message, what.field
        for name, value in names.items():
            message, field = message.replace(str(value), name.upper()), field.replace(str(value), name.upper())
        seen.append(Told(what.answer, field, " ".join(message.split())))

    yield tell
    assert seen, "this test has told nothing"
    log = os.environ.get("BAD_INPUT_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as written:
            for each in seen:
                line = {"test": test, "answer": each.answer, "field": each.field, "message": cell(each.message)}
                written.write(json.dumps(line, ensure_ascii=False) + "\n")
        return
    row = next((row for row in rows() if row.test == test), None)
    assert row is not None, f"{DOCUMENT.name} has no row for {test}; it would be {seen}"
    assert [row.told] == list(dict.fromkeys(seen))


@pytest.fixture(scope="session")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A furnished server. Whatever it is told, nothing is a fault of its own."""
    with house(Path(tmp_path_factory.mktemp("bad")) / "data") as running:
        furnish(running)
        _furnish_more(running)
        yield running
        assert not [line for line in running.log() if line["event"] == "fault"]


def _furnish_more(here: House) -> None:
    """An attribute in use; a library that is cut and fused in another way, and has that attribute as text; an empty
    one."""
    sized = [{"name": "size", "value": {"int_value": 5}}]
    part = Documents(part=document_part(1, "sized.md", b"Five pages.", attributes=sized))
    list(here.ingest.IngestDocuments(iter([start(Documents), part, finish(Documents, 1)])))
    other = {
        "library_id": "other",
        "index": {"chunker": "whole"},
        "tuning": {"fusion": "rrf"},
        "settings": [{"name": "k1", "value": "2"}],
        "attributes": [{"name": "size", "value_type": admin_pb2.ATTRIBUTE_TYPE_STRING}],
    }
    for library in (other, {"library_id": "second"}):
        here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
    here.store({"other/fox.md": "A fox in another library, and its den."}, library="other")


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own to run commands in, without settings of the machine."""
    for name in list(os.environ):
        if name.startswith(("GROUNDWIRE_", "RAGSPINE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GROUNDWIRE_EMBEDDING_BACKEND", "none")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def at(here: House, alone: Path) -> Callable[..., object]:
    """Run a command as a process of its own against the furnished server."""
    return lambda *words: run_alone("--address", here.server.address, *words)
