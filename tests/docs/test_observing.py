"""docs/observing.md: its commands work, its table has what the page of metrics has, its names are those of the code."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from groundwire.v1 import ingest_pb2, router_pb2
from groundwire_server.rpc import telemetry
from tests.docs.pages import block, run_shell
from tests.rpc.house import fact, furnish, house
from tests.rpc.telemetry.traffic import ask_everything
from tests.rpc.telemetry.watching import page

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "observing.md").read_text(encoding="utf-8")
ROOM = Path(telemetry.__file__).parent


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return str(taken.getsockname()[1])


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    script = block(PAGE, "sh").replace("50051", _free_port()).replace("9464", _free_port())
    shown = run_shell(script, tmp_path)
    assert re.search(
        r'^groundwire_calls_total\{code="OK",method="groundwire\.v1\.NarrativeService/NarrativeRetrieve"',
        shown,
        re.MULTILINE,
    )
    line = json.loads(shown.strip().splitlines()[-1])
    names = {
        name
        for row in re.findall(r"^\| (`[^|]+) \| [^|]+ \|$", _section("The log"), re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert names - {"caller", "reason", "trace_id"} <= line.keys() <= names | {"level", "timestamp"}


def _section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_the_table_has_every_family_with_its_labels(tmp_path: Path) -> None:
    rows = re.findall(r"^\| (`[^|]+) \|([^|]*)\| [^|]+ \|$", _section("Metrics"), re.MULTILINE)
    said = {
        name: {label.strip() for label in labels.split(",") if label.strip()}
        for names, labels in rows
        for name in re.findall(r"`([a-z_*]+)`", names)
    }
    with house(tmp_path / "data", telemetry__metrics_port=0) as here:
        furnish(here)
        ask_everything(here)
        list(here.router.Ask(router_pb2.AskRequest(question="fox")))
        here.store_facts(ingest_pb2.FactRecords(facts=[fact("revenue", "ACME", "2001", "1", unit="USD")]))
        families = list(text_string_to_metric_families(page(here.server.metrics)))
    found = {
        family.name: {label for sample in family.samples for label in sample.labels} - {"le"}
        for family in families
        if not family.name.startswith(("process_", "python_gc_"))
    }
    # Without a language model nothing is counted by direction.
    assert {name: labels for name, labels in said.items() if "*" not in name} == found | {
        "groundwire_model_tokens": {"direction"}
    }


def test_the_attributes_are_those_that_spans_have() -> None:
    said = set(re.findall(r"`((?:groundwire|rpc)\.\w+(?:\.\w+)?)`", _section("Traces"))) - {"groundwire_server.rpc"}
    written = "".join(path.read_text("utf-8") for path in (ROOM / "call_spans.py", ROOM / "trace_export.py"))
    made = set(re.findall(r'"((?:groundwire|rpc)\.\w+(?:\.\w+)?)"', written)) - {
        "groundwire.kind",
        "groundwire.process",
    }
    assert {name for name in said if not name.startswith("groundwire.process")} == made
    assert "groundwire.process" in PAGE


def test_the_settings_and_variables_are_those_of_the_code() -> None:
    from groundwire_server.settings import setting_names

    known = {name for name in setting_names() if name.startswith("telemetry.")}
    assert set(re.findall(r"\b(telemetry\.[a-z_]+)", PAGE)) - {"telemetry.py"} <= known
    code = (ROOM / "trace_export.py").read_text("utf-8")
    for variable in re.findall(r"`(OTEL_[A-Z_]+)", PAGE):
        assert variable in code or variable == "OTEL_", variable


def test_the_figures_of_the_page() -> None:
    lines = map(json.loads, (ROOT / "docs" / "observing.jsonl").read_text(encoding="utf-8").splitlines())
    for line in lines:
        value = f"{line['value']:,.0f}" if abs(line["value"]) >= 100 else f"{line['value']:.1f}"
        assert f"| {line['name']} | {line['unit']} | {value} |" in PAGE, line["name"]
