"""Several files read at once: each in its own time, all in their order."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from groundwire_server.ingest.reading import ReadAhead

PDF = b"%PDF-1.7\n"


def test_files_of_other_processes_are_read_side_by_side() -> None:
    """Either function ends only when both have begun."""
    meeting = threading.Barrier(2)

    def read(number: int) -> int:
        meeting.wait(timeout=60)
        return number

    ahead = ReadAhead(2)
    results = [ahead.read(f"{number}.pdf", PDF, "", partial(read, number)) for number in range(2)]
    assert [result.get() for result in results] == [0, 1]
    assert [result.get() for result in results] == [0, 1]


@pytest.mark.parametrize(("threads", "doc_id"), [(4, "a.md"), (4, "a.xyz"), (1, "a.pdf")])
def test_all_others_are_read_where_they_come(threads: int, doc_id: str) -> None:
    result = ReadAhead(threads).read(doc_id, b"apples", "", threading.get_ident)
    assert result.get() == threading.get_ident()


def test_the_content_tells_more_than_the_name() -> None:
    assert ReadAhead(2).read("a.txt", PDF, "", threading.get_ident).get() != threading.get_ident()
    assert ReadAhead(2).read("a.pdf", PDF, "text/plain", threading.get_ident).get() == threading.get_ident()


def test_what_reading_raises_is_raised_where_it_is_asked_for() -> None:
    def fail() -> None:
        raise MemoryError

    result = ReadAhead(2).read("a.pdf", PDF, "", fail)
    with pytest.raises(MemoryError):
        result.get()
