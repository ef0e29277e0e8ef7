"""Front matter of a Markdown file: TOML between +++ lines, or `key: value` YAML between --- lines.

Of YAML these are read: comments; plain and quoted texts; true, false, null; whole and decimal numbers; days; lists in
brackets or one member a line with a hyphen. Nested mappings, anchors, tags and texts over several lines are not; an
entry that holds one is passed over with a warning, but a label, title or valid_as_of that does refuses the document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.document import ReadOptions
from groundwire_server.readers.metadata import Metadata, attribute_name, parse_metadata_toml, read_metadata

__all__ = ["FrontMatter", "parse_simple_yaml", "split_front_matter"]

_FENCE = re.compile(r"(?P<fence>\+\+\+|---)[ \t]*(?:\r\n|\n|\r)")
_LINE = re.compile(r"(?P<content>[^\r\n]*)(?:\r\n|\n|\r|\Z)")
_KEY = r"\"[^\"]*\"|'[^']*'|[^\s#:\[\]{},&*!|>'\"%@`-][^:#]*"
_ENTRY = re.compile(rf"(?P<key>{_KEY}):(?:[ \t]+(?P<value>.*))?")
_DOUBLE, _SINGLE = r'"(?:[^"\\]|\\.)*"', r"'(?:[^']|'')*'"
_QUOTED = re.compile(rf"(?P<quoted>{_DOUBLE}|{_SINGLE})\s*(?:#.*)?")
_MEMBER = re.compile(rf"\s*(?P<member>(?:{_DOUBLE}|{_SINGLE})\s*|[^,\[\]{{}}\"'][^,\[\]{{}}]*)(?:,|\Z)")
_HYPHEN = re.compile(r"-(?:\s|\Z)")
_SAFE_KEYS = frozenset({"label", "sensitivity", "title", "valid_as_of"})


class _NotRead(Exception):
    """A value in a form of YAML that is not read here."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter says, and the offset at which the body begins (0: there is none)."""

    metadata: Metadata
    body_start: int


def split_front_matter(doc_id: str, text: str, options: ReadOptions) -> FrontMatter:
    """Read the front matter at the very beginning of a text, if there is one; a lone --- is a rule, not a beginning.

    Raises:
        DocumentRefused: DOCUMENT_BROKEN when it cannot be read: a label might stand in it.
    """
    opening = _FENCE.match(text)
    if opening is None:
        return FrontMatter(Metadata(), 0)
    toml = opening["fence"] == "+++"
    found = _lines_before(text, opening.end(), ("+++",) if toml else ("---", "..."))
    if found is None:
        return FrontMatter(Metadata(), 0)
    lines, body_start = found
    if toml:
        return FrontMatter(parse_metadata_toml(doc_id, "\n".join(lines), options.parse_period, 2), body_start)
    if not _looks_like_yaml(lines):
        return FrontMatter(Metadata(), 0)
    mapping, warnings = parse_simple_yaml(doc_id, lines, first_line=2)
    metadata = read_metadata(mapping, options.parse_period)
    return FrontMatter(replace(metadata, warnings=(*warnings, *metadata.warnings)), body_start)


def _lines_before(text: str, offset: int, closing: tuple[str, ...]) -> tuple[list[str], int] | None:
    """The lines up to a closing one and the offset behind it; None when nothing closes."""
    lines: list[str] = []
    while offset < len(text):
        line = _LINE.match(text, offset)
        if line is None:
            return None
        if line["content"].rstrip() in closing:
            return lines, line.end()
        lines.append(line["content"])
        offset = line.end()
    return None


def _looks_like_yaml(lines: list[str]) -> bool:
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), None)
    return first is None or _ENTRY.fullmatch(first) is not None


