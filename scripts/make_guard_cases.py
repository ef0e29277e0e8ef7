"""Writes tests/guard/mutated.jsonl: sentences of real texts, as they are and made wrong in one way, from a fixed seed.

    python scripts/make_guard_cases.py ../shared/data tests/guard/mutated.jsonl

The texts are Wikipedia's, by way of JaQuAD, JSQuAD, CMRC 2018, DRCD and HotpotQA (CC BY-SA 3.0 and 4.0; each line names
its set and document). Knows nothing of the guard: it finds figures with expressions of its own.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SETS = {"en": ("hotpotqa",), "ja": ("jaquad", "jsquad"), "zh": ("cmrc2018", "drcd")}
EACH = 20
RIGHT = 150
SEED = 20261130
LONGEST = 800

END = {
    "en": re.compile(r"(?<=[a-z0-9)]\.)\s+(?=[A-Z])"),
    "ja": re.compile(r"(?<=。)"),
    "zh": re.compile(r"(?<=[。！？])"),
}
FIGURE = re.compile(
    r"(?<![\d,.A-Za-z\-–—~〜/:・第表図条.-])(?<!January )(?<!February )(?<!March )(?<!April )(?<!May )(?<!June )"
    r"(?<!July )(?<!August )(?<!September )(?<!October )(?<!November )(?<!December )(?<!No )"
    r"(?<!Vol\. )(?<!Volume )(\d{1,3}(?:,\d{3})+|"
    r""
    r"\d+)(\.\d+)?(?![\d,.:/A-Za-z\-–—~〜・]*\d)(?!\s*[年月日世時时点號号代期条章話话回次\]%％]|\s*(?:st|nd|"
    r"rd|th|s|am|pm|BC|AD|January|"
    r"February|March|April|May|June|July|August|September|October|November|December)\b|[A-Za-z°])"
)
YEARS = {
    "en": re.compile(r"(?<=\bin )(1[5-9]\d\d|20[01]\d)(?!\d|-|–)"),
    "ja": re.compile(r"(?<![\d元])(1[5-9]\d\d|20[01]\d)(?=年)"),
    "zh": re.compile(r"(?<![\d元])(1[5-9]\d\d|20[01]\d)(?=年)"),
}
ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ONES += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
HAN = "〇一二三四五六七八九"
HEDGES = {
    "en": re.compile(
        r"\b(?:about|approximately|around|roughly|nearly|almost|over|more than|at least|less than)\s+(?=\d)"
    ),
    "ja": re.compile(r"(?:約|およそ|ほぼ|少なくとも)(?=\d)|(?<=[人円m機隻万%本年台])(?:以上|以下|程度|ほど|前後|余り)"),
    "zh": re.compile(
        r"(?:大約|大约|約|约|超过|超過|近|至少|将近|將近)(?=\d)|(?<=[人元米里个個万萬])(?:以上|以下|左右)"
    ),
}
RANGES = {
    "en": re.compile(
        r"(?<![\d,.–-])(?P<a>\d[\d,.]{0,6})\s*(?:[-–—]|to)\s*(?P<b>\d[\d,]{0,6}(?:\.\d+)?)(?=\s+(?:percent|"
        r"million|years|people|miles|feet|cm|km|metres|meters|points|games|inches|[a-z]+s\b))"
    ),
    "ja": re.compile(
        r"(?<![\d,.])(?P<a>\d[\d,.]{0,6})\s*(?:[-–—~〜～]|"
        r"から)\s*(?P<b>\d[\d,.]{0,6})(?=[人円m機隻万%本年km度回歳cセ])"
    ),
    "zh": re.compile(
        r"(?<![\d,.])(?P<a>\d[\d,.]{0,6})\s*(?:[-–—~～]|至|"
        r"到)\s*(?P<b>\d[\d,.]{0,6})(?=[人元米公里个個万萬厘度年米%])"
    ),
}
WAYS = {
    "en": [
        ("increased", "decreased"),
        ("rose", "fell"),
        ("grew", "declined"),
        ("decreased", "increased"),
        ("fell", "rose"),
        ("increase", "decrease"),
        ("decline", "growth"),
        ("growth", "decline"),
        ("gained", "lost"),
        ("higher", "lower"),
    ],
    "ja": [
        ("増加", "減少"),
        ("減少", "増加"),
        ("上昇", "低下"),
        ("低下", "上昇"),
        ("黒字", "赤字"),
        ("赤字", "黒字"),
        ("拡大", "縮小"),
        ("縮小", "拡大"),
        ("上回", "下回"),
    ],
    "zh": [
        ("增加", "减少"),
        ("减少", "增加"),
        ("增長", "下降"),
        ("增长", "下降"),
        ("下降", "上升"),
        ("上升", "下降"),
        ("減少", "增加"),
        ("亏损", "盈利"),
        ("虧損", "盈利"),
        ("盈利", "亏损"),
        ("上漲", "下跌"),
        ("下跌", "上涨"),
        ("提高", "降低"),
    ],
}
RATIO = {"en": "doubled to ", "ja": "倍増して", "zh": "翻了一番，达到"}
LEAD = {"en": "According to the passage, ", "ja": "資料によると、", "zh": "资料显示，"}
AND = {"en": " plus ", "ja": "と", "zh": "加"}

Case = dict[str, Any]


def passages(data: Path, language: str) -> list[Case]:
    found = []
    for name in SETS[language]:
        for line in (data / name / "corpus.jsonl").read_text("utf-8").split("\n"):
            if line:
                row = json.loads(line)
                if len(row["text"]) <= LONGEST:
                    found.append({"doc": f"{name}/{row['doc_id']}", "title": row["title"], "text": row["text"]})
    return found


RISING = {
    "en": ("The population of {name} {way} from {a:,} in {y} to {b:,} in {z}.", "increased", "decreased"),
    "ja": ("{name}の人口は{y}年の{a:,}人から{z}年の{b:,}人に{way}した。", "増加", "減少"),
    "zh": ("{name}的人口从{y}年的{a:,}人{way}到{z}年的{b:,}人。", "增加", "减少"),
}
BETWEEN = {
    "en": "From {y} to {z} the population of {name} was between {a:,} and {b:,}.",
    "ja": "{y}年から{z}年まで、{name}の人口は{a:,}〜{b:,}人であった。",
    "zh": "{y}年至{z}年，{name}的人口为{a:,}至{b:,}人。",
}


IN_YEAR = {
    "en": "In {y}, the population of {name} was {a:,}.",
    "ja": "{y}年の{name}の人口は{a:,}人であった。",
    "zh": "{y}年，{name}的人口为{a:,}人。",
}


def stated(data: Path, language: str) -> Iterator[Case]:
    """True sentences with the figures of country_facts, for ways and ranges, of which the texts have few."""
    names: dict[str, str] = {}
    for line in (data / "country_facts" / "glossary.jsonl").read_text("utf-8").splitlines():
        term = json.loads(line)
        alias = term["aliases"].get(language)
        if term["kind"] == "entity" and alias:
            names[term["canonical"]] = alias[0]
    people: dict[str, dict[int, int]] = {}
    for line in (data / "country_facts" / "facts.jsonl").read_text("utf-8").splitlines():
        fact = json.loads(line)
        if fact["metric"] == "population_total" and fact["entity"] in names and fact["period"].isdecimal():
            people.setdefault(fact["entity"], {})[int(fact["period"])] = int(float(fact["value"]))
    for entity, by_year in sorted(people.items()):
        y, z = min(by_year), max(by_year)
        given = {"name": names[entity], "y": y, "z": z, "a": by_year[y], "b": by_year[z]}
        if by_year[y] != by_year[z]:
            form, up, down = RISING[language]
            ways = (up, down) if by_year[y] < by_year[z] else (down, up)
            true, false = (form.format(**given, way=way) for way in ways)
            low, high = min(by_year.values()), max(by_year.values())
            between = BETWEEN[language].format(**given | {"a": low, "b": high})
            last = given | {"y": z, "a": by_year[z]}
            yield {
                "doc": f"country_facts/{entity}", "title": names[entity], "text": true, "true": true, "false": false,
                "between": between, "low": f"{low:,}", "high": f"{high:,}",
                "years": f"{IN_YEAR[language].format(**given)} {IN_YEAR[language].format(**last)}",
                "wrong_year": IN_YEAR[language].format(**given | {"y": z}),
            }  # fmt: skip


def from_facts(data: Path, language: str, made: dict[str, int], rng: random.Random) -> Iterator[Case]:
    """What the texts could not give of ways and ranges."""
    pool = list(stated(data, language))
    rng.shuffle(pool)
    for each in pool:
        if made["direction"] < EACH:
            made["direction"] += 1
            yield row("direction", language, each, each["false"], each["true"])
        if made["period_of_another"] < EACH:
            made["period_of_another"] += 1
            yield row("period_of_another", language, each | {"text": each["years"]}, each["wrong_year"], each["years"])
        if made["half_range"] < EACH:
            made["half_range"] += 1
            half = {
                "en": f"From the first year to the last the population of {each['title']} was {each['low']}.",
                "ja": f"{each['title']}の人口は{each['high']}人であった。",
                "zh": f"{each['title']}的人口为{each['low']}人。",
            }[language]
            yield row("half_range", language, each | {"text": each["between"]}, half, each["between"])


def sentences(passage: Case, language: str) -> list[str]:
    parts = [part.strip() for part in END[language].split(passage["text"])]
    closing = "." if language == "en" else "。"
    return [part for part in parts if part.endswith(closing) and 12 < len(part) < 300 and "\n" not in part]


def figures(sentence: str) -> list[re.Match[str]]:
    """Figures that are no years and no parts of names, and that stand once in the sentence."""
    return [
        each
        for each in FIGURE.finditer(sentence)
        if not re.fullmatch((r"(?:1[0-9]|20)\d\d"), each.group())
        and len(re.findall(r"(?<![\d.,])" + re.escape(each.group()) + r"(?![\d])", sentence)) == 1
    ]


def put(sentence: str, figure: re.Match[str], new: str) -> str:
    return sentence[: figure.start()] + new + sentence[figure.end() :]


def plain(figure: re.Match[str]) -> float:
    return float(figure.group().replace(",", ""))


def fresh(rng: random.Random, passage: str, low: int, high: int) -> int:
    """A whole number that the passage does not have in any form."""
    while True:
        number = rng.randint(low, high)
        if not re.search(rf"(?<!\d){number}(?!\d)", passage.replace(",", "")) and number > 9:
            return number


def invented(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = figures(sentence)
    if not found:
        return None
    figure = rng.choice(found)
    value = int(plain(figure))
    return put(sentence, figure, f"{fresh(rng, passage['text'], max(11, value // 2), value * 3 + 40):,}")


def rounded(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = [each for each in figures(sentence) if len(each.group().replace(",", "").replace(".", "").rstrip("0")) >= 3]
    if not found:
        return None
    figure = rng.choice(found)
    text = figure.group().replace(",", "")
    if "." in text:
        new = f"{float(text):.{len(text.partition('.')[2]) - 1}f}"
    else:
        new = f"{round(int(text), -(len(text) - 2)):,}"
    return None if re.search(rf"(?<!\d){re.escape(new)}(?!\d)", passage["text"]) else put(sentence, figure, new)


def converted(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    swaps = {
        "en": [
            ("million", "billion"),
            ("miles", "kilometers"),
            ("feet", "meters"),
            ("percent", "percentage points"),
            ("km", "miles"),
            ("$", "€"),
            ("years", "months"),
            ("people", "households"),
            ("thousand", "million"),
            ("hours", "minutes"),
            ("inches", "feet"),
            ("episodes", "seasons"),
            ("games", "seasons"),
            ("minutes", "hours"),
            ("acres", "hectares"),
            ("%", " per thousand"),
            ("ft", "m"),
            ("pounds", "dollars"),
            ("points", "goals"),
        ],
        "ja": [
            ("億", "万"),
            ("万", "億"),
            ("km", "マイル"),
            ("円", "ドル"),
            ("%", "ポイント"),
            ("人", "世帯"),
            ("年間", "か月"),
            ("m", "km"),
            ("トン", "キロ"),
            ("キロ", "メートル"),
            ("ドル", "円"),
            ("機", "隻"),
        ],
        "zh": [
            ("亿", "万"),
            ("億", "萬"),
            ("万", "亿"),
            ("萬", "億"),
            ("公里", "英里"),
            ("米", "英尺"),
            ("元", "美元"),
            ("%", "个百分点"),
            ("人", "户"),
            ("平方公里", "公顷"),
            ("吨", "公斤"),
            ("小时", "分钟"),
            ("公尺", "公里"),
        ],
    }[language]
    for figure in rng.sample(figures(sentence), len(figures(sentence))):
        after = sentence[figure.end() :]
        for old, new in swaps:
            if old == "$" and sentence[: figure.start()].endswith("$"):
                return sentence[: figure.start() - 1] + new + sentence[figure.start() :]
            if re.match(r"[\s-]?" + re.escape(old) + (r"\b" if old.isascii() and old.isalpha() else ""), after):
                return sentence[: figure.end()] + after.replace(old, new, 1)
    return None


def split(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = [each for each in figures(sentence) if plain(each) >= 40 and "." not in each.group()]
    if not found:
        return None
    figure = rng.choice(found)
    whole = int(plain(figure))
    part = fresh(rng, passage["text"], max(11, whole // 4), max(12, whole - 12))
    if re.search(rf"(?<!\d){whole - part}(?!\d)", passage["text"].replace(",", "")):
        return None
    return put(sentence, figure, f"{part:,}{AND[language]}{whole - part:,}")


def english(number: int) -> str:
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")
    if number < 1000:
        return f"{ONES[number // 100]} hundred" + (f" and {english(number % 100)}" if number % 100 else "")
    return f"{english(number // 1000)} thousand" + (f" {english(number % 1000)}" if number % 1000 else "")


def han(number: int) -> str:
    if number >= 10000:
        return f"{han(number // 10000)}万" + (han(number % 10000) if number % 10000 else "")
    out = ""
    for power, mark in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // power % 10
        if digit:
            out += ("" if digit == 1 and power == 10 and not out else HAN[digit]) + mark
        elif out and power > 1 and number % power and mark == "":
            out += "〇"
    return out


def spelled(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = [
        each
        for each in figures(sentence)
        if plain(each) < 90000
        and "." not in each.group()
        and (
            language == "en"
            or re.match((r"\s*[人円元米個个歳岁社家件名%本台隻篇万萬億亿公倍戸户店座]"), sentence[each.end() :])
        )
    ]
    if not found:
        return None
    figure = rng.choice(found)
    number = fresh(rng, passage["text"], 11, int(plain(figure)) + 60)
    words = english(number) if language == "en" else han(number)
    return None if words in passage["text"].lower() else put(sentence, figure, words)


def decimals(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = figures(sentence)
    if not found:
        return None
    figure = rng.choice(found)
    return put(sentence, figure, figure.group() + (".0" if "." not in figure.group() else "0"))


def period(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = list(YEARS[language].finditer(sentence))
    if not found:
        return None
    year = rng.choice(found)
    new = fresh(rng, passage["text"], int(year.group()) - 30, int(year.group()) + 8)
    return sentence[: year.start()] + str(new) + sentence[year.end() :]


def period_of(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    """Another year of the same passage, beside a figure."""
    found = list(YEARS[language].finditer(sentence))
    others = sorted(
        set(re.findall((r"(?<!\d)(?:1[5-9]\d\d|20[01]\d)(?!\d)"), passage["text"]))
        - set(re.findall(r"\d{4}", sentence))
    )
    dated = re.findall(r"\d{3,4}|[月日]|明治|大正|昭和|平成|民國", sentence)
    if len(found) != 1 or not others or not figures(sentence) or len(dated) != 1:
        return None
    year = rng.choice(found)
    return f"{sentence[: year.start()]}{rng.choice(others)}{sentence[year.end() :]}"


def entity(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    """Another document's subject beside a figure."""
    title, other = str(passage["title"]), str(passage["other"])
    if title not in sentence or not figures(sentence) or len(title) < 2 or "(" in other:
        return None
    wrong = sentence.replace(title, other)
    return None if other in passage["text"] or not figures(wrong) else wrong


