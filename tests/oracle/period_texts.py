"""Periods as people write them, in English, Chinese and Japanese."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta

__all__ = ["Meant", "draw_meant", "nonsense", "relative", "unreadable", "written"]

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
_MONTHS += ["October", "November", "December"]
_ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True)
class Meant:
    """A period that somebody has in mind."""

    kind: str  # year, half, quarter, month, day, interval
    year: int
    part: int = 0
    fiscal: bool = False
    day: date | None = None
    last: date | None = None


def draw_meant(draw: random.Random) -> Meant:
    """Any period."""
    kind = draw.choices(("year", "half", "quarter", "month", "day", "interval"), weights=(8, 2, 4, 2, 4, 2))[0]
    year = draw.randint(2017, 2025)
    day = date(year, 1, 1) + timedelta(days=draw.choice((draw.randrange(365), 89, 180, 272, 364)))
    parts = {"half": 2, "quarter": 4, "month": 12}.get(kind, 1)
    last = None
    if kind == "interval":
        start = draw.choice((date(year, 1, 1), date(year, 4, 1), date(year, 3, 29), date(year, 9, 27), day))
        ends = [start + timedelta(days=number) for number in (363, 364, 370, 30)]
        day, last = start, draw.choice((*ends, date(year, 12, 31)))
        last = max(last, day + timedelta(days=1))
    fiscal = kind in ("year", "half", "quarter") and draw.random() < 0.45
    return Meant(kind, year, draw.randint(1, parts), fiscal, day, last)


def written(draw: random.Random, meant: Meant) -> str:
    """A period in one of the forms that the contract names; never 年度, which may name another year."""
    text = draw.choice(_forms(draw, meant))
    way = draw.random()
    if way < 0.08:
        return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text)
    if way < 0.14:
        return f" {text}  "
    if way < 0.2:
        return text.upper()
    if way < 0.26:
        return text.lower()
    return text


def written_with_nendo(draw: random.Random, year: int) -> str:
    """A fiscal year or a part of one, as 年度."""
    number = draw.choice((str(year), f"令和{year - 2018}") if year > 2019 else (str(year),))
    return number + "年度" + draw.choice(("", "", "上半期", "第3四半期", "下半期", "第一四半期", "上期", "末"))


def _forms(draw: random.Random, meant: Meant) -> list[str]:
    year, part = meant.year, meant.part
    if meant.kind == "year":
        if meant.fiscal:
            return [
                f"FY{year}",
                f"FY {year}",
                f"FY{year % 100:02}",
                f"fiscal {year}",
                f"fiscal year {year}",
                f"{year}财年",
                f"{year}財年",
            ]
        return [f"{year}", f"{year}年", *_era_years(year), f"{year}-01-01/{year}-12-31"]
    if meant.kind == "half":
        word, one = _ORDINALS[part - 1], "上下"[part - 1]
        if meant.fiscal:
            return [
                f"FY{year}H{part}",
                f"FY{year} H{part}",
                f"H{part} FY{year}",
                f"{year}财年{one}半年",
                f"{word} half of fiscal {year}",
            ]
        forms = [f"{year}H{part}", f"{year} H{part}", f"H{part} {year}", f"{year}年{one}半期", f"{year}年{one}半年"]
        return [*forms, f"{word} half of {year}", f"{part}H {year}", f"{part}H{year}", f"the {word} half of {year}"]
    if meant.kind == "quarter":
        word, han = _ORDINALS[part - 1], "一二三四"[part - 1]
        if meant.fiscal:
            forms = [f"FY{year}Q{part}", f"FY{year} Q{part}", f"Q{part} FY{year}", f"FY{year % 100:02}Q{part}"]
            return [*forms, f"{word} quarter of fiscal {year}", f"{year}财年第{han}季度"]
        return [
            f"{year}Q{part}",
            f"{year} Q{part}",
            f"Q{part} {year}",
            f"{year}年第{part}四半期",
            f"{year}年第{han}四半期",
            f"{year}年第{han}季度",
            f"{word} quarter of {year}",
            f"the {word} quarter of {year}",
            f"{year}年{han}季度",
            f"{part}Q {year}",
            f"{part}Q{year}",
            f"{year}-Q{part}",
        ]
    if meant.kind == "month":
        name = _MONTHS[part - 1]
        return [
            f"{year}-{part:02}",
            f"{year}年{part}月",
            f"{name} {year}",
            f"{name[:3]} {year}",
            *_era_months(year, part),
        ]
    assert meant.day is not None
    day = meant.day
    if meant.kind == "interval":
        assert meant.last is not None
        return [f"{day}/{meant.last}"]
    name = _MONTHS[day.month - 1]
    forms = [f"{day}", f"{day:%Y%m%d}", f"{day.year}年{day.month}月{day.day}日", f"{day.day} {name} {day.year}"]
    forms += [f"{name} {day.day}, {day.year}", f"{day:%Y/%m/%d}", f"{day.day} {name[:3]} {day.year}"]
    if day.day > 12:
        forms += [f"{day:%d/%m/%Y}", f"{day:%m/%d/%Y}"]
    if (day.month, day.day) == (12, 31):
        forms += [f"{day.year}年末", f"end of {day.year}"]
    if (day + timedelta(days=1)).day == 1:
        forms += [f"{day.year}年{day.month}月末"]
    if day >= date(2019, 5, 1):
        era = "元" if day.year == 2019 else str(day.year - 2018)
        forms += [f"令和{era}年{day.month}月{day.day}日"]
    return forms


def _era_years(year: int) -> list[str]:
    roc = f"民國{year - 1911}年"
    if year < 2019:
        return [f"平成{year - 1988}年", roc]
    return [f"令和{year - 2018 if year > 2019 else '元'}年", roc]


def _era_months(year: int, month: int) -> list[str]:
    if year > 2019:
        return [f"令和{year - 2018}年{month}月", f"民國{year - 1911}年{month}月"]
    return [f"民國{year - 1911}年{month}月"]


def relative(draw: random.Random, language: str) -> str:
    """Words that count from a day."""
    words = {
        "en": [
            *("last year", "this year", "previous year", "two years ago", "last quarter", "this quarter"),
            *("previous quarter", "last month", "this month", "last fiscal year", "this fiscal year"),
            *("today", "yesterday", "Last Year", "previous month"),
        ],
        "zh": [
            *("去年", "今年", "前年", "本年", "上季度", "上个季度", "本季度", "上个月", "上月", "本月", "这个月"),
            *("今天", "昨天", "上财年", "本财年", "上財年", "去年", "上個月"),
        ],
        "ja": [
            *("去年", "昨年", "今年", "前年", "一昨年", "本年", "前四半期", "今四半期", "先月", "今月"),
            *("昨年度", "前年度", "今年度", "本年度", "今日", "昨日", "本日", "おととし"),
        ],
    }
    return draw.choice(words[language])


def unreadable(draw: random.Random) -> str:
    """What is refused with a reason."""
    month, day = draw.sample(range(1, 13), 2)
    return draw.choice(
        [
            "Q3",
            "H1",
            "上半期",
            "第3四半期",
            "上半年",
            "第三季度",
            f"{month:02}/{day:02}/2024",
            "2024-01-01/",
            "2024-01-01/..",
            "/2024-12-31",
            "year to date",
            "YTD",
            "last twelve months",
            "LTM",
            "年初来",
            "平成32年",
            "昭和65年",
            "令和元年4月30日",
            "平成31年5月1日",
            "2024-12-31/2024-01-01",
            "2024-02-30",
            "2023年2月29日",
            "since 2020",
            "2020年以降",
            "2020年以来",
            "今年以来",
            "TTM",
            "past 12 months",
            "过去12个月",
            "直近12か月",
            "2024-13",
            "March",
            "3月",
            "20241301",
            "FY",
            "第5四半期",
            "2024Q5",
            "2024H3",
            "令和0年",
            "6年度",
        ]
    )


def nonsense(draw: random.Random) -> str:
    """What is no period at all."""
    return draw.choice(["soon", "whenever", "zzz", "そのうち", "随便", "blue moon"])
