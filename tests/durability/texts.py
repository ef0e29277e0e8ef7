"""Texts in three languages, the same for the same seed. A marker stands in every paragraph, so that every chunk has it.

So one search for the marker finds every chunk that a caller may read: a chunk too many or too few shows.
"""

from __future__ import annotations

import random

__all__ = ["MARKER", "make_text"]

MARKER = "tourmaline"

_SENTENCES = {
    "en": (
        "The harbour authority reported a rise in freight of 3.5 percent.",
        "Two of the older piers were closed for repairs until the end of May.",
        "Ferry services to the outer islands ran on the winter timetable.",
        "A survey of the breakwater found no damage below the waterline.",
        "Fees for mooring stay as they were; the council voted 7 to 2.",
    ),
    "zh": (
        "港务局报告货运量增长了百分之三点五。",
        "两座旧码头因维修关闭，直到五月底。",
        "开往外岛的渡轮按冬季时刻表运行；夜间停航。",
        "對防波堤的檢查沒有發現水線以下的損壞。",
        "停泊费维持不变，委员会以七票对两票通过。",
    ),
    "ja": (
        "港湾局は貨物量が3.5パーセント増えたと発表した。",
        "古い桟橋の二つは五月末まで修理のため閉鎖された。",
        "離島へのフェリーは冬ダイヤで運航し、夜は休む。",
        "防波堤の調査では、水面下の損傷は見つからなかった。",
        "係留料は据え置きで、委員会は七対二で可決した。",
    ),
}


def make_text(language: str, seed: int, characters: int, line_end: str = "\n\n") -> str:
    """Paragraphs of one to three sentences, at least so many code points in all."""
    chosen = random.Random(f"{language} {seed}")
    paragraphs: list[str] = []
    length = 0
    while length < characters:
        sentences = chosen.choices(_SENTENCES[language], k=chosen.randint(1, 3))
        joined = (" " if language == "en" else "").join(sentences)
        paragraphs.append(f"{joined} ({MARKER} {seed}.{len(paragraphs)}, {chosen.randint(1, 999)})")
        length += len(paragraphs[-1]) + len(line_end)
    return line_end.join(paragraphs) + line_end
