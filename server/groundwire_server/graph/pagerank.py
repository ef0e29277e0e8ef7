"""Personalised PageRank over a small net, by power iteration in a fixed order.

Page, Brin, Motwani, Winograd 1999, "The PageRank Citation Ranking"; with restarts at a few nodes, Haveliwala 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundwire_server.graph.evidence_net import Net

__all__ = ["GO_ON", "ROUNDS", "pagerank"]

GO_ON = 0.85
"""How likely the walk takes another step; else it begins anew."""
ROUNDS = 20


def pagerank(net: Net, restart: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[nodes]: how often a walk is at each node.

    Sums are taken in the order of the links, so that equal nets give equal bits.

    Args:
        restart: float64[nodes], how likely the walk begins at each node; the sum is 1.
    """
    at = restart
    for _ in range(ROUNDS):
        moved = np.bincount(net.ends, at[net.begins] * net.chances, minlength=len(net.nodes))
        at = (1.0 - GO_ON) * restart + GO_ON * moved
    return at
