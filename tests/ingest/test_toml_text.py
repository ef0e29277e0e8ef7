"""A mapping that is no TOML says where."""

from __future__ import annotations

import pytest

from groundwire_server.errors import InvalidRequest
from groundwire_server.ingest.fact_mapping import FactMapping
from groundwire_server.ingest.relation_names import parse_relation_mapping


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ('sheet = "PL"\n[columns\n', "is no TOML (at line 2, column 9)"),
        ("x = ", "is no TOML (at the end of the document)"),
        (f"x = {'9' * 5000}", "is no TOML"),
    ],
)
def test_where_it_is_no_toml_is_told(text: str, at: str) -> None:
    with pytest.raises(InvalidRequest) as figures:
        FactMapping.from_toml(text)
    with pytest.raises(InvalidRequest) as relations:
        parse_relation_mapping(text)
    for raised in (figures, relations):
        (violation,) = raised.value.violations
        assert (violation.field, violation.description) == ("mapping_toml", at)
