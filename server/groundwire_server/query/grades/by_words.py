"""Whether some passage says enough of what a question is about, by the words that tell something (semantics 7).

What counts is how much of a question's content stands in one passage, each phrase weighed by how rare its words are.
Words without content of their own count for nothing, common ones for little, and of CJK pairs of characters and no
single ones, so that neither stop words nor common characters make a passage look like an answer. `docs/corrective.md`
has the figures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from groundwire_server.glossary.names import stem
from groundwire_server.llm import ModelProvider, Stop
from groundwire_server.query.grades.grader import Grade, Ground
from groundwire_server.text import content_spans, detect_language, is_cjk, normalize, tokenize

__all__ = ["WordGrader", "keywords"]

_ENOUGH = 0.28
_ENOUGH_KANA = 0.40  # pairs of Hiragana meet by chance more often than words and pairs of Han do

_ASKING = frozenset(
    """
    who whom whose where why describe describes described discuss discussed discussing explain explained mention
    mentioned state summarize summarise talk talked talking think thought
    """.split()  # noqa: SIM905
)
# Characters that join and ask inside a run of Han, which nothing else divides into words.
_HAN_JOINTS = re.compile(
    "[的是在為为了和與与及至到于於从從我吗嗎呢吧啊请請有又被把谁誰哪什么麼多少几幾何怎样樣这這那其它他她们們也都就而或但并並将將由以之所者会會能可]+"
)
_HIRAGANA = re.compile("[\u3041-\u3096\u309d\u309e\u30fc]+")


class WordGrader:
    """Deterministic; it asks no model."""

    name = "words"
    asks_model = False

    def grade(self, ground: Ground, model: ModelProvider | None, stop: Stop) -> Grade:
        """See `Grader.grade`.

        Words of one writing tell nothing of passages in another: where most passages are not in the writing of any
        wording, there is nothing to judge by, and they pass.
        """
        stop()
        if not ground.passages:
            return Grade(enough=False, detail="nothing")
        written = [(detect_language(text) != "en", _words(text)) for text in ground.passages]
        best: tuple[float, float] | None = None
        judged: set[int] = set()
        for wording in ground.wordings:
            language = detect_language(wording)
            places = [place for place, (cjk, _) in enumerate(written) if cjk is (language != "en")]
            judged.update(places)
            needed = _ENOUGH_KANA if language == "ja" else _ENOUGH
            for place in places:
                share = _share(wording, language, written[place][1], ground)
                if best is None or share - needed > best[0] - best[1]:
                    best = share, needed
        if best is None or 2 * len(judged) < len(written):
            return Grade(enough=True, detail="other_writing")
        share, needed = best
        return Grade(share >= needed, f"share={share:.2f},needed={needed:.2f}")


def keywords(text: str) -> str:
    """The content of a question alone, as a query; empty where there is none.

    >>> keywords("What was the effect of the snow on Acme's roads?")
    'effect snow Acme roads'
    """
    return " ".join(phrase for phrase, _ in _phrases(text, detect_language(text)))


def _phrases(text: str, language: str) -> list[tuple[str, tuple[str, ...]]]:
    """Stretches of content with their tokens; of CJK without single characters, where there is more."""
    found = [
        (part, tokens)
        for span in content_spans(text, language)
        for part in _parts(text[span.start : span.end], language)
        if (tokens := _telling(part)) and normalize(part) not in _ASKING
    ]
    return [each for each in found if not _is_weak(each[0])] or found


def _is_weak(phrase: str) -> bool:
    return _HIRAGANA.fullmatch(phrase) is not None or (len(phrase) == 1 and is_cjk(phrase))


def _parts(phrase: str, language: str) -> Iterator[str]:
    if language == "zh" and is_cjk(phrase[0]):
        yield from (part for part in _HAN_JOINTS.split(phrase) if part)
    else:
        yield phrase


def _telling(phrase: str) -> tuple[str, ...]:
    tokens = tuple(dict.fromkeys(tokenize(phrase)))
    return tuple(token for token in tokens if len(token) > 1 or not is_cjk(token)) or tokens


def _words(text: str) -> frozenset[str]:
    """The tokens of a passage, and of English words what is left without the plural."""
    tokens = set(tokenize(text))
    return frozenset(tokens | {stem(token) for token in tokens})


def _share(wording: str, language: str, words: frozenset[str], ground: Ground) -> float:
    """How much of the content of a wording stands in a passage, 0 to 1; 0 where it has none."""
    phrases = [tokens for _, tokens in _phrases(wording, language)]
    held = math.fsum(_weight(tokens, words, ground) for tokens in phrases)
    everything = math.fsum(_weight(tokens, None, ground) for tokens in phrases)
    return held / everything if everything else 0.0


def _weight(tokens: Sequence[str], words: frozenset[str] | None, ground: Ground) -> float:
    """Of the tokens of a phrase that are among some words; None: of all. A long phrase weighs not by its length."""
    held = (token for token in tokens if words is None or token in words or stem(token) in words)
    return math.fsum(map(ground.weigh, held)) / math.sqrt(len(tokens))
