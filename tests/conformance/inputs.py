"""What the cases of the vectors are about: texts, queries, filters, lists. What must come of them the oracles say."""

from __future__ import annotations

import random
from typing import Any

from tests.text.oracle import PIECES

__all__ = [
    "CHUNKED",
    "CORPUS",
    "FAMILIES",
    "FILTERS",
    "JUDGED",
    "RANKED",
    "ROWS",
    "SEARCHES",
    "TOKENIZED",
    "WRITTEN",
]

# ---- tokens

_ENGLISH = {
    "empty": "",
    "figures and brackets": "Revenue rose 3.5 % in FY2024 (FY2023: 1,234).",
    "underscore, capitals inside, apostrophe, hyphen": "snake_case camelCase it's non-GAAP",
    "ligature, sharp s, full width": "Straße STRASSE ﬁnance Ｒｅｖｅｎｕｅ İstanbul ǅ",
    "accents put together and apart": "na\u00efve nai\u0308ve re\u200bvenue co\u00adoperate",
    "words broken at line ends": "an inter-\nnational and a trans\u00ad\r\nconti-\u2028nental firm, 1990-\n2000, over",
    "a hyphen before a blank line breaks nothing": "inter-\n\nnational",
    "a word broken twice": "in-\nter-\nnational, counter-  \t\n  part",
    "curly quotes and dashes": "“Net—income’s” – up… 12½% (₂) x² H₂O",
    "addresses": "https://example.org/a_b?c=1&d=2#e mail@example.org C:\\dir\\file.txt",
    "signs alone": "+ - * / = < > ... !!! ??? \u2028 \u2029 \u0085",
    "control characters": "net\x00income\x07rose\x1bagain\x7f",
    "marks without a letter": "\u0301 \u0308a \u20dd1",
    "bidirectional marks": "\u202erevenue\u202c \u200fprofit\u200e",
    "math letters and enclosed ones": "𝐀𝟙 ⓐⓑ ㈱ ㍻ 🅰 ℡ ™",
    "emoji sequences": "👩‍👩‍👧 ❤️ 1️⃣ 👍🏽 🇯🇵",
    "Cyrillic, Greek, Arabic, Hindi, Thai": "Привет ΣΊΣΥΦΟΣ العربية हिन्दी สวัสดี",
    "Turkish and Azeri i": "Iğdır ıI İi",
    "numbers of other scripts": "١٢٣ ४५ ๖๗",
    "Korean, whole and in letters": "매출은 10% 증가했다 \u1112\u1161\u11ab\u1100\u116e\u11a8",
}
_CHINESE = {
    "a sentence": "营业收入增长12%，净利润下降；香港revenue",
    "simplified and traditional": "营业收入 營業收入 臺灣台湾",
    "Han numbers and dates": "二〇二四年十二月三十一日，壹佰萬元整",
    "full-width letters, digits, signs": "ＡＢＣ公司２０２４年营收１，２３４．５亿元（同比＋３％）",
    "characters beyond the first plane": "𠮷野家 𪚥𪚥 㐂 𰻝𰻝面",
    "compatibility characters and radicals": "豈更車 ⽔⼈ ⺀ 﨑",
    "variation selectors": "葛\U000e0100城市 禰\U000e0101",
    "one character, and one between others": "我 a我b 1我2",
    "zero-width characters inside a word": "净\u200b利\u200d润\ufeff 上\u2060升",
    "a line end inside a word": "净利\n润上\r\n升 日-\n本",
    "ideographic space, dots and brackets": "北京　上海·深圳《年报》【摘要】、〈注〉",
    "middle dots of names": "列奥纳多·达·芬奇 史蒂夫・乔布斯",
    "pinyin with tones": "Běijīng lǜ lu\u0308\u030c ㄅㄆㄇ",
    "Hangzhou numerals and the zero": "〡〢〣 〇零",
    "marks on Han": "漢\u0301字 中\u20dd",
    "mixed with Latin on both sides": "Q3营收YoY增长ROE是多少",
    "repeated characters": "哈哈哈哈 人人人",
    "units squeezed into one": "㎏ ㎡ ㏄ ㋿ ㈱",
}
_JAPANESE = {
    "a sentence": "2024年度の売上高は1,000億円でした。",
    "long vowels, half width, iteration marks": "ニューヨーク・タイムズ ｶﾞｽ代 コーヒー 時々 々",
    "old forms and variation": "禰󠄀豆子 𠮷野家 〇二 ㈱ ㍻",
    "sound marks apart": "か\u3099く あ\u3099 漢\u0301 \u0301 a\u0301\u0301",
    "half width with sound marks": "ﾊﾟｿｺﾝ ｳﾞｧｲｵﾘﾝ ｶ\u3099ｷﾞ ﾜﾞ",
    "small kana and long-vowel marks": "ァィゥ っゃゅょ らーめん ー ーー",
    "iteration marks of kana": "いすゞ こゝろ バナヽ 佐々木 ゞ",
    "kana beyond the first block": "ㇰㇱㇲ 𛀁𛂞 ヿ ゟ",
    "wave dashes and brackets": "10〜20％ 「売上」『高』 ～ 〜",
    "eras and squared words": "㍼㍽㍾㍿ ㌔㌘ 令和６年３月期",
    "middle dot, half width too": "ソニー・グループ ｿﾆｰ･ｸﾞﾙｰﾌﾟ",
    "katakana and hiragana double hyphen": "ジャン゠ポール サン＝テグジュペリ",
    "mixed scripts in one word": "Tシャツ Wi-Fi接続 3D化 ヨークinニューヨーク",
    "vertical repeat marks": "いよ〱 散り〲 〳〵",
    "closing and repeating marks of Han": "〆切 〼 〃",
    "spaces of all widths": "売\u3000上\u00a0高\u2003は\u202f増",
    "emoji between words": "売上🍣増加📈😀人口",
    "numbers with units": "約１億２千万人 3.5％減 △1,234百万円 ▲５",
}

