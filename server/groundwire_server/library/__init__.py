"""Libraries: store, indexes, glossary and settings held together, snapshots to read, and the folder they live in.

`library` is one of them, with its `kept_settings` and its `indexes`; a `snapshot` is one state to read. `followed*` are
the same for a process that reads what another one writes.
"""

from groundwire_server.library.attributes import BUILT_IN_ATTRIBUTES
from groundwire_server.library.columns import ChunkColumns
from groundwire_server.library.config import AMBIGUOUS, EMBEDDERS, MAX_DECLARED, LibraryConfig, fault_of_declared
from groundwire_server.library.cut import Cut
from groundwire_server.library.derived import Derived, Deriver
from groundwire_server.library.fact_names import FactCodes, FactNames
from groundwire_server.library.folder import DEFAULT_LIBRARY, DataFolder, check_library_id
from groundwire_server.library.followed import FollowedLibrary
from groundwire_server.library.followed_folder import FollowedFolder
from groundwire_server.library.library import Library
from groundwire_server.library.recut import Recut
from groundwire_server.library.snapshot import AttributeValues, Snapshot
from groundwire_server.library.titles import MOST_NAMESAKES, TitleBook, TitleMention, title_names
from groundwire_server.library.vector_models import model_of

__all__ = [
    "AMBIGUOUS",
    "BUILT_IN_ATTRIBUTES",
    "DEFAULT_LIBRARY",
    "EMBEDDERS",
    "MAX_DECLARED",
    "MOST_NAMESAKES",
    "AttributeValues",
    "ChunkColumns",
    "Cut",
    "DataFolder",
    "Derived",
    "Deriver",
    "FactCodes",
    "FactNames",
    "FollowedFolder",
    "FollowedLibrary",
    "Library",
    "LibraryConfig",
    "Recut",
    "Snapshot",
    "TitleBook",
    "TitleMention",
    "check_library_id",
    "fault_of_declared",
    "model_of",
    "title_names",
]
