"""Routers that pick libraries for a question: the built-in one, and those of other packages (semantics 4).

Another package names its router as an entry point of the group `groundwire.library_routers`: a callable without
arguments, the class as a rule, that gives a `LibraryRouter`. The name of the entry point is the name of the router.
"""

from __future__ import annotations

import importlib.metadata
import logging
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Protocol

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.text import is_cjk, tokenize

__all__ = [
    "NO_ROUTER",
    "ROUTER_GROUP",
    "KeywordLibraryRouter",
    "LibraryRouter",
    "library_routers",
    "make_library_router",
]

_log = logging.getLogger(__name__)

ROUTER_GROUP = "groundwire.library_routers"
NO_ROUTER = "none"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_WORDS_TOLD = 5


class LibraryRouter(Protocol):
    """Picks libraries for a question. It may fail, hang, pick nothing or invent a name: what it says is checked."""

    def route(self, question: str, descriptions: Mapping[str, str]) -> Iterable[str] | Mapping[str, str]:
        """Ids of libraries to search, of those that `descriptions` (id to text for people) has.

        A mapping gives a reason for each, which the plan shows to the caller. Called from any thread, several at once.
        """
        ...


class KeywordLibraryRouter:
    """Picks the libraries whose id or description shares telling words with the question.

    A word tells as much as it sets libraries apart: one that stands in every description tells nothing. Single CJK
    characters do not count, pairs do. A library is taken when it reaches half of what the best one has.
    """

    name = "keyword"

    def route(self, question: str, descriptions: Mapping[str, str]) -> dict[str, str]:
        """Libraries, best first, then by id, each with the words that it was taken for; empty when no word tells."""
        words = {library: _words(f"{library} {text}") for library, text in descriptions.items()}
        spread = Counter(word for held in words.values() for word in held)
        asked = _words(question)
        weights = {word: math.log(len(words) / spread[word]) for word in asked & spread.keys()}
        shared = {library: sorted(weights.keys() & held) for library, held in words.items()}
        scores = {library: math.fsum(weights[word] for word in held) for library, held in shared.items()}
        best = max(scores.values(), default=0.0)
        chosen = [library for library, score in scores.items() if score > 0 and score >= best / 2]
        return {
            library: _told(shared[library], weights)
            for library in sorted(chosen, key=lambda library: (-scores[library], library))
        }


def _told(words: list[str], weights: Mapping[str, float]) -> str:
    """The most telling words, those that tell nothing left out."""
    telling = sorted((word for word in words if weights[word] > 0), key=lambda word: (-weights[word], word))
    return " ".join(telling[:_WORDS_TOLD])


@lru_cache(maxsize=1024)
def _words(text: str) -> frozenset[str]:
    return frozenset(token for token in tokenize(text) if len(token) > 1 or not is_cjk(token))


def library_routers() -> tuple[str, ...]:
    """Names of all routers, sorted; `NO_ROUTER` is none of them."""
    return tuple(sorted({KeywordLibraryRouter.name, *_entry_points()}))


def make_library_router(name: str, path: str = "library_router") -> LibraryRouter | None:
    """A library router by name; None for `NO_ROUTER`. One of another package is loaded when it is first asked.

    Raises:
        InvalidRequest: a name that no router has; it lists the valid ones. `path` is the field that is at fault.
    """
    if name == NO_ROUTER:
        return None
    if name == KeywordLibraryRouter.name:
        return KeywordLibraryRouter()
    if name not in _entry_points():
        choices = ", ".join((NO_ROUTER, *library_routers()))
        raise InvalidRequest.one(path, ErrorReason.UNKNOWN_NAME, f"{name!r} is none of {choices}")
    return _PackagedRouter(_entry_points()[name])


class _PackagedRouter:
    """A router of another package."""

    def __init__(self, entry_point: importlib.metadata.EntryPoint) -> None:
        self._entry_point = entry_point

    def route(self, question: str, descriptions: Mapping[str, str]) -> Iterable[str] | Mapping[str, str]:
        return _loaded(self._entry_point).route(question, descriptions)


@cache
def _loaded(entry_point: importlib.metadata.EntryPoint) -> LibraryRouter:
    router: LibraryRouter = entry_point.load()()
    return router


@cache
def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    found: dict[str, importlib.metadata.EntryPoint] = {}
    for each in importlib.metadata.entry_points(group=ROUTER_GROUP):
        taken = each.name in (NO_ROUTER, KeywordLibraryRouter.name) or each.name in found
        if taken or not _NAME.fullmatch(each.name):
            _log.warning("library router %s of %s is left out: its name cannot be used", each.name[:80], each.module)
        else:
            found[each.name] = each
    return found


def forget_packages() -> None:
    """Look for packages anew, and load their routers anew: for programs that install some while they run."""
    _entry_points.cache_clear()
    _loaded.cache_clear()
