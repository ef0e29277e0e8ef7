"""Chunks written down by hand, per chunker: what a careful reader would cut, in English, Chinese and Japanese.

A case is (name, max_chars, overlap_chars, text, chunks); a chunk is (text, heading, parent_id, text of its parent, or
nothing). `make.py` looks up where the texts stand and writes them to `chunks.json`.
"""

from __future__ import annotations

__all__ = ["BY_HAND", "VECTORS", "Chunk", "ChunkCase"]

Chunk = tuple[str, str, str, str]
ChunkCase = tuple[str, int, int, str, list[Chunk]]

LAYOUT: list[ChunkCase] = [
    (
        "en: headings, a table, a list with its lead-in",
        200,
        20,
        "# Report\n\nSales rose.\n\n| q | sales |\n|---|---|\n| 1 | 12 |\n\n"
        "Reasons:\n\n- price\n- volume\n\n## Outlook\nCalm.",
        [
            ("# Report\n\nSales rose.", "Report", "s0", ""),
            ("| q | sales |\n|---|---|\n| 1 | 12 |", "Report", "s0", ""),
            ("Reasons:\n\n- price\n- volume", "Report", "s0", ""),
            ("## Outlook\nCalm.", "Report > Outlook", "s1", ""),
        ],
    ),
    (
        "en: a heading and a deeper one behind it stand together; a rule is no heading",
        200,
        0,
        "intro\n\nTitle\n=====\n\nPart\n----\n\ntext\n\n---\n\n3.5 percent\n-----------x",
        [
            ("intro", "", "", ""),
            ("Title\n=====\n\nPart\n----\n\ntext\n\n---\n\n3.5 percent\n-----------x", "Title > Part", "s0", ""),
        ],
    ),
    (
        "en: a heading in code is none; a table over the budget keeps its rows",
        24,
        0,
        "```\n# no\n```\n\n# Yes\n| a | b |\n| 1 | 2 |\n| 3 | 4 |",
        [
            ("```\n# no\n```", "", "", ""),
            ("# Yes\n| a | b |", "Yes", "s0", ""),
            ("| 1 | 2 |\n| 3 | 4 |", "Yes", "s0", ""),
        ],
    ),
    (
        "zh: 标题与列表",
        100,
        0,
        "# 年报\r\n收入增长3.5%。\r\n\r\n措施如下：\r\n1、降价\r\n2、扩张\r\n\r\n## 展望\r\n平稳。",
        [
            ("# 年报\r\n收入增长3.5%。", "年报", "s0", ""),
            ("措施如下：\r\n1、降价\r\n2、扩张", "年报", "s0", ""),
            ("## 展望\r\n平稳。", "年报 > 展望", "s1", ""),
        ],
    ),
    (
        "ja: 見出しと表",
        100,
        0,
        "# 年次報告\n売上高は増えた。\n\n期\t売上\n1\t12\n\n・価格\n・数量",
        [
            ("# 年次報告\n売上高は増えた。", "年次報告", "s0", ""),
            ("期\t売上\n1\t12", "年次報告", "s0", ""),
            ("・価格\n・数量", "年次報告", "s0", ""),
        ],
    ),
]

PARENT_CHILD: list[ChunkCase] = [
    (
        "en: parents of four budgets, children of one",
        11,
        0,
        "one two\nthree four\nfive six\nseven eight\nnine ten",
        [
            ("one two", "", "p0", "one two\nthree four\nfive six\nseven eight"),
            ("three four", "", "p0", "one two\nthree four\nfive six\nseven eight"),
            ("five six", "", "p0", "one two\nthree four\nfive six\nseven eight"),
            ("seven eight", "", "p0", "one two\nthree four\nfive six\nseven eight"),
            ("nine ten", "", "p1", ""),
        ],
    ),
    (
        "zh: 小块在大块之中，标题为界",
        8,
        0,
        "# 甲\n收入增长了。\n成本下降了。\n# 乙\n平稳。",
        [
            ("# 甲", "甲", "p0", "# 甲\n收入增长了。\n成本下降了。"),
            ("收入增长了。", "甲", "p0", "# 甲\n收入增长了。\n成本下降了。"),
            ("成本下降了。", "甲", "p0", "# 甲\n收入增长了。\n成本下降了。"),
            ("# 乙\n平稳。", "乙", "p1", ""),
        ],
    ),
    (
        "ja: 親は一つ、子は三つ",
        10,
        0,
        "売上高は増えた。費用は減った。\n利益も増えた。",
        [
            ("売上高は増えた。", "", "p0", "売上高は増えた。費用は減った。\n利益も増えた。"),
            ("費用は減った。", "", "p0", "売上高は増えた。費用は減った。\n利益も増えた。"),
            ("利益も増えた。", "", "p0", "売上高は増えた。費用は減った。\n利益も増えた。"),
        ],
    ),
]

