"""A folder of mixed files is edited ten times and put in each time; after each, every citation ever given is verified.

The server is a real one and starts anew for each class of callers, so that what is verified was read from the disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

import pytest

from groundwire import (
    CitationVerdict,
    Client,
    FactRecord,
    GraphEdge,
    GraphPath,
    Label,
    Lineage,
    MetricFact,
    MetricQuery,
    RelationRecord,
    Snippet,
    Term,
    TermKind,
    TextPassage,
)
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings
from tests.citation.folder import FILES, File, Folder, History

EXACT, SUPERSEDED, NOT_FOUND = CitationVerdict.EXACT, CitationVerdict.SUPERSEDED, CitationVerdict.NOT_FOUND
Edit = Callable[[Folder], None]
QUERIES = (
    "the ferry of a and in to is",
    "Harbour Chapter report fee total date",
    "の は 便 港 料金 日",
    "渡轮 票 的 日 港",
)
NOTES = """# Notes

The ferry of {0} leaves.

Its fee is {0} crowns. 料金は{0}円。

## Berth

The harbour of {0} waits.
"""
PAPER = "board/minutes.md"


@dataclass
class Given:
    """Everything that one class of callers was ever given, by snippet id and what stands in it."""

    history: History
    passages: dict[tuple[str, int, str], Snippet] = field(default_factory=dict)
    figures: dict[tuple[str, str], Snippet] = field(default_factory=dict)
    edges: dict[str, Snippet] = field(default_factory=dict)
    paths: dict[str, Snippet] = field(default_factory=dict)


@contextmanager
def serving(data: Path, clearance: Label) -> Iterator[Client]:
    settings = load_settings(
        {
            "data": data,
            "server.port": 0,
            "log.level": "error",
            "embedding.backend": "none",
            "access.local_clearance": clearance.name,
        },
        environ={},
    )
    with running_server(settings) as address, Client(address) as client:
        yield client


def first_files() -> dict[str, File]:
    """One file of each kind, each cut by another chunker where that makes sense."""
    return {
        "notes/berth.md": File(NOTES.format("Alnes").encode(), chunker="layout"),
        "plan.html": File.sample("ferry.pandoc.html", "sentence_window"),
        "report.pdf": File.sample("ferry.reportlab.pdf", "parent_child"),
        "rules.docx": File.sample("ferry-rules.pandoc.docx", "laws"),
        "slides.pptx": File.sample("ferry.python-pptx.pptx", "sentence_window"),
        "fees.xlsx": File.sample("ferry-fees.xlsxwriter.xlsx"),
        "fees.csv": File.sample("ferry.csv-module.csv"),
        "guide.epub": File.sample("harbour.pandoc.epub", "book"),
        "mail/figures.eml": File.sample("figures.python.eml", "parent_child"),
        PAPER: File(NOTES.format("Sula").encode(), Label.CONFIDENTIAL, "parent_child"),
    }


def content_of(sample: str) -> bytes:
    return File.sample(sample).content


def _change_texts(folder: Folder) -> None:
    folder.change("notes/berth.md", content=NOTES.format("Giske").encode())
    folder.change("fees.csv", content=content_of("ferry-ja.shift-jis.csv"))


def _delete(folder: Folder) -> None:
    del folder.files["report.pdf"], folder.files["guide.epub"]


def _rename(folder: Folder) -> None:
    folder.rename("rules.docx", "archive/rules 2024.docx")


def _relabel(folder: Folder) -> None:
    folder.change("plan.html", label=Label.CONFIDENTIAL)
    folder.change("fees.xlsx", label=Label.PUBLIC)


def _restore(folder: Folder) -> None:
    folder.files["report.pdf"] = File.sample("ferry.reportlab.pdf", "parent_child")
    folder.files["guide.epub"] = File.sample("harbour-ja.by-hand.epub", "book")


def _recut(folder: Folder) -> None:
    folder.change("notes/berth.md", chunker="sentence_window")
    folder.change("mail/figures.eml", chunker="paragraph")


def _open_again(folder: Folder) -> None:
    folder.change("plan.html", label=Label.INTERNAL)
    folder.change("slides.pptx", content=content_of("ferry-ja.python-pptx.pptx"))


def _go_back(folder: Folder) -> None:
    folder.change("notes/berth.md", content=NOTES.format("Alnes").encode(), chunker="layout")
    folder.rename("archive/rules 2024.docx", "rules.docx")


def _nothing(folder: Folder) -> None:
    """The tenth time all is as it was."""


def _all_at_once(folder: Folder) -> None:
    del folder.files["fees.csv"]
    folder.change("report.pdf", content=content_of("ferry-ja.reportlab.pdf"), label=Label.PUBLIC)
    folder.change(PAPER, content=NOTES.format("Runde").encode())
    folder.change("mail/figures.eml", label=Label.CONFIDENTIAL)


EDITS: tuple[Edit, ...] = (
    _change_texts,
    _delete,
    _rename,
    _relabel,
    _restore,
    _recut,
    _open_again,
    _go_back,
    _all_at_once,
    _nothing,
)


def put_in(client: Client, folder: Folder) -> None:
    """What a sync of the folder does; what it says is what the files say."""
    gone = folder.gone()
    with client.ingest_documents(folder.uploads()) as events:
        outcomes = events.collect().outcomes
    assert [outcome.error for outcome in outcomes] == [None] * len(folder.files)
    for doc_id in gone:
        assert client.withdraw(doc_id).withdrawn_now
    fresh = folder.take_over()
    assert {outcome.doc_id for outcome in outcomes if not outcome.unchanged} == fresh


def collect(client: Client, given: Given) -> None:
    """Ask for everything, and keep what is new of the answers."""
    for query in QUERIES:
        for snippet in client.retrieve(query, top_k=200).collect().snippets:
            assert isinstance(snippet.payload, TextPassage)
            lineage = snippet.lineage
            given.history.check_place(lineage)
            assert given.history.verdict(lineage, snippet.payload.text) is EXACT
            given.passages[lineage.doc_id, lineage.revision, lineage.chunk_id] = snippet
    for snippet in client.query_metric([MetricQuery("FEE", "FERRY", "2024")]).collect().snippets:
        assert isinstance(snippet.payload, MetricFact)
        given.figures[snippet.payload.fact_id, snippet.payload.value] = snippet
    for snippet in client.neighborhood(["entity:FERRY"], max_hops=3).collect().snippets:
        assert isinstance(snippet.payload, GraphEdge)
        given.edges[snippet.snippet_id] = snippet
    for snippet in client.paths("entity:FERRY", "entity:SULA").collect().snippets:
        assert isinstance(snippet.payload, GraphPath)
        given.paths[snippet.snippet_id] = snippet


def verify_passages(client: Client, given: Given, *, by_hash: bool) -> list[CitationVerdict]:
    """Every passage by its words, or by its hash alone; where it stands now is where it says."""
    verdicts = []
    for snippet in given.passages.values():
        assert isinstance(snippet.payload, TextPassage)
        text, lineage, history = snippet.payload.text, snippet.lineage, given.history
        check, wanted = client.verify(lineage if by_hash else snippet), history.verdict(lineage, text)
        assert check.verdict is wanted, lineage
        if check.active is not None:
            assert history.verdict(check.active, text) is EXACT
        assert (check.active is not None) is (wanted is SUPERSEDED and history.stands_again(lineage, text))
        verdicts.append(wanted)
    return verdicts


class Ledger:
    """Figures and relations that were put in, by the document that states them, and whether they still stand."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = {}
        self.standing: set[str] = set()

    def state(self, client: Client, source_doc: str, value: str, edge: tuple[str, str]) -> None:
        """Have a document state a fee and a relation."""
        values = self.values.setdefault(source_doc, [])
        filed = BEGIN + timedelta(days=len(values))
        records: list[FactRecord | RelationRecord] = [
            FactRecord("FEE", "FERRY", "2024", value, source_doc, "row=2", unit="NOK", filed_at=filed),
            RelationRecord(edge[0], "parent_of", edge[1], source_doc, "row=3"),
        ]
        with client.ingest_facts(records) as events:
            report = events.collect()
        assert report.summary.failed == 0
        if value not in values:
            values.append(value)
        self.standing.add(source_doc)

    def verdict(self, source_doc: str, value: str) -> CitationVerdict:
        """A figure that was given out."""
        latest = source_doc in self.standing and self.values[source_doc][-1] == value
        return EXACT if latest else SUPERSEDED


BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
PAPERS = {"ledger.csv": ("FERRY", "ALNES"), "rules.docx": ("ALNES", "SULA")}


def verify_records(client: Client, given: Given, ledger: Ledger) -> None:
    """Every figure by id, version and value; every edge; every chain by each of its edges."""
    for snippet in given.figures.values():
        assert isinstance(snippet.payload, MetricFact)
        check = client.verify(snippet)
        assert check.verdict is ledger.verdict(snippet.lineage.doc_id, snippet.payload.value)
        still = snippet.lineage.doc_id in ledger.standing
        assert (check.active_version is not None) is (check.verdict is SUPERSEDED and still)
        changed = replace(snippet, payload=replace(snippet.payload, value=f"{snippet.payload.value}0"))
        assert client.verify(changed).verdict is NOT_FOUND
    for snippet in given.edges.values():
        assert client.verify(snippet).verdict is _verdict_of(snippet.lineage.members or (snippet.lineage,), ledger)
    for snippet in given.paths.values():
        assert isinstance(snippet.payload, GraphPath)
        members = [_verdict_of(edge.sources, ledger) for edge in snippet.payload.edges]
        check = client.verify(snippet)
        assert list(check.members) == members
        assert check.verdict is max(members)


def _verdict_of(sources: Sequence[Lineage], ledger: Ledger) -> CitationVerdict:
    return EXACT if all(source.doc_id in ledger.standing for source in sources) else SUPERSEDED