def direction(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    if not figures(sentence) and not re.search(r"\d+(?:\.\d+)?\s*[%％]", sentence):
        return None
    for old, new in WAYS[language]:
        border = r"\b" if language == "en" else ""
        if len(re.findall(border + old + border, sentence)) == 1 and _beside_figure(sentence, old):
            return re.sub(border + old + border, new, sentence)
    return None


def _beside_figure(sentence: str, word: str) -> bool:
    """Whether the word speaks of the figure: nothing but blanks and little words between."""
    at = sentence.index(word)
    after, before = sentence[at + len(word) :], sentence[:at]
    return bool(
        re.match((r"(?:\s+(?:by|to|from|of|in|about|over|approximately|nearly))?\s*[了到至为約约$€£]?\s*\$?\d"), after)
    ) or bool(
        re.search(
            (
                r"\d[\d,.]*\s*[%％万億亿萬円元人美ドルポイント]{0,6}(?:に|へ|の|を|も|まで|)$|\d[\d,.]*\s*(?:%|"
                r"percent)\s*$"
            ),
            before,
        )
    )


def hedge(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = list(HEDGES[language].finditer(sentence))
    figure = re.compile(r"\d[\d,.]*").search(sentence, found[0].start() - 1) if found else None
    if (
        len(found) != 1
        or figure is None
        or re.search("估計|估计|推定|推計|estimated", sentence)
        or re.match(r"[\dA-Za-z]|[余餘多]?年(?!間|间)|[万萬]?[余餘多]|.{0,3}左右|\.?$", sentence[figure.end() :])
        or re.match(r"\S{0,4}(?:ぐらい|くらい|ほど)", sentence[figure.end() :])
    ):
        return None
    if len(re.findall(rf"(?<!\d){figure.group().strip('.,')}(?!\d)", passage["text"])) > 1:
        return None
    return sentence[: found[0].start()] + sentence[found[0].end() :]


def half_range(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = [
        each
        for each in RANGES[language].finditer(sentence)
        if not re.fullmatch(r"\d{3,4}", each["a"])
        and sentence[each.end() : each.end() + 1] not in "年歳"
        and all(len(re.findall(rf"(?<!\d){each[end]}(?!\d)", passage["text"])) == 1 for end in "ab")
    ]
    if not found:
        return None
    pair = rng.choice(found)
    return sentence[: pair.start()] + pair[rng.choice("ab")] + sentence[pair.end() :]


def ratio(rng: random.Random, sentence: str, passage: Case, language: str) -> str | None:
    found = figures(sentence)
    if not found or re.search(r"doubl|twice|倍|翻", passage["text"]):
        return None
    figure = rng.choice(found)
    return put(sentence, figure, RATIO[language] + figure.group())


CLASSES: dict[str, Callable[[random.Random, str, Case, str], str | None]] = {
    "invented": invented, "rounded": rounded, "converted": converted, "split": split, "spelled": spelled,
    "decimals": decimals, "period": period, "period_of_another": period_of,
    "entity": entity, "direction": direction,
    "hedge": hedge, "half_range": half_range, "ratio": ratio,
}  # fmt: skip


def written_otherwise(rng: random.Random, sentence: str, language: str) -> Iterator[str]:
    """Right ways to say the same: full-width digits, no separators, a lead."""
    lead = LEAD[language] + sentence
    yield lead
    yield LEAD[language] + re.sub(r"(?<=\d),(?=\d{3})", "", sentence)
    quoted = language == "en" or re.search('[「『“"]', sentence) is not None  # what is quoted stays as it is
    yield (
        LEAD[language] + re.sub((r"\d"), lambda digit: chr(ord(digit.group()) + 0xFEE0), sentence)
        if not quoted
        else lead
    )


def cases(data: Path) -> Iterator[Case]:
    for language in SETS:
        rng = random.Random(f"{SEED}/{language}")
        pool = passages(data, language)
        rng.shuffle(pool)
        for place, passage in enumerate(pool):
            passage["other"] = pool[(place + 7) % len(pool)]["title"]
        made = dict.fromkeys([*CLASSES, "false_citation", "unknown_citation"], 0)
        for place, passage in enumerate(pool):
            for sentence in sentences(passage, language):
                todo = sorted((name for name in CLASSES if made[name] < EACH), key=lambda name: (made[name], name))
                scarce = ("half_range", "direction", "hedge", "entity", "converted", "rounded", "period_of_another")
                for name in sorted(todo, key=lambda name: name not in scarce):
                    wrong = CLASSES[name](rng, sentence, passage, language)
                    if wrong and wrong != sentence:
                        made[name] += 1
                        yield row(name, language, passage, wrong, sentence, entities=name == "entity")
                        break
            if made["false_citation"] < EACH:
                other = pool[(place + 11) % len(pool)]
                found = [each for each in sentences(other, language) if figures(each)]
                if found and other["title"] not in passage["text"]:
                    made["false_citation"] += 1
                    yield row("false_citation", language, passage, found[0], found[0])
            if made["unknown_citation"] < EACH and sentences(passage, language):
                made["unknown_citation"] += 1
                right = sentences(passage, language)[0]
                yield row("unknown_citation", language, passage, right, right) | {
                    "mark": rng.choice(["[2]", "[0]", "[17]", "[1][3]"])
                }
        yield from from_facts(data, language, made, rng)
        count = 0
        for passage in reversed(pool):
            for sentence in sentences(passage, language)[:2]:
                if not re.search(r"\d|[一二三四五六七八九十百]", sentence) and language != "en":
                    continue
                if count < RIGHT:
                    told = list(written_otherwise(rng, sentence, language))
                    yield row("right", language, passage, told[count % len(told)], sentence)
                    count += 1


def around(text: str, real: str) -> str:
    """The sentence with some of what stands around it; the beginning where it is none of this text."""
    at = max(0, text.find(real))
    start = max(0, text.rfind("。" if "。" in text else ". ", 0, max(0, at - 50)) + 1)
    end = text.find("。" if "。" in text else ". ", min(len(text), at + len(real) + 30))
    return text[start : len(text) if end < 0 else end + 1].strip()


def row(name: str, language: str, passage: Case, sentence: str, real: str, *, entities: bool = False) -> Case:
    case = {
        "class": name,
        "language": language,
        "doc": passage["doc"],
        "text": around(passage["text"], real),
        "sentence": sentence,
    }
    if entities:
        case["entities"] = [passage["title"], passage["other"]]
    return case


def main() -> None:
    """Write the file that the second argument names."""
    lines = [json.dumps(case, ensure_ascii=False, sort_keys=True) for case in cases(Path(sys.argv[1]))]
    Path(sys.argv[2]).write_text("\n".join(lines) + "\n", "utf-8")
    print(len(lines), "cases")


if __name__ == "__main__":
    main()
