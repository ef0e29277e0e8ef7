from __future__ import annotations

import pytest

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import Label
from groundwire_server.security import local_principal


@pytest.mark.parametrize("label", [Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL])
def test_the_local_caller_reads_up_to_its_clearance(label: Label) -> None:
    principal = local_principal(label)
    assert principal.name == "local"
    assert [each for each in Label if principal.may_read(each)] == [each for each in Label if each <= label]
    assert local_principal(f" {label.name.title()} ") == principal


def test_internal_is_the_default() -> None:
    assert local_principal().clearance is Label.INTERNAL


@pytest.mark.parametrize("clearance", [Label.RESTRICTED, "restricted", "top secret"])
def test_nobody_reads_restricted(clearance: Label | str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        local_principal(clearance)
    (violation,) = raised.value.violations
    assert violation.reason is ErrorReason.UNKNOWN_NAME
    assert "public, internal, confidential" in violation.description
