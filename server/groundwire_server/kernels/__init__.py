"""Compiled code behind the searches, and whether it is there yet."""

from groundwire_server.kernels.warm_up import State, compiled, load_now, searched, state, warm_up_after_searches

__all__ = ["State", "compiled", "load_now", "searched", "state", "warm_up_after_searches"]
