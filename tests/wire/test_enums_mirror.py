"""The enums that server code speaks are those of the contract, number by number."""

from __future__ import annotations

from enum import Enum

import pytest

from groundwire.v1 import (
    admin_pb2,
    errors_pb2,
    evidence_pb2,
    graph_pb2,
    ingest_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    stream_pb2,
    tools_pb2,
)
from groundwire_server import citation, evidence, glossary, graph, jobs, metric, narrative, router
from groundwire_server.errors import ErrorReason

PAIRS = [
    (ErrorReason, errors_pb2.ErrorReason),
    (evidence.AttributeType, admin_pb2.AttributeType),
    (evidence.DegradationKind, stream_pb2.DegradationKind),
    (evidence.EndReason, stream_pb2.EndReason),
    (evidence.LossReason, stream_pb2.LossReason),
    (evidence.RefusalReason, stream_pb2.RefusalReason),
    (evidence.Trust, evidence_pb2.Trust),
    (evidence.ReviewStatus, evidence_pb2.ReviewStatus),
    (evidence.Operation, evidence_pb2.Operation),
    (evidence.Label, ingest_pb2.Label),
    (narrative.RetrievalMode, narrative_pb2.RetrievalMode),
    (metric.VersionPolicy, metric_pb2.VersionPolicy),
    (glossary.FindingKind, admin_pb2.GlossaryFindingKind),
    (graph.Direction, graph_pb2.Direction),
    (jobs.IndexPart, admin_pb2.IndexPart),
    (jobs.JobKind, admin_pb2.JobKind),
    (jobs.JobState, admin_pb2.JobState),
    (router.Route, router_pb2.Route),
    (router.Complexity, router_pb2.Complexity),
    (router.TurnRole, router_pb2.TurnRole),
    (router.AnswerWriter, router_pb2.AnswerWriter),
    (router.AnswerOrigin, router_pb2.AnswerOrigin),
    (citation.CitationVerdict, tools_pb2.CitationVerdict),
]


def _snake(camel: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in camel).strip("_").upper()


@pytest.mark.parametrize(("ours", "contract"), PAIRS, ids=lambda each: getattr(each, "__name__", ""))
def test_same_names_and_numbers(ours: type[Enum], contract: object) -> None:
    descriptor = contract.DESCRIPTOR  # type: ignore[attr-defined]
    prefix = _snake(descriptor.name) + "_"
    numbered = {value.name.removeprefix(prefix): value.number for value in descriptor.values if value.number != 0}
    assert {member.name: member.value for member in ours} == numbered


def test_the_number_of_access_lists_is_free() -> None:
    head = ingest_pb2.DocumentHead.DESCRIPTOR
    assert 10 not in head.fields_by_number
