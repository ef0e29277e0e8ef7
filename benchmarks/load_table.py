"""docs/load.jsonl as the table of docs/load.md.

    python benchmarks/load_table.py [check]

`check` writes nothing and ends with 1 when the table is not that of the lines.
"""

from __future__ import annotations

import json
import sys

from report import ROOT, digits, say

PAGE = ROOT / "docs" / "load.md"
LINES = ROOT / "docs" / "load.jsonl"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"


def table(lines: list[dict[str, object]]) -> str:
    """A row a line."""
    rows = ["| what | | value | goal | n | load |", "|---|---|---|---|---|---|"]
    for line in lines:
        value, goal = digits(line["value"]), digits(line.get("goal"))  # type: ignore[arg-type]
        if "peer" in line:
            value += f" ({line['peer']}: {digits(line['peer_value'])})"  # type: ignore[arg-type]
        rows.append(f"| {line['name']} | {line['unit']} | {value} | {goal} | {line['n']:,} | {line['load']} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    """Write or compare."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    behind = rest.split(END)[1]
    lines = [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]
    made = before + BEGIN + table(lines) + END + behind
    if sys.argv[1:] == ["check"]:
        if made != page:
            say("docs/load.md is not what docs/load.jsonl says: run `python benchmarks/load_table.py`")
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
