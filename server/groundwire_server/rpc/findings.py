"""What is wrong with one request: every violation at once, and what it asks for that this server does not have."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message

from groundwire_server.errors import ErrorReason, InvalidRequest, NotImplementedHere, Violation
from groundwire_server.evidence import Filter
from groundwire_server.rpc.capabilities import is_built

__all__ = ["Findings"]


class Findings:
    """Collected while a request is decoded; `settle` raises them together.

    A wrong field goes before a missing feature: who gets NOT_IMPLEMENTED has an otherwise good request.

    Attributes:
        violations: what is wrong.
        filters: filters by path, whole or what could be read of a faulty one: names and types in them are checked too,
            where the libraries are known.
    """

    def __init__(self) -> None:
        self.violations: list[Violation] = []
        self.filters: list[tuple[str, Filter]] = []
        self._not_built: list[str] = []

    def add(self, field: str, reason: ErrorReason, description: str) -> None:
        """One wrong field."""
        self.violations.append(Violation(field, reason, description))

    def extend(self, violations: Iterable[Violation]) -> None:
        """Violations that another room has found; one that is there already stays single."""
        self.violations.extend(each for each in violations if each not in self.violations)

    def uses(self, feature: str) -> None:
        """The request asks for a feature (`rpc.capabilities`); one that is not built is refused, never passed over."""
        if not is_built(feature):
            self._not_built.append(feature)

    def required(self, field: str, value: str) -> str:
        """The value, which must hold more than blanks."""
        if not value.strip():
            self.add(field, ErrorReason.VALUE_REQUIRED, "must not be blank")
        return value

    def within(self, field: str, value: float, low: float, high: float) -> None:
        """The value must lie in the closed range."""
        if not low <= value <= high:
            self.add(field, ErrorReason.VALUE_OUT_OF_RANGE, f"{value} is not in {low}..{high}")

    def known(self, field: str, number: int, enum: EnumDescriptor, *, required: bool = False) -> bool:
        """Whether a number is one of the enum's; 0 only where the field may be left out."""
        if number in enum.values_by_number and (number or not required):
            return True
        names = [value.name for value in enum.values if value.number != 0]
        reason = ErrorReason.VALUE_REQUIRED if number == 0 else ErrorReason.UNKNOWN_NAME
        said = "must be set" if number == 0 else f"{number} is no {enum.name}"
        self.add(field, reason, f"{said}; valid: {', '.join(names)}")
        return False

    def all_known(self, message: Message, path: str = "") -> None:
        """Every number of an enum in a message is one of its enum's, whether or not anything here reads it."""
        for field, value in message.ListFields():
            here = f"{path}.{field.name}" if path else field.name
            if field.enum_type is None and field.message_type is None:
                continue
            single = isinstance(value, int | Message)
            for place, each in enumerate((value,) if single else value):
                at = here if single else f"{here}[{place}]"
                if field.enum_type is None:
                    self.all_known(each, at)
                else:
                    self.known(at, each, field.enum_type)

    def settle(self) -> None:
        """Raises InvalidRequest with all violations, else NotImplementedHere for the first missing feature."""
        if self.violations:
            raise InvalidRequest(self.violations)
        if self._not_built:
            raise NotImplementedHere(self._not_built[0])
