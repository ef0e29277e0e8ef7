"""How long a stretch of a text is: in code points, or in tokens of an embedding model."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire_server.chunking.chunk import Budget
from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["Measure", "TextModel", "measure_of", "need_model"]

# A text is tokenised in stretches of about so many code points: what a tokenizer says of one takes 100 bytes a token.
_STRETCH = 1 << 15


class TextModel(Protocol):
    """What chunkers ask of an embedding model. `dense` has them."""

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        """A unit vector."""
        ...

    def token_starts(self, text: str) -> Sequence[int]:
        """Offset at which each token of a text begins, ascending; marks at the ends are no tokens of it."""
        ...


class Measure(Protocol):
    """Lengths of stretches of one text."""

    def size(self, start: int, end: int) -> int:
        """Length of a stretch as it is counted while a text is cut; in constant or logarithmic time."""
        ...

    def reach(self, start: int, most: int) -> int:
        """How far a stretch that begins there goes with at most that length; at least one code point."""
        ...

    def exact(self, start: int, end: int) -> int:
        """Length of a stretch that stands by itself, which `size` gives for tokens only nearly."""
        ...


class _Characters:
    def size(self, start: int, end: int) -> int:
        return end - start

    def reach(self, start: int, most: int) -> int:
        return start + most

    exact = size


class _Tokens:
    """Counts the tokens of the whole text that begin in a stretch, and one: a model marks where a text begins."""

    def __init__(self, text: str, model: TextModel) -> None:
        self._text = text
        self._model = model
        self._starts = array("Q")
        for first, last in _stretches(text):
            self._starts.extend(first + start for start in model.token_starts(text[first:last]))

    def size(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start) + 1

    def reach(self, start: int, most: int) -> int:
        place = bisect_left(self._starts, start) + max(most - 1, 1)
        return max(self._starts[place] if place < len(self._starts) else len(self._text), start + 1)

    def exact(self, start: int, end: int) -> int:
        return len(self._model.token_starts(self._text[start:end]))


def measure_of(text: str, budget: Budget, model: TextModel | None) -> Measure:
    """What measures a text in the unit of a budget. Raises FailedPrecondition as `need_model` does."""
    return _Characters() if budget.unit == "characters" else _Tokens(text, need_model(model, "A budget in tokens"))


def need_model(model: TextModel | None, what: str) -> TextModel:
    """The model. Raises FailedPrecondition (NO_EMBEDDER) where there is none."""
    if model is None:
        raise FailedPrecondition(
            ErrorReason.NO_EMBEDDER,
            f"{what} needs an embedding model, and there is none.",
            hint="`groundwire models prepare` fetches the default model; the other chunkers with a budget in "
            "characters need none.",
        )
    return model


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that cover the text, parted behind a line, else behind a blank, where there is one."""
    start = 0
    while start < len(text):
        end = min(start + _STRETCH, len(text))
        if end < len(text):
            half = start + _STRETCH // 2
            end = next((place + 1 for sign in "\n " if (place := text.rfind(sign, half, end)) >= 0), end)
        yield start, end
        start = end
