"""Prompts: text files in one folder, by name, version and language.

`prompts/relations/1.ja.md` is version 1 of the prompt "relations" in Japanese. A version that was released is never
changed, only followed, since what a model found is kept with the version that asked for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from groundwire_server.llm.chat import Message

__all__ = ["LANGUAGES", "Prompt", "load_prompt", "prompt_names"]

LANGUAGES = ("en", "zh", "ja")
"""Every prompt is there in each of them."""

_SYSTEM, _USER = "--- system\n", "--- user\n"
_FILE = re.compile(r"(?P<version>[1-9][0-9]*)\.(?P<language>en|zh|ja)\.md")
_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Instructions and what the user says, with places `{{name}}` for what differs from call to call."""

    name: str
    version: int
    language: str
    system: str = field(repr=False)
    user: str = field(repr=False)

    @property
    def purpose(self) -> str:
        """Name and version, for accounts and versions of what is found."""
        return f"{self.name}/{self.version}"

    @property
    def places(self) -> frozenset[str]:
        """Names of all places."""
        return frozenset(_PLACE.findall(self.system + self.user))

    def fill(self, **values: str) -> tuple[Message, Message]:
        """Both messages. What is put in is not looked through for places.

        Raises:
            ValueError: a place has no value, or a value no place.
        """
        if values.keys() != self.places:
            raise ValueError(f"{self.purpose} has the places {', '.join(sorted(self.places))}")
        system, user = (_PLACE.sub(lambda place: values[place[1]], text) for text in (self.system, self.user))
        return Message("system", system), Message("user", user)


def prompt_names() -> list[tuple[str, int, str]]:
    """(name, version, language) of every prompt, sorted."""
    found = []
    for folder in files(__package__).joinpath("prompts").iterdir():
        if folder.is_dir() and not folder.name.startswith("_"):
            matches = (_FILE.fullmatch(file.name) for file in folder.iterdir())
            found += [(folder.name, int(match["version"]), match["language"]) for match in matches if match]
    return sorted(found)


@lru_cache
def load_prompt(name: str, language: str, version: int = 0) -> Prompt:
    """A prompt in a language, which falls back to English; version 0: the last one.

    Raises:
        KeyError: there is none of that name and version.
    """
    language = language if language in LANGUAGES else "en"
    versions = [held for known, held, spoken in prompt_names() if known == name and spoken == language]
    version = version or max(versions, default=0)
    if version not in versions:
        raise KeyError(f"{name}/{version}")
    text = files(__package__).joinpath("prompts", name, f"{version}.{language}.md").read_text("utf-8")
    system, user = text.removeprefix(_SYSTEM).split(_USER)
    return Prompt(name, version, language, system.strip(), user.strip())
