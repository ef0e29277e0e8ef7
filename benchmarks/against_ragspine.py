"""RAGSpine's default retriever beside ours: CPU time of a query over the same texts, in turn.

    python benchmarks/against_ragspine.py [--sizes 10000,100000] [--questions 3] [--python PYTHON]

RAGSpine runs in a process of its own (`ragspine_peer.py`) under `--python`, which has `rag-spine`; where none is
named, a virtual environment is made in the cache: version 0.13 where a Python 3.12 or later is found, else 0.11 under
this one. Ours is a whole server: its figure is the CPU time of the server's process for a NarrativeRetrieve by words
alone, from the request to the last frame, with citations, highlights and all; theirs is the retriever alone, without a
server. No question that is measured was asked before.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from house import corpus_file, stored
from query import LEXICAL, request
from report import CACHE, ROOT, SHARED, Report, questions, say
from warm_server import started

GOAL_RATIO = {100_000: 1000.0}
WARMING, OURS_A_TURN = 30, 10


def main() -> int:
    """Run and print; 2 when the shared data or RAGSpine is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--questions", type=int, default=3, help="each takes RAGSpine many seconds")
    options.add_argument("--python", type=Path, help="an interpreter that has rag-spine")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored libraries")
    options.add_argument("--models", type=Path, default=ROOT / ".cache" / "models", help="folder of prepared models")
    given = options.parse_args()
    python = given.python or environment(given.cache)
    if python is None or not (given.shared / "tools" / "make_corpus.py").exists():
        say("Needs rag-spine (--python names an interpreter that has it) and the shared folder (--shared).")
        return 2
    report = Report("against_ragspine")
    for size in map(int, given.sizes.split(",")):
        database = given.cache / f"ragspine-{size}.sqlite"
        data = stored(given.cache, given.shared, size, given.models)
        with (
            peer(python, corpus_file(given.cache, given.shared, size), database) as theirs,
            started(data, None) as ours,
        ):
            asked = questions(given.shared, WARMING + given.questions * OURS_A_TURN)
            for text in asked[:WARMING]:
                ours.ask(request(text, LEXICAL, ""))
            cpu: list[float] = []
            peers: list[float] = []
            for turn in range(given.questions):
                first = WARMING + turn * OURS_A_TURN
                peers.append(theirs.ask(asked[first])["cpu_ms"])
                # Ours is too short for one reading of the clock beside the other's seconds: the same question, and
                # others that come for the first time as well.
                spent = ours.cpu_seconds()
                for text in asked[first : first + OURS_A_TURN]:
                    ours.ask(request(text, LEXICAL, ""))
                cpu.append((ours.cpu_seconds() - spent) * 1e3 / OURS_A_TURN)
            value, peer_value = statistics.median(cpu), statistics.median(peers)
            report.add(
                "server CPU of a lexical query, all of it",
                "ms",
                value,
                n=size,
                peer=(f"rag-spine {theirs.version}, Python {theirs.python}", peer_value),
                **({"goal_ratio": GOAL_RATIO[size]} if size in GOAL_RATIO else {}),
            )
    report.table()
    return 0


class Peer:
    """A process that answers questions."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        told = self._read()
        self.version, self.python = told["version"], told["python"]

    def ask(self, text: str) -> dict[str, Any]:
        """One question."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("rag-spine ended")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def peer(python: Path, corpus: Path, database: Path) -> Iterator[Peer]:
    """RAGSpine over a corpus, stored in a database that stays."""
    command = [str(python), str(Path(__file__).with_name("ragspine_peer.py")), str(corpus), str(database)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PATH": ""})
    assert process.stdin is not None
    try:
        yield Peer(process)
    finally:
        process.stdin.close()
        process.wait()


def environment(cache: Path) -> Path | None:
    """An interpreter with rag-spine in a virtual environment of the cache, made where there is none."""
    newer = newer_python()
    home = cache / f"ragspine-{'0.13' if newer else '0.11'}"
    python = home / "bin" / "python"
    if (home / "whole").exists():
        return python
    wanted = "rag-spine==0.13.*" if newer else "rag-spine==0.11.*"
    try:
        subprocess.run([newer or sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", wanted], check=True)
    except subprocess.CalledProcessError:
        return None
    (home / "whole").touch()
    return python


def newer_python() -> str | None:
    """A Python 3.12 or later that runs."""
    here = [sys.executable, *(shutil.which(f"python3.{minor}") for minor in (12, 13, 14))]
    versions = map(str, sorted(Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python")))
    return next((name for name in [*here, *versions] if name and _is_newer(name)), None)


def _is_newer(name: str) -> bool:
    command = [name, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
