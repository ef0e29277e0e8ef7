"""Questions that stand side by side in what was asked, in its own words."""

from __future__ import annotations

from collections.abc import Callable

from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.decomposition.decomposer import Decomposed, settle
from groundwire_server.query.decomposition.split import split_questions
from groundwire_server.query.query_text import QueryText
from groundwire_server.text import normalize

__all__ = ["RuleDecomposer"]


class RuleDecomposer:
    """Deterministic; it asks no model, and says nothing that was not asked."""

    name = "rules"

    def apply(
        self, query: QueryText, model: ModelProvider | None, passes: Callable[[str], bool], stop: Stop
    ) -> Decomposed:
        """See `Decomposer.apply`."""
        stop()
        pieces = split_questions(query.text, query.language)
        made = settle(pieces, lambda _: True)
        # A piece that is too long to be asked by itself, or one too many, is no less asked for.
        kept_all = len(made.questions) == len(set(map(normalize, pieces))) > 1 and not made.beyond
        return made if kept_all else Decomposed()
