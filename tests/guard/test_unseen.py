"""Model sentences written without sight of the guard: no wrong one gets out, right ones stay."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from .support import Case, judge_case, read_cases

CASES = list(read_cases(Path(__file__).with_name("unseen.jsonl")))
WRONG = [case for case in CASES if not case["right"]]
RIGHT = [case for case in CASES if case["right"]]
LANGUAGES = ("en", "ja", "zh")

# Sentence -> why the guard lets it by. docs/guard.md, "What it does not see", tells of it.
_ANOTHER_THING = "the ratio stands in the cited text, and is said of another thing, which the glossary does not know"
KNOWN = {
    "Ticket sales tripled in the 2023 season.": _ANOTHER_THING,
    "入場券の販売枚数は3倍になった。": _ANOTHER_THING,
    "门票销量增至三倍。": _ANOTHER_THING,
}


def _wrong(case: Case) -> object:
    name = f"{case['language']}-{case['class']}-{WRONG.index(case)}"
    reason = KNOWN.get(case["sentence"])
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(case, id=name, marks=marks)


def test_the_suite_is_as_large_as_promised() -> None:
    wrong = Counter((case["class"], case["language"]) for case in WRONG)
    for kind in {kind for kind, _ in wrong}:
        assert min(wrong[kind, language] for language in LANGUAGES) >= 20, kind
    assert len({kind for kind, _ in wrong}) >= 20
    right = Counter(case["language"] for case in RIGHT)
    assert right.total() >= 400
    assert min(right[language] for language in LANGUAGES) >= 130


def test_every_known_fault_is_a_case() -> None:
    assert set(KNOWN) <= {case["sentence"] for case in WRONG}


@pytest.mark.parametrize("case", [_wrong(case) for case in WRONG])
def test_a_wrong_sentence_is_dropped(case: Case) -> None:
    passed, _ = judge_case(case)
    assert not passed, f"{case['sentence']!r} got out"


def test_right_sentences_stay() -> None:
    dropped = [(case["sentence"], faults) for case in RIGHT for passed, faults in [judge_case(case)] if not passed]
    assert len(dropped) <= len(RIGHT) * 0.02, dropped