_MIXED_SEED, _MIXED = 2, 60


def _mixed() -> dict[str, str]:
    chosen = random.Random(_MIXED_SEED)
    pieces = [piece for piece in PIECES if piece != "\ud800"]
    return {f"mixed {number}": "".join(chosen.choices(pieces, k=9)) for number in range(_MIXED)}


TOKENIZED: dict[str, str] = {
    **{f"en: {name}": text for name, text in _ENGLISH.items()},
    **{f"zh: {name}": text for name, text in _CHINESE.items()},
    **{f"ja: {name}": text for name, text in _JAPANESE.items()},
    **_mixed(),
}

# ---- BM25

CORPUS = [
    "Net revenue was 3.5 billion; net income fell.",
    "売上高は増加し、純利益は減少した。",
    "营业收入增长，净利润下降。",
    "revenue revenue revenue " + "costs " * 300,
    "",
    "香港revenue 香港",
    "Revenue of the year 2024, revenue of the year 2023",
    "コーヒーの売上",
    "REVENUE Ｒｅｖｅｎｕｅ re\u200bvenue",
    "ニューヨーク市の人口は約八百万人。",
    "人口 人口 人口",
    "北京市人口约二千一百万，上海市人口约二千四百万。",
    "inter-\nnational trade and international law",
    "👩‍👩‍👧 ❤️ … !!!",
]

SEARCHES: list[dict[str, Any]] = [
    {"name": "one word", "query": "revenue"},
    {"name": "order and repetition of terms", "query": "year revenue net year 2024"},
    {"name": "japanese", "query": "売上高は"},
    {"name": "japanese: one character", "query": "市"},
    {"name": "japanese: a long-vowel mark finds words with it", "query": "コーヒー"},
    {"name": "japanese: a word inside a longer one", "query": "ヨーク"},
    {"name": "japanese: half width finds full width", "query": "ｺｰﾋｰ"},
    {"name": "chinese, with words that no row holds", "query": "营业收入 unknown 无"},
    {"name": "chinese: characters of Japanese rows too", "query": "人口"},
    {"name": "chinese: repeated characters", "query": "人人人口口"},
    {"name": "chinese and english in one word", "query": "香港revenue"},
    {"name": "english: any way of writing it", "query": "ＲＥＶＥＮＵＥ"},
    {"name": "english: a word broken at a line end", "query": "international"},
    {"name": "statistics of the candidates only", "query": "revenue net", "candidates": [0, 4, 6]},
    {"name": "more occurrences than a byte holds", "query": "costs costs revenue"},
    {"name": "a candidate without tokens", "query": "revenue", "candidates": [4]},
    {"name": "rows without tokens count for the average", "query": "revenue", "candidates": [0, 4, 13]},
    {"name": "no candidate", "query": "revenue", "candidates": []},
    {"name": "no token", "query": "。 - _"},
    {"name": "signs and emoji alone", "query": "👩‍👩‍👧 !!!"},
    {"name": "in every row", "query": "人口", "candidates": [9, 10, 11]},
    {"name": "other parameters", "query": "revenue of 売上", "k1": 0.9, "b": 0.4},
    {"name": "no saturation, no length", "query": "revenue of 売上", "k1": 0.0, "b": 0.0},
    {"name": "length in full", "query": "revenue 人口", "k1": 2.0, "b": 1.0},
]

