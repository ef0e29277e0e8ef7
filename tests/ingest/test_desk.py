from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from groundwire_server.errors import Aborted, ErrorReason, InvalidRequest
from groundwire_server.ingest import (
    DocumentHead,
    DocumentRules,
    FactIngestRules,
    IngestDesk,
    IngestLimits,
    IngestOpening,
)
from groundwire_server.library import Library
from groundwire_server.store import StoreWriter
from tests.ingest.support import INGEST, OTHER_INGEST, desk_for, make_library

RULES = DocumentRules
OPENING = IngestOpening(INGEST)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return make_library(tmp_path)


def test_an_ingest_is_open_once_at_a_time(library: Library) -> None:
    desk = desk_for(library)
    with desk.open_documents(library, OPENING, RULES):
        with pytest.raises(Aborted) as refused:
            desk.open_documents(library, IngestOpening(INGEST.upper()), RULES)
        assert refused.value.reason is ErrorReason.INGEST_ID_IN_USE
        assert refused.value.details == {"ingest_id": INGEST}
    with desk.open_documents(library, OPENING, RULES):
        pass


def test_a_late_close_lets_go_of_its_own_hold_alone(library: Library) -> None:
    desk = desk_for(library)
    first = desk.open_documents(library, OPENING, RULES)
    first.close()
    with desk.open_documents(library, OPENING, RULES):
        first.close()
        with pytest.raises(Aborted):
            desk.open_documents(library, OPENING, RULES)


def test_a_failed_opening_holds_nothing(library: Library) -> None:
    desk = desk_for(library)
    with pytest.raises(InvalidRequest):
        desk.open_documents(library, IngestOpening(INGEST, resume_after_seq=3), RULES)
    with desk.open_documents(library, OPENING, RULES):
        pass


def test_an_ingest_belongs_to_its_library(tmp_path: Path) -> None:
    one, two = make_library(tmp_path, "one"), make_library(tmp_path, "two")
    desk = desk_for(one, two)
    with desk.open_documents(one, OPENING, RULES) as ingest:
        ingest.feed(1, DocumentHead("a.txt"), b"a", True)
        ingest.flush()
    with pytest.raises(Aborted, match="another library") as refused:
        desk.open_documents(two, OPENING, RULES)
    assert refused.value.reason is ErrorReason.INGEST_ID_IN_USE


def test_an_ingest_of_documents_is_none_of_facts(library: Library) -> None:
    desk = desk_for(library)
    with desk.open_documents(library, OPENING, RULES) as ingest:
        ingest.finish(0)
    with pytest.raises(Aborted, match="documents"):
        desk.open_facts(library, OPENING, FactIngestRules)


def test_an_ingest_is_forgotten_when_nobody_went_on_with_it(library: Library) -> None:
    moments = [datetime.now(UTC)]
    desk = IngestDesk(lambda: [library], IngestLimits(resume_window=timedelta(days=2)), now=lambda: moments[-1])
    with desk.open_documents(library, OPENING, RULES) as ingest:
        ingest.feed(1, DocumentHead("a.txt"), b"a", False)
        ingest.flush()
    for days, known in ((1, True), (3, False)):
        moments.append(moments[0] + timedelta(days=days))
        with desk.open_documents(library, IngestOpening(OTHER_INGEST), RULES):
            assert (library.store.reader().ingest(INGEST) is not None) is known
    assert library.store.reader().spooled(INGEST) == b""
    with desk.open_documents(library, OPENING, RULES) as ingest:
        assert ingest.durable_seq == 0


def test_one_old_ingest_costs_no_more_than_one_look_an_hour(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[None] = []
    writing = library.writing

    def counted() -> AbstractContextManager[StoreWriter]:
        writes.append(None)
        return writing()

    monkeypatch.setattr(library, "writing", counted)
    desk = desk_for(library)
    for _ in range(5):
        with desk.open_documents(library, OPENING, RULES):
            pass
    assert len(writes) == 1


@pytest.mark.parametrize(
    ("ingest_id", "reason"),
    [
        ("", ErrorReason.VALUE_REQUIRED),
        ("abc", ErrorReason.VALUE_MALFORMED),
        (f" {INGEST}", ErrorReason.VALUE_MALFORMED),
        ("１" * 8 + INGEST[8:], ErrorReason.VALUE_MALFORMED),
    ],
)
def test_an_id_that_is_no_uuid_is_refused(library: Library, ingest_id: str, reason: ErrorReason) -> None:
    with pytest.raises(InvalidRequest) as refused:
        desk_for(library).open_documents(library, IngestOpening(ingest_id), RULES)
    (violation,) = refused.value.violations
    assert (violation.field, violation.reason) == ("start.ingest_id", reason)
