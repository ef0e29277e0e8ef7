"""Promise 2: every quote is real.

Whatever a document holds and however it came in: a passage is an exact slice of the text of its revision, under its
hash, at the place that its locator says. Its citation holds now, is superseded later, and was never given out once any
part of it is changed.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import grpc
import pytest

from groundwire.v1 import evidence_pb2, filter_pb2, ingest_pb2, narrative_pb2, stream_pb2, tools_pb2, value_pb2
from groundwire_server.text import tokenize
from tests.promises.answers import streams
from tests.promises.worlds import FactStep, WithdrawStep, begin, draw_open, take
from tests.rpc.house import Documents, House, document_part, finish, house, snippets, start
from tests.support.hostile_text import HOSTILE_PIECES

IDS = (
    *("a#b.md", "a@1#c0.md", "q?x,y=z.txt", "50%.md", "%23.md", "é/😀.md", "é/e\u0301.md", "日本/売上 高.md"),
    *(
        "doc\u200d.txt",
        f"{'x' * 500}.txt",
        "..",
        "a//b.md",
        "a\u2028b.md",
        "\u202ertl.md",
        "#",
        "@",
        "%",
        "=",
        ",",
        "?",
    ),
)
MIXED = (
    "売上高は増えた。\r\nCafe\u0301 ﬁnance 👩\u200d👩\u200d👧 e\u0301\r\n\r\nrevenue rose 3.5 percent. 國債 𠮷野家\r"
)
JAPANESE = "売上高は増えた。\r\n日本の人口は一億二千万人である。\r\n東京は首都である。revenue\r\n"
FRONT = "---\ntitle: Revenue in front\nyear: 2024\n---\n# Head\r\n\r\nrevenue body\n"
LINES = ("plain revenue", "revenue \u2028 sep \u2029 x", "two\nlines revenue\r\nthree", "😀" * 300 + " revenue")
EXACT, SUPERSEDED, NOT_FOUND = (
    tools_pb2.CITATION_VERDICT_EXACT,
    tools_pb2.CITATION_VERDICT_SUPERSEDED,
    tools_pb2.CITATION_VERDICT_NOT_FOUND,
)


def hostile(seed: int) -> dict[str, tuple[bytes, str]]:
    """Documents by id: bytes, and the text that they hold."""
    dice = random.Random(seed)
    texts = {doc_id: "".join(dice.choices(HOSTILE_PIECES, k=dice.randrange(1, 150))) + " revenue" for doc_id in IDS}
    # What begins like front matter is none of the text that is read; here the whole text counts.
    texts = {doc_id: text if text[0] not in "-+\ufeff" else f"x{text}" for doc_id, text in texts.items()}
    made = {doc_id: (text.encode(), text) for doc_id, text in texts.items()}
    for charset in ("utf-8", "utf-8-sig", "utf-16"):
        made[f"sets/{charset}.txt"] = (MIXED.encode(charset), MIXED)
    for charset in ("shift_jis", "euc_jp"):
        made[f"sets/{charset}.txt"] = (JAPANESE.encode(charset), JAPANESE)
    line = "売上 revenue 😀 lorem ipsum. " * 5000
    made["long/line.txt"] = (line.encode(), line)
    made["long/word.txt"] = (b"x" * 100_000 + b" revenue", "x" * 100_000 + " revenue")
    made["front.md"] = (FRONT.encode(), FRONT)
    rows = [json.dumps({"doc_id": f"row{n}", "title": "revenue title", "text": text}) for n, text in enumerate(LINES)]
    made["rows.jsonl"] = ("\n".join(rows).encode(), "")
    return made


def send(here: House, documents: dict[str, bytes], label: int = 0) -> None:
    """Ingest documents, in parts of at most 200,000 bytes."""
    messages, seq = [start(Documents)], 0
    for doc_id, raw in documents.items():
        for at in range(0, len(raw), 200_000):
            seq += 1
            part = document_part(seq, doc_id, raw[at : at + 200_000], label=label)
            part.last_part = at + 200_000 >= len(raw)
            if at:
                part.ClearField("head")
            messages.append(Documents(part=part))
    for frame in here.ingest.IngestDocuments(iter([*messages, finish(Documents, seq)])):
        assert not frame.outcome.HasField("error"), frame.outcome


def passages(here: House, doc_id: str) -> list[evidence_pb2.Snippet]:
    """Every passage of a document that some query finds."""
    of_it = filter_pb2.Predicate(field="doc_id", eq=value_pb2.Value(string_value=doc_id))
    options = stream_pb2.CallOptions(filter=filter_pb2.Filter(predicate=of_it))
    query = "revenue 売上 人口 word a x 3.5 é 漢字 한글 が 長 नि lorem key 😀"
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, top_k=200, options=options)
    return snippets(here.narrative.NarrativeRetrieve(request))


def check_passage(snippet: evidence_pb2.Snippet, source: str) -> None:
    """Slice, hash, highlights, locator and chunk id against the source as we read it ourselves."""
    lineage, text = snippet.lineage, snippet.text.text
    span = lineage.span
    assert text
    assert source[span.start : span.end] == text
    assert hashlib.sha256(text.encode()).digest() == lineage.text_sha256
    before = 0
    for highlight in snippet.text.highlights:
        assert before <= highlight.start < highlight.end <= len(text)
        assert tokenize(text[highlight.start : highlight.end])
        before = highlight.end
    document, _, place = lineage.source_locator.partition("#")
    assert unquote(document, errors="strict") == lineage.doc_id
    assert unquote(lineage.chunk_id.rpartition("@")[0]) == lineage.doc_id
    first, _, last = place.removeprefix("line=").partition("-")
    bounds = [0, *(end.end() for end in re.finditer(r"\r\n|\n|\r", source)), len(source)]
    assert bounds[int(first) - 1] <= span.start < bounds[int(first)] or not source[span.start :]
    assert bounds[int(last or first) - 1] <= span.end - 1 < bounds[int(last or first)]


@contextmanager
def hostile_house(folder: Path, seed: int) -> Iterator[tuple[House, dict[str, tuple[bytes, str]]]]:
    """A server with all hostile documents."""
    documents = hostile(seed)
    with house(folder) as here:
        send(here, {doc_id: raw for doc_id, (raw, _) in documents.items()})
        yield here, documents


def verdict(here: House, request: tools_pb2.VerifyCitationRequest) -> int:
    return here.tools.VerifyCitation(request).verdict


def citation(snippet: evidence_pb2.Snippet, *, by_hash: bool = False) -> tools_pb2.VerifyCitationRequest:
    """The request that checks a snippet as it was given out."""
    request = tools_pb2.VerifyCitationRequest(lineage=snippet.lineage)
    match snippet.WhichOneof("payload"):
        case "text" if not by_hash:
            request.quote = snippet.text.text
        case "fact":
            request.fact.CopyFrom(snippet.fact)
        case "edge":
            request.edge.CopyFrom(snippet.edge)
    return request


def _set(path: str, value: Any) -> Callable[[tools_pb2.VerifyCitationRequest], None]:
    """Change one field of a request; a callable makes the new value from the old one."""

    def change(request: tools_pb2.VerifyCitationRequest) -> None:
        *way, name = path.split(".")
        message: Any = request
        for step in way:
            message = getattr(message, step)
        setattr(message, name, value(getattr(message, name)) if callable(value) else value)

    return change


CHANGES = {
    "passage": (
        _set("quote", lambda quote: f"{quote}\x01" if quote else "\x01"),
        _set("lineage.library_id", "elsewhere"),
        _set("lineage.doc_id", lambda doc_id: f"{doc_id}x"),
        _set("lineage.revision", lambda revision: revision + 7),
        _set("lineage.span.end", lambda end: end + 1),
        _set("lineage.span.end", 2**31 - 1),
        _set("lineage.text_sha256", bytes(32)),
        _set("lineage.chunk_id", lambda chunk_id: chunk_id.rpartition("#")[0] + "#c9999"),
        _set("lineage.source_locator", lambda locator: locator.partition("#")[0] + "#line=999999"),
    ),
    "fact": (
        _set("fact.value", lambda value: f"{value}0"),
        _set("fact.unit", "EUR"),
        _set("fact.fact_id", "0" * 32),
        _set("fact.metric", "OTHER"),
        _set("fact.entity", "OTHER"),
        _set("fact.period", "1999"),
        _set("lineage.doc_id", "other.csv"),
        _set("lineage.source_locator", "row=99"),
        _set("lineage.library_id", "elsewhere"),
    ),
    "edge": (
        _set("edge.edge_id", "0" * 32),
        _set("edge.relation", "owns"),
        _set("edge.source.node_id", "entity:OTHER"),
        _set("edge.target.node_id", "entity:OTHER"),
        _set("edge.valid_from", "2001-01-01"),
        _set("lineage.doc_id", "other.jsonl"),
        _set("lineage.source_locator", "line=99"),
        _set("lineage.library_id", "elsewhere"),
    ),
}


def check_citations(here: House, given: Sequence[evidence_pb2.Snippet], now: int) -> None:
    """Each has the verdict; changed in any part it was never given out."""
    for snippet in given:
        kind = snippet.WhichOneof("payload")
        requests = [citation(snippet)]
        if kind == "text":
            requests += [citation(snippet, by_hash=True), citation(snippet)]
            requests[-1].quote = snippet.text.text[len(snippet.text.text) // 2 :]
        for request in requests:
            assert verdict(here, request) == now, request
        for place, change in enumerate(CHANGES["passage" if kind == "text" else str(kind)]):
            for request in requests[:2] if place else requests[:1]:
                changed = tools_pb2.VerifyCitationRequest()
                changed.CopyFrom(request)
                change(changed)
                assert verdict(here, changed) == NOT_FOUND, (place, changed)


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_every_passage_of_any_document_is_real_and_its_citation_holds(tmp_path: Path, seed: int) -> None:
    with hostile_house(tmp_path, seed) as (here, documents):
        texts = {doc_id: text for doc_id, (_, text) in documents.items() if text}
        texts |= {f"row{number}": text for number, text in enumerate(LINES)}
        found = {doc_id: passages(here, doc_id) for doc_id in texts}
        for doc_id, source in texts.items():
            assert found[doc_id], doc_id
            for snippet in found[doc_id]:
                check_passage(snippet, source)
        assert not any("title" in snippet.text.text for n in range(len(LINES)) for snippet in found[f"row{n}"])
        assert not any("in front" in snippet.text.text for snippet in found["front.md"])
        some = [each[seed % len(each)] for each in found.values()]
        check_citations(here, some, EXACT)
        send(here, {doc_id: b"zebra" for doc_id in documents if doc_id != "rows.jsonl"})
        send(here, {"rows.jsonl": documents["rows.jsonl"][0]}, label=ingest_pb2.LABEL_CONFIDENTIAL)
        check_citations(here, some, SUPERSEDED)


def test_a_citation_finds_its_text_again(tmp_path: Path) -> None:
    with house(tmp_path) as here:
        send(here, {"a#1.md": "# One\n\nAlpha stays. 😀\n".encode()})
        (old,) = passages_of(here, "alpha")
        send(here, {"a#1.md": "# New\r\n\r\nBefore it.\r\n\r\n# One\n\nAlpha stays. 😀\n".encode()})
        answer = here.tools.VerifyCitation(
            tools_pb2.VerifyCitationRequest(lineage=old.lineage, quote="Alpha stays. 😀")
        )
        assert answer.verdict == SUPERSEDED
        assert answer.active.revision == 2
        again = tools_pb2.VerifyCitationRequest(lineage=answer.active, quote="Alpha stays. 😀")
        assert verdict(here, again) == EXACT
        here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="a#1.md"))
        assert [verdict(here, request) for request in (again, citation(old))] == [SUPERSEDED, SUPERSEDED]


def passages_of(here: House, query: str) -> list[evidence_pb2.Snippet]:
    return snippets(here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query=query)))


GLOSSARY = "glossary.toml"  # what it says stands there, and no document can be withdrawn under its name


def test_every_figure_and_relation_is_real_and_its_citation_holds(tmp_path: Path) -> None:
    with house(tmp_path) as here:
        begin(here)
        steps = [step for step in draw_open(random.Random(4), 80) if not isinstance(step, WithdrawStep)]
        for step in steps:
            take(here, step)
        given = {each.snippet_id: each for each in snippets(streams(here)) if not each.HasField("text")}
        assert {each.WhichOneof("payload") for each in given.values()} == {"fact", "edge"}
        for each in given.values():
            is_latest = each.fact.version.version == each.fact.version.latest_version
            check_citations(here, [each], EXACT if is_latest else SUPERSEDED)
            if each.HasField("fact"):
                assert each.fact.value in each.fact.statement
                assert each.fact.unit in each.fact.statement
        sources = [lineage for each in given.values() for lineage in (each.lineage, *each.lineage.members)]
        for doc_id in {lineage.doc_id for lineage in sources} - {GLOSSARY}:
            here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id=doc_id))
        of_terms = [each for each in given.values() if each.edge.extractor == "glossary"]
        check_citations(here, [each for each in given.values() if each not in of_terms], SUPERSEDED)
        check_citations(here, of_terms, EXACT)


def test_an_older_filing_that_comes_in_late_moves_no_citation(tmp_path: Path) -> None:
    key = (("metric", "REVENUE"), ("entity", "ACME"), ("period", "2024"), ("unit", "USD"))
    beside = (("source_doc", "v.csv"), ("locator", "row=1"))
    with house(tmp_path) as here:
        begin(here)
        for value, year in (("10", 2021), ("11", 2022)):
            take(here, FactStep((*key, ("value", value), *beside), ingest_pb2.LABEL_INTERNAL, year))
        first, second = (each for each in snippets(streams(here)) if each.HasField("fact") and each.fact.value != "9")
        take(here, FactStep((*key, ("value", "9"), *beside), ingest_pb2.LABEL_INTERNAL, 2020))
        assert [verdict(here, citation(each)) for each in (first, second)] == [SUPERSEDED, EXACT]


@pytest.mark.parametrize("field", ["lineage.revision", "lineage.span.start", "lineage.library_id"])
def test_a_citation_that_cannot_be_one_is_refused(tmp_path: Path, field: str) -> None:
    with house(tmp_path) as here:
        send(here, {"a.md": b"alpha"})
        request = citation(passages_of(here, "alpha")[0])
        _set(field, {"lineage.revision": 0, "lineage.span.start": 99, "lineage.library_id": ""}[field])(request)
        with pytest.raises(grpc.RpcError, match=field.rpartition(".")[0]):
            verdict(here, request)