# ---- fusion

RANKED: list[dict[str, Any]] = [
    {"name": "no lists", "rankings": [], "weights": []},
    {"name": "an empty list says nothing", "rankings": [[], ["a"]], "weights": [1, 1]},
    {"name": "one list keeps its order", "rankings": [["c", "a", "b"]], "weights": [1]},
    {"name": "both lists beat one", "rankings": [["a", "b"], ["c", "b"]], "weights": [1, 1]},
    {"name": "a doubled id counts once, by its best rank", "rankings": [["a", "a", "b"]], "weights": [1]},
    {"name": "a doubled id takes no rank from the next", "rankings": [["a", "b", "a", "b", "c"]], "weights": [1]},
    {"name": "weights", "k": 0, "rankings": [["a", "b"], ["b", "a"]], "weights": [2, 1]},
    {"name": "small k", "k": 1, "rankings": [["a", "b"], ["b"]], "weights": [1, 1]},
    {
        "name": "three lists, ids beyond ASCII",
        "rankings": [["収益", "😀"], ["é", "収益"], ["収益"]],
        "weights": [1, 1, 1],
    },
    {"name": "all tie: by code point, not by locale", "rankings": [["é"], ["e"], ["Z"], ["東"], ["あ"], ["😀"], ["ｱ"]],
     "weights": [1] * 7},
    {"name": "a tie of sums", "rankings": [["a", "b", "c"], ["c", "b", "a"]], "weights": [1, 1]},
    {"name": "a list of no weight", "rankings": [["a", "b"], ["b", "c"]], "weights": [1, 0]},
    {"name": "fractions of weights", "rankings": [["売上", "人口"], ["人口", "收入"]], "weights": [0.1, 0.7]},
    {"name": "ids that differ in case and form", "rankings": [["A", "a", "ａ"], ["ａ", "A"]], "weights": [1, 1]},
    {"name": "long lists", "rankings": [[f"d{n:03}" for n in range(300)], [f"d{n:03}" for n in range(299, -1, -1)]],
     "weights": [1, 1]},
]  # fmt: skip

# ---- chunks

# Name, budget, overlap, text.
CHUNKED: list[tuple[str, int, int, str]] = [
    ("en: CRLF between paragraphs", 20, 0, "Revenue rose.\r\n\r\nCosts fell.\r\nProfit rose."),
    ("en: old Mac line ends", 9, 5, "One.\rTwo.\rThree."),
    ("en: tabs and blanks at both ends", 15, 0, "\t Net income \t\n\t\tfell. \n"),
    ("en: a dot between digits ends nothing", 22, 0, "It rose 3.5 percent. It fell 1.25 percent."),
    ("en: closing quotes stay with their sentence", 20, 0, "“It rose.” He left. (It fell!) She stayed."),
    ("en: one huge word", 10, 3, "x" * 53),
    ("en: accents are not cut off", 7, 0, "e\u0301" * 12),
    ("en: emoji families are not cut", 8, 0, "👩‍👩‍👧👨‍👩‍👦" * 3),
    ("en: flags are cut between, never within", 5, 0, "🇯🇵🇨🇳🇬🇧🇫🇷🇩🇪"),
    ("en: skin tones stay on their hands", 3, 0, "👍🏽👍🏿👍🏻👍🏾"),
    ("en: the overlap takes whole paragraphs", 14, 9, "aaaa\nbbbb\ncccc\ndddd\neeee"),
    ("en: an overlap that no paragraph fits", 17, 7, "aaaaaaaa\nbbbbbbbb\ncccccccc"),
    ("en: no overlap behind what was cut", 12, 6, "short\n" + "y" * 25 + "\nshort again"),
    ("en: a line separator is a blank", 8, 0, "One\u2028two\u2029three\u0085four"),
    ("en: a paragraph of exactly the budget", 10, 2, "1234567890\n1234567890"),
    ("zh: sentences", 10, 0, "营业收入增长。净利润下降！原因何在？成本上升；汇率变动。"),
    ("zh: a sentence over the budget", 10, 0, "营业收入同比增长百分之十二点五主要由于香港业务扩张。"),
    ("zh: ideographic spaces at the ends", 20, 0, "　　营业收入增长。　\n　净利润下降。　"),
    ("zh: beyond the first plane", 5, 2, "𠮷𠮷𠮷𠮷𠮷𠮷\n𪚥𪚥𪚥𪚥"),
    ("zh: closing brackets", 6, 0, "（增长。）【下降！】《年报？》完"),
    ("zh: paragraphs and their overlap", 10, 6, "甲甲甲。\n乙乙。\n丙丙丙丙。\n丁。"),
    ("zh: full-width digits around a dot", 7, 0, "３．５亿。３.５亿。完。"),
    ("zh: repeated ends", 5, 0, "什么？！！？好。。。行"),
    ("ja: sentences", 12, 0, "売上高は増加した。純利益は減少した！なぜ？"),
    ("ja: sound marks apart are not cut off", 5, 0, "か\u3099" * 9),
    ("ja: half-width sound marks", 3, 0, "ｶﾞｷﾞｸﾞｹﾞｺﾞﾊﾟﾋﾟ"),
    ("ja: closing corner brackets", 9, 0, "「増えた。」『減った。』と述べた。"),
    ("ja: variation selectors", 3, 0, "葛\U000e0100葛\U000e0101葛\U000e0100葛"),
    ("ja: lines of a poem", 12, 4, "古池や\n蛙飛びこむ\n水の音\n\n　閑さや\n"),
    ("ja: one line without an end", 8, 2, "ながいながいながいぶんしょうがつづいていくだけのぎょう"),
    ("ja: half-width full stop ends nothing", 9, 0, "増えた｡減った｡変わらない。"),
    ("ko: letters of syllables", 4, 0, "\u1112\u1161\u11ab" * 5),
    ("hostile: zero-width characters and a null", 4, 0, "a\u200bb\x00c\ufeff\nd\u200d\u200de"),
    ("hostile: marks alone", 6, 0, "\u0301\u0302\u0303" * 15),
]  # fmt: skip

