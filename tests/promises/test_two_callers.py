"""Promise 3 between callers of one server: to the one who may read less, the other and its rows do not exist.

Both speak to it over TLS, each with a token or a certificate of its own. One server takes open and hidden rows, and a
caller of high clearance who asks about them all the while; the other takes the open rows alone, and nobody asks. The
caller of low clearance gets the same bytes from both.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509

from groundwire.v1 import admin_pb2, narrative_pb2, stream_pb2
from groundwire_server.library import Snapshot
from tests.promises.answers import answers, refusal
from tests.promises.worlds import (
    CANARIES,
    CONFIDENTIAL,
    INTERNAL,
    PUBLIC,
    RESTRICTED,
    begin,
    draw_hidden,
    draw_open,
    take_all,
)
from tests.rpc.doors import Keys, doorway
from tests.rpc.house import House
from tests.rpc.serving import failure_of

READERS = {
    "public": ((PUBLIC,), (INTERNAL, CONFIDENTIAL, RESTRICTED)),
    "internal": ((PUBLIC, INTERNAL), (CONFIDENTIAL, RESTRICTED)),
}
RULES = """
[[certificate]]
common_name = "low"
name = "low"
clearance = "{reader}"
rights = "{rights}"
"""


@pytest.mark.parametrize(
    ("seed", "reader", "rights", "by"),
    [(11, "public", "read", "token"), (12, "internal", "admin", "certificate"), (13, "public", "write", "token")],
)
def test_another_caller_and_its_rows_change_nothing(
    tmp_path: Path, seed: int, reader: str, rights: str, by: str
) -> None:
    _compare(tmp_path, seed, reader, rights, by)


def test_a_cache_that_forgets_whose_it_is_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, first = Snapshot.snapshot_id, dict[int, str]()
    monkeypatch.setattr(
        Snapshot, "snapshot_id", lambda self, principal: first.setdefault(id(self), whole(self, principal))
    )
    with pytest.raises(AssertionError):
        _compare(tmp_path, 14, "public", "read", "token", steps=6)


def _compare(tmp_path: Path, seed: int, reader: str, rights: str, by: str, *, steps: int = 24) -> None:
    open_labels, hidden_labels = READERS[reader]
    dice = random.Random(seed)
    shown, hidden = draw_open(dice, steps, open_labels), draw_hidden(dice, steps, hidden_labels)
    keys = Keys(tmp_path / "keys")
    told: list[dict[str, bytes]] = []
    lines: list[list[str]] = []
    for name, beside in (("without", []), ("with", hidden)):
        with _callers(tmp_path / name, keys, reader, rights, by) as (high, low):
            begin(high)
            half = len(shown) // 2
            take_all(high, shown[:half], beside[:half], random.Random(seed))
            between = datetime.now(UTC)
            take_all(high, shown[half:], beside[half:], random.Random(seed))
            if beside:
                answers(high, [between])
            with _asking(high if beside else None):
                told.append(answers(low, [between]))
            before = len(low.log())
            again = answers(low, [between])
            lines.append([_plain(line) for line in low.log()[before:]])
            assert again == told[-1]
            for word in (*CANARIES, "alpha", "h/x.md"):
                assert word not in low.written.getvalue()
    without, beside_it = told
    assert beside_it.keys() == without.keys()
    for name, answer in without.items():
        assert beside_it[name] == answer, name
    assert lines[0] == lines[1]


@contextmanager
def _callers(data: Path, keys: Keys, reader: str, rights: str, by: str) -> Iterator[tuple[House, House]]:
    """Two callers: one reads and does everything, the other what it may."""
    settings: dict[str, object] = {**keys.tls, "access__token_file": keys.tokens.path, "secret": "s"}
    for token in keys.tokens.tokens():
        keys.tokens.revoke(token.principal.name)
    high = keys.token("high", "confidential", "admin")
    low = keys.token("low", reader, rights)
    if by == "certificate":
        rules = keys.rules(RULES.format(reader=reader, rights=rights))
        settings |= {"tls__client_ca": keys.client_ca, "access__certificate_file": rules}
    roots = keys.authority.pem
    # Settings that only administrators see name a folder; it is the same one in both.
    with doorway(_same(data), **settings) as door:
        if by == "certificate":
            yield (
                door.house(roots, shows=keys.clients.sign("x", x509.DNSName("x")), token=high),
                door.house(roots, shows=keys.clients.sign("low")),
            )
        else:
            yield door.house(roots, token=high), door.house(roots, token=low)


def _same(data: Path) -> Path:
    """A folder of one name for all servers, one after the other."""
    place = data.with_name("house")
    place.unlink(missing_ok=True)
    data.mkdir()
    place.symlink_to(data, target_is_directory=True)
    return place


@contextmanager
def _asking(house: House | None) -> Iterator[None]:
    """Another caller asks everything, over and over, until the block ends."""
    end = threading.Event()

    def ask() -> None:
        while house is not None and not end.is_set():
            for query in ("alpha", "kanarienvogel", "HIDDENCO"):
                list(house.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query=query)))
            house.admin.ListLibraries(admin_pb2.ListLibrariesRequest())

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        end.set()
        asking.join()


def _plain(line: dict[str, Any]) -> str:
    """Without what a clock or a dice gave, and frames, which are cut by time."""
    diced = ("ms", "timestamp", "request_id", "frames")
    return repr(sorted((name, value) for name, value in line.items() if name not in diced))


# ---- what one caller has is of no use to another


@contextmanager
def _three(tmp_path: Path) -> Iterator[tuple[House, House, House]]:
    """A caller who reads everything and two who read what is open."""
    keys = Keys(tmp_path / "keys")
    tokens = [keys.token("high", "confidential", "admin")]
    tokens += [keys.token(name, "public", "admin") for name in ("low", "other")]
    with doorway(tmp_path / "data", **keys.tls, access__token_file=keys.tokens.path) as door:
        high, low, other = (door.house(keys.authority.pem, token=token) for token in tokens)
        yield high, low, other


def test_tokens_of_lists_and_ids_of_jobs_are_of_no_use_to_others(tmp_path: Path) -> None:
    with _three(tmp_path) as (high, low, other):
        high.store({f"open/{n}": f"alpha {n}" for n in range(4)}, label=PUBLIC)
        high.store({f"hidden/{n}": f"kanarienvogel {n}" for n in range(4)}, label=CONFIDENTIAL)
        page = admin_pb2.ListDocumentsRequest(library_id="default", page_size=2)
        for first, second in ((high, low), (low, other), (low, high)):
            token = first.admin.ListDocuments(page).next_page_token
            asked = admin_pb2.ListDocumentsRequest(library_id="default", page_size=2, page_token=token)
            failure = failure_of(partial(second.admin.ListDocuments, asked))
            assert [field for field, *_ in failure.violations] == ["page_token"]
            assert b"hidden/" not in failure.raw
        job = high.admin.StartReindex(admin_pb2.StartReindexRequest(library_id="default")).job
        calls: list[tuple[Any, Any]] = [
            (low.admin.GetJob, admin_pb2.GetJobRequest),
            (low.admin.CancelJob, admin_pb2.CancelJobRequest),
        ]
        for call, kind in calls:
            seen, never = (failure_of(partial(call, kind(job_id=each))) for each in (job.job_id, "never"))
            assert seen.reason == never.reason == "UNKNOWN_JOB"
            assert seen.message.replace(job.job_id, "never") == never.message
        assert job.job_id not in [each.job_id for each in low.admin.ListJobs(admin_pb2.ListJobsRequest()).jobs]
        gone = admin_pb2.DeleteLibraryRequest(library_id="default", validate_only=True)
        confirmation = low.admin.DeleteLibrary(gone).confirmation
        taken = admin_pb2.DeleteLibraryRequest(library_id="default", confirmation=confirmation)
        for each in (other, high):
            assert failure_of(partial(each.admin.DeleteLibrary, taken)).reason == "CONFLICTING_CHANGE"


_RAISES = [
    (("x-clearance", "confidential"), ("clearance", "confidential"), ("groundwire-clearance", "confidential")),
    (("x-principal", "high"), ("principal", "high"), ("groundwire-principal", "high"), ("x-forwarded-user", "high")),
    (
        ("groundwire-principal-bin", b'{"name":"high","clearance":"confidential"}'),
        ("x-groundwire-principal-bin", b"\x03"),
    ),
    (("x-forwarded-client-cert", "By=spiffe://a;Hash=1;Subject=CN=high"), ("forwarded", "for=127.0.0.1")),
]


@pytest.mark.parametrize("metadata", _RAISES, ids=lambda each: each[0][0])
def test_nothing_in_a_call_but_its_credentials_raises_what_is_read(tmp_path: Path, metadata: Any) -> None:
    with _three(tmp_path) as (high, low, _):
        high.store({"open": "alpha beta"}, label=PUBLIC)
        high.store({"hidden": "alpha kanarienvogel"}, label=CONFIDENTIAL)
        request = narrative_pb2.NarrativeRetrieveRequest(query="alpha", top_k=5)
        assert _ids(high.narrative.NarrativeRetrieve(request)) == ["hidden", "open"]
        assert _ids(low.narrative.NarrativeRetrieve(request, metadata=metadata)) == ["open"]
        for options in (
            {"library_ids": ["default"]},
            {"filter": {"predicate": {"field": "label", "eq": {"string_value": "confidential"}}}},
            {"request_id": "high"},
            {"explain": stream_pb2.EXPLAIN_LEVEL_TRACE},
        ):
            asked = narrative_pb2.NarrativeRetrieveRequest(query="alpha kanarienvogel", top_k=5, options=options)  # type: ignore[arg-type]
            told = _told(low, asked)
            assert told == ["open"] or "hidden" not in told[0], told


def _ids(frames: Any) -> list[str]:
    found = [
        each.lineage.doc_id for frame in frames if frame.WhichOneof("frame") == "batch" for each in frame.batch.snippets
    ]
    return sorted(found)


def _told(house: House, request: narrative_pb2.NarrativeRetrieveRequest) -> list[str]:
    """Ids of what is found, or the refusal."""
    try:
        return _ids(house.narrative.NarrativeRetrieve(request))
    except grpc.RpcError as error:
        return [refusal(error).decode()]
