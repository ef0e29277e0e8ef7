"""Fixed sentences of questions back and of answers, by language. None holds a figure."""

from __future__ import annotations

from groundwire_server.evidence import LANGUAGES, TextPassage

__all__ = ["clarifying_question", "conflict_text", "quoted", "shown_title", "unknown_text"]

_CLARIFYING = {
    "": (
        "What would you like to know?",
        "您想了解什么？",
        "何をお知りになりたいですか？",
    ),
    "metric": (
        "Which metric do you mean?",
        "您指的是哪个指标？",
        "どの指標についてのご質問ですか？",
    ),
    "entity": (
        "Whose figure do you mean?",
        "您指的是哪个主体的数值？",
        "どの対象の数値についてのご質問ですか？",
    ),
    "period": (
        "For which period?",
        "您指的是哪个期间？",
        "どの期間についてのご質問ですか？",
    ),
}
_UNKNOWN = {
    "metric": (
        "The metric that the question names is not known here.",
        "问题中的指标在此处没有登记。",
        "質問にある指標は登録されていません。",
    ),
    "entity": (
        "The entity that the question names is not known here.",
        "问题中的主体在此处没有登记。",
        "質問にある対象は登録されていません。",
    ),
    "period": (
        "The period that the question names cannot be read.",
        "无法识别问题中的期间。",
        "質問にある期間を読み取れません。",
    ),
    "channel": (
        "The part of the whole that the question names is not known here.",
        "问题中的分项在此处没有登记。",
        "質問にある内訳は登録されていません。",
    ),
}
_AMBIGUOUS = (
    "A name in the question means several things, and none is picked.",
    "问题中的名称有多种含义，未作选择。",
    "質問にある名称には複数の意味があり、どれも選びません。",
)
_CONFLICT = (
    "The sources disagree; all of them are given.",
    "各来源的数值不一致，以下全部列出。",
    "出典の数値が食い違っているため、すべて示します。",
)
_QUOTATION_MARKS = frozenset("“”「」")
_LONGEST_TITLE = 120
_QUOTED = ("“{sentence}” ({source})", "“{sentence}”（{source}）", "「{sentence}」（{source}）")


def _in(texts: tuple[str, str, str], language: str) -> str:
    return texts[LANGUAGES.index(language) if language in LANGUAGES else 0]


def clarifying_question(missing_param: str, language: str) -> str:
    """The question back for a missing part; "" asks what is wanted at all.

    >>> clarifying_question("period", "en")
    'For which period?'
    """
    return _in(_CLARIFYING[missing_param], language)


def unknown_text(param: str, language: str, *, ambiguous: bool) -> str:
    """That a name of the question is not known, or means several things."""
    return _in(_AMBIGUOUS if ambiguous else _UNKNOWN.get(param, _UNKNOWN["channel"]), language)


def conflict_text(language: str) -> str:
    """That sources disagree."""
    return _in(_CONFLICT, language)


def shown_title(title: str) -> str:
    """A document's title beside a quotation: one line, without marks that end the quotation, of bounded length.

    >>> shown_title("Japan” \\n Population: 5"), len(shown_title("x" * 1000))
    ('Japan Population: 5', 120)
    """
    plain = "".join(char if char.isprintable() and char not in _QUOTATION_MARKS else " " for char in title)
    line = " ".join(plain.split())
    return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"


def quoted(passage: TextPassage, sentence: str, source: str, language: str) -> str:
    """A verbatim sentence of a passage, marked as a quotation with its source.

    Raises:
        ValueError: the sentence does not stand in the passage.
    """
    if sentence not in passage.text:
        raise ValueError("a quotation must stand in its source")
    return _in(_QUOTED, language).format(sentence=sentence, source=source)