# ---- filters

FAMILIES = {
    "n": "number",
    "price": "number",
    "word": "text",
    "tags": "texts",
    "flag": "truth",
    "day": "day",
    "moment": "instant",
    "period": "period",
}


def _text(value: str) -> dict[str, Any]:
    return {"stringValue": value}


def _texts(*values: str) -> dict[str, Any]:
    return {"stringListValue": {"values": list(values)}}


ROWS: list[dict[str, Any]] = [
    {},
    {"n": {"intValue": "9"}, "word": _text("alpha"), "flag": {"boolValue": True}},
    {"n": {"intValue": "10"}, "word": _text("Alpha"), "flag": {"boolValue": False}},
    {"n": {"decimalValue": "9.0"}, "price": {"decimalValue": "0.1"}, "tags": _texts("a", "b")},
    {"n": {"doubleValue": 9.5}, "price": {"decimalValue": "0.10"}, "tags": _texts("b")},
    {"n": {"intValue": "-3"}, "price": {"doubleValue": 0.5}, "word": _text("")},
    {"day": {"dateValue": "2024-02-29"}, "moment": {"timeValue": "2024-02-29T12:00:00Z"}, "word": _text("é")},
    {"day": {"dateValue": "2024-12-31"},
     "moment": {"timeValue": "2024-02-29T12:00:00.000001Z"}, "word": _text("e\u0301")},
    {"day": {"dateValue": "0999-01-01"}, "moment": {"timeValue": "2024-02-29T21:00:00+09:00"}, "word": _text("売上")},
    {"period": {"periodValue": "2024"}, "word": _text("東京"), "tags": _texts()},
    {"period": {"periodValue": "2024Q1"}, "word": _text("ｱ")},
    {"period": {"periodValue": "2024Q4"}, "word": _text("😀"), "n": {"decimalValue": "10.00"}},
    {"period": {"periodValue": "FY2024"}, "word": _text("北京"), "flag": {"boolValue": True}},
    {"period": {"periodValue": "2023-01-01/2024-12-31"}, "n": {"decimalValue": "123456789012345678901234567890.5"}},
]  # fmt: skip


def _one(field: str, **test: Any) -> dict[str, Any]:
    return {"predicate": {"field": field, **test}}


def _all(*filters: Any) -> dict[str, Any]:
    return {"allOf": {"filters": list(filters)}}


def _any(*filters: Any) -> dict[str, Any]:
    return {"anyOf": {"filters": list(filters)}}


def _not(inner: Any) -> dict[str, Any]:
    return {"negate": inner}


