"""The language of a sheet, as far as only one language writes its characters."""

from __future__ import annotations

import re

__all__ = ["find_language"]

# Characters that only one of the languages writes today.
_JAPANESE = frozenset(
    "売円営経済価単広駅気図戦団帰対応発変検験険権毎両帯拡拠転労収従実読続総桜沢浜渋择営払込内訳期"
) - frozenset("内期择")
_SIMPLIFIED = frozenset("营额亿资产负债业务润银费销财报单币间经济价东权员这个们应发总净现货库账贷")
_TRADITIONAL = frozenset("營總經價單幣應發萬億資產負債業務潤銀費銷財報間東權員這個們淨現貨庫帳貸額收")
_TRADITIONAL_ONLY = frozenset("營總經價單幣應發萬這個們淨潤產")
_KANA = re.compile(r"[\u3041-\u30fa\uff66-\uff9d]")


def find_language(texts: list[str]) -> tuple[str, bool]:
    """("ja", "zh" or "" where it is not clear; whether the Chinese is written in traditional characters).

    Numbers of money hang on it, so it is told by what only one of the languages writes, and not guessed.

    >>> (
    ...     find_language(["売上高"]),
    ...     find_language(["营业收入"]),
    ...     find_language(["資本", "¥12"]),
    ...     find_language(["營業額"]),
    ... )
    (('ja', False), ('zh', False), ('', False), ('zh', True))
    """
    letters = set("".join(texts))
    japanese = bool(letters & _JAPANESE) or any(_KANA.search(text) for text in texts)
    simplified = bool(letters & _SIMPLIFIED)
    traditional = bool(letters & _TRADITIONAL_ONLY)
    if japanese == (simplified or traditional):
        return "", False
    return ("ja", False) if japanese else ("zh", traditional)
