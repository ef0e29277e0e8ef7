"""All measurements of speed with one command, their tables in docs/performance.md, and the chart of their growth.

    python benchmarks/performance.py run [--sizes 10000,100000] [--only query,wire] [--cache DIR] [--models DIR]
    python benchmarks/performance.py tables    # docs/performance.md anew from docs/performance.jsonl
    python benchmarks/performance.py chart     # docs/images/growth.png anew
    python benchmarks/performance.py check     # 1 when a table is not what the lines give

`run` starts the programs one after the other and keeps each line of theirs in docs/performance.jsonl, in the place of
an older one of the same program, name, unit and size; so it may be broken off, and run for one program or size alone.
What takes long to make (corpora, libraries, indexes) stays in the cache.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from report import CACHE, ROOT, SHARED, digits, ratio, say

Line = dict[str, Any]

LINES = ROOT / "docs" / "performance.jsonl"
DOCUMENT = ROOT / "docs" / "performance.md"
CHART = ROOT / "docs" / "images" / "growth.png"
# Programs in the order in which they run, each with its own arguments; and the largest size of those that have one.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "lexical": ("--rounds", "1"),
    "dense": ("--no-embedding",),
    "query": (),
    "wire": (),
    "against_ragspine": (),
    "ingest": (),
    "updates": (),
    "memory": (),
    "cold_start": (),
}
MOST = {"wire": 10_000, "against_ragspine": 100_000}
TOP = 50
BEGIN, END = "<!-- table: {} -->", "<!-- end of table -->"
# What the design asks of lines whose programs do not say it themselves: at most this value, at least this ratio.
GOALS: dict[tuple[str, int], dict[str, float]] = {
    ("lexical, all rows, against tantivy", 1_000_000): {"goal": 1.5, "goal_ratio": 5.0},
    ("lexical, 1 % filter, against tantivy 1 %", 1_000_000): {"goal_ratio": 2.0},
    ("lexical, 1 % filter, against all rows", 1_000_000): {"goal_ratio": 1 / 1.3},
    ("lexical, 10 % filter, against all rows", 1_000_000): {"goal_ratio": 1 / 2},
    ("lexical, all rows, against bm25s numba", 100_000): {"goal": 0.35, "goal_ratio": 1.0},
    ("lexical, all rows, against bm25s numba", 10_000): {"goal": 0.07, "goal_ratio": 1.0},
    ("lexical, numpy only, against bm25s numpy", 100_000): {"goal": 4.0},
    ("vectors, exact, all rows, against faiss IndexFlatIP", 1_000_000): {"goal": 50.0, "goal_ratio": 1.0},
    ("vectors, exact, 32 callers at once", 1_000_000): {"goal": 8.0},
    ("vectors, shortlist of signs, all rows, against faiss IndexBinaryFlat", 1_000_000): {
        "goal": 4.0,
        "goal_ratio": 1.0,
    },
}


def main() -> int:
    """One of the commands of the head."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command", choices=("run", "tables", "chart", "check"))
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--only", default=",".join(PROGRAMS), help="programs, comma-separated")
    options.add_argument("--cache", type=Path, default=CACHE)
    options.add_argument("--models", type=Path, default=ROOT / ".cache" / "models", help="folder of prepared models")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    given = options.parse_args()
    if given.command == "run":
        for program in given.only.split(","):
            keep(run(program, [int(size) for size in given.sizes.split(",")], given))
    if given.command in ("run", "chart"):
        draw(read())
    if given.command != "chart":
        text = DOCUMENT.read_text(encoding="utf-8")
        wanted = with_tables(text, read())
        if given.command == "check":
            return int(text != wanted)
        DOCUMENT.write_text(wanted, encoding="utf-8")
    return 0


def run(program: str, sizes: list[int], given: argparse.Namespace) -> Iterator[Line]:
    """The lines of one program, as they come. One that is not there or fails is told and passed over."""
    path = Path(__file__).with_name(f"{program}.py")
    fit = [size for size in sizes if size <= MOST.get(program, size)]
    if not path.exists() or not fit:
        say(f"{program}: {'no such program' if fit else 'not at these sizes'}")
        return
    folders = ["--shared", str(given.shared), "--cache", str(given.cache)]
    models = ["--models", str(given.models)]
    rows = [[str(size), *models, *vectors(given.cache)] for size in fit] if program == "dense" else [[]]
    if program != "dense":
        rows = [["--sizes", ",".join(map(str, fit)), *folders, *(models if program not in ("lexical", "wire") else [])]]
    for arguments in rows:
        command = [sys.executable, str(path), *arguments, *PROGRAMS[program]]
        say(f"$ {' '.join(command)}")
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            found = []
            for text in process.stdout:
                say(text.rstrip("\n"))
                if text.startswith("{"):
                    found.append(json.loads(text))
        if process.returncode:
            say(f"{program}: ended with {process.returncode}, its lines stay as they were")
            continue
        yield from FORMS.get(program, lambda lines: lines)(found)


