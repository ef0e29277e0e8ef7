"""Each reason has an example that really comes back, as docs/errors.md shows it.

ERROR_EXAMPLES=write writes the table of that page anew.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire import Client, GroundwireError
from groundwire.v1 import narrative_pb2
from groundwire_server.errors import ErrorReason
from tests.rpc.error_examples import EXAMPLES, Scene, Seen
from tests.rpc.house import House
from tests.rpc.serving import failure_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "errors.md"
CONTRACT = (ROOT / "proto" / "groundwire" / "v1" / "errors.proto").read_text(encoding="utf-8")
HEAD = "| reason | comes as | through | by | message | facts |\n|---|---|---|---|---|---|\n"


def row(reason: ErrorReason, seen: Seen) -> str:
    example = EXAMPLES[reason.name]
    where = f"`{seen.where}`" if seen.where.isupper() else f"`{seen.where.split(',')[0]}`,{seen.where.split(',')[1]}"
    where += ", with RetryInfo" if seen.retry else ""
    facts = f"`{seen.facts}`" if seen.facts else ""
    cells = [f"`{reason.name}`", where, example.through, example.by, " ".join(seen.message.split()), facts]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def rows() -> dict[str, str]:
    """The lines of the page, by reason."""
    lines = re.findall(r"^\| `([A-Z_]+)` \|.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    found = re.findall(r"^\| `[A-Z_]+` \|.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return dict(zip(lines, found, strict=True))


def put(reason: ErrorReason, line: str) -> None:
    """A line into the page, in the order of the reasons."""
    page = PAGE.read_text(encoding="utf-8")
    lines = {**rows(), reason.name: line}
    table = HEAD + "".join(f"{lines[each.name]}\n" for each in ErrorReason if each.name in lines)
    before, _, behind = page.partition(HEAD)
    PAGE.write_text(before + table + re.sub(r"\A(?:\|.*\n)*", "", behind), encoding="utf-8")


def test_every_reason_has_one() -> None:
    names = [reason.name for reason in ErrorReason]
    assert sorted(EXAMPLES) == sorted(names)
    assert list(rows()) == names


@pytest.mark.parametrize("reason", ErrorReason, ids=lambda reason: reason.name)
def test_an_example_comes_back_as_the_page_says(
    reason: ErrorReason, furnished: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = EXAMPLES[reason.name].make(Scene(furnished, tmp_path, monkeypatch))
    assert seen.reason == reason.name
    line = row(reason, seen)
    if os.environ.get("ERROR_EXAMPLES") == "write":
        put(reason, line)
    assert rows()[reason.name] == line


@pytest.mark.parametrize(
    ("query", "metadata"), [("x" * (17 << 20), ()), ("x", (("x-note", "y" * 20_000),))], ids=["message", "metadata"]
)
def test_what_grpc_itself_refuses_has_a_bare_status(furnished: House, query: str, metadata: Any) -> None:
    request = narrative_pb2.NarrativeRetrieveRequest(query=query)
    failure = failure_of(lambda: furnished.narrative.NarrativeRetrieve(request, metadata=metadata))
    assert (failure.code, failure.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "")


def test_the_client_has_no_reason_for_a_bare_status(furnished: House) -> None:
    with Client(furnished.server.address) as client, pytest.raises(GroundwireError) as caught:
        client.retrieve("x" * (17 << 20)).collect()
    assert (caught.value.status, caught.value.reason.name) == ("RESOURCE_EXHAUSTED", "UNSPECIFIED")


WHOLE = [reason for reason in ErrorReason if reason.value < 50]


@pytest.mark.parametrize("reason", WHOLE, ids=lambda reason: reason.name)
def test_facts_are_none_but_those_that_the_contract_names(reason: ErrorReason) -> None:
    """Names of the example that stands with the reason in errors.proto, and names of the page."""
    comment = CONTRACT.partition(f"  ERROR_REASON_{reason.name} = {reason.value};")[0].rsplit(";", 1)[-1]
    shown = re.search(r"Example: metadata (\{.*?\})", comment.replace("\n  // ", " "))
    cell = rows()[reason.name].rsplit(" | ", 1)[-1].strip("`| ")
    told = set(re.findall(r"(?:^|, )(\w+)=", cell))
    if shown is None:
        assert "violations" in comment
        assert told == set()
    else:
        assert told <= set(json.loads(shown[1])) - {"request_id"}
