"""Texts that break careless code, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["HOSTILE_PIECES", "hostile_text"]

# What goes wrong in texts: line ends, blanks, joined and combining signs, code points of two units, three scripts.
HOSTILE_PIECES = (
    "\n", "\r\n", "\r", "\n\n", "\t", " ", "\u3000", "\u00a0", "\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\u200b",
    "\ufeff", "a", "Z", "9", "3.5", ".", "!", "?", ";", "。", "！", "；", "、", "」", "e\u0301", "é", "か\u3099", "が",
    "ｶﾞ", "한글", "\u1112\u1161\u11ab", "漢字", "𠮷野家", "国债", "國債", "😀", "👩\u200d👩\u200d👧", "👍🏽", "🇯🇵🇫🇷",
    "\u270c\ufe0f", "नि", "العربية", "# 題", "- item", "```", "---", "+++", "key: value", "word", "売上高は増えた。",
    "Revenue rose 3.5 percent. ", "x" * 37, "長" * 41, " " * 23,
)  # fmt: skip


def hostile_text(max_pieces: int = 60) -> st.SearchStrategy[str]:
    """Texts made of hostile pieces, or of any code points that UTF-8 can hold."""
    pieces = st.lists(st.sampled_from(HOSTILE_PIECES), max_size=max_pieces).map("".join)
    return pieces | st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
