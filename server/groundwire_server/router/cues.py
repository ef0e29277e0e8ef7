"""Cue words: by them a question shows what it asks for, in English, Chinese and Japanese (semantics 11).

They are words of the languages, none of any data; Chinese stands in both scripts. A phrase counts between the borders
of its script, and not inside the name of a term.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cache

from groundwire_server.text import normalize

__all__ = ["Cue", "cue_pattern", "is_greeting"]


class Cue(Enum):
    """What a cue word points to."""

    FIGURE = "figure"
    """A figure is asked for: how much, いくら, 多少."""
    WHAT = "what"
    """Something is asked for that may be a figure: what was, give me, 教えて."""
    EXPLAIN = "explain"
    """Text is asked for: why, なぜ, 为什么."""
    WHO = "who"
    """Somebody, a place or a time is asked for."""
    DEFINE = "define"
    """A meaning is asked for."""
    COMPUTE = "compute"
    """Figures are to be set against each other."""


_PHRASES: dict[Cue, str] = {
    Cue.FIGURE: """
        how much|how many|how large|how big|how high|how low|how small|how great|what amount|what number
        what percentage|what percent|what share|what value|what figure|what level|exact value|exact figure
        exact amount|exact number|exact|precise|figures for|figure for|number of|amount of|value of
        the figures|the numbers|in numbers
        いくら|いくつ|何人|何社|何件|何円|何ドル|何ユーロ|何元|何パーセント|何割|何倍|何%|どのくらい|どれくらい
        どれだけ|どのぐらい|どれほど|数値|金額|数字
        多少|几何|几多|幾多|几个|幾個|几家|几人|幾人|数值|數值|金额|金額|数字|數字|数额|數額|多大|多高
        百分之几|百分之幾
    """,
    Cue.WHAT: """
        what was|what were|what is|what are|what's|what did|what has|what have|what will|give me|tell me|show me
        report the|state the|look up|find the|get me|let me know|i need|i want|please provide|provide the
        教えて|知りたい|示して|見せて|答えて|調べて|出して
        请给出|請給出|给出|給出|请问|請問|告诉我|告訴我|查询|查詢|查一下|请提供|請提供|是
    """,
    Cue.EXPLAIN: """
        why|how come|reason|reasons|cause|causes|caused|because of|explain|explains|explained|explanation
        describe|description|summarize|summarise|summary|what happened|what led|led to|lead to|leads to
        drove|drives|driven by|driver|drivers|impact|effect of|effects of|affect|affected|background
        how did|how does|how do|how is|how are|how was|how were|how has|how have|in what way|discuss|discussion
        tell me about|what about|say about|said about|think of|think about|opinion|strategy|risks
        contributed to|responsible for|consequence|consequences|compare how|outline|overview
        comment on|comment upon|commentary|policy|policies|outlook|plans for|plans to
        なぜ|何故|なんで|どうして|理由|原因|背景|要因|説明|解説|経緯|どのように|どうやって|どういう|どんな
        影響|要約|まとめて|概要|について教えて|いきさつ|事情|きっかけ|方針|見通し|計画|見解|論評
        どう見|どう動|どう変|どう考|どう評価|どう説明|どう推移
        为什么|為什麼|为何|為何|为啥|原因|理由|背景|如何|怎么|怎麼|怎样|怎樣|怎么样|怎麼樣|解释|解釋
        说明|說明|影响|影響|概述|总结|總結|概括|介绍|介紹|起因|导致|導致|由来|由來|经过|經過|评价|評價|看法
        评述|評述|评论|評論|展望|前景|政策|计划|計劃|观点|觀點
    """,
    Cue.WHO: """
        who|whom|whose|where|when|which year|what year|which month|what month|what date|what time|which person
        which people|which country|which countries|which company|which companies|which of|which one|which|what city
        what country|what company|what place|highest|lowest|largest|smallest|biggest|most|least
        誰|だれ|どこ|いつ|何年|何月|何日|何時|何歳|何世紀|何代|どの国|どの都市|どちら|どなた|どの|最も|一番
        谁|誰|哪里|哪裡|哪裏|哪儿|哪兒|何时|何時|什么时候|什麼時候|什么时间|什麼時間|哪年|哪一年|哪天|哪一天
        哪位|何地|何处|何處|哪国|哪國|哪个国家|哪個國家|哪座|哪所|几岁|幾歲|几号|幾號|哪个|哪個|哪家|哪些|最大|最小|最高|最低|最多|最少
    """,
    Cue.DEFINE: """
        define|definition|definition of|meaning of|what does|what do you mean|stand for|stands for|meant by|mean by
        とは|という意味|意味|定義
        什么是|什麼是|是什么|是什麼|什么意思|什麼意思|定义|定義|含义|含義|是指|指的是
    """,
    Cue.COMPUTE: """
        change|changes|changed|difference|differences|increase|increased|decrease|decreased|growth|grow|grew
        average|averages|ratio|compare|compared|comparison|versus|vs|sum of|total of|percentage change
        rise|rose|fall|fell|decline|declined|twice|double|doubled|triple|tripled|half of|halved
        増減|増加|減少|成長|差額|差|平均|合計|割合|比較|比べ|変化|推移|伸び|2倍|二倍|3倍|三倍|半分|倍増|倍になった
        变化|變化|增减|增減|增长|增長|减少|減少|差额|差額|平均|合计|合計|占比|比较|比較|相比|对比|對比|涨幅|漲幅
        两倍|兩倍|翻倍|翻番|一半
    """,
}

# A message made of these alone asks for nothing.
_GREETINGS = """
    hello|hi|hey|there|thanks|thank you|thank|you|very much|a lot|ok|okay|bye|goodbye|good|morning|evening
    afternoon|yes|no|please|and|so|well|great|nice
    こんにちは|こんばんは|おはよう|ございます|ありがとう|どうも|よろしく|お願いします|お願い|します|さようなら
    はい|いいえ|もしもし|です|ね|と
    你好|您好|谢谢|謝謝|多谢|多謝|早上好|晚上好|再见|再見|好的|嗯|是的|不是|喂|啊|吗|嗎|请|請
"""


@cache
def cue_pattern(cue: Cue) -> re.Pattern[str]:
    """All phrases of a cue over text in normal form, the longest first; borders are checked where they are used."""
    return _alternation(_PHRASES[cue], "{}")


def is_greeting(message: str) -> bool:
    """Whether a message holds nothing but words of greeting, thanks and assent; marks and pictures aside.

    >>> is_greeting("Hello, thank you! 😀"), is_greeting("はい、ありがとうございます。"), is_greeting("Hello Japan")
    (True, True, False)
    """
    return all(_greeting().fullmatch(run) for run in re.findall(r"[^\W_]+", normalize(message)))


@cache
def _greeting() -> re.Pattern[str]:
    return _alternation(_GREETINGS, "(?:{})+")


def _alternation(listed: str, form: str) -> re.Pattern[str]:
    phrases = {normalize(phrase).strip() for phrase in re.split(r"[|\n]", listed)}
    ordered = sorted((phrase for phrase in phrases if phrase), key=lambda phrase: (-len(phrase), phrase))
    return re.compile(form.format("|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in ordered)))
