"""The number guard and the citation guard on one sentence of a model (semantics 11)."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.evidence import Snippet, Span, TextPassage, Trust
from groundwire_server.glossary import Glossary
from groundwire_server.guard.citations import without_marks
from groundwire_server.guard.numbers import Number, read_numbers
from groundwire_server.guard.verdict import Fault, FaultKind, Verdict

__all__ = ["SentenceGuard"]


class SentenceGuard:
    """Holds the sentences of one answer to what they cite.

    Args:
        question: dates and periods may stand in it instead of in the cited text.
        glossary: of the libraries that were searched.
        language: of the answer, "en", "zh" or "ja".
        figures_allowed: True on the narrative route alone; else a sentence with a figure never passes.
    """

    def __init__(self, question: str, glossary: Sequence[Glossary], language: str, *, figures_allowed: bool) -> None:
        self._question = question
        self._glossary = tuple(glossary)
        self._language = language
        self._figures_allowed = figures_allowed

    def check(self, sentence: str, cited: Sequence[Snippet]) -> Verdict:
        """Whether a sentence may be sent, given the snippets that its marks name (`citations.resolve`)."""
        text = without_marks(sentence)
        numbers = read_numbers(text, self._language)
        if not cited:
            return Verdict(False, (Fault(FaultKind.NO_CITATION, _whole(text), text),))
        known = [number for snippet in cited for number in self._numbers(snippet)]
        faults = tuple(
            Fault(
                FaultKind.FIGURE_NOT_IN_SOURCE if self._figures_allowed else FaultKind.FIGURE_NOT_ALLOWED,
                number.span,
                number.text,
            )
            for number in numbers
            if not self._figures_allowed or not any(number.equals(each) and number.unit == each.unit for each in known)
        )
        return Verdict(not faults, faults, (), tuple(range(len(cited))))

    def _numbers(self, snippet: Snippet) -> list[Number]:
        if snippet.trust is not Trust.CITABLE or not isinstance(snippet.payload, TextPassage):
            return []
        return read_numbers(snippet.payload.text, self._language)


def _whole(text: str) -> Span:
    return Span(0, len(text))
