"""What a learned classifier sees of a question: its words, cues and the kinds of names in it, and no name itself.

Recognised names and periods are replaced by their kind, numbers by `#`, and words with a capital that do not begin the
question by `_X`; of CJK text only cues, kinds and counts remain. So no entity becomes a feature.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from groundwire_server.router.cues import Cue
from groundwire_server.router.frames import Route
from groundwire_server.router.reading import Reading

__all__ = ["features_of"]

_TOKEN = re.compile(r"\0[a-z]|[A-Za-z]+(?:['’][a-z]+)?|\d+|[%?]")
_LONGEST_RUN = 3
_MOST_WORDS = 200


def features_of(reading: Reading, by_rules: Route, confidence: float) -> frozenset[str]:
    """Features of a question, each there or not.

    Args:
        by_rules: the route by the rules, and how sure they are (0 to 1).
    """
    masked, plain = _words(_masked(reading)), _words(reading.question)
    found = {f"m:{run}" for run in _runs(masked)} | {f"r:{run}" for run in _runs(plain)}
    found.update(f"c:{cue.value}" for cue in Cue if reading.has(cue))
    for kind in ("metric", "entity", "channel"):
        found.add(f"k:{kind} {min(2, len(reading.of_kind(kind)))}")
    found.add(f"k:period {min(3, len(reading.periods))}")
    found.add(f"k:phrase {min(3, len(reading.phrases))}")
    found.add(f"k:words {min(5, len(masked) // 5)}")
    found.add(f"k:language {reading.language}")
    found.add(f"k:rules {by_rules.name.lower()} {confidence:.2f}")
    asked = (
        ("metric", bool(reading.of_kind("metric"))),
        ("period", bool(reading.periods)),
        ("figure", reading.has(Cue.FIGURE)),
        ("compute", reading.has(Cue.COMPUTE)),
    )
    found.add("k:with " + " ".join(name for name, there in asked if there))
    return frozenset(found)


def _masked(reading: Reading) -> str:
    """The question with each name and period replaced by a mark of its kind."""
    marks = [(name.span, f" \0{name.kind[0]} ") for name in reading.names]
    marks += [(each.span, " \0p ") for each in reading.periods]
    parts: list[str] = []
    at = 0
    for span, mark in sorted(marks, key=lambda each: (each[0].start, each[0].end)):
        if span.start < at:
            continue
        parts += [reading.question[at : span.start], mark]
        at = span.end
    return "".join([*parts, reading.question[at:]])


def _words(text: str) -> list[str]:
    words = ["^"]
    for token in _TOKEN.findall(text):
        if token[0] == "\0":
            word = f"_{token[1:].upper()}"
        elif token[0].isdigit():
            word = "#"
        elif len(words) > 1 and token[0].isupper():
            word = "_X"
        else:
            word = token.lower()
        if word != "_X" or words[-1] != "_X":
            words.append(word)
        if len(words) > _MOST_WORDS:
            break
    return [*words, "$"]


def _runs(words: Sequence[str]) -> Iterator[str]:
    for length in range(1, _LONGEST_RUN + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])
