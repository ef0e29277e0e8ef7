"""Client of Groundwire: typed, cited evidence over gRPC, without protobuf to be seen."""

import importlib
import typing

if typing.TYPE_CHECKING:
    from groundwire._exports import *  # noqa: F403
else:

    def __getattr__(name):
        """Load the client when something of it is first asked for: whoever wants the messages alone waits for nothing.

        `import groundwire.v1.stream_pb2` comes through here too.
        """
        if name.startswith("_") and name not in ("__all__", "__version__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        exports = importlib.import_module("groundwire._exports")
        globals().update({each: getattr(exports, each) for each in ("__all__", *exports.__all__)})
        if name not in globals():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return globals()[name]

    def __dir__():
        return sorted({*__getattr__("__all__"), *globals()})
