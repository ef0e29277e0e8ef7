"""Web pages, by pandoc and by lxml."""

from __future__ import annotations

from pathlib import Path

import pypandoc
from lxml.builder import ElementMaker
from lxml.etree import tostring

__all__ = ["MAKERS"]

element = ElementMaker()

_ENGLISH = """---
title: Ferry report 2024
author: Harbour Line
date: 2024-03-31
lang: en
---

# Passengers

More people took the ferry in 2024 than in any year before: 1,204,000 crossed the bay.

Most of them travelled between June and September, when two boats ran in the evening as well.

## By route

| Route        | 2023    | 2024    |
|--------------|--------:|--------:|
| North pier   | 512,000 | 640,000 |
| South pier   | 488,000 | 564,000 |

# Boats

The company runs three boats.

1. The *Heron* carries 400 people and 30 cars.
2. The *Tern* carries 250 people and no cars.
3. The *Plover* is kept in reserve for repairs and storms.

## Fuel

Each crossing took 41.5 litres of diesel on average, 3 litres less than a year ago[^1].

[^1]: Measured at the pump of the north pier.
"""

_JAPANESE = (
    ("フェリー運航報告", "h1"),
    ("2024年の利用者数は120万4千人で、過去最高となりました。", "p"),
    ("航路別の利用者", "h2"),
    ("夏の夕方に増便したことが、北桟橋の利用者を大きく押し上げました。", "p"),
)


def pandoc_page(path: Path) -> None:
    """A page as pandoc writes it, with its title block and a note."""
    pypandoc.convert_text(_ENGLISH, "html5", format="markdown", outputfile=str(path), extra_args=["--standalone"])


def page_with_surroundings(path: Path) -> None:
    """A Japanese page with navigation, an aside, a script and a footer around its content, and a table with heads."""
    blocks = [element(name, text) for text, name in _JAPANESE]
    rows = (("桟橋", "2023年", "2024年"), ("北桟橋", "51万2千人", "64万人"), ("南桟橋", "48万8千人", "56万4千人"))
    head, *body = rows
    table = element.table(
        element.caption("桟橋ごとの利用者数"),
        element.thead(element.tr(*(element.th(cell) for cell in head))),
        element.tbody(*(element.tr(element.th(row[0]), *(element.td(cell) for cell in row[1:])) for row in body)),
    )
    page = element.html(
        element.head(
            element.meta(charset="utf-8"), element.title("フェリー運航報告 2024年"), element.script("let a = 1;")
        ),
        element.body(
            element.header(element.nav(element.ul(element.li(element.a("ホーム", href="/")), element.li("会社案内")))),
            element.main(
                *blocks,
                table,
                element.h2("燃料"),
                element.p("一回の航海あたりの軽油は平均", element.b("41.5リットル"), "でした。"),
                element.aside(element.a("関連記事を見る", href="/more")),
            ),
            element.footer("© 港湾汽船"),
        ),
        lang="ja",
    )
    path.write_bytes(tostring(page, method="html", encoding="utf-8", doctype="<!DOCTYPE html>"))


def page_in_gb18030(path: Path) -> None:
    """A Chinese page in the charset that it names, laid out by a table and with lines broken within sentences."""
    page = """<!DOCTYPE html>
<html lang="zh"><head><meta http-equiv="Content-Type" content="text/html; charset=gb18030">
<title>渡轮运营报告</title></head>
<body><table role="presentation"><tr><td>
<h1>渡轮运营报告</h1>
<p>二〇二四年共有一百二十万四千人次乘坐渡轮，
创下历史新高。</p>
<h2>船只</h2>
<ul><li>苍鹭号可载四百人和三十辆汽车。</li><li>燕鸥号可载二百五十人，不载汽车。</li></ul>
<h2>燃料</h2>
<p>每次航行平均消耗柴油四十一点五升，<br>比上一年少三升。</p>
</td></tr></table></body></html>
"""
    path.write_bytes(page.encode("gb18030"))


MAKERS = {
    "ferry.pandoc.html": pandoc_page,
    "ferry-ja.lxml.html": page_with_surroundings,
    "ferry-zh.gb18030.html": page_in_gb18030,
}
