"""The five ways to ask for a suggestion that the line bench compares. Not the app's own line; the servers' answers alike.

    fresh_https   HTTP/1.1, a new TLS 1.3 connection and the whole context for every request
    keepalive     HTTP/1.1, one connection, the whole context
    http2         HTTP/2, one connection, the whole context
    ws_full       one WebSocket, `response.create` with the whole context
    ws_delta      one WebSocket, the document kept in step: `didChange` with one edit, and `suggest`

The stub model's first delta says how many milliseconds the stub itself took to it; that is subtracted.
"""

import ssl
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Protocol

import aiohttp
import httpx
import msgspec

from offhook_server.bench.trace import Document, Step
from offhook_wire import codec
from offhook_wire.messages import (
    Change,
    DocumentDidChange,
    DocumentDidOpen,
    Ping,
    Position,
    Range,
    SessionHello,
    Suggest,
)
from offhook_wire.text import Edit, Point, text_hash

URI = "file:///bench/trace.py"
OUTPUT_TOKENS = 24
IDLE_S = 3600.0  # a kept connection is never given up here


@dataclass(frozen=True, slots=True)
class Place:
    """Where the server (or the link before it) listens."""

    port: int
    token: str
    tls: ssl.SSLContext

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def url(self, scheme: str) -> str:
        return f"{scheme}://127.0.0.1:{self.port}/v1/responses"


class Arm(Protocol):
    async def open(self, document: Document) -> None:
        """What happens once, before the first key."""
        ...

    async def ask(self, step: Step) -> float:
        """Reads the whole answer. Milliseconds from here to its first output, without the stub's own."""
        ...

    async def close(self) -> None: ...


class Event(msgspec.Struct):
    type: str
    delta: str = ""
    source: str = ""


_event = msgspec.json.Decoder(Event)


class Answer:
    """One answer as it comes in; the clock starts when this is made."""

    def __init__(self) -> None:
        self._begun_s = time.perf_counter()
        self._overhead_ms: float | None = None

    def take(self, frame: bytes | str) -> bool:
        """Whether the answer is over. Raises RuntimeError when it failed."""
        event = _event.decode(frame)
        match event.type:
            case "response.output_text.delta":
                if self._overhead_ms is None:
                    self._overhead_ms = (time.perf_counter() - self._begun_s) * 1e3 - float(event.delta)
            case "error" | "response.failed" | "response.incomplete" | "offhook:document.desync":
                raise RuntimeError(f"no answer: {frame!r}")
            case "response.completed":
                return True
            case "offhook:suggestion.done":
                return event.source == "small"
            case _:
                pass
        return False

    @property
    def overhead_ms(self) -> float:
        """Raises RuntimeError for an answer that held no text."""
        if self._overhead_ms is None:
            raise RuntimeError("an answer without text")
        return self._overhead_ms


def create(step: Step) -> dict[str, Any]:
    return {
        "model": "fast",
        "input": step.context,
        "max_output_tokens": OUTPUT_TOKENS,
        "store": False,
    }


async def sse_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The `data:` of each event of a text/event-stream."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data: {"):
                yield line[6:]


class Http1:
    """One request after the other through aiohttp."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def _connector(self) -> aiohttp.TCPConnector:
        raise NotImplementedError

    async def open(self, document: Document) -> None:
        headers = {**self._place.headers, "Content-Type": "application/json"}
        self._session = aiohttp.ClientSession(connector=self._connector(), headers=headers)

    async def ask(self, step: Step) -> float:
        answer = Answer()
        body = codec.encode({**create(step), "stream": True})
        async with self._session.post(self._place.url("https"), data=body) as response:
            response.raise_for_status()
            async for event in sse_events(response.content.iter_any()):
                answer.take(event)
        return answer.overhead_ms

    async def close(self) -> None:
        await self._session.close()


class FreshHttps(Http1):
    def _connector(self) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(ssl=self._place.tls, force_close=True)


class KeepAlive(Http1):
    def _connector(self) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(ssl=self._place.tls, limit=1, keepalive_timeout=IDLE_S)


class Http2:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def open(self, document: Document) -> None:
        headers = {**self._place.headers, "Content-Type": "application/json"}
        limits = httpx.Limits(max_connections=1, keepalive_expiry=IDLE_S)
        self._client = httpx.AsyncClient(
            http1=False,
            http2=True,
            verify=self._place.tls,
            limits=limits,
            headers=headers,
            timeout=None,
            trust_env=False,
        )

    async def ask(self, step: Step) -> float:
        answer = Answer()
        body = codec.encode({**create(step), "stream": True})
        async with self._client.stream("POST", self._place.url("https"), content=body) as response:
            response.raise_for_status()
            async for event in sse_events(response.aiter_raw()):
                answer.take(event)
        return answer.overhead_ms

    async def close(self) -> None:
        await self._client.aclose()


class WebSocket:
    """The open socket both WebSocket arms ask through."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def open(self, document: Document) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=self._place.tls))
        self._socket = await self._session.ws_connect(
            self._place.url("wss"), headers=self._place.headers, compress=0, max_msg_size=0
        )

    async def _send(self, message: msgspec.Struct | dict[str, Any]) -> None:
        await self._socket.send_str(codec.encode(message).decode())

    async def _read(self, answer: Answer) -> float:
        async for message in self._socket:
            if answer.take(message.data):
                return answer.overhead_ms
        raise RuntimeError("the server closed the socket")

    async def close(self) -> None:
        await self._socket.close()
        await self._session.close()


class WsFull(WebSocket):
    async def ask(self, step: Step) -> float:
        answer = Answer()
        await self._send({"type": "response.create", **create(step)})
        return await self._read(answer)


class WsDelta(WebSocket):
    async def open(self, document: Document) -> None:
        await super().open(document)
        await self._send(SessionHello("bench"))
        text = document.text
        await self._send(DocumentDidOpen(URI, "python", document.version, text, text_hash(text)))
        await self._send(Ping(1, 0.0))
        async for message in self._socket:  # all of the above has arrived
            if codec.kind(message.data) == "offhook:pong":
                return

    async def ask(self, step: Step) -> float:
        answer = Answer()
        change = DocumentDidChange(URI, step.version - 1, step.version, [_change(step.edit)])
        await self._send(change)
        request_id = f"q_{step.version}"
        await self._send(Suggest(request_id, URI, step.version, _position(step.caret), trigger_kind="invoked"))
        return await self._read(answer)


def _position(point: Point) -> Position:
    return Position(point.line, point.column)


def _change(edit: Edit) -> Change:
    return Change(Range(_position(edit.start), _position(edit.end)), edit.text)


ARMS: dict[str, Callable[[Place], Arm]] = {
    "fresh_https": FreshHttps,
    "keepalive": KeepAlive,
    "http2": Http2,
    "ws_full": WsFull,
    "ws_delta": WsDelta,
}
