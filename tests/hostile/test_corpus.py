"""Every hostile file through a real server: a typed outcome each, the good ones beside them stored, the server well."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import errors_pb2, ingest_pb2, narrative_pb2
from groundwire_server.errors import DocumentRefused
from groundwire_server.readers import READERS, RefusedPart, read_document
from tests.hostile.case import LARGE, Hostile
from tests.hostile.corpus import CORPUS, GROUPS, good_files
from tests.rpc.house import Documents, House, finish, house, snippets, start

_PART_BYTES = 256 * 1024
_PREFIX = "ERROR_REASON_"
_LONG = ("bomb.jsonl.gz", "bomb-in-pieces.xlsx", "heads.csv", "headers.eml", "swollen.pdf")
# Nobody's text: the contents of a file of the machine, and what only an entity that was put in would say.
_LEAKS = ("root:x:0:0", "hahahaha")
_MOST_KIB = 3 * 1024 * 1024
_LIBRARY_WORDS = re.compile(r"Traceback|Error:|Exception|\bat 0x|lxml|pdfium|zipfile|\.py\b")


@dataclass(frozen=True)
class Ran:
    """What came of one stream of files: outcomes by file, what is found then, the server's log, memory that was taken.

    own_kib, readers_kib: by how much this process grew, and the most that a process that reads for it had.
    """

    outcomes: dict[str, list[Any]]
    summary: Any
    found: dict[str, str]
    faults: list[dict[str, Any]]
    own_kib: int
    readers_kib: int


def stream(data: Path, cases: Sequence[Hostile]) -> Ran:
    """Hostile and good files in turn through a server."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    files = [(case.name, case.make()) for case in cases]
    good = list(good_files().items())
    for number, each in enumerate(good):
        files.insert(number * (len(files) // len(good)), each)
    with house(data) as here:
        last: dict[int, str] = {}
        parts = list(_parts(files, last))
        frames = list(here.ingest.IngestDocuments(iter([start(Documents), *parts, finish(Documents, len(parts))])))
        outcomes: dict[str, list[Any]] = {}
        for frame in frames:
            if frame.HasField("outcome"):
                outcomes.setdefault(last[frame.outcome.seq], []).append(frame.outcome)
        return Ran(
            outcomes,
            frames[-1].summary,
            _finds(here, "good text page line body message") | _finds(here, "root daemon nologin hahahaha"),
            [line for line in here.log() if line["event"] == "fault"],
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before,
            resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
        )


def _parts(files: list[tuple[str, bytes]], last: dict[int, str]) -> Iterator[Any]:
    """The parts of all files; `last` takes the number of each file's last one."""
    seq = 0
    for name, raw in files:
        pieces = [raw[at : at + _PART_BYTES] for at in range(0, len(raw), _PART_BYTES)] or [b""]
        for number, piece in enumerate(pieces):
            seq += 1
            part = ingest_pb2.DocumentPart(seq=seq, content=piece, last_part=number == len(pieces) - 1)
            if not number:
                part.head.doc_id = name
            yield Documents(part=part)
        last[seq] = name


def _finds(here: House, words: str) -> dict[str, str]:
    """Passages by document."""
    request = narrative_pb2.NarrativeRetrieveRequest(query=words, mode=narrative_pb2.RETRIEVAL_MODE_LEXICAL, top_k=100)
    return {each.lineage.doc_id: each.text.text for each in snippets(here.narrative.NarrativeRetrieve(request))}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Hostile], Ran]:
    """What came of the stream that a file was in; each group of files has one, sent when it is first asked for."""
    done: dict[int, Ran] = {}

    def ran_with(case: Hostile) -> Ran:
        number = next(number for number, group in enumerate(GROUPS) if case in group)
        if number not in done:
            done[number] = stream(Path(tmp_path_factory.mktemp("hostile")) / "data", GROUPS[number])
        return done[number]

    return ran_with


@pytest.mark.slow
@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_a_hostile_file_has_a_typed_outcome(ran: Callable[[Hostile], Ran], case: Hostile) -> None:
    check_outcome(ran(case), case)


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS, ids=["texts", "packed", "messages", "pdfs"])
def test_the_server_is_well_and_the_good_files_are_there(
    ran: Callable[[Hostile], Ran], group: Sequence[Hostile]
) -> None:
    check_server(ran(group[0]))
    assert ran(group[0]).summary.failed >= len(group) // 4


def test_a_few_of_each_kind(tmp_path: Path) -> None:
    """The short form of what stands above."""
    cases = [case for case in CORPUS[::11] if case.name not in _LONG]
    ran = stream(tmp_path / "data", cases)
    for case in cases:
        check_outcome(ran, case)
    check_server(ran)


def check_outcome(ran: Ran, case: Hostile) -> None:
    """One typed outcome, in words of our own."""
    outcomes = ran.outcomes[case.name]
    assert outcomes
    for outcome in outcomes:
        for warning in outcome.warnings:
            assert warning.kind
            assert not _LIBRARY_WORDS.search(warning.message)
        if not outcome.HasField("error"):
            assert None in case.becomes, "it was stored"
            assert outcome.revision > 0
            continue
        reason = errors_pb2.ErrorReason.Name(outcome.error.reason).removeprefix(_PREFIX)
        assert reason in {each.name for each in case.becomes if each is not None}, outcome.error.message
        assert case.name in outcome.error.message
        assert not _LIBRARY_WORDS.search(outcome.error.message)


def check_server(ran: Ran) -> None:
    """Good files are stored and found, nothing of the machine got in, no fault, memory within bounds.

    The bound is generous: what the files swell to, if anybody lets them, is many times that.
    """
    for name in good_files():
        (outcome,) = ran.outcomes[name]
        assert not outcome.HasField("error"), outcome
        assert outcome.revision == 1
        assert not outcome.warnings
    assert {"good.txt", "good.md", "good-line", "good.html", "good.eml"} <= set(ran.found)
    assert not [text for text in ran.found.values() if any(leak in text for leak in _LEAKS)]
    assert not ran.faults
    assert ran.own_kib < _MOST_KIB
    assert ran.readers_kib < _MOST_KIB


@pytest.mark.slow
@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_each_refusal_names_file_reason_and_hint(ran: Callable[[Hostile], Ran], case: Hostile) -> None:
    """And the client is told just that."""
    told = [outcome.error.message for outcome in ran(case).outcomes[case.name] if outcome.HasField("error")]
    try:
        outputs = read_document(case.name, case.make())
        refusals = [output.error for output in outputs if isinstance(output, RefusedPart)]
    except DocumentRefused as refused:
        refusals = [refused]
    for refusal in refusals:
        assert refusal.message.startswith(f"{case.name}")
        assert refusal.reason in case.becomes
        assert refusal.hint
        assert f"{refusal.message} {refusal.hint}" in told
        assert refusal.reason is not LARGE or any(value.isdigit() for value in refusal.details.values())


def test_the_corpus_is_large_and_has_every_kind() -> None:
    assert len(CORPUS) >= 60
    assert len({case.name for case in CORPUS}) == len(CORPUS)
    endings = {f".{case.name.rpartition('.')[2]}" for case in CORPUS}
    assert {min(reader.suffixes, key=len) for reader in READERS} - endings <= {".md", ".htm", ".tab"}
