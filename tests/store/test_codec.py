"""What the columns hold comes back as it went in, and equal texts mean equal values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import Attribute, Dimension, Period, PeriodKind, Value, family_of
from groundwire_server.store.sqlite.codec import (
    decode_attributes,
    decode_dimensions,
    decode_instant,
    encode_attributes,
    encode_dimensions,
    encode_instant,
    is_storable,
)
from groundwire_server.store.sqlite.digest import hash_parts
from groundwire_server.store.sqlite.documents import prefix_end

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
instants = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9, minutes=30))]))
periods = st.builds(Period, text, st.sampled_from(PeriodKind), st.dates(), st.dates())
values: st.SearchStrategy[Value] = st.one_of(
    text,
    st.integers(),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False),
    st.booleans(),
    st.dates(),
    instants,
    periods,
    st.lists(text, max_size=3).map(tuple),
)
attributes = st.dictionaries(text, values, max_size=5).map(lambda d: [Attribute(n, v) for n, v in d.items()])


@given(given_attributes=attributes)
def test_attributes_come_back_sorted(given_attributes: list[Attribute]) -> None:
    wanted = tuple(sorted(given_attributes, key=lambda attribute: attribute.name))
    found = decode_attributes(encode_attributes(given_attributes))
    assert found == wanted
    assert [(type(a.value), family_of(a.value), str(a.value)) for a in found if not isinstance(a.value, datetime)] == [
        (type(a.value), family_of(a.value), str(a.value)) for a in wanted if not isinstance(a.value, datetime)
    ]
    assert encode_attributes(reversed(given_attributes)) == encode_attributes(given_attributes)


@given(pairs=st.lists(st.tuples(text, text), max_size=4))
def test_dimensions_come_back_sorted(pairs: list[tuple[str, str]]) -> None:
    dimensions = [Dimension(name, member) for name, member in pairs]
    assert [(d.name, d.member) for d in decode_dimensions(encode_dimensions(dimensions))] == sorted(pairs)


@given(moment=instants)
def test_instants_come_back(moment: datetime) -> None:
    assert decode_instant(encode_instant(moment)) == moment


def test_an_instant_without_a_zone_is_one_of_utc() -> None:
    assert encode_instant(datetime(1970, 1, 1)) == 0


@given(prefix=text, others=st.lists(text, max_size=10), tail=text)
def test_the_end_of_a_prefix_bounds_exactly_what_starts_so(prefix: str, others: list[str], tail: str) -> None:
    end = prefix_end(prefix)
    for other in [*others, prefix, prefix + tail, prefix + "\U0010ffff"]:
        within = other >= prefix and (end is None or other < end)
        assert within == other.startswith(prefix)


@pytest.mark.parametrize(("prefix", "end"), [("\ud7ff", "\ue000"), ("a\U0010ffff", "b"), ("\U0010ffff", None)])
def test_the_end_of_a_prefix_steps_over_surrogates(prefix: str, end: str | None) -> None:
    assert prefix_end(prefix) == end


@given(one=st.lists(st.one_of(text, st.integers(), st.binary(max_size=8), st.none()), max_size=4), data=st.data())
def test_lists_of_parts_have_their_own_hashes(one: list[str | int | bytes | None], data: st.DataObject) -> None:
    other = data.draw(st.lists(st.one_of(text, st.integers(), st.binary(max_size=8), st.none()), max_size=4))
    assert (hash_parts(*one) == hash_parts(*other)) == (one == other)
    assert hash_parts("1", "2") != hash_parts("12") != hash_parts(12)


def test_half_a_surrogate_pair_is_not_storable() -> None:
    assert is_storable("👩‍👧\x00\uffff")
    assert not is_storable("\ud83d")
    assert not is_storable("\ud83d" + "\udc69")
