"""Figures of many keys at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from groundwire_server.store.rows import FactKey, StoredFact
from groundwire_server.store.sqlite.facts import FACT_COLUMNS, KNOWN, fact_of_row, in_versions
from groundwire_server.store.sqlite.transaction import VISIBLE

__all__ = ["read_facts_of"]

_KEYS_A_READ = 100
# A cross join keeps the order: the index of days is asked once a key.
_SELECT = (
    f"SELECT place, {FACT_COLUMNS} FROM wanted CROSS JOIN fact JOIN generation ON generation = born"
    " WHERE metric = wanted_metric AND period_first = wanted_first AND period_last = wanted_last"
    " AND channel = wanted_channel AND entity = wanted_entity AND label <= :label AND "
)
_WANTED = "(place, wanted_metric, wanted_entity, wanted_channel, wanted_first, wanted_last)"


def read_facts_of(
    connection: sqlite3.Connection,
    generation: int,
    strictest: int,
    keys: Sequence[FactKey],
    known: tuple[int, int] | None,
) -> list[list[StoredFact]]:
    """The values of each key, in the order of their versions. known: (instant, generation then)."""
    found: list[list[StoredFact]] = [[] for _ in keys]
    moment, then = known or (0, 0)
    state = VISIBLE if known is None else KNOWN
    for begin in range(0, len(keys), _KEYS_A_READ):
        named: dict[str, str | int] = {"g": generation, "label": strictest, "known": moment, "then": then}
        values: list[str] = []
        for place, key in enumerate(keys[begin : begin + _KEYS_A_READ]):
            values.append(f"({place}, :m{place}, :e{place}, :c{place}, :f{place}, :l{place})")
            named[f"m{place}"], named[f"e{place}"], named[f"c{place}"] = key.metric, key.entity, key.channel
            named[f"f{place}"], named[f"l{place}"] = key.first.isoformat(), key.last.isoformat()
        statement = f"WITH wanted {_WANTED} AS (VALUES {', '.join(values)}) {_SELECT}{state}"
        for place, *row in connection.execute(statement, named).fetchall():
            found[begin + place].append(fact_of_row(tuple(row)))
    return [in_versions(facts, at_a_moment=known is not None) for facts in found]
