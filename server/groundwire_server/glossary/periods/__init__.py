"""Periods: their canonical forms, their days, and how people write them in English, Chinese and Japanese."""

from groundwire_server.glossary.periods.days import (
    FiscalCalendar,
    add_months,
    calendar_half,
    calendar_month,
    calendar_quarter,
    calendar_year,
    instant,
    interval,
    same_days,
)
from groundwire_server.glossary.periods.faults import PeriodError, PeriodFault
from groundwire_server.glossary.periods.reading import (
    PeriodMention,
    find_period_mentions,
    find_periods,
    parse_period,
)

__all__ = [
    "FiscalCalendar",
    "PeriodError",
    "PeriodFault",
    "PeriodMention",
    "add_months",
    "calendar_half",
    "calendar_month",
    "calendar_quarter",
    "calendar_year",
    "find_period_mentions",
    "find_periods",
    "instant",
    "interval",
    "parse_period",
    "same_days",
]
