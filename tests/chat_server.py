"""A scripted model server for tests: the OpenAI chat and Anthropic messages wire formats over real HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Step:
    """One answer: arguments of the output tool (a dict or raw text), or an HTTP status, or a wait."""

    arguments: Any = None
    status: int = 200
    wait_s: float = 0.0


@dataclass
class Script:
    """Answers to give in turn (the last repeats), and the requests that came."""

    steps: Sequence[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""


def _openai(body: dict[str, Any], arguments: str) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function"}
    call["function"] = {"name": body["tools"][0]["function"]["name"], "arguments": arguments}  # type: ignore[assignment]
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _anthropic(body: dict[str, Any], arguments: str) -> dict[str, Any]:
    try:
        block = {"type": "tool_use", "id": "toolu_1", "name": body["tools"][0]["name"], "input": json.loads(arguments)}
    except ValueError:
        block = {"type": "text", "text": arguments}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [block],
        "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


@contextmanager
def serve(*steps: Step) -> Iterator[Script]:
    """Serve the steps on a free local port."""
    script = Script(steps)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.requests.append(body)
            step = script.steps[min(len(script.requests), len(script.steps)) - 1]
            deadline = time.monotonic() + step.wait_s
            while time.monotonic() < deadline and not stopping.is_set():
                time.sleep(0.02)
            text = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
            form = _openai if self.path.endswith("/chat/completions") else _anthropic
            answer = form(body, text) if step.status == 200 else {"error": {"message": "scripted", "type": "scripted"}}
            data = json.dumps(answer).encode()
            try:
                self.send_response(step.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    stopping = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        stopping.set()
        server.shutdown()
        server.server_close()
