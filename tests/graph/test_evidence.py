"""Multi-hop questions: documents along relations rank with what was found, each with the path that leads there."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.citation import CitationVerdict, VerifyRequest, verify_citation
from groundwire_server.errors import FailedPrecondition
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    DegradationKind,
    Filter,
    GraphPath,
    Header,
    Label,
    Locator,
    Operator,
    Predicate,
    Snippet,
    Snippets,
    Span,
    Summary,
    TextPassage,
    Trust,
)
from groundwire_server.glossary import EntityTerm, Glossary, Synonym
from groundwire_server.graph import PageRankWalk
from groundwire_server.graph.evidence_net import Link, LinkKind, NetBuilder
from groundwire_server.graph.pagerank import GO_ON, ROUNDS, pagerank
from groundwire_server.library import Library, LibraryConfig, Snapshot
from groundwire_server.narrative import RetrievalMode, RetrievalParts, RetrievalTuning, RetrieveRequest, retrieve
from groundwire_server.security import local_principal
from groundwire_server.store import EdgeRecord
from tests.support.libraries import Doc, make_library, new_document

PARTS = RetrievalParts(graph=PageRankWalk())
DOCS = [
    Doc("film.txt", "Payment on Demand is a 1951 drama directed by Curtis Bernhardt.", "Payment on Demand"),
    Doc("man.txt", "Left home around 1940; buried at Pacific Palisades.", "Curtis Bernhardt"),
    Doc("town.txt", "A quarter between hills and sea.", "Pacific Palisades"),
    Doc("other.txt", "The director of a demand study was born in a country town.", "Demand studies"),
    Doc("ja/eiga.txt", "『羅生門の夜』は黒沢太郎が監督した映画である。", "羅生門の夜"),
    Doc("ja/hito.txt", "東北で生まれ、のちに上京した。", "黒沢太郎"),
    Doc("zh/dianying.txt", "《长河落日》由张大山执导。", "长河落日"),
    Doc("zh/ren.txt", "出生于西北的一座小城。", "张大山"),
]


def ask(
    snapshot: Snapshot | Sequence[Snapshot], query: str, *, graph: bool | None = True, top_k: int = 5, **options: Any
) -> tuple[Header, list[Snippet], list[Snippet], Summary]:
    """Header, passages, paths and summary of one question, words alone."""
    request = RetrieveRequest(query, top_k, RetrievalMode.LEXICAL, RetrievalTuning(graph=graph))
    call = Call(local_principal(), CallOptions(**options))
    snapshots = [snapshot] if isinstance(snapshot, Snapshot) else list(snapshot)
    frames = list(retrieve(request, call, snapshots, PARTS))
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    sent = [each for frame in frames if isinstance(frame, Snippets) for each in frame.snippets]
    passages = [each for each in sent if isinstance(each.payload, TextPassage)]
    paths = [each for each in sent if isinstance(each.payload, GraphPath)]
    assert sent == [*passages, *paths]
    return header, passages, paths, summary


def ids(passages: Sequence[Snippet]) -> list[str]:
    return [each.lineage.doc_id for each in passages]


def walked(path: Snippet) -> list[str]:
    assert isinstance(path.payload, GraphPath)
    return [node.removeprefix("document:") for node in path.payload.node_ids]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("evidence"), DOCS)


@pytest.mark.parametrize(
    ("query", "first", "second"),
    [
        ("Where did the director of Payment on Demand die?", "film.txt", "man.txt"),
        ("『羅生門の夜』の監督の出身は？", "ja/eiga.txt", "ja/hito.txt"),
        ("《长河落日》的导演出生在哪里？", "zh/dianying.txt", "zh/ren.txt"),
    ],
)
def test_what_is_named_by_what_was_found_is_ranked_with_it(
    library: Library, query: str, first: str, second: str
) -> None:
    header, passages, paths, summary = ask(library.snapshot(), query)
    place = ids(passages).index(first)
    assert ids(passages)[place + 1] == second
    assert [first, second] in [walked(path) for path in paths]
    assert [step.stage for step in header.plan] == ["restrict", "lexical", "fuse", "graph", "exit"]
    assert [timing.stage for timing in summary.timings] == ["restrict", "lexical", "fuse", "graph", "exit"]
    assert not summary.degradations
    scores = [each.scores for each in passages]
    assert all(score is not None and score.graph for score in scores)
    assert [score.graph_rank for score in scores if score is not None] == list(range(1, len(passages) + 1))
    fused = [score.fused for score in scores if score is not None and score.fused is not None]
    assert fused == sorted(fused, reverse=True)


def test_every_edge_of_a_path_cites_the_name_where_it_stands(library: Library) -> None:
    snapshot = library.snapshot()
    texts = {doc.doc_id: doc for doc in DOCS}
    paths = [path for doc in DOCS for path in ask(snapshot, f"who made {doc.title}")[2]]
    assert paths
    for path in paths:
        assert isinstance(path.payload, GraphPath)
        assert path.trust is Trust.CITABLE
        for edge in path.payload.edges:
            assert (edge.extractor, edge.relation) == ("titles", "mentions")
            (source,) = edge.sources
            start, end = dict(Locator.parse(source.source_locator).parts)["span"].split("-")
            named = texts[edge.target.node_id.removeprefix("document:")]
            assert texts[source.doc_id].text[int(start) : int(end)] == named.title == edge.target.label


def path_to_the_man(library: Library) -> Snippet:
    paths = ask(library.snapshot(), "director of Payment on Demand")[2]
    return next(path for path in paths if walked(path) == ["film.txt", "man.txt"])


def test_a_path_can_be_verified_until_its_text_or_its_end_changes(tmp_path: Path) -> None:
    library = make_library(tmp_path, DOCS)
    path = path_to_the_man(library)

    def verdict() -> CitationVerdict:
        assert isinstance(path.payload, GraphPath)
        request = VerifyRequest(path.lineage, path.payload)
        return verify_citation(request, local_principal(), [library.snapshot()]).verdict

    assert verdict() is CitationVerdict.EXACT
    with library.writing() as writer:
        writer.replace_document(new_document(replace(DOCS[0], text="Payment on Demand is a drama.")))
    assert verdict() is CitationVerdict.SUPERSEDED
    with library.writing() as writer:
        writer.withdraw_document("man.txt")
    assert verdict() is CitationVerdict.NOT_FOUND


def test_a_path_that_was_changed_was_never_given_out(library: Library) -> None:
    path = path_to_the_man(library)
    assert isinstance(path.payload, GraphPath)
    (edge,) = path.payload.edges
    other = replace(edge, target=replace(edge.target, node_id="document:town.txt"))
    elsewhere = replace(edge, sources=(replace(edge.sources[0], source_locator="film.txt#line=1,span=0-7"),))
    for changed in (other, elsewhere, replace(edge, relation="owns"), replace(edge, sources=())):
        nodes = (changed.source.node_id, changed.target.node_id)
        request = VerifyRequest(path.lineage, GraphPath((changed,), nodes))
        assert verify_citation(request, local_principal(), [library.snapshot()]).verdict is CitationVerdict.NOT_FOUND


def test_the_answer_does_not_depend_on_how_much_is_asked_for(library: Library) -> None:
    every = ids(ask(library.snapshot(), "director of a demand", top_k=8)[1])
    for top_k in range(1, 8):
        assert ids(ask(library.snapshot(), "director of a demand", top_k=top_k)[1]) == every[:top_k]


def test_the_order_of_coming_changes_nothing(tmp_path: Path) -> None:
    query = "Where did the director of Payment on Demand die?"
    seen = []
    for number in range(3):
        docs = list(DOCS)
        random.Random(number).shuffle(docs)
        library = make_library(tmp_path / str(number), docs)
        _, passages, paths, _ = ask(library.snapshot(), query, top_k=8)
        seen.append(
            (
                [(each.lineage.doc_id, each.scores) for each in passages],
                [(walked(each), each.snippet_id) for each in paths],
            )
        )
    assert seen[0] == seen[1] == seen[2]


def test_hidden_documents_are_neither_named_nor_crossed(tmp_path: Path) -> None:
    hidden = [
        Doc("h1", "Curtis Bernhardt again, and Payment on Demand.", "Curtis", Label.CONFIDENTIAL),
        Doc("h2", "by nobody", "drama directed by Curtis Bernhardt", Label.RESTRICTED),
        Doc("h3", "by nobody", "Curtis Bernhardt", Label.CONFIDENTIAL),
    ]
    alone = make_library(tmp_path / "alone", DOCS)
    beside = make_library(tmp_path / "beside", [hidden[0], *DOCS, *hidden[1:]])
    for query in ("director of Payment on Demand", "drama", "Pacific Palisades"):
        one, other = (ask(each.snapshot(), query, top_k=9) for each in (alone, beside))
        assert [(ids([each]), each.scores) for each in one[1]] == [(ids([each]), each.scores) for each in other[1]]
        assert [(walked(each), each.snippet_id) for each in one[2]] == [
            (walked(each), each.snippet_id) for each in other[2]
        ]


def test_a_longer_name_that_is_hidden_or_gone_takes_no_place_in_a_question(tmp_path: Path) -> None:
    open_edge = EdgeRecord("entity", "Acme", "parent_of", "entity", "Beta", "file", "note.txt", "line=1")
    hidden = [
        EdgeRecord("entity", "Acme Japan", "parent_of", "entity", "Beta", "file", "h", "1", label=label)
        for label in (Label.CONFIDENTIAL, Label.RESTRICTED)
    ]
    docs = [Doc("note.txt", "Nothing is named here."), Doc("other.txt", "Nor here.")]
    alone = make_library(tmp_path / "alone", docs, edges=[open_edge])
    beside = make_library(tmp_path / "beside", docs, edges=[hidden[0], open_edge, hidden[1]])
    gone = make_library(tmp_path / "gone", docs, edges=[replace(hidden[0], label=Label.PUBLIC), open_edge])
    with gone.writing() as writer:
        writer.withdraw_document("h")
    for each in (alone, beside, gone):
        passages = ask(each.snapshot(), "Who owns Acme Japan?")[1]
        assert [each.lineage.doc_id for each in passages] == ["note.txt"]


def test_a_filter_keeps_a_walk_within_it(tmp_path: Path) -> None:
    docs = [replace(doc, attributes=(Attribute("shelf", "b" if doc.doc_id == "man.txt" else "a"),)) for doc in DOCS]
    snapshot = make_library(tmp_path, docs).snapshot()
    kept: Filter = Predicate("shelf", Operator.EQ, ("a",))
    _, passages, paths, _ = ask(snapshot, "director of Payment on Demand", top_k=8, filter=kept)
    assert "film.txt" in ids(passages)
    assert not {"man.txt", "town.txt"} & {*ids(passages), *(node for path in paths for node in walked(path))}


def test_the_past_is_walked_as_it_was(tmp_path: Path) -> None:
    library = make_library(tmp_path, DOCS)
    with library.writing() as writer:
        before = writer.replace_document(new_document(Doc("late.txt", "x", "y")))
        assert before
    moment = library.store.reader().revisions("late.txt", clearance=None)[0].ingested_at
    with library.writing() as writer:
        writer.withdraw_document("man.txt")
    query = "director of Payment on Demand"
    assert "man.txt" not in ids(ask(library.snapshot(), query, top_k=9)[1])
    assert "man.txt" in ids(ask(library.snapshot(), query, top_k=3, known_at=moment)[1])


def test_without_relations_the_search_is_the_usual_one_and_says_so(tmp_path: Path) -> None:
    library = make_library(tmp_path, [Doc("a.txt", "alpha beta"), Doc("b.txt", "alpha alpha")])
    header, passages, paths, summary = ask(library.snapshot(), "alpha")
    plain = ask(library.snapshot(), "alpha", graph=False)
    assert (passages, paths) == (plain[1], [])
    assert [(each.kind, each.component) for each in summary.degradations] == [(DegradationKind.GRAPH_ABSENT, "graph")]
    assert [step.backend for step in header.plan if step.stage == "graph"] == ["absent"]
    with pytest.raises(FailedPrecondition):
        ask(library.snapshot(), "alpha", forbid=frozenset({DegradationKind.GRAPH_ABSENT}))


def test_a_library_may_ask_for_it_and_a_call_has_the_last_word(tmp_path: Path) -> None:
    library = make_library(tmp_path, DOCS, config=LibraryConfig(graph=True))
    stages = {
        graph: [step.stage for step in ask(library.snapshot(), "drama", graph=graph)[0].plan] for graph in (None, False)
    }
    assert "graph" in stages[None]
    assert "graph" not in stages[False]


def test_stored_relations_lead_to_the_documents_that_state_them(tmp_path: Path) -> None:
    def edge(source: str, relation: str, target: str, doc: str, **more: Any) -> EdgeRecord:
        return EdgeRecord("entity", source, relation, "entity", target, "file", doc, f"{doc}#line=1", **more)

    docs = [
        Doc("a.txt", "The group bought a maker of pumps."),
        Doc("b.txt", "Its seat is in a small town."),
        Doc("c.txt", "An unrelated matter."),
        Doc("secret.txt", "The seat of the group.", label=Label.CONFIDENTIAL),
    ]
    edges = [
        edge("ACME", "parent_of", "GLOBEX", "a.txt"),
        edge("GLOBEX", "seated_in", "ODENSE", "b.txt"),
        edge("ACME", "parent_of", "HIDDEN", "secret.txt", label=Label.CONFIDENTIAL),
    ]
    glossary = Glossary([EntityTerm("ACME", "Acme Group", (Synonym("アクメ", "ja"),)), EntityTerm("GLOBEX", "Globex")])
    library = make_library(tmp_path, docs, edges=edges, glossary=glossary)
    for query in ("Where is the seat of what Acme Group owns?", "アクメ seat", "ACME seat"):
        _, passages, paths, _ = ask(library.snapshot(), query, top_k=4)
        assert "b.txt" in ids(passages)
        assert "c.txt" not in ids(passages)
        assert ["entity:ACME", "entity:GLOBEX", "entity:ODENSE"] in [list(walked(path)) for path in paths]
        cited = {source.doc_id for path in paths for source in path.lineage.members}
        assert cited == {"a.txt", "b.txt"}


def test_what_only_a_model_says_is_not_followed(tmp_path: Path) -> None:
    said = EdgeRecord("entity", "ACME", "parent_of", "entity", "GLOBEX", "a-model/1", "b.txt", "b.txt#line=1")
    library = make_library(tmp_path, [Doc("a.txt", "ACME alone"), Doc("b.txt", "x")], edges=[said])
    assert ids(ask(library.snapshot(), "ACME")[1]) == ["a.txt"]
    assert [each.kind for each in ask(library.snapshot(), "ACME")[3].degradations] == [DegradationKind.GRAPH_ABSENT]


def test_of_several_libraries_each_is_walked_by_itself(tmp_path: Path) -> None:
    libraries = [make_library(tmp_path, DOCS[:2], library_id="one"), make_library(tmp_path, DOCS[2:], library_id="two")]
    header, passages, paths, _ = ask([each.snapshot() for each in libraries], "director of Payment on Demand")
    assert [step.library_id for step in header.plan if step.stage == "graph"] == ["one", "two"]
    assert "man.txt" in ids(passages)
    assert {path.lineage.library_id for path in paths} == {"one"}


def test_passages_of_one_document_do_not_crowd_out_the_others(tmp_path: Path) -> None:
    sentence = "Payment on Demand. "
    text = sentence * 30 + "Directed by Curtis Bernhardt."
    spans = (*(Span(at, at + len(sentence)) for at in range(0, 30 * len(sentence), len(sentence))),)
    last = Span(30 * len(sentence), len(text))
    docs = [Doc("long.txt", text, "Payment on Demand", spans=(*spans, last)), *DOCS[1:]]
    snapshot = make_library(tmp_path, docs).snapshot()
    plain = ids(ask(snapshot, "Payment on Demand, directed", top_k=25, graph=False)[1])
    found = ids(ask(snapshot, "Payment on Demand, directed", top_k=25)[1])
    assert "man.txt" not in plain
    assert found.index("man.txt") < 12


@given(
    links=st.lists(
        st.tuples(st.sampled_from("abcdef"), st.sampled_from("uvwxyz"), st.booleans()), min_size=1, max_size=25
    ),
    begins=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4),
)
def test_a_walk_is_the_pagerank_of_networkx(links: list[tuple[str, str, bool]], begins: list[str]) -> None:
    builder = NetBuilder()
    for start, end, even in links:
        builder.link(Link(LinkKind.NAMES, ("document", start), ("name", end), even=even))
    net = builder.build()
    place = net.places()
    known = [start for start in begins if ("document", start) in place] or [links[0][0]]
    restart = np.zeros(len(net.nodes))
    for start in known:
        restart[place["document", start]] += 1 / len(known)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(net.nodes)))
    for begin, end, chance in zip(net.begins.tolist(), net.ends.tolist(), net.chances.tolist(), strict=True):
        graph.add_edge(begin, end, weight=chance)
    expected = nx.pagerank(graph, GO_ON, dict(enumerate(restart.tolist())), max_iter=500, tol=1e-12)
    at = pagerank(net, restart)
    assert at.sum() == pytest.approx(1.0)
    assert np.abs(at - [expected[node] for node in range(len(at))]).max() <= GO_ON**ROUNDS
    assert at.tobytes() == pagerank(net, restart).tobytes()
