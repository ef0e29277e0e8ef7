"""What every store must pass: each sentence of `store/protocol.py` as a function that needs no test framework.

    from groundwire_server.store.conformance import ALL_CHECKS, run_checks

    failures = run_checks(places, ALL_CHECKS)

`places()` gives a new, empty place; a place opens its store under a clock, and after `close` opens the same again.
No check is idle: `tests/store/test_conformance.py` has a table of faults of a store, and for every check one that it
must catch.
"""

from groundwire_server.store.conformance.catalogue import ALL_CHECKS
from groundwire_server.store.conformance.check import (
    Check,
    Clock,
    ConformanceFailure,
    Failure,
    GraphPlaces,
    Place,
    Places,
    run_checks,
)
from groundwire_server.store.conformance.graph import GRAPH_CHECKS
from groundwire_server.store.conformance.isolation import visible_state
from groundwire_server.store.conformance.samples import (
    HOSTILE,
    START,
    TickingClock,
    a_full_fact,
    every_attribute,
    make_document,
    make_edge,
    make_fact,
)

__all__ = [
    "ALL_CHECKS",
    "GRAPH_CHECKS",
    "HOSTILE",
    "START",
    "Check",
    "Clock",
    "ConformanceFailure",
    "Failure",
    "GraphPlaces",
    "Place",
    "Places",
    "TickingClock",
    "a_full_fact",
    "every_attribute",
    "make_document",
    "make_edge",
    "make_fact",
    "run_checks",
    "visible_state",
]
