"""Several processes that are one server: started, watched, replaced, stopped. Loads neither gRPC nor numpy.

The `supervisor` holds the `port` and the `place` of each process; `start` makes one, which `report`s once, and `lines`
writes the log as they do.
"""

from groundwire_server.supervision.report import Report, pack_failure, pack_ready
from groundwire_server.supervision.start import receive_settings
from groundwire_server.supervision.supervisor import supervise

__all__ = ["Report", "pack_failure", "pack_ready", "receive_settings", "supervise"]
