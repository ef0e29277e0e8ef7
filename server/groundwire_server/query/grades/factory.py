"""The graders that there are: by words, and by a language model."""

from __future__ import annotations

from groundwire_server.query.choice import choose, names_of
from groundwire_server.query.grades.by_model import ModelGrader
from groundwire_server.query.grades.by_words import WordGrader
from groundwire_server.query.grades.grader import Grader

__all__ = ["GRADERS", "make_grader"]

_ALL: tuple[Grader, ...] = (ModelGrader(), WordGrader())
GRADERS: tuple[str, ...] = names_of(_ALL)


def make_grader(name: str) -> Grader:
    """A grader by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    return choose(_ALL, name, "corrective_judge")
