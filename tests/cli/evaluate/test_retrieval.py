"""`groundwire eval retrieval` on small folders whose ranking and scores can be worked out by hand."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from tests.cli.commands import run, write, write_lines
from tests.support.real_model import real_model

# "apple" twice in four words beats once in four words; "pear" stands in one text alone.
CORPUS = [
    {"doc_id": "d1", "title": "", "text": "apple apple plum cherry", "meta": {"shelf": "left", "year": 2023}},
    {"doc_id": "d2", "title": "", "text": "apple pear plum cherry", "meta": {"shelf": "right", "year": 2024}},
    {"doc_id": "d3", "title": "grape", "text": "quince quince fig", "meta": {"shelf": "right", "year": 2024}},
    {"doc_id": "d4", "title": "", "text": "melon lemon lime peach", "meta": {"shelf": "left", "year": 2023}},
]
QUERIES = [
    {"query_id": "q1", "text": "apple", "meta": {"where": "right", "year": 2024}},
    {"query_id": "q2", "text": "grape", "meta": {"where": "right", "year": 2024}},
    {"query_id": "q3", "text": "durian", "meta": {"where": "left", "year": 2023}},
    {"query_id": "unjudged", "text": "melon"},
]
QRELS = "query_id\tdoc_id\trelevance\nq1\td2\t1\nq2\td3\t2\nq3\td4\t1\n"


def folder(**files: str | bytes) -> Path:
    """The set above, some files of it replaced; `None` leaves one out."""
    root = write("set", {"qrels.tsv": QRELS, "hard.txt": "q1\t0.0000\nq3\t0.0000\n"})
    write_lines(root / "corpus.jsonl", CORPUS)
    write_lines(root / "queries.jsonl", QUERIES)
    return write(root, {name.replace("_", "."): content for name, content in files.items()})


def evaluate(*words: str | Path) -> tuple[dict[str, Any], list[list[str]]]:
    """Totals and run lines; the command must succeed."""
    ran = run("eval", "retrieval", *words, "--run", "out/run.tsv", "--json", "out/totals.json")
    assert ran.code == 0, ran
    lines = Path("out/run.tsv").read_text(encoding="utf-8").splitlines()
    return json.loads(Path("out/totals.json").read_text(encoding="utf-8")), [line.split("\t") for line in lines]


def test_scores_worked_out_by_hand() -> None:
    totals, lines = evaluate(folder())
    # q1 finds its document second, q2 first (by its title), q3 nothing.
    assert [line[:2] for line in lines] == [["q1", "d1"], ["q1", "d2"], ["q2", "d3"]]
    assert totals["queries"] == 3
    assert totals["ndcg_at_10"] == pytest.approx((1 / math.log2(3) + 1) / 3, abs=1e-6)
    assert totals["mrr_at_10"] == pytest.approx((1 / 2 + 1) / 3, abs=1e-6)
    assert totals["recall_at_100"] == pytest.approx(2 / 3, abs=1e-6)
    assert totals["hard"]["queries"] == 2
    assert totals["hard"]["ndcg_at_10"] == pytest.approx(1 / math.log2(3) / 2, abs=1e-6)
    assert totals["recall_at_100_interval"] == [0.0, 1.0]
    assert totals["p50_ms"] > 0
    assert [step["stage"] for step in totals["plan"]] == ["restrict", "lexical", "fuse", "exit"]
    assert (totals["documents"], totals["refused_documents"], totals["lessened_queries"]) == (4, 0, {})


def test_the_run_scores_the_same_for_whoever_reads_it() -> None:
    totals, _ = evaluate(folder())
    run_: dict[str, dict[str, float]] = {}
    for line in Path("out/run.tsv").read_text(encoding="utf-8").split("\n"):
        if line:
            query, document, score = line.split("\t")
            run_.setdefault(query, {})[document] = float(score)
    qrels = {"q1": {"d2": 1}, "q2": {"d3": 2}, "q3": {"d4": 1}}
    measured = ir_measures.calc_aggregate(
        [ir_measures.nDCG @ 10], qrels, {query: run_.get(query, {}) for query in qrels}
    )
    assert totals["ndcg_at_10"] == pytest.approx(measured[ir_measures.nDCG @ 10], abs=1e-6)


def test_ties_stay_in_the_order_of_the_answer() -> None:
    """Three equal texts score alike and are answered by their ids; an evaluator would turn them round."""
    root = folder(qrels_tsv="query_id\tdoc_id\trelevance\nq1\ta\t1\n")
    write_lines(root / "corpus.jsonl", [{"doc_id": name, "title": "", "text": "one apple"} for name in "cab"])
    totals, lines = evaluate(root)
    assert [line[1] for line in lines] == ["a", "b", "c"]
    assert totals["mrr_at_10"] == 1


def test_only_documents_that_the_filter_keeps() -> None:
    totals, lines = evaluate(folder(), "--filter-by", "where=shelf")
    assert [line[:2] for line in lines] == [["q1", "d2"], ["q2", "d3"]]
    assert totals["mrr_at_10"] == pytest.approx(2 / 3, abs=1e-6)
    _, by_number = evaluate(folder(), "--filter-by", "year=year")
    assert [line[:2] for line in by_number] == [["q1", "d2"], ["q2", "d3"]]


def test_only_the_first_queries() -> None:
    totals, lines = evaluate(folder(), "--limit", "1")
    assert (totals["queries"], totals["mrr_at_10"], totals["hard"]["queries"]) == (1, 0.5, 1)
    assert {line[0] for line in lines} == {"q1"}


def test_a_compressed_corpus_and_no_hard_quarter() -> None:
    root = folder()
    corpus = root / "corpus.jsonl"
    (root / "corpus.jsonl.gz").write_bytes(gzip.compress(corpus.read_bytes()))
    corpus.unlink()
    (root / "hard.txt").unlink()
    totals, _ = evaluate(root)
    assert totals["mrr_at_10"] == 0.5
    assert "hard" not in totals


def test_a_hundred_documents_where_one_has_hundreds_of_passages() -> None:
    """The long document fills the first 400 passages by itself; the others must be fetched behind it."""
    filler = "plum cherry melon lemon lime peach quince fig walnut hazel almond olive "
    long = "\n".join(f"apple apple apple {filler * 3} {number}" for number in range(420))
    root = folder(qrels_tsv="query_id\tdoc_id\trelevance\nq1\ts119\t1\nq2\tlong\t1\n")
    small = [{"doc_id": f"s{number:03}", "title": "", "text": f"apple {filler * 3}"} for number in range(120)]
    write_lines(root / "corpus.jsonl", [{"doc_id": "long", "title": "", "text": long}, *small])
    _, lines = evaluate(root, "--chunker", "paragraph")
    of_apple = [line[1] for line in lines if line[0] == "q1"]
    assert of_apple == ["long", *(f"s{number:03}" for number in range(99))]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"qrels_tsv": "q1\td1\t1\n"}, "qrels.tsv, line 1: a judgement stands where the header belongs"),
        ({"qrels_tsv": QRELS + "q1\td1\n"}, "qrels.tsv, line 5: not query_id, doc_id, relevance"),
        ({"qrels_tsv": QRELS + "q1\td1\tvery\n"}, "qrels.tsv, line 5: not query_id, doc_id, relevance"),
        ({"qrels_tsv": QRELS + "q9\td1\t1\n"}, "1 queries of qrels.tsv are not in queries.jsonl, e.g. 'q9'"),
        ({"qrels_tsv": "query_id\tdoc_id\trelevance\n"}, "qrels.tsv judges nothing"),
        ({"qrels_tsv": b"\xff"}, "qrels.tsv: it is no UTF-8 text"),
        ({"queries_jsonl": "{\n"}, "queries.jsonl, line 1: not a JSON object"),
        ({"queries_jsonl": "[" * 100_000}, "queries.jsonl, line 1: not a JSON object"),
        ({"queries_jsonl": '{"query_id": "q1"}\n'}, "queries.jsonl, line 1: 'text' is not there"),
        ({"queries_jsonl": '{"query_id": "q1", "text": "x"}\n' * 2}, "query_id 'q1' stands twice"),
        ({"corpus_jsonl": ""}, "no document could be read; it is empty"),
        ({"corpus_jsonl": "{\n"}, "no document could be read; corpus-0.jsonl"),
        ({"hard_txt": b"\xff"}, "hard.txt: it is no UTF-8 text"),
    ],
)
def test_a_folder_that_does_not_hold(files: dict[str, str | bytes], why: str) -> None:
    ran = run("eval", "retrieval", folder(**files), "--run", "run.tsv")
    assert ran.code == 1
    assert why in ran.err.splitlines()[-1]
    assert not Path("run.tsv").exists()


def test_a_damaged_corpus_is_no_short_one() -> None:
    root = folder()
    whole = gzip.compress((root / "corpus.jsonl").read_bytes() * 50)
    (root / "corpus.jsonl").unlink()
    (root / "corpus.jsonl.gz").write_bytes(whole[:-20])
    ran = run("eval", "retrieval", root)
    assert ran.code == 1
    assert "corpus.jsonl.gz: the gzip file is damaged" in ran.err


def test_a_document_that_is_refused_is_told_and_not_found() -> None:
    root = folder()
    write_lines(root / "corpus.jsonl", [*CORPUS[:1], {"doc_id": "d2", "title": "", "text": 7}, *CORPUS[2:]])
    ran = run("eval", "retrieval", root, "--json", "totals.json")
    assert ran.code == 0
    assert "1 documents were refused and cannot be found, e.g. " in ran.err
    assert "1 relevant documents are not in the corpus and cannot be found, e.g. d2" in ran.err
    totals = json.loads(Path("totals.json").read_text(encoding="utf-8"))
    assert (totals["documents"], totals["refused_documents"], totals["queries"]) == (3, 1, 3)


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("nowhere",), 2, "'nowhere' does not exist"),
        (("empty",), 1, "queries.jsonl, qrels.tsv, corpus.jsonl or corpus.jsonl.gz not found"),
        (("set", "--filter-by", "where"), 2, "--filter-by 'where' is not QUERY_FIELD=CORPUS_FIELD"),
        (("set", "--filter-by", "nothing=shelf"), 1, "query 'q1' has no 'nothing' to filter by"),
        (("set", "--filter-by", "where=nothing"), 1, "'nothing'"),
        (("set", "--filter-by", "where=year"), 1, "year"),
        (("set", "--fusion", "magic"), 1, "'magic' is none of linear, rrf"),
        (("set", "--reranker", "magic"), 1, "'magic' is none of none"),
        (("set", "--chunker", "mincer"), 1, "'mincer' is none of book, laws, layout"),
        (("set", "--mode", "auto"), 2, "'auto' is not one of"),
        (("set", "--limit", "0"), 2, "0 is not in the range"),
        (("set", "--run", "/proc/run.tsv"), 1, "/proc/run.tsv cannot be written"),
        (("set", "--json", "set/qrels.tsv/x"), 1, "set/qrels.tsv/x cannot be written"),
        (("set", "--json", "same", "--run", "same"), 1, "--run and --json name the same file"),
    ],
)
def test_options_that_do_not_hold(words: tuple[str, ...], code: int, why: str) -> None:
    folder()
    Path("empty").mkdir()
    ran = run("eval", "retrieval", *words)
    assert ran.code == code
    assert why in ran.err.splitlines()[-1]
    assert ran.out == ""


def test_vectors_that_are_asked_for_and_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_MODELS", "no-models")
    monkeypatch.setenv("XDG_CACHE_HOME", "no-cache")
    monkeypatch.setenv("HOME", "no-home")
    ran = run("eval", "retrieval", folder(), "--mode", "hybrid")
    assert ran.code == 1
    assert "is not prepared" in ran.complaint


@pytest.mark.model
def test_hybrid_has_every_vector_before_it_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_MODELS", str(real_model().folder.parent))
    root = folder(queries_jsonl='{"query_id": "q1", "text": "fruit of a citrus tree"}\n')
    write(root, {"qrels.tsv": "query_id\tdoc_id\trelevance\nq1\td4\t1\n"})
    totals, lines = evaluate(root, "--mode", "hybrid")
    dense = next(step for step in totals["plan"] if step["stage"] == "dense")
    assert dense["coverage"] == 1.0
    assert "@" in dense["backend"]
    assert len(lines) == 4
    assert totals["lessened_queries"] == {}
    assert totals["recall_at_100"] == 1
    assert evaluate(root)[0]["recall_at_100"] == 0  # no word of the query is in any text
