"""Small worlds in which server and oracle once differed: they agree in each now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.oracle.run import Houses, houses
from tests.oracle.world import Batch, Calculation, Call, LibraryPlan, Query, Row, Term, World

_REVENUE = Term("metric", "REVENUE", "Revenue", unit="USD", nature="flow")
_COGS = Term("metric", "COGS", "Cost of sales", unit="USD", nature="flow")
_SHARE = Term("metric", "COST_SHARE", "Cost share", unit="RATIO", derivation="COGS / REVENUE")
_ACME = Term("entity", "ACME", "Acme Corporation")


def _row(value: str, **more: object) -> Row:
    return Row(**{"metric": "REVENUE", "entity": "ACME", "period": "2024", "value": value, "unit": "USD", **more})  # type: ignore[arg-type]


def _world(*batches: tuple[Row, ...], calls: tuple[Call, ...], terms: tuple[Term, ...] = (), **plan: object) -> World:
    library = LibraryPlan(terms or (_REVENUE, _COGS, _SHARE, _ACME), **plan)  # type: ignore[arg-type]
    return World("INTERNAL", (library,), tuple(Batch(0, rows) for rows in batches), calls)


def _ask(*queries: Query, **more: object) -> Call:
    return Call((0,), queries, **more)  # type: ignore[arg-type]


_THIS = Query("Revenue", "acme", "2024")
_ALL = tuple(_ask(_THIS, versions=policy) for policy in ("LATEST", "AS_REPORTED", "ALL"))
_SHARED = (("the shared one", "en"),)

WORLDS = {
    "a formula of the glossary answers where nothing is stored": _world(
        (_row("482913.50"), _row("100000", metric="COGS")),
        calls=(_ask(Query("cost share", "ACME", "2024")), _ask(Query("cost share", "ACME", "2023"))),
    ),
    "sources that agree give an operand, the most precise one": _world(
        (_row("482913.5", decimals=1), _row("482913.54", decimals=2, source="10-K"), _row("7", period="2023")),
        calls=(_ask(_THIS, Query("Revenue", "ACME", "2023"), calculations=(Calculation("DIFFERENCE", 0, 1),)),),
    ),
    "figures in unlike units are no conflict, and nothing to compute with": _world(
        (_row("5", metric="HEADS", unit="PEOPLE"), _row("7", metric="HEADS", unit="ROBOTS")),
        calls=(_ask(Query("heads", "ACME", "2024"), calculations=(Calculation("RATIO", 0, 0),)),),
    ),
    "a value that comes back is a version of its own": _world(
        (_row("100"),), (_row("110"),), (_row("100", status="APPROVED"),), calls=_ALL
    ),
    "one value at two places of one source is one version": _world(
        (_row("100"), _row("100.0", locator="page=9")), (_row("100"),), calls=_ALL
    ),
    "two places of one source that differ, told again": _world(
        (_row("100"), _row("110", locator="page=9")), (_row("100"), _row("110", locator="page=9")), calls=_ALL
    ),
    "a figure is taken back under the name that it was stored by": _world(
        (_row("100", entity="Acme Corporation"),),
        (_row("", entity="Acme Corporation", withdraw=True),),
        calls=(_ask(_THIS), _ask(_THIS, known_at=0)),
        glossary_from=1,
    ),
    "a stated fiscal year is no other year": _world(
        (_row("100", period="2023-04-01/2024-03-30"), _row("110", period="2022-10-02/2023-09-30")),
        calls=(_ask(Query("Revenue", "ACME", "FY2024"), Query("Revenue", "ACME", "FY2023")),),
        terms=(_REVENUE, Term("entity", "ACME", fiscal_start="10-01")),
    ),
    "two years of its own that one name could mean": _world(
        (_row("100", period="2023-04-01/2024-03-31"), _row("110", period="2023-07-01/2024-06-30")),
        calls=(_ask(Query("Revenue", "ACME", "FY2024")),),
    ),
    "a fiscal year that was read before its entity told when it begins": _world(
        (_row("100", period="FY2024"),),
        calls=(_ask(Query("Revenue", "ACME", "FY2024"), _THIS),),
        terms=(_REVENUE, Term("entity", "ACME", fiscal_start="04-01")),
        glossary_from=1,
    ),
    "a metric of several meanings comes before an unknown axis": _world(
        calls=(_ask(Query("the shared one", "ACME", "2024", dims=(("tier", "CLOUD"),))),),
        terms=(Term("metric", "A", synonyms=_SHARED), Term("metric", "B", synonyms=_SHARED), _ACME),
        reports_ambiguity=True,
    ),
    "members of an axis are known whatever metric has them": _world(
        (_row("100", metric="SHOPS", dims=(("floor", "地下"),)),),
        calls=(_ask(Query("Revenue", "ACME", "2024", dims=(("floor", "地 下"),))),),
    ),
    "a figure that becomes secret, read as of before": _world(
        (_row("100", filed=datetime(2025, 1, 5, tzinfo=UTC)),),
        (_row("100", filed=datetime(2025, 1, 5, tzinfo=UTC), label="RESTRICTED"),),
        calls=(_ask(_THIS), _ask(_THIS, known_at=0), _ask(_THIS, known_at=1)),
    ),
}
WORLDS["a figure that one outcome has in doubt and another computes with"] = World(
    "INTERNAL",
    (LibraryPlan((_REVENUE, _ACME)), LibraryPlan((_REVENUE, _COGS, _SHARE, _ACME))),
    (Batch(0, (_row("684849"),)), Batch(1, (_row("64606"), _row("100000", metric="COGS")))),
    (
        Call((0, 1), (_THIS, Query("cost share", "ACME", "2024"))),
        Call((0, 1), (Query("COST_SHARE", "ACME", "2024"), _THIS)),
    ),
)
WORLDS["a name means several things in two libraries, not the same ones"] = World(
    "INTERNAL",
    tuple(
        LibraryPlan((*(Term("metric", code, synonyms=_SHARED) for code in codes), _ACME), reports_ambiguity=True)
        for codes in (("A", "B"), ("B", "C"))
    ),
    (),
    (Call((0, 1), (Query("the shared one", "ACME", "2024"),)),),
)


@pytest.fixture(scope="module")
def servers() -> Iterator[Houses]:
    with houses() as opened:
        yield opened


@pytest.mark.parametrize("name", WORLDS)
def test_server_and_oracle_agree(servers: Houses, name: str) -> None:
    assert not servers.try_world(WORLDS[name]).differences
