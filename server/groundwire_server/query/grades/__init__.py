"""Judges of what was found: whether it can carry an answer (semantics 7, corrective loop)."""

from groundwire_server.query.grades.by_words import keywords
from groundwire_server.query.grades.factory import GRADERS, make_grader
from groundwire_server.query.grades.grader import COMPONENT, GRADED_PASSAGES, Grade, Grader, Ground, grade_skipped

__all__ = [
    "COMPONENT",
    "GRADED_PASSAGES",
    "GRADERS",
    "Grade",
    "Grader",
    "Ground",
    "grade_skipped",
    "keywords",
    "make_grader",
]
