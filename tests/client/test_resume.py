"""Answers of a real server over connections that break at any byte: nothing is lost, nothing comes twice."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import pytest

from groundwire import Client, MetricQuery, Reconnecting, SnippetBatch, StreamHeader, StreamSummary
from tests.client.both import Connect
from tests.client.cutting_proxy import cutting_proxy
from tests.rpc.house import House, furnish, house

RIVERS = {"query": "report about rivers", "top_k": 50}
QUESTION = "What was the population of Japan in 2020, and why is Tokyo the capital?"
FIGURES = [
    MetricQuery(metric, entity, period)
    for metric, entity in (("population", "Japan"), ("revenue", "Acme"), ("人口", "日本"), ("x", "y"))
    for period in ("2019", "2020", "2021")
]
CALLS: dict[str, Any] = {
    "retrieve": lambda client: client.retrieve(**RIVERS),
    "figures": lambda client: client.query_metric(FIGURES),
    "ask": lambda client: client.ask(QUESTION, top_k=30),
    "rivers": lambda client: client.ask("Why do reports tell of rivers?", top_k=45),
    "walk": lambda client: client.neighborhood(["entity:JPN"], max_hops=3),
}


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("settled") / "data") as here:
        furnish(here)
        yield here


@pytest.fixture(autouse=True)
def _small_batches_and_short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_server.rpc.stream.MAX_BATCH_SNIPPETS", 4)
    monkeypatch.setattr("groundwire._operation.resumption.retry_delay", lambda attempt, error: 0.01)


def plain(whole: Any) -> Any:
    """A whole without what two calls may differ in."""
    header = dataclasses.replace(whole.header, request_id="")
    summary = dataclasses.replace(whole.summary, timings=(), next=None)
    return dataclasses.replace(whole, header=header, summary=summary)


@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_answer_over_a_connection_that_breaks(settled: House, connect: Connect, name: str, seed: int) -> None:
    drawn = random.Random(f"{name} {seed}")
    # The first connection lasts until something has come: before that a client does not try for long.
    budgets = [drawn.randrange(4_500, 9_000)]
    budgets += [drawn.choice((900, 1_500, 2_500, 4_000, 6_000, 9_000)) + drawn.randrange(400) for _ in range(5)]
    with Client(settled.server.address) as direct:
        expected = plain(CALLS[name](direct).collect())
    with cutting_proxy(settled.server.address, budgets) as proxy, connect(proxy.address) as client:
        stream = CALLS[name](client)
        frames = list(stream)
        whole = stream.collect()
    assert plain(whole) == expected
    told = [each for each in frames if not isinstance(each, Reconnecting)]
    assert [type(each) for each in told].count(StreamHeader) == 1
    assert isinstance(told[-1], StreamSummary)
    given = [one for each in told if isinstance(each, SnippetBatch) for one in each.snippets]
    assert tuple(given) == whole.snippets


def test_some_connections_did_break(settled: House, connect: Connect) -> None:
    with cutting_proxy(settled.server.address, [4_000, 5_000, 3_000]) as proxy, connect(proxy.address) as client:
        frames = list(CALLS["retrieve"](client))
    assert proxy.cuts == 3
    assert sum(isinstance(each, Reconnecting) for each in frames) >= 2


def test_pages_follow_one_another(settled: House, connect: Connect) -> None:
    with connect(settled.server.address) as client:
        whole = client.retrieve("report about rivers", top_k=200).collect()
        pages = list(client.retrieve("report about rivers", top_k=25).pages())
        assert [one for page in pages for one in page.snippets] == list(whole.snippets)
        assert [page.summary.returned for page in pages] == [25, 25, len(whole.snippets) - 50]
        stream = client.retrieve("report about rivers", top_k=25)
        first = stream.collect()
        following = stream.more()
        assert following is not None
        assert following.collect().snippets == pages[1].snippets
        assert first.summary.next is not None
        again = client.retrieve("report about rivers", top_k=25, resume=first.summary.next).collect()
        assert again.snippets == pages[1].snippets
        last = client.retrieve("zzz")
        last.collect()
        assert last.more() is None


def test_pages_come_over_connections_that_break(settled: House, connect: Connect) -> None:
    with cutting_proxy(settled.server.address, [5_000] * 6) as proxy, connect(proxy.address) as client:
        pages = list(client.retrieve("report about rivers", top_k=25).pages())
    with Client(settled.server.address) as direct:
        whole = direct.retrieve("report about rivers", top_k=200).collect()
    assert [one for page in pages for one in page.snippets] == list(whole.snippets)
