"""PowerPoint files, by pandoc and python-pptx. That of PowerPoint itself comes from elsewhere (SOURCES.md)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pptx
import pypandoc
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from scripts.samples_word import repack

__all__ = ["MAKERS"]

_CHINESE = """---
title: 渡轮运营汇报
author: 港湾轮船
---

# 乘客

- 二〇二四年共有一百二十万四千人次乘坐渡轮。
- 夏季傍晚增开了两班船。

::: notes
请先感谢两个码头的工作人员。
:::

# 船只

| 船名   | 载客 | 载车 |
|--------|------|------|
| 苍鹭号 | 400  | 30   |
| 燕鸥号 | 250  | 0    |
"""


def by_pandoc(path: Path) -> None:
    """Bullets, notes and a table."""
    pypandoc.convert_text(_CHINESE, "pptx", format="markdown", outputfile=str(path))
    repack(path)


def english(path: Path) -> None:
    """Boxes that were drawn in another order than they are read in, a group, a chart, notes."""
    deck = _deck("Ferry review")
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    _box(slide, 5.2, 2.0, "Fuel fell to 41.5 litres a crossing.")
    _box(slide, 0.6, 2.0, "Passengers rose to 1,204,000.")
    _box(slide, 0.6, 4.0, "Both are records.")
    slide.shapes.title.text = "The year in short"
    slide.notes_slide.notes_text_frame.text = "Thank the crews first.\nThen show the chart."
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    chart: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    chart.categories = ["2023", "2024"]
    chart.add_series("Passengers", (1000, 1204))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(6), Inches(4), chart)
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Boats"
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(7), Inches(2)).table
    for row, cells in enumerate((("Boat", "People", "Cars"), ("Heron", "400", "30"), ("Tern", "250", "none"))):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(5), Inches(4), Inches(1)).text_frame.text = "The Plover is in reserve."
    _save(deck, path)


def japanese(path: Path) -> None:
    """A title and bullets on levels."""
    deck = _deck("フェリーの一年")
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "利用者数"
    frame = slide.placeholders[1].text_frame
    frame.text = "二〇二四年の利用者は百二十万四千人でした。"
    below = frame.add_paragraph()
    below.text, below.level = "北桟橋が六十四万人を占めます。", 1
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "来年の計画"
    slide.placeholders[1].text_frame.text = "冬の朝六時にも船を出します。"
    slide.notes_slide.notes_text_frame.text = "病院の夜勤の方々からの要望です。"
    _save(deck, path)


def _deck(title: str) -> Any:
    deck = pptx.Presentation()
    properties = deck.core_properties
    properties.title, properties.author = title, "Harbour Line"
    properties.created = properties.modified = datetime(2024, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    return deck


def _box(slide: Any, left: float, top: float, text: str) -> None:
    slide.shapes.add_textbox(Inches(left), Inches(top), Inches(4), Inches(1)).text_frame.text = text


def _save(deck: Any, path: Path) -> None:
    deck.save(str(path))
    repack(path)


MAKERS = {
    "ferry-zh.pandoc.pptx": by_pandoc,
    "ferry.python-pptx.pptx": english,
    "ferry-ja.python-pptx.pptx": japanese,
}
