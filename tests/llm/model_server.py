"""A server on this machine that speaks the protocols of models, with faults, and keeps every byte that reaches it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Act", "ModelServer", "model_server"]


@dataclass(frozen=True)
class Act:
    """What the server does with one request.

    text: the answer, in the form of the protocol asked. pieces: the same, in parts, where a stream is asked for.
    raw: this body as it is. promised: bytes more than come. close: end without an answer. broken_after: pieces before
    a stream breaks off. hold: waited for before the answer.
    """

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    promised: int = 0
    close: bool = False
    pieces: int = 3
    broken_after: int | None = None
    finish: str = ""
    usage: bool = True
    hold: threading.Event | None = None


@dataclass
class ModelServer:
    """Its address, what it is to do, and all that it got.

    script: acts in order, or a function of the request's body; after the last act it repeats that.
    """

    url: str
    script: list[Act] | Callable[[dict[str, Any]], Act]
    received: list[bytes] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    gone: threading.Event = field(default_factory=threading.Event)
    entered: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def act(self, body: dict[str, Any]) -> Act:
        if callable(self.script):
            return self.script(body)
        with self.lock:
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    def text_sent(self) -> str:
        """Everything that was sent, with the escapes of JSON undone too."""
        plain = b"\n".join(self.received).decode("utf-8", "replace")
        return plain + "\n" + "\n".join(json.dumps(body, ensure_ascii=False) for body in self.bodies)


@contextmanager
def model_server(*acts: Act, script: Callable[[dict[str, Any]], Act] | None = None) -> Iterator[ModelServer]:
    """Serve until the block ends; nothing is held open after it."""
    holder: list[ModelServer] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def do_POST(self) -> None:
            here = holder[0]
            content = self.rfile.read(int(self.headers.get("content-length", "0")))
            body = json.loads(content)
            with here.lock:
                here.received.append(f"{self.requestline}\n{self.headers}".encode() + content)
                here.bodies.append(body)
                here.paths.append(self.path)
                here.headers.append({name.lower(): value for name, value in self.headers.items()})
            here.entered.set()
            act = here.act(body)
            if act.hold is not None:
                act.hold.wait(20)
            with suppress(OSError):
                self._answer(act, body)
            self.close_connection = self.close_connection or act.close

        def _answer(self, act: Act, body: dict[str, Any]) -> None:
            if act.close:
                return
            if act.status != 200 or act.raw is not None:
                self._send(act, act.raw if act.raw is not None else b'{"error": {"message": "SECRET of the server"}}')
            elif body.get("stream"):
                self._stream(act, _anthropic_events(act) if "/messages" in self.path else _openai_events(act))
            else:
                made = _anthropic(act, body) if "/messages" in self.path else _openai(act)
                self._send(act, json.dumps(made).encode())

        def _send(self, act: Act, content: bytes) -> None:
            self.send_response(act.status)
            for name, value in act.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content) + act.promised))
            self.end_headers()
            self.wfile.write(content)
            self.close_connection = self.close_connection or bool(act.promised)

        def _stream(self, act: Act, events: list[bytes]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            for event in events if act.broken_after is None else events[: act.broken_after]:
                self.wfile.write(event)
                self.wfile.flush()

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: Any) -> None:
            holder[0].gone.set()

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    here = ModelServer(f"http://127.0.0.1:{server.server_address[1]}", script or list(acts) or [Act("hello")])
    holder.append(here)
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _parts(act: Act) -> list[str]:
    size = max(1, -(-len(act.text) // max(act.pieces, 1)))
    return [act.text[start : start + size] for start in range(0, len(act.text), size)]


def _openai(act: Act) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": act.text}, "finish_reason": act.finish or "stop"}
    counted = {"usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}} if act.usage else {}
    return {"id": "x", "object": "chat.completion", "choices": [choice], **counted}


def _openai_events(act: Act) -> list[bytes]:
    deltas: list[dict[str, Any]] = [{"delta": {"role": "assistant"}, "finish_reason": None}]
    deltas += [{"delta": {"content": part}, "finish_reason": None} for part in _parts(act)]
    deltas.append({"delta": {}, "finish_reason": act.finish or "stop"})
    made: list[dict[str, Any]] = [{"choices": [{"index": 0, **delta}]} for delta in deltas]
    if act.usage:
        made.append({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}})
    # Raw U+2028 must not be taken for the end of a line.
    events = [f"data: {json.dumps(each, ensure_ascii=False)}\r\n\r\n".encode() for each in made]
    return [b": a comment\n\n", *events, b"data: [DONE]\n\n"]


def _anthropic(act: Act, body: dict[str, Any]) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": act.text}
    if "tools" in body:
        with suppress(ValueError):
            block = {"type": "tool_use", "id": "t", "name": "answer", "input": json.loads(act.text)}
    counted = {"usage": {"input_tokens": 11, "output_tokens": 7}} if act.usage else {}
    return {
        "type": "message",
        "role": "assistant",
        "content": [block],
        "stop_reason": act.finish or "end_turn",
        **counted,
    }


def _anthropic_events(act: Act) -> list[bytes]:
    counted = {"usage": {"input_tokens": 11, "output_tokens": 1}} if act.usage else {}
    made: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"role": "assistant", **counted}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]
    made += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}}
        for part in _parts(act)
    ]
    made.append({"type": "content_block_stop", "index": 0})
    ended = {"usage": {"output_tokens": 7}} if act.usage else {}
    made.append({"type": "message_delta", "delta": {"stop_reason": act.finish or "end_turn"}, **ended})
    made.append({"type": "message_stop"})
    return [f"event: {each['type']}\ndata: {json.dumps(each, ensure_ascii=False)}\n\n".encode() for each in made]