def _deep(levels: int) -> dict[str, Any]:
    tree = _one("n", present=True)
    for _ in range(levels - 1):
        tree = _not(tree)
    return tree


_NINE, _TEN, _DEC = {"intValue": "9"}, {"intValue": "10"}, {"decimalValue": "9.5"}
_A, _B, _ALPHA = {"stringValue": "a"}, {"stringValue": "b"}, {"stringValue": "alpha"}
_TRUE, _Q1, _YEAR = {"boolValue": True}, {"periodValue": "2024Q1"}, {"periodValue": "2024"}
_DAY = {"dateValue": "2024-02-29"}
_NOON = {"timeValue": "2024-02-29T12:00:00Z"}

FILTERS: dict[str, dict[str, Any]] = {
    "numbers compare as numbers": _one("n", gt=_NINE),
    "a decimal and a whole number are equal": _one("n", eq={"decimalValue": "9.00"}),
    "a binary fraction equals its decimal form": _one("n", eq=_DEC),
    "a binary fraction is no decimal tenth": _one("price", eq={"doubleValue": 0.1}),
    "trailing zeros say nothing": _one("price", eq={"decimalValue": "0.100"}),
    "digits beyond a double count": _one("n", eq={"decimalValue": "123456789012345678901234567890.50"}),
    "digits beyond a double count: one off": _one("n", gt={"decimalValue": "123456789012345678901234567890.4"}),
    "ne: a missing attribute satisfies nothing": _one("n", ne=_NINE),
    "nin: a missing attribute satisfies nothing": _one("n", nin={"values": [_NINE, _TEN]}),
    "in": _one("n", **{"in": {"values": [_TEN, {"intValue": "-3"}]}}),
    "gte, at the border": _one("n", gte={"decimalValue": "9.5"}),
    "lt, at the border": _one("n", lt=_NINE),
    "lte, at the border": _one("n", lte=_NINE),
    "between is closed at both ends": _one("n", between={"low": _NINE, "high": _TEN}),
    "between of one value": _one("n", between={"low": _NINE, "high": {"decimalValue": "9.0"}}),
    "present": _one("word", present=True),
    "absent": _one("word", present=False),
    "negate takes in what has no such attribute": _not(_one("n", eq=_NINE)),
    "negate twice": _not(_not(_one("n", ne=_NINE))),
    "text compares by code point: capitals stand first": _one("word", lt=_ALPHA),
    "text: composed and decomposed are two": _one("word", eq={"stringValue": "é"}),
    "text: the empty one is a value": _one("word", eq={"stringValue": ""}),
    "ja: text by code point": _one("word", gte={"stringValue": "売上"}),
    "ja: half width is not full width": _one("word", eq={"stringValue": "ア"}),
    "zh: text by code point": _one("word", between={"low": {"stringValue": "北"}, "high": {"stringValue": "東京"}}),
    "zh: one of": _one("word", **{"in": {"values": [{"stringValue": "北京"}, {"stringValue": "上海"}]}}),
    "beyond the first plane stands behind all of it": _one("word", gt={"stringValue": "\uffff"}),
    "texts: one member is enough": _one("tags", eq=_A),
    "texts: ne breaks at one member": _one("tags", ne=_A),
    "texts: in": _one("tags", **{"in": {"values": [_A, {"stringValue": "c"}]}}),
    "texts: nin": _one("tags", nin={"values": [_A]}),
    "texts: gt": _one("tags", gt=_A),
    "truth": _one("flag", eq=_TRUE),
    "truth: ne": _one("flag", ne=_TRUE),
    "days": _one("day", gte=_DAY),
    "days: a year of three digits stands first": _one("day", lt={"dateValue": "1000-01-01"}),
    "instants: time zones count": _one("moment", eq=_NOON),
    "instants: a microsecond counts": _one("moment", gt=_NOON),
    "periods: by first day, then by last": _one("period", gt=_Q1),
    "periods: the longer of two with one first day stands behind": _one("period", lte=_Q1),
    "periods: equal days are equal, whatever the name": _one("period", eq={"periodValue": "2024-01-01/2024-12-31"}),
    "periods: between": _one("period", between={"low": _Q1, "high": _YEAR}),
    "periods: in": _one("period", **{"in": {"values": [{"periodValue": "2024Q4"}, _Q1]}}),
    "all of": _all(_one("n", gte=_NINE), _one("word", present=True)),
    "any of": _any(_one("n", gt=_TEN), _one("tags", eq=_B), _one("day", present=True)),
    "a tree": _all(_any(_one("n", present=False), _one("flag", eq=_TRUE)), _not(_one("word", eq=_ALPHA))),
    "a contradiction keeps nothing": _all(_one("n", lt=_NINE), _one("n", gt=_TEN)),
    "eight levels": _deep(8),
    "nine levels are too many": _deep(9),
    "256 nodes": _any(*[_one("n", eq={"intValue": str(n)}) for n in range(255)]),
    "257 nodes are too many": _any(*[_one("n", eq={"intValue": str(n)}) for n in range(256)]),
    "an unknown attribute": _one("price_", eq=_NINE),
    "an unknown attribute, asked for its presence": _one("nowhere", present=True),
    "text for a number": _one("n", eq=_A),
    "a number for text": _one("word", **{"in": {"values": [_A, _NINE]}}),
    "a day for an instant": _one("moment", gt=_DAY),
    "an instant for a day": _one("day", gt=_NOON),
    "a day for a period": _one("period", eq=_DAY),
    "truth has no order": _one("flag", gt=_TRUE),
    "low above high": _one("n", between={"low": _TEN, "high": _NINE}),
    "low above high: periods": _one("period", between={"low": _YEAR, "high": _Q1}),
    "an empty list of values": _one("n", **{"in": {"values": []}}),
    "no values at all": _one("n", nin={}),
    "an empty list of filters": _all(),
    "nothing": {},
    "no test": {"predicate": {"field": "n"}},
    "all faults at once": _all(
        _one("nowhere", eq=_A), _one("n", eq=_A), _not(_any(_one("flag", lt=_TRUE), _one("word", gt=_NINE)))
    ),
    "faults of empty members at once": _all(_any(), _not({}), _one("n", **{"in": {}})),
}