def vectors(cache: Path) -> list[str]:
    """The most real vectors that `house.py` or `vectors.py` has left in the cache, for the search by vectors."""
    there = [path for path in cache.glob("vectors*.npy") if path.exists()]  # a link may lead nowhere yet
    found = max(there, key=lambda path: path.stat().st_size, default=None)
    return ["--vectors", str(found)] if found else []


def lexical_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Those of `lexical.py` in the form of `report.py`."""
    words = {"all": "all rows", "1 %": "1 % filter", "10 %": "10 % filter"}
    for line in lines:
        if line["name"].endswith(f" top {TOP}"):
            continue  # a peer's own line: it stands beside ours in the others
        ours, _, peer = line["name"].partition(" against ")
        machine, _, load = line["machine"].partition(", load ")
        more = {"commit": line["commit"], "machine": machine, "load": float(load or 0)}
        made = {
            "program": "lexical",
            "name": line["name"],
            "unit": line["unit"],
            "value": line["value"],
            "n": line["n"],
        }
        if peer:
            made["name"] = f"lexical, {words.get(ours, ours)}, against {words.get(peer, peer)}"
            made |= {"peer": words.get(peer, peer), "peer_value": line["peer"], "ratio": line["ratio"]}
        yield made | more


def dense_lines(lines: list[Line]) -> Iterator[Line]:
    """Those of `dense.py` likewise: our searches beside the peers that answer the same question."""
    searches = {line["name"]: line for line in lines if ", top " in line["name"]}
    for line in lines:
        if ", top " not in line["name"]:
            yield form(line, f"vectors, {line['name']}")
    for name, line in searches.items():
        engine, _, what = name.partition(", top ")
        if not engine.startswith("groundwire"):
            continue
        exact = engine == "groundwire exact"
        share = {"100% of rows": "all rows", "10% of rows": "10 % filter", "1% of rows": "1 % filter"}[
            what.partition(", ")[2]
        ]
        ours = "exact" if exact else "shortlist of signs"
        for other, peer in searches.items():
            fits = other.startswith(("faiss IndexFlat", "usearch", "numpy") if exact else "faiss IndexBinary")
            if fits and other.endswith(what):
                rival = other.partition(", ")[0]
                beside = {"peer": rival, "peer_value": peer["value"]}
                beside["ratio"] = ratio(line["unit"], line["value"], peer["value"])
                yield form(line, f"vectors, {ours}, {share}, against {rival}") | beside


def form(line: Line, name: str) -> Line:
    """A line of another program's, under another name."""
    kept: Line = {key: line[key] for key in ("note", "commit", "machine", "load") if key in line}
    recall = re.match(r"recall@10 ([\d.]+)", line.get("note", ""))
    if recall:
        kept["recall_at_10"] = float(recall[1])
    return {"program": "dense", "name": name, "unit": line["unit"], "value": line["value"], "n": line["n"]} | kept


FORMS: dict[str, Any] = {"lexical": lexical_lines, "dense": dense_lines}


def read() -> list[Line]:
    """The lines that are kept."""
    return [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()] if LINES.exists() else []


