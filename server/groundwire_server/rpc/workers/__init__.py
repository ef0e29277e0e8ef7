"""The processes of a server that has several: one that writes, and those that read and pass on what is to write.

`writer` and `reader` are the two; they meet at `socket_path`, over a `link`, by which `forward` passes calls on with
the `identity` of who calls. `supervision/` starts them.
"""

from groundwire_server.rpc.workers.reader import Reader
from groundwire_server.rpc.workers.writer import Writer

__all__ = ["Reader", "Writer"]
