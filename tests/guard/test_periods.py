"""A figure stays with its half, quarter or months; a change from one figure to another is no range."""

from __future__ import annotations

import pytest

from .support import judge

HALVES = "公司2024年上半年营收5亿元，下半年营收6亿元。"
MONTHS = "4〜6月期の利益は30億円、7〜9月期は40億円だった。"
FISCAL = "2023年度第3四半期の売上高は500億円だった。"
CHANGE = "売上高は100億円から120億円に増えた。"
RANGE = "旅客数は8%から11%増える見通しだ。"


@pytest.mark.parametrize(
    ("sentence", "source", "language", "passes"),
    [
        ("公司2024年下半年营收6亿元。", HALVES, "zh", True),
        ("公司2024年上半年营收6亿元。", HALVES, "zh", False),
        ("7〜9月期の利益は40億円だった。", MONTHS, "ja", True),
        ("4〜6月期の利益は40億円だった。", MONTHS, "ja", False),
        ("第3四半期の売上高は500億円だった。", FISCAL, "ja", True),
        ("2023年度の第3四半期の売上高は500億円だった。", FISCAL, "ja", True),
        ("2022年度第3四半期の売上高は500億円だった。", FISCAL, "ja", False),
        ("売上高は120億円に増えた。", CHANGE, "ja", True),
        ("旅客数は8%から11%増える見通しだ。", RANGE, "ja", True),
        ("旅客数は11%増える見通しだ。", RANGE, "ja", False),
        ("In 2023 Marlow earned $96 million.", "Marlow earned $96 million in 2023.", "en", True),
    ],
)
def test_a_period_or_an_end_goes_with_its_figure(sentence: str, source: str, language: str, passes: bool) -> None:
    assert judge(sentence, source, language=language).passed is passes
