"""Who calls: tokens and certificates, the files that name them, and the one `Principal` behind both.

Loaded where a server asks for credentials, and by `groundwire tokens`; a server that asks for none does without.
"""

from groundwire_server.security.callers.authenticator import Authenticator
from groundwire_server.security.callers.certificates import (
    CertificateRule,
    CertificateTable,
    PeerCertificate,
    parse_certificates,
)
from groundwire_server.security.callers.rights import (
    CLEARANCES,
    RIGHTS,
    TOKEN_PREFIX,
    grant_faults,
    grant_principal,
    is_name,
    rights_of,
)
from groundwire_server.security.callers.token_file import TokenFile, watch_tokens
from groundwire_server.security.callers.tokens import (
    Token,
    TokenTable,
    format_tokens,
    make_token,
    parse_tokens,
    token_of,
)
from groundwire_server.security.callers.validity import certificate_ends
from groundwire_server.security.callers.watched_file import LOOK_SECONDS, WatchedFile, read_guarded

__all__ = [
    "CLEARANCES",
    "LOOK_SECONDS",
    "RIGHTS",
    "TOKEN_PREFIX",
    "Authenticator",
    "CertificateRule",
    "CertificateTable",
    "PeerCertificate",
    "Token",
    "TokenFile",
    "TokenTable",
    "WatchedFile",
    "certificate_ends",
    "format_tokens",
    "grant_faults",
    "grant_principal",
    "is_name",
    "make_token",
    "parse_certificates",
    "parse_tokens",
    "read_guarded",
    "rights_of",
    "token_of",
    "watch_tokens",
]
