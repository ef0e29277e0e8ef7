"""Worlds by chance, the same for the same number."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from tests.oracle.names import loose_key
from tests.oracle.period_texts import (
    Meant,
    draw_meant,
    nonsense,
    relative,
    unreadable,
    written,
    written_with_nendo,
)
from tests.oracle.spelling import misspell, respell
from tests.oracle.world import (
    LABELS,
    Batch,
    Calculation,
    Call,
    Dims,
    LibraryPlan,
    Product,
    Query,
    Row,
    Term,
    Test,
    World,
)

__all__ = ["CLEARANCES", "OUTSIDE", "draw_world"]

CLEARANCES = ("PUBLIC", "INTERNAL", "CONFIDENTIAL")
_LANGUAGES = ("en", "zh", "ja")
OUTSIDE = ("Rival Industries", "競合商会")  # names that the servers do not answer about


def _metric(code: str, label: str, en: str, zh: str, ja: str, unit: str, nature: str, derivation: str = "") -> Term:
    synonyms = tuple((name, "en") for name in en.split("|") if name)
    synonyms += tuple((name, "zh") for name in zh.split("|") if name) + tuple(
        (name, "ja") for name in ja.split("|") if name
    )
    return Term("metric", code, label, synonyms, unit=unit, nature=nature, derivation=derivation)


_METRICS = (
    _metric("REVENUE", "Revenue", "net sales|turnover", "营业收入|收入", "売上高|売上収益", "USD", "flow"),
    _metric("COGS", "Cost of sales", "cost of goods sold", "营业成本", "売上原価", "USD", "flow"),
    _metric("OPEX", "Operating expense", "running cost", "营业费用", "販売費及び一般管理費", "USD", "flow"),
    _metric("CASH", "Cash and equivalents", "cash on hand", "货币资金", "現金及び現金同等物", "USD", "instant"),
    _metric("DEBT", "Borrowings, total", "total debt", "有息负债", "有利子負債", "usd", "instant"),
    _metric("HEADCOUNT", "Headcount", "number of employees|staff", "员工人数", "従業員数", "PERSONS", ""),
    _metric("CO2", "Greenhouse gas emission", "carbon footprint", "碳排放量", "温室効果ガス排出量", "", ""),
    _metric(
        "DIVIDEND", "Dividend per share", "payout per share", "每股股息", "一株当たり配当", "JPY_PER_SHARE", "flow"
    ),
    _metric("RnD", "Research & development", "R&D spending", "研发投入", "研究開発費", "", "flow"),
    _metric("SHOPS", "Store count", "number of stores", "门店数", "店舗数ストア", "STORES", "instant"),
)
_DERIVED = (
    _metric("GROSS_PROFIT", "Gross profit", "gross income", "毛利", "売上総利益", "USD", "flow", "REVENUE - COGS"),
    _metric(
        "GROSS_MARGIN",
        "Gross margin",
        "gross profit ratio",
        "毛利率",
        "粗利率",
        "RATIO",
        "flow",
        "(REVENUE - COGS) / REVENUE",
    ),
    _metric("COST_SHARE", "Cost share", "", "成本占比", "原価率", "RATIO", "", "COGS / REVENUE"),
    _metric(
        "EBIT", "Operating profit", "operating income", "营业利润", "営業利益", "USD", "flow", "GROSS_PROFIT - OPEX"
    ),
    _metric(
        "PER_HEAD",
        "Revenue per head",
        "sales per employee",
        "人均收入",
        "一人当たり売上",
        "",
        "",
        "REVENUE / HEADCOUNT",
    ),
)


def _entity(code: str, label: str, en: str, zh: str, ja: str, ticker: str = "") -> Term:
    synonyms = tuple((name, "en") for name in en.split("|") if name)
    synonyms += tuple((name, "zh") for name in zh.split("|") if name) + tuple(
        (name, "ja") for name in ja.split("|") if name
    )
    return Term("entity", code, label, synonyms, identifiers=(("ticker", ticker),) if ticker else ())


_ENTITIES = (
    _entity("ACME", "Acme Corporation", "Acme Holdings", "艾克美", "アクメ", "ACM.T"),
    _entity("ACME_JP", "Acme Japan", "", "艾克美日本", "アクメジャパン"),
    _entity("ROKI", "Nippon Roki", "", "日本滤器", "日本濾器工業|日本ロキ", "7299.T"),
    _entity("HUADONG", "Huadong Electric", "East China Electric", "华东电气", "華東電気"),
    _entity("BLUE_RIVER", "Blue River Foods, Inc.", "Blue River", "蓝河食品", "ブルーリバー", "BRF"),
    _entity("SAKURA", "Sakura Foods", "", "樱花食品", "桜フーズ|サクラフーズ"),
    _entity("DELTA9", "Delta 9 Energy", "", "德尔塔能源", "デルタナイン"),
    _entity("ZURICH", "Zürich Rück", "Zurich Re", "苏黎世再保险", "チューリッヒ再保険"),
    _entity("KOREA", "Republic of Korea", "South Korea", "韩国", "韓国", "KOR"),
    _entity("OCEANIA", "Oceania Lines", "", "大洋航运", "オセアニア汽船", "OCL"),
)
_CHANNELS = (
    Term("channel", "RETAIL", "Retail", (("shops", "en"), ("零售", "zh"), ("小売", "ja"))),
    Term("channel", "ONLINE", "Online", (("e-commerce", "en"), ("网上", "zh"), ("ネット通販", "ja"))),
    Term("channel", "WHOLESALE", "Wholesale", (("批发", "zh"), ("卸売", "ja"))),
)
_MEMBERS = (
    Term("dimension", "CLOUD", "Cloud services", (("云服务", "zh"), ("クラウド", "ja")), axis="segment"),
    Term("dimension", "DEVICES", "Devices", (("设备", "zh"), ("端末", "ja")), axis="segment"),
    Term("dimension", "EAST", "Eastern area", (("东部", "zh"), ("東部", "ja")), axis="area"),
)
_RAW_METRICS = ("store_visits", "客単価", "Web sessions")
_RAW_ENTITIES = ("Zenith Works", "東亜商事", "南方 Trading")
_RAW_CHANNELS = ("Pop-up stands", "直営店")
_RAW_MEMBERS = (("floor", "Top"), ("floor", "地下"), ("segment", "Spare parts"))
_SOURCES = ("annual.pdf", "10-K 2024", "xbrl/acme.json", "決算短信.pdf")
_UNITS = ("USD", "EUR", "T_CO2E", "COUNT")


def draw_world(seed: int, calls: int) -> World:
    """Libraries, rows and so many calls."""
    return _Draw(random.Random(f"world {seed}"), calls).world()


class _Draw:
    def __init__(self, draw: random.Random, calls: int) -> None:
        self.draw = draw
        self.number_of_calls = calls
        self.used: set[str] = set()
        self.meant = [draw_meant(draw) for _ in range(draw.randint(3, 6))]

    def world(self) -> World:
        draw = self.draw
        self.libraries = [self._library() for _ in range(draw.choice((1, 1, 1, 2, 3)))]
        self.batches: list[Batch] = []
        self.rows: list[tuple[int, Row]] = []
        self.derived: list[tuple[int, Row]] = []  # what a formula could answer
        for _ in range(draw.randint(1, 4)):
            self._batch()
        calls = tuple(self._call() for _ in range(self.number_of_calls))
        return World(draw.choice(CLEARANCES), tuple(self.libraries), tuple(self.batches), calls)

    # Libraries

    def _library(self) -> LibraryPlan:
        draw = self.draw
        metrics = [self._named(each) for each in draw.sample(_METRICS, draw.randint(3, 6))]
        if draw.random() < 0.6:
            wanted = draw.sample(_DERIVED, draw.randint(1, 3))
            names = {each.code for each in metrics} | {each.code for each in wanted}
            needed = {
                name for each in wanted for name in ("REVENUE", "COGS", "OPEX", "HEADCOUNT") if name in each.derivation
            }
            if any(each.code == "EBIT" for each in wanted):
                needed |= {"GROSS_PROFIT", "REVENUE", "COGS"}
            metrics += wanted + [each for each in (*_METRICS, *_DERIVED) if each.code in needed - names]
        entities = [self._fiscal(self._named(each)) for each in draw.sample(_ENTITIES, draw.randint(2, 4))]
        if draw.random() < 0.5:
            entities[-1] = replace(entities[-1], parent=entities[0].code, fiscal_start="", named_by="")
        terms = metrics + entities
        terms += [self._named(each) for each in draw.sample(_CHANNELS, draw.randint(0, 3))]
        terms += [self._named(each) for each in draw.sample(_MEMBERS, draw.randint(0, 3))]
        ambiguous = draw.random() < 0.3
        if ambiguous:
            terms = self._shared(terms)
        late = 0
        if (
            draw.random() < 0.15
        ):  # rows come before the glossary that names them; it must not change their days or units
            late = draw.randint(1, 4)
            terms = [replace(each, fiscal_start="", named_by="") for each in terms]
        return LibraryPlan(tuple(_without_doubles(terms, ambiguous)), ambiguous, late)

    def _named(self, term: Term) -> Term:
        synonyms = tuple(each for each in term.synonyms if self.draw.random() < 0.8)
        return replace(term, synonyms=synonyms, label=term.label if self.draw.random() < 0.9 else "")

    def _fiscal(self, term: Term) -> Term:
        start = self.draw.choice(("", "", "01-01", "04-01", "04-01", "07-01", "10-01", "02-15"))
        return replace(term, fiscal_start=start, named_by=self.draw.choice(("", "", "start", "end")))

    def _shared(self, terms: list[Term]) -> list[Term]:
        kind = self.draw.choice(("metric", "metric", "entity"))
        places = [place for place, each in enumerate(terms) if each.kind == kind and not each.derivation]
        chosen = self.draw.sample(places, min(len(places), self.draw.choice((2, 2, 3))))
        return [
            replace(each, synonyms=(*each.synonyms, ("the shared one", "en"))) if place in chosen else each
            for place, each in enumerate(terms)
        ]

    # Rows

    def _batch(self) -> None:
        library = self.draw.randrange(len(self.libraries))
        rows: list[Row] = []
        for _ in range(self.draw.randint(2, 14)):
            rows += self._rows(library, rows)
        if self.draw.random() < 0.2:
            rows.insert(self.draw.randrange(len(rows) + 1), self._bad(rows[0]))
        self.rows += [(library, each) for each in rows]
        self.batches.append(Batch(library, tuple(rows)))

    def _rows(self, library: int, now: Sequence[Row]) -> list[Row]:
        before = [row for place, row in self.rows if place == library and _is_number(row.value)]
        if before and self.draw.random() < 0.35:
            return self._again(self.draw.choice(before), now)
        if any(each.derivation for each in self.libraries[library].terms) and self.draw.random() < 0.3:
            return self._operands(library)
        return self._fresh(library)

    def _operands(self, library: int) -> list[Row]:
        """Rows that a formula needs, mostly all of them."""
        terms = self.libraries[library].terms
        codes = ("REVENUE", "COGS", "OPEX", "HEADCOUNT")
        term = self.draw.choice([each for each in terms if each.derivation])
        wanted = [each for each in codes if each in term.derivation or term.code == "EBIT"]
        wanted = [each for each in wanted if any(other.code == each for other in terms)]
        if not wanted:
            return self._fresh(library)
        like = self._fresh(library)[0]
        meant = self._meant_for("flow")
        rows = []
        for code in wanted:
            unit = self.draw.choice(("", "usd", "USD")) if code != "HEADCOUNT" else ""
            if self.libraries[library].glossary_from > len(self.batches):
                unit = "USD" if code != "HEADCOUNT" else "PERSONS"
            row = replace(like, metric=code, period=written(self.draw, meant), value=self._value(), unit=unit)
            row = replace(row, label="PUBLIC", status="", valid_as_of=None, dims=(), channel=like.channel)
            if self.draw.random() < 0.92:
                rows.append(row)
            if self.draw.random() < 0.2:
                rows.append(self._second_source(row))
        self.derived.append((library, replace(like, metric=term.code, period=written(self.draw, meant), dims=())))
        return rows

    def _fresh(self, library: int) -> list[Row]:
        draw, terms = self.draw, self.libraries[library].terms
        late = self.libraries[library].glossary_from > len(self.batches)
        metric = self._pick(terms, "metric", _RAW_METRICS)
        entity = self._pick(terms, "entity", _RAW_ENTITIES)
        term = next((each for each in terms if each.kind == "metric" and each.code == metric), None)
        meant = self._meant_for(term.nature if term else "")
        dims: Dims = ()
        if draw.random() < 0.2:
            known = [(each.axis, each.code) for each in terms if each.kind == "dimension"]
            dims = tuple(dict(draw.sample([*known, *_RAW_MEMBERS], draw.randint(1, 2))).items())
        unit = draw.choice(_UNITS[:2]) if draw.random() < 0.1 else "COUNT"
        if term and term.unit:
            unit = draw.choice(("" if not late else term.unit, term.unit, term.unit.lower()))
        value = self._value()
        if entity == _RAW_ENTITIES[0] and draw.random() < 0.5:
            entity = f"Plant {value.lstrip('-').partition('.')[0]}"  # a name with the digits of a figure
        row = Row(
            metric=self._as_sent(terms, "metric", metric),
            entity=self._as_sent(terms, "entity", entity),
            period=written(draw, meant),
            value=value,
            unit=unit,
            channel=self._pick(terms, "channel", _RAW_CHANNELS) if draw.random() < 0.3 else "",
            dims=dims,
            source=draw.choice(_SOURCES),
            locator=draw.choice(("page=3", "sheet=PL,cell=C7", "companyfacts/us-gaap/X")),
            decimals=draw.choice((None, None, None, 0, -2, 1)),
            filed=self._day() if draw.random() < 0.5 else None,
            status=draw.choice(("", "", "", "APPROVED", "PENDING")),
            label=draw.choice(("", "PUBLIC", "PUBLIC", "PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED")),
            as_written=draw.choice(("", "as printed")),
            valid_as_of=self._day() if draw.random() < 0.2 else None,
            region=draw.choice((None, None, "north", "south", "西")),
            pages=draw.choice((None, None, 1, 9, 10, 200)),
        )
        rows = [row]
        alike = [each.code for each in terms if each.kind == "metric" and ("the shared one", "en") in each.synonyms]
        if metric in alike and draw.random() < 0.4:
            rows += [replace(row, metric=each, unit=row.unit if late else "") for each in alike if each != metric]
        while draw.random() < 0.3:
            rows.append(self._second_source(row))
        if draw.random() < 0.25:
            rows.append(self._restated(row))
        draw.shuffle(rows)
        return rows

    def _pick(self, terms: Sequence[Term], kind: str, raw: Sequence[str]) -> str:
        known = [each.code for each in terms if each.kind == kind]
        return self.draw.choice(known) if known and self.draw.random() < 0.9 else self.draw.choice(raw)

    def _as_sent(self, terms: Sequence[Term], kind: str, code: str) -> str:
        term = next((each for each in terms if each.kind == kind and each.code == code), None)
        names = [each for each in term.names() if each != "the shared one"] if term else []
        return self.draw.choice(names) if names and self.draw.random() < 0.4 else code

    def _meant_for(self, nature: str) -> Meant:
        fitting = [each for each in self.meant if not nature or (each.kind == "day") == (nature == "instant")]
        if fitting and self.draw.random() < 0.97:
            return self.draw.choice(fitting)
        return self.draw.choice(self.meant)

    def _value(self) -> str:
        draw = self.draw
        if draw.random() < 0.06:
            return draw.choice(("0", "0.00", "-0.5", "7", "12.50"))
        while True:
            value = str(draw.randrange(10**5, 10 ** draw.randint(6, 14)))
            if draw.random() < 0.4:
                value += "." + "".join(draw.choices("0123456789", k=draw.randint(1, 5)))
            if value not in self.used:
                self.used.add(value)
                return draw.choice(("", "", "", "-")) + value

    def _day(self) -> datetime:
        return datetime(2018, 1, 1, tzinfo=UTC) + timedelta(
            days=self.draw.randrange(2900), hours=self.draw.randrange(24)
        )

    def _second_source(self, row: Row) -> Row:
        draw = self.draw
        other = replace(row, source=draw.choice([each for each in _SOURCES if each != row.source]), locator="page=9")
        if other.filed is not None:
            other = replace(other, filed=self._day())
        way = draw.random()
        if way < 0.35:
            return other
        if way < 0.5:
            value = other.value + ("0" if "." in other.value else ".0")
            return replace(other, value=value)
        if way < 0.75:
            decimals = draw.choice((0, 1, -1, -3))
            rounded = Decimal(other.value).quantize(Decimal(1).scaleb(-decimals))
            return replace(other, value=f"{rounded:f}" if rounded else "0", decimals=decimals)
        if way < 0.85:
            decimals = draw.choice((0, 1, 2))
            step = Decimal(draw.choice((1, 2, 5, 6, 10, 11))).scaleb(-decimals - 1)
            return replace(other, value=f"{Decimal(other.value) + step:f}", decimals=decimals)
        return replace(other, value=self._value())

    def _restated(self, row: Row) -> Row:
        draw = self.draw
        other = replace(
            row, value=self._value(), author=draw.choice(("", "A. Auditor")), reason=draw.choice(("", "訂正"))
        )
        if other.author and not other.label:  # who corrects and says no label keeps that of the figure
            other = replace(other, label="INTERNAL")
        return replace(other, filed=self._day()) if other.filed is not None else other

    def _again(self, row: Row, now: Sequence[Row]) -> list[Row]:
        """Something about a row of an earlier batch."""
        draw, way = self.draw, self.draw.random()
        same_key = [
            each for each in now if (each.metric, each.entity, each.source) == (row.metric, row.entity, row.source)
        ]
        if way < 0.3:
            return [self._restated(row)]
        if way < 0.45:
            return [row]
        if way < 0.6 and not same_key:
            return [replace(row, label=draw.choice(LABELS))]
        if way < 0.75:
            return [replace(row, status="APPROVED")]
        if way < 0.9:
            return [replace(self._restated(row), status="PENDING")]
        return [replace(row, value="", withdraw=True, filed=None, status="", region=None, pages=None)]

    def _bad(self, row: Row) -> Row:
        return self.draw.choice(
            (
                replace(row, value=""),
                replace(row, value="n.a."),
                replace(row, value="1,000"),
                replace(row, period="soon"),
                replace(row, period="Q3"),
                replace(row, period="03/04/2024"),
                replace(row, metric=""),
                replace(row, entity=""),
                replace(row, source=""),
                replace(row, locator=""),
            )
        )

    # Calls

    def _call(self) -> Call:
        draw = self.draw
        numbers = range(len(self.libraries))
        libraries = tuple(sorted(draw.sample(numbers, draw.randint(1, len(numbers)))))
        self.language = draw.choice(_LANGUAGES)
        queries = tuple(self._query(libraries) for _ in range(draw.choice((1, 1, 2, 3, 5))))
        product = None
        if draw.random() < 0.2:
            product = self._product(libraries)
            queries = queries[: draw.randint(0, 2)]
        call = Call(
            libraries,
            queries,
            product,
            versions=draw.choice(("", "", "", "LATEST", "AS_REPORTED", "ALL")),
            known_at=self._known_at(),
            valid_at=self._day() if draw.random() < 0.08 else None,
            reference=f"{self._day():%Y-%m-%d}" if draw.random() < 0.9 else "",
            language=self.language,
        )
        number = len(call.asked())
        if draw.random() < 0.4:
            kinds = ("DIFFERENCE", "RATIO", "GROWTH")
            call = replace(
                call,
                calculations=tuple(
                    Calculation(draw.choice(kinds), draw.randrange(number), draw.randrange(number))
                    for _ in range(draw.randint(1, 3))
                ),
            )
        if draw.random() < 0.12:
            call = replace(call, tests=self._tests(libraries), known_at=None)
        return call

    def _known_at(self) -> datetime | int | None:
        way = self.draw.random()
        if way < 0.7:
            return None
        return self.draw.randrange(len(self.batches)) if way < 0.85 else self._day()

    def _query(self, libraries: Sequence[int]) -> Query:
        draw = self.draw
        library = draw.choice(libraries)
        terms = self.libraries[library].terms
        rows = [row for place, row in self.rows if place == library and row.metric and row.entity]
        seen = [row for row in rows if row.label in ("", "PUBLIC") and row.status != "PENDING" and not row.withdraw]
        computed = [row for place, row in self.derived if place == library]
        if rows and draw.random() < 0.85:
            row = draw.choice(seen if seen and draw.random() < 0.8 else rows)
            if computed and draw.random() < 0.2:
                row = draw.choice(computed)
            query = Query(
                self._said(terms, "metric", row.metric),
                self._said(terms, "entity", row.entity),
                self._period(row.period),
                self._said(terms, "channel", row.channel) if row.channel else draw.choice(("", "", "total", "TOTAL")),
                tuple((axis, self._said(terms, "dimension", member, axis)) for axis, member in row.dims),
            )
        else:
            query = Query(
                self._said(terms, "metric", self._pick(terms, "metric", _RAW_METRICS)),
                self._said(terms, "entity", self._pick(terms, "entity", _RAW_ENTITIES)),
                written(draw, draw.choice(self.meant)),
                self._said(terms, "channel", self._pick(terms, "channel", _RAW_CHANNELS))
                if draw.random() < 0.2
                else "",
            )
        return self._bent(query)

    def _said(self, terms: Sequence[Term], kind: str, name: str, axis: str = "") -> str:
        term = next((each for each in terms if each.kind == kind and each.axis == axis and name in each.names()), None)
        if term is None or self.draw.random() < 0.3:
            return respell(self.draw, name, words=kind != "entity")
        return respell(self.draw, self.draw.choice(term.names()), words=kind != "entity")

    def _period(self, sent: str) -> str:
        """The period of a row: as it was sent, or in other words for the same days."""
        for meant in self.meant:
            forms = {written(random.Random(number), meant) for number in range(12)}
            if sent in forms or self.draw.random() < 0.15:
                return written(self.draw, meant)
        return sent

    def _bent(self, query: Query) -> Query:
        """Mostly the query; now and then one slot is something else."""
        draw, way = self.draw, self.draw.random()
        if way < 0.02:
            return replace(query, metric=misspell(draw, query.metric))
        if way < 0.04:
            return replace(query, entity=misspell(draw, query.entity))
        if way < 0.05:  # what a word may be called and a proper name may not
            return replace(query, entity=draw.choice((f"{query.entity}s", " ".join(reversed(query.entity.split())))))
        if way < 0.0545:
            return replace(query, entity=respell(draw, draw.choice(OUTSIDE), words=False, joints=False))
        if way < 0.055:
            return replace(query, channel=draw.choice(("Moon base", "月面", "retial")))
        if way < 0.07:
            return replace(query, dims=(*query.dims, draw.choice((("colour", "red"), ("tier", "CLOUD")))))
        if way < 0.08 and query.dims:
            return replace(query, dims=((query.dims[0][0], "nowhere"), *query.dims[1:]))
        if way < 0.11:
            return replace(query, period=unreadable(draw))
        if way < 0.12:
            return replace(query, period=nonsense(draw))
        if way < 0.15:
            return replace(query, period=relative(draw, self.language))
        if way < 0.19:
            return replace(query, period=written_with_nendo(draw, draw.randint(2018, 2024)))
        if way < 0.23:
            return replace(query, period=written(draw, draw_meant(draw)))
        if way < 0.3:
            shared = "the shared one"
            return replace(query, metric=shared) if draw.random() < 0.5 else replace(query, entity=shared)
        return query

    def _product(self, libraries: Sequence[int]) -> Product:
        draw = self.draw
        queries = [self._query(libraries) for _ in range(draw.randint(1, 3))]
        return Product(
            metrics=tuple(dict.fromkeys(each.metric for each in queries)),
            entities=tuple(dict.fromkeys(each.entity for each in queries)),
            periods=tuple(dict.fromkeys(each.period for each in queries))[: draw.randint(1, 3)],
            channels=tuple(dict.fromkeys(each.channel for each in queries)) if draw.random() < 0.4 else (),
        )

    def _tests(self, libraries: Sequence[int]) -> tuple[Test, ...]:
        """Tests of attributes that everybody can know of."""
        known = [
            row
            for place, row in self.rows
            if place in libraries and row.label == "PUBLIC" and row.status != "PENDING" and not row.withdraw
        ]
        tests: list[Test] = []
        if any(row.region is not None for row in known):
            way = self.draw.choice(("eq", "ne", "one_of", "none_of", "present", "gt", "lte"))
            some: tuple[str | bool, ...] = (self.draw.choice(("north", "south", "西")),)
            tests.append(Test("region", way, (self.draw.random() < 0.5,) if way == "present" else some))
        if any(row.pages is not None for row in known):
            way = self.draw.choice(("eq", "ne", "one_of", "gt", "gte", "lt", "lte", "between", "present"))
            number = self.draw.choice((1, 9, 10, 199))
            values = {"between": (number, number + 5), "present": (True,), "one_of": (1, 200)}.get(way, (number,))
            tests.append(Test("pages", way, values))
        tests = [replace(each, negated=self.draw.random() < 0.2) for each in tests]
        self.draw.shuffle(tests)
        return tuple(tests[: self.draw.randint(1, 2)])


def _is_number(value: str) -> bool:
    return value.lstrip("-").replace(".", "", 1).isdigit()


def _without_doubles(terms: Sequence[Term], ambiguous: bool) -> list[Term]:
    """The terms without names that two of a kind would share, but for the one that is meant to be shared."""
    taken: dict[tuple[str, str, str], str] = {}
    kept = []
    for term in terms:
        synonyms = []
        for text, language in term.synonyms:
            place = (term.kind, term.axis, loose_key(text))
            if (ambiguous and text == "the shared one") or taken.setdefault(place, term.code) == term.code:
                synonyms.append((text, language))
        kept.append(replace(term, synonyms=tuple(synonyms)))
    return kept
