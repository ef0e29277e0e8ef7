"""What fuzzing begins with: real requests of every method, filters, tokens, names and texts; and what it once found.

`found/TARGET/` holds inputs that broke something, a file each; they stay, and every test run tries them.
"""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.targets import METHODS, SEALED, TARGETS
from tests.promises.questions import QUESTIONS

__all__ = ["FOUND", "seeds"]

FOUND = Path(__file__).resolve().parent / "found"
_A_METHOD = 40  # requests of one method
_NAMES = (
    "deck.pptx#slide=2,para=1",
    "notes/a%23.md@3#c12",
    "entity:ACME",
    "a@1#c0",
    "#",
    "%",
    "@#c",
    "日本.md#line=1-2",
)
_PERIODS = (
    "FY2024",
    "2024年度",
    "Q3 2024",
    "2024H1",
    "令和元年",
    "30 June 2025",
    "2020-01-01/2020-12-31",
    "last year",
    "前年",
    "去年第三季度",
    "上半期",
    "2024-02-30",
    "13/04/2024",
    "民國113年",
    "FY99",
)
_TEXTS = (
    "The quick brown fox jumps. It cost $3.50! 東京は首都である。香港的收入增长？",
    "a\r\nb\tc\u2028d\u2029e\x85f",
    "👩‍👩‍👧 e\u0301 ﬁ ｶﾞ ㍿ \ufeff\u200b x\ufe0f",
    "# Title\n\n" + "word " * 60 + "\n\n第一章 総則。第1条 この法律は、",
    "𠮷野家 한국어 ไทย العربية",
)


def seeds(target: str) -> list[bytes]:
    """Inputs to begin with, each once, in an order of their own."""
    found = sorted(FOUND.glob(f"{target}/*"))
    made = _MADE[target]() if target in _MADE else [each.encode() for each in (*_NAMES, *_PERIODS, *_TEXTS)]
    return list(dict.fromkeys([*made, *(path.read_bytes() for path in found)]))


def _requests() -> list[bytes]:
    made = []
    for place, name in enumerate(METHODS):
        asked = QUESTIONS.get(name.rpartition("/")[2], ())
        step = max(1, len(asked) // _A_METHOD)
        made += [bytes([place]) + each.request.SerializeToString(deterministic=True) for each in asked[::step]]
    return made


def _filters() -> list[bytes]:
    made = []
    for questions in QUESTIONS.values():
        for question in questions:
            options = getattr(question.request, "options", None)
            if options is not None and options.HasField("filter"):
                made.append(options.filter.SerializeToString(deterministic=True))
    return made


def _cursors() -> list[bytes]:
    return [b"", SEALED, SEALED[:-1], SEALED + b"\0", b"\0" * len(SEALED), b"\1", b"x" * 5000]


_MADE = {"request": _requests, "filter": _filters, "cursor": _cursors}
assert set(_MADE) <= set(TARGETS)
