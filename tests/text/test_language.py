"""The language of an answer, told by the script of the names alone."""

from __future__ import annotations

import pytest
from hypothesis import given

from groundwire_server.text import detect_language, guess_language
from tests.support.hostile_text import hostile_text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("売上高 北斗 2024年3月期", "ja"),
        ("営業利益率 広島銀行 令和6年度", "ja"),
        ("従業員数 北斗", "ja"),
        ("Revenue Acme 2024年3月期", "ja"),
        ("Revenue Acme 令和5年度", "ja"),
        ("Revenue Acme 第3四半期", "ja"),
        ("营业收入 令和5年", "zh"),
        ("売上 アクメ", "ja"),
        ("营业收入 北斗控股 2024年", "zh"),
        ("營業收入 北斗控股 民國113年", "zh"),
        ("营业收入 広島銀行", "zh"),
        ("人口 日本 2020年", "zh"),
        ("revenue Acme 2024", "en"),
        ("", "en"),
    ],
)
def test_han_tells_the_language_where_one_alone_writes_it(text: str, language: str) -> None:
    assert guess_language(text) == language


@given(hostile_text(5))
def test_it_differs_from_what_is_sure_in_han_alone(text: str) -> None:
    assert guess_language(text) == detect_language(text) or (guess_language(text), detect_language(text)) == (
        "ja",
        "zh",
    )
