"""Real commands: in this process where only what they do matters, in one of their own where the process matters."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from groundwire_server.cli.app import app
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings

# A test run in the background has Ctrl-C ignored, and so would its children.
COMMAND = ("env", "--default-signal=INT", sys.executable, "-W", "error", "-m", "groundwire_server.cli")


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def frames(self) -> list[dict[str, Any]]:
        """What --json printed."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def complaint(self) -> str:
        """The one line that an error is."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self
        assert lines[0].startswith("Error: "), self
        return lines[0].removeprefix("Error: ")


def run(*words: str | Path) -> Ran:
    """Run a command in this process, against the server that it finds or starts."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if not isinstance(result.exception, SystemExit | None):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def spawn(*words: str | Path, **environment: str) -> subprocess.Popen[str]:
    """Start a command as a process of its own, with pipes for its output."""
    return subprocess.Popen(
        [*COMMAND, *(str(word) for word in words)],
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> Ran:
    """Wait for its end; it must not take for ever, and must never show a traceback."""
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "Traceback" not in err, err
    assert "Exception ignored" not in err, err
    return Ran(process.returncode, out, err)


def run_alone(*words: str | Path, **environment: str) -> Ran:
    """Run a command as a process of its own."""
    return finish(spawn(*words, **environment))


@contextmanager
def server(data: Path | str = "groundwire-data", **settings: object) -> Iterator[str]:
    """A server in this process on a data folder; gives its address."""
    named = {name.replace("__", "."): value for name, value in settings.items()}
    chosen = {"data": data, "server.port": 0, "log.level": "error", "embedding.backend": "none", **named}
    with running_server(load_settings(chosen, environ={})) as address:
        yield address


def write(folder: Path | str, texts: dict[str, str | bytes]) -> Path:
    """Files of a folder, by path below it."""
    root = Path(folder)
    for name, content in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return root


def write_lines(path: Path | str, rows: Sequence[dict[str, Any]]) -> Path:
    """A file of JSON lines."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")
    return Path(path)


FIGURES = """\
metric,entity,period,value,unit,source_doc,locator
REVENUE,ACME,FY2024,1234.50,USD_M,reports/2024.md,line=3
REVENUE,ACME,FY2023,1100,USD_M,reports/2023.md,line=3
"""

GLOSSARY = """\
[[metric]]
code = "REVENUE"
label = "Revenue"
unit = "USD_M"
additivity = "sum"
nature = "flow"
synonyms = { en = ["revenue", "sales"], ja = ["売上高"] }

[[entity]]
code = "ACME"
label = "Acme Corporation"
synonyms = { en = ["Acme"], ja = ["アクメ"] }
"""

REPORT = """\
# Annual report 2024

Revenue rose because the new plant in Osaka opened in April.

Costs for energy fell after the contract with the city was renewed.
"""


def furnish(data: Path | str = "groundwire-data") -> None:
    """A document, a glossary and two figures in a data folder."""
    folder = write("mine", {"reports/2024.md": REPORT})
    write(".", {"figures.csv": FIGURES, "glossary.toml": GLOSSARY})
    for words in (("ingest", folder), ("glossary", "load", "glossary.toml"), ("facts", "load", "figures.csv")):
        ran = run("--data", data, *words)
        assert ran.code == 0, ran


def run_on_terminal(*words: str | Path, columns: int = 100, keys: str = "", **environment: str) -> Ran:
    """Run a command as a process of its own on a terminal, and type some keys; `out` has all that it showed."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, *(str(word) for word in words)],
        env={name: value for name, value in os.environ.items() if name not in ("TERM", "COLUMNS")}
        | {"TERM": "xterm"}
        | environment,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    os.write(ours, keys.encode())
    shown = b""
    with suppress(OSError):  # EIO: the last of those who had the terminal is gone
        while some := os.read(ours, 65536):
            shown += some
    os.close(ours)
    text = shown.decode("utf-8").replace("\r\n", "\n")
    assert "Traceback" not in text, text
    return Ran(process.wait(timeout=60), text, "")
