"""Variants by the glossary: the original first, synonyms both ways, few, and through the gate."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Call, CallOptions, ExplainLevel, QueryVariant, Snippets, Summary
from groundwire_server.glossary import EntityTerm, Glossary, MetricTerm, Synonym
from groundwire_server.narrative import (
    MAX_VARIANTS,
    RetrievalMode,
    RetrievalParts,
    RetrievalTuning,
    RetrieveRequest,
    glossary_variants,
    retrieve,
)
from groundwire_server.security import SecurityGate, local_principal
from groundwire_server.text import normalize
from tests.support.libraries import Doc, make_library

GLOSSARY = Glossary(
    [
        MetricTerm(
            "REVENUE",
            label="Revenue",
            synonyms=(
                Synonym("revenue", "en"),
                Synonym("turnover", "en"),
                Synonym("net sales", "en"),
                Synonym("top line", "en"),
                Synonym("売上高", "ja"),
                Synonym("营业收入", "zh"),
            ),
        ),
        MetricTerm("REVENUE_GROWTH", label="Revenue growth", synonyms=(Synonym("増収率", "ja"),)),
        EntityTerm("ACME_HK", label="Acme Hong Kong", synonyms=(Synonym("香港", "zh"),)),
    ]
)


@pytest.mark.parametrize(
    ("query", "variants"),
    [
        (
            "why did revenue fall",
            ["why did turnover fall", "why did 売上高 fall", "why did 营业收入 fall", "why did net sales fall"],
        ),
        ("香港revenue", ["Acme Hong Kong营业收入", "香港turnover", "香港売上高", "香港net sales"]),
        ("香港 売上高", ["Acme Hong Kong 营业收入", "香港 Revenue", "香港 turnover", "香港 net sales"]),
        (
            "売上高は減ったか",
            ["Revenueは減ったか", "营业收入は減ったか", "turnoverは減ったか", "net salesは減ったか"],
        ),
        ("", []),
    ],
)
def test_names_are_exchanged_for_their_synonyms(query: str, variants: list[str]) -> None:
    assert glossary_variants(query, GLOSSARY) == variants


def test_what_may_mean_several_terms_stays_as_it_is() -> None:
    glossary = Glossary(
        [
            MetricTerm("A", synonyms=(Synonym("income", "en"), Synonym("alpha", "en"))),
            MetricTerm("B", synonyms=(Synonym("income", "en"), Synonym("beta", "en"))),
        ],
        ambiguous="report",
    )
    assert glossary_variants("income", glossary) == []
    assert glossary_variants("income of B", glossary) == ["income of income", "income of beta"]


@given(query=st.text(max_size=40) | st.lists(st.sampled_from(["revenue", "香港", "売上高", " ", "x"])).map("".join))
def test_variants_are_few_and_none_is_a_repeat(query: str) -> None:
    variants = glossary_variants(query, GLOSSARY)
    normals = [normalize(query), *map(normalize, variants)]
    assert len(normals) <= MAX_VARIANTS
    assert len(set(normals)) == len(normals)


DOCS = [
    Doc("ja.md", "売上高は新店舗で増えた。"),
    Doc("zh.md", "营业收入增长了。"),
    Doc("en.md", "Turnover fell in spring."),
    Doc("other.md", "Nothing of the kind."),
]


def run(
    folder: Path, query: str, *, variants: bool | None, gate: SecurityGate | None = None
) -> tuple[list[str], Summary]:
    snapshot = make_library(folder, DOCS, glossary=GLOSSARY).snapshot()
    request = RetrieveRequest(query, mode=RetrievalMode.LEXICAL, tuning=RetrievalTuning(glossary_variants=variants))
    call = Call(local_principal(), CallOptions(explain=ExplainLevel.PLAN))
    frames = list(retrieve(request, call, [snapshot], RetrievalParts(gate=gate or SecurityGate())))
    found = [one.lineage.doc_id for frame in frames if isinstance(frame, Snippets) for one in frame.snippets]
    summary = frames[-1]
    assert isinstance(summary, Summary)
    return found, summary


def test_a_question_in_one_language_reaches_text_in_another(tmp_path: Path) -> None:
    found, summary = run(tmp_path, "revenue", variants=None)
    assert sorted(found) == ["en.md", "ja.md", "zh.md"]
    assert summary.variants[0] == QueryVariant("revenue", "caller")
    assert {variant.made_by for variant in summary.variants[1:]} == {"glossary"}


def test_variants_can_be_switched_off(tmp_path: Path) -> None:
    found, summary = run(tmp_path, "revenue", variants=False)
    assert (found, summary.variants) == ([], (QueryVariant("revenue", "caller"),))
    assert "rewrite" not in {timing.stage for timing in summary.timings}


def test_a_variant_that_names_something_outside_is_not_searched(tmp_path: Path) -> None:
    found, summary = run(tmp_path, "revenue", variants=True, gate=SecurityGate(["売上高"]))
    assert "ja.md" not in found
    assert "売上高" not in {variant.text for variant in summary.variants}
