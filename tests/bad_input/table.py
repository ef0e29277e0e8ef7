"""The table of docs/bad-input.md, row by row, and what a test saw, told in its words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.commands import Ran
from tests.rpc.serving import Failure

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "bad-input.md"
_CELL = re.compile(r"(?<!\\)\|")
_REASON = re.compile(r"^(?P<message>.*?) \((?P<reason>[A-Z_]+)\)$", re.DOTALL)


@dataclass(frozen=True)
class Told:
    """What comes back: status or exit code with the reason of the whole; fields with theirs; the message."""

    answer: str
    field: str = ""
    message: str = ""


@dataclass(frozen=True)
class Row:
    """A row: what one does wrong, through what, what one gets, what is kept, and the test that has seen it."""

    wrong: str
    through: str
    told: Told
    kept: str
    test: str


def rows() -> list[Row]:
    """All rows of the document."""
    found = []
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(line)[1:-1]]
        if len(cells) == 7 and cells[6].endswith("`"):
            wrong, through, answer, field, message, kept, test = cells
            found.append(Row(wrong, through, Told(bare(answer), bare(field), message), kept, bare(test)))
    return found


def bare(cell: str) -> str:
    """A cell without the marks of code."""
    return cell.replace("`", "")


def of_call(failure: Failure) -> Told:
    """What a call that failed tells."""
    fields = "; ".join(f"{field}: {reason}" for field, reason, _ in failure.violations)
    if not fields:
        known = sorted((name, value) for name, value in failure.metadata.items() if name != "request_id")
        fields = ", ".join(f"{name}={value}" for name, value in known)
    return Told(f"{failure.code.name} {failure.reason}".strip(), fields, failure.message)


def of_cause(cause: Any, reasons: Mapping[int, str]) -> Told:
    """What became of a document."""
    return Told("OK", reasons[cause.reason], cause.message)


def of_rows(rejected: Iterable[Any], reasons: Mapping[int, str]) -> Told:
    """What became of records."""
    found = list(rejected)
    fields = "; ".join(f"{row.column}: {reasons[row.reason]}" for row in found)
    return Told("OK", fields, "; ".join(row.message for row in found))


def of_command(ran: Ran) -> Told:
    """What a command says on standard error, with its exit code."""
    lines = [line.removeprefix("Error: ") for line in ran.err.splitlines()]
    parted = _REASON.match(lines[0]) if len(lines) == 1 else None
    if parted is None:
        return Told(f"exit {ran.code}", "", " ⏎ ".join(lines))
    return Told(f"exit {ran.code}", parted["reason"], parted["message"])


def cell(text: str) -> str:
    """A message as a cell shows it."""
    return " ".join(text.replace("|", "\\|").split())
