"""Who asks. Made from the call's credentials alone, never from a request field (formats.md)."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire_server.evidence.label import Label

__all__ = ["Principal"]


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller: name, clearance, and the groups and tenant that later isolation will use."""

    name: str
    clearance: Label
    groups: frozenset[str] = frozenset()
    tenant: str = ""
    may_write: bool = True
    may_administer: bool = True

    def may_read(self, label: Label) -> bool:
        """Whether a row with this label exists for the caller. RESTRICTED exists for nobody."""
        return label is not Label.RESTRICTED and label <= self.clearance
