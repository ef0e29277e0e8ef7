"""The stages of one library's search, as lists that are the plan and the work in one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import PlanStep
from groundwire_server.narrative.fuse import fuse, fusion_for
from groundwire_server.narrative.fusion import Fusion
from groundwire_server.narrative.legs import search_dense, search_lexical
from groundwire_server.narrative.rewrite import rewrite
from groundwire_server.narrative.state import RankedList, Search, Stage
from groundwire_server.security import SecurityGate

__all__ = ["dense_stages", "fuse_stages", "lexical_stages"]


def lexical_stages(library_id: str, gate: SecurityGate, *, variants: bool) -> list[Stage]:
    """rewrite (when variants are wanted) and lexical."""
    found: list[Stage] = []
    if variants:
        step = PlanStep("rewrite", "glossary", "variants<=5,lexical", library_id)
        found.append(Stage(step, lambda search: rewrite(search, gate), _candidates, _candidates))
    step = PlanStep("lexical", "bm25", "", library_id)
    found.append(Stage(step, search_lexical, _candidates, lambda search: _length(search.lexical)))
    return found


def dense_stages(
    library_id: str, model: str, vector: NDArray[np.float32], depth: int, shortlist: int, coverage: float
) -> list[Stage]:
    """dense: exact, or over a shortlist of that many rows."""
    detail = f"signs,rescore={shortlist},depth={depth}" if shortlist else f"exact,depth={depth}"
    step = PlanStep("dense", model, detail, library_id, coverage)
    return [
        Stage(
            step,
            lambda search: search_dense(search, vector, shortlist),
            _candidates,
            lambda search: _length(search.dense),
        )
    ]


def fuse_stages(library_id: str, chosen: Fusion, legs: int) -> list[Stage]:
    """fuse."""
    fusion = fusion_for(chosen, legs)
    step = PlanStep("fuse", fusion.name, fusion.detail, library_id)
    return [Stage(step, lambda search: fuse(search, fusion), _listed, lambda search: len(search.hits))]


def _length(found: RankedList | None) -> int:
    return 0 if found is None else len(found)


def _candidates(search: Search) -> int:
    return search.candidate_count


def _listed(search: Search) -> int:
    """Entries of the lists that are fused."""
    return _length(search.lexical) + _length(search.dense)
