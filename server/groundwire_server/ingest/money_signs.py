"""What signs of several currencies mean in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["MoneySigns", "Vague"]


@dataclass(frozen=True, slots=True)
class MoneySigns:
    """What signs of several currencies mean in a file.

    said: by sign, as the mapping says ("$": "CAD"). language: of the file, "ja", "zh" or empty where it is not clear.
    traditional: whether its Chinese is written in traditional characters, in which 元 has no country.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    language: str = ""
    traditional: bool = False

    def unit(self, sign: str) -> str:
        """The currency of a sign; empty where it may be any of several.

        >>> MoneySigns().unit("$"), MoneySigns().unit("¥"), MoneySigns(language="ja").unit("¥")
        ('USD', '', 'JPY')
        """
        for spelling in _spellings(sign):
            if spelling in self.said:
                return self.said[spelling]
        match sign:
            case "$" | "dollar" | "dollars":
                return "USD"
            case "¥":
                return {"ja": "JPY", "zh": "CNY"}.get(self.language, "")
            case _:
                return "" if self.traditional or sign == "圓" else "CNY"


def _spellings(sign: str) -> tuple[str, ...]:
    match sign:
        case "dollar" | "dollars":
            return ("$", sign)
        case "¥":
            return ("¥", "￥")
        case _:
            return (sign,)


Vague = MoneySigns()
