"""Walks over relations, through gRPC, beside networkx and rustworkx on the same edges held in memory.

    python benchmarks/graph.py [--edges 1000000] [--rounds 40]

The relations are random, a third as many nodes as edges, three names; beside them a tree of 10,000 entities with a
figure each, to add up. The peers answer with bare numbers of nodes: no sources, no names, nothing hidden, no order, no
wire; what they take to be built from edges in memory is printed beside what it takes to send, store and index them.
Each figure is the median over the rounds, all in turn. Load and the time of a fixed loop are printed with each.
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
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import rustworkx as rx
from report import calibration_ms, commit, say

from groundwire import Additivity, Client, DerivedFigure, FactFile, MetricDetail, Term, TermKind
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings

NAMES = ("parent_of", "competes_with", "supplies")
LEAVES, FAN = 10_000, 100
ROWS_A_FILE = 100_000
FEW = 5  # rounds of what takes seconds


def main() -> int:
    """Run and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--edges", type=int, default=1_000_000)
    options.add_argument("--rounds", type=int, default=40)
    chosen = options.parse_args()
    edges = relations(chosen.edges)
    with tempfile.TemporaryDirectory(prefix="groundwire-graph-") as folder:
        given = {"data": Path(folder) / "data", "server.port": 0, "embedding.backend": "none", "log.level": "error"}
        settings = load_settings(given, environ={})
        with running_server(settings) as address, Client(address) as client:
            took, _ = timed(lambda: load(client, edges))
            say(f"{len(edges) + LEAVES} relations and {LEAVES} figures sent, stored and indexed in {took}")
            measure(client, Peers.of(edges), edges, chosen.rounds)
    return 0


