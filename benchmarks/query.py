"""A whole query through gRPC, with the time of each stage: by words alone and hybrid, without and with filters.

    python benchmarks/query.py [--sizes 10000,100000] [--questions 30] [--cache .cache/bench] [--models .cache/models]

A warm server in a process of its own is asked over a loopback socket, one question at a time, for ten snippets. Kinds:
lexical; hybrid with the query's embedding at hand (the question was asked before) and without (it comes for the first
time). Filters keep about 1 % and 10 % of the chunks. All kinds take turns, question by question. A time is the median
by the clock of the client, from the request to the last frame; beside it the first frame and the CPU time of the
server. Stages are those of the summary frame, by the clock of the server; what is left over is the wire.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

from house import has_model, stored
from report import CACHE, ROOT, SHARED, Report, has_corpus, questions, say
from warm_server import Answer, WarmServer, started

from groundwire.v1 import filter_pb2, narrative_pb2, stream_pb2, value_pb2

LEXICAL, CACHED, FRESH = "lexical", "hybrid, embedding at hand", "hybrid"
FILTERS: dict[str, filter_pb2.Predicate | None] = {
    "": None,
    ", 10 % filter": filter_pb2.Predicate(field="pct", lt=value_pb2.Value(int_value=10)),
    ", 1 % filter": filter_pb2.Predicate(field="pct", eq=value_pb2.Value(int_value=7)),
}
# Milliseconds from the request to the last frame; of numbers.md.
GOALS = {(1_000_000, CACHED, ", 1 % filter"): 6.0, (1_000_000, FRESH, ", 1 % filter"): 12.0}
FIRST_GOALS = {(100_000, LEXICAL, ""): 3.0}
WARMING = 20  # questions of each kind


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000,100000", help="chunks, comma-separated")
    options.add_argument("--questions", type=int, default=30, help="of each kind")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored libraries")
    options.add_argument("--models", type=Path, default=ROOT / ".cache" / "models", help="folder of prepared models")
    given = options.parse_args()
    if not has_corpus(given.shared):
        return 2
    report = Report("query")
    for size in map(int, given.sizes.split(",")):
        data = stored(given.cache, given.shared, size, given.models)
        hybrid = has_model(given.models)
        if not hybrid:
            say("The default model is not prepared: `groundwire models prepare`. Only searches by words are measured.")
        with started(data, given.models if hybrid else None) as server:
            kinds = (LEXICAL, CACHED, FRESH) if hybrid else (LEXICAL,)
            measure(report, server, size, kinds, given)
    report.table()
    return 0


def measure(report: Report, server: WarmServer, n: int, asked: tuple[str, ...], given: argparse.Namespace) -> None:
    """All kinds in turn, then their lines."""
    known = questions(given.shared, WARMING + given.questions)[: WARMING + given.questions]
    # Other questions than the known ones, each asked once.
    new = (text for text in questions(given.shared, WARMING + 2 * given.questions) if text not in known)
    kinds = [(kind, name) for kind in asked for name in FILTERS]
    for text in known:
        for kind, name in kinds:
            if kind != FRESH:
                server.ask(request(text, kind, name))
    answers: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for text in known[WARMING:]:
        for kind, name in kinds:
            answers[kind, name].append(server.ask(request(next(new) if kind == FRESH else text, kind, name)))
    for (kind, name), some in answers.items():
        told = narrative_pb2.NarrativeRetrieveResponse.FromString(some[-1].frames[-1]).summary
        if told.degradations:
            say(f"{kind}{name} was degraded: {[each.component for each in told.degradations]}")
        p50 = statistics.median(each.last_ms for each in some)
        cpu = statistics.median(each.cpu_ms for each in some)
        stages = stage_ms(some)
        report.add(
            f"{kind}{name}, last frame",
            "ms",
            p50,
            n=n,
            goal=GOALS.get((n, kind, name)),
            cpu_ms=round(cpu, 3),
            p95=round(statistics.quantiles((each.last_ms for each in some), n=20)[-1], 3),
            stages=stages | {"wire": round(p50 - sum(stages.values()), 3)},
        )
        first = statistics.median(each.first_ms for each in some)
        report.add(f"{kind}{name}, first frame", "ms", first, n=n, goal=FIRST_GOALS.get((n, kind, name)))


def request(text: str, kind: str, name: str) -> bytes:
    """A question of a kind, with one of the filters."""
    hybrid, lexical = narrative_pb2.RETRIEVAL_MODE_HYBRID, narrative_pb2.RETRIEVAL_MODE_LEXICAL
    predicate = FILTERS[name]
    kept = None if predicate is None else filter_pb2.Filter(predicate=predicate)
    return narrative_pb2.NarrativeRetrieveRequest(
        query=text,
        top_k=10,
        mode=lexical if kind == LEXICAL else hybrid,
        options=stream_pb2.CallOptions(filter=kept),
    ).SerializeToString()


def stage_ms(answers: list[Answer]) -> dict[str, float]:
    """The median of each stage, in the order in which they ran."""
    times: dict[str, list[float]] = defaultdict(list)
    for answer in answers:
        summary = narrative_pb2.NarrativeRetrieveResponse.FromString(answer.frames[-1]).summary
        for timing in summary.timings:
            times[timing.stage].append(timing.elapsed.ToTimedelta() / timedelta(milliseconds=1))
    return {stage: round(statistics.median(some), 3) for stage, some in times.items()}


if __name__ == "__main__":
    sys.exit(main())
