"""Make the methods of the async client from those of the sync one, or say which of the committed files are stale.

Logic stands in neither (it is in groundwire/_operation); this keeps names, parameters and descriptions from drifting
apart. What differs in more than a word (connection, streams) is written by hand, on both sides.

Usage: async_client.py write | check
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "clients" / "python" / "groundwire"
MODULES = ("reading", "ingesting", "running")
NOTE = "# Made from {source} by `make client`; changes belong there.\n"

WORDS = {
    r"groundwire\._sync": "groundwire._async",
    r"\b(Connection|IngestStream|Items|Iterator|Stream|\w+Client)\b": r"Async\1",
    # Whoever is asynchronous may have its documents come that way too.
    r"\b(documents|items): (Iterable)(\[[^=\n]*\])(?=,\n)": r"\1: \2\3 | AsyncIterable\3",
    r"import Iterable$": "import AsyncIterable, Iterable",
}
# A method that gives one answer, and not a stream or an iterator, is awaited.
AWAITED = re.compile(r"return (self\._(?:value|whole|all)\()")
METHOD = re.compile(r"(?=^    def )", re.MULTILINE)


def convert(source: str, name: str) -> str:
    """The async module of a sync one."""
    for pattern, replacement in WORDS.items():
        source = re.sub(pattern, replacement, source, flags=re.MULTILINE)
    blocks = [_awaited(block) for block in METHOD.split(source)]
    return _formatted(NOTE.format(source=f"_sync/{name}.py") + "".join(blocks), name)


def _awaited(block: str) -> str:
    if AWAITED.search(block) is None:
        return block
    return AWAITED.sub(r"return await \1", block).replace("    def ", "    async def ", 1)


def _formatted(source: str, name: str) -> str:
    for arguments in (["check", "--quiet", "--select", "I", "--fix"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(_target(name)), "-"]
        source = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return source


def _target(name: str) -> Path:
    return PACKAGE / "_async" / f"{name}.py"


def _fresh() -> dict[Path, str]:
    return {_target(name): convert((PACKAGE / "_sync" / f"{name}.py").read_text("utf-8"), name) for name in MODULES}


def write() -> None:
    """Put the async modules in their place."""
    for path, text in _fresh().items():
        path.write_text(text, "utf-8")
    print(f"{len(MODULES)} modules in clients/python/groundwire/_async")


def check() -> None:
    """Exit 1 when a committed module differs from what its sync one gives."""
    stale = [path.name for path, text in _fresh().items() if not path.exists() or path.read_text("utf-8") != text]
    if stale:
        raise SystemExit(f"stale, run `make client`: {', '.join(stale)}")
    print(f"{len(MODULES)} modules of the async client are current")


if __name__ == "__main__":
    commands = {"write": write, "check": check}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        raise SystemExit(__doc__)
    commands[sys.argv[1]]()
