"""The names and figures that the rewritten questions are asked against."""

from __future__ import annotations

from pathlib import Path

from groundwire_server.glossary import ChannelTerm, EntityTerm, Glossary, MetricTerm, Synonym
from groundwire_server.library import Snapshot
from tests.router.world import figure
from tests.support.libraries import make_library

__all__ = ["rewritten_world"]


def _names(**names: str) -> tuple[Synonym, ...]:
    """Synonyms of each language, parted by |."""
    return tuple(Synonym(name, language) for language, all_names in names.items() for name in all_names.split("|"))


METRICS = [
    ("REVENUE", "Revenue", _names(en="net sales", ja="売上高", zh="营业收入")),
    ("OPERATING_INCOME", "Operating income", _names(ja="営業利益", zh="营业利润")),
    ("NET_INCOME", "Net income", _names(ja="純利益", zh="净利润")),
    ("ROE", "ROE", _names(en="return on equity", ja="自己資本利益率", zh="净资产收益率")),
    ("HEADCOUNT", "Headcount", _names(en="number of employees", ja="従業員数", zh="员工人数")),
    ("TOTAL_ASSETS", "Total assets", _names(ja="総資産", zh="总资产")),
    ("RND", "Research and development expense", _names(en="R&D expense", ja="研究開発費", zh="研发费用")),
    ("INVENTORIES", "Inventories", _names(ja="棚卸資産", zh="存货")),
    ("GDP", "GDP", _names(en="gross domestic product", ja="国内総生産", zh="国内生产总值")),
    ("POPULATION", "Population", _names(ja="人口", zh="人口")),
    ("INFLATION", "Inflation", _names(ja="物価上昇率", zh="通货膨胀率")),
]
ENTITIES = [
    ("HALDEN", "Halden Corp", _names(en="Halden", ja="ハルデン", zh="哈尔登")),
    ("MIRAI", "Mirai Foods", _names(ja="みらい食品", zh="未来食品")),
    ("ING", "ING", ()),
    ("YORK", "York", _names(ja="ヨーク", zh="约克")),
    ("KYOTO", "Kyoto", _names(ja="京都")),
    ("NOR", "Norway", _names(ja="ノルウェー", zh="挪威")),
    ("KEN", "Kenya", _names(ja="ケニア", zh="肯尼亚")),
    ("JPN", "Japan", _names(ja="日本", zh="日本")),
    ("CHN", "China", _names(ja="中国", zh="中国")),
]


def rewritten_world(folder: Path) -> Snapshot:
    """A library with this glossary, a figure of each metric for each entity, and no documents."""
    terms: list[MetricTerm | EntityTerm | ChannelTerm] = [
        *(MetricTerm(code, label=label, synonyms=names) for code, label, names in METRICS),
        *(EntityTerm(code, label=label, synonyms=names) for code, label, names in ENTITIES),
        ChannelTerm("ONLINE", label="Online", synonyms=_names(ja="オンライン", zh="线上")),
    ]
    figures = [figure(metric, entity, "2020", "7") for metric, *_ in METRICS for entity, *_ in ENTITIES]
    return make_library(folder, [], glossary=Glossary(terms), facts=figures).snapshot()
