"""Libraries and glossaries over a socket."""

from __future__ import annotations

import dataclasses
from typing import Any

import grpc

import groundwire
from groundwire.v1 import admin_pb2, glossary_pb2
from tests.client.both import Connect
from tests.client.serving import serving


def test_a_library_goes_in_and_comes_back_with_its_defaults(connect: Connect) -> None:
    def method(request: admin_pb2.SaveLibraryRequest, context: grpc.ServicerContext) -> Any:
        assert request.validate_only
        assert request.library.index.chunk_chars == 300
        assert not request.library.index.HasField("overlap_chars")
        filled = admin_pb2.SaveLibraryResponse(library=request.library)
        filled.library.index.overlap_chars = 80
        return filled

    library = groundwire.Library("lib", "about things", index=groundwire.IndexSettings(chunk_chars=300))
    with serving(SaveLibrary=method) as address, connect(address) as client:
        saved = client.save_library(library, validate_only=True).library
    assert saved.index == groundwire.IndexSettings(chunk_chars=300, overlap_chars=80)


def test_a_library_that_was_listed_can_be_changed_and_saved(connect: Connect) -> None:
    listed = admin_pb2.Library(
        library_id="lib",
        description="old",
        snapshot_id="s1",
        documents=3,
        active_chunks=4,
        facts=5,
        relations=6,
        embedding_coverage=0.5,
        attributes=[{"name": "year", "value_type": admin_pb2.ATTRIBUTE_TYPE_INTEGER}],
        index={"chunker": "whole"},
        settings=[{"name": "k1", "value": "1.2", "origin": "library"}],
    )
    seen: list[admin_pb2.SaveLibraryRequest] = []

    def save(request: admin_pb2.SaveLibraryRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        return admin_pb2.SaveLibraryResponse(library=request.library, job={"job_id": "j"})

    libraries = admin_pb2.ListLibrariesResponse(libraries=[listed])
    with (
        serving(ListLibraries=lambda request, context: libraries, SaveLibrary=save) as address,
        connect(address) as client,
    ):
        (library,) = client.list_libraries()
        update = client.save_library(dataclasses.replace(library, description="new"), if_snapshot_id="s1")
    (request,) = seen
    assert request.if_snapshot_id == "s1"
    kept = {field.name for field, _ in request.library.ListFields()}
    assert kept == {"library_id", "description", "attributes", "index", "settings"}
    assert request.library.description == "new"
    assert update.job == groundwire.Job("j")


def test_terms_are_put_and_removed_and_findings_come_back(connect: Connect) -> None:
    seen: list[admin_pb2.UpdateGlossaryRequest] = []

    def method(request: admin_pb2.UpdateGlossaryRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        term = {"kind": glossary_pb2.TERM_KIND_METRIC, "code": "POP"}
        return admin_pb2.UpdateGlossaryResponse(findings=[{"term": term, "message": "no fact"}], snapshot_id="s2")

    terms = [
        groundwire.Term(
            groundwire.TermKind.METRIC,
            "POP",
            synonyms=(groundwire.Synonym("人口", "ja"),),
            metric=groundwire.MetricDetail(unit="PERSONS", additivity=groundwire.Additivity.SUM),
        )
    ]
    gone = [groundwire.TermRef(groundwire.TermKind.DIMENSION_MEMBER, "OTHER", "segment")]
    with serving(UpdateGlossary=method) as address, connect(address) as client:
        update = client.update_glossary(terms, gone, library="lib")
    (request,) = seen
    assert request.library_id == "lib"
    assert request.put[0].WhichOneof("detail") == "metric"
    assert request.put[0].metric.additivity == glossary_pb2.ADDITIVITY_SUM
    assert request.put[0].synonyms[0].text == "人口"
    assert request.remove[0].dimension == "segment"
    assert update.findings[0].term == groundwire.TermRef(groundwire.TermKind.METRIC, "POP")
    assert update.snapshot_id == "s2"
