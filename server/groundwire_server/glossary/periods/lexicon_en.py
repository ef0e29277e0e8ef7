"""English words of periods, in lower case. A blank between words stands for blanks or a hyphen."""

from __future__ import annotations

from groundwire_server.glossary.periods.symbols import Lexicon, Symbol, Unit

__all__ = ["ENGLISH"]

_MONTHS = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_RELATIVE = {"last": -1, "previous": -1, "prior": -1, "preceding": -1, "this": 0, "current": 0, "next": 1}
_UNITS = {
    "day": Unit.DAY,
    "month": Unit.MONTH,
    "quarter": Unit.QUARTER,
    "year": Unit.YEAR,
    "calendar year": Unit.YEAR,
    "fiscal year": Unit.FISCAL_YEAR,
    "financial year": Unit.FISCAL_YEAR,
    "fy": Unit.FISCAL_YEAR,
}


def _build() -> Lexicon:
    words: Lexicon = {name: (Symbol.MONTH_NAME, at) for at, names in enumerate(_MONTHS, 1) for name in names.split()}
    words.update({word: (Symbol.COUNT, at) for at, word in enumerate(_COUNTS, 1)})
    words.update({word: (Symbol.ORDINAL, at) for at, word in enumerate(("first", "second", "third", "fourth"), 1)})
    for kind, phrases in {
        Symbol.ORDINAL_MARK: "st|nd|rd|th",
        Symbol.YEAR_WORD: "year|years",
        Symbol.FISCAL: "fy|fiscal year|fiscal|financial year",
        Symbol.CALENDAR: "cy|calendar year|calendar",
        Symbol.FULL: "full year|whole year|entire year",
        Symbol.QUARTER: "q|qtr|quarter",
        Symbol.HALF: "h|half",
        Symbol.END: "end|close",
        Symbol.YEAR_END: "year end|yearend",
        Symbol.OF: "of|in",
        Symbol.THE: "the",
        Symbol.AS_OF: "as of|as at|as on|at|on",
        Symbol.FROM: "from|between",
        Symbol.TO: "to|through|thru",
        Symbol.AND: "and",
        Symbol.ENDED: "ended|ending",
        Symbol.MONTHS: "months|month|mos",
        Symbol.PAST: "last|past|trailing|previous|prior|recent|preceding",
        Symbol.OPEN_BEFORE: "since|after|before|until|till|up to|prior to|later than|earlier than|ever since|as from",
        Symbol.OPEN_AFTER: "onward|onwards|to date|to present|to now|to today|present|and later|and after|or later|"
        "and earlier|or earlier",
        Symbol.ROLLING: "ytd|year to date|qtd|quarter to date|mtd|month to date|ltm|ttm|past year|rolling year|"
        "last twelve months|past twelve months|trailing twelve months|previous twelve months|cumulative",
    }.items():
        words.update(dict.fromkeys(phrases.split("|"), (kind, None)))
    for name, offset in _RELATIVE.items():
        for unit, length in _UNITS.items():
            words[f"{name} {unit}"] = (Symbol.RELATIVE, (length, offset))
    words["year before last"] = (Symbol.RELATIVE, (Unit.YEAR, -2))
    words["fiscal year before last"] = (Symbol.RELATIVE, (Unit.FISCAL_YEAR, -2))
    words["today"] = (Symbol.RELATIVE, (Unit.DAY, 0))
    words["yesterday"] = (Symbol.RELATIVE, (Unit.DAY, -1))
    for name in ("year", "quarter", "month", "day"):
        words[f"{name} ago"] = words[f"{name}s ago"] = (Symbol.AGO, _UNITS[name])
    words["weeks"] = (Symbol.WEEKS, None)
    return words


ENGLISH = _build()