SENTENCE_WINDOW: list[ChunkCase] = [
    (
        "en: abbreviations, initials, decimals and addresses end no sentence; three on either side",
        480,
        80,
        "Dr. Sato of the U.S. Treasury rose 3.5 percent. See No. 5, Fig. 2 and example.com, e.g. today! Why?\n"
        '1. "Because." He left.\nJ. Smith stayed.',
        [
            (
                "Dr. Sato of the U.S. Treasury rose 3.5 percent.",
                "",
                "",
                "Dr. Sato of the U.S. Treasury rose 3.5 percent. See No. 5, Fig. 2 and example.com, e.g. today! Why?\n"
                '1. "Because."',
            ),
            (
                "See No. 5, Fig. 2 and example.com, e.g. today!",
                "",
                "",
                "Dr. Sato of the U.S. Treasury rose 3.5 percent. See No. 5, Fig. 2 and example.com, e.g. today! Why?\n"
                '1. "Because." He left.',
            ),
            (
                "Why?",
                "",
                "",
                "Dr. Sato of the U.S. Treasury rose 3.5 percent. See No. 5, Fig. 2 and example.com, e.g. today! Why?\n"
                '1. "Because." He left.\nJ. Smith stayed.',
            ),
            (
                '1. "Because."',
                "",
                "",
                "Dr. Sato of the U.S. Treasury rose 3.5 percent. See No. 5, Fig. 2 and example.com, e.g. today! Why?\n"
                '1. "Because." He left.\nJ. Smith stayed.',
            ),
            (
                "He left.",
                "",
                "",
                'See No. 5, Fig. 2 and example.com, e.g. today! Why?\n1. "Because." He left.\nJ. Smith stayed.',
            ),
            ("J. Smith stayed.", "", "", 'Why?\n1. "Because." He left.\nJ. Smith stayed.'),
        ],
    ),
    (
        "zh: 小数与引号",
        480,
        80,
        "收入增长3.5%。“为什么？”他问；没人答。",
        [
            ("收入增长3.5%。", "", "", "收入增长3.5%。“为什么？”他问；没人答。"),
            ("“为什么？”", "", "", "收入增长3.5%。“为什么？”他问；没人答。"),
            ("他问；", "", "", "收入增长3.5%。“为什么？”他问；没人答。"),
            ("没人答。", "", "", "收入增长3.5%。“为什么？”他问；没人答。"),
        ],
    ),
    (
        "ja: かぎ括弧と行末",
        480,
        80,
        "「増えた。」と言った。\n約2.5倍\n以上",
        [
            ("「増えた。」", "", "", "「増えた。」と言った。\n約2.5倍\n以上"),
            ("と言った。", "", "", "「増えた。」と言った。\n約2.5倍\n以上"),
            ("約2.5倍", "", "", "「増えた。」と言った。\n約2.5倍\n以上"),
            ("以上", "", "", "「増えた。」と言った。\n約2.5倍\n以上"),
        ],
    ),
]

