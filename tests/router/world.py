"""A small world of figures and texts in three languages."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from groundwire_server.dense import Embedder
from groundwire_server.evidence import Label
from groundwire_server.glossary import ChannelTerm, EntityTerm, Glossary, MetricTerm, Synonym
from groundwire_server.library import Library
from groundwire_server.store import FactRecord
from tests.support.libraries import Doc, make_library

__all__ = ["DOCS", "FACTS", "GLOSSARY", "figure", "make_world"]

GLOSSARY = Glossary(
    [
        MetricTerm(
            "REVENUE",
            label="Revenue",
            unit="USD",
            synonyms=(Synonym("net sales", "en"), Synonym("营业收入", "zh"), Synonym("売上高", "ja")),
        ),
        MetricTerm("POPULATION", label="Population", synonyms=(Synonym("人口", "zh"), Synonym("人口", "ja"))),
        MetricTerm("ROE", label="ROE"),
        EntityTerm("ACME", label="Acme Corp", synonyms=(Synonym("艾克米", "zh"), Synonym("アクメ", "ja"))),
        EntityTerm("YORKLAND", label="Yorkland", synonyms=(Synonym("约克兰", "zh"), Synonym("ヨーク", "ja"))),
        EntityTerm("US", label="United States", synonyms=(Synonym("US", "en"),)),
        ChannelTerm("CLOUD", label="Cloud", synonyms=(Synonym("クラウド", "ja"),)),
    ]
)


def figure(metric: str, entity: str, period: str, value: str, **changes: object) -> FactRecord:
    """A figure of a calendar year."""
    given: dict[str, object] = {
        "metric": metric,
        "entity": entity,
        "period": period,
        "period_first": date(int(period), 1, 1),
        "period_last": date(int(period), 12, 31),
        "channel": "TOTAL",
        "value": value,
        "unit": "USD" if metric == "REVENUE" else "persons",
        "source_doc": "figures.xlsx",
        "locator": f"figures.xlsx#cell={metric[0]}{period}",
    }
    return FactRecord(**(given | changes))  # type: ignore[arg-type]


FACTS = [
    figure("REVENUE", "ACME", "2022", "1250.75"),
    figure("REVENUE", "ACME", "2023", "1100"),
    figure("REVENUE", "ACME", "2023", "400.5", channel="CLOUD"),
    figure("POPULATION", "YORKLAND", "2020", "5012345"),
    figure("POPULATION", "ACME", "2020", "17"),
    figure("REVENUE", "YORKLAND", "2023", "999", label=Label.RESTRICTED),
]
DOCS = [
    Doc(
        "en/review.md",
        "# Review\n\nThe revenue of Acme fell in 2023 because three stores were closed after a flood. "
        "Management expects 2.5 percent growth.\n\nThe canteen serves soup.",
        title="Annual review",
    ),
    Doc("en/people.md", "Jane Doe has led Acme since 2019. She founded the Cloud division."),
    Doc("ja/kaiko.md", "アクメの売上高は洪水で三店舗が閉鎖されたため減少した。食堂ではスープが出る。", title="回顧"),
    Doc("zh/huigu.md", "艾克米的营业收入因洪水导致三家门店关闭而下降。食堂供应汤。", title="回顾"),
    Doc("en/secret.md", "Acme will be sold because the owner is ill. CANARY", label=Label.RESTRICTED),
]


def make_world(
    folder: Path, *, library_id: str = "default", embedder: Embedder | None = None, hidden: bool = True
) -> Library:
    """The library. `hidden` False: without what nobody may read."""
    docs = [doc for doc in DOCS if hidden or doc.label is not Label.RESTRICTED]
    facts = [fact for fact in FACTS if hidden or fact.label is not Label.RESTRICTED]
    return make_library(folder, docs, library_id=library_id, facts=facts, glossary=GLOSSARY, embedder=embedder)
