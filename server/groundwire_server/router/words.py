"""Words that ask, point back or name quantities, in English, Chinese and Japanese."""

from __future__ import annotations

import re

from groundwire_server.text import normalize

__all__ = [
    "KINDS_OF_ENTITIES",
    "PER_WORDS",
    "PRONOUNS",
    "ends_as_amount",
    "is_measure",
]


def _set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def _longest_first(listed: str) -> str:
    return "|".join(sorted(listed.split(), key=lambda word: (-len(word), word)))


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
        負債 债务 債務 掛金 账款 帳款 貸款 贷款 存款 預金 借入金 引当金 准备金 準備金 現金 现金 成本 原価 税金 股利 配当
        增长率 占比 割合 比例 コスト マージン インデックス
    """)
    + ")(?:の?(?:合計額?|総額|残高)|的?(?:合计|合計|总额|總額|之和))?$"
)

_CJK_PER = re.compile("当たり|あたり|人均|户均|戶均|每")


def ends_as_amount(phrase: str) -> bool:
    """Whether a Chinese or Japanese phrase names a quantity by its last word.

    >>> ends_as_amount("繰延税金負債の金額"), ends_as_amount("每100個香港人")
    (True, False)
    """
    return _CJK_MEASURE.search(normalize(phrase).rstrip(" .,;:?!。、")) is not None


def is_measure(phrase: str) -> bool:
    """Whether a phrase names a quantity: by its last word, or because it is so much of one thing for each of another.

    >>> is_measure("employee happiness index"), is_measure("社員幸福度指数"), is_measure("capital city")
    (True, True, False)
    """
    normal = normalize(phrase).rstrip(" .,;:?!。、")
    if ends_as_amount(normal) or _CJK_PER.search(normal):
        return True
    words = re.findall(r"[^\W_]+", normal)
    return bool(words) and (words[-1] in _MEASURES or "per" in words[1:-1])
