"""Patterns of the numbers that sections have, for regular expressions."""

from __future__ import annotations

__all__ = ["CJK_NUMBER", "LATIN_NUMBER"]

CJK_NUMBER = r"[0-9０-９〇零一二三四五六七八九十百千万両两壱弐参壹贰貳叁參肆伍陆陸柒捌玖拾佰仟廿卅]{1,12}"
"""第[this]条: digits of either width, Han numerals of everyday and of deeds."""

LATIN_NUMBER = r"(?:\d{1,4}(?:[.\-‑–]\d{1,4})*[A-Za-z]?|[IVXLCDM]{1,8})"
"""Article [this]: 5, 5a, 3.2, XIV."""
