"""Units, currencies and scales as texts write them, by the one form in which the guard compares them."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["CURRENCY_BEFORE", "MONEY", "SCALE_CJK", "SCALE_EN", "UNIT", "canonical_unit", "powers"]


def _table(text: str) -> dict[str, tuple[str, ...]]:
    """Lines of `unit = spelling spelling`; a blank within a spelling is written as _."""
    lines = (line.partition(" = ") for line in text.strip().splitlines())
    return {unit: tuple(name.replace("_", " ") for name in names.split()) for unit, _, names in lines}


_CURRENCIES = _table("""
USD = us$ usd u.s.$ $ dollars dollar u.s._dollars u.s._dollar us_dollars us_dollar 米ドル ドル 美元 美金
EUR = € eur euro euros ユーロ 欧元 歐元
GBP = £ gbp pounds_sterling ポンド 英镑 英鎊
JPY = jp¥ jpy yen japanese_yen 円 圓 日本円 日元 日圓
CNY = cn¥ cny rmb renminbi yuan 人民币 人民幣 人民元 元 块 塊
TWD = nt$ ntd twd 新台币 新台幣 新臺幣 台湾ドル 台币 台幣
HKD = hk$ hkd 港元 港币 港幣 香港ドル
AUD = a$ au$ aud 澳元 豪ドル
CAD = c$ ca$ cad 加元 加ドル
SGD = s$ sgd 新加坡元
BRL = r$ brl
¥ = ¥
KRW = ₩ krw won 韩元 韓元 ウォン
INR = ₹ inr rs. rupees rupee 卢比 盧比 ルピー
CHF = chf スイスフラン
RUB = ₽ rub roubles rubles 卢布 盧布 ルーブル
THB = ฿ thb baht
PHP = ₱ php
VND = ₫ vnd
ILS = ₪ ils
""")
MONEY = frozenset(_CURRENCIES)
"""Codes of currencies; ¥ is one of them where nothing says which."""
_UNITS = _table("""
% = % percent per_cent pct percentage パーセント 巴仙
pp = percentage_points percentage_point pp 个百分点 個百分點 百分点 百分點 %pt パーセントポイント %ポイント
bps = bps basis_points basis_point ベーシスポイント 个基点 個基點 基点 基點
‰ = ‰ パーミル
割 = 割
成 = 成
times = times x fold 倍
km = km kilometers kilometres kilometer kilometre キロメートル キロ 公里 千米
m = m meters metres meter metre メートル 米 公尺
cm = cm センチメートル センチ 厘米 公分 centimeters centimetres
mm = mm ミリメートル ミリ 毫米 millimeters millimetres
mi = miles mile マイル 英里 英哩
ft = feet foot ft フィート 英尺 呎
in = inches inch インチ 英寸 吋
yd = yards yard ヤード 码
kg = kg kilograms kilogram キログラム 公斤 千克
g = g grams gram グラム 克
mg = mg milligrams milligram ミリグラム 毫克
µg = µg μg mcg micrograms microgram マイクログラム 微克
lb = pounds lb lbs 磅
t = tons ton tonnes tonne トン 吨 噸 公吨 公噸
ha = ha hectares hectare ヘクタール 公顷 公頃
acre = acres acre エーカー 英亩 英畝
km2 = km2 square_kilometers square_kilometres sq_km 平方キロメートル 平方キロ 平方公里 平方千米
m2 = m2 square_meters square_metres sq_m 平方メートル 平方米 平方公尺
m3 = m3 cubic_meters cubic_metres 立方メートル 立方米
mi2 = square_miles square_mile sq_mi 平方マイル 平方英里 平方哩
l = liters litres liter litre リットル 升 公升
ml = ml milliliters millilitres milliliter millilitre ミリリットル 毫升
ML = megaliters megalitres megaliter megalitre
barrel = barrels barrel バレル 桶
gallon = gallons gallon ガロン 加仑 加侖
°c = °c ℃ 摂氏 degrees_celsius
deg = ° 度 degrees degree
km/h = km/h kph キロメートル毎時
mph = mph miles_per_hour
w = w watts watt ワット 瓦
kw = kw kilowatts kilowatt キロワット 千瓦
mw = mw megawatts megawatt メガワット 兆瓦
gw = gw gigawatts gigawatt ギガワット 吉瓦
tw = tw terawatts terawatt テラワット 太瓦
wh = wh watt_hours watt_hour ワット時 瓦时 瓦時
kwh = kwh kilowatt_hours kilowatt_hour キロワット時 千瓦时 千瓦時
mwh = mwh megawatt_hours megawatt_hour メガワット時 兆瓦时 兆瓦時
gwh = gwh gigawatt_hours gigawatt_hour ギガワット時 吉瓦时 吉瓦時
twh = twh terawatt_hours terawatt_hour テラワット時 太瓦时 太瓦時
hz = hz
mhz = mhz
ghz = ghz
kb = kb
mb = mb
gb = gb
tb = tb
hour = hours hour 時間 小时 小時 個小時 个小时 个钟头 時辰
minute = minutes minute 分間 分钟 分鐘
second = seconds 秒間 秒 秒钟 秒鐘
day = days day 日間 天
week = weeks week 週間 周間 星期 个星期 個星期
month = months month か月 カ月 ヶ月 ケ月 ヵ月 箇月 個月 个月 か月間 ヶ月間 カ月間
year = years year 年間 年 周年 週年
decade = decades
century = centuries
age = 歳 才 岁 歲 years_old year-old
head = people persons person individuals 人 名 位
piece = 個 个 箇 ヶ 颗 顆 粒 只 隻 つ
case = 件 項 项
firm = 社 家
point = points point
store = stores store 店 店舗 門店 门店
time = 回 次 趟 度目
kind = 種類 種 种 类 類
sheet = 枚 张 張
volume = 冊 册 本 部 巻 卷
machine = 台 臺 両 輛 辆 機 架 隻
place = 座 所 処 处 ヶ所 か所 カ所 箇所
share = shares 株 股
household = 戸 户 戶 世帯 households
ship = 隻 艘
generation = 代 世代
floor = 階 层 層
goal = goals goal 得点 ゴール 分
country = か国 カ国 ヶ国 ヵ国 国 國 countries
character = 字 文字 characters
head_of = 頭 匹 羽 头
song = 曲 首
station = 駅 站
lot = 組 组 对 對
episode = 話 集 episodes
term = 期 届 屆
seat = 席 議席
""")
_BY_SPELLING: dict[str, str] = {}
for _kind in (_CURRENCIES, _UNITS):
    for _unit, _names in _kind.items():
        for _name in _names:
            _BY_SPELLING.setdefault(_name, _unit)


def _any(names: Mapping[str, object] | list[str]) -> str:
    """Pattern of any of these names, the longest first; Latin ones end at a border."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(
        re.escape(name).replace(r"\ ", r"[\s-]+")
        + (r"(?![a-z0-9])" if name[-1].isascii() and name[-1].isalnum() else "")
        for name in ordered
    )


