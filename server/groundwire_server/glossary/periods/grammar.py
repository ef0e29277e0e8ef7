"""Words -> expressions: every way to read the words from one place on, in any of the three languages.

Each method yields (what was read, place behind it). The caller takes the longest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from groundwire_server.glossary.periods.eras import ERA_LETTERS, Era
from groundwire_server.glossary.periods.faults import PeriodFault
from groundwire_server.glossary.periods.symbols import Symbol, Unit, Word
from groundwire_server.glossary.periods.tree import (
    Ended,
    Expression,
    Half,
    Month,
    MonthDay,
    MonthRange,
    NumericDay,
    Part,
    Point,
    Quarter,
    Range,
    Refused,
    Relative,
    Scheme,
    Term,
    Year,
)

__all__ = ["Grammar"]

_S = Symbol
_SCHEMES = {_S.FISCAL: Scheme.FISCAL, _S.NENDO: Scheme.NENDO, _S.CALENDAR: Scheme.CALENDAR}
_YEAR_UNITS = (Unit.YEAR, Unit.FISCAL_YEAR, Unit.BEFORE_LAST_OR_LAST, Unit.FISCAL_BEFORE_LAST_OR_LAST)
_BEFORE = {_S.YEAR: Unit.YEAR, _S.QUARTER: Unit.QUARTER, _S.MONTHS: Unit.MONTH}
_PLURALS = frozenset({"years", "quarters", "months", "weeks", "days"})
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
_MOST_SKIPPED = 4


class Grammar:
    """Reads expressions from a list of words."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words

    def expressions(self, at: int) -> Iterator[tuple[Expression, int]]:
        """Everything that can be read from here, refusals included."""
        if not self._may_begin(at):
            return
        yield from self._refusals(at)
        yield from self._ended(at)
        yield from self._dated(at)
        yield from self._ranges(at)

    # Small questions about words.

    def _is(self, at: int, *symbols: Symbol) -> bool:
        return at < len(self._words) and self._words[at].symbol in symbols

    def _may_begin(self, at: int) -> bool:
        """Whether anything at all begins with this word; most words of a question are settled here."""
        if at >= len(self._words):
            return False
        word = self._words[at]
        return word.symbol is not _S.OTHER or word.text == "a" or word.text in ERA_LETTERS

    def _skip(self, at: int, *symbols: Symbol) -> int:
        """Behind words that add nothing. No period has many of them, and a text of nothing else must not be slow."""
        last = at + _MOST_SKIPPED
        while at < last and self._is(at, *symbols):
            at += 1
        return at

    def _glued(self, at: int) -> bool:
        return at < len(self._words) and self._words[at].glued

    def _text(self, at: int) -> str:
        return self._words[at].text if at < len(self._words) else ""

    def _digits(self, at: int) -> int:
        """How many digits the number here has; 0 for what is no number."""
        return len(self._words[at].text) if self._is(at, _S.NUMBER) else 0

    def _integer(self, at: int) -> int:
        value = self._words[at].value
        assert isinstance(value, int)
        return value

    def _small(self, at: int) -> int | None:
        """A number of one or two digits, or a spelled-out one that is not English."""
        if 1 <= self._digits(at) <= 2 or (self._is(at, _S.COUNT) and not self._words[at].letters):
            return self._integer(at)
        return None

    # Years.

    def _years(self, at: int) -> Iterator[tuple[Year | Relative, int]]:
        begin = self._skip(at, _S.THE, _S.YEAR_WORD, _S.FULL, _S.COMMON_ERA)
        for year, end in (
            *self._prefixed_years(begin),
            *self._numbered_years(begin),
            *self._era_years(begin),
            *self._relative_years(begin),
        ):
            yield year, end
            if self._is(end, _S.FULL):
                yield year, end + 1

    def _prefixed_years(self, at: int) -> Iterator[tuple[Year, int]]:
        """FY2024, FY'24, fiscal year 2024, FY2023/24, CY2024, 年度2024."""
        if not self._is(at, *_SCHEMES):
            return
        scheme = _SCHEMES[self._words[at].symbol]
        number = self._skip(at + 1, _S.APOSTROPHE)
        label = self._year_number(number, two_digits=True)
        if label is not None:
            yield Year(label, scheme), number + 1
        if scheme is not Scheme.CALENDAR:
            yield from self._split_year(number)

    def _split_year(self, at: int) -> Iterator[tuple[Year, int]]:
        """The 2023/24 or 23/24 of a fiscal year."""
        if not (self._is(at + 1, _S.SLASH, _S.DASH) and self._digits(at + 2) in (2, 4)):
            return
        first = self._year_number(at, two_digits=self._digits(at + 2) == 2)
        if first is not None:
            later, given = first + 1, self._integer(at + 2)
            if given == (later if self._digits(at + 2) == 4 else later % 100):
                yield Year(later, Scheme.SPLIT), at + 3

    def _year_number(self, at: int, *, two_digits: bool) -> int | None:
        if self._digits(at) == 4 and _FIRST_YEAR <= self._integer(at) <= _LAST_YEAR:
            return self._integer(at)
        if two_digits and self._digits(at) == 2:
            number = self._integer(at)
            return 2000 + number if number < 80 else 1900 + number
        return None

    def _numbered_years(self, at: int) -> Iterator[tuple[Year, int]]:
        """2024, 2024年度, 2024 fiscal year, 24年度, '24, 二〇二四年, 24 before a glued q or h, 2023/24 fiscal year."""
        for year, end in self._split_year(at):
            if self._is(end, _S.FISCAL, _S.NENDO):
                yield year, end + 1
        if self._is(at, _S.APOSTROPHE):
            label = self._year_number(at + 1, two_digits=True)
            if label is not None:
                yield Year(label), at + 2
            return
        spelled = self._is(at, _S.COUNT) and len(self._text(at)) == 4 and not self._words[at].letters
        label = self._integer(at) if spelled else self._year_number(at, two_digits=True)
        if label is None:
            return
        yield from self._marked_years(label, at + 1, None)
        if self._digits(at) == 4:
            yield Year(label, bare=True), at + 1
        elif self._digits(at) == 2 and self._glued(at + 1) and self._is(at + 1, _S.QUARTER, _S.HALF):
            yield Year(label), at + 1

    def _marked_years(self, label: int, at: int, era: Era | None) -> Iterator[tuple[Year, int]]:
        """The word behind a year's number."""
        if self._is(at, _S.YEAR):
            yield Year(label, era=era), at + 1
            if self._is(at + 1, *_SCHEMES):
                yield Year(label, _SCHEMES[self._words[at + 1].symbol], era), at + 2
        elif self._is(at, *_SCHEMES):
            yield Year(label, _SCHEMES[self._words[at].symbol], era), at + 1

    def _era_years(self, at: int) -> Iterator[tuple[Year | Relative, int]]:
        """令和6年, 令和元年度, 民國112年, R6年度."""
        found = self._era(at)
        if found is None:
            return
        era, number, end = found
        if not self._is(end, _S.YEAR, *_SCHEMES):
            return
        try:
            label = era.year(number)
        except ValueError:
            label = 0  # evaluation refuses it
        yield from self._marked_years(label, end, era)

    def _era(self, at: int) -> tuple[Era, int, int] | None:
        """Era, year in it, and the place behind."""
        word = self._words[at] if at < len(self._words) else None
        if word is None:
            return None
        if word.symbol is _S.ERA:
            assert isinstance(word.value, Era)
            if self._is(at + 1, _S.ERA_FIRST):
                return word.value, 1, at + 2
            if self._digits(at + 1) in (1, 2, 3) or self._small(at + 1) is not None:
                return word.value, self._integer(at + 1), at + 2
        elif word.text in ERA_LETTERS and self._glued(at + 1) and self._digits(at + 1) in (1, 2):
            return ERA_LETTERS[word.text], self._integer(at + 1), at + 2
        return None

    def _relative_years(self, at: int) -> Iterator[tuple[Relative, int]]:
        """last year, 昨年度, three years ago, 3年前."""
        if self._is(at, _S.RELATIVE):
            unit, offset = self._relative(at)
            if unit in _YEAR_UNITS:
                yield Relative(unit, offset), at + 1
                if self._is(at + 1, _S.APOSTROPHE) and self._text(at + 2) == "s":
                    yield Relative(unit, offset), at + 3
            return
        for relative, end in self._ago(at):
            if relative.unit is Unit.YEAR:
                yield relative, end

    def _ago(self, at: int) -> Iterator[tuple[Relative, int]]:
        """three years ago, a quarter ago, 3年前, 三个月前, 2四半期前."""
        number = 1 if self._text(at) == "a" else None
        if self._is(at, _S.COUNT) or self._digits(at) in (1, 2):
            number = self._integer(at)
        if number is None:
            return
        if self._is(at + 1, _S.AGO):
            unit = self._words[at + 1].value
            assert isinstance(unit, Unit)
            yield Relative(unit, -number), at + 2
        elif self._is(at + 2, _S.BEFORE) and self._is(at + 1, *_BEFORE) and not self._words[at + 1].letters:
            yield Relative(_BEFORE[self._words[at + 1].symbol], -number), at + 3

    def _relative(self, at: int) -> tuple[Unit, int]:
        value = self._words[at].value
        assert isinstance(value, tuple)
        unit, offset = value
        return unit, offset

    # Parts of a year.

    def _parts(self, at: int) -> Iterator[tuple[Part, int]]:
        yield from self._quarters(at)
        yield from self._halves(at)
        yield from self._named_months(at)
        yield from self._numbered_months(at)

    def _quarters(self, at: int) -> Iterator[tuple[Quarter, int]]:
        """Q3, 3Q, third quarter, 3rd quarter, 第3四半期, 三季度, 首季."""
        if self._is(at, _S.QUARTER_NAME):
            yield Quarter(self._integer(at)), at + 1
        if self._is(at, _S.QUARTER) and self._words[at].letters and self._digits(at + 1) == 1:
            yield Quarter(self._integer(at + 1)), at + 2
        for number, end in self._numbered(at, _S.QUARTER):
            yield Quarter(number), end

    def _halves(self, at: int) -> Iterator[tuple[Half, int]]:
        """H1, 1H, first half, 上半期."""
        if self._is(at, _S.HALF_NAME):
            yield Half(self._integer(at)), at + 1
        if self._is(at, _S.HALF) and self._glued(at + 1) and self._digits(at + 1) == 1:
            yield Half(self._integer(at + 1)), at + 2
        for number, end in self._numbered(at, _S.HALF):
            yield Half(number), end

    def _numbered(self, at: int, symbol: Symbol) -> Iterator[tuple[int, int]]:
        """A number or ordinal in front of a word."""
        if self._is(at, _S.ORDINAL) and self._is(at + 1, symbol) and len(self._text(at + 1)) > 1:
            yield self._integer(at), at + 2
        elif self._digits(at) == 1 and self._is(at + 1, _S.ORDINAL_MARK):
            if self._is(at + 2, symbol) and len(self._text(at + 2)) > 1:
                yield self._integer(at), at + 3
        elif self._digits(at) == 1 and self._is(at + 1, symbol):
            if not self._words[at + 1].letters or (len(self._text(at + 1)) == 1 and self._glued(at + 1)):
                yield self._integer(at), at + 2
        else:
            number = self._skip(at, _S.NTH)
            value = self._small(number)
            if value is not None and self._is(number + 1, symbol) and not self._words[number + 1].letters:
                yield value, number + 2

    def _named_months(self, at: int) -> Iterator[tuple[Part, int]]:
        """March, March 31, 31 March, 31st of March, Jan-Mar."""
        if self._is(at, _S.MONTH_NAME):
            month, end = self._integer(at), self._skip(at + 1, _S.DOT)
            yield Month(month), end
            day = self._skip(end, _S.THE)
            if self._digits(day) in (1, 2):
                yield MonthDay(month, self._integer(day)), self._skip(day + 1, _S.ORDINAL_MARK)
            if self._is(end, _S.DASH, _S.TO) and self._is(end + 1, _S.MONTH_NAME):
                yield MonthRange(month, self._integer(end + 1)), self._skip(end + 2, _S.DOT)
        elif self._digits(at) in (1, 2):
            month = self._skip(at + 1, _S.ORDINAL_MARK, _S.OF, _S.DASH)
            if self._is(month, _S.MONTH_NAME):
                yield MonthDay(self._integer(month), self._integer(at)), self._skip(month + 1, _S.DOT)

    def _numbered_months(self, at: int) -> Iterator[tuple[Part, int]]:
        """3月, 3月31日, 7-9月, 1月から3月まで, 3月期, 3月期第2四半期."""
        month = self._small(at)
        if month is None:
            return
        marked = self._is(at + 1, _S.MONTH)
        end = at + 2 if marked else at + 1
        if marked:
            yield Month(month), end
            day = self._small(end)
            if day is not None and self._is(end + 1, _S.DAY):
                yield MonthDay(month, day), end + 2
            if self._is(end, _S.TERM):
                yield from self._terms(month, end + 1)
        if self._is(end, _S.DASH, _S.TO, _S.FROM_AFTER):
            last = self._small(end + 1)
            if last is not None and self._is(end + 2, _S.MONTH):
                yield MonthRange(month, last), self._skip(end + 3, _S.TERM, _S.TO_AFTER)

    def _terms(self, month: int, at: int) -> Iterator[tuple[Term, int]]:
        yield Term(month), at
        inner = self._skip(at, _S.OF)
        for quarter, end in self._quarters(inner):
            yield Term(month, quarter), end
        for half, end in self._halves(inner):
            yield Term(month, half), end

    # Points: a year, a part of one, the end of either.

    def _points(self, at: int) -> Iterator[tuple[Point, int]]:
        for point, end in self._spans(at):
            yield point, end
            if self._is(end, _S.END) and not self._words[end].letters:
                yield Point(point.year, point.part, end=True), end + 1
        yield from self._ends(at)

    def _spans(self, at: int) -> Iterator[tuple[Point, int]]:
        for year, end in self._years(at):
            yield Point(year), end
            part_at = self._skip(end, _S.OF, _S.DASH, _S.SLASH, _S.APOSTROPHE)
            for part, part_end in self._parts(part_at):
                if part_at == end or not self._clashes(year, part):
                    yield Point(year, part), part_end
        fiscal = self._is(at, _S.FISCAL)
        for part, end in self._parts(at + 1 if fiscal else at):
            if not fiscal:
                yield Point(None, part), end
            for year, year_end in self._years_after_part(part, end):
                if not fiscal:
                    yield Point(year, part), year_end
                elif isinstance(year, Year):
                    yield Point(Year(year.label, Scheme.FISCAL), part), year_end

    def _clashes(self, year: Year | Relative, part: Part) -> bool:
        """2024-3月 is read; 2024 - March 5 is two things."""
        return isinstance(year, Year) and year.bare and isinstance(part, MonthDay)

    def _years_after_part(self, part: Part, at: int) -> Iterator[tuple[Year | Relative, int]]:
        """Joined by nothing, a comma, of, in, a dash or a slash; two digits only where they cannot be a day."""
        begin = self._skip(at, _S.COMMA, _S.OF, _S.THE, _S.DASH, _S.SLASH)
        yield from self._years(begin)
        if self._digits(begin) == 2 and begin - at <= 1 and not self._is(begin - 1, _S.COMMA, _S.OF, _S.THE):
            dashed = begin > at
            if isinstance(part, Half | Quarter) or (dashed and isinstance(part, Month | MonthDay)):
                label = self._year_number(begin, two_digits=True)
                if label is not None:
                    yield Year(label), begin + 1

    def _ends(self, at: int) -> Iterator[tuple[Point, int]]:
        """end of March 2024, year-end 2024, 2024 year-end, fiscal year end 2024; 年末 alone has no year."""
        begin = self._skip(at, _S.THE)
        if self._is(begin, _S.END) and self._words[begin].letters:
            for point, end in self._spans(self._skip(begin + 1, _S.OF, _S.THE)):
                yield Point(point.year, point.part, end=True), end
        if self._is(begin, _S.FISCAL) and self._is(begin + 1, _S.END):
            label = self._year_number(self._skip(begin + 2, _S.OF), two_digits=False)
            if label is not None:
                yield Point(Year(label, Scheme.FISCAL), end=True), self._skip(begin + 2, _S.OF) + 1
        if self._is(begin, _S.YEAR_END):
            yield Point(None, end=True), begin + 1
            for year, end in self._years(self._skip(begin + 1, _S.OF, _S.THE)):
                yield Point(year, end=True), end
        if self._is(begin, _S.YEAR, _S.NENDO) and self._is(begin + 1, _S.END):
            yield Point(None, end=True), begin + 2
        for year, end in self._years(at):
            if self._is(end, _S.YEAR_END):
                yield Point(year, end=True), end + 1

    # Days and months in numbers, and spans counted from today.

    def _atoms(self, at: int) -> Iterator[tuple[Expression, int]]:
        yield from self._points(at)
        yield from self._numeric_days(at)
        yield from self._numeric_months(at)
        if self._is(at, _S.RELATIVE) and self._relative(at)[0] not in _YEAR_UNITS:
            yield Relative(*self._relative(at)), at + 1
        for relative, end in self._ago(at):
            if relative.unit is not Unit.YEAR:
                yield relative, end

    def _dated(self, at: int) -> Iterator[tuple[Expression, int]]:
        """An atom with the words that say it is a day of account: as of ..., ... 時点."""
        begin = self._skip(at, _S.AS_OF)
        for expression, end in self._atoms(begin):
            yield expression, end
            if self._is(end, _S.AS_OF_AFTER):
                yield expression, end + 1

    def _numeric_days(self, at: int) -> Iterator[tuple[NumericDay, int]]:
        """2018-09-30, 2018/9/30, 20180930, 13/04/2024, 令和6.3.31."""
        if self._digits(at) == 8:
            text = self._text(at)
            yield NumericDay(((int(text[:4]), int(text[4:6]), int(text[6:])),)), at + 1
        found = self._era(at)
        if found is not None and self._separated(found[2] - 1, _S.DOT):
            era, year, end = found
            reading = (era.first.year + year - 1, self._integer(end + 1), self._integer(end + 3))
            yield NumericDay((reading,), era), end + 4
        if self._is(at, _S.NUMBER) and self._separated(at, _S.DASH, _S.SLASH, _S.DOT):
            readings = self._day_readings(at)
            if readings:
                yield NumericDay(readings), at + 5

    def _separated(self, at: int, *symbols: Symbol) -> bool:
        """Number, sign, number, the same sign, number, without a blank."""
        glued = all(self._glued(at + place) for place in range(1, 5))
        numbers = self._digits(at + 2) and self._digits(at + 4)
        return bool(glued and numbers and self._is(at + 1, *symbols) and self._text(at + 1) == self._text(at + 3))

    def _day_readings(self, at: int) -> tuple[tuple[int, int, int], ...]:
        digits = tuple(self._digits(at + place) for place in (0, 2, 4))
        one, two, three = (self._integer(at + place) for place in (0, 2, 4))
        if max(digits[1], min(digits[0], digits[2])) > 2:
            return ()
        if digits[0] == 4 and digits[2] <= 2:
            return ((one, two, three),)
        if digits[2] == 4 and digits[0] <= 2:
            return ((three, two, one), (three, one, two))
        if digits[0] <= 2 and digits[2] <= 2:
            late = self._year_number(at + 4, two_digits=True)
            early = self._year_number(at, two_digits=True)
            last = ((late, two, one), (late, one, two)) if late is not None else ()
            return (*last, *(((early, two, three),) if early is not None else ()))
        return ()

    def _numeric_months(self, at: int) -> Iterator[tuple[Expression, int]]:
        """2024-03, 2024/3, 03/2024; 2023/24 and 2023-2024 have several readings; 2020-2022 is a range."""
        if not (self._is(at + 1, _S.DASH, _S.SLASH) and self._glued(at + 1) and self._glued(at + 2)):
            return
        if self._is(at + 3, _S.DASH, _S.SLASH) and self._glued(at + 3) and self._digits(at + 4) in (1, 2):
            return
        one, two = self._digits(at), self._digits(at + 2)
        if one in (1, 2) and two == 4:
            yield Point(Year(self._integer(at + 2)), Month(self._integer(at))), at + 3
        elif one == 4 and two in (1, 2):
            year, number = self._integer(at), self._integer(at + 2)
            if number > 12 and number == (year + 1) % 100:
                yield _two_years(year), at + 3
            else:
                yield Point(Year(year), Month(number)), at + 3
                if self._is(at + 3, _S.TERM):  # 2024/3期
                    for term, end in self._terms(number, at + 4):
                        yield Point(Year(year), term), end
        elif one == two == 4:
            yield self._years_apart(at), at + 3

    def _years_apart(self, at: int) -> Expression:
        first, last = self._integer(at), self._integer(at + 2)
        return _two_years(first) if last == first + 1 else Range(Point(Year(first)), Point(Year(last)))

    # Ranges, spans that end on a day, and what is refused.

    def _ranges(self, at: int) -> Iterator[tuple[Expression, int]]:
        """from A to B, A〜B, A/B, AからBまで, between A and B."""
        begin = self._skip(at, _S.FROM)
        for first, end in self._dated(begin):
            between = (_S.AND,) if begin > at else ()
            for sign in (_S.TO, _S.DASH, _S.SLASH, _S.FROM_AFTER, *between):
                if self._is(end, sign):
                    dashed = sign in (_S.DASH, _S.SLASH)
                    for last, last_end in self._dated(self._skip(end + 1, _S.COMMA)):
                        yield Range(first, last, dashed), self._skip(last_end, _S.TO_AFTER)

    def _ended(self, at: int) -> Iterator[tuple[Expression, int]]:
        """three months ended June 30, 2024; fiscal year ended ...; 截至2024年3月31日止年度."""
        begin = self._skip(at, _S.THE, _S.FULL)
        for months, fiscal, end in self._lengths(begin):
            if self._is(end, _S.ENDED):
                for last, last_end in self._atoms(self._skip(end + 1, _S.AS_OF, _S.THE, _S.COMMA)):
                    yield Ended(months, last, fiscal), last_end
        if self._digits(begin) in (1, 2) and self._is(begin + 1, _S.WEEKS) and self._is(begin + 2, _S.ENDED):
            for last, last_end in self._atoms(self._skip(begin + 3, _S.AS_OF, _S.THE, _S.COMMA)):
                yield Ended(0, last, weeks=self._integer(begin)), last_end
        if self._is(at, _S.AS_OF):
            for last, end in self._atoms(at + 1):
                if self._is(end, _S.AS_OF_AFTER) and self._text(end) in ("止", "为止", "為止"):
                    behind = self._skip(end + 1, _S.OF)
                    for months, fiscal, length_end in self._lengths(behind):
                        yield Ended(months, last, fiscal), length_end

    def _lengths(self, at: int) -> Iterator[tuple[int, bool, int]]:
        """Months, whether it is called fiscal, and the place behind."""
        if self._is(at, _S.FISCAL, _S.NENDO):
            yield 12, True, at + 1
        if self._is(at, _S.YEAR_WORD):
            yield 12, False, at + 1
        if self._is(at, _S.QUARTER):
            yield 3, False, at + 1
        if self._is(at, _S.HALF):
            yield 6, False, self._skip(at + 1, _S.DASH, _S.YEAR_WORD)
        if (self._is(at, _S.COUNT) or self._digits(at) in (1, 2)) and self._is(at + 1, _S.MONTHS):
            yield self._integer(at), False, at + 2

    def _refusals(self, at: int) -> Iterator[tuple[Refused, int]]:
        opens, rolls = Refused(PeriodFault.OPEN), Refused(PeriodFault.ROLLING)
        if self._is(at, _S.OPEN_BEFORE, _S.FROM):
            for _, end in self._dated(at + 1):
                yield opens, self._skip(end, _S.OPEN_AFTER)
        for _, end in self._dated(at):
            after = self._skip(end, _S.DASH, _S.TO)
            if self._is(after, _S.OPEN_AFTER):
                yield opens, after + 1
            if self._is(end, _S.FROM_AFTER, _S.TO_AFTER):
                yield opens, end + 1
            if self._is(end, _S.ROLLING):
                yield rolls, end + 1
        if self._digits(at) == 4 and self._is(at + 1, _S.YEAR) and self._is(at + 2, _S.BEFORE):
            yield opens, at + 3
        if self._is(at, _S.NUMBER) and self._is(at + 1, _S.DECADE):
            yield Refused(PeriodFault.UNKNOWN), at + 2
        if self._is(at, _S.ROLLING):
            yield rolls, at + 1
            for _, end in self._dated(self._skip(at + 1, _S.OF, _S.COMMA)):
                yield rolls, end
        if self._is(at, _S.PAST) and (self._is(at + 1, _S.COUNT) or self._digits(at + 1) in (1, 2)):
            counted = self._is(at + 2, _S.MONTHS, _S.YEAR, _S.QUARTER) or self._text(at + 2) in _PLURALS
            if counted:
                yield rolls, at + 3


def _two_years(first: int) -> Refused:
    """2023/24: a fiscal year over two calendar years, or both of them."""
    return Refused(PeriodFault.AMBIGUOUS, (f"FY{first + 1}", f"{first}-01-01/{first + 1}-12-31"))
