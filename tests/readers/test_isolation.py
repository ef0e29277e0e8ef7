"""Files read in processes of their own: what crashes, hangs or swells costs its process and nothing else."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers import Document, ReadOptions, Source, read_document
from groundwire_server.readers import isolation as isolation_module
from groundwire_server.readers.isolation import ReaderProcesses

HTML = "text/html"
HUGE = b"<p>a" * 3_000_000


@pytest.fixture
def processes() -> ReaderProcesses:
    made = ReaderProcesses(2)
    yield made
    made.close()


def read(processes: ReaderProcesses, raw: bytes, options: ReadOptions | None = None) -> str:
    (document,) = processes.read(HTML, Source("a.html", raw, options=options or ReadOptions()))
    assert isinstance(document, Document)
    return document.text


def refusal(processes: ReaderProcesses, raw: bytes, options: ReadOptions | None = None) -> DocumentRefused:
    with pytest.raises(DocumentRefused) as refused:
        read(processes, raw, options)
    return refused.value


def test_a_file_is_read_as_in_this_process(processes: ReaderProcesses) -> None:
    raw = "<title>T</title><h1>見出し</h1><p>売上高 😀</p>".encode()
    (here,) = isolation_module_reader().read(Source("a.html", raw))
    (there,) = processes.read(HTML, Source("a.html", raw))
    assert isinstance(here, Document)
    assert isinstance(there, Document)
    assert (there.text, there.title, there.raw_sha256) == (here.text, here.title, here.raw_sha256)
    assert [axis.key for axis in there.places.axes] == [axis.key for axis in here.places.axes]


def isolation_module_reader():  # type: ignore[no-untyped-def]
    from groundwire_server.readers import HtmlReader

    return HtmlReader()


def test_one_process_reads_many_files(processes: ReaderProcesses) -> None:
    read(processes, b"<p>one")
    (child,) = processes._idle
    assert [read(processes, b"<p>%d" % number) for number in range(5)] == ["0", "1", "2", "3", "4"]
    assert processes._idle == [child]
    assert child.files == 6


def test_what_a_reader_refuses_is_refused_and_the_process_goes_on(processes: ReaderProcesses) -> None:
    assert refusal(processes, b"<p> ").reason is ErrorReason.DOCUMENT_NO_TEXT
    (child,) = processes._idle
    assert read(processes, b"<p>x") == "x"
    assert processes._idle == [child]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of this kind")
def test_a_file_over_its_time_costs_its_process_and_no_other_file(processes: ReaderProcesses) -> None:
    refused = refusal(processes, HUGE, ReadOptions(max_seconds=1))
    assert (refused.reason, refused.details) == (ErrorReason.DOCUMENT_TOO_LARGE, {"max_read_seconds": "1"})
    assert processes._idle == []
    assert read(processes, b"<p>x") == "x"


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of this kind")
def test_a_file_over_its_memory_is_too_large(processes: ReaderProcesses) -> None:
    refused = refusal(processes, HUGE, ReadOptions(max_memory_bytes=320 << 20))
    assert refused.reason is ErrorReason.DOCUMENT_TOO_LARGE
    assert refused.details == {"max_read_memory_bytes": str(320 << 20)}
    assert read(processes, b"<p>x") == "x"


def test_a_process_that_died_while_idle_is_replaced(processes: ReaderProcesses) -> None:
    read(processes, b"<p>x")
    (child,) = processes._idle
    child._process.kill()
    child._process.wait()
    assert read(processes, b"<p>y") == "y"


def test_a_crash_is_an_error_of_the_file(processes: ReaderProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(child: isolation_module._Child, *arguments: object) -> None:
        child.files += 1
        child._process.kill()

    with monkeypatch.context() as patched:
        patched.setattr(isolation_module._Child, "ask", die)
        refused = refusal(processes, b"<p>x")
    assert refused.reason is ErrorReason.DOCUMENT_BROKEN
    assert "broke down" in refused.message
    assert read(processes, b"<p>x") == "x"


@pytest.mark.parametrize(
    "answer", [("outputs", b"no json"), ("outputs", b'[{"text": 1}]'), ("refused", b"[]"), ("?", b"")]
)
def test_an_answer_that_is_none_is_an_error_of_the_file(
    processes: ReaderProcesses, monkeypatch: pytest.MonkeyPatch, answer: tuple[str, bytes]
) -> None:
    monkeypatch.setattr(isolation_module._Child, "ask", lambda child, *arguments: answer)
    assert refusal(processes, b"<p>x").reason is ErrorReason.DOCUMENT_BROKEN


def test_several_threads_read_at_once(processes: ReaderProcesses) -> None:
    with ThreadPoolExecutor(6) as pool:
        texts = list(pool.map(lambda number: read(processes, b"<p>%d" % number), range(40)))
    assert texts == [str(number) for number in range(40)]
    assert len(processes._idle) <= 2


def test_a_reader_that_is_isolated_is_reached_through_its_process() -> None:
    (document,) = read_document("a.html", b"<p>x")
    assert isinstance(document, Document)
    assert document.text == "x"
