"""Sentences built from stored and computed figures, with every digit and the unit; no model takes part."""

from __future__ import annotations

from groundwire_server.evidence import MetricKey, Operation
from groundwire_server.glossary import TOTAL, Glossary, Term, display_name
from groundwire_server.metric.figures import Figure, is_instant

__all__ = ["derived_statement", "fact_statement", "formula_statement", "sum_statement"]

_SPAN = {
    "en": "{metric} of {entity}{parts} for {period}: {value}.",
    "zh": "{entity}{parts}在 {period} 的{metric}为 {value}。",
    "ja": "{entity}{parts}の {period} における{metric}は {value} です。",
}
_INSTANT = {
    "en": "{metric} of {entity}{parts} as of {period}: {value}.",
    "zh": "截至 {period}，{entity}{parts}的{metric}为 {value}。",
    "ja": "{period} 時点の{entity}{parts}の{metric}は {value} です。",
}
_PARTS = {"en": (" ({})", ", "), "zh": ("（{}）", "，"), "ja": ("（{}）", "、")}
_DERIVED = {
    Operation.DIFFERENCE: {
        "en": "Derived, not stored: {first} minus {second} is {value}.",
        "zh": "计算所得，并非存储的数值：{first}减去{second}为 {value}。",
        "ja": "計算による値（保存された数値ではありません）：{first}から{second}を引いた差は {value} です。",
    },
    Operation.RATIO: {
        "en": "Derived, not stored: {first} divided by {second} is {value}.",
        "zh": "计算所得，并非存储的数值：{first}除以{second}为 {value}。",
        "ja": "計算による値（保存された数値ではありません）：{first}を{second}で割った比は {value} です。",
    },
    Operation.GROWTH: {
        "en": "Derived, not stored: the growth from {first} to {second} is {value}.",
        "zh": "计算所得，并非存储的数值：从{first}到{second}的增长率为 {value}。",
        "ja": "計算による値（保存された数値ではありません）：{first}から{second}への成長率は {value} です。",
    },
}
_SUM = {
    "en": "Derived, not stored: {what}, summed over all that is below it, is {value}.",
    "zh": "计算所得，并非存储的数值：{what}按其下属全部合计为 {value}。",
    "ja": "計算による値（保存された数値ではありません）：{what}は、その傘下すべての合計で {value} です。",
}
_FORMULA = {
    "en": "Derived, not stored: {what}, by the formula of the glossary, is {value}.",
    "zh": "计算所得，并非存储的数值：{what}按词汇表的公式为 {value}。",
    "ja": "計算による値（保存された数値ではありません）：{what}は、用語集の式により {value} です。",
}
_PARTIAL_SUM = {
    "en": "Derived, not stored, and not the whole: {what}, summed over what is known below it, is {value}.",
    "zh": "计算所得，并非存储的数值，且不完整：{what}按其下属已知部分合计为 {value}。",
    "ja": "計算による値（保存された数値ではなく、一部のみ）：{what}は、その傘下で分かる分の合計で {value} です。",
}
_UNLIKE_DAYS = {
    "en": " The period is not of the same days for all of them.",
    "zh": "各部分的期间所指日期不尽相同。",
    "ja": "期間の指す日は、すべての部分で同じではありません。",
}
_OPERAND = {
    "en": "{metric} of {entity}{parts} in {period}",
    "zh": "{entity}{parts} {period} 的{metric}",
    "ja": "{entity}{parts}の {period} の{metric}",
}


def fact_statement(figure: Figure, glossary: Glossary, language: str) -> str:
    """The sentence of a stored figure; the value stands in it as it is stored, the unit as well."""
    record = figure.record
    names = _names(
        MetricKey(record.metric, record.entity, record.period, record.channel, record.dimensions), glossary, language
    )
    form = _INSTANT if is_instant(record) else _SPAN
    return form[language].format(**names, value=_with_unit(record.value, record.unit))


def derived_statement(
    operation: Operation, first: MetricKey, second: MetricKey, value: str, unit: str, glossary: Glossary, language: str
) -> str:
    """The sentence of a computed figure; it says that it is one."""
    operands = [_OPERAND[language].format(**_names(key, glossary, language)) for key in (first, second)]
    return _DERIVED[operation][language].format(first=operands[0], second=operands[1], value=_with_unit(value, unit))


def sum_statement(
    key: MetricKey, value: str, unit: str, glossary: Glossary, language: str, *, partial: bool, unlike_days: bool
) -> str:
    """The sentence of a sum over all that is below an entity; it says that it is one, and whether parts are missing or
    of unlike days.
    """
    form = (_PARTIAL_SUM if partial else _SUM)[language]
    what = _OPERAND[language].format(**_names(key, glossary, language))
    return form.format(what=what, value=_with_unit(value, unit)) + (_UNLIKE_DAYS[language] if unlike_days else "")


def formula_statement(key: MetricKey, value: str, unit: str, glossary: Glossary, language: str) -> str:
    """The sentence of a figure that the formula of its metric gives; it says that it is one."""
    what = _OPERAND[language].format(**_names(key, glossary, language))
    return _FORMULA[language].format(what=what, value=_with_unit(value, unit))


def _names(key: MetricKey, glossary: Glossary, language: str) -> dict[str, str]:
    parts = [] if key.channel == TOTAL else [_name(glossary.channels.get(key.channel), key.channel, language)]
    for dimension in key.dimensions:
        members = glossary.dimensions.get(dimension.name, {})
        parts.append(_name(members.get(dimension.member), dimension.member, language))
    around, between = _PARTS[language]
    return {
        "metric": _name(glossary.metrics.get(key.metric), key.metric, language),
        "entity": _name(glossary.entities.get(key.entity), key.entity, language),
        "period": key.period,
        "parts": around.format(between.join(parts)) if parts else "",
    }


def _name(term: Term | None, code: str, language: str) -> str:
    return display_name(term, language) if term is not None else code


def _with_unit(value: str, unit: str) -> str:
    return f"{value} {unit}" if unit else value
