"""The oracle itself: that it is independent, that it is sharp, that its periods are what people mean."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from tests.oracle.calendar_of import FiscalYears
from tests.oracle.draw import CLEARANCES, draw_world
from tests.oracle.names import exact_key, loose_key, without_note
from tests.oracle.period_texts import draw_meant, unreadable, written
from tests.oracle.periods import Days, Unread, read_period
from tests.oracle.shrink import shrink, source_of
from tests.oracle.spelling import respell
from tests.oracle.world import World

REFERENCE = date(2025, 6, 30)


def read(raw: str, language: str = "en", years: FiscalYears = FiscalYears(4, 1)) -> Days:  # noqa: B008
    return read_period(raw, reference=REFERENCE, language=language, years=years)


def test_nothing_of_the_server_is_imported() -> None:
    for file in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
            assert not [each for each in names if each.startswith("groundwire_server")], file.name


@pytest.mark.parametrize(
    ("raw", "first", "last"),
    [
        ("2024", "2024-01-01", "2024-12-31"),
        ("2024年", "2024-01-01", "2024-12-31"),
        ("FY2024", "2023-04-01", "2024-03-31"),
        ("FY24", "2023-04-01", "2024-03-31"),
        ("2024年度", "2024-04-01", "2025-03-31"),
        ("令和6年度", "2024-04-01", "2025-03-31"),
        ("令和元年", "2019-01-01", "2019-12-31"),
        ("民國112年", "2023-01-01", "2023-12-31"),
        ("2024H1", "2024-01-01", "2024-06-30"),
        ("2024年上半期", "2024-01-01", "2024-06-30"),
        ("Q3 2024", "2024-07-01", "2024-09-30"),
        ("2024年第3四半期", "2024-07-01", "2024-09-30"),
        ("FY2024Q3", "2023-10-01", "2023-12-31"),
        ("2024-03", "2024-03-01", "2024-03-31"),
        ("2018-09-30", "2018-09-30", "2018-09-30"),
        ("30 June 2025", "2025-06-30", "2025-06-30"),
        ("2024年末", "2024-12-31", "2024-12-31"),
        ("20240331", "2024-03-31", "2024-03-31"),
        ("13/04/2024", "2024-04-13", "2024-04-13"),
        ("2020-01-01/2020-12-31", "2020-01-01", "2020-12-31"),
        ("last fiscal year", "2024-04-01", "2025-03-31"),
        ("last quarter", "2025-01-01", "2025-03-31"),
    ],
)
def test_periods_are_the_days_that_people_mean(raw: str, first: str, last: str) -> None:
    assert read(raw) == Days(date.fromisoformat(first), date.fromisoformat(last))


def test_a_word_of_two_languages_is_read_by_the_language() -> None:
    assert read("前年", "ja").first.year == 2024
    assert read("前年", "zh").first.year == 2023
    with pytest.raises(Unread):
        read("前年")


@pytest.mark.parametrize("number", range(200))
def test_every_form_of_a_period_means_the_same_days(number: int) -> None:
    draw = random.Random(number)
    meant = draw_meant(draw)
    assert len({read(written(draw, meant)) for _ in range(20)}) == 1
    with pytest.raises(Unread):
        read(unreadable(draw))


@pytest.mark.parametrize(
    "name", ["Net sales", "Cost of sales", "売上高", "Borrowings, total", "Blue River Foods, Inc."]
)
def test_a_name_is_itself_in_other_letters(name: str) -> None:
    draw = random.Random(name)
    for _ in range(100):
        said = respell(draw, name)
        assert loose_key(without_note(said) or said) == loose_key(name), said


def test_order_is_meaning_where_a_small_word_binds() -> None:
    assert loose_key("net sales") == loose_key("Sales, net") != exact_key("Sales, net")
    assert loose_key("revenue per head") != loose_key("head per revenue")


def test_worlds_are_the_same_for_the_same_number() -> None:
    assert draw_world(7, 5) == draw_world(7, 5) != draw_world(8, 5)
    assert {draw_world(number, 0).clearance for number in range(30)} == set(CLEARANCES)


def test_a_world_is_shrunk_to_what_matters() -> None:
    world = draw_world(3, 20)
    value = world.batches[0].rows[0].value

    def differs(candidate: World) -> bool:
        return any(row.value == value for batch in candidate.batches for row in batch.rows)

    small = shrink(world, differs, most=2_000)
    assert differs(small)
    assert sum(len(each.rows) for each in small.batches) == 1
    assert len(small.calls) == 1
    assert not any(each.terms for each in small.libraries)
    assert value in source_of(small)
    assert replace(small, calls=()) != small
