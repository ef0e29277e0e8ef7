"""Settings of a library as options of a command, and the library that they make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any

import click

from groundwire import AttributeSpec, AttributeType, IndexSettings, Library, RetrievalTuning, Setting
from groundwire_server.chunking import CHUNKERS, needs_model
from groundwire_server.cli.options import COUNT, WORDS

__all__ = ["asks_for_model", "changed_library", "library_settings_options"]

_OF_INDEX = ("chunker", "chunk_chars", "overlap_chars", "embedder", "contextual_header", "relation_extractor")
_TYPES = [each.name.lower() for each in AttributeType if each is not AttributeType.UNSPECIFIED]


def library_settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What `create` and `set` can say; it goes into `changed_library`."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Check and show, and change nothing."),
        click.option(
            "--attribute",
            "attributes",
            type=WORDS,
            multiple=True,
            metavar="NAME=TYPE",
            help=f"Declare what an attribute holds ({', '.join(_TYPES)}); may be repeated.",
        ),
        click.option(
            "--set",
            "settings",
            type=WORDS,
            multiple=True,
            metavar="NAME=VALUE",
            help="A further setting, as `libraries show` lists them; may be repeated.",
        ),
        click.option(
            "--relation-extractor",
            type=WORDS,
            metavar="NAME",
            help="Who finds relations in texts: none, co_occurrence, llm.",
        ),
        click.option("--embedder", type=WORDS, metavar="NAME", help="auto, onnx, or none: words alone."),
        click.option(
            "--contextual/--no-contextual",
            "contextual_header",
            default=None,
            help="Whether title, entity, period and heading go before each chunk in what is indexed.",
        ),
        click.option("--overlap-chars", type=click.IntRange(0, 2**31 - 1), help="Overlap of two chunks."),
        click.option("--chunk-chars", type=COUNT, help="Longest chunk, in characters (or budget_unit=tokens)."),
        click.option("--chunker", type=WORDS, metavar="NAME", help=f"How text is cut: {', '.join(CHUNKERS)}."),
        click.option("--description", type=WORDS, metavar="TEXT", help="What is in it; the library router reads it."),
    ):
        command = option(command)
    return command


def changed_library(library: Library, said: dict[str, Any]) -> Library:
    """The library as it is to be saved: everything that is set of its own, with what the options say."""
    index = library.index or IndexSettings()
    named = {name: said[name] for name in _OF_INDEX}
    index = replace(index, **{name: value for name, value in named.items() if value is not None})
    settings = {each.name: each for each in library.settings if each.origin in ("", "library")}
    settings |= {name: Setting(name, value) for name, value in _pairs(said["settings"], "--set NAME=VALUE")}
    declared = {each.name: each for each in library.attributes}
    for name, kind in _pairs(said["attributes"], "--attribute NAME=TYPE"):
        if kind.lower() not in _TYPES:
            raise click.UsageError(f"--attribute {name}={kind}: {kind!r} is none of {', '.join(_TYPES)}.")
        declared[name] = AttributeSpec(name, AttributeType.read(kind.upper()))
    # Some settings are shown as tuning; the options name them like the others, and win.
    unsaid: dict[str, Any] = {each.name: each.default for each in fields(RetrievalTuning) if each.name in settings}
    tuning = replace(library.tuning or RetrievalTuning(), **unsaid)
    return Library(
        library.library_id,
        library.description if said["description"] is None else said["description"],
        index=index,
        tuning=tuning,
        settings=tuple(settings.values()),
        attributes=tuple(declared[name] for name in sorted(declared)),
    )


def asks_for_model(said: dict[str, Any], default_chunker: str) -> bool:
    """Whether a library that the options describe is cut by a model, so that a server without one would refuse it."""
    units = [value for name, value in _pairs(said["settings"], "--set NAME=VALUE") if name == "budget_unit"]
    return needs_model(said["chunker"] or default_chunker, units[-1] if units else "characters")


def _pairs(words: Iterable[str], form: str) -> list[tuple[str, str]]:
    pairs = []
    for each in words:
        name, equals, value = each.partition("=")
        if not name or not equals:
            raise click.UsageError(f"{each!r} is not {form}.")
        pairs.append((name.strip(), value.strip()))
    return pairs
