"""What the server said against what it must say; every difference is a sentence."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date
from decimal import Decimal
from typing import Any

from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, stream_pb2
from tests.oracle.calendar_of import FiscalYears
from tests.oracle.formula import evaluate
from tests.oracle.oracle import (
    Computed,
    Expected,
    Found,
    NotFound,
    Refused,
    Unrecognized,
    disagree,
    latest,
)
from tests.oracle.periods import Days, Unread, read_period
from tests.oracle.shelf import Figure, Key
from tests.oracle.world import Call, Dims, World

__all__ = ["differences"]

_DIGITS_THAT_TELL = 5  # a stored value with fewer could stand anywhere by chance


def differences(world: World, call: Call, libraries: Sequence[str], expected: Expected, frames: list[Any]) -> list[str]:
    """Everything in an answer that is not as it must be."""
    return list(_Comparison(world, call, libraries, expected, frames).run())


class _Comparison:
    def __init__(
        self, world: World, call: Call, libraries: Sequence[str], expected: Expected, frames: list[Any]
    ) -> None:
        self.world, self.call, self.libraries, self.expected, self.frames = world, call, libraries, expected, frames
        self.outcomes = [each for frame in frames for each in frame.outcomes.outcomes]
        self.calculations = [each for frame in frames for each in frame.outcomes.calculations]
        self.snippets = {each.snippet_id: each for frame in frames for each in frame.batch.snippets}

    def run(self) -> Iterator[str]:
        if self.expected.outside:
            yield from self._refused()
            return
        yield from self._stream()
        if len(self.outcomes) != len(self.expected.outcomes):
            yield f"{len(self.outcomes)} outcomes for {len(self.expected.outcomes)} queries"
            return
        if len(self.calculations) != len(self.expected.calculations):
            yield f"{len(self.calculations)} outcomes for {len(self.expected.calculations)} calculations"
            return
        for place, (query, expected, actual) in enumerate(
            zip(self.call.asked(), self.expected.outcomes, self.outcomes, strict=True)
        ):
            echoed = (actual.query.metric, actual.query.entity, actual.query.period, actual.query.channel)
            if actual.query_index != place or echoed != (query.metric, query.entity, query.period, query.channel):
                yield f"outcome {place} is of query {actual.query_index}: {echoed}"
            for each in self._outcome(expected, actual):
                yield f"query {place}: {each}"
        for place, (must, computed) in enumerate(zip(self.expected.calculations, self.calculations, strict=True)):
            if computed.calculation_index != place:
                yield f"calculation {place} is numbered {computed.calculation_index}"
            for each in self._calculation(must, computed):
                yield f"calculation {place}: {each}"
        yield from self._facts()
        yield from self._no_stored_digits()

    def _refused(self) -> Iterator[str]:
        """A name behind the gate ends the call before any outcome."""
        summary = self.frames[-1].summary
        if [frame.WhichOneof("frame") for frame in self.frames] != ["header", "summary"]:
            yield f"an outside name is answered about: {[_short(each) for each in self.outcomes]}"
        if summary.refusal.reason != stream_pb2.REFUSAL_REASON_OUT_OF_SCOPE or not summary.refusal.text:
            yield f"an outside name, and the summary is {_short(summary)}"
        if summary.end_reason != stream_pb2.END_REASON_REFUSED:
            yield f"end reason {summary.end_reason}"

    def _stream(self) -> Iterator[str]:
        kinds = [frame.WhichOneof("frame") for frame in self.frames]
        if kinds[:1] != ["header"] or kinds[-1:] != ["summary"] or set(kinds[1:-1]) - {"outcomes", "batch"}:
            yield f"frames {kinds}"
            return
        ranks = [each.rank for frame in self.frames for each in frame.batch.snippets]
        if ranks != list(range(1, len(ranks) + 1)) or len(self.snippets) != len(ranks):
            yield f"ranks {ranks} of {len(self.snippets)} snippets"
        summary = self.frames[-1].summary
        if (
            summary.returned != len(ranks)
            or summary.degradations
            or summary.end_reason != stream_pb2.END_REASON_EXHAUSTED
        ):
            yield f"summary {summary}"
        named: set[str] = set()
        for frame in self.frames:
            for outcome in frame.outcomes.outcomes:
                named.update(outcome.found.snippet_ids)
            named.update(each.snippet_id for each in frame.outcomes.calculations)
            for snippet in frame.batch.snippets:
                if snippet.WhichOneof("payload") == "derived" and snippet.snippet_id in named:
                    named.update(snippet.derived.operand_ids)
        for lost in sorted((named - {""}) - set(self.snippets)):
            yield f"snippet {lost} is named and never comes"
        for stray in sorted(set(self.snippets) - named):
            yield f"snippet {stray} comes and nothing names it: {self.snippets[stray]}"

    # Outcomes

    def _outcome(self, expected: Found | NotFound | Unrecognized, actual: Any) -> Iterator[str]:
        kind = {Found: "found", NotFound: "not_found", Unrecognized: "unrecognized_param"}[type(expected)]
        if actual.WhichOneof("outcome") != kind:
            yield f"must be {_short(expected)}, is {_short(actual)}"
        elif isinstance(expected, Found):
            yield from self._found(expected, actual.found)
        elif isinstance(expected, NotFound):
            yield from self._key(expected.keys, actual.not_found.key)
            if not actual.not_found.refusal:
                yield "not found without a sentence"
            wrong = _numbers(actual.not_found.refusal) - _numbers(actual.not_found.key.period)
            if wrong:
                yield f"the refusal has digits that are not of the period: {actual.not_found.refusal}"
        else:
            yield from self._unrecognized(expected, actual.unrecognized_param)

    def _found(self, expected: Found, found: Any) -> Iterator[str]:
        yield from self._key(expected.keys, found.key)
        if found.conflicting != expected.conflicting:
            values = [(each.source, each.value, each.decimals) for each in expected.figures]
            yield f"conflicting is {found.conflicting}: {values}"
        decided = {(each.param, each.raw, code) for each in found.decided for code in each.candidates}
        if decided != expected.decided:
            yield f"decided is {sorted(decided)}, must be {sorted(expected.decided)}"
        there = [self.snippets[each] for each in found.snippet_ids if each in self.snippets]
        if expected.computed:
            computed = {each.lineage.library_id: each for each in there if each.HasField("derived")}
            if len(computed) != len(there) or len(there) != len(expected.computed):
                yield f"must be computed by {len(expected.computed)} libraries, is {_short(there)}"
                return
            for number, each in expected.computed:
                if self.libraries[number] in computed:
                    yield from self._computed(each, computed[self.libraries[number]])
                else:
                    yield f"nothing computed by library {number}"
            return
        facts = [each for each in there if each.WhichOneof("payload") == "fact"]
        if len(facts) != len(there):
            yield f"a figure that is not stored: {_short(there)}"
        must = Counter(_told(each) for each in expected.figures)
        told = Counter(self._told(each) for each in facts)
        for missing in (must - told).elements():
            yield f"lacks {missing}"
        for surplus in (told - must).elements():
            yield f"has {surplus}"
        if must != told:
            return
        if self.call.versions == "ALL":
            for one, other in itertools.pairwise(facts):
                if one.fact.fact_id == other.fact.fact_id and one.fact.version.version >= other.fact.version.version:
                    yield f"version {other.fact.version.version} comes after {one.fact.version.version}"

    def _facts(self) -> Iterator[str]:
        """A fact is sent once, and is marked where any outcome that names it has a source against it."""
        marked: dict[tuple[Any, ...], bool] = {}
        for outcome in self.expected.outcomes:
            if isinstance(outcome, Found):
                speaking = latest(outcome.figures)
                for figure in speaking:
                    against = any(disagree(figure, other) for other in speaking)
                    marked[_told(figure)] = marked.get(_told(figure), False) or against
        for snippet in self.snippets.values():
            if snippet.WhichOneof("payload") == "fact":
                yield from self._fact(snippet)
                must = marked.get(self._told(snippet))
                if must is not None and snippet.fact.conflicting != must:
                    yield f"fact.conflicting is {snippet.fact.conflicting}: {self._told(snippet)}"

    def _fact(self, snippet: Any) -> Iterator[str]:
        fact = snippet.fact
        if snippet.trust != evidence_pb2.TRUST_CITABLE:
            yield f"trust {snippet.trust}"
        if fact.review_status not in (evidence_pb2.REVIEW_STATUS_AUTO_APPROVED, evidence_pb2.REVIEW_STATUS_APPROVED):
            yield f"review status {fact.review_status}"
        if fact.value not in fact.statement or fact.unit not in fact.statement:
            yield f"the statement does not say {fact.value} {fact.unit}: {fact.statement}"
        yield from self._language(fact.statement)

    def _language(self, text: str) -> Iterator[str]:
        kana = re.search("[ぁ-ん]", text) is not None
        if self.call.language == "ja" and not kana:
            yield f"not Japanese: {text}"
        if self.call.language in ("en", "zh") and kana:
            yield f"not {self.call.language}: {text}"

    def _told(self, snippet: Any) -> tuple[Any, ...]:
        fact, lineage = snippet.fact, snippet.lineage
        version = fact.version if fact.HasField("version") else None
        filed = version.filed_at.ToDatetime(tzinfo=UTC) if version and version.HasField("filed_at") else None
        return (
            self.libraries.index(lineage.library_id),
            fact.metric,
            fact.entity,
            self._days(fact.period, lineage.library_id, fact.entity),
            fact.channel,
            _dims(fact.dimensions),
            fact.value,
            fact.unit,
            lineage.doc_id,
            lineage.source_locator,
            fact.decimals if fact.HasField("decimals") else None,
            fact.as_written,
            (version.version, version.latest_version) if version else None,
            filed,
            version.author if version else "",
            version.reason if version else "",
        )

    def _days(self, canonical: str, library: str, entity: str) -> Days | str:
        view = next(each for each in self.expected.views if self.libraries[each.shelf.number] == library)
        try:
            years = view.shelf.glossary.years(entity)
            return read_period(canonical, reference=date(1900, 1, 1), language="", years=years)
        except Unread:
            return canonical

    def _days_of(self, canonical: str) -> Days:
        return read_period(canonical, reference=date(1900, 1, 1), language="", years=FiscalYears())

    def _key(self, keys: Iterable[Key], told: Any) -> Iterator[str]:
        for key in keys:
            if (told.metric, told.entity, told.channel) == (key.metric, key.entity, key.channel):
                days = {
                    self._days(told.period, self.libraries[each.shelf.number], told.entity)
                    for each in self.expected.views
                }
                if key.days in days and _dims(told.dimensions) == key.dims:
                    return
        yield f"key is {_short(told)}, not of {list(keys)}"

    def _unrecognized(self, expected: Unrecognized, told: Any) -> Iterator[str]:
        if (told.param, told.raw) != (expected.param, expected.raw):
            yield f"must not know {expected.param} {expected.raw!r}, does not know {told.param} {told.raw!r}"
            return
        if told.ambiguous != expected.ambiguous:
            yield f"{told.param} {told.raw!r}: ambiguous is {told.ambiguous}"
        if len(told.suggestions) > 5 or len(set(told.suggestions)) < len(told.suggestions):
            yield f"suggestions {list(told.suggestions)}"
        if expected.ambiguous:
            meant = {code for name in told.suggestions for code in self._meant(expected.param, name)}
            if expected.param == "period":
                meant = {f"{each.first}/{each.last}" for each in map(self._days_of, told.suggestions)}
            if not (meant <= expected.candidates and len(told.suggestions) == 5) and not expected.candidates <= meant:
                yield f"{told.raw!r} means {sorted(expected.candidates)}, told are {list(told.suggestions)}"
        elif expected.param != "period":
            for name in told.suggestions:
                if not self._meant(expected.param, name):
                    yield f"suggests {name!r}, which is no {expected.param} that this caller can know"
        if not expected.ambiguous and bool(told.explanation) != expected.explained:
            yield f"{told.param} {told.raw!r}: explanation is {told.explanation!r}"
        if _numbers(told.explanation) - _numbers(told.raw):
            yield f"the explanation has digits of its own: {told.explanation}"
        if told.explanation:
            yield from self._language(told.explanation.replace(told.raw, ""))

    def _meant(self, param: str, name: str) -> set[str]:
        kind, axis = (param, "") if param in ("metric", "entity", "channel") else ("dimension", param)
        meant: set[str] = {"TOTAL"} if (kind, name) == ("channel", "TOTAL") else set()
        for view in self.expected.views:
            meant |= view.shelf.glossary.names(kind, axis, view.codes(kind, axis)).read(name)
        if kind == "dimension" and any(name in view.axes() for view in self.expected.views):
            meant.add(name)
        return meant

    # Computed figures

    def _calculation(self, expected: Computed | Refused, actual: Any) -> Iterator[str]:
        if isinstance(expected, Refused):
            reason = stream_pb2.RefusalReason.Name(actual.refusal.reason).removeprefix("REFUSAL_REASON_")
            if actual.WhichOneof("outcome") != "refusal" or reason not in expected.reasons:
                yield f"must be refused for {sorted(expected.reasons)}, is {_short(actual)}"
            elif not actual.refusal.text or _numbers(actual.refusal.text):
                yield f"refusal {actual.refusal.text!r}"
        elif actual.WhichOneof("outcome") != "snippet_id" or actual.snippet_id not in self.snippets:
            yield f"must be {expected.operation} = {sorted(expected.values)} {expected.unit}, is {_short(actual)}"
        else:
            yield from self._computed(expected, self.snippets[actual.snippet_id])

    def _computed(self, expected: Computed, snippet: Any) -> Iterator[str]:
        derived = snippet.derived
        operation = evidence_pb2.Operation.Name(derived.operation).removeprefix("OPERATION_")
        values = sorted(expected.values)
        if operation != expected.operation or Decimal(derived.value) not in [value for value, _ in values]:
            yield f"must be {expected.operation} = {values}, is {operation} = {derived.value}"
        elif (Decimal(derived.value), derived.rounded) not in values:
            yield f"rounded is {derived.rounded}: {derived.value}"
        if expected.unit is not None and derived.unit.casefold() != expected.unit.casefold():
            yield f"unit {derived.unit}, must be {expected.unit}"
        if derived.partial or derived.missing:
            yield "partial"
        if derived.value not in derived.statement or derived.unit not in derived.statement:
            yield f"the statement does not say {derived.value} {derived.unit}: {derived.statement}"
        yield from self._language(derived.statement)
        cited = {_told(each) for each in expected.figures}
        operands = [self.snippets[each] for each in derived.operand_ids if each in self.snippets]
        numbers = {}
        for place, operand in enumerate(operands, 1):
            if operand.WhichOneof("payload") == "fact":
                numbers[f"#{place}"] = Decimal(operand.fact.value)
                if self._told(operand) not in cited:
                    yield f"operand {self._told(operand)} is none of {cited}"
            else:
                numbers[f"#{place}"] = Decimal(operand.derived.value)
        if len(operands) != len(derived.operand_ids) or not operands:
            yield f"operands {list(derived.operand_ids)}"
            return
        if operation == "GROWTH" and numbers["#1"] < 0:
            return  # the expression takes the absolute value of the first
        try:
            value, _ = evaluate(derived.expression.replace("|", ""), numbers.__getitem__)
        except (KeyError, IndexError, AssertionError):
            yield f"expression {derived.expression} does not go with {sorted(numbers)}"
            return
        if value != Decimal(derived.value):
            yield f"{derived.expression} of the operands is {value}, not {derived.value}"

    # The promise that a refusal carries no figure

    def _no_stored_digits(self) -> Iterator[str]:
        rows = [row for batch in self.world.batches for row in batch.rows]
        stored = {digits for row in rows if (digits := _digits(row.value))}
        names = [name for row in rows for name in (row.metric, row.entity, row.channel)]
        allowed = _run_together("|".join([*_strings_of_call(self.call), *names]))  # the digits of a name are a name's
        for outcome in self.outcomes:
            if outcome.WhichOneof("outcome") == "found":
                continue
            silent = type(outcome)()
            silent.CopyFrom(outcome)
            silent.ClearField("query")
            text = _run_together("|".join(_strings(silent)))
            for digits in stored:
                if digits in text and digits not in allowed:
                    yield f"a refusal carries the digits {digits} of a stored value: {_short(outcome)}"


def _told(figure: Figure) -> tuple[Any, ...]:
    key = figure.key
    return (
        figure.library,
        key.metric,
        key.entity,
        key.days,
        key.channel,
        key.dims,
        figure.value,
        figure.unit,
        figure.source,
        figure.locator,
        figure.decimals,
        figure.as_written,
        figure.version,
        figure.filed,
        figure.author,
        figure.reason,
    )


def _dims(told: Iterable[Any]) -> Dims:
    return tuple((each.name, each.member) for each in told)


def _short(message: Any) -> str:
    return " ".join(str(message).split())


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", unicodedata.normalize("NFKC", text)))


def _digits(value: str) -> str:
    digits = re.sub(r"\D", "", value)
    return digits if len(digits) >= _DIGITS_THAT_TELL else ""


def _run_together(text: str) -> str:
    return re.sub(r"(?<=\d)[.,'\s](?=\d)", "", unicodedata.normalize("NFKC", text))


def _strings(message: Message) -> Iterator[str]:
    for _, value in message.ListFields():
        for each in [value] if isinstance(value, Message | str | bytes | int | float) else value:
            if isinstance(each, Message):
                yield from _strings(each)
            elif isinstance(each, str):
                yield each


def _strings_of_call(call: Call) -> Iterator[str]:
    for query in call.asked():
        yield from (query.metric, query.entity, query.period, query.channel)
        for axis, member in query.dims:
            yield from (axis, member)
