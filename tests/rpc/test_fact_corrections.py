"""Figures that a person corrects or takes back, over the wire: who and why, under the same label, in every reading."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import errors_pb2, evidence_pb2, ingest_pb2, metric_pb2
from tests.rpc.house import House, fact, house, snippets

SECRET = ingest_pb2.LABEL_CONFIDENTIAL
BY = {"author": "R. Mori", "reason": "a digit was misread"}


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        yield running


def put(here: House, *records: ingest_pb2.FactRecord) -> tuple[int, int, int]:
    summary = here.store_facts(ingest_pb2.FactRecords(facts=records))[-1].summary
    return summary.stored, summary.unchanged, summary.failed


def ask(here: House, versions: int = metric_pb2.VERSION_POLICY_LATEST) -> tuple[str, list[Any]]:
    query = metric_pb2.MetricQuery(metric="REVENUE", entity="ACME", period="2023")
    frames = list(here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[query], versions=versions)))
    (outcome,) = [each for frame in frames for each in frame.outcomes.outcomes]
    return outcome.WhichOneof("outcome"), [each.fact for each in snippets(frames)]


def test_a_correction_is_a_version_with_who_and_why(here: House) -> None:
    put(here, fact("REVENUE", "ACME", "2023", "100", unit="USD"))
    assert put(here, fact("REVENUE", "ACME", "2023", "101", unit="USD", **BY)) == (1, 0, 0)
    _, (latest,) = ask(here)
    assert (latest.value, latest.version.version, latest.version.latest_version) == ("101", 2, 2)
    assert (latest.version.author, latest.version.reason) == (BY["author"], BY["reason"])
    _, every = ask(here, metric_pb2.VERSION_POLICY_ALL)
    assert [each.value for each in every] == ["100", "101"]
    _, (first,) = ask(here, metric_pb2.VERSION_POLICY_AS_REPORTED)
    assert first.value == "100"


def test_a_correction_of_a_hidden_figure_stays_hidden(here: House) -> None:
    put(here, fact("REVENUE", "ACME", "2023", "100", unit="USD", label=SECRET))
    put(here, fact("REVENUE", "ACME", "2023", "98765432", unit="USD", source_doc="other.csv", label=SECRET))
    before = ask(here)
    # Who may not see it does not learn that it is there: what he says is a figure of its own.
    assert put(here, fact("REVENUE", "ACME", "2023", "7", unit="USD", source_doc="third.csv", **BY)) == (1, 0, 0)
    assert before == ("unrecognized_param", [])
    kind, figures = ask(here)
    assert (kind, [each.value for each in figures]) == ("found", ["7"])
    assert not figures[0].conflicting


def test_a_figure_is_taken_back_whole_and_can_come_again(here: House) -> None:
    put(
        here,
        fact("REVENUE", "ACME", "2023", "100", unit="USD"),
        fact("REVENUE", "ACME", "2023", "101", unit="USD", locator="row=2"),
        fact("REVENUE", "ACME", "2023", "102", unit="USD", source_doc="other.csv"),
        fact("REVENUE", "ACME", "2022", "99", unit="USD"),
    )
    back = fact("REVENUE", "ACME", "2023", "", unit="USD", withdraw=True, locator="")
    assert put(here, back) == (1, 0, 0)
    assert put(here, back) == (0, 1, 0)
    _, figures = ask(here)
    assert [each.value for each in figures] == ["102"]
    assert put(here, fact("REVENUE", "ACME", "2023", "", unit="USD", source_doc="other.csv", withdraw=True)) == (
        1,
        0,
        0,
    )
    assert ask(here) == ("not_found", [])
    assert put(here, fact("REVENUE", "ACME", "2023", "100", unit="USD")) == (1, 0, 0)
    _, (again,) = ask(here)
    assert (again.value, again.HasField("version")) == ("100", False)


def test_a_pending_figure_is_turned_down_and_a_pending_reading_takes_nothing_back(here: House) -> None:
    pending = {"review_status": evidence_pb2.REVIEW_STATUS_PENDING}
    put(here, fact("REVENUE", "ACME", "2023", "100", unit="USD"))
    assert put(here, fact("REVENUE", "ACME", "2023", "100", unit="USD", **pending)) == (0, 1, 0)
    assert put(here, fact("REVENUE", "ACME", "2023", "555", unit="USD", source_doc="draft.csv", **pending)) == (1, 0, 0)
    _, figures = ask(here)
    assert [(each.value, each.conflicting) for each in figures] == [("100", False)]
    assert put(here, fact("REVENUE", "ACME", "2023", "", unit="USD", source_doc="draft.csv", withdraw=True)) == (
        1,
        0,
        0,
    )
    assert ask(here)[1][0].value == "100"


@pytest.mark.parametrize(
    ("record", "column", "reason"),
    [
        (fact("REVENUE", "ACME", "2023", "5", withdraw=True), "value", "CONTRADICTION"),
        (fact("REVENUE", "ACME", "soon", "", withdraw=True), "period", "FACT_PERIOD_MALFORMED"),
        (fact("REVENUE", "ACME", "2023", "", withdraw=True, source_doc=""), "source_doc", "FACT_FIELD_MISSING"),
    ],
)
def test_what_cannot_be_taken_back_is_refused(
    here: House, record: ingest_pb2.FactRecord, column: str, reason: str
) -> None:
    frames = here.store_facts(ingest_pb2.FactRecords(facts=[record]))
    (row,) = [row for frame in frames for row in frame.rejected.rows]
    assert row.column == column
    assert frames[-1].summary.failed == 1
    assert errors_pb2.ErrorReason.Name(row.reason) == f"ERROR_REASON_{reason}"
