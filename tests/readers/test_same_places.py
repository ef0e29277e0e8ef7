"""What a reader makes is the same through the process that reads for the server, and its places through the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundwire_server.evidence import Span
from groundwire_server.readers import READERS, Document, Source, read_document
from groundwire_server.readers.places_codec import pack_places, unpack_places

FILES = Path(__file__).resolve().parent / "files"


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir() if path.name != "SOURCES.md"))
def test_a_sample_reads_the_same_everywhere(name: str) -> None:
    raw = (FILES / name).read_bytes()
    reader = next(reader for reader in READERS if name.endswith(reader.suffixes))
    (here,) = reader.read(Source(name, raw))
    (there,) = read_document(name, raw)
    assert isinstance(here, Document)
    assert isinstance(there, Document)
    assert (there.text, there.title, there.attributes) == (here.text, here.title, here.attributes)
    assert there.warnings == here.warnings
    _, kept = unpack_places(pack_places(here.body, here.places))
    for start in range(0, len(here.text), 7):
        span = Span(start, min(start + 30, len(here.text)))
        assert there.places.locate(span) == here.places.locate(span) == kept.locate(span)
        assert there.places.heading(span) == here.places.heading(span) == kept.heading(span)
