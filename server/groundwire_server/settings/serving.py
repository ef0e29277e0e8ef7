"""Where a server listens, encrypted or not, and who may call it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from groundwire_server.settings.section import FilePath, Section, word

__all__ = ["AccessSettings", "ServerSettings", "TlsSettings"]


class ServerSettings(Section):
    """Where the server listens and how it works."""

    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=50051, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    plaintext_remote: bool = Field(
        default=False,
        description="Listen where other machines reach it without encryption; without tokens, too, nobody is asked who "
        "calls.",
    )
    threads: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Threads that answer reads; 0: one a core and at least two, and eight where a language model is "
        "asked, for which they wait.",
    )
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Processes that answer reads, all on one port; from two on beside another one that writes.",
    )
    drain_seconds: float = Field(
        default=5.0, ge=0, le=600, description="How long a stop waits for calls that are running."
    )
    connection_age_seconds: float = Field(
        default=1800.0,
        ge=0,
        le=864_000,
        description="After so long, a tenth more or less, a connection takes no new call, so that clients spread anew; "
        "0: never.",
    )
    connection_grace_seconds: float = Field(
        default=600.0, ge=1, le=864_000, description="How long calls may go on after the age of their connection."
    )
    keepalive_seconds: float = Field(
        default=30.0,
        ge=1,
        le=864_000,
        description="After so long without a sign of life a connection is asked for one; without an answer it is "
        "closed after as long again.",
    )

    @property
    def address(self) -> str:
        """Host and port as clients write them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class TlsSettings(Section):
    """Encryption. The files are read again when they change; connections that stand go on."""

    cert: FilePath | None = Field(
        default=None, description="File of the server's certificate and those between it and its authority, PEM."
    )
    key: FilePath | None = Field(default=None, description="File of the certificate's private key, PEM, no passphrase.")
    client_ca: FilePath | None = Field(
        default=None,
        description="File of the authorities, PEM, of which every caller must bring a certificate; none: no caller has "
        "to bring one.",
    )


class AccessSettings(Section):
    """Who calls, and what a caller without credentials may do."""

    token_file: FilePath | None = Field(
        default=None,
        description="File of the tokens that callers bring, as `groundwire tokens` makes it; none: no token is asked "
        "for.",
    )
    certificate_file: FilePath | None = Field(
        default=None,
        description="File that says whose a client certificate is; needs tls.client_ca. None: a certificate says that "
        "somebody may call, and not who it is.",
    )
    local_clearance: Annotated[Literal["public", "internal", "confidential"], word({})] = Field(
        default="internal", description="Highest label that callers may read who are not asked who they are."
    )
    local_rights: Annotated[Literal["read", "write", "admin"], word({})] = Field(
        default="admin", description="What these may do; each right includes those before it."
    )
    anonymous_remote: bool = Field(
        default=False,
        description="Listen where other machines reach it, encrypted, and ask nobody who calls.",
    )
