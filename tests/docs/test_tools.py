"""The commands of docs/tools.md, against a real server; and its table, against the tools that there are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from groundwire import Client, DocumentUpload
from groundwire_server.rpc import running_server
from groundwire_server.rpc.tools import TOOLS
from groundwire_server.settings import load_settings

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")


def test_the_commands_work(tmp_path: Path) -> None:
    settings = load_settings(
        {"data": tmp_path / "data", "embedding.backend": "none", "server.port": 0, "log.level": "error"}, environ={}
    )
    with running_server(settings) as address:
        with (
            Client(address) as client,
            client.ingest_documents([DocumentUpload("a.md", b"The revenue of 2024.")]) as acks,
        ):
            list(acks)
        shell = "".join(re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
        done = subprocess.run(
            ["bash", "-euo", "pipefail"],
            input=shell.replace("127.0.0.1:50051", address),
            cwd=tmp_path,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "GROUNDWIRE_ADDRESS": address},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "groundwire.v1.NarrativeService/NarrativeRetrieve" in done.stdout
    assert "The revenue of 2024." in done.stdout
    tools = json.loads((tmp_path / "tools.json").read_text("utf-8"))
    assert {"query_metric", "ask"} <= {each["name"] for each in tools}
    assert all("input_schema" in each for each in tools)


def test_the_table_names_every_tool() -> None:
    rows = re.findall(r"^\| (`.*?) \|", TEXT, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall("`(.*?)`", row)) == [each.name for each in TOOLS]
