"""Quality through the wire: `groundwire eval` on every set, beside the BM25 figures of the design (numbers.md).

    python benchmarks/quality.py [--shared ../shared] [--sets jaquad,drcd] [--mode lexical] [--out docs/quality.jsonl]

Prints one JSON line a result (name, unit, value, peer, ratio, n, commit, machine) and a table. Peer of a retrieval is
the BM25 figure that the design measured with the same tokens; of a structured set, all questions right.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BM25 = {
    "scifact": 0.6673,
    "tatqa": 0.5338,
    "financebench": 0.1905,
    "qmsum": 0.2831,
    "musique": 0.5330,
    "hotpotqa": 0.7879,
    "2wiki": 0.7363,
    "jaquad": 0.9045,
    "drcd": 0.9700,
    "jsquad": 0.9387,
    "cmrc2018": 0.9893,
    "dureader": 0.9095,
}
STRUCTURED = ("sec_facts", "country_facts")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with data/")
    arguments.add_argument("--sets", default=",".join([*BM25, *STRUCTURED]))
    arguments.add_argument("--mode", default="lexical", choices=["lexical", "hybrid", "vector"])
    arguments.add_argument("--out", type=Path, help="also write the JSON lines here")
    given = arguments.parse_args()
    results: list[dict[str, Any]] = []
    for name in given.sets.split(","):
        folder = given.shared / "data" / name
        if not folder.is_dir():
            sys.exit(f"{folder} is not there; --shared names the folder that holds data/")
        found = structured(name, folder) if name in STRUCTURED else [retrieval(name, folder, given.mode)]
        for result in found:
            print(json.dumps(result), flush=True)
            results.append(result)
    if given.out is not None:
        given.out.write_text("".join(json.dumps(result) + "\n" for result in results), encoding="utf-8")
    print(table(results))


def retrieval(name: str, folder: Path, mode: str) -> dict[str, Any]:
    """nDCG@10 of one set."""
    totals = evaluate("retrieval", str(folder), "--mode", mode)
    low, high = totals["ndcg_at_10_interval"]
    return {
        "name": f"{name} {mode}",
        "unit": "nDCG@10",
        "value": round(totals["ndcg_at_10"], 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "recall_at_100": round(totals["recall_at_100"], 4),
        "hard": round(totals["hard"]["ndcg_at_10"], 4) if "hard" in totals else None,
        "p50_ms": totals["p50_ms"],
        "peer": BM25[name],
        "ratio": round(totals["ndcg_at_10"] / BM25[name], 4),
        "n": totals["queries"],
        **where(),
    }


def structured(name: str, folder: Path) -> list[dict[str, Any]]:
    """Questions right, by parameters and by words alone; and figures that were wrong."""
    results = []
    for by in ("params", "question"):
        totals = evaluate("metric", str(folder), "--by", by)
        results.append(
            {
                "name": f"{name} by {by}",
                "unit": "questions right",
                "value": totals["right"],
                "wrong_figures": totals["wrong_figures"],
                "peer": totals["n"],
                "ratio": round(totals["right"] / totals["n"], 4),
                "n": totals["n"],
                **where(),
            }
        )
    return results


def evaluate(*arguments: str) -> dict[str, Any]:
    """The totals of one `groundwire eval`."""
    with tempfile.TemporaryDirectory() as folder:
        totals = Path(folder) / "totals.json"
        command = [sys.executable, "-m", "groundwire_server.cli", "eval", *arguments, "--json", str(totals)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
        found: dict[str, Any] = json.loads(totals.read_text(encoding="utf-8"))
        return found


def where() -> dict[str, str]:
    """Commit and machine of a result."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    return {"commit": commit, "machine": f"{platform.machine()}, Python {platform.python_version()}"}


def table(results: list[dict[str, Any]]) -> str:
    """Markdown, for docs/quality.md."""
    lines = ["| what | value | 95 % | design | n |", "|---|---|---|---|---|"]
    for result in results:
        interval = f"{result['low']:.4f} to {result['high']:.4f}" if "low" in result else ""
        wrong = f", {result['wrong_figures']} wrong figures" if "wrong_figures" in result else ""
        lines.append(f"| {result['name']} | {result['value']}{wrong} | {interval} | {result['peer']} | {result['n']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
