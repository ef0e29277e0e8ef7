"""A Hugging Face hub on this machine that has one repository."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

REVISION = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def local_hub(repository: str, files: Mapping[str, bytes]) -> Iterator[str]:
    """Serve the files of a repository; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, body: bool) -> None:
            path = urlsplit(self.path).path
            resolve = f"/{repository}/resolve/{REVISION}/"
            if path.startswith(f"/api/models/{repository}/tree/"):
                self._send(json.dumps([_entry(name, data) for name, data in files.items()]).encode(), body)
            elif path.startswith(f"/api/models/{repository}"):
                siblings = [{"rfilename": name} for name in files]
                info = {"id": repository, "modelId": repository, "sha": REVISION, "siblings": siblings}
                self._send(json.dumps(info).encode(), body)
            elif path.startswith(resolve) and path.removeprefix(resolve) in files:
                self._send(files[path.removeprefix(resolve)], body)
            else:
                self._send(b"", body, 404)

        def _send(self, data: bytes, body: bool, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", f'"{_blob(data)}"')
            self.send_header("X-Repo-Commit", REVISION)
            self.end_headers()
            if body:
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _entry(name: str, data: bytes) -> dict[str, object]:
    return {"type": "file", "path": name, "size": len(data), "oid": _blob(data)}
