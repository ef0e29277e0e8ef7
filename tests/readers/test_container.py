"""The guard before packed files and XML."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers import ReadOptions, Source
from groundwire_server.readers.container import Container, open_container, parse_xml
from tests.support.packed_files import packed

SMALL = ReadOptions(max_unpacked_bytes=1000, max_members=5)


def opened(raw: bytes, options: ReadOptions | None = None) -> Container:
    return open_container(Source("a.docx", raw, options=options or ReadOptions()))


def refusal(raw: bytes, options: ReadOptions | None = None) -> DocumentRefused:
    with pytest.raises(DocumentRefused) as refused:
        opened(raw, options)
    assert refused.value.message.startswith("a.docx: ")
    return refused.value


def with_bit(raw: bytes, flag: int) -> bytes:
    """The flag set in each header of a member, local and central."""
    changed = bytearray(raw)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = raw.find(mark)
        while at >= 0:
            (bits,) = struct.unpack_from("<H", changed, at + place)
            struct.pack_into("<H", changed, at + place, bits | flag)
            at = raw.find(mark, at + 4)
    return bytes(changed)


def test_members_are_read_as_they_are() -> None:
    container = opened(packed({"a.xml": "<a/>", "folder/": "", "folder/b": b"\x00\x01"}))
    assert container.names == ("a.xml", "folder/b")
    assert "folder/b" in container
    assert container.read("folder/b") == b"\x00\x01"
    with pytest.raises(DocumentRefused, match="the part 'c' is missing"):
        container.read("c")


def test_a_copy_holds_what_is_kept_and_empty_members_for_the_rest() -> None:
    copy = opened(packed({"a.xml": "<a/>", "media/b": b"123"})).checked_copy(lambda name: name.endswith(".xml"))
    with zipfile.ZipFile(copy) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"a.xml": b"<a/>", "media/b": b""}


@pytest.mark.parametrize("raw", [b"", b"no zip", packed({"a": "b"})[:-10], b"PK\x03\x04" + bytes(100)])
def test_what_is_no_whole_file_is_broken(raw: bytes) -> None:
    assert refusal(raw).reason is ErrorReason.DOCUMENT_BROKEN


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/passwd", "\\a", "..\\a", "C:/a", "x" * 2000])
def test_a_path_that_leads_out_is_broken(name: str) -> None:
    assert refusal(packed({name: "x"})).reason is ErrorReason.DOCUMENT_BROKEN


def test_two_members_of_one_name_are_broken() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a", "2")
    assert refusal(stream.getvalue()).reason is ErrorReason.DOCUMENT_BROKEN


def test_an_encrypted_member_is_encrypted() -> None:
    assert refusal(with_bit(packed({"a": "b"}), 0x1)).reason is ErrorReason.DOCUMENT_ENCRYPTED


def test_an_office_file_with_a_password_is_encrypted_and_an_old_one_unsupported() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    assert refusal(ole + "EncryptedPackage".encode("utf-16-le")).reason is ErrorReason.DOCUMENT_ENCRYPTED
    assert refusal(ole).reason is ErrorReason.DOCUMENT_UNSUPPORTED


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_unsupported(method: int) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("a", "1")
    assert refusal(stream.getvalue()).reason is ErrorReason.DOCUMENT_UNSUPPORTED


def test_too_many_members_and_too_many_bytes_are_too_large() -> None:
    many = refusal(packed({str(number): "" for number in range(6)}), SMALL)
    assert (many.reason, many.details) == (ErrorReason.DOCUMENT_TOO_LARGE, {"max_members": "5"})
    large = refusal(packed({"a": bytes(600), "b": bytes(600)}), SMALL)
    assert (large.reason, large.details) == (ErrorReason.DOCUMENT_TOO_LARGE, {"max_unpacked_bytes": "1000"})


def test_a_bomb_is_told_by_its_ratio_before_it_is_unpacked() -> None:
    assert refusal(packed({"a": bytes(20 << 20)})).details == {"max_ratio": "250"}


def test_a_size_that_lies_is_noticed() -> None:
    raw = bytearray(packed({"a": b"0123456789" * 50}))
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", raw, raw.find(mark) + place, 10)
    with pytest.raises(DocumentRefused) as refused:
        opened(bytes(raw)).read("a")
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN


def test_what_is_read_counts_together() -> None:
    container = Container("a.docx", zipfile.ZipFile(io.BytesIO(packed({"a": bytes(600), "b": bytes(600)}))), SMALL)
    container.read("a")
    with pytest.raises(DocumentRefused) as refused:
        container.read("b")
    assert refused.value.reason is ErrorReason.DOCUMENT_TOO_LARGE


def read_xml(raw: bytes, max_depth: int = 10) -> str:
    return parse_xml("a.docx", "part.xml", raw, max_depth=max_depth).tag


BOMB = '<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><a>&z;</a>'


@pytest.mark.parametrize(
    "raw",
    [
        BOMB.encode(),
        f'<?xml version="1.0" encoding="utf-16"?>{BOMB}'.encode("utf-16"),
        f'<?xml version="1.0" encoding="utf-16"?>{BOMB}'.encode("utf-16-be"),
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        b"",
        b"<a>",
        b"<a/><b/>",
        b"\x00\x00",
        b"<a>" * 300 + b"</a>" * 300,
    ],
)
def test_entities_and_what_is_no_xml_are_refused(raw: bytes) -> None:
    with pytest.raises(DocumentRefused, match=r"^a\.docx: the part 'part.xml' ") as refused:
        read_xml(raw)
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN


def test_a_copy_refuses_entities_in_any_encoding() -> None:
    for raw in (BOMB.encode(), f'<?xml version="1.0" encoding="utf-16"?>{BOMB}'.encode("utf-16")):
        with pytest.raises(DocumentRefused, match="declares XML entities"):
            opened(packed({"word/document.xml": raw})).checked_copy(lambda name: True)


def test_a_type_without_entities_loads_nothing() -> None:
    assert read_xml(b'<!DOCTYPE a SYSTEM "http://localhost:1/a.dtd"><a/>') == "a"


def test_depth_is_bounded() -> None:
    assert read_xml(b"<a>" * 10 + b"</a>" * 10) == "a"
    with pytest.raises(DocumentRefused) as refused:
        read_xml(b"<a>" * 11 + b"</a>" * 11)
    assert (refused.value.reason, refused.value.details) == (ErrorReason.DOCUMENT_TOO_LARGE, {"max_depth": "10"})
