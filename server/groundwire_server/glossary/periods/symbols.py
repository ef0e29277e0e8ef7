"""What the words of all languages come down to before they are put together: symbols with a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["Lexicon", "Symbol", "Unit", "Word"]


class Symbol(Enum):
    """Kinds of words. Comments name the value that a word of the kind carries."""

    NUMBER = auto()  # int, with its digits as text
    COUNT = auto()  # int that was spelled out: three, 三
    ORDINAL = auto()  # int: first
    ORDINAL_MARK = auto()  # the st of 1st
    MONTH_NAME = auto()  # int: march
    YEAR = auto()  # 年
    YEAR_WORD = auto()  # year
    NENDO = auto()  # 年度: fiscal, named in its own way
    FISCAL = auto()  # FY, fiscal year, 财年
    CALENDAR = auto()  # CY, calendar year, 暦年
    COMMON_ERA = auto()  # 西暦
    ERA = auto()  # Era: 令和
    ERA_FIRST = auto()  # 元, the first year of an era
    FULL = auto()  # full year, 通期
    QUARTER = auto()  # q, quarter, 四半期
    QUARTER_NAME = auto()  # int: 首季
    HALF = auto()  # h, half
    HALF_NAME = auto()  # int: 上半期
    MONTH = auto()  # 月
    DAY = auto()  # 日
    TERM = auto()  # the 期 of 3月期
    NTH = auto()  # 第
    END = auto()  # end, 末
    YEAR_END = auto()  # year-end
    OF = auto()  # of, の, 的
    THE = auto()  # the
    AS_OF = auto()  # as of, 截至
    AS_OF_AFTER = auto()  # 時点
    RELATIVE = auto()  # (Unit, offset): last year
    AGO = auto()  # Unit: years ago
    BEFORE = auto()  # the 前 of 三年前
    FROM = auto()  # from, 从
    TO = auto()  # to, 至
    FROM_AFTER = auto()  # から, which stands behind the beginning
    TO_AFTER = auto()  # まで, which stands behind the end
    AND = auto()  # and
    ENDED = auto()  # ended
    MONTHS = auto()  # months, か月
    WEEKS = auto()  # weeks
    PAST = auto()  # last, 過去, before a number of units
    OPEN_BEFORE = auto()  # since
    OPEN_AFTER = auto()  # onwards, 以降
    ROLLING = auto()  # year to date, 累計
    DECADE = auto()  # 年代
    DASH = auto()  # - – 〜
    SLASH = auto()  # /
    DOT = auto()  # .
    COMMA = auto()  # , | 、
    APOSTROPHE = auto()  # '
    OTHER = auto()  # anything else


class Unit(Enum):
    """Lengths of time that relative words speak of."""

    DAY = auto()
    MONTH = auto()
    QUARTER = auto()
    YEAR = auto()
    FISCAL_YEAR = auto()
    BEFORE_LAST_OR_LAST = auto()  # 前年: last year in Japanese, two years ago in Chinese
    FISCAL_BEFORE_LAST_OR_LAST = auto()  # 前年度


Lexicon = dict[str, tuple[Symbol, object]]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text, in its normal form.

    start, end: its place in the folded text. glued: no blank before it. letters: it is Latin letters or digits, which
    need a border on both sides where a period begins or ends.
    """

    symbol: Symbol
    value: object
    text: str
    start: int
    end: int
    glued: bool
    letters: bool
