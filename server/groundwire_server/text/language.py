"""The language of a short text, as far as its script tells."""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["Language", "detect_language"]

Language = Literal["en", "ja", "zh"]

_KANA = re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff6f\uff71-\uff9d]")
_HAN = re.compile("[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")


def detect_language(text: str) -> Language:
    """Japanese where there is kana, else Chinese where there is Han, else English.

    >>> detect_language("売上はいくらか"), detect_language("营业收入是多少"), detect_language("Revenue?")
    ('ja', 'zh', 'en')
    """
    if _KANA.search(text) is not None:
        return "ja"
    return "zh" if _HAN.search(text) is not None else "en"
