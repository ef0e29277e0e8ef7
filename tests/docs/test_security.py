"""docs/security.md: every command is run, from top to bottom, and its tables say what the server does."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.errors import FailedPrecondition
from groundwire_server.rpc.door import check_reach, make_door
from groundwire_server.security import local_principal
from groundwire_server.security.callers import LOOK_SECONDS, parse_certificates
from groundwire_server.settings import load_settings
from tests.rpc.doors import Keys

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(sh|python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TRAP = "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"  # no server outlives the page


def test_the_commands_and_snippets_work(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "costs.md").write_text("Costs for energy fell.\n", encoding="utf-8")
    shell = _TRAP
    for language, code in _BLOCK.findall(TEXT):
        if language == "sh":
            shell += code
        elif language == "python":
            shell += f"\"{sys.executable}\" -W error - <<'PYTHON'\n{code}PYTHON\n"
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input=shell.replace("50551", port),
        cwd=tmp_path,
        env={
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(tmp_path),
            "GROUNDWIRE_EMBEDDING_BACKEND": "none",
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        },
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "revoked former" in done.stdout
    assert "costs.md\nUNAUTHENTICATED bearer\n" in done.stdout
    token = (tmp_path / "agent.token").read_text(encoding="utf-8").strip()
    assert token not in done.stdout + done.stderr
    assert done.stdout.count("costs.md") >= 3  # ingested or retrieved by command, retrieved by the snippet, listed


def test_the_certificate_file_of_the_page_is_one() -> None:
    (shown,) = (code for language, code in _BLOCK.findall(TEXT) if language == "toml")
    rules = parse_certificates(shown.encode())
    assert [(each.kind, each.principal.name) for each in rules.rules] == [("common_name", "loader"), ("any", "staff")]
    assert tomllib.loads(shown)
    assert LOOK_SECONDS == 0.5  # "half a second"


def test_the_table_says_who_comes_in(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    keys.token("a")
    files = {
        "tls.cert": keys.cert,
        "tls.key": keys.key,
        "tls.client_ca": keys.client_ca,
        "access.token_file": keys.tokens.path,
        "access.certificate_file": keys.rules('[[certificate]]\nany = true\nname = "a"\nclearance = "public"\n'),
    }
    table = TEXT.partition("| settings |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    assert len(rows) == 6
    chosen: dict[str, Any] = {}
    for named, connection, who, remote in rows:
        listed = re.findall(r"`([a-z_.]+)`", named)
        if not named.startswith("the same"):
            chosen = {}
        elif "access.certificate_file" in listed:
            chosen["tls.client_ca"] = files["tls.client_ca"]
        elif "access.token_file" in chosen:
            chosen.pop("access.token_file")  # the row before is beside this one
        chosen |= {name: files[name] for name in listed}
        settings = load_settings({**chosen, "server.host": "0.0.0.0"}, environ={})
        door = make_door(settings, local_principal())
        assert (door.credentials is not None) is (connection == "encrypted"), named
        assert door.asks is not who.startswith("everybody"), named
        if remote == "yes":
            check_reach(door, settings.server)
            continue
        with pytest.raises(FailedPrecondition):
            check_reach(door, settings.server)
        for switch in re.findall(r"with `([a-z_.]+)`", remote):
            more = load_settings({**chosen, "server.host": "0.0.0.0", switch: True}, environ={})
            check_reach(make_door(more, local_principal()), more.server)
