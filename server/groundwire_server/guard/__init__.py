"""What holds a model's prose to the evidence that it cites: the number guard and the citation guard (semantics 11)."""

from groundwire_server.guard.added import adds_to
from groundwire_server.guard.citations import CitationMark, CitedSentence, parse, resolve, without_marks
from groundwire_server.guard.numbers import Number, read_numbers
from groundwire_server.guard.sentence_guard import SentenceGuard
from groundwire_server.guard.verdict import Fault, FaultKind, Verdict

__all__ = [
    "CitationMark",
    "CitedSentence",
    "Fault",
    "FaultKind",
    "Number",
    "SentenceGuard",
    "Verdict",
    "adds_to",
    "parse",
    "read_numbers",
    "resolve",
    "without_marks",
]
