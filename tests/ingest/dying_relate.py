"""A process that has the documents of a library looked through for relations and is killed at a named point.

python -m tests.ingest.dying_relate FOLDER EXTRACTOR POINT before|after CALL

EXTRACTOR "names" works on many documents at a time; "model" on each by itself, and says which it was asked for.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from groundwire_server.glossary import EntityTerm, Glossary
from groundwire_server.ingest import relate
from groundwire_server.library import Library, LibraryConfig, Snapshot
from groundwire_server.llm import ChatRequest, ScriptedProvider
from groundwire_server.relations.extractors import ModelAccess, RelationExtractor, make_extractor
from tests.ingest.dying_recut import control_of
from tests.ingest.support import make_library, send
from tests.library.dying_writer import arm, say

NAMES = Glossary([EntityTerm("ACME", "Acme"), EntityTerm("KYOTO", "Kyoto")])
FILES = {f"{number:03}.md": f"Report {number}: Acme grows in Kyoto.".encode() for number in range(100)}


def finds(request: ChatRequest) -> str:
    """A model that finds the same everywhere, and says aloud what it was asked for."""
    shown = json.loads(request.messages[1].text.split("\n", 1)[1])
    say(f"asked {shown[0]['text'].split(':')[0].split()[1]}")
    item = {"passage": 0, "subject": "Acme", "relation": "grows_in", "object": "Kyoto", "quote": "Acme grows in Kyoto"}
    return json.dumps({"relations": [item]})


def extractor_of(snapshot: Snapshot) -> RelationExtractor:
    return make_extractor(snapshot.config.relation_extractor, snapshot.glossary, ModelAccess(ScriptedProvider(finds)))


def work(folder: Path, library: Library) -> None:
    with control_of(folder, library) as control:
        relate(library, control, extractor_of)


def main() -> None:
    folder, extractor, point, moment, call = sys.argv[1:]
    library = make_library(Path(folder))
    if not library.snapshot().rows:
        library.set_glossary(NAMES)
        send(library, *FILES.items())
        name = "llm" if extractor == "model" else "co_occurrence"
        library.set_config(LibraryConfig(relation_extractor=name, relations_from="none"))
    say("begun")
    arm(point, moment, int(call))
    work(Path(folder), library)
    say("survived")


if __name__ == "__main__":
    main()
