"""`groundwire facts correct` and `groundwire facts withdraw`: what a person says of a figure that is stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from groundwire import (
    Client,
    FactRecord,
    IngestSummary,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricQuery,
    ReviewStatus,
    RowsRejected,
    Snippet,
    UnrecognizedParam,
)
from groundwire_server.cli.ending import SOME_REFUSED
from groundwire_server.cli.options import WORDS, json_option, library_option, server_options
from groundwire_server.cli.output import show_json
from groundwire_server.cli.session import Session
from groundwire_server.cli.streams import note, say

__all__ = ["correct", "withdraw"]

_channel = click.option("--channel", type=WORDS, metavar="CHANNEL", default="", help="Part of the whole. [TOTAL]")
_source = click.option(
    "--source", type=WORDS, metavar="DOCUMENT", default="", help="Whose figure, where several sources state it."
)
_unit = click.option("--unit", type=WORDS, metavar="UNIT", default="", help="Which figure, where there are several.")
_dry_run = click.option("--dry-run", is_flag=True, help="Say what would happen, and store nothing.")


@click.command(name="correct")
@click.argument("metric", type=WORDS)
@click.argument("entity", type=WORDS)
@click.argument("period", type=WORDS)
@click.argument("value", type=WORDS)
@click.option("--by", type=WORDS, metavar="WHO", required=True, help="Who corrects it.")
@click.option("--why", type=WORDS, metavar="REASON", required=True, help="Why it was wrong.")
@_channel
@_source
@_unit
@library_option
@_dry_run
@json_option
@server_options
@click.pass_obj
def correct(
    session: Session,
    metric: str,
    entity: str,
    period: str,
    value: str,
    by: str,
    why: str,
    channel: str,
    source: str,
    unit: str,
    library: str,
    dry_run: bool,
    as_json: bool,
) -> int | None:
    """Give the figure for METRIC, ENTITY and PERIOD another VALUE.

    What was stored stays as an earlier version; the new one is the latest, with who says so and why. Unit and place are
    those of the figure that it corrects, and so is its sensitivity. A negative VALUE stands behind `--`.

    \b
    groundwire facts correct revenue Acme FY2023 1010.50 --by "R. Mori" --why "a digit was dropped"
    """
    with session.client(embedder=False) as client:
        said = _the_one(client, MetricQuery(metric, entity, period, channel), library, source, unit)
        record = FactRecord(
            **_key(said),
            value=value,
            locator=said.lineage.source_locator,
            valid_as_of=said.lineage.valid_as_of,
            filed_at=datetime.now(UTC),
            review_status=ReviewStatus.APPROVED,
            author=by,
            reason=why,
            attributes=said.lineage.attributes,
        )
        return _send(client, record, said, library, dry_run=dry_run, as_json=as_json)


@click.command(name="withdraw")
@click.argument("metric", type=WORDS)
@click.argument("entity", type=WORDS)
@click.argument("period", type=WORDS)
@_channel
@_source
@_unit
@library_option
@_dry_run
@json_option
@server_options
@click.pass_obj
def withdraw(
    session: Session,
    metric: str,
    entity: str,
    period: str,
    channel: str,
    source: str,
    unit: str,
    library: str,
    dry_run: bool,
    as_json: bool,
) -> int | None:
    """Take the figure for METRIC, ENTITY and PERIOD back, in all of its versions.

    No query finds it from then on; what was known before still is, and old citations still lead to it. Other sources of
    the same figure stay.

    \b
    groundwire facts withdraw revenue Acme FY2023 --source reports/draft.md
    """
    with session.client(embedder=False) as client:
        said = _the_one(client, MetricQuery(metric, entity, period, channel), library, source, unit)
        record = FactRecord(**_key(said), value="", locator=said.lineage.source_locator, withdraw=True)
        return _send(client, record, said, library, dry_run=dry_run, as_json=as_json)


def _the_one(client: Client, query: MetricQuery, library: str, source: str, unit: str) -> Snippet:
    """The only stored figure that is meant; what else there is, is told."""
    answer = client.query_metric([query], libraries=[library]).collect()
    match answer.outcomes[0].outcome:
        case MetricFound():
            stored = [each for each in answer.snippets if isinstance(each.payload, MetricFact)]
            if not any(isinstance(each.payload, MetricFact) for each in answer.of(answer.outcomes[0])):
                raise click.ClickException("It is computed by the glossary's formula; correct what that stands on.")
            return _chosen(stored, source, unit)
        case MetricNotFound(refusal=refusal):
            raise click.ClickException(refusal)
        case UnrecognizedParam(param=param, raw=raw, suggestions=near, ambiguous=ambiguous):
            listed = ("; it may mean: " if ambiguous else "; near: ") + ", ".join(near) if near else ""
            raise click.ClickException(f"unrecognized {param} {raw!r}{listed}")
        case _:
            raise click.ClickException("The server gave no answer that this version knows.")


def _chosen(stored: Sequence[Snippet], source: str, unit: str) -> Snippet:
    kept = [
        each
        for each in stored
        if source in ("", each.lineage.doc_id) and unit.casefold() in ("", _fact(each).unit.casefold())
    ]
    if len(kept) == 1:
        return kept[0]
    listed = "; ".join(f"{_fact(each).value} {_fact(each).unit} from {each.lineage.doc_id}" for each in kept or stored)
    words = "Several figures are meant" if kept else "No figure is of that source and unit"
    raise click.ClickException(f"{words}: {listed}. --source and --unit tell which.")


def _fact(snippet: Snippet) -> MetricFact:
    assert isinstance(snippet.payload, MetricFact)
    return snippet.payload


def _key(said: Snippet) -> dict[str, Any]:
    fact = _fact(said)
    return {
        "metric": fact.metric,
        "entity": fact.entity,
        "period": fact.period,
        "channel": fact.channel,
        "dimensions": fact.dimensions,
        "unit": fact.unit,
        "source_doc": said.lineage.doc_id,
    }


def _send(
    client: Client, record: FactRecord, said: Snippet, library: str, *, dry_run: bool, as_json: bool
) -> int | None:
    stored = refused = 0
    with client.ingest_facts([record], library=library, validate_only=dry_run) as events:
        for event in events:
            if as_json:
                show_json(event)
            match event:
                case RowsRejected(rows=rows) if not as_json:
                    for row in rows:
                        note(f"refused: {row.message} ({row.reason.name})")
                case IngestSummary():
                    stored, refused = event.stored, event.failed
    if not as_json and not refused:
        fact = _fact(said)
        figure = f"{fact.value} {fact.unit}".strip()
        now = "withdrawn" if record.withdraw else f"corrected to {record.value}"
        done = f"would be {now}" if dry_run else now if stored else "unchanged"
        say(f"{fact.metric} of {fact.entity} for {fact.period}, {figure} from {said.lineage.doc_id}: {done}")
    return SOME_REFUSED if refused else None
