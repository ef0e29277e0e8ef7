"""Where the parts are put together. No wire in here.

`Engine` has the reads and what comes in; beside it stand `administration` (libraries and glossaries), `jobs` (work
behind the calls), `documents` and `records` (what is stored, one by one). `FollowingEngine` reads what another process
writes.
"""

from groundwire_server.engine.deletion import LibraryDeletion
from groundwire_server.engine.documents import MAX_STRETCH, DocumentReading, DocumentReads, TextChange
from groundwire_server.engine.engine import Engine
from groundwire_server.engine.filters import Filtered
from groundwire_server.engine.glossaries import GlossaryChange, TermName
from groundwire_server.engine.info import (
    Component,
    GlossaryFinding,
    GlossaryUpdate,
    LibraryInfo,
    LibraryPage,
    ServerInfo,
)
from groundwire_server.engine.jobs import Jobs
from groundwire_server.engine.libraries import RESUME_WINDOW
from groundwire_server.engine.records import RecordReads
from groundwire_server.engine.terms import TermDescription, TermPlace, TermWish, place_of
from groundwire_server.engine.tool_names import ToolNames

__all__ = [
    "MAX_STRETCH",
    "RESUME_WINDOW",
    "Component",
    "DocumentReading",
    "DocumentReads",
    "Engine",
    "Filtered",
    "GlossaryChange",
    "GlossaryFinding",
    "GlossaryUpdate",
    "Jobs",
    "LibraryDeletion",
    "LibraryInfo",
    "LibraryPage",
    "RecordReads",
    "ServerInfo",
    "TermDescription",
    "TermName",
    "TermPlace",
    "TermWish",
    "TextChange",
    "ToolNames",
    "place_of",
]
