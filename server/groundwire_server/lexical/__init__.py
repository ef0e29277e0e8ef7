"""BM25 over an inverted index: exact for any candidates, kept on disk, rebuilt from the texts when in doubt."""

from groundwire_server.lexical.bm25 import Bm25
from groundwire_server.lexical.directory import LexicalDirectory, LoadReport, Rebuilt
from groundwire_server.lexical.folder import RebuildReason
from groundwire_server.lexical.followed import FollowedWords
from groundwire_server.lexical.index import LexicalIndex
from groundwire_server.lexical.pieces import Texts
from groundwire_server.lexical.scores import LexicalScores, top

__all__ = [
    "Bm25",
    "FollowedWords",
    "LexicalDirectory",
    "LexicalIndex",
    "LexicalScores",
    "LoadReport",
    "RebuildReason",
    "Rebuilt",
    "Texts",
    "top",
]