LAWS: list[ChunkCase] = [
    (
        "en: articles, sections, paragraphs; a reference at the start of a line is none",
        200,
        0,
        "Preamble.\nChapter I General\nArticle 1 Scope\nIt applies.\nSection 3 applies too.\n"
        "Article 2\nNo more.\n§ 3 Costs\n3.5 percent.",
        [
            ("Preamble.", "", "", ""),
            (
                "Chapter I General\nArticle 1 Scope\nIt applies.\nSection 3 applies too.",
                "Chapter I General > Article 1 Scope",
                "s0",
                "",
            ),
            ("Article 2\nNo more.", "Chapter I General > Article 2", "s1", ""),
            ("§ 3 Costs\n3.5 percent.", "Chapter I General > Article 2 > § 3 Costs", "s2", ""),
        ],
    ),
    (
        "en: articles of a contract with their sections",
        200,
        0,
        'ARTICLE I. Terms\nSection 1.1 Names\n"Bread" means bread.\nSection 1.2: Rules\nSection 1.1 shall hold.\n'
        "Article II - Costs\nPart payments are allowed.",
        [
            (
                'ARTICLE I. Terms\nSection 1.1 Names\n"Bread" means bread.',
                "ARTICLE I. Terms > Section 1.1 Names",
                "s0",
                "",
            ),
            (
                "Section 1.2: Rules\nSection 1.1 shall hold.",
                "ARTICLE I. Terms > Section 1.2: Rules",
                "s1",
                "",
            ),
            ("Article II - Costs\nPart payments are allowed.", "Article II - Costs", "s2", ""),
        ],
    ),
    (
        "zh: 编章节条款项",
        60,
        0,
        "第一编 总则\n第一章 基本规定\n第一条 为了保护权益，制定本法。\n第二条　根据第一条的规定办理。\n"
        "第一款 有下列情形的。\n第1.5条不是标题。",
        [
            (
                "第一编 总则\n第一章 基本规定\n第一条 为了保护权益，制定本法。",
                "第一编 总则 > 第一章 基本规定 > 第一条",
                "s0",
                "",
            ),
            ("第二条　根据第一条的规定办理。", "第一编 总则 > 第一章 基本规定 > 第二条", "s1", ""),
            (
                "第一款 有下列情形的。\n第1.5条不是标题。",
                "第一编 总则 > 第一章 基本规定 > 第二条 > 第一款",
                "s2",
                "",
            ),
        ],
    ),
    (
        "ja: 見出しは条につき、引用は条を始めない；長い条は親とともに読む",
        24,
        0,
        "第一章　総則\n（目的）\n第一条　この法律は、目的を定める。\n"
        "第三条の規定は、準用する。\n第十二条の二　施行する。",
        [
            (
                "第一章　総則\n（目的）",
                "第一章 総則 > 第一条（目的）",
                "s0",
                "第一章　総則\n（目的）\n第一条　この法律は、目的を定める。\n第三条の規定は、準用する。",
            ),
            (
                "第一条　この法律は、目的を定める。",
                "第一章 総則 > 第一条（目的）",
                "s0",
                "第一章　総則\n（目的）\n第一条　この法律は、目的を定める。\n第三条の規定は、準用する。",
            ),
            (
                "第三条の規定は、準用する。",
                "第一章 総則 > 第一条（目的）",
                "s0",
                "第一章　総則\n（目的）\n第一条　この法律は、目的を定める。\n第三条の規定は、準用する。",
            ),
            ("第十二条の二　施行する。", "第一章 総則 > 第十二条の二", "s1", ""),
        ],
    ),
]

QA: list[ChunkCase] = [
    (
        "en: marks, numbers, question marks; a question over two lines; an answer that asks",
        200,
        0,
        "FAQ\nQ: Why?\nA: Why not?\nQ2. I tried\nto bake. Did it work?\nA: No.\n\nHow long?\n3.5 hours.",
        [
            ("FAQ", "", "", ""),
            ("Q: Why?\nA: Why not?", "Why?", "s0", ""),
            ("Q2. I tried\nto bake. Did it work?\nA: No.", "I tried", "s1", ""),
            ("How long?\n3.5 hours.", "How long?", "s2", ""),
        ],
    ),
    (
        "zh: 问与答共有一个父块",
        12,
        0,
        "问：何时开业？\n答：九点。\n周日休息。\n問：在哪裡\n答：台北。",
        [
            ("问：何时开业？", "何时开业？", "s0", "问：何时开业？\n答：九点。\n周日休息。"),
            ("答：九点。\n周日休息。", "何时开业？", "s0", "问：何时开业？\n答：九点。\n周日休息。"),
            ("問：在哪裡\n答：台北。", "在哪裡", "s1", ""),
        ],
    ),
    (
        "ja: 全角の印と疑問符で終わる行",
        200,
        0,
        "Ｑ：何時ですか\nＡ：三時です。\nパンは何日もちますか？\n三日です。\n## 送料\nかかりません。",
        [
            ("Ｑ：何時ですか\nＡ：三時です。", "何時ですか", "s0", ""),
            ("パンは何日もちますか？\n三日です。", "パンは何日もちますか？", "s1", ""),
            ("## 送料\nかかりません。", "送料", "s2", ""),
        ],
    ),
]

