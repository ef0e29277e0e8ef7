"""Words that say which way, how exactly and how much: the guard compares them by class, in three languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_server.evidence import Span

__all__ = [
    "Directed", "Worded", "directions", "hedges_after", "hedges_before", "is_instruction", "is_limit", "quantity_words",
    "ratio_words", "results", "unchecked_words",
]  # fmt: skip

_UP = re.compile(
    r"(?<![a-z])(?:r[oi]se[sn]?|rising|increas\w*|grew|grow(?:n|s|ing|th)?|gain(?:s|ed|ing)?|climb\w*|jump\w*|"
    r"surg\w*|soar\w*|accelerat\w*|rais(?:e|es|ed|ing)|hiked|lifted|widen(?:s|ed|ing)|(?<=%)\s*more|"
    r"up(?![\w-])(?!\s+to(?![a-z]))|higher|over\s+(?:the\s+)?budget|prolong\w*|lengthen\w*|expand\w*|expansion|improv\w*|rebound\w*|swell\w*|swollen|balloon\w*|strengthen\w*|rall(?:y|ied))(?![a-z])"
    r"|(?<=\d)\s(?:[a-z]+\s){0,3}more\s+than(?!\s+[$€£¥]?\d)"
    r"|増(?!資|減)(?:加|収|益|大|産)?|上昇|(?<![売り])上が[っりるれ]|[伸延]び|延長|成長|拡大|上回|アップ|引き上げ|値上|プラス|上升|加速|上调|上調|(?<=[%円])多[いくか]?|(?<=[本人台枚個件店社点戸冊隻頭回校席ント万億])多[いくか]|(?<=[にへ])上げ|膨ら|膨れ|高ま[っりる]|(?<![货貨])膨[胀脹]|走高|上[扬揚]|超出|高出|[高多][于於](?!\s*[\d约約])|(?<![至最不])多(?=\d)|增(?!减|"
    r"減)(?:长|長|加)?|(?<!\d)升(?!级)|涨|漲|提高|扩大|擴大|成长"
)
_DOWN = re.compile(
    r"(?<![a-z])(?:f[ae]ll(?:s|en|ing)?|declin\w*|decreas\w*|drop(?:s|ped|ping)?|down(?![\w-])|lower(?:ed|"
    r"ing)?|shr[aiu]nk\w*|"
    r"slump\w*|plung\w*|reduc\w*|slid(?:e|es|ing)?|contracted|contraction|dip(?:s|ped)?|tumbl\w*|weaken\w*|"
    r"slipp\w*|dwindl\w*|diminish\w*|plummet\w*|sank|sink\w*|under\s+(?:the\s+)?budget|shorten\w*"
    r"|cut|cuts|lost|eased|eases|slow(?:s|ed|ing)|narrow(?:s|ed|ing)|(?<=%)\s*(?:fewer|less))(?![a-z])"
    r"|(?<=\d)\s(?:[a-z]+\s){0,3}(?:less|fewer)\s+than(?!\s+[$€£¥]?\d)"
    r"|(?<![増增])減(?!価|り張)(?:少|収|益|る|っ|り)?|低下|下落|下が[っりるれ]|縮小|縮[まむめん]|短縮|下降|下回|ダウン|引き下げ|値下|マイナス|鈍化|回落|放缓|放緩|下调|下調|(?<=[%円])少な?|(?<=[本人台枚個件店社点戸冊隻頭回校席ント万億])少な|(?<=[にへ])下げ|落と[しすせ]|減ら|缩水|縮水|走低|下滑|滑落|收窄|缩短|縮短|缩小|[低少][于於](?!\s*[\d约約])|低(?=[约約]?\s?\d)|(?<![至最不])少(?=\d)|"
    r"(?<![増增])减(?:少)?|"
    r"(?<!以)(?<!投)降(?!水|雨|雪|落|格|级|伏|り|る)|下跌|跌|萎缩|萎縮|缩减|落ち込"
)
_GAIN = re.compile(
    r"(?<![a-z])(?:net income|net profit|net earnings|profits?|surplus(?:es)?|earn(?:ed|s|"
    r"ings)?)(?![a-z])(?!\s*(?:or|/|and)\s*loss)"
    r"|黒字|黑字|(?<!損)利益|純利益|最終益|盈利|盈余|盈餘|净利润|淨利|纯利|利润|利潤|顺差|順差"
)
_LOSS = re.compile(
    r"(?<![a-z])(?:(?:net|operating)\s+loss(?:es)?|loss(?:es)?|deficits?|lost)(?![a-z])|赤字|損失|純損|欠損|"
    r"最終損|亏损|虧損|净亏|淨虧|净损|逆差|亏|虧"
)
_NEITHER = re.compile(r"(?:profits?|gains?|income)\s*(?:\(|or|/|and)\s*\(?loss(?:es)?\)?|損益|盈亏|盈虧|増減|增减|增減")

_FILL = r"(?:[\s(]*(?:(?:a|an|the|some|total|of|us|only|just|another|additional)(?![a-z])\s*)*[$€£¥]?)"
_BEFORE = {
    "most": (
        r"(?<![a-z])(?:under|less than|fewer than|below|up to|at most|no more than|not more than|a maximum of|"
        r"not exceeding|not exceed|limit(?:s|ed)?(?:\s[^.,;\d]{0,30})?\sto|capped at|as many as|within)",
        r"最多|至多|不超过|不超過|不到|不足|低于|低於|少于|少於|(?<![期时時年权權界局])限[载載乘购購坐重速高定制](?:[为為于於]|在)?|(?<![期年时時])限于|最大で?|最高で?|多くとも|[長多高大遅]くても|小于",
    ),
    "least": (
        r"(?<![a-z])(?:at least|(?<!take)over|more than|above|(?<!not )exceeding|(?<!not )exceeds?|exceeded|"
        r"in excess of|upwards? of|no (?:less|fewer) than|"
        r"not less than|greater than|a minimum of|surpass(?:ed|ing|es)|topp(?:ed|ing))",
        r"(?<!不)超过|(?<!不)超過|逾|(?<!不)超(?!级)|少なくとも|[短少低早]なくても|[短低早]くても|至少|最少|不少于|不少於|多于|多於|大于|高于|"
        r"高於|不低于|不低於",
    ),
    "about": (
        r"(?<![a-z])(?:about|approximately|approx\.?|around|roughly|nearly|almost|some|circa|ca?\.|close to|"
        r"estimated(?: at)?)|[~≈]",
        r"約|约|大约|大約|およそ|おおよそ|おおむね|概ね|ほぼ|ざっと|将近|將近|接近|(?<![最附])近|差不多|大概|"
        r"推定|推計|估[计計]|大致",
    ),
}
_AFTER = {
    "most": ((
        r"\s*(?:or less|or fewer|or below|or under)(?![a-z])"
    ), r"以下|以内|未満|未满|に(?:制限|限定)|未滿|足らず|を下回|を切|弱(?!い)|之内"),
    "least": ((
        r"\s*(?:or more|and more|or over|and above|or above|plus(?![a-z]))|\+"
    ), r"以上|を超|超(?![级え])|を上回|有?[余餘]|多(?=[名人个個家万亿年米公块元种種次])|強(?!い)|强|を突破"),
    "about": ((
        r"\s*(?:or so|odd|-odd|ish)(?![a-z])"
    ), r"左右|上下|前後|前后|程度|ほど|近[くいか]|くらい|ぐらい|あまり|来(?=[名人个家])|內外|内外|許"),
}  # fmt: skip
_BEFORE_RES = {
    kind: re.compile(
        rf"(?:(?:{english}){_FILL}|(?:{han})[\s\d]{{0,1}}(?:[のに為为是の達达有]|[增増][长長加]|[上下][升涨漲降跌]|[裁缩縮]?[减減]少?|人民币|人民幣|新台幣)?\s*[$€£¥]?)$"
    )
    for kind, (english, han) in _BEFORE.items()
}
_AFTER_RES = {kind: re.compile(rf"(?:{english})|\s*(?:{han})") for kind, (english, han) in _AFTER.items()}

# In Chinese and Japanese a verb or a noun may stand between: 最多容纳25人, 估计损失玉米12,400公顷, 少なくとも会員5人.
_FURTHER_RES = {
    "most": re.compile(r"(?:最多|至多)[^的地,，、。;；:：\d\s]{1,8}$"),
    "least": re.compile(r"(?:至少|最少|少なくとも|最低でも)[^的,，、。;；:：\d\s]{1,6}$"),
    "about": re.compile(r"(?:估[计計]|推[计計定]|大约|大約|大概|およそ)[^的,，、。;；:：\d\s]{1,8}$"),
}
_LIMIT = re.compile(r"\s*まで(?![にのへ])")

_RATIOS = {
    "2": (
        r"加倍|成倍|(?<![a-z])(?:doubl(?:ed|es|ing|e)|two-?fold|twice)(?![a-z])|倍増|倍增|倍になっ|倍に増|翻番|翻倍|"
        r"翻了一番|翻了一倍|翻一番|(?:增长|增加|成長)了?一倍|一倍"
    ),
    "3": r"(?<![a-z])(?:tripl(?:ed|es|ing|e)|trebl(?:ed|es|ing|e)|three-?fold)(?![a-z])",
    "4": r"(?<![a-z])(?:quadrupl(?:ed|es|ing|e)|four-?fold)(?![a-z])|翻两番|翻兩番",
    "5": r"(?<![a-z])(?:quintupl(?:ed|es|ing|e)|five-?fold)(?![a-z])",
    "10": r"(?<![a-z])(?:ten-?fold)(?![a-z])",
    "/2": r"(?<![a-z])(?:halv(?:ed|es|ing|e))(?![a-z])|半減|减半|減半|折半|半数|半數|一半|半分",
}
_RATIO_RES = {value: re.compile(pattern) for value, pattern in _RATIOS.items()}
_QUANTITIES = {
    "dozens": r"(?<![a-z])(?:dozens|scores|tens)(?![a-z])|[数數几幾何]十(?![万萬億亿])",
    "hundreds": r"(?<![a-z])hundreds(?![a-z])(?!\s+of\s+(?:thousand|million))|[数數几幾何上]百(?![万萬億亿])",
    "thousands": r"(?<![a-z])(?<!of )thousands(?![a-z])|several thousand|[数數几幾何上]千(?![万萬億亿])",
    "tens of thousands": r"tens of thousands|[数數几幾何上]万|[数數幾]萬|成千上万|成千上萬",
    "hundreds of thousands": r"hundreds of thousands|[数數几幾]十[万萬]",
    "millions": r"(?<![a-z])(?<!of )millions(?![a-z])|[数數几幾]百[万萬]",
    "tens of millions": r"tens of millions|[数數几幾]千[万萬]",
    "hundreds of millions": r"hundreds of millions|[数數几幾][億亿]",
    "billions": r"(?<![a-z])billions(?![a-z])|[数數几幾]十[億亿]",
    "majority": r"(?<![a-z])majority(?![a-z])|more than half|over half|過半|过半|半数以上|半數以上|一半以上",
}
_QUANTITY_RES = {kind: re.compile(pattern) for kind, pattern in _QUANTITIES.items()}
_UNCHECKED = re.compile(
    r"(?<![a-z])(?:most|many|several|few|numerous|various|much|a number of|a lot of|lots of|countless|couple)(?![a-z])"
    r"|大部分|大多数|大多數|大半|許多|许多|很多|不少|若干|多くの|数多く|いくつか|少数|少數|多数|多數|ほとんど"
)
_INSTRUCTION = re.compile(
    r"(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|these\s+)*(?:previous|above|"
    r"prior|earlier|other|system|instructions?|rules|sources?|evidence)"
    r"|system prompt|(?:^|[\n\"'(\[<*#]\s*)(?:system|assistant|user|developer|instructions?)\s*[:>\]]"
    r"|(?:note|message|instructions?)\s+(?:to|for)\s+(?:the\s+|any\s+|all\s+)?(?:ai|assistants?|models?|llms?|"
    r"chatbots?|language models?|readers? who are)"
    r"|(?<![a-z])(?:you|the (?:ai|assistant|model|chatbot|answer))\s+(?:must|should|shall|will|are to|has to|"
    r"have to|need to)\s+(?:now\s+|always\s+|only\s+)*"
    r"(?:say|answer|reply|respond|state|write|tell|report|output|claim|repeat|print|include|cite)"
    r"|(?:^|[.!\n]\s*)(?:please\s+)?(?:say|answer|reply|respond|state|write|tell (?:the user|them|everyone)|"
    r"report|output|print|repeat|claim)\s+(?:that|with|only|exactly|the revenue|\")"
    r"|in your (?:answer|reply|response|summary)|(?:when|if) (?:asked|you (?:answer|are asked|summari[sz]e))|"
    r"as an ai|jailbreak"
    r"|(?<![a-z])(?:replace|change|multiply|turn)\s[^.]{1,60}\sin\s(?:any|every|your)\s(?:summary|answer|reply|response)"
    r"|(?:要約|回答|返答)(?:では|には|の際は?)[^。]{0,30}(?:えよ|せよ|こと|ください|なさい)"
    r"|(?:摘要|总结|總結|回答|答复)[中里裡时時][^。]{0,4}(?:把|将|將|须|須|请|請)"
    r"|(?:以上|上記|これまで|前|すべて|全て)の?.{0,8}(?:指示|命令|ルール|指令|文書|内容).{0,4}(?:無視|忘れ)|"
    r"指示を無視|(?:システム|アシスタント|ユーザー)\s*[:：]|(?:AI|ai|モデル|アシスタント)(?:へ|は|"
    r"に).{0,30}(?:こと|せよ|なさい|ください|下さい|答え|回答|報告)"
    r"|と(?:必ず)?(?:答え|回答し|述べ|書い|書き|報告し|出力し|伝え)(?:て(?:ください|下さい)|なさい|"
    r"ろ(?![\u3041-\u3096])|よ(?![\u3041-\u3096])|せよ|ること)"
    r"|(?:忽略|无视|無視|忘记|忘記|不要理会).{0,12}(?:指令|指示|说明|說明|规则|規則|以上|之前|前面|上述|资料|"
    r"資料|内容)|(?:系统|系統|助手|用户|用戶)\s*[:：]"
    r"|(?:请|請)(?:务必|務必|直接|一律|只|统一)?(?:回答|输出|輸出|告诉|告訴|写成|寫成|声称|聲稱|回复|回覆|说|"
    r"說|报告称)|你(?:必须|必須|应该|應該|应当|要|需要)(?:说|說|回答|输出|輸出|写|寫|声称|报告)"
    r"|(?:回答|答复|答覆)(?:时|時|中)?.{0,6}(?:必须|必須|务必|務必|一律)|(?:人工智能|模型|助手|AI|ai)(?:必须|"
    r"必須|应该|應該|应|应当|请|請|务必|務必)"
)


@dataclass(frozen=True, slots=True)
class Directed:
    """A word that gives a direction: sign 1 is up or gain, -1 is down or loss.

    rate: the name of a rate that it stands in (物価上昇率): which way the rate went is another question.
    """

    start: int
    end: int
    sign: int
    rate: str = ""


@dataclass(frozen=True, slots=True)
class Worded:
    """A word that says how much, by its class."""

    at: Span
    kind: str


def directions(text: str) -> list[Directed]:
    """Words of rising and falling in a folded text, in order."""
    return _signed(text, _UP, _DOWN)


def results(text: str) -> list[Directed]:
    """Words of profit and loss in a folded text, in order."""
    return _signed(text, _GAIN, _LOSS)


def _signed(text: str, plus: re.Pattern[str], minus: re.Pattern[str]) -> list[Directed]:
    neither = [found.span() for found in _NEITHER.finditer(text)]
    found = [
        Directed(*match.span(), sign, _rate(text, match))
        for pattern, sign in ((plus, 1), (minus, -1))
        for match in pattern.finditer(text)
        if not any(start < match.end() and match.start() < end for start, end in neither)
    ]
    return sorted(found, key=lambda each: each.start)


def _rate(text: str, match: re.Match[str]) -> str:
    behind = _RATE.match(text, match.end())
    return match.group() + behind.group() if behind else ""


_RATE = re.compile(r"率|\s+rates?(?![a-z])")


def hedges_before(text: str, start: int) -> frozenset[str]:
    """Classes of hedges that end right before a figure: "about", "least", "most"."""
    window = text[max(0, start - 40) : start]
    patterns = (*_BEFORE_RES.items(), *_FURTHER_RES.items())
    return frozenset(kind for kind, pattern in patterns if pattern.search(window))


def hedges_after(text: str, end: int) -> frozenset[str]:
    """Classes of hedges that begin right behind a figure."""
    return frozenset(kind for kind, pattern in _AFTER_RES.items() if pattern.match(text, end))


def is_limit(text: str, end: int) -> bool:
    """Whether a figure that no other one leads to is the most there may be: 入れるのは25人まで."""
    return _LIMIT.match(text, end) is not None


def ratio_words(text: str) -> list[Worded]:
    """Words that say a ratio ("2" is doubled, "/2" halved) in a folded text."""
    return _worded(text, _RATIO_RES)


def quantity_words(text: str) -> list[Worded]:
    """Words that say about how many (hundreds of, 数百) in a folded text."""
    return _worded(text, _QUANTITY_RES)


def _worded(text: str, patterns: dict[str, re.Pattern[str]]) -> list[Worded]:
    return [Worded(Span(*found.span()), kind) for kind, pattern in patterns.items() for found in pattern.finditer(text)]


def unchecked_words(text: str) -> Iterator[Span]:
    """Words that say how much and that nothing can check: many, most, 許多."""
    return (Span(*found.span()) for found in _UNCHECKED.finditer(text))


def is_instruction(text: str) -> bool:
    """Whether a folded sentence of a source talks to the model instead of saying something."""
    return _INSTRUCTION.search(text) is not None
