"""Tokens by their description (semantics 1), read character by character with the names that Unicode gives them."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import strategies as st

IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u180b\u200b\u200c\u200d\u200e\u200f\u202e\u2060"
    "\u3164\ufe00\ufe0e\ufe0f\ufeff\uffa0\U000e0100\U000e01ef"
)
LINE_ENDS = "\n\r\x0b\x0c\x85\u2028\u2029"
NOT_CJK = {"KATAKANA-HIRAGANA DOUBLE HYPHEN"}
CJK_NAMES = (
    "CJK UNIFIED IDEOGRAPH",
    "CJK COMPATIBILITY IDEOGRAPH",
    "CJK RADICAL",
    "KANGXI RADICAL",
    "HIRAGANA",
    "KATAKANA",
    "HALFWIDTH KATAKANA",
    "HENTAIGANA",
    "COMBINING KATAKANA-HIRAGANA",
    "VERTICAL KANA REPEAT",
    "IDEOGRAPHIC ITERATION MARK",
    "IDEOGRAPHIC CLOSING MARK",
    "IDEOGRAPHIC NUMBER ZERO",
    "VERTICAL IDEOGRAPHIC ITERATION MARK",
    "HANGZHOU NUMERAL",
    "IDEOGRAPHIC LEVEL TONE",
    "IDEOGRAPHIC RISING TONE",
    "IDEOGRAPHIC DEPARTING TONE",
    "IDEOGRAPHIC ENTERING TONE",
    "MASU MARK",
    "OLD CHINESE ITERATION MARK",
    "VIETNAMESE ALTERNATE READING MARK",
    "HANGUL",
    "HALFWIDTH HANGUL",
)


def is_cjk(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith(CJK_NAMES) and name not in NOT_CJK


def is_ignorable(character: str) -> bool:
    name = unicodedata.name(character, "")
    return character in IGNORABLE or "VARIATION SELECTOR" in name or name.startswith("KHMER VOWEL INHERENT")


def normal_form(text: str) -> str:
    kept = "".join(character for character in text if not is_ignorable(character))
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", kept).casefold())


def is_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMN" and not is_cjk(character)


def tokens(text: str) -> list[str]:
    """All tokens in order, one character at a time."""
    shown = re.sub(rf"\u00ad(?=[ \t]*[{LINE_ENDS}])", "-", text)
    normal = normal_form(shown)
    out: list[str] = []
    at = 0
    broken: list[str] = []  # parts of a word that hyphens at line ends have broken so far
    while at < len(normal):
        end = at
        if is_cjk(normal[at]):
            while end < len(normal) and is_cjk(normal[end]):
                end += 1
            run = normal[at:end]
            out += [*run, *(run[i] + run[i + 1] for i in range(len(run) - 1))]
        elif is_word(normal[at]):
            while end < len(normal) and is_word(normal[end]):
                end += 1
            word = normal[at:end]
            out.append(word)
            broken.append(word)
            after = break_end(normal, end)
            if after is not None:
                at = after
                continue
            if len(broken) > 1:
                out.append("".join(broken))
            broken = []
        else:
            end += 1
        at = end
    return out


def break_end(normal: str, end: int) -> int | None:
    """Where the rest of a word goes on whose first part ends at `end`; None when no hyphen breaks it there."""
    if normal[end : end + 1] not in ("-", "\u2010") or unicodedata.category(normal[end - 1]) == "Nd":
        return None
    at = end + 1
    while normal[at : at + 1] in (" ", "\t"):
        at += 1
    if normal[at : at + 2] == "\r\n":
        at += 2
    elif normal[at : at + 1] and normal[at] in LINE_ENDS:
        at += 1
    else:
        return None
    while normal[at : at + 1] in (" ", "\t"):
        at += 1
    if at == len(normal) or not is_word(normal[at]) or unicodedata.category(normal[at]) == "Nd":
        return None
    return at


def seed_tokens(text: str) -> list[str]:
    """The seed's tokenizer ("lexical", tokenize): lower case; runs of ASCII letters and digits; Han runs as characters
    and adjacent pairs."""
    out: list[str] = []
    for run in re.findall("[a-z0-9]+|[\u4e00-\u9fff]+", text.lower()):
        if run.isascii():
            out.append(run)
        else:
            out.extend(run)
            out.extend(run[i : i + 2] for i in range(len(run) - 1))
    return out


PIECES = [
    "revenue", "Net", "ROE", "FY2024", "3.5", "1,000", "a", "I", "İ", "Straße", "naïve", "nai\u0308ve", "ﬁnance", "ǅ",
    "売上高", "売上", "カー", "ｶﾞｽ", "がく", "か\u3099く", "あ\u3099", "ニューヨーク", "時々", "〇", "漢\u0301",
    "𠮷野家", "㈱", "㍻", "①", "½", "ⅷ",
    "한국", "\u1112\u1161\u11ab", "ﾡ", "Привет", "ΣΊΣΥΦΟΣ", "العربية", "สวัสดี", "हिन्दी",
    "👩‍👩‍👧", "❤️", "1️⃣", "禰󠄀", "𝐀𝟙", "\U00011127\U000110b9",
    "-", "\u2010", "\u00ad", "_", ".", "。", "・", "，", "！", "\u200b", "\u200d", "\ufe0f", "\ufeff",
    " ", "\t", "\n", "\r\n", "\r", "\u2028", "\x85", "\u3000", "\0", "\ud800",
]  # fmt: skip


def texts() -> st.SearchStrategy[str]:
    """English, Chinese, Japanese and hostile text."""
    hostile = st.text(
        st.characters(exclude_categories=("Cn", "Co", "Cs", "Cf")) | st.sampled_from(IGNORABLE + LINE_ENDS), max_size=12
    )
    return st.lists(st.sampled_from(PIECES) | hostile, max_size=12).map("".join)
