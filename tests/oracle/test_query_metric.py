"""QueryMetric answers what an oracle says that knows nothing of the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.compare import differences
from tests.oracle.draw import draw_world
from tests.oracle.run import CALLS_A_WORLD, houses, run
from tests.oracle.trial import Trial


def test_a_few_hundred_calls_are_answered_as_the_oracle_says() -> None:
    report = run(range(10))
    assert report.verdict.calls == 10 * CALLS_A_WORLD
    assert not report.different, report.text()


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_calls_are_answered_as_the_oracle_says() -> None:
    report = run(range(1_000, 1_400))
    assert report.verdict.calls >= 10_000
    assert not report.different, report.text()


def _last_digit(frames: list[Any]) -> None:
    for snippet in _snippets(frames, "fact"):
        snippet.fact.value = snippet.fact.value[:-1] + ("1" if snippet.fact.value[-1] != "1" else "2")


def _one_figure_less(frames: list[Any]) -> None:
    for frame in frames:
        if len(frame.batch.snippets):
            del frame.batch.snippets[-1]
            frames[-1].summary.returned -= 1
            return


def _other_unit(frames: list[Any]) -> None:
    for snippet in _snippets(frames, "fact"):
        snippet.fact.unit = "SEK"


def _other_source(frames: list[Any]) -> None:
    for snippet in _snippets(frames, "fact"):
        snippet.lineage.doc_id = "elsewhere.pdf"


def _conflict_untold(frames: list[Any]) -> None:
    for frame in frames:
        for outcome in frame.outcomes.outcomes:
            if outcome.found.conflicting:
                outcome.found.conflicting = False


def _other_version(frames: list[Any]) -> None:
    for snippet in _snippets(frames, "fact"):
        if snippet.fact.HasField("version"):
            snippet.fact.version.version = 3 - snippet.fact.version.version


def _no_statement(frames: list[Any]) -> None:
    for snippet in _snippets(frames, "fact"):
        snippet.fact.statement = "There is a figure."


def _rounded_value(frames: list[Any]) -> None:
    for snippet in _snippets(frames, "derived"):
        snippet.derived.value = snippet.derived.value + "1" if "." in snippet.derived.value else "0.5"


def _lost_operand(frames: list[Any]) -> None:
    for snippet in _snippets(frames, "derived"):
        del snippet.derived.operand_ids[-1]


def _a_figure_in_a_refusal(frames: list[Any]) -> None:
    for frame in frames:
        for outcome in frame.outcomes.outcomes:
            if outcome.HasField("not_found"):
                outcome.not_found.refusal = "None; the year before it was 482913."


def _not_found_for_unknown(frames: list[Any]) -> None:
    for frame in frames:
        for outcome in frame.outcomes.outcomes:
            if outcome.HasField("unrecognized_param"):
                outcome.not_found.SetInParent()


def _another_name_is_unknown(frames: list[Any]) -> None:
    for frame in frames:
        for outcome in frame.outcomes.outcomes:
            if outcome.HasField("unrecognized_param"):
                outcome.unrecognized_param.param = "unit"


def _suggested_from_nowhere(frames: list[Any]) -> None:
    for frame in frames:
        for outcome in frame.outcomes.outcomes:
            if outcome.unrecognized_param.param == "entity":
                outcome.unrecognized_param.suggestions[:] = ["Hidden Holdings"]


def _other_reason(frames: list[Any]) -> None:
    for frame in frames:
        for calculation in frame.outcomes.calculations:
            if calculation.HasField("refusal"):
                calculation.refusal.reason = 5  # NOT_ADDITIVE


_FAULTS = [
    _last_digit,
    _one_figure_less,
    _other_unit,
    _other_source,
    _conflict_untold,
    _other_version,
    _no_statement,
    _rounded_value,
    _lost_operand,
    _a_figure_in_a_refusal,
    _not_found_for_unknown,
    _another_name_is_unknown,
    _suggested_from_nowhere,
    _other_reason,
]


def test_a_fault_of_any_kind_in_an_answer_is_a_difference() -> None:
    """Answers of a real server with one thing made wrong: whatever changes them must be noticed, wherever it can be."""
    unseen: set[Callable[[list[Any]], None]] = set(_FAULTS)
    with houses() as servers:
        for seed in range(200, 206):
            world = draw_world(seed, CALLS_A_WORLD)
            trial = Trial(servers.of(world.clearance), world)
            trial.fill()
            for number, call in enumerate(world.calls):
                expected, frames = trial.ask(number)
                assert not isinstance(frames, str), frames
                for fault in _FAULTS:
                    wrong = [_copy(frame) for frame in frames]
                    fault(wrong)
                    if wrong != frames:
                        assert differences(world, call, trial.libraries, expected, wrong), (seed, number, fault)
                        unseen.discard(fault)
    assert not unseen


def _snippets(frames: list[Any], kind: str) -> list[Any]:
    return [each for frame in frames for each in frame.batch.snippets if each.HasField(kind)]


def _copy(frame: Any) -> Any:
    copied = type(frame)()
    copied.CopyFrom(frame)
    return copied
