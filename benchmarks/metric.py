"""QueryMetric through gRPC beside DuckDB, which answers the same queries from the same table in the same run.

    python benchmarks/metric.py [--facts 1000000] [--rounds 200] [--cache DIR] [--page docs/figures.md]

20 measures of a fiftieth as many companies as there are facts, five years: a figure each, sent as JSON lines through
IngestFacts once and kept in the cache for further runs. The server is `groundwire serve` in a process of its own and
reads the names ("measure number 7", "会社1234", "2022年度" ...); the client reads whole answers. DuckDB holds the table
in memory, sorted and indexed by the codes and days of each query, in the process of the client: it gets codes and ISO
days, and gives value, unit and source, no names, versions, labels, conflicts, sentences or citations. Both in turn.

Under load only ratios and CPU times mean anything; load and the time of a fixed loop are printed with each line.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from report import CACHE, Report, digits, say
from server_process import ServerProcess, server_process

from groundwire import Client, FactFile, Figures, MetricFact, MetricFound, MetricQuery, Synonym, Term, TermKind
from groundwire_server.settings import load_settings

MEASURES, YEARS = 20, (2020, 2021, 2022, 2023, 2024)
ONE_GOAL_MS, HUNDRED_GOAL_MS = 2.0, 15.0
LINES_A_FILE = 50_000
Row = tuple[str, str, str, str, str, str, str]  # metric, entity, first, last, value, unit, source


def main() -> int:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--facts", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=200)
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of what is kept")
    options.add_argument("--page", type=Path, help="write the lines beside this page, and their table into it")
    options.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.serve:
        serve(chosen.serve)
        return 0
    report = Report("metric")
    data = chosen.cache / f"metric-{chosen.facts}"
    loaded = data / "loaded"
    data.mkdir(parents=True, exist_ok=True)
    with server_process(__file__, "--serve", data) as server, Client(server.address) as client:
        if not loaded.exists():
            load(report, client, server, chosen.facts)
            loaded.touch()
        measure(report, client, server, chosen.facts, chosen.rounds)
    report.table()
    if chosen.page:
        write_page(chosen.page, report.lines)
    return 0


def write_page(page: Path, lines: list[dict[str, Any]]) -> None:
    """The lines beside the page, those of before kept that were not measured again, and the table in it."""
    beside = page.with_suffix(".jsonl")
    before = beside.read_text(encoding="utf-8").splitlines() if beside.exists() else []
    kept = {line["name"]: line for line in [*map(json.loads, before), *lines]}
    beside.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in kept.values()), encoding="utf-8")
    shown = f"<!-- table -->\n{table(list(kept.values()))}\n<!-- end of table -->"
    text = re.sub(r"<!-- table -->.*<!-- end of table -->", lambda _: shown, page.read_text("utf-8"), flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")


def companies(facts: int) -> int:
    return max(1, facts // (MEASURES * len(YEARS)))


def rows(facts: int) -> Iterator[Row]:
    """The same on every run, a report a company and year."""
    draw = random.Random(7)
    for company in range(companies(facts)):
        for year in YEARS:
            for measure in range(MEASURES):
                value = f"{draw.randrange(-(10**7), 10**9)}.{draw.randrange(100):02d}"
                source = f"filings/{company}/{year}.json"
                yield f"MEASURE_{measure}", f"C{company}", f"{year}-01-01", f"{year}-12-31", value, "USD", source


def load(report: Report, client: Client, server: ServerProcess, facts: int) -> None:
    """Glossary and figures, over the wire."""
    terms = [
        Term(TermKind.METRIC, f"MEASURE_{n}", label=f"Measure number {n}", synonyms=(Synonym(f"指標{n}", "ja"),))
        for n in range(MEASURES)
    ]
    terms += [
        Term(TermKind.ENTITY, f"C{n}", label=f"Company {n} Inc.", synonyms=(Synonym(f"会社{n}", "ja"),))
        for n in range(companies(facts))
    ]
    client.update_glossary(terms)

    def files() -> Iterator[FactFile]:
        part: list[str] = []
        for number, (metric, entity, first, last, value, unit, source) in enumerate(rows(facts)):
            fact = {"metric": metric, "entity": entity, "period": f"{first}/{last}", "value": value, "unit": unit}
            part.append(json.dumps({**fact, "source_doc": source, "locator": f"cell={metric}"}))
            if len(part) == LINES_A_FILE:
                yield FactFile(f"part-{number}.jsonl", "\n".join(part).encode())
                part.clear()
        if part:
            yield FactFile("part-last.jsonl", "\n".join(part).encode())

    before, start = server.cpu_seconds(), time.perf_counter()
    with client.ingest_facts(files()) as events:
        summary = events.collect().summary
    seconds, cpu = time.perf_counter() - start, server.cpu_seconds() - before
    if summary.failed:
        raise SystemExit(f"{summary.failed} rows were refused")
    report.add("IngestFacts, JSON lines", "rows/s", facts / seconds, n=facts, server_cpu_s=round(cpu, 1))


def measure(report: Report, client: Client, server: ServerProcess, facts: int, rounds: int) -> None:
    """Ours and the peer in turn, the same random queries."""
    peer = peer_table(facts)
    draw = random.Random(11)
    for count, goal in ((1, ONE_GOAL_MS), (100, HUNDRED_GOAL_MS)):
        turns = rounds if count == 1 else max(5, rounds // 5)
        ours: list[float] = []
        theirs: list[float] = []
        cpu: list[float] = []
        for turn in range(turns + 3):
            keys = [
                (draw.randrange(MEASURES), draw.randrange(companies(facts)), draw.choice(YEARS)) for _ in range(count)
            ]
            queries = [MetricQuery(*names(draw, *key)) for key in keys]
            before, start = server.cpu_seconds(), time.perf_counter()
            answer = client.query_metric(queries).collect()
            took, used = time.perf_counter() - start, server.cpu_seconds() - before
            start = time.perf_counter()
            found = [
                peer.execute(LOOKUP, [f"MEASURE_{m}", f"C{c}", f"{y}-01-01", f"{y}-12-31"]).fetchone()
                for m, c, y in keys
            ]
            beside = time.perf_counter() - start
            if values(answer) != [row[0] for row in found]:
                raise SystemExit("the two differ")
            if turn >= 3:
                ours.append(took * 1e3)
                theirs.append(beside * 1e3)
                cpu.append(used * 1e3)
        what = "one query" if count == 1 else f"{count} queries in a call"
        duck = ("DuckDB, in process", statistics.median(theirs))
        more = {"goal": goal, "rounds": turns, "server_cpu_ms": round(statistics.median(cpu), 2)}
        more |= {"best": round(min(ours), 2), "peer_best": round(min(theirs), 2)}
        report.add(f"{what}, through gRPC, p50", "ms", statistics.median(ours), n=facts, peer=duck, **more)


def values(answer: Figures) -> list[str]:
    """The value that each outcome names."""
    stated = {each.snippet_id: each.payload for each in answer.snippets}
    found: list[str] = []
    for outcome in answer.outcomes:
        assert isinstance(outcome.outcome, MetricFound)
        payload = stated[outcome.outcome.snippet_ids[0]]
        assert isinstance(payload, MetricFact)
        found.append(payload.value)
    return found


LOOKUP = "SELECT value, unit, source FROM fact WHERE metric = ? AND entity = ? AND first = ? AND last = ?"


def peer_table(facts: int) -> Any:
    """The peer: the same rows."""
    import duckdb  # of requirements/bench.txt, and its page is tested without it

    peer = duckdb.connect()
    peer.execute("SET threads = 1")
    peer.execute(
        "CREATE TABLE fact (metric VARCHAR, entity VARCHAR, first VARCHAR, last VARCHAR, value VARCHAR, unit VARCHAR,"
        " source VARCHAR)"
    )
    import pyarrow as pa

    columns = list(zip(*rows(facts), strict=True))
    arrays = pa.table(dict(zip(("metric", "entity", "first", "last", "value", "unit", "source"), columns, strict=True)))
    peer.register("arrived", arrays)
    peer.execute("INSERT INTO fact SELECT * FROM arrived ORDER BY metric, entity, first")
    peer.execute("CREATE INDEX by_key ON fact (metric, entity, first, last)")
    return peer


def names(draw: random.Random, measure: int, company: int, year: int) -> tuple[str, str, str]:
    """A query as people write it: one of several spellings of each name."""
    return (
        draw.choice((f"MEASURE_{measure}", f"measure number {measure}", f"指標{measure}")),
        draw.choice((f"C{company}", f"company {company} inc", f"会社{company}")),
        draw.choice((str(year), f"{year}年", f"FY{year}", f"{year}-01-01/{year}-12-31")),
    )


def serve(data: Path) -> None:
    """In the process of the server."""
    from groundwire_server.rpc import running_server

    given = {"data": data / "data", "server.port": 0, "embedding.backend": "none", "log.level": "error"}
    with running_server(load_settings(given, environ={})) as address:
        say(address)
        sys.stdin.read()


def table(lines: list[dict[str, Any]]) -> str:
    """The lines as docs/figures.md shows them."""
    rows = [
        "| what | ours | best | server CPU | peer | best | ratio | goal | load |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        cpu = f"{line['server_cpu_ms']:.1f} ms" if "server_cpu_ms" in line else f"{line['server_cpu_s']:.0f} s"
        peer = f"{line['peer']} {line['peer_value']:.2f} {line['unit']}" if "peer" in line else ""
        cells = (
            line["name"],
            f"{digits(line['value'])} {line['unit']}",
            f"{line['best']:.2f}" if "best" in line else "",
            cpu,
            peer,
            f"{line['peer_best']:.2f}" if "peer_best" in line else "",
            digits(line.get("ratio")),
            f"{digits(line['goal'])} {line['unit']}" if "goal" in line else "",
            str(line["load"]),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
