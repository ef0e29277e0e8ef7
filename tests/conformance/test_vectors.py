"""The vectors are what their oracles say today, and they hold for this implementation.

The oracles import nothing of the project, so that a mistake of the server cannot stand in the expected values too.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pytest
from google.protobuf.json_format import ParseDict
from numpy.typing import NDArray

from groundwire.v1 import filter_pb2, value_pb2
from groundwire_server.chunking import CHUNKERS, ParagraphChunker, make_chunker
from groundwire_server.evidence import Family, check_filter, matches
from groundwire_server.glossary import PeriodError, parse_period
from groundwire_server.lexical import Bm25, LexicalIndex
from groundwire_server.narrative.fusion import rrf_fuse
from groundwire_server.rerank import parse_ranking
from groundwire_server.rpc.decode_filter import decode_filter
from groundwire_server.rpc.decode_value import decode_value
from groundwire_server.rpc.findings import Findings
from groundwire_server.text import tokenize
from tests.conformance.chunk_cases import BY_HAND, VECTORS
from tests.conformance.make import FOLDER, MADE, read
from tests.conformance.oracles.periods import days_of, kind_of
from tests.support.segments import build_segment
from tests.text.oracle import tokens

TESTS = FOLDER.parent
ORACLES = (
    *(path for path in sorted((FOLDER / "oracles").glob("*.py"))),
    TESTS / "text/oracle.py",
    TESTS / "lexical/oracle.py",
    TESTS / "chunking/oracle.py",
    TESTS / "glossary/period_oracle.py",
)
BM25 = read("bm25.json")
FILTERS = read("filters.json")
PERIODS = read("periods.json")
NAMED_PERIODS = [each for each in PERIODS["vectors"] if "period" in each]
DAY = date(2025, 6, 30)


def cases(name: str, key: str = "cases") -> Any:
    """The cases of a file, each a test under its name."""
    return pytest.mark.parametrize("case", read(name)[key], ids=lambda case: case.get("name") or case["text"])


@pytest.mark.parametrize("name", MADE)
def test_a_file_is_what_its_oracle_says(name: str) -> None:
    assert MADE[name]() == read(name)


@pytest.mark.parametrize("path", ORACLES, ids=lambda path: str(path.relative_to(TESTS)))
def test_an_oracle_imports_nothing_of_the_project(path: Path) -> None:
    assert not [name for name in _imports(path) if name.split(".")[0] in ("groundwire", "groundwire_server")]


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("name", MADE)
def test_every_case_of_a_file_has_its_own_name(name: str) -> None:
    content = read(name)
    found = content.get("cases") or content.get("paragraph") or []
    names = [case["name"] for case in found]
    assert len(set(names)) == len(names)


@cases("tokens.json")
def test_tokens(case: dict[str, Any]) -> None:
    assert tokenize(case["text"]) == case["tokens"]


@cases("bm25.json")
def test_scores(case: dict[str, Any]) -> None:
    index = LexicalIndex([build_segment(BM25["rows"])])
    candidates = np.zeros(index.rows, dtype=np.bool_)
    candidates[case["candidates"]] = True
    found = index.search(tokenize(case["query"]), candidates, parameters=Bm25(case["k1"], case["b"]))
    rows = zip(found.rows.tolist(), found.scores.tolist(), strict=True)
    assert [{"row": row, "score": score} for row, score in rows] == case["expected"]


@cases("bm25.json")
def test_another_library_gives_the_same_scores(case: dict[str, Any]) -> None:
    """bm25s, in single precision; its formula of this kind leaves out the constant factor k1 + 1."""
    texts = [tokens(BM25["rows"][row]) for row in case["candidates"]]
    query = tokens(case["query"])
    known = {token for text in texts for token in text}
    if not known:
        assert case["expected"] == []
        return
    retriever = bm25s.BM25(method="lucene", k1=case["k1"], b=case["b"])
    retriever.index(texts, show_progress=False)
    weights = np.zeros(len(texts))
    for token in query:
        if token in known:
            weights += retriever.get_scores([token]) * (case["k1"] + 1)
    expected = {each["row"]: each["score"] for each in case["expected"]}
    for row, weight in zip(case["candidates"], weights.tolist(), strict=True):
        assert math.isclose(weight, expected.get(row, 0.0), rel_tol=1e-5, abs_tol=1e-9)


@cases("rrf.json")
def test_fusion(case: dict[str, Any]) -> None:
    fused = rrf_fuse(case["rankings"], case["k"], case["weights"])
    ordered = sorted(fused.items(), key=lambda pair: (-pair[1], pair[0]))
    assert [name for name, _ in ordered] == case["order"]
    assert [score for _, score in ordered] == case["scores"]


@cases("chunks.json", "paragraph")
def test_chunks(case: dict[str, Any]) -> None:
    chunker = ParagraphChunker(case["max_chars"], case["overlap_chars"])
    chunks = [[each.span.start, each.span.end, each.text] for each in chunker.chunk(case["text"])]
    assert chunks == case["chunks"]
    assert all(case["text"][start:end] == text for start, end, text in chunks)


class SentenceVectors:
    """The model of the semantic cases."""

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        return np.array(VECTORS[text], np.float32)

    def token_starts(self, text: str) -> list[int]:
        raise AssertionError("no budget of these is in tokens")


def _name(part: Any) -> str:
    return part["name"] if isinstance(part, dict) else str(part)


@pytest.mark.parametrize(
    ("chunker", "case"), [(name, case) for name in BY_HAND for case in read("chunks.json")[name]], ids=_name
)
def test_chunks_by_hand(chunker: str, case: dict[str, Any]) -> None:
    made = make_chunker(chunker, case["max_chars"], case["overlap_chars"], model=SentenceVectors())
    chunks = [
        {
            "start": each.span.start,
            "end": each.span.end,
            "text": each.text,
            "heading": each.heading,
            "parent_id": each.parent_id,
            "parent": None if each.parent_span is None else [each.parent_span.start, each.parent_span.end],
        }
        for each in made.chunk(case["text"])
    ]
    assert chunks == case["chunks"]
    assert all(case["text"][each["start"] : each["end"]] == each["text"] for each in chunks)


def test_every_chunker_has_cases_in_three_languages() -> None:
    assert {*BY_HAND, "paragraph", "whole"} == set(CHUNKERS)
    for name, written in BY_HAND.items():
        assert {case[0].partition(":")[0] for case in written} == {"en", "zh", "ja"}, name


@cases("filters.json")
def test_filters(case: dict[str, Any]) -> None:
    findings = Findings()
    tree = decode_filter(ParseDict(case["filter"], filter_pb2.Filter()), "filter", findings, DAY)
    found = [(each.field, each.reason.name) for each in findings.violations]
    if tree is not None:
        schema = {name: Family(family) for name, family in FILTERS["families"].items()}
        found += [(each.field, each.reason.name) for each in check_filter(tree, schema, "filter")]
    assert sorted(found) == [(each["field"], each["reason"]) for each in case.get("faults", [])]
    if not found:
        assert tree is not None
        rows = [place for place, row in enumerate(FILTERS["rows"]) if matches(tree, _attributes(row))]
        assert rows == case["rows"]


def _attributes(row: dict[str, Any]) -> dict[str, Any]:
    findings = Findings()
    read_values = {
        name: decode_value(ParseDict(value, value_pb2.Value()), name, findings, DAY) for name, value in row.items()
    }
    findings.settle()
    return read_values


@cases("rankings.json")
def test_orders_of_judges(case: dict[str, Any]) -> None:
    order = parse_ranking(case["text"], case["candidates"])
    assert (None if order is None else list(order)) == case["order"]


def _given(vector: dict[str, Any]) -> dict[str, str]:
    return {name: vector[name] for name in ("fiscal_year_start", "fiscal_year_named_by", "language") if name in vector}


@cases("periods.json", "vectors")
def test_periods(case: dict[str, Any]) -> None:
    reference = date.fromisoformat(PERIODS["reference"])
    if "fault" in case:
        with pytest.raises(PeriodError) as raised:
            parse_period(case["text"], reference=reference, **_given(case))
        assert raised.value.fault.value == case["fault"]
        assert list(raised.value.candidates) == case.get("candidates", [])
        return
    period = parse_period(case["text"], reference=reference, **_given(case))
    assert (period.first.isoformat(), period.last.isoformat()) == (case["first"], case["last"])
    assert period.canonical == case.get("period", period.canonical)
    assert period.kind.value == case.get("kind", period.kind.value)


@pytest.mark.parametrize(
    "vector", [each for each in PERIODS["vectors"] if "period" in each], ids=lambda each: each["text"]
)
def test_the_days_of_a_period_are_those_of_its_canonical_form(vector: dict[str, Any]) -> None:
    start, named_by = vector.get("fiscal_year_start", "01-01"), vector.get("fiscal_year_named_by", "end")
    assert kind_of(vector["period"]) == vector["kind"]
    assert [day.isoformat() for day in days_of(vector["period"], start, named_by)] == [vector["first"], vector["last"]]


def test_each_language_has_many_hostile_cases() -> None:
    for name, language in itertools.product(("tokens.json", "chunks.json"), ("en", "zh", "ja")):
        content = read(name)
        found = content.get("cases") or content["paragraph"]
        assert sum(case["name"].startswith(f"{language}: ") for case in found) >= 8, (name, language)
