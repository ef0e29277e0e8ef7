"""Words without content of their own in English, Chinese and Japanese, and the content that is left without them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundwire_server.evidence import Span
from groundwire_server.text.normal import normalize
from groundwire_server.text.scripts import is_cjk

__all__ = ["FUNCTION_WORDS", "content_spans"]

_WORD = re.compile(r"[^\W_]+")
_HIRAGANA = re.compile("[\u3041-\u3096\u309d\u309e]+")


def _longest_first(listed: str) -> str:
    return "|".join(sorted(listed.split(), key=lambda word: (-len(word), word)))


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


FUNCTION_WORDS = _set("""
    a an the of in for at on as to from and or by with what which was were is are be been being am has have had do
    did does me my i we us our you your he she it its they them their this that these those there here s please
    exact exactly precise precisely how much many large big about year years yearly annual annually quarter
    quarters quarterly month months monthly fiscal calendar financial half first second third fourth day date
    ended ending end ends began begin start period periods during between through until till since over per within
    up will would can could should may might shall must not no nor so than then into onto also just only all any
    each both some more most such very reported report reports recorded posted stated figure figures number
    numbers value values amount amounts level total overall whole full actual actually equal kindly give tell show
    get find know need want t re ll d ve m compared comparison data according latest current respectively same if
    when while like list display please thanks look provide return compute calculate check ask asked
""")
"""Words of English, neutral words of periods and of asking among them."""

_HAN_FUNCTION = {
    "ja": re.compile(
        _longest_first("""
            時点 現在 年度 会計年度 四半期 半期 上半期 下半期 通期 期間 年間 年末 月末 期末 正確 精確 当時
        """)
    ),
    "zh": re.compile(
        _longest_first("""
            截至 截止 我们 我們 准确 準確 精确 精確 具体 具體 季度 年度 财年 財年 会计年度 會計年度 全年 期间 期間 当年
            當年 年末 年底 月底 总共 總共 一共 分别 分別 什么 什麼 哪个 哪個 哪些 哪一个 哪一個 哪一 哪种 哪種 多长 多長
        """)
    ),
}
"""The same inside a run of Han, by language."""

_HAN_EDGES = {"ja": "何", "zh": "的是在为為了和与與及至到于於从從我吗嗎呢吧啊请請有又被把"}
"""Characters that carry none at the ends of a run of Han, and may well stand inside a name."""

_HIRAGANA_FUNCTION = re.compile(
    "(?:"
    + _longest_first("""
        において における に関する に関して について によると による に対する に対して として という ください
        でしょうか ましょうか でした ですか ました ますか ですよね ですが です ます だった である であった でしょう
        だろう あった あります ありますか ある います いますか いる いた する した して している された される され
        できる なった なります なる なり から まで より ほど くらい ぐらい だけ など って のは のが には では とは もの
        こと それ その これ この あれ あの どの ここ そこ お ご の は が を に で と も へ や か た て ね よ な だ し れ
        い え っ ば う け さ り る
    """)
    + ")+"
)
"""Hiragana that only joins, ends or asks; a run made of these alone carries no content."""


def content_spans(text: str, language: str, covered: bytearray | None = None) -> Iterator[Span]:
    """Words of content: of spaced scripts those that are no function words, of CJK what is left of a run.

    Args:
        covered: a 1 for each code point that is passed over; None: none is.

    >>> [text[span.start : span.end] for text in ["What was the revenue?"] for span in content_spans(text, "en")]
    ['revenue']
    """
    covered = bytearray(len(text)) if covered is None else covered
    for match in re.finditer(r"\x01+|\x00+", covered.decode("latin-1")):
        if match.group()[0] == "\x01":
            continue
        at = match.start()
        for word in _WORD.finditer(text[at : match.end()]):
            yield from _content_of(word.group(), at + word.start(), language)


def _content_of(word: str, start: int, language: str) -> Iterator[Span]:
    cjk = False
    begin = 0
    for place, character in enumerate([*word, ""]):
        here = bool(character) and is_cjk(character)
        if place > begin and (not character or here != cjk):
            part = word[begin:place]
            yield from _content_of_run(part, start + begin, language) if cjk else _content_word(part, start + begin)
            begin = place
        cjk = here


def _content_word(word: str, start: int) -> Iterator[Span]:
    if normalize(word) not in FUNCTION_WORDS:
        yield Span(start, start + len(word))


def _content_of_run(run: str, start: int, language: str) -> Iterator[Span]:
    at = 0
    for match in _HIRAGANA.finditer(run):
        yield from _content_of_han(run[at : match.start()], start + at, language)
        if not _HIRAGANA_FUNCTION.fullmatch(match.group()):
            yield Span(start + match.start(), start + match.end())
        at = match.end()
    yield from _content_of_han(run[at:], start + at, language)


def _content_of_han(run: str, start: int, language: str) -> Iterator[Span]:
    pattern, edges = _HAN_FUNCTION.get(language), _HAN_EDGES.get(language, "")
    at = 0
    ends = [(match.start(), match.end()) for match in pattern.finditer(run)] if pattern is not None else []
    for end, following in [*ends, (len(run), len(run))]:
        part = run[at:end]
        left = len(part) - len(part.lstrip(edges))
        kept = part.strip(edges)
        if kept:
            yield Span(start + at + left, start + at + left + len(kept))
        at = following
