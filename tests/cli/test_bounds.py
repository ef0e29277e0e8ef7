"""Filters, and answers as of a day, on the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.commands import run, write


def fill() -> None:
    for name, year, topic in (("a", 2019, "news"), ("b", 2021, "notes"), ("c", 2023, "draft")):
        meta = f'year = {year}\ntopic = "{topic}"\nseen = 2024-0{year - 2018}-01\nfinal = true\n'
        write("mine", {f"{name}.md": f"apples {name}", f"{name}.md.meta.toml": meta})
    assert run("ingest", "mine").code == 0


def found(*words: str) -> list[str]:
    ran = run("retrieve", "apples", "--mode", "lexical", "--json", *words)
    assert ran.code == 0, ran
    return sorted(each["lineage"]["doc_id"] for frame in ran.frames for each in frame.get("snippets", ()))


@pytest.mark.parametrize(
    ("tests", "kept"),
    [
        (["year>=2021"], ["b.md", "c.md"]),
        (["year > 2021"], ["c.md"]),
        (["year<=2021", "topic!=notes"], ["a.md"]),
        (["topic=news|draft"], ["a.md", "c.md"]),
        (["topic!=news|draft"], ["b.md"]),
        (["doc_id=b.md"], ["b.md"]),
        (["seen<2024-03-01"], ["a.md"]),
        (["final=TRUE"], ["a.md", "b.md", "c.md"]),
        (["year=1900"], []),
    ],
)
def test_only_where_an_attribute_is_so(tests: list[str], kept: list[str]) -> None:
    fill()
    assert found(*(word for test in tests for word in ("--filter", test))) == kept


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--filter", "year"), 2, "'year' is no test such as"),
        (("--filter", ">=2"), 2, "is no test such as"),
        (("--filter", "year=many"), 2, "'many' is no decimal"),
        (("--filter", "final=maybe"), 2, "'maybe' is no bool"),
        (("--filter", "seen>soon"), 2, "'soon' is no date"),
        (("--filter", "colour=red"), 1, "colour"),
        (("--known-at", "yesterday"), 2, "'yesterday' is no day or time"),
        (("--valid-at", "2024-02-30"), 2, "'2024-02-30' is no day or time"),
    ],
)
def test_a_bound_that_does_not_hold(words: tuple[str, ...], code: int, why: str) -> None:
    fill()
    ran = run("retrieve", "apples", "--mode", "lexical", *words)
    assert ran.code == code
    assert why in ran.complaint


def test_an_answer_as_of_a_day() -> None:
    fill()
    today = datetime.now(UTC)
    assert found("--known-at", f"{today:%Y-%m-%d}") == ["a.md", "b.md", "c.md"]
    assert found("--known-at", f"{today - timedelta(days=2):%Y-%m-%d}") == []
    assert found("--known-at", f"{today - timedelta(days=2):%Y-%m-%dT%H:%M}") == []
    assert "answer" in run("ask", "apples a", "--filter", "year=2019").out