def keep(lines: Iterable[Line]) -> None:
    """Put lines in the place of older ones, with the goals of the design."""
    kept = {place(line): line for line in read()}
    for line in lines:
        kept.pop(place(line), None)  # to the end: a table has the order of the newest run
        kept[place(line)] = line | GOALS.get((line["name"], line["n"]), {})
        order = sorted(kept.values(), key=lambda each: list(PROGRAMS).index(each["program"]))
        text = "".join(json.dumps(rounded(each), ensure_ascii=False) + "\n" for each in order)
        fresh = LINES.with_suffix(".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(LINES)


def rounded(value: Any) -> Any:
    """Six digits that count: more are noise."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return {key: rounded(each) for key, each in value.items()} if isinstance(value, dict) else value


def place(line: Line) -> tuple[str, ...]:
    """What two results of the same thing have in common."""
    return (line["program"], line["name"], line["unit"], f"{line['n']}")


def with_tables(text: str, lines: list[Line]) -> str:
    """The document with each of its tables made anew."""
    for name in (*PROGRAMS, "stages", "commits"):
        begin = BEGIN.format(name)
        before, found, rest = text.partition(f"{begin}\n")
        if found:
            _, _, after = rest.partition(END)
            table = {"stages": stages, "commits": commits}.get(name, table_of(name))(lines)
            text = f"{before}{begin}\n{table}{END}{after}"
    return text


def table_of(program: str) -> Any:
    """A row a result of one program, smaller sizes first."""

    def table(lines: list[Line]) -> str:
        own = [line for line in lines if line["program"] == program]
        rows = ["| what | chunks | value | goal | | peer | its value | ratio |", "|---|---|---|---|---|---|---|---|"]
        names = list(dict.fromkeys((line["name"], line["unit"]) for line in own))
        for line in sorted(own, key=lambda each: (names.index((each["name"], each["unit"])), each["n"])):
            times = f"{digits(line['ratio'])}×" if "ratio" in line else ""
            value = f"{digits(line['value'])} {line['unit']}"
            if "recall_at_10" in line:
                value += f", recall@10 {line['recall_at_10']:.3f}"
            cells = (line["name"], f"{line['n']:,}", value, goal_of(line), verdict(line), line.get("peer", ""))
            rows.append(f"| {' | '.join(cells)} | {digits(line.get('peer_value'))} | {times} |")
        return "\n".join(rows) + "\n"

    return table


def goal_of(line: Line) -> str:
    """The design's figure beside a value: a bound, a ratio, or both."""
    more = line["unit"] in ("chunks/s", "rows/s")
    bound = [f"{'≥' if more else '≤'} {digits(line['goal'])}"] if "goal" in line else []
    return ", ".join(bound + ([f"≥ {digits(line['goal_ratio'])}×"] if "goal_ratio" in line else []))


def verdict(line: Line) -> str:
    """Whether the goal is met, or by how much it is missed."""
    missed = []
    if "goal" in line:
        missed.append(1 / ratio(line["unit"], line["value"], line["goal"]))
    if "goal_ratio" in line:
        missed.append(line["goal_ratio"] / line["ratio"])
    if not missed:
        return ""
    return "met" if max(missed) <= 1 else f"**missed, {digits(max(missed))}×**"


def stages(lines: list[Line]) -> str:
    """Milliseconds of each stage of whole queries."""
    own = [line for line in lines if "stages" in line]
    longest = sorted(own, key=lambda line: -len(line["stages"]))  # which has the others in their order
    names = list(dict.fromkeys(name for line in longest for name in line["stages"] if name != "wire"))
    names.append("wire")
    rows = [f"| what | chunks | {' | '.join(names)} | server CPU | p95 |", "|---|---|" + "---|" * (len(names) + 2)]
    for line in own:
        cells = [digits(line["stages"].get(name)) for name in names]
        what = line["name"].removesuffix(", last frame")
        rows.append(
            f"| {what} | {line['n']:,} | {' | '.join(cells)} | {digits(line['cpu_ms'])} | {digits(line['p95'])} |"
        )
    return "\n".join(rows) + "\n"


def commits(lines: list[Line]) -> str:
    """Where and when each program ran."""
    rows = ["| program | commit | machine | load | fixed loop |", "|---|---|---|---|---|"]
    for program in PROGRAMS:
        own = [line for line in lines if line["program"] == program]
        if own:
            told = {key: list(dict.fromkeys(str(line[key]) for line in own if key in line)) for key in own[0] | own[-1]}
            loads = sorted(float(line["load"]) for line in own if "load" in line)
            loops = sorted(line["calibration_ms"] for line in own if "calibration_ms" in line)
            load = f"{loads[0]} to {loads[-1]}" if loads else ""
            loop = f"{loops[0]} to {loops[-1]} ms" if loops else ""
            where = "; ".join(told.get("machine", [])[:1])
            rows.append(f"| {program} | {', '.join(told.get('commit', []))} | {where} | {load} | {loop} |")
    return "\n".join(rows) + "\n"


def draw(lines: list[Line]) -> None:
    """The chart: how what a query costs, and what a chunk takes, grow with the number of chunks."""
    from growth import draw_growth

    CHART.parent.mkdir(parents=True, exist_ok=True)
    draw_growth(lines, CHART)


if __name__ == "__main__":
    sys.exit(main())
