"""The language of a short text, as far as its script tells."""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Language", "detect_language", "guess_language"]

Language = Literal["en", "ja", "zh"]

_KANA = re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff6f\uff71-\uff9d]")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")

# Forms that one of the two alone writes: an entity of the other country may stand in a question, so both count.
_JAPANESE_HAN = re.compile(
    "[売円営経済価単広駅気図戦団帰対応発変検験険権毎両帯拡拠転労収従実読続総桜払訳増]"
    "|令和|平成|昭和|[0-9０-９]月期|四半期"
)
_CHINESE_HAN = re.compile(
    "[营额亿资产负债业务润银费销财报单币间经济价东权员这们应发总净现货库账贷營總經價單應發這們淨產數收增]"
)


def detect_language(text: str) -> Language:
    """Japanese where there is kana, else Chinese where there is Han, else English.

    >>> detect_language("売上はいくらか"), detect_language("营业收入是多少"), detect_language("Revenue?")
    ('ja', 'zh', 'en')
    """
    if _KANA.search(text) is not None:
        return "ja"
    return "zh" if _HAN.search(text) is not None else "en"


def guess_language(text: str) -> Language:
    """The language to answer in: that of `detect_language`, but Japanese where Han tells it, and nothing Chinese.

    >>> guess_language("Revenue Acme 2024年3月期"), guess_language("营业收入"), guess_language("營業收入 広島銀行")
    ('ja', 'zh', 'zh')
    """
    language = detect_language(text)
    japanese = _JAPANESE_HAN.search(text) is not None and _CHINESE_HAN.search(text) is None
    return "ja" if language == "zh" and japanese else language
