from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from groundwire_server.rpc.log import ForeignLogs, fault_fields, make_log
from groundwire_server.settings import LogSettings

CANARY = "kanarienvogel"


def lines(written: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


@pytest.fixture
def listening() -> Iterator[io.StringIO]:
    written = io.StringIO()
    handler = ForeignLogs(make_log(LogSettings(format="json"), written))
    logging.getLogger().addHandler(handler)
    try:
        yield written
    finally:
        logging.getLogger().removeHandler(handler)


def test_lines_of_other_libraries_lose_their_text(listening: io.StringIO) -> None:
    try:
        raise ValueError(CANARY)
    except ValueError:
        logging.getLogger("somebody.else").exception("it holds %s", CANARY)
    logging.getLogger("somebody.else").warning(CANARY)
    logging.getLogger("somebody.else").info(CANARY)
    assert CANARY not in listening.getvalue()
    first, second = lines(listening)
    assert (first["logger"], first["level"], first["error"]) == ("somebody.else", "error", "ValueError")
    assert "test_log.py" in str(first["place"])
    assert (second["event"], second["level"]) == ("foreign log line", "warning")


def test_our_own_lines_are_kept(listening: io.StringIO) -> None:
    logging.getLogger("groundwire_server.engine").warning("library %s cannot be opened", "finance")
    assert lines(listening)[0]["event"] == "library finance cannot be opened"


def test_our_own_lines_may_be_news(listening: io.StringIO, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    logging.getLogger("groundwire_server.engine").info("asked %d times", 3)
    logging.getLogger("somebody.else").info("asked")
    assert [(line["event"], line["level"]) for line in lines(listening)] == [("asked 3 times", "info")]


def test_a_fault_is_told_by_types_and_places() -> None:
    def inner() -> None:
        raise KeyError(CANARY)

    def outer() -> None:
        try:
            inner()
        except KeyError as error:
            raise RuntimeError(CANARY) from error

    with pytest.raises(RuntimeError) as caught:
        outer()
    fields = fault_fields(caught.value)
    assert fields["error"] == "RuntimeError"
    assert [each["error"] for each in fields["after"]] == ["KeyError"]  # type: ignore[attr-defined]
    assert str(fields["at"]).count("outer") == 1
    assert CANARY not in repr(fields)


@pytest.mark.parametrize(("level", "seen"), [("debug", 3), ("info", 2), ("error", 1)])
def test_the_level_and_form_are_those_of_the_settings(level: str, seen: int) -> None:
    written = io.StringIO()
    log = make_log(LogSettings(level=level, format="json"), written)  # type: ignore[arg-type]
    log.debug("a")
    log.info("b")
    log.error("c")
    assert len(lines(written)) == seen
    console = io.StringIO()
    make_log(LogSettings(format="console"), console).info("hello", port=1)
    assert "hello" in console.getvalue()
    assert not console.getvalue().startswith("{")
