"""Whether a question needs several steps, by its words, in English, Chinese and Japanese (semantics 7, "Adaptive").

It does when it holds several questions, sets things against each other, or asks of something that it describes and does
not name: "the company that built the tower". Words of the languages decide, none of any data.
"""

from __future__ import annotations

import re

from groundwire_server.query import split_questions

__all__ = ["needs_several_steps"]

_MOST = 600  # code points that are looked at
_WH = r"(?:who|whom|whose|which|what|where|when|why|how)"
_EN = (
    # A or B; both A and B; the same as
    re.compile(rf"\b{_WH}\b.*[,:]\s[^,]+,?\s(?:or|and)\s|\b{_WH}\b.*\w+(?:er|re|st|ame|rst)\b.*\sor\s", re.IGNORECASE),
    re.compile(
        r"^\s*(?:are|were|do|did|is|was|does|have|has)\b.*\sand\s.*\b(?:both|same|either|each)\b", re.IGNORECASE
    ),
    re.compile(
        r"^\s*(?:are|were|do|did|is|was|does|have|has)\b.*\b(?:both|same|either|each)\b.*\sand\s", re.IGNORECASE
    ),
    re.compile(r"\b(?:compare[ds]?|comparison|difference[s]?\s+between|versus|vs)\b|\bin\s+common\b", re.IGNORECASE),
    # the company that built the tower; the tower built by the company that; the county where
    re.compile(
        r"\b(?:the|an?|of|by|in|at|to|for)\s+(?:[\w-]+\s+){1,4}(?:who|whose|whom|which|that|where)\b", re.IGNORECASE
    ),
    # the founder of the owner of; the wife of the director of; the father of the X's founder
    re.compile(r"\bof\s+(?:the|an?|its|his|her|their)?\s*(?:[\w-]+\s+){1,4}(?:of|by)\s+(?!\d)", re.IGNORECASE),
    re.compile(r"['’]s?\s+(?:[\w-]+\s+){1,4}['’]?s?\s*(?:['’]s\b)|\bof\s+[^,?]*['’]s\s+\w", re.IGNORECASE),
    re.compile(r"['’]s\s+(?:[\w-]+\s+)*[\w-]+['’]s\s", re.IGNORECASE),
)
_ZH = re.compile(
    "(?:比较|比較|对比|對比|相比|区别|區別|差异|差異|异同|異同|哪个更|哪個更|哪一个更|谁更|誰更|都是|是否都)"
    "|(?:和|与|與|跟|或)[^，。？]*(?:哪个|哪個|哪一|谁|誰|哪家|哪座|哪部|哪位)[^，。？]*(?:更|较|較|先|早|晚|多|少|大|小|高|低|长|長|短)"
    "|的[^，。？的]{1,12}的[^，。？的]{1,12}(?:是谁|是誰|是什么|是什麼|在哪|何时|何時|哪|多少)"
)
_JA = re.compile(
    "(?:比較|比べ|違い|差は|共通|両方|いずれも|ともに|どちらも|同じ(?:です|で|国|年)|(?:二人|ふたり)とも)"
    "|より[^。？]{0,20}(?:早|多|先|長|大き|高|古)|と[^。？、]{1,30}(?:で|では)?、[^。？]*のは"
    "|(?:する|している|した|された|いた)[^、。？はがを]{1,10}の[^、。？]{1,14}(?:は|が)[？?誰い何ど]"
    "|(?:と|か|、)[^。？]*(?:どちら|どっち)"
    "|の[^。？の、はが]{1,12}の[^。？の、はが]{1,12}(?:は|が)(?:誰|だれ|何|なに|どこ|いつ|どの)"
    "|(?:した|された|する|いる|ある|った|んだ)[^、。？はがを]{1,8}(?:の|が|を)[^。？]{0,16}(?:した|された|する|いる|った)[^。？]{0,10}(?:は|が)?(?:誰|だれ|何|どこ|いつ|どの)"
)


def needs_several_steps(question: str, language: str) -> bool:
    """Whether a question needs several look-ups.

    Args:
        language: "en", "zh" or "ja".

    >>> needs_several_steps("Who leads the company that built the tower?", "en")
    True
    >>> needs_several_steps("Who leads Acme?", "en"), needs_several_steps("艾克米的总部在哪里？", "zh")
    (False, False)
    """
    question = question[:_MOST]
    if len(split_questions(question, language)) > 1:
        return True
    if language == "en":
        return any(pattern.search(question) for pattern in _EN)
    pattern = {"zh": _ZH, "ja": _JA}.get(language)
    return pattern is not None and pattern.search(question) is not None
