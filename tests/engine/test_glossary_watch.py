"""Glossaries in the data folder are taken in while the server runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_server.engine.glossary_watch import GlossaryWatch
from groundwire_server.glossary import Glossary, MetricTerm
from groundwire_server.library import Library, LibraryConfig


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "lib", "lib", secret=b"s" * 32, config=LibraryConfig(embedder="none"))
    library.set_glossary(Glossary([MetricTerm("A")]))
    yield library
    library.close()


def test_what_is_written_is_taken_in_by_itself(library: Library) -> None:
    """With the clock of the watch, at which the test does not look."""
    import threading

    told = threading.Event()
    watch = GlossaryWatch(lambda: [library], lambda _: told.set())
    (library.folder / "glossary.toml").write_text('[[metric]]\ncode = "B"\n')
    assert told.wait(60)
    assert list(library.snapshot().glossary.metrics) == ["B"]
    watch.close()


def test_what_does_not_hold_is_logged_once(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    watch = GlossaryWatch(lambda: [library], lambda _: pytest.fail("it was taken in"))
    watch.close()
    caplog.set_level(logging.INFO)
    (library.folder / "glossary.toml").write_text("[[metric]]\n")
    for _ in range(4):
        watch.look()
    assert [record.getMessage() for record in caplog.records] == [
        "library lib keeps its glossary; the file does not hold, as `groundwire glossary lint` says"
    ]


def test_a_library_that_is_closed_ends_nothing(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    watch = GlossaryWatch(lambda: [library], lambda _: None)
    watch.close()
    (library.folder / "glossary.toml").write_text('[[metric]]\ncode = "B"\n')
    library.close()
    for _ in range(2):
        watch.look()
    assert [record.getMessage() for record in caplog.records] == ["library lib keeps its glossary: NOT_SERVING"]


def test_what_cannot_be_read_keeps_the_glossary_and_the_watch(
    library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    watch = GlossaryWatch(lambda: [library], lambda _: None)
    watch.close()
    file = library.folder / "glossary.toml"
    file.unlink()
    file.mkdir()
    for _ in range(3):
        watch.look()
    assert [record.getMessage() for record in caplog.records] == [
        "library lib keeps its glossary; the file does not hold, as `groundwire glossary lint` says"
    ]
    assert list(library.snapshot().glossary.metrics) == ["A"]
    file.rmdir()
    file.write_text('[[metric]]\ncode = "B"\n')
    for _ in range(2):
        watch.look()
    assert list(library.snapshot().glossary.metrics) == ["B"]
