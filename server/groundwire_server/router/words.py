"""Words without content of their own, and words that name quantities, in English, Chinese and Japanese."""

from __future__ import annotations

import re

from groundwire_server.text import normalize

__all__ = [
    "FUNCTION_WORDS",
    "HAN_EDGES",
    "HAN_FUNCTION",
    "HIRAGANA_FUNCTION",
    "KINDS_OF_ENTITIES",
    "PER_WORDS",
    "PRONOUNS",
    "is_measure",
]


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _longest_first(listed: str) -> str:
    return "|".join(sorted(listed.split(), key=lambda word: (-len(word), word)))


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

HAN_FUNCTION = {
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

HAN_EDGES = {"ja": "何", "zh": "的是在为為了和与與及至到于於从從我吗嗎呢吧啊请請有又被把"}
"""Characters that carry none at the ends of a run of Han, and may well stand inside a name."""

HIRAGANA_FUNCTION = re.compile(
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

PER_WORDS = _set("per excluding including ex before after without less minus plus over to")
"""Between a metric and a word behind it these make another metric: GDP per capita, assets excluding cash."""

KINDS_OF_ENTITIES = _set("""
    country nation republic kingdom company corporation corp firm group inc ltd plc itself alone
    国 國 国家 國家 全国 全國 全体 全體 国内 國內 境内 境內 全土 公司 会社 株式会社 企業 企业 集团 集團 グループ 社
""")
"""Beside an entity's name these say of what kind it is, and make no other one of it."""

PRONOUNS = _set("""
    it its they them their theirs that this those these he she his her him same former latter there
    それ その これ この 彼 彼女 同社 同国 同氏 そこ そちら 它 它们 它們 其 他 她 他们 他們 该 該 那 呢
""")
"""By these a question leans on what was said before."""

_MEASURES = _set("""
    score index rate ratio density count number coefficient level share percentage volume size area height length
    weight age price cost costs expense expenses income revenue revenues sales profit profits loss losses margin
    margins balance assets liabilities equity debt cash dividend dividends earnings yield turnover output
    production capacity consumption emissions population headcount employees inflation unemployment growth spending
    expenditure expenditures budget deficit surplus reserves exports imports investment investments wages salary
    salaries rainfall temperature distance duration speed frequency value amount total quantity figure quota tariff
    tax taxes fee fees rent points rank ranking rating shares units customers users subscribers stores backlog
    bookings inventory inventories payables receivables provision capita
""")
_CJK_MEASURE = re.compile(
    "(?:"
    + _longest_first("""
        指数 指標 率 比率 比 密度 数 數 件数 人数 社数 額 额 金額 金额 高 量 重量 面積 面积 長 长 値 值 価格 价格 單價
        単価 单价 费 費 費用 费用 利益 利润 利潤 収入 收入 収益 收益 売上 资产 資産 資產 负债 負債 残高 余额 餘額 スコア
        レート シェア 評点 评分 評分 得分 分数 分數 水準 水平 系数 係数 係數 年収 薪资 薪資 賃金 工资 人口 増加率 成長率
        增长率 占比 割合 比例 コスト マージン インデックス
    """)
    + ")$"
)

_CJK_PER = re.compile("当たり|あたり|人均|户均|戶均|每")


def is_measure(phrase: str) -> bool:
    """Whether a phrase names a quantity: by its last word, or because it is so much of one thing for each of another.

    >>> is_measure("employee happiness index"), is_measure("社員幸福度指数"), is_measure("capital city")
    (True, True, False)
    """
    normal = normalize(phrase).rstrip(" .,;:?!。、")
    if _CJK_MEASURE.search(normal) or _CJK_PER.search(normal):
        return True
    words = re.findall(r"[^\W_]+", normal)
    return bool(words) and (words[-1] in _MEASURES or "per" in words[1:-1])
