"""Notes in brackets behind the period of a figure: which of them leave it what it is.

A question may drop a note; a figure may not, for "2024 (forecast)" is no figure of 2024.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["note_of_period", "says_nothing_more"]

_NOTE = re.compile(r"^(?P<period>.*\S)\s*[(\[【〔](?P<note>[^()\[\]【】〔〕]*)[)\]】〕]\s*$", re.DOTALL)
_MARK = re.compile(r"(?:(?:see )?(?:note|注|※)\s?)?\d{1,2}|[a-z]|\*{1,3}|第\d{1,3}期")
_NOTHING_MORE = frozenset({
    "", "restated", "as restated", "revised", "as revised", "audited", "unaudited", "reviewed",
    "actual", "actuals", "reported", "as reported", "fiscal year", "financial year", "calendar year", "12 months",
    "twelve months", "full year", "fy", "cy", "current year", "prior year", "current period", "prior period",
    "実績", "実績値", "修正再表示", "修正再表示後", "遡及修正後", "遡及適用後", "監査済", "監査済み", "未監査",
    "通期", "当期", "前期",
    "当事業年度", "前事業年度", "当連結会計年度", "前連結会計年度", "当会計年度", "前会計年度", "年度",
    "会計年度", "事業年度",
    "经审计", "未经审计", "已审计", "審計", "經審核", "未經審核", "經審計", "重述", "经重述", "重述后",
    "追溯调整后", "經重列", "經重述",
    "实际", "实际值", "實際", "實績", "全年", "本期", "上期", "本年", "上年", "本年度", "上年度",
})  # fmt: skip


def note_of_period(text: str) -> tuple[str, str]:
    """A period and the note in brackets behind it, in NFKC; the note is empty where there is none.

    >>> note_of_period("2024年（予想）"), note_of_period("FY2024")
    (('2024年', '予想'), ('FY2024', ''))
    """
    shown = unicodedata.normalize("NFKC", text).strip()
    found = _NOTE.match(shown)
    return (found["period"], found["note"].strip()) if found else (shown, "")


def says_nothing_more(note: str) -> bool:
    """Whether a note leaves a period what it is: a mark of a footnote, "audited", "実績".

    >>> says_nothing_more("restated"), says_nothing_more("Note 4"), says_nothing_more("forecast")
    (True, True, False)
    """
    folded = " ".join(unicodedata.normalize("NFKC", note).casefold().strip("()[] *").split())
    return folded in _NOTHING_MORE or _MARK.fullmatch(folded) is not None