UNIT = re.compile(rf"[\s-]?(?P<unit>{_any(_BY_SPELLING)})")
_NOT_BEFORE = ("s", "dollar", "yen", "won", "rupee", "yuan", "baht", "euro", "元", "円", "圓", "ドル", "块", "塊")
_BEFORE = [name for names in _CURRENCIES.values() for name in names if name == "rs." or not name.endswith(_NOT_BEFORE)]
CURRENCY_BEFORE = re.compile(
    rf"(?<![a-z])(?P<unit>{'|'.join(re.escape(n) for n in sorted(_BEFORE, key=lambda n: (-len(n), n)))})\s?$"
)

SCALE_EN = re.compile(
    r"[\s-]?(?:(?P<word>hundred[\s-]+)?(?P<name>thousand|million|billion|trillion|mln|mn|bn|tn|trn)s?(?![a-z])"
    r"|(?P<hundred>hundred)(?![a-z])|(?P<letter>[kmb]|mm)(?![a-z0-9]))"
)
SCALE_CJK = re.compile(r"\s?(?P<name>[十拾百佰千仟]*[万萬億亿兆]+|[十拾百佰千仟](?![分米克瓦]))")
_POWERS = {
    "thousand": 3, "million": 6, "mln": 6, "mn": 6, "billion": 9, "bn": 9, "trillion": 12, "tn": 12, "trn": 12,
    "k": 3, "m": 6, "mm": 6, "b": 9, "十": 1, "拾": 1, "百": 2, "佰": 2, "千": 3, "仟": 3,
    "万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12,
}  # fmt: skip


def powers(name: str) -> int:
    """The power of ten of a scale word or a row of scale characters.

    >>> powers("million"), powers("千万"), powers("万億")
    (6, 7, 12)
    """
    if name in _POWERS:
        return _POWERS[name]
    return sum(_POWERS[character] for character in name)


def canonical_unit(spelling: str) -> str:
    """The unit that a folded spelling names; the spelling itself where it is none that is known.

    >>> canonical_unit("パーセント"), canonical_unit("us$"), canonical_unit("parsecs")
    ('%', 'USD', 'parsecs')
    """
    return _BY_SPELLING.get(re.sub(r"[\s-]+", " ", spelling.strip()), spelling.strip())
