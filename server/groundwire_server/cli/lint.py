"""What is wrong in a glossary, and what a person should look at, whether it is a file or a library's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from groundwire_server.cli.terms import read_glossary
from groundwire_server.errors import InvalidRequest
from groundwire_server.glossary import Glossary, lint_glossary

__all__ = ["LintFinding", "lint_file", "lint_terms"]


@dataclass(frozen=True, slots=True)
class LintFinding:
    """severity: error, the glossary does not hold; look, a person should. where: the term, with its place in a file."""

    severity: Literal["error", "look"]
    where: str
    message: str


def lint_file(path: Path) -> tuple[int, list[LintFinding]]:
    """How many terms a file has, and everything that is found in it.

    Raises:
        click.ClickException: it is no UTF-8 text, or of no known form.
    """
    try:
        glossary = read_glossary(path)
    except InvalidRequest as error:
        return 0, [LintFinding("error", each.field, each.description) for each in error.violations]
    return len(glossary), list(lint_terms(glossary, with_places=True))


def lint_terms(glossary: Glossary, *, with_places: bool) -> Iterator[LintFinding]:
    """Shared names with both places, derivations that do not hold, and what was assumed."""
    for conflict in glossary.conflicts:
        message = f"{conflict.synonym!r} is a name of {' and of '.join(conflict.places)}"
        yield LintFinding("error", conflict.kind.value, message)
    for each in lint_glossary(glossary):
        where = f"{each.code} ({each.place})" if with_places else each.code
        yield LintFinding("error" if each.wrong else "look", where, each.message)
