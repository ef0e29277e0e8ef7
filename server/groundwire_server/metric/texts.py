"""Fixed sentences of metric outcomes, by language. None holds a figure: the only digits are those of the period."""

from __future__ import annotations

from groundwire_server.evidence import LANGUAGES
from groundwire_server.glossary import PeriodFault

__all__ = ["ambiguous_text", "not_found_text", "period_text"]

_NOT_FOUND = {
    "en": "No figure is stored for this metric, entity and channel in {period}.",
    "zh": "没有存储该指标、该主体、该渠道在 {period} 的数值。",
    "ja": "この指標・対象・チャネルについて、{period} の数値は保存されていません。",
}
_AMBIGUOUS = {
    "en": "This name means several things, and none is picked.",
    "zh": "这个名称有多种含义，未作选择。",
    "ja": "この名称には複数の意味があり、どれも選びません。",
}
_PERIODS: dict[PeriodFault, dict[str, str]] = {
    PeriodFault.UNKNOWN: {
        "en": "This cannot be read as a period.",
        "zh": "无法识别为期间。",
        "ja": "期間として読み取れません。",
    },
    PeriodFault.AMBIGUOUS: {
        "en": "This period can be read in several ways, and none is picked.",
        "zh": "这个期间有多种读法，未作选择。",
        "ja": "この期間は複数の読み方ができ、どれも選びません。",
    },
    PeriodFault.NO_YEAR: {
        "en": "This period names no year, and the current one is not assumed.",
        "zh": "这个期间没有年份，不会默认为今年。",
        "ja": "この期間には年がなく、今年とはみなしません。",
    },
    PeriodFault.OPEN: {
        "en": "This period has no beginning or no end.",
        "zh": "这个期间没有起点或终点。",
        "ja": "この期間には始まりか終わりがありません。",
    },
    PeriodFault.ROLLING: {
        "en": "Year-to-date and rolling periods are not answered.",
        "zh": "不回答年初至今或滚动期间。",
        "ja": "年初来や直近の移動期間には回答しません。",
    },
    PeriodFault.IMPOSSIBLE: {
        "en": "This period does not exist in the calendar.",
        "zh": "历法中没有这个期间。",
        "ja": "この期間は暦に存在しません。",
    },
}


def not_found_text(period: str, language: str) -> str:
    """That there is no figure.

    >>> not_found_text("2024Q3", "en")
    'No figure is stored for this metric, entity and channel in 2024Q3.'
    """
    return _in(_NOT_FOUND, language).format(period=period)


def ambiguous_text(language: str) -> str:
    """That a name means several things."""
    return _in(_AMBIGUOUS, language)


def period_text(fault: PeriodFault, language: str) -> str:
    """Why a text names no period."""
    return _in(_PERIODS[fault], language)


def _in(texts: dict[str, str], language: str) -> str:
    return texts[language if language in LANGUAGES else "en"]
