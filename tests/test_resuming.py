"""The states that a stream goes on at, by the engine alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_server.dense import HashEmbedder
from groundwire_server.engine.resuming import state_of, still_unreachable
from groundwire_server.errors import Aborted, Cause, ErrorReason, Unavailable, UnknownResource
from groundwire_server.evidence import Label, Pin, Principal
from groundwire_server.library import Library
from tests.support.libraries import Doc, embed_all, make_library

READER = Principal("reader", Label.INTERNAL)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = make_library(tmp_path, [Doc("a.md", "apples")])
    yield made
    made.close()


def found(library: Library, pin: Pin, *, by_meaning: bool = False, embedder_loads: bool = False) -> object:
    return state_of(pin, READER, lambda _: library, by_meaning=by_meaning, embedder_loads=embedder_loads)


def test_a_state_without_its_vectors_is_waited_for_while_the_embedder_loads(library: Library) -> None:
    library.use_embedder(HashEmbedder())
    embed_all(library, HashEmbedder())
    pin = library.snapshot().pin(READER)
    library.use_embedder(None)
    with pytest.raises(Unavailable) as waits:
        found(library, pin, by_meaning=True, embedder_loads=True)
    assert waits.value.reason is ErrorReason.NOT_SERVING
    with pytest.raises(Aborted):
        found(library, pin, by_meaning=True)
    by_words = found(library, pin)
    assert by_words.snapshot_id(READER) == pin.snapshot_id  # type: ignore[attr-defined]
    assert by_words.vectors is None  # type: ignore[attr-defined]


def test_a_library_that_is_not_there_or_does_not_answer(library: Library) -> None:
    pin = library.snapshot().pin(READER)

    def unknown(_: str) -> Library:
        raise UnknownResource(ErrorReason.UNKNOWN_LIBRARY, "no")

    def silent(_: str) -> Library:
        raise Unavailable(ErrorReason.LIBRARIES_UNREACHABLE, "damaged")

    with pytest.raises(Aborted) as gone:
        state_of(pin, READER, unknown, by_meaning=False, embedder_loads=False)
    assert gone.value.details == {"library_id": "default"}
    with pytest.raises(Unavailable) as lost:
        state_of(pin, READER, silent, by_meaning=False, embedder_loads=False)
    assert lost.value.reason is ErrorReason.LIBRARIES_UNREACHABLE


def test_what_did_not_answer_has_no_part_in_the_rest_either(library: Library) -> None:
    lost = still_unreachable(Pin("default"), lambda _: library, "finance")
    assert (lost.library_id, lost.description) == ("default", "finance")
    assert lost.cause.reason is ErrorReason.LIBRARIES_UNREACHABLE
    assert isinstance(lost.cause, Cause)


def test_a_state_that_never_was(library: Library) -> None:
    pin = library.snapshot().pin(READER)
    for wrong in (
        Pin("default", 10**12, "f" * 32, "f" * 32),
        Pin("default", 0, "f" * 32, "f" * 32),
        Pin("default", pin.generation, "f" * 32, pin.content_id[::-1]),
    ):
        with pytest.raises(Aborted):
            found(library, wrong)
