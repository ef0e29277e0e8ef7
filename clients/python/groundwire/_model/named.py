"""Enums of the contract, as Python reads them."""

from __future__ import annotations

from enum import IntEnum
from typing import Self

__all__ = ["NamedEnum"]


class NamedEnum(IntEnum):
    """An enum with the names and numbers of the contract.

    UNSPECIFIED stands for what was not said, and, in an answer, for a value that this client does not know:

    >>> from groundwire import RetrievalMode
    >>> RetrievalMode(99)
    <RetrievalMode.UNSPECIFIED: 0>
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls["UNSPECIFIED"] if isinstance(value, int) else None

    @classmethod
    def read(cls, given: Self | str) -> Self:
        """The member that a caller means, given as itself or by its name in any case.

        Raises ValueError for a name that there is not, TypeError for anything else, such as a member of another enum.

        >>> from groundwire import RetrievalMode
        >>> RetrievalMode.read("lexical")
        <RetrievalMode.LEXICAL: 4>
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, str):
            raise TypeError(f"{given!r} is no {cls.__name__}")
        member = cls.__members__.get(given.upper())
        if member is None:
            names = ", ".join(name.lower() for name in cls.__members__ if name != "UNSPECIFIED")
            raise ValueError(f"{given!r} is no {cls.__name__}; valid: {names}")
        return member