# ---- orders of judges

JUDGED: list[tuple[str, str, int]] = [
    ("a JSON list", "[2, 0, 1]", 3),
    ("a fence around it", "```json\n[1, 2, 0]\n```", 3),
    ("the form of RankGPT", "[3] > [1] > [2] > [0]", 4),
    ("bullets", "- 2\n- 0\n- 1", 3),
    ("words around it", "The best is passage 2, then 0; passage 1 is off topic.", 3),
    ("missing ones follow in their old order", "3", 5),
    ("repeats count once", "1 1 0 1 2 0", 3),
    ("out of range", "7, 1, -9, 12, 0", 3),
    ("a minus is no part of a number", "-2 -0 -1", 3),
    ("parts of a fraction are numbers", "2 (0.1)", 3),
    ("leading zeros", "002 000 01", 3),
    ("longer than any number that a machine counts with", "9" * 40 + " 1", 3),
    ("a long run of zeros before a digit", "0" * 40 + "2", 3),
    ("no number", "I cannot decide.", 3),
    ("empty", "", 3),
    ("no number in range", "5 6 7", 3),
    ("one candidate", "0", 1),
    ("one candidate, not named", "1", 1),
    ("no candidates", "0 1 2", 0),
    ("ten and one", "10, 1, 0", 11),
    ("digits without blanks are one number", "102", 11),
    ("ja: full-width digits", "１位は２番、２位は０番", 3),
    ("ja: counters count too", "第2、第0、第1の順です。", 3),
    ("ja: full-width brackets", "【２】＞【１】＞【０】", 3),
    ("ja: Han numbers are words", "二番が最も良い", 3),
    ("ja: full-width and half-width digits make one number", "1２", 13),
    ("zh: a sentence", "最相关的是第1段，其次是第0段，最后是第2段。", 3),
    ("zh: ideographic comma", "2、0、1", 3),
    ("zh: circled digits are no decimal digits", "②①⓪ 1", 3),
    ("zh: the zero of Han numbers is a word", "〇 2", 3),
    ("digits of other scripts", "٢ ० ๑", 3),
    ("superscripts are no decimal digits", "2² 1¹", 3),
    ("zero-width characters part a number", "1\u200b2", 13),
    ("a null and control characters", "\x002\x07\x1b[0m1", 3),
    ("line ends of all kinds", "2\r\n1\r0\u2028", 3),
    ("an object", '{"ranking": [1, 0], "reason": "2024 figures"}', 3),
]

# ---- periods that the oracle writes: year, month, day, quarter, half, month in which fiscal years begin

WRITTEN = (
    (2024, 2, 29, 1, 1, 1),
    (2023, 12, 31, 4, 2, 4),
    (1999, 1, 1, 2, 1, 10),
    (2030, 6, 15, 3, 2, 7),
)
