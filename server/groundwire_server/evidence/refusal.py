"""The fixed sentences of refusals: one per reason and language, none with a figure (stream.proto, Refusal)."""

from __future__ import annotations

from groundwire_server.evidence.stream import Refusal, RefusalReason

__all__ = ["LANGUAGES", "make_refusal"]

LANGUAGES = ("en", "zh", "ja")

_TEXTS: dict[RefusalReason, tuple[str, str, str]] = {
    RefusalReason.NOTHING_FOUND: (
        "Nothing that could carry an answer was found.",
        "没有找到可以支撑回答的内容。",
        "回答の根拠になるものが見つかりませんでした。",
    ),
    RefusalReason.WEAK_CONTEXT: (
        "What was found is too weak to answer from.",
        "找到的内容不足以作出回答。",
        "見つかった内容は、回答の根拠として不十分です。",
    ),
    RefusalReason.OUT_OF_SCOPE: (
        "The question names something that this service does not answer about.",
        "问题涉及本服务不予回答的对象。",
        "この質問には、当サービスが回答しない対象が含まれています。",
    ),
    RefusalReason.UNLIKE_UNITS: (
        "The figures are in unlike units, and nothing is converted.",
        "各数值的单位不同，本服务不作换算。",
        "数値の単位が異なり、換算は行いません。",
    ),
    RefusalReason.NOT_ADDITIVE: (
        "The metric cannot be added up.",
        "该指标不可相加。",
        "この指標は合計できません。",
    ),
    RefusalReason.OPERAND_MISSING: (
        "A figure that the calculation needs is missing.",
        "缺少计算所需的数值。",
        "計算に必要な数値がありません。",
    ),
    RefusalReason.OPERAND_CONFLICTING: (
        "Sources of a figure that the calculation needs disagree.",
        "计算所需数值的来源相互矛盾。",
        "計算に必要な数値の出典が食い違っています。",
    ),
    RefusalReason.DIVISION_BY_ZERO: (
        "The calculation would divide by zero.",
        "该计算的除数为零。",
        "この計算ではゼロで割ることになります。",
    ),
    RefusalReason.ANSWER_UNSUPPORTED: (
        "No sentence of the answer was borne out by its sources.",
        "回答中没有任何句子得到来源的支持。",
        "回答のどの文も、出典で裏付けられませんでした。",
    ),
}


def make_refusal(reason: RefusalReason, language: str = "en") -> Refusal:
    """The refusal for a reason, in "en", "zh" or "ja"; another language gets English.

    >>> make_refusal(RefusalReason.NOTHING_FOUND).text
    'Nothing that could carry an answer was found.'
    """
    place = LANGUAGES.index(language) if language in LANGUAGES else 0
    return Refusal(reason, _TEXTS[reason][place])
