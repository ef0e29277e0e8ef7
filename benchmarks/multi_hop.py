"""Documents that support multi-hop questions, with relations followed and without (semantics 12).

    python benchmarks/multi_hop.py [--sets musique] [--modes lexical,hybrid] [--limit 300] [--out docs/multi-hop.jsonl]

Runs `groundwire eval retrieval` twice on each set and mode, the same but for `--graph`. Prints one JSON line a result
(name, unit, value, peer, ratio, n, commit, machine) and a table. The peer is the same search without relations. Sets
whose questions need one document alone are there to show what it costs them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.quality import evaluate, where  # noqa: E402

MULTI_HOP = ("musique", "hotpotqa", "2wiki")
ONE_DOCUMENT = ("scifact", "tatqa", "jaquad", "jsquad", "drcd", "cmrc2018", "dureader")
MEASURES = {"recall_at_5": "Recall@5", "ndcg_at_10": "nDCG@10"}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with data/")
    arguments.add_argument("--sets", default=",".join((*MULTI_HOP, *ONE_DOCUMENT)))
    arguments.add_argument("--modes", default="lexical")
    arguments.add_argument("--limit", type=int, help="only the first so many questions of each set")
    arguments.add_argument("--out", type=Path, help="also add the JSON lines here")
    given = arguments.parse_args()
    results: list[dict[str, Any]] = []
    for mode in given.modes.split(","):
        for name in given.sets.split(","):
            folder = given.shared / "data" / name
            if not folder.is_dir():
                sys.exit(f"{folder} is not there; --shared names the folder that holds data/")
            for result in compare(name, folder, mode, given.limit):
                print(json.dumps(result), flush=True)
                results.append(result)
                if given.out is not None:
                    with given.out.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(result) + "\n")
    print(table(results))


def compare(name: str, folder: Path, mode: str, limit: int | None) -> list[dict[str, Any]]:
    """Both measures of one set, with relations and without."""
    bound = () if limit is None else ("--limit", str(limit))
    plain = evaluate("retrieval", str(folder), "--mode", mode, *bound)
    followed = evaluate("retrieval", str(folder), "--mode", mode, *bound, "--graph")
    return [
        {
            "name": f"{name} {mode} {unit}",
            "unit": unit,
            "value": round(followed[measure], 4),
            "low": round(followed[f"{measure}_interval"][0], 4),
            "high": round(followed[f"{measure}_interval"][1], 4),
            "hard": round(followed["hard"][measure], 4) if "hard" in followed else None,
            "peer": round(plain[measure], 4),
            "peer_hard": round(plain["hard"][measure], 4) if "hard" in plain else None,
            "ratio": round(followed[measure] / plain[measure], 4),
            "p50_ms": followed["p50_ms"],
            "peer_p50_ms": plain["p50_ms"],
            "n": followed["queries"],
            **where(),
        }
        for measure, unit in MEASURES.items()
    ]


def table(results: list[dict[str, Any]]) -> str:
    """Markdown, for docs/multi-hop.md."""
    lines = ["| set, search, measure | without | with | 95 % | hard quarter | n |", "|---|---|---|---|---|---|"]
    for each in results:
        hard = "" if each["hard"] is None else f"{each['peer_hard']:.4f} → {each['hard']:.4f}"
        lines.append(
            f"| {each['name']} | {each['peer']:.4f} | {each['value']:.4f} | "
            f"{each['low']:.4f} to {each['high']:.4f} | {hard} | {each['n']} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
