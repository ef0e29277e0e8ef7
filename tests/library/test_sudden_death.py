"""kill -9 at named points: nothing acknowledged is lost, nothing is half written, and the next start is correct."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.dense import HashEmbedder
from groundwire_server.evidence import Call, Label, Principal
from groundwire_server.library import Library
from groundwire_server.text import tokenize
from tests.library.dying_writer import SECRET, embed, write_batch

STORE = "groundwire_server.store.sqlite"
POINTS = [
    (f"{STORE}.documents:replace_document", "after"),
    (f"{STORE}.documents:retire_revision", "after"),
    (f"{STORE}.facts:put_facts", "after"),
    (f"{STORE}.edges:put_edges", "after"),
    (f"{STORE}.digest:DigestBook.write", "after"),
    (f"{STORE}.generations:add_generation", "after"),
    (f"{STORE}.store:SqliteStore._commit", "before"),
    (f"{STORE}.store:SqliteStore._commit", "after"),
    (f"{STORE}.embeddings:put_embeddings", "after"),
    ("groundwire_server.library.library:Library._publish", "before"),
    ("groundwire_server.library.indexes:LibraryIndexes.follow", "before"),
    ("groundwire_server.library.indexes:LibraryIndexes.set_vectors", "before"),
    ("groundwire_server.lexical.folder:write_segment", "after"),
    ("groundwire_server.lexical.folder:write_manifest", "before"),
    ("groundwire_server.lexical.folder:write_manifest", "after"),
    ("groundwire_server.lexical:LexicalDirectory.append", "after"),
    ("groundwire_server.dense:VectorDirectory.extend", "after"),
    ("groundwire_server.dense.vector_directory:write_manifest", "before"),
    ("groundwire_server.dense.vector_directory:write_manifest", "after"),
    ("groundwire_server.library.library:Library._publish", "after"),
]
READER = Principal("reader", Label.INTERNAL)


@pytest.mark.parametrize(("point", "moment"), POINTS)
def test_killed_at_the_first_call(tmp_path: Path, point: str, moment: str) -> None:
    _kill_and_look(tmp_path, point, moment, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("point", "moment"), POINTS)
def test_killed_at_a_later_call(tmp_path: Path, point: str, moment: str) -> None:
    _kill_and_look(tmp_path, point, moment, 3)


def _kill_and_look(tmp_path: Path, point: str, moment: str, call: int) -> None:
    program = [sys.executable, "-m", "tests.library.dying_writer", str(tmp_path), point, moment, str(call)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL, done.stderr
    acknowledged = [int(line) for line in done.stdout.split()]

    library = Library(tmp_path, "lib", secret=SECRET)
    (number, *_) = _check(library, acknowledged)
    embedder = HashEmbedder()
    library.use_embedder(embedder)
    write_batch(library, number + 1)
    embed(library, embedder)
    assert _check(library, [number + 1])[0] == number + 1
    answers = _answers(library)
    library.rebuild_indexes()
    assert _answers(library) == answers
    library.close()


def _check(library: Library, acknowledged: list[int]) -> list[int]:
    """The batches whose traces are found: one whole batch, the last that was acknowledged or the one after it."""
    snapshot = library.snapshot()
    rows = np.flatnonzero(snapshot.candidates(Call(READER))).tolist()
    texts = {(chunk.doc_id, chunk.seq): chunk.text for chunk in snapshot.chunks(rows)}
    number = int(texts["b", 0].removeprefix("version "))
    assert texts == {("a", 0): f"version {number}", ("a", 1): "shared words", ("b", 0): f"version {number}"}
    assert acknowledged[-1] <= number <= acknowledged[-1] + 1
    reader = snapshot.reader
    assert [fact.record.value for fact in reader.facts(Label.INTERNAL)] == [str(n) for n in range(1, number + 1)]
    assert len(reader.nodes(Label.INTERNAL)) == number + 1
    assert reader.counts(Label.INTERNAL) == (2, 3, 1, number)
    found = snapshot.lexical.search(tokenize(f"version {number} shared"), snapshot.candidates(Call(READER)))
    assert found.rows.tolist() == rows
    return [number]


def _answers(library: Library) -> tuple[object, ...]:
    snapshot = library.snapshot()
    candidates = snapshot.candidates(Call(READER))
    words = snapshot.lexical.search(tokenize("version shared 5"), candidates)
    assert snapshot.vectors is not None
    meant = snapshot.vectors.search(HashEmbedder().embed_query("version"), candidates, 3, snapshot.tie_key)
    return (
        snapshot.snapshot_id(READER),
        snapshot.coverage(candidates),
        words.rows.tolist(),
        words.scores.tolist(),
        meant.rows.tolist(),
        meant.scores.tolist(),
    )
