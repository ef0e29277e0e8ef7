"""How a document stands in the store: what cut it, and what goes before its chunks in what is indexed."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["Cut"]

_CONTEXTUAL = "+contextual"
_TITLED = "+titled"


@dataclass(frozen=True, slots=True)
class Cut:
    """What `chunker` of a stored revision says.

    spec: of the chunker, with its budget.
    contextual: each chunk has a contextual header in what is indexed.
    titled: the title of the document would stand there without one. Said only where it is contextual; elsewhere the
        stored headers show it.

    >>> Cut.parse("layout(480,80)+contextual").name, str(Cut("whole", contextual=True, titled=True))
    ('layout', 'whole+contextual+titled')
    """

    spec: str
    contextual: bool = False
    titled: bool = False

    def __post_init__(self) -> None:
        if self.titled and not self.contextual:
            object.__setattr__(self, "titled", False)

    def __str__(self) -> str:
        return self.spec + _CONTEXTUAL * self.contextual + _TITLED * self.titled

    @classmethod
    def parse(cls, text: str) -> Cut:
        """The inverse of `str`."""
        untitled = text.removesuffix(_TITLED)
        spec = untitled.removesuffix(_CONTEXTUAL)
        return cls(spec, spec != untitled, untitled != text)

    @property
    def name(self) -> str:
        """Of the chunker."""
        return self.spec.partition("(")[0]

    @property
    def of_settings(self) -> str:
        """As the settings of a library say it, which know nothing of documents."""
        return str(replace(self, titled=False))
