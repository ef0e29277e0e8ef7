"""All checks, in the order of the protocol."""

from __future__ import annotations

from groundwire_server.store.conformance import (
    axes,
    documents,
    edges,
    facts,
    isolation,
    ledger,
    lists,
    settings,
    transactions,
)
from groundwire_server.store.conformance.check import Check

__all__ = ["ALL_CHECKS"]

ALL_CHECKS: tuple[Check, ...] = tuple(
    Check.of(function)
    for module in (transactions, documents, settings, facts, axes, edges, lists, isolation, ledger)
    for function in module.CHECKS
)
