"""`groundwire metric`."""

from __future__ import annotations

import click

from groundwire import MetricProduct
from groundwire_server.cli.bounds import bound_options, bounds
from groundwire_server.cli.options import WORDS, call_options, reading_options
from groundwire_server.cli.output import show
from groundwire_server.cli.session import Session

__all__ = ["command"]


@click.command(name="metric")
@click.argument("metric", type=WORDS)
@click.argument("entity", type=WORDS)
@click.argument("period", type=WORDS)
@click.option("--channel", type=WORDS, metavar="CHANNEL", default="", help="Part of the whole. [TOTAL]")
@click.option(
    "--versions",
    type=click.Choice(["latest", "as_reported", "all"]),
    default="latest",
    show_default=True,
    help="Which figure where a source has restated it.",
)
@bound_options
@reading_options
@click.pass_obj
def command(
    session: Session,
    metric: str,
    entity: str,
    period: str,
    channel: str,
    versions: str,
    filters: tuple[str, ...],
    known_at: str | None,
    valid_at: str | None,
    libraries: tuple[str, ...],
    language: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Look up a stored figure by METRIC, ENTITY and PERIOD. Several of one are given with `|` between them.

    \b
    groundwire metric population India 2020
    groundwire metric "GDP|人口" "Japan|Brazil" "2019|2020"
    groundwire metric revenue Acme FY2023 --known-at 2024-06-30
    """
    product = MetricProduct(*(tuple(part.strip() for part in text.split("|")) for text in (metric, entity, period)))
    if channel:
        product = MetricProduct(product.metrics, product.entities, product.periods, tuple(channel.split("|")))
    with session.client(embedder=False) as client:
        stream = client.query_metric(
            product=product,
            versions=versions.upper(),
            **call_options(libraries, language, strict),
            **bounds(client, libraries, filters, known_at, valid_at),
        )
        show(stream, as_json_lines=as_json)
