"""Who may read what: principals, the gate for outside names, and the exits that nothing hidden passes."""

from groundwire_server.security.exits import Labelled, drop_unreadable
from groundwire_server.security.gate import SecurityGate
from groundwire_server.security.principals import LOCAL_NAME, local_principal

__all__ = ["LOCAL_NAME", "Labelled", "SecurityGate", "drop_unreadable", "local_principal"]