def parse_simple_yaml(doc_id: str, lines: list[str], first_line: int = 1) -> tuple[dict[str, object], list[str]]:
    """Entries of `key: value` YAML, and warnings for those that were passed over.

    Raises:
        DocumentRefused: a line that is no entry, or a label, title or valid_as_of that cannot be read.
    """
    mapping: dict[str, object] = {}
    warnings: list[str] = []
    for number, key, value, block in _entries(doc_id, lines, first_line):
        try:
            read = _block_value(value, block)
        except _NotRead:
            if attribute_name(key) in _SAFE_KEYS:
                raise _broken(doc_id, number, f"{key[:64]} cannot be read") from None
            warnings.append(f"{key[:64]} (line {number}) holds YAML beyond `key: value` and was passed over")
            continue
        if key in mapping:
            raise _broken(doc_id, number, f"{key[:64]} stands there twice")
        mapping[key] = read
    return mapping, warnings


def _entries(doc_id: str, lines: list[str], first_line: int) -> list[tuple[int, str, str, list[str]]]:
    """(line number, key, text behind the colon, indented or hyphened lines below) of each entry."""
    entries: list[tuple[int, str, str, list[str]]] = []
    for number, line in enumerate(lines, first_line):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if entries and (line[0] in " \t" or _HYPHEN.match(line)):
            entries[-1][3].append(line.strip())
            continue
        entry = _ENTRY.fullmatch(line.rstrip())
        if entry is None:
            raise _broken(doc_id, number, "the line is not of the form `key: value`")
        entries.append((number, entry["key"].strip().strip("\"'"), (entry["value"] or "").strip(), []))
    return entries


def _block_value(value: str, block: list[str]) -> object:
    value = _without_comment(value)
    if not block:
        return _inline_list(value) if value.startswith("[") else _scalar(value)
    if value or not all(_HYPHEN.match(line) for line in block):
        raise _NotRead
    return [_list_member(_without_comment(line[1:].strip())) for line in block]


def _inline_list(value: str) -> object:
    if not value.endswith("]"):
        raise _NotRead
    inner, members, offset = value[1:-1].strip(), [], 0
    while offset < len(inner):
        member = _MEMBER.match(inner, offset)
        if member is None:
            raise _NotRead
        members.append(_list_member(member["member"].strip()))
        offset = member.end()
    return members


def _list_member(text: str) -> object:
    """Members are texts: years and numbers in a list of tags are names there."""
    if text[:1] in ("'", '"'):
        return _scalar(text)
    if re.search(r":(\s|$)", text):
        raise _NotRead
    _refuse_syntax(text)
    return text


def _scalar(text: str) -> object:
    if text.startswith('"'):
        if not re.fullmatch(r'"(?:[^"\\]|\\["\\/nt])*"', text):
            raise _NotRead
        return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text[1:-1])
    if text.startswith("'"):
        if not re.fullmatch(r"'(?:[^']|'')*'", text):
            raise _NotRead
        return text[1:-1].replace("''", "'")
    _refuse_syntax(text)
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    if re.fullmatch(r"[-+]?(0|[1-9][0-9]{0,30})", text):
        return int(text)
    if re.fullmatch(r"[-+]?[0-9]{1,30}\.[0-9]{1,30}", text):
        return Decimal(text)
    return _moment(text)


def _moment(text: str) -> object:
    """A day or time where the text is one, else the text."""
    if not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return text
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError:
        return text


def _refuse_syntax(text: str) -> None:
    if text[:1] in ("|", ">", "&", "*", "!", "{", "[", "%", "@", "`") or (text[:1] == "?" and text[1:2] in ("", " ")):
        raise _NotRead


def _without_comment(text: str) -> str:
    if text[:1] in ("'", '"'):
        closed = _QUOTED.fullmatch(text)
        return closed["quoted"] if closed else text
    return re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()


def _broken(doc_id: str, line: int, why: str) -> DocumentRefused:
    return DocumentRefused(
        ErrorReason.DOCUMENT_BROKEN,
        f"{doc_id}: front matter, line {line}: {why}.",
        hint="Front matter is `key: value` YAML between --- lines, or TOML between +++ lines.",
    )
