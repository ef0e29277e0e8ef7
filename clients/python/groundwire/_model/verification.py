"""Whether a citation holds."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.figure import FactVersion
from groundwire._model.lineage import Lineage
from groundwire._model.named import NamedEnum

__all__ = ["CitationVerdict", "Verification"]


class CitationVerdict(NamedEnum):
    """What became of a citation."""

    UNSPECIFIED = 0
    EXACT = 1
    SUPERSEDED = 2
    NOT_FOUND = 3


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict. SUPERSEDED: `active` is where the same stands now, if anywhere. `members`: of a chain's edges."""

    verdict: CitationVerdict
    active: Lineage | None = None
    active_version: FactVersion | None = None
    members: tuple[CitationVerdict, ...] = ()
