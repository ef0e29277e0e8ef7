"""RAGSpine's default retriever, asked line by line; for `against_ragspine.py`, under an interpreter that has
`rag-spine`.

    python ragspine_peer.py CORPUS.jsonl DATABASE

Stores the corpus in RAGSpine's chunk store (once), writes a line with its version, and then answers each line of its
input (a question) with a line of JSON: CPU and wall milliseconds, and the ids of what was found. The retriever is what
`build_narrative_retriever` makes where nothing is said: BM25 over all chunks, rewritten by its glossary, RRF, no
vectors.
"""

import importlib.metadata
import json
import platform
import sys
import time
from pathlib import Path

from ragspine.retrieval.chunking.chunk_store import ChunkStore
from ragspine.retrieval.chunking.chunking import Chunk
from ragspine.retrieval.link.narrative_link import build_narrative_retriever

CHUNKS_A_DOCUMENT = 1000


def main() -> None:
    corpus, database = Path(sys.argv[1]), Path(sys.argv[2])
    if not database.exists():
        fresh = database.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        store(corpus, fresh)
        fresh.rename(database)
    retriever, _ = build_narrative_retriever(str(database))
    write({"version": importlib.metadata.version("rag-spine"), "python": platform.python_version()})
    for line in sys.stdin:
        begun, spent = time.perf_counter(), time.process_time()
        found = retriever.retrieve(json.loads(line), top_k=10)
        cpu, wall = time.process_time() - spent, time.perf_counter() - begun
        write({"cpu_ms": cpu * 1e3, "wall_ms": wall * 1e3, "found": [each["chunk_id"] for each in found]})


def store(corpus: Path, database: Path) -> None:
    """A row a chunk, as its own ingest writes them."""
    chunks = ChunkStore(str(database))
    chunks.init_schema()
    with corpus.open(encoding="utf-8", newline="\n") as lines:
        waiting = []
        for number, line in enumerate(lines):
            row = json.loads(line)
            doc_id, seq = f"doc-{number // CHUNKS_A_DOCUMENT:05}", number % CHUNKS_A_DOCUMENT
            locator = f"{doc_id}#para{seq + 1}"
            waiting.append(Chunk(f"{doc_id}#c{seq}", doc_id, seq, row["text"], locator, seq + 1, seq + 1))
            if len(waiting) == CHUNKS_A_DOCUMENT:
                chunks.replace_doc_chunks(doc_id, waiting)
                waiting = []
        if waiting:
            chunks.replace_doc_chunks(waiting[0].doc_id, waiting)
    chunks.close()


def write(answer: dict) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
