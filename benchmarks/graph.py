"""Walks over relations, through gRPC, beside networkx on the same edges held in memory.

    python benchmarks/graph.py [--edges 100000] [--rounds 40]

The relations are random, a third as many nodes as edges, three names; beside them a tree of 9,000 entities with a
figure each, to add up. The peer answers with bare nodes: no sources, no names, nothing hidden, no order, no wire.
Each figure is the median over the rounds, the two in turn. Load and the time of a fixed loop are printed with each.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx  # type: ignore[import-untyped]
from report import calibration_ms, commit, say

from groundwire import Additivity, Client, FactFile, MetricDetail, Term, TermKind
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings

NAMES = ("parent_of", "competes_with", "supplies")
LEAVES, FAN = 9_000, 100


def main() -> int:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--edges", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=40)
    chosen = options.parse_args()
    edges = relations(chosen.edges)
    with tempfile.TemporaryDirectory(prefix="groundwire-graph-") as folder:
        given = {"data": Path(folder) / "data", "server.port": 0, "embedding.backend": "none", "log.level": "error"}
        settings = load_settings(given, environ={})
        with running_server(settings) as address, Client(address) as client:
            seconds, _ = timed(lambda: load(client, edges))
            say(f"{len(edges) + LEAVES} relations and {LEAVES} figures stored in {seconds:.1f} s")
            measure(client, edges, chosen.rounds)
    return 0


def relations(count: int) -> list[tuple[str, str, str]]:
    """Random edges, the same on every run."""
    draw = random.Random(7)
    nodes = max(2, count // 3)
    return [(f"N{draw.randrange(nodes)}", draw.choice(NAMES), f"N{draw.randrange(nodes)}") for _ in range(count)]


def load(client: Client, edges: list[tuple[str, str, str]]) -> None:
    """Store the edges, the tree with its figures, and the metric that may be added."""
    tree = [(f"T{number // FAN - 1}" if number >= FAN else "TOP", "owns", f"T{number}") for number in range(LEAVES)]
    lines = [
        json.dumps({"subject": subject, "relation": name, "object": target, "object_type": "entity"})
        for subject, name, target in (*edges, *tree)
    ]
    facts = [
        json.dumps({"metric": "REVENUE", "entity": f"T{number}", "period": "2020", "value": str(number), "unit": "USD"})
        for number in range(LEAVES)
    ]
    metric = Term(TermKind.METRIC, "REVENUE", metric=MetricDetail(unit="USD", additivity=Additivity.SUM))
    client.update_glossary([metric])
    files = [FactFile(name, "\n".join(rows).encode()) for name, rows in (("e.jsonl", lines), ("f.jsonl", facts))]
    with client.ingest_facts(files) as events:
        summary = events.collect().summary
    if summary.failed:
        raise SystemExit(f"{summary.failed} rows were refused")


def measure(client: Client, edges: list[tuple[str, str, str]], rounds: int) -> None:
    """Each walk in turn with the peer's."""
    graph = nx.MultiDiGraph()
    graph.add_edges_from((subject, target) for subject, _, target in edges)
    either = graph.to_undirected(as_view=True)
    below = nx.DiGraph((subject, target) for subject, name, target in edges if name == "parent_of")
    starts = [edges[number][0] for number in range(rounds)]
    ends = [edges[-number - 1][2] for number in range(rounds)]
    parents = [subject for subject, name, _ in edges if name == "parent_of"][:rounds]

    def path_of(at: int) -> Any:
        return nx.bidirectional_shortest_path(either, starts[at], ends[at]) if connected(at) else None

    def connected(at: int) -> bool:
        return bool(nx.has_path(either, starts[at], ends[at]))

    report(
        "neighborhood, two hops",
        rounds,
        lambda at: client.neighborhood([starts[at]], max_hops=2).collect(),
        lambda at: nx.ego_graph(either, starts[at], radius=2),
    )
    report("shortest path", rounds, lambda at: client.paths(starts[at], ends[at]).collect(), path_of)
    report(
        "paths by a pattern of three",
        rounds,
        lambda at: client.paths(starts[at], ends[at], pattern=["parent_of"] * 3, choice="all").collect(),
        None,
    )
    report(
        "closure over one relation",
        rounds,
        lambda at: client.closure([parents[at]], ["parent_of"]).collect(),
        lambda at: nx.descendants(below, parents[at]),
    )
    report(
        f"sum over {LEAVES} descendants",
        max(1, rounds // 10),
        lambda _: client.rollup("REVENUE", "TOP", "2020", relation="owns").collect(),
        None,
    )


def report(name: str, rounds: int, ours: Callable[[int], Any], peer: Callable[[int], Any] | None) -> None:
    """Run, and print one line of JSON and one for people."""
    times: list[float] = []
    beside: list[float] = []
    ours(0)
    for at in range(rounds):
        times.append(timed(lambda at=at: ours(at))[0] * 1000)  # type: ignore[misc]
        if peer is not None:
            beside.append(timed(lambda at=at: peer(at))[0] * 1000)  # type: ignore[misc]
    value = statistics.median(times)
    other = statistics.median(beside) if beside else None
    line = {
        "name": name,
        "unit": "ms",
        "value": round(value, 3),
        "peer": round(other, 3) if other is not None else None,
        "ratio": round(value / other, 2) if other else None,
        "n": rounds,
        "commit": commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"calibration {calibration_ms():.1f} ms",
    }
    say(json.dumps(line))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what came of it."""
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


if __name__ == "__main__":
    sys.exit(main())
