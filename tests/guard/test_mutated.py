"""Sentences of real texts, right and made wrong in one way: no wrong one goes out, next to no right one is dropped.

`scripts/make_guard_cases.py` writes the cases; each names its set and document (Wikipedia by way of JaQuAD, JSQuAD,
CMRC 2018, DRCD and HotpotQA, CC BY-SA 3.0 and 4.0; country_facts, public domain and CC BY 4.0).
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.guard.support import judge_case, read_cases

CASES = list(read_cases(Path(__file__).with_name("mutated.jsonl")))
LANGUAGES = ("en", "ja", "zh")


def test_each_class_has_twenty_cases_in_each_language() -> None:
    counted = Counter((case["class"], case["language"]) for case in CASES)
    classes = {name for name, _ in counted}
    assert len(classes) == 16
    assert min(counted[name, language] for name in classes for language in LANGUAGES) >= 20
    assert sum(counted.values()) - sum(counted["right", language] for language in LANGUAGES) >= 900


def test_no_wrong_sentence_goes_out() -> None:
    out = [case for case in CASES if case["class"] != "right" and judge_case(case)[0]]
    assert not out, [(case["class"], case["language"], case["sentence"]) for case in out]


def test_no_more_than_two_of_a_hundred_right_sentences_are_dropped() -> None:
    for language in LANGUAGES:
        right = [case for case in CASES if case["class"] == "right" and case["language"] == language]
        dropped = [case["sentence"] for case in right if not judge_case(case)[0]]
        assert len(dropped) * 50 <= len(right), dropped
