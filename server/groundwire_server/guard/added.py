"""Whether a text says a date, a period or a figure that another text does not say."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.glossary import Glossary
from groundwire_server.guard.reading import Figure, read_sentence

__all__ = ["adds_to"]


def adds_to(text: str, said: str, language: str, glossary: Sequence[Glossary]) -> bool:
    """Whether a text has a date, period, figure or ratio, in whatever form, that does not stand in what was said.

    The reading is that of the number guard: what it takes for said by a text is held to what was said before.

    >>> adds_to("Who closed it at 3 pm?", "Who closed the 3 mills?", "en", ())
    True
    >>> adds_to("Who closed three mills?", "Who closed the 3 mills?", "en", ())
    False
    """
    new, known = (read_sentence(each, language, glossary) for each in (text, said))
    if any(not known.holds(moment.facets) for moment in new.moments):
        return True
    if any(not any(_is_same(each, other) for other in known.figures) for each in new.figures if not each.number.soft):
        return True
    ratios = {word.kind for word in known.ratios}
    return any(word.kind not in ratios for word in new.ratios)


def _is_same(one: Figure, other: Figure) -> bool:
    return one.number.equals(other.number) and one.number.unit == other.number.unit
