"""`groundwire serve`."""

from __future__ import annotations

import click

from groundwire_server.cli.session import Session

__all__ = ["command"]


@click.command(name="serve")
@click.option("--host", help="Address to listen on. [127.0.0.1]")
@click.option("--port", type=int, help="Port to listen on; 0 takes a free one. [50051]")
@click.option("--lexical", is_flag=True, help="Without an embedding model: BM25 only.")
@click.option("--models", help="Folder of prepared models.")
@click.option("--log-level", help="debug, info, warning or error. [info]")
@click.pass_obj
def command(
    session: Session, host: str | None, port: int | None, lexical: bool, models: str | None, log_level: str | None
) -> None:
    """Answer agents until SIGTERM or Ctrl-C.

    Every other setting comes from the settings file or from GROUNDWIRE_* in the environment.
    """
    from groundwire_server.rpc import serve

    serve(
        session.settings(
            server__host=host,
            server__port=port,
            embedding__backend="none" if lexical else None,
            models=models,
            log__level=log_level,
        )
    )
