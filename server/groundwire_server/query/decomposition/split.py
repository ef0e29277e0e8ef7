"""Questions that stand side by side in one text, in its own words (semantics 7), in English, Chinese and Japanese.

A piece is a question of its own only when it asks something, says what about, and leans on nothing before it; any other
piece stays with its neighbour. So what is cut is never less than what was asked, and in doubt nothing is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundwire_server.text import sentence_spans

__all__ = ["split_questions"]

_MOST = 4096  # code points that are looked at; a longer text stays whole

_WH = r"who|what|when|where|why|how|which"
_EN_CUT = re.compile(rf"\s*[,;]?\s+(?:and|or|but)\s+(?:also\s+|then\s+)?(?=(?:in\s+|by\s+)?(?:{_WH})\b)", re.IGNORECASE)
_ZH_CUT = re.compile(
    "[，,；;](?:(?:以及|并且|並且|而且|另外|还有|還有|同时|同時|又|还|還|那么|那麼)[，,]?)?|以及|并且|並且|另外|还有|還有"
)
_JA_CUT = re.compile("[、，,；;](?:(?:また|そして|さらに|それから|および|及び|それと)[、，,]?)?")
_CUTS = {"en": _EN_CUT, "zh": _ZH_CUT, "ja": _JA_CUT}

_OPENING = re.compile(
    r"\s*(?:(?:and|also|then|finally)\b[,\s]*|(?:另外|还有|還有|此外|同时|同時|并且|並且|以及)[，,]?"
    "|(?:また|そして|さらに|それから|次に|最後に)[、，,]?)",
    re.IGNORECASE,
)

_EN_ASKS = re.compile(
    rf"\b(?:{_WH}|whom|whose)\b|^\s*(?:is|are|was|were|do|does|did|has|have|had|can)\b", re.IGNORECASE
)
_ZH_ASKS = re.compile(
    "谁|誰|什么|什麼|何时|何時|何地|哪|多少|多大|多高|多长|多長|多久|为何|為何|怎么|怎麼|怎样|怎樣|如何|几|幾|吗|嗎|是否"
)
_JA_ASKS = re.compile(
    "誰|だれ|何|なに|なん|いつ|どこ|どの|どれ|どちら|どう|どん|なぜ|いくら|いくつ|か[。？?]?$|ですか|ますか|教えて"
)
_ASKS = {"en": _EN_ASKS, "zh": _ZH_ASKS, "ja": _JA_ASKS}

_EN_LEANS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|his|her|hers|him|same|former|latter|there|one|ones"
    r"|each|both|so|else|other|others)\b",
    re.IGNORECASE,
)
_ZH_LEANS = re.compile("[它其他她该該此这這那]|上述|同年|同期|前者|后者|後者|两者|兩者|各自|分别|分別")
_JA_LEANS = re.compile("それ|その|これ|この|あの|彼|同社|同国|同氏|同年|同期|前者|後者|両者|そこ|そちら|各々|それぞれ")
_LEANS = {"en": _EN_LEANS, "zh": _ZH_LEANS, "ja": _JA_LEANS}

# Words that say neither what is asked about nor what of it.
_EN_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """
        a an the of in for at on as to from and or by with is are was were be been being do does did has have had can
        could will would should may might much many long far large big high low old often well come exactly about than
        not no if who whom whose what when where why how which please tell me us give say know
        """,
    )
)
_EN_VERB = re.compile(r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might)\b", re.I)
_EN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ZH_EMPTY = re.compile("[的是了在有和与與吗嗎呢吧请請问問又还還也都]|" + _ZH_ASKS.pattern)
_JA_TOPIC = re.compile("[はがをの]")
_HAN_KATA = re.compile("[\u3400-\u9fff\u30a0-\u30ff]")


def split_questions(text: str, language: str) -> list[str]:
    """The questions, in order, each in the words of the text; one: the whole text.

    Args:
        language: "en", "zh" or "ja"; a text of another one is cut at the ends of its sentences alone.

    >>> split_questions("Who founded Acme, and when was the Cloud division sold?", "en")
    ['Who founded Acme?', 'when was the Cloud division sold?']
    >>> split_questions("Who founded Acme and where does it have stores?", "en")
    ['Who founded Acme and where does it have stores?']
    """
    if len(text) > _MOST:
        return [text.strip()]
    found: list[str] = []
    held, before = "", ""  # what asks nothing itself and stands before what may, and what joins it to what is before it
    for piece, joiner in _pieces(text, language):
        before = before if held else joiner
        held = f"{held}{joiner}{piece}" if held else piece
        if not _asks(piece, language) and (not found or language != "en"):
            continue
        if found and not (_is_question(held, language) and _is_like(found[0], held, language)):
            found[-1] = f"{found[-1]}{before}{held}"
        else:
            found.append(held)
        held = ""
    if len(found) < 2:
        return [text.strip()]
    if held:
        found[-1] = f"{found[-1]}{before}{held}"
    return [_closed(each, language) for each in found]


def _pieces(text: str, language: str) -> Iterator[tuple[str, str]]:
    """Stretches between the ends of sentences and words that join, each with what stood before it."""
    cut = _CUTS.get(language)
    before = ""
    for span in sentence_spans(text):
        sentence = text[span.start : span.end]
        body = sentence.rstrip()
        opening = _OPENING.match(body)
        at = opening.end() if opening else 0
        before += body[:at]
        for match in cut.finditer(body) if cut is not None else ():
            if match.start() > at and body[at : match.start()].strip():
                yield body[at : match.start()].lstrip(), before
                before, at = match.group(), match.end()
        if body[at:].strip():
            yield body[at:].lstrip(), before
        before = sentence[len(body) :] or (" " if language == "en" else "")


def _asks(piece: str, language: str) -> bool:
    if not any(sign.isalnum() for sign in piece):
        return False
    pattern = _ASKS.get(language)
    return piece.rstrip().endswith(("?", "？")) or (pattern is not None and pattern.search(piece) is not None)


def _is_question(piece: str, language: str) -> bool:
    """Whether a piece asks something of something, and leans on nothing that was said before."""
    leans = _LEANS.get(language)
    if not _asks(piece, language) or (leans is not None and leans.search(piece)):
        return False
    if language == "en":
        words = [word.casefold() for word in _EN_WORD.findall(piece)]
        content = [word for word in words if word not in _EN_EMPTY]
        return len(content) >= (1 if _EN_VERB.search(piece) else 2)
    if language == "zh":
        return len(_HAN_KATA.findall(_ZH_EMPTY.sub("", piece))) >= 3
    if language == "ja":
        return _JA_TOPIC.search(piece) is not None and len(_HAN_KATA.findall(_JA_ASKS.sub("", piece))) >= 2
    return True


def _is_like(first: str, piece: str, language: str) -> bool:
    """Whether a later piece says as much as the first does of what it is about.

    A name that only the first has may be meant by both; "who" behind a "who" within the first goes on with that one.
    """
    if language != "en":
        return True
    if _names_something(first) and not _names_something(piece):
        return False
    opening = _EN_WORD.search(piece)
    word = opening.group().casefold() if opening else ""
    within = [each.casefold() for each in _EN_WORD.findall(first)][1:]
    return word not in within


def _names_something(piece: str) -> bool:
    """Whether there is a figure, or a word with a capital that does not begin the piece."""
    words = list(_EN_WORD.finditer(piece))
    return any(any(sign.isupper() or sign.isdigit() for sign in word.group()) for word in words[1:])


def _closed(piece: str, language: str) -> str:
    """A question with its mark."""
    piece = piece.strip().rstrip("，,；;、。.").rstrip()
    return piece if "?" in piece or "？" in piece else f"{piece}{'?' if language == 'en' else '？'}"
