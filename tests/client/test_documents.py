"""Stored documents, figures and relations over a socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

import groundwire
from groundwire.v1 import admin_pb2, evidence_pb2, metric_pb2
from tests.client.both import Connect
from tests.client.serving import serving


class Pages:
    """Gives pages of a list, named by their tokens; remembers what was asked."""

    def __init__(self, response: Any, field: str, *pages: list[Any]) -> None:
        self.asked: list[Any] = []
        self._response = response
        self._field = field
        self._pages = pages

    def __call__(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.asked.append(type(request).FromString(request.SerializeToString()))
        place = int(request.page_token or "0")
        following = str(place + 1) if place + 1 < len(self._pages) else ""
        return self._response(**{self._field: self._pages[place]}, next_page_token=following)


def test_documents_come_page_by_page_as_they_are_asked_for(connect: Connect) -> None:
    names = [["a", "b"], [], ["c"]]
    pages = Pages(
        admin_pb2.ListDocumentsResponse,
        "documents",
        *([{"doc_id": name, "revision": 1, "active": True} for name in page] for page in names),
    )
    with serving(ListDocuments=pages) as address, connect(address) as client:
        documents = client.list_documents(library="lib", prefix="x/", include_withdrawn=True)
        assert pages.asked == []
        assert next(documents) == groundwire.DocumentRevision("a", 1, active=True)
        assert len(pages.asked) == 1
        assert [document.doc_id for document in documents] == ["b", "c"]
    assert [request.page_token for request in pages.asked] == ["", "1", "2"]
    for request in pages.asked:
        assert (request.library_id, request.doc_id_prefix, request.include_withdrawn) == ("lib", "x/", True)


def test_a_server_that_gives_one_page_for_ever_is_found_out(connect: Connect) -> None:
    def stuck(request: Any, context: grpc.ServicerContext) -> Any:
        return admin_pb2.ListRevisionsResponse(revisions=[{"revision": 1}], next_page_token="again")

    with serving(ListRevisions=stuck) as address, connect(address) as client:
        revisions = client.list_revisions("a")
        assert [next(revisions).revision, next(revisions).revision] == [1, 1]
        with pytest.raises(groundwire.BrokenStream, match="same page"):
            next(revisions)


def test_a_page_that_fails_is_an_error_in_its_place(connect: Connect) -> None:
    def second_fails(request: Any, context: grpc.ServicerContext) -> Any:
        if request.page_token:
            context.abort(grpc.StatusCode.UNAVAILABLE, "gone")
        return admin_pb2.ListRelationsResponse(relations=[{"edge": {"edge_id": "e"}}], next_page_token="2")

    with serving(ListRelations=second_fails) as address, connect(address) as client:
        relations = client.list_relations(relation="owns", source_doc="a.pdf")
        assert next(relations).edge.edge_id == "e"
        with pytest.raises(groundwire.GroundwireError) as caught:
            next(relations)
    assert caught.value.status == "UNAVAILABLE"


def test_figures_are_listed_with_their_source(connect: Connect) -> None:
    fact = evidence_pb2.MetricFact(metric="POP", entity="JP", period="2023", value="1", unit="PERSONS")
    row = admin_pb2.ListedFact(fact=fact, lineage={"library_id": "lib", "doc_id": "a.csv"})
    pages = Pages(admin_pb2.ListFactsResponse, "facts", [row])
    with serving(ListFacts=pages) as address, connect(address) as client:
        (listed,) = client.list_facts(
            library="lib", metric="population", entity="Japan", review_status="pending", include_versions=True
        )
    assert (listed.fact.metric, listed.lineage.doc_id) == ("POP", "a.csv")
    (request,) = pages.asked
    assert (request.metric, request.entity, request.include_versions) == ("population", "Japan", True)
    assert request.review_status == evidence_pb2.REVIEW_STATUS_PENDING


def test_terms_are_described(connect: Connect) -> None:
    row = metric_pb2.TermDescription(library_id="lib", term={"code": "POP"}, fact_count=3, periods=["2023"])
    pages = Pages(metric_pb2.DescribeMetricsResponse, "terms", [row], [])
    with serving(DescribeMetrics=pages) as address, connect(address) as client:
        (term,) = client.describe_metrics(libraries=["lib"], kinds=["metric"], metric="m", entity="e")
        with pytest.raises(TypeError, match=r"libraries is a list: \['lib'\]"):
            client.describe_metrics(libraries="lib")
        with pytest.raises(TypeError, match=r"several are wanted: \['metric'\]"):
            client.describe_metrics(kinds="metric")
    assert (term.term.code, term.fact_count, term.periods) == ("POP", 3, ("2023",))
    assert (list(pages.asked[0].library_ids), list(pages.asked[0].kinds)) == (["lib"], [1])


def test_a_document_is_joined_from_its_frames(connect: Connect) -> None:
    frame = admin_pb2.GetDocumentResponse
    seen: list[admin_pb2.GetDocumentRequest] = []

    def method(request: admin_pb2.GetDocumentRequest, context: grpc.ServicerContext) -> Iterator[Any]:
        seen.append(request)
        yield frame(revision={"doc_id": "a", "revision": 2, "text_chars": 4})
        yield frame(text="ab")
        yield frame()  # of a kind that this client does not know
        yield frame(text="𝄞c")
        yield frame(chunks={"chunks": [{"chunk_id": "c1", "span": {"end": 2}}]})
        yield frame(chunks={"chunks": [{"chunk_id": "c2", "span": {"start": 2, "end": 4}, "embedded": True}]})

    with serving(GetDocument=method) as address, connect(address) as client:
        document = client.get_document("a", library="lib", revision=2, include_text=True, include_chunks=True)
    assert document.revision.text_chars == len(document.text)
    assert document.text == "ab𝄞c"
    assert [groundwire.slice_text(document.text, chunk.span) for chunk in document.chunks] == ["ab", "𝄞c"]
    assert [chunk.embedded for chunk in document.chunks] == [False, True]
    assert (seen[0].revision, seen[0].include_text, seen[0].include_chunks) == (2, True, True)


def test_a_document_without_its_revision_is_broken(connect: Connect) -> None:
    with (
        serving(GetDocument=lambda request, context: iter(())) as address,
        connect(address) as client,
        pytest.raises(groundwire.BrokenStream, match="without the document"),
    ):
        client.get_document("a")


def test_changes_come_one_by_one_and_may_be_none(connect: Connect) -> None:
    change = {"old_span": {"start": 1, "end": 2}, "new_span": {"start": 1, "end": 1}, "old_text": "b"}

    def method(request: admin_pb2.DiffRevisionsRequest, context: grpc.ServicerContext) -> Iterator[Any]:
        if request.old_revision:
            yield admin_pb2.DiffRevisionsResponse(changes=[change, change])
            yield admin_pb2.DiffRevisionsResponse(changes=[change])

    with serving(DiffRevisions=method) as address, connect(address) as client:
        changes = list(client.diff_revisions("a", old_revision=1, new_revision=3))
        assert list(client.diff_revisions("a")) == []
    assert changes == [groundwire.TextChange(groundwire.Span(1, 2), groundwire.Span(1, 1), "b")] * 3