def relations(count: int) -> list[tuple[str, str, str]]:
    """Random edges, the same on every run."""
    draw = random.Random(7)
    nodes = max(2, count // 3)
    return [(f"N{draw.randrange(nodes)}", draw.choice(NAMES), f"N{draw.randrange(nodes)}") for _ in range(count)]


def load(client: Client, edges: list[tuple[str, str, str]]) -> None:
    """Store the edges, the tree with its figures, and the metric that may be added."""
    lines = [
        json.dumps({"subject": subject, "relation": name, "object": target, "object_type": "entity"})
        for subject, name, target in (*edges, *branches())
    ]
    facts = [
        json.dumps({"metric": "REVENUE", "entity": f"T{number}", "period": "2020", "value": str(number), "unit": "USD"})
        for number in range(LEAVES)
    ]
    metric = Term(TermKind.METRIC, "REVENUE", metric=MetricDetail(unit="USD", additivity=Additivity.SUM))
    client.update_glossary([metric])
    parts = [lines[at : at + ROWS_A_FILE] for at in range(0, len(lines), ROWS_A_FILE)]
    named = [*((f"e{number}.jsonl", rows) for number, rows in enumerate(parts)), ("f.jsonl", facts)]
    files = [FactFile(name, "\n".join(rows).encode()) for name, rows in named]
    with client.ingest_facts(files) as events:
        summary = events.collect().summary
    if summary.failed:
        raise SystemExit(f"{summary.failed} rows were refused")


@dataclass(frozen=True)
class Peers:
    """The same edges in memory: all of them either way, those of one name, and the tree with its figures."""

    either: Any
    below: Any
    tree: Any
    figures: dict[str, Decimal]
    rx_either: Any
    rx_below: Any
    rx_tree: Any
    place: dict[str, int]

    @classmethod
    def of(cls, edges: list[tuple[str, str, str]]) -> Peers:
        """Build both."""
        pairs = [(subject, target) for subject, _, target in edges]
        parents = [(subject, target) for subject, name, target in edges if name == "parent_of"]
        tree = [(subject, target) for subject, _, target in branches()]
        took, either = timed(lambda: nx.MultiGraph(pairs))
        say(f"networkx: {took} for all edges")
        place = {node: number for number, node in enumerate(dict.fromkeys(node for pair in pairs for node in pair))}

        def rust(kind: Any, some: list[tuple[str, str]], known: dict[str, int]) -> Any:
            graph = kind()
            graph.add_nodes_from(list(known))
            graph.add_edges_from_no_data([(known[start], known[end]) for start, end in some])
            return graph

        took, rx_either = timed(lambda: rust(rx.PyGraph, pairs, place))
        say(f"rustworkx: {took} for all edges")
        leaves = {"TOP": 0, **{f"T{number}": number + 1 for number in range(LEAVES)}}
        return cls(
            either,
            nx.DiGraph(parents),
            nx.DiGraph(tree),
            {f"T{number}": Decimal(number) for number in range(LEAVES)},
            rx_either,
            rust(rx.PyDiGraph, parents, place),
            rust(rx.PyDiGraph, tree, leaves),
            place,
        )

    def around(self, node: str) -> int:
        """How many nodes are within two hops, by networkx."""
        return len(nx.single_source_shortest_path_length(self.either, node, cutoff=2))

    def rx_around(self, node: str) -> int:
        """The same by rustworkx."""
        graph = self.rx_either
        near = graph.neighbors(self.place[node])
        return len({self.place[node], *near, *(far for each in near for far in graph.neighbors(each))})

    def path(self, start: str, end: str) -> Any:
        """A shortest path, by networkx."""
        try:
            return nx.bidirectional_shortest_path(self.either, start, end)
        except nx.NetworkXNoPath:
            return None

    def rx_path(self, start: str, end: str) -> Any:
        """The same by rustworkx, which goes from one end only."""
        return rx.dijkstra_shortest_paths(self.rx_either, self.place[start], self.place[end])

    def total(self) -> Decimal:
        """The sum over the tree, by networkx."""
        return sum((self.figures[node] for node in nx.descendants(self.tree, "TOP")), Decimal(0))

    def rx_total(self) -> Decimal:
        """The same by rustworkx."""
        names = self.rx_tree.nodes()
        return sum((self.figures[names[node]] for node in rx.descendants(self.rx_tree, 0)), Decimal(0))


def branches() -> list[tuple[str, str, str]]:
    """The tree."""
    return [(f"T{number // FAN - 1}" if number >= FAN else "TOP", "owns", f"T{number}") for number in range(LEAVES)]


def measure(client: Client, peers: Peers, edges: list[tuple[str, str, str]], rounds: int) -> None:
    """Each walk in turn with the peers'."""
    starts = [edges[number][0] for number in range(rounds)]
    ends = [edges[-number - 1][2] for number in range(rounds)]
    parents = [subject for subject, name, _ in edges if name == "parent_of"][:rounds]
    total = client.rollup("REVENUE", "TOP", "2020", relation="owns").collect().snippets[0].payload
    if not isinstance(total, DerivedFigure) or total.amount != peers.total() or peers.total() != peers.rx_total():
        raise SystemExit("the sums differ")
    report(
        "neighborhood, two hops",
        rounds,
        lambda at: client.neighborhood([starts[at]], max_hops=2).collect(),
        {"networkx": lambda at: peers.around(starts[at]), "rustworkx": lambda at: peers.rx_around(starts[at])},
    )
    report(
        "shortest path",
        rounds,
        lambda at: client.paths(starts[at], ends[at]).collect(),
        {
            "networkx": lambda at: peers.path(starts[at], ends[at]),
            "rustworkx": lambda at: peers.rx_path(starts[at], ends[at]) if at < FEW else NotImplemented,
        },
    )
    report(
        "paths by a pattern of three",
        rounds,
        lambda at: client.paths(starts[at], ends[at], pattern=["parent_of"] * 3, choice="all").collect(),
        {},
    )
    report(
        "closure over one relation",
        rounds,
        lambda at: client.closure([parents[at]], ["parent_of"], max_depth=3).collect(),
        {
            "networkx": lambda at: nx.single_source_shortest_path_length(peers.below, parents[at], cutoff=3),
        },
    )
    report(
        f"sum over {LEAVES} descendants",
        rounds,
        lambda _: client.rollup("REVENUE", "TOP", "2020", relation="owns", max_operands=1).collect(),
        {"networkx": lambda _: peers.total(), "rustworkx": lambda _: peers.rx_total()},
    )


def report(name: str, rounds: int, ours: Callable[[int], Any], peers: dict[str, Callable[[int], Any]]) -> None:
    """Run, and print one line of JSON: medians of what was waited for, and of what processors did meanwhile.

    A peer that answers NotImplemented is left out of a round.
    """
    first, _ = timed(lambda: ours(0))
    times: dict[str, list[Took]] = {who: [] for who in ("groundwire", *peers)}
    for at in range(rounds):
        for who, run in (("groundwire", ours), *peers.items()):
            took, answer = timed(lambda at=at, run=run: run(at))  # type: ignore[misc]
            if answer is not NotImplemented:
                times[who].append(took)
    line = {
        "name": name,
        "unit": "ms",
        "first": round(first.waited * 1000, 2),
        **{who: round(statistics.median(took.waited for took in each) * 1000, 3) for who, each in times.items()},
        **{f"{who}_cpu": round(statistics.median(took.cpu for took in each) * 1000, 3) for who, each in times.items()},
        "n": rounds,
        "commit": commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"calibration {calibration_ms():.1f} ms",
    }
    say(json.dumps(line))


@dataclass(frozen=True)
class Took:
    """Seconds that were waited, and that processors worked meanwhile for this process."""

    waited: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.waited:.1f} s ({self.cpu:.1f} s of a processor)"


def timed(work: Callable[[], Any]) -> tuple[Took, Any]:
    """How long it took, and what came of it."""
    started, worked = time.perf_counter(), time.process_time()
    result = work()
    return Took(time.perf_counter() - started, time.process_time() - worked), result


if __name__ == "__main__":
    sys.exit(main())
