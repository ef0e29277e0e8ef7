"""Two more rounds of sentences, each written after the mends of the one before: docs/guard.md counts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import Case, judge_case, read_cases

CASES = list(read_cases(Path(__file__).with_name("later.jsonl")))
KNOWN = {
    "Staff turnover is 30%.": "once, formerly: what was is told as what is, and no period is named",
    "Scanning costs 19 cents a letter.": "what a price is counted for, where it is no unit and not said with per",
}


def _named(case: Case) -> object:
    reason = KNOWN.get(case["sentence"])
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(case, id=f"{case['language']}-{CASES.index(case)}", marks=marks)


@pytest.mark.parametrize("case", [_named(case) for case in CASES])
def test_wrong_sentences_are_dropped_and_right_ones_stay(case: Case) -> None:
    passed, faults = judge_case(case)
    assert passed == case["right"], (case["sentence"], faults)
