"""What the property tests of small worlds share: how questions are drawn and asked, and how hypothesis runs."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from hypothesis import Phase
from hypothesis import strategies as st

from tests.promises.direct import DirectHouse
from tests.promises.questions import QUESTIONS, Question, answer, verdicts

__all__ = ["PHASES", "ask", "drawn_questions"]

# Without that of explaining, which runs a failure hundreds of times more.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)

_CITED = 1  # citations of each answer that are verified
# Methods that see most of a library are asked more often than those that see little of it.
_OFTEN = {"NarrativeRetrieve": 5, "QueryMetric": 3, "GraphTrace": 3, "Ask": 3, "ListLibraries": 2, "ListJobs": 3}


@functools.cache
def drawn_questions(*, leaping: bool, without: tuple[str, ...] = ()) -> st.SearchStrategy[tuple[Question, ...]]:
    """Some questions to many methods.

    Args:
        leaping: also those that count on moments.
        without: methods that are not asked.
    """
    kept = [
        [each for each in questions if leaping or not each.leap]
        for method, questions in QUESTIONS.items()
        for _ in range(_OFTEN.get(method, 1))
        if method not in without
    ]

    def chosen(number: int) -> Question:
        turn, method = divmod(number, len(kept))
        return kept[method][turn % len(kept[method])]

    return st.lists(st.integers(0, 1 << 16).map(chosen), min_size=2, max_size=6).map(tuple)


def ask(here: DirectHouse, questions: Sequence[Question]) -> Iterator[tuple[str, bytes]]:
    """What each question gives, and what is said of the first citations in it."""
    for question in questions:
        told, frames = answer(here, question)
        yield repr(question), told
        for citation in verdicts(frames, _CITED):
            yield repr(citation), answer(here, citation)[0]
