"""The graders that there are: by words, and by a language model."""

from __future__ import annotations

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.query.grades.by_model import ModelGrader
from groundwire_server.query.grades.by_words import WordGrader
from groundwire_server.query.grades.grader import Grader

__all__ = ["GRADERS", "make_grader"]

_ALL: tuple[Grader, ...] = (ModelGrader(), WordGrader())
GRADERS: tuple[str, ...] = tuple(sorted(each.name for each in _ALL))


def make_grader(name: str) -> Grader:
    """A grader by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    for each in _ALL:
        if each.name == name:
            return each
    raise InvalidRequest.one("corrective_judge", ErrorReason.UNKNOWN_NAME, f"{name!r} is none of {', '.join(GRADERS)}")