BOOK: list[ChunkCase] = [
    (
        "en: chapters and numbered headings; decimals, lists and a table of contents are none",
        300,
        0,
        "Chapter 1 ........ 3\n\nChapter 1 Beginnings\n\nChapter 2 describes the end.\n\n"
        "1. Method\n\n3.5 percent rose.\n\n1. flour\n2. water\n\n1.2.1 Detail\n\nMore.\n\nChapter Two: Ends\nDone.",
        [
            ("Chapter 1 ........ 3", "", "", ""),
            (
                "Chapter 1 Beginnings\n\nChapter 2 describes the end.",
                "Chapter 1 Beginnings",
                "s0",
                "",
            ),
            (
                "1. Method\n\n3.5 percent rose.\n\n1. flour\n2. water",
                "Chapter 1 Beginnings > 1. Method",
                "s1",
                "",
            ),
            ("1.2.1 Detail\n\nMore.", "Chapter 1 Beginnings > 1. Method > 1.2.1 Detail", "s2", ""),
            ("Chapter Two: Ends\nDone.", "Chapter Two: Ends", "s3", ""),
        ],
    ),
    (
        "en: titles may ask; a chapter that is only named is no title",
        200,
        0,
        "CHAPTER IV: What is bread?\nIt is food.\n\n2) Who bakes it?\n\nBakers.\nChapter 5, they say, is short.",
        [
            ("CHAPTER IV: What is bread?\nIt is food.", "CHAPTER IV: What is bread?", "s0", ""),
            (
                "2) Who bakes it?\n\nBakers.\nChapter 5, they say, is short.",
                "CHAPTER IV: What is bread? > 2) Who bakes it?",
                "s1",
                "",
            ),
        ],
    ),
    (
        "zh: 部篇章节",
        200,
        0,
        "第一部 起源\n\n第一章 绪论\n1.5亿人受益。\n第二章介绍方法。\n\n第二节 数据\n内容。",
        [
            (
                "第一部 起源\n\n第一章 绪论\n1.5亿人受益。\n第二章介绍方法。",
                "第一部 起源 > 第一章 绪论",
                "s0",
                "",
            ),
            ("第二节 数据\n内容。", "第一部 起源 > 第一章 绪论 > 第二节 数据", "s1", ""),
        ],
    ),
    (
        "ja: 章と節；本文の参照は見出しではない",
        200,
        0,
        "第１章　はじめに\n\n第２章では方法を述べる\n２．５倍になった。\n\n第二節　方法\n\n３．結論\n\n終わり。",
        [
            ("第１章　はじめに\n\n第２章では方法を述べる\n２．５倍になった。", "第１章 はじめに", "s0", ""),
            ("第二節　方法\n\n３．結論\n\n終わり。", "第１章 はじめに > 第二節 方法 > ３．結論", "s1", ""),
        ],
    ),
]

VECTORS: dict[str, list[float]] = {
    "Bread rises.": [1.0, 0.0],
    "Bread bakes.": [0.96, 0.28],
    "Taxes fall.": [0.0, 1.0],
    "Taxes rose 3.5 percent.": [0.28, 0.96],
    "面包发酵。": [1.0, 0.0],
    "面包出炉。": [0.96, 0.28],
    "税率下降。": [0.0, 1.0],
    "パンが膨らむ。": [1.0, 0.0],
    "税は下がる。": [0.0, 1.0],
    "税は上がる。": [0.28, 0.96],
}
"""What the model of the semantic cases gives for each sentence."""

SEMANTIC: list[ChunkCase] = [
    (
        "en: the widest step of meaning is a border",
        480,
        80,
        "Bread rises. Bread bakes. Taxes fall. Taxes rose 3.5 percent.",
        [("Bread rises. Bread bakes.", "", "", ""), ("Taxes fall. Taxes rose 3.5 percent.", "", "", "")],
    ),
    (
        "zh: 语义边界",
        480,
        80,
        "面包发酵。面包出炉。\n税率下降。",
        [("面包发酵。面包出炉。", "", "", ""), ("税率下降。", "", "", "")],
    ),
    (
        "ja: 意味の境目と長さの上限",
        8,
        0,
        "パンが膨らむ。税は下がる。税は上がる。",
        [("パンが膨らむ。", "", "", ""), ("税は下がる。", "", "", ""), ("税は上がる。", "", "", "")],
    ),
]

BY_HAND: dict[str, list[ChunkCase]] = {
    "layout": LAYOUT,
    "parent_child": PARENT_CHILD,
    "sentence_window": SENTENCE_WINDOW,
    "semantic": SEMANTIC,
    "laws": LAWS,
    "qa": QA,
    "book": BOOK,
}
