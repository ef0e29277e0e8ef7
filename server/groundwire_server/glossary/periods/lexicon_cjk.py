"""Chinese (both scripts) and Japanese words of periods. The longest one wins at each place."""

from __future__ import annotations

from groundwire_server.glossary.periods.eras import ERAS, MINGUO
from groundwire_server.glossary.periods.symbols import Lexicon, Symbol, Unit

__all__ = ["CJK", "NUMERALS"]

NUMERALS = {char: value for value, char in enumerate("〇一二三四五六七八九十")} | {"零": 0, "○": 0}
"""Numerals of years, months, days and quarters."""

_PLAIN = {
    Symbol.YEAR: "年",
    Symbol.NENDO: "年度 会計年度 会计年度 會計年度 事業年度 财政年度 財政年度 营业年度 營業年度",
    Symbol.FISCAL: "财年 財年",
    Symbol.CALENDAR: "暦年 历年 曆年",
    Symbol.COMMON_ERA: "西暦 公元 西元",
    Symbol.ERA_FIRST: "元",
    Symbol.FULL: "通期 通年 全年 全年度",
    Symbol.QUARTER: "四半期 クォーター 季度 季 个季度 個季度",
    Symbol.MONTH: "月 月份 月度",
    Symbol.DAY: "日 号 號",
    Symbol.TERM: "期",
    Symbol.NTH: "第",
    Symbol.END: "末 底 末日 终 終 期末",
    Symbol.OF: "の 的",
    Symbol.AS_OF: "截至 截止 截止到 截至到 截至于",
    Symbol.AS_OF_AFTER: "時点 时点 時點 現在 现在 時 时 止 为止 為止 当日 當日 付",
    Symbol.FROM: "从 從 自 由",
    Symbol.TO: "至 到",
    Symbol.FROM_AFTER: "から より",
    Symbol.TO_AFTER: "まで 迄",
    Symbol.AND: "と 和 与 與",
    Symbol.MONTHS: "か月 ヶ月 カ月 ヵ月 ケ月 箇月 个月 個月 か月間 ヶ月間 カ月間 ヵ月間",
    Symbol.PAST: "直近 過去 过去 最近 近",
    Symbol.OPEN_BEFORE: "自从 自從",
    Symbol.OPEN_AFTER: "以降 以来 以來 以後 以后 以前 之后 之後 之前 至今 迄今 到现在 到現在 から現在 から今 "
    "から現在まで 起 より前",
    Symbol.ROLLING: "年初来 年初以来 年初以來 年初至今 年初到现在 今年以来 今年以來 本年累计 本年累計 今年累计 "
    "今年累計 期初来 累計 累计 累計期間 累计期间",
    Symbol.DECADE: "年代",
    # Words that hold one of the above and mean something else.
    Symbol.OTHER: "日本 毎年 每年 毎月 每月 毎日 每日 年間 年间 月間 周年 年末年始 日間 四季報",
}
_HALVES = {
    1: "上半期 上期 上半年 上半年度 上半 前半 前半期 中間期 中间期",
    2: "下半期 下期 下半年 下半年度 下半 後半 后半 後半期",
}
_RELATIVE = {
    (Unit.YEAR, -3): "大前年 一昨昨年",
    (Unit.YEAR, -2): "一昨年 おととし",
    (Unit.YEAR, -1): "去年 昨年 上年 上一年",
    (Unit.YEAR, 0): "今年 本年 当年 當年",
    (Unit.YEAR, 1): "来年 來年 明年 下一年",
    (Unit.YEAR, 2): "再来年 後年 后年",
    (Unit.BEFORE_LAST_OR_LAST, 0): "前年",
    (Unit.FISCAL_BEFORE_LAST_OR_LAST, 0): "前年度",
    (Unit.FISCAL_YEAR, -2): "一昨年度",
    (
        Unit.FISCAL_YEAR,
        -1,
    ): "昨年度 去年度 上年度 上一年度 上财年 上財年 上个财年 上個財年 上一财年 上一財年 前会計年度",
    (Unit.FISCAL_YEAR, 0): "今年度 本年度 当年度 當年度 本财年 本財年 当会計年度",
    (Unit.FISCAL_YEAR, 1): "来年度 來年度 下年度 下财年 下財年 下一财年 下一財年",
    (Unit.QUARTER, -1): "前四半期 先四半期 上季度 上季 上个季度 上個季度 上一季度",
    (Unit.QUARTER, 0): "今四半期 当四半期 本季度 本季 这个季度 這個季度 当季 當季",
    (Unit.QUARTER, 1): "来四半期 翌四半期 下季度 下个季度 下個季度 下一季度",
    (Unit.MONTH, -2): "先々月",
    (Unit.MONTH, -1): "先月 前月 上月 上个月 上個月",
    (Unit.MONTH, 0): "今月 当月 當月 本月 这个月 這個月",
    (Unit.MONTH, 1): "来月 下月 下个月 下個月",
    (Unit.DAY, -2): "一昨日 前天",
    (Unit.DAY, -1): "昨日 昨天",
    (Unit.DAY, 0): "今日 本日 今天",
}


def _build() -> Lexicon:
    words: Lexicon = {word: (kind, None) for kind, listed in _PLAIN.items() for word in listed.split()}
    words.update({word: (Symbol.HALF_NAME, half) for half, listed in _HALVES.items() for word in listed.split()})
    words.update({word: (Symbol.RELATIVE, value) for value, listed in _RELATIVE.items() for word in listed.split()})
    words.update({name: (Symbol.ERA, era) for name, era in ERAS.items()})
    words.update(dict.fromkeys(("民國", "民国", "中華民國", "中华民国", "中華民国"), (Symbol.ERA, MINGUO)))
    words.update(dict.fromkeys(("两", "兩"), (Symbol.COUNT, 2)))
    words.update(dict.fromkeys(("首季", "首季度"), (Symbol.QUARTER_NAME, 1)))
    words["前"] = (Symbol.BEFORE, None)
    return words


CJK = _build()
