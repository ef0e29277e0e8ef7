"""A server under more load than it can carry, and after a hundred thousand streams that ended in every way.

    python benchmarks/load.py [--size 100000] [--seconds 10] [--streams 100000] [--soak-seconds 600] [--shared DIR]

One server process (`load_server.py`) over a stored library, lexical; its clients are in this process, over loopback:

- capacity: as many calls at a time as there are places, for a while; how many are answered a second.
- 1x, 2x, 4x: calls in an open loop at so many times that rate over 16 connections. Times count from the moment at which
  a call was due. Health is asked for all the while, over a connection of its own.
- streams: calls of all endings over connections that come and go; what is left in the server before and after.

Everything is bounded in count and time, and nothing is sent but to 127.0.0.1. Server and clients share the cores, so
that times hold what they take from each other; `late` is how late the client itself was.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from typing import Any

import uvloop
from house import stored
from load_client import ENDINGS, METHOD, Outcome, Soak, health_checks, in_open_loop, open_channels, soak
from load_server import LoadedServer, started
from report import CACHE, ROOT, SHARED, Report, has_corpus, questions, say

TOP_K = 20
CHANNELS = 16
PLACES = 64
REFUSAL_GOAL_MS = 10.0
FACTORS = (1, 2, 4)
SOAK_PARTS = 10


def main() -> int:
    """Run and print; 2 when the shared data is not there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=100_000, help="chunks of the library")
    options.add_argument("--seconds", type=float, default=10, help="of each rate")
    options.add_argument("--streams", type=int, default=100_000, help="streams of mixed endings; 0: none")
    options.add_argument("--soak-seconds", type=float, default=600, help="how long they may take")
    options.add_argument("--shared", type=Path, default=SHARED, help="folder with tools/ and data/")
    options.add_argument("--cache", type=Path, default=CACHE, help="folder of stored corpora")
    options.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="of the server")
    chosen = options.parse_args()
    if not has_corpus(chosen.shared):
        return 2
    report = Report("load")
    data = stored(chosen.cache, chosen.shared, chosen.size, ROOT / ".cache" / "no-models")
    given = dict(each.split("=", 1) for each in chosen.setting)
    with (
        started(data, limits__max_narrative_calls=PLACES, limits__reader_idle_seconds=5, **given) as server,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        requests = [request(each) for each in questions(chosen.shared, 10)]
        runner.run(overload(report, server, requests, chosen))
        if chosen.streams:
            runner.run(many_streams(report, server, requests, chosen))
    report.table()
    return 0


def request(question: str) -> bytes:
    """A retrieval by words."""
    from groundwire.v1 import narrative_pb2

    lexical = narrative_pb2.RETRIEVAL_MODE_LEXICAL
    return narrative_pb2.NarrativeRetrieveRequest(query=question, top_k=TOP_K, mode=lexical).SerializeToString()


async def overload(report: Report, server: LoadedServer, requests: list[bytes], chosen: argparse.Namespace) -> None:
    """What a server can carry, and what it does under more."""
    channels = open_channels(server.address, CHANNELS)
    await closed_loop(channels, requests, 2)
    spent, began = server.cpu_seconds(), time.perf_counter()
    answered = await closed_loop(channels, requests, chosen.seconds)
    capacity = answered / (time.perf_counter() - began)
    cpu_ms = (server.cpu_seconds() - spent) / answered * 1e3
    report.add("capacity, 64 calls at a time", "calls/s", capacity, n=answered, cpu_ms_a_call=round(cpu_ms, 2))
    watched = open_channels(server.address, 1)[0]
    for factor in FACTORS:
        server.state()
        done = asyncio.Event()
        watching = asyncio.create_task(health_checks(watched, done))
        outcome = await in_open_loop(channels, requests, capacity * factor, chosen.seconds, seed=factor)
        done.set()
        add_overload(report, f"{factor}x", outcome, await watching, server.state()["refused_ms"], PLACES / capacity)
    for channel in (*channels, watched):
        await channel.close()


async def closed_loop(channels: list[Any], requests: list[bytes], seconds: float) -> int:
    """Calls one after the other at each place; how many were answered."""
    ends, answered = time.monotonic() + seconds, 0

    async def one(number: int) -> None:
        nonlocal answered
        method = channels[number % len(channels)].unary_stream(METHOD)
        while time.monotonic() < ends:
            async for _ in method(requests[answered % len(requests)]):
                pass
            answered += 1

    await asyncio.gather(*(one(number) for number in range(PLACES)))
    return answered


def add_overload(
    report: Report, name: str, outcome: Outcome, health: list[float], inside_ms: list[float], full_house: float
) -> None:
    """The lines of one rate. `full_house`: seconds that all places take at capacity."""
    calls = sum(outcome.codes.values())
    report.add(f"{name}: offered", "calls", calls, n=calls, codes=dict(outcome.codes))
    late = quantile(outcome.late_ms, 0.99)
    for what, times in (("answered", outcome.answered_ms), ("first frame", outcome.first_ms)):
        for share in (0.5, 0.99):
            more = {"client_late_p99_ms": round(late, 1), "all_places_ms": round(full_house * 1e3)}
            report.add(f"{name}: {what}, p{share * 100:g}", "ms", quantile(times, share), n=len(times), **more)
    for what, times in (("refused, seen by the client", outcome.refused_ms), ("refused, in the server", inside_ms)):
        for share in (0.5, 0.99):
            if times:
                goal = {"goal": REFUSAL_GOAL_MS}
                report.add(f"{name}: {what}, p{share * 100:g}", "ms", quantile(times, share), n=len(times), **goal)
    if outcome.refused_ms:
        soon = sum(each <= REFUSAL_GOAL_MS for each in outcome.refused_ms) / len(outcome.refused_ms) * 100
        what = f"{name}: refused within {REFUSAL_GOAL_MS:g} ms, seen by the client"
        report.add(what, "%", soon, n=len(outcome.refused_ms), goal=100)
    report.add(f"{name}: health, p99", "ms", quantile(health, 0.99), n=len(health), all_serving=True)


async def many_streams(report: Report, server: LoadedServer, requests: list[bytes], chosen: argparse.Namespace) -> None:
    """Streams of all endings; what is left."""
    run = Soak(server.address, requests)
    part, seconds = chosen.streams // SOAK_PARTS, chosen.soak_seconds / SOAK_PARTS
    await soak(run, part // 10, seconds)  # what a first of its kind loads is there
    states = [await settled(server, 0)]
    run.begun.clear()
    run.codes.clear()
    for _ in range(SOAK_PARTS):
        await soak(run, part, seconds)
        states.append(await settled(server, states[0]["descriptors"]))
        say(f"# {sum(run.begun.values()):,} streams: {states[-1]}")
    begun = sum(run.begun.values())
    report.add("streams of all endings", "streams", begun, n=begun, endings=dict(run.begun), codes=dict(run.codes))
    first, last = states[0], states[-1]
    for name in ("calls", "work", "slots", "endings"):
        report.add(f"left of them: {name}", "left", last[name], n=begun)
    for name in ("tasks", "descriptors", "rss_mib"):
        unit = "MiB" if name == "rss_mib" else "count"
        behind = ("before them", first[name])
        line = {"all": [state[name] for state in states]}
        report.add(f"after them: {name}", unit, last[name], n=begun, peer=behind, **line)


async def settled(server: LoadedServer, descriptors: int) -> dict[str, Any]:
    """The state once nothing is left and no more descriptors are open than were, or after 10 seconds."""
    ends = time.monotonic() + 10
    while True:
        state = server.state()
        del state["refused_ms"]
        left = any(state[name] for name in ("calls", "work", "slots", "endings"))
        if time.monotonic() > ends or (not left and state["descriptors"] <= descriptors):
            return state
        await asyncio.sleep(0.1)


def quantile(times: list[float], share: float) -> float:
    """The value below which such a share lies; 0 where there is none."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))] if times else 0.0


if __name__ == "__main__":
    assert sum(weight for weight, _ in ENDINGS.values()) == 100
    raise SystemExit(main())
