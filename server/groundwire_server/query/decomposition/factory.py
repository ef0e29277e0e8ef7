"""The decomposers that there are (semantics 7): by a language model, and by rules."""

from __future__ import annotations

from groundwire_server.query.choice import choose, names_of
from groundwire_server.query.decomposition.by_model import ModelDecomposer
from groundwire_server.query.decomposition.by_rules import RuleDecomposer
from groundwire_server.query.decomposition.decomposer import Decomposer

__all__ = ["DECOMPOSERS", "make_decomposer"]

_ALL: tuple[Decomposer, ...] = (ModelDecomposer(), RuleDecomposer())
DECOMPOSERS: tuple[str, ...] = names_of(_ALL)


def make_decomposer(name: str) -> Decomposer:
    """A decomposer by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    return choose(_ALL, name, "decomposition")
