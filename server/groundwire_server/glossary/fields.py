"""One term from a table of fields, whatever file it stood in. Every fault is collected, none is guessed around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.glossary.additivity import assume_additivity
from groundwire_server.glossary.place import Place
from groundwire_server.glossary.terms import (
    Additivity,
    ChannelTerm,
    EntityTerm,
    Identifier,
    MemberTerm,
    MetricNature,
    MetricTerm,
    RelationTerm,
    Synonym,
    Term,
    TermKind,
)

__all__ = ["Fields", "read_term"]


class Fields:
    """A table of fields with its place. What is read is ticked off; `finish` reports the rest.

    Args:
        table: field names and values as the file gives them.
        place: for messages.
        violations: where faults go.
    """

    def __init__(self, table: Mapping[str, object], place: Place, violations: list[Violation]) -> None:
        self._table = table
        self._known: list[str] = []
        self.place = place
        self._violations = violations

    def fault(self, field: str, reason: ErrorReason, description: str) -> None:
        """Note a fault."""
        self._violations.append(self.place.fault(field, reason, description))

    def value(self, field: str) -> object:
        """The raw value, None where there is none."""
        self._known.append(field)
        return self._table.get(field)

    def text(self, field: str, *, required: bool = False) -> str:
        """A text, empty where there is none."""
        value = self.value(field)
        if value is None and not required:
            return ""
        if not isinstance(value, str):
            reason = ErrorReason.VALUE_REQUIRED if value is None else ErrorReason.VALUE_MALFORMED
            self.fault(field, reason, "a text is needed")
            return ""
        return str(value)

    def choice(self, field: str, valid: tuple[str, ...]) -> str:
        """One of some words, empty where there is none."""
        value = self.text(field)
        if value and value not in valid:
            self.fault(field, ErrorReason.UNKNOWN_NAME, f"{value!r} is none of {', '.join(valid)}")
            return ""
        return value

    def flag(self, field: str) -> bool:
        """True or false, false where there is nothing."""
        value = self.value(field)
        flag = getattr(value, "flag", value)  # of YAML, where a word is first of all a text
        if value is not None and not isinstance(flag, bool):
            self.fault(field, ErrorReason.VALUE_MALFORMED, "true or false is needed")
        return flag is True

    def synonyms(self, field: str) -> tuple[Synonym, ...]:
        """A list of names, or lists of names by language ("any" for none)."""
        value = self.value(field)
        by_language = {"": value} if isinstance(value, list) else value
        if by_language is None:
            return ()
        if not isinstance(by_language, Mapping):
            self.fault(field, ErrorReason.VALUE_MALFORMED, "lists of texts by language are needed: {en = [], ja = []}")
            return ()
        found: list[Synonym] = []
        for language, listed in by_language.items():
            if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
                self.fault(f"{field}.{language}", ErrorReason.VALUE_MALFORMED, "a list of texts is needed")
                continue
            found.extend(Synonym(str(name), "" if language == "any" else language) for name in listed)
        return tuple(found)

    def identifiers(self, field: str) -> tuple[Identifier, ...]:
        """Identifiers by scheme; an empty value is none."""
        value = self.value(field)
        if value is None:
            return ()
        if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value.values()):
            self.fault(field, ErrorReason.VALUE_MALFORMED, 'texts by scheme are needed: {ticker = "AMZN"}')
            return ()
        return tuple(Identifier(scheme, str(text)) for scheme, text in value.items() if text)

    def finish(self) -> None:
        """Report fields that nobody asked for."""
        for field in self._table:
            if field not in self._known:
                known = ", ".join(dict.fromkeys(self._known))
                self.fault(field, ErrorReason.UNKNOWN_NAME, f"no such field; known: {known}")


def read_term(kind: TermKind, fields: Fields, *, code: str, synonyms: str) -> Term:
    """A term of a kind. A metric's additivity, where it is not given, is assumed from its unit and names.

    Args:
        code: name of the field with the code.
        synonyms: name of the field with the synonyms.
    """
    own, label, names = fields.text(code, required=True), fields.text("label"), fields.synonyms(synonyms)
    match kind:
        case TermKind.METRIC:
            return _metric(fields, own, label, names)
        case TermKind.ENTITY:
            return EntityTerm(
                own,
                label,
                names,
                fields.identifiers("ids"),
                fields.text("parent"),
                fields.text("fiscal_year_start"),
                _named_by(fields),
                fields.text("type"),
            )
        case TermKind.CHANNEL:
            return ChannelTerm(own, label, names)
        case TermKind.MEMBER:
            return MemberTerm(fields.text("dimension", required=True), own, label, names)
        case TermKind.RELATION:
            return RelationTerm(own, label, names, fields.text("inverse_of"), fields.flag("symmetric"))


def _metric(fields: Fields, code: str, label: str, names: tuple[Synonym, ...]) -> MetricTerm:
    unit = fields.text("unit")
    given = fields.choice("additivity", tuple(each.value for each in Additivity))
    nature = fields.choice("nature", tuple(each.value for each in MetricNature))
    additivity = Additivity(given) if given else assume_additivity(unit, (code, label, *(name.text for name in names)))
    return MetricTerm(
        code,
        label,
        names,
        unit,
        additivity,
        MetricNature(nature) if nature else None,
        fields.text("definition"),
        fields.text("derivation"),
        additivity_assumed=not given,
    )


def _named_by(fields: Fields) -> Literal["", "start", "end"]:
    match fields.choice("fiscal_year_named_by", ("end", "start")):
        case "start":
            return "start"
        case "end":
            return "end"
        case _:
            return ""
