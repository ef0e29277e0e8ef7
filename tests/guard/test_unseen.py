"""Model sentences written without sight of the guard: no wrong one gets out, right ones stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from .support import Case, judge_case, read_cases

CASES = list(read_cases(Path(__file__).with_name("unseen.jsonl")))
WRONG = [case for case in CASES if not case["right"]]
RIGHT = [case for case in CASES if case["right"]]
LANGUAGES = ("en", "ja", "zh")

# Sentence -> why the guard does not yet judge it as semantics 11 asks.
KNOWN = {
    "In 2018, two-thirds read news on a phone.": (
        "the source names 2018 alone, as what it compares with: a sentence with one period lends it to every figure"
    ),
    "2023年10月の物価上昇率は3.1%に加速した。": (
        "上昇 in the name 物価上昇率 counts as a direction, so that 加速 seems to agree with it"
    ),
}


def _wrong(case: Case) -> object:
    name = f"{case['language']}-{case['class']}-{WRONG.index(case)}"
    reason = KNOWN.get(case["sentence"])
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(case, id=name, marks=marks)


def test_the_suite_is_as_large_as_promised() -> None:
    assert len(WRONG) >= 180
    assert len(RIGHT) >= 120
    for language in LANGUAGES:
        assert sum(case["language"] == language for case in WRONG) >= 60
        assert sum(case["language"] == language for case in RIGHT) >= 40


def test_every_known_fault_is_a_case() -> None:
    assert set(KNOWN) <= {case["sentence"] for case in WRONG}


@pytest.mark.parametrize("case", [_wrong(case) for case in WRONG])
def test_a_wrong_sentence_is_dropped(case: Case) -> None:
    passed, _ = judge_case(case)
    assert not passed, f"{case['sentence']!r} got out"


def test_right_sentences_stay() -> None:
    dropped = [(case["sentence"], faults) for case in RIGHT for passed, faults in [judge_case(case)] if not passed]
    assert len(dropped) <= len(RIGHT) * 0.02, dropped