def run(
    folder: Folder, data: Path, edits: Sequence[Callable[[Folder], None]]
) -> tuple[dict[Label, Given], Counter[CitationVerdict]]:
    """Put the folder in, and again after each edit; verify what was ever given out every time."""
    givens = {clearance: Given(history) for clearance, history in folder.histories.items()}
    ledger, seen = Ledger(), Counter[CitationVerdict]()
    with serving(data, WRITER) as client:
        client.update_glossary(TERMS)
    for step, edit in enumerate((_nothing, *edits)):
        edit(folder)
        for clearance, given in givens.items():
            with serving(data, clearance) as client:
                if clearance is WRITER:
                    ledger.standing -= set(folder.gone())
                    put_in(client, folder)
                    if step in (0, 2, 6):
                        ledger.state(client, "ledger.csv", str(12 + step), PAPERS["ledger.csv"])
                    if step in (0, 8):
                        ledger.state(client, "rules.docx", "12", PAPERS["rules.docx"])
                collect(client, given)
                seen.update(verify_passages(client, given, by_hash=step % 2 == 1))
                verify_records(client, given, ledger)
    return givens, seen


def check_edges_of_truth(client: Client, given: Given, others: Iterable[Snippet]) -> None:
    """A word more was never given out; what stands in another class's texts alone never stood anywhere."""
    for snippet in given.passages.values():
        assert isinstance(snippet.payload, TextPassage)
        assert client.verify(snippet, f"{snippet.payload.text}!").verdict is NOT_FOUND
    for snippet in others:
        assert isinstance(snippet.payload, TextPassage)
        wanted = given.history.verdict(snippet.lineage, snippet.payload.text)
        if wanted is NOT_FOUND:
            nowhere = replace(snippet.lineage, doc_id="never.md", chunk_id="", source_locator="never.md")
            assert client.verify(snippet) == client.verify(nowhere, snippet.payload.text)


WRITER = Label.CONFIDENTIAL
TERMS = (
    Term(TermKind.METRIC, "FEE", "Fee"),
    *(Term(TermKind.ENTITY, code, code.title()) for code in ("FERRY", "ALNES", "SULA")),
)


def test_every_citation_ever_given_out_is_judged_as_the_files_say_through_ten_edits(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "folder", WRITER, Label.INTERNAL)
    folder.files = first_files()
    givens, seen = run(folder, tmp_path / "data", EDITS)
    assert min(seen[EXACT], seen[SUPERSEDED]) > 100
    for given in givens.values():
        assert all(len(kind) > 1 for kind in (given.figures, given.edges)), "nothing was verified"
        assert given.paths
    everything = givens[WRITER].passages.values()
    assert {snippet.lineage.doc_id for snippet in everything} >= first_files().keys()
    assert any(snippet.lineage.parent_locator for snippet in everything)
    assert PAPER not in {snippet.lineage.doc_id for snippet in givens[Label.INTERNAL].passages.values()}
    with serving(tmp_path / "data", Label.INTERNAL) as client:
        check_edges_of_truth(client, givens[Label.INTERNAL], everything)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_so_it_is_through_ten_edits_of_any_kind(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    folder = Folder(tmp_path / "folder", WRITER, Label.INTERNAL)
    folder.files = first_files()
    givens, _ = run(folder, tmp_path / "data", [partial(_anything, random)] * 10)
    with serving(tmp_path / "data", Label.INTERNAL) as client:
        check_edges_of_truth(client, givens[Label.INTERNAL], givens[WRITER].passages.values())


def _anything(random: Random, folder: Folder) -> None:
    """Up to four files change, go, come back, are named anew, relabelled or cut otherwise."""
    samples = sorted(path for path in FILES.iterdir() if path.name != "SOURCES.md")
    for _ in range(random.randint(1, 4)):
        doc_id = random.choice(sorted(folder.files))
        same_kind = [path for path in samples if path.suffix == Path(doc_id).suffix]
        match random.randrange(6):
            case 0 if same_kind:
                folder.change(doc_id, content=random.choice(same_kind).read_bytes())
            case 1 if len(folder.files) > 2:
                del folder.files[doc_id]
            case 2:
                left = sorted(first_files().items() - folder.files.items())
                folder.files |= dict(random.sample(left, min(len(left), 2)))
            case 3:
                folder.rename(doc_id, f"moved/{random.randrange(3)}-{Path(doc_id).name}")
            case 4:
                folder.change(doc_id, label=random.choice((Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)))
            case _:
                folder.change(doc_id, chunker=random.choice(CUTS))


CUTS = ("paragraph", "layout", "parent_child", "sentence_window", "laws", "qa", "book", "whole")
