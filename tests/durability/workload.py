"""What goes in while the server is killed.

BASE makes a library. CHANGE changes it in every way that a client can: names, new documents, later revisions, a text in
two parts, several documents in one file, one that is refused and one that says nothing new, a withdrawal, figures and
relations as records and as files, the larger one in two parts, with rows that are refused.
"""

from __future__ import annotations

import unicodedata
from datetime import date
from itertools import chain

from groundwire import Attribute, FactRecord, MetricDetail, RelationRecord, Synonym, Term, TermKind
from tests.durability.state import FigureKey, State
from tests.durability.steps import (
    DocumentStep,
    FactStep,
    GlossaryStep,
    SentDocument,
    Step,
    WithdrawStep,
    json_lines,
    records,
    rows,
    states_of,
    text_file,
)
from tests.durability.texts import MARKER, make_text

__all__ = ["BASE", "CHANGE", "FIGURES_ASKED", "NODES_ASKED"]

_HOSTILE = f"{unicodedata.normalize('NFD', 'é à が')} 👩\u200d👩\u200d👧 {MARKER}\r\n\r\ntwo\u2028lines\t{MARKER}\r\n"


def _figure(metric: str, year: int, value: str, *, filed: int, author: str = "") -> FactRecord:
    place, moment = f"row={year}", date(filed, 4, 1)
    return FactRecord(
        metric, "ACME_JP", str(year), value, "report.pdf", place, unit="JPY", filed_at=moment, author=author
    )


def _owner(child: str) -> RelationRecord:
    return RelationRecord("ACME_JP", "parent_of", child, "report.pdf", f"child={child}", object_kind="entity")


def _owner_row(child: str) -> dict[str, str]:
    return {"subject": "ACME", "relation": "parent_of", "object": child, "object_type": "entity"}


def _long_row(year: int, value: str) -> dict[str, str]:
    key = {"metric": "SALES", "entity": "ACME_CN", "period": str(year)}
    return {**key, "value": value, "unit": "CNY", "filed": "2021-04-01", "reason": make_text("zh", year, 1500, "")}


BASE: tuple[Step, ...] = (
    DocumentStep(
        "00000000-0000-4000-8000-000000000001",
        (
            text_file("harbour.md", "# Harbour\n\n" + make_text("en", 1, 1500)),
            text_file("港务.txt", make_text("zh", 2, 900)),
            text_file("港湾.txt", make_text("ja", 3, 900, "\r\n")),
            text_file("same.txt", make_text("ja", 4, 300)),
            json_lines("lines.jsonl", {f"lines/{n}": make_text("zh", 10 + n, 200) for n in range(3)}, alone=True),
            text_file("obsolete.txt", make_text("en", 5, 400)),
            text_file("kept.txt", make_text("en", 6, 600)),
        ),
    ),
    FactStep(
        "00000000-0000-4000-8000-000000000002",
        (
            records(*(_figure("SALES", 2015 + n, f"{1000 + n}.25", filed=2021) for n in range(6))),
            rows("owners.jsonl", [_owner_row(child) for child in ("ACME_JP", "ACME_CN", "ACME_US")], alone=True),
        ),
    ),
)

CHANGE: tuple[Step, ...] = (
    GlossaryStep(
        (
            Term(TermKind.METRIC, "SALES", "Sales", (Synonym("売上高", "ja"), Synonym("turnover")), MetricDetail()),
            Term(TermKind.METRIC, "PROFIT", "Profit", (Synonym("利润", "zh"),), MetricDetail()),
        )
    ),
    DocumentStep(
        "00000000-0000-4000-8000-000000000003",
        (
            text_file("harbour.md", "# Harbour\n\n" + make_text("en", 21, 2600)),
            text_file("new.txt", make_text("en", 22, 900)),
            text_file("港务.txt", make_text("zh", 23, 400), alone=True, attributes=(Attribute("berths", 12),)),
            text_file("same.txt", make_text("ja", 4, 300)),  # what it says is there: nothing changes
            SentDocument("kept.txt", b"This text arrives damaged.", refused=True),
            text_file("hostile.txt", _HOSTILE * 12, bom=True),
            text_file("長編.txt", make_text("ja", 24, 122_000, "\n"), alone=True),
            json_lines("lines.jsonl", {f"lines/{n}": make_text("ja", 30 + n, 250) for n in (0, 2, 4)}, alone=True),
            text_file("新.md", "# 新\n\n" + make_text("zh", 25, 700)),
            text_file("港湾.txt", make_text("ja", 26, 1300)),
            # Each of these is committed by itself, and so many small segments become one.
            *(text_file(f"small/{n}.txt", make_text("en", 40 + n, 90), alone=True) for n in range(6)),
            text_file("new.txt", make_text("en", 27, 500), alone=True),
        ),
    ),
    WithdrawStep("obsolete.txt"),
    FactStep(
        "00000000-0000-4000-8000-000000000004",
        (
            records(
                *(_figure("SALES", 2015 + n, f"{2000 + n}.75", filed=2022) for n in range(3)),
                _figure("SALES", 2019, "1004.25", filed=2021, author="auditor"),  # the same value, and somebody vouches
                *(_figure("PROFIT", 2015 + n, str(-312 - n), filed=2022) for n in range(4)),
                refused=_figure("SALES", 2030, "12,5,00 or so", filed=2022),
            ),
            rows("more.jsonl", [_owner_row(child) for child in ("ACME_DE", "ACME_FR")]),
            records(_owner("ACME_OSAKA"), _owner("ACME_KYOTO"), alone=True),
            rows(
                "long.jsonl",
                [_long_row(1930 + n, f"{n}.50" if n != 40 else "n/a") for n in range(80)],
                [40],
                alone=True,
            ),
            records(_figure("SALES", 2021, "77", filed=2022), _owner("ACME_NARA"), alone=True),
        ),
        refused=2,
    ),
)


def _final() -> State:
    state = State()
    for step in (*BASE, *CHANGE):
        state = states_of(state, step)[-1]
    return state


_FINAL = _final()
FIGURES_ASKED: tuple[FigureKey, ...] = (
    *sorted(_FINAL.figures),
    ("SALES", "ACME_JP", "2030"),  # refused
    ("SALES", "ACME_CN", "1970"),  # refused
    ("売上高", "ACME_JP", "2015"),  # by a name of the glossary
    ("利润", "ACME_JP", "2015"),
)
NODES_ASKED: tuple[str, ...] = tuple(sorted(set(chain.from_iterable((a, b) for a, _, b in _FINAL.relations))))
