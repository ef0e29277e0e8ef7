"""What the engine tells about itself and its libraries."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire_server.evidence import AttributeType
from groundwire_server.glossary import FindingKind, TermKind
from groundwire_server.library import LibraryConfig
from groundwire_server.narrative import Unreachable
from groundwire_server.settings import SettingValue

__all__ = ["Component", "GlossaryFinding", "GlossaryUpdate", "LibraryInfo", "LibraryPage", "ServerInfo"]


@dataclass(frozen=True, slots=True)
class Component:
    """A part that can be plugged in. Inactive ones say why; `version` is what results depend on."""

    kind: str
    name: str
    active: bool = True
    inactive_reason: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Components sorted by kind and name; settings sorted by name, empty for who may not administer."""

    components: tuple[Component, ...]
    settings: tuple[SettingValue, ...]


@dataclass(frozen=True, slots=True)
class LibraryInfo:
    """A library as one caller sees it: counts, attributes and coverage are of what it may read.

    embedding_coverage: share of its chunks that have a vector; None: no embedder.
    attributes: all that filters may name, sorted by name.
    embedder: name and version of the one it is searched with, else the one that its settings wish for, or "none".
    """

    library_id: str
    config: LibraryConfig
    snapshot_id: str
    documents: int
    chunks: int
    facts: int
    relations: int
    embedding_coverage: float | None
    attributes: tuple[tuple[str, AttributeType], ...]
    tokenizer: str
    embedder: str


@dataclass(frozen=True, slots=True)
class LibraryPage:
    """Some libraries in order of id, those that cannot be opened with why, and whether there are more behind them."""

    libraries: tuple[LibraryInfo | Unreachable, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class GlossaryFinding:
    """Something in a glossary that a person should look at. `fact_count`: visible facts concerned."""

    about: FindingKind
    kind: TermKind
    dimension: str
    code: str
    fact_count: int
    message: str


@dataclass(frozen=True, slots=True)
class GlossaryUpdate:
    """What became of a change. `snapshot_id` is empty when nothing was to be changed.

    omitted: findings beyond those that are listed.
    """

    findings: tuple[GlossaryFinding, ...]
    snapshot_id: str
    omitted: int = 0
